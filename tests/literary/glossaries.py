"""A home with a short novel, its human translation of all chunks but one, and the assets of its glossary."""

import json
import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.provider.provider import Provider
from tests.support import CORE, LetterEmbedder, made_home, materialized, write_corpus

CHUNKS = {
    "ch1:1": ("雨村は如海に会った。", "Yü-ts'un met Ju-hai. He bowed."),
    "ch1:2": ("清は笑った。坊っちゃんと云った。", 'Kiyo laughed. "Botchan," she said.'),
    "ch1:3": ("宝玉は来なかった。", None),
}
PASSAGES = [f"novel/{chunk}" for chunk in CHUNKS]
FIRST, SECOND, THIRD = PASSAGES
LAST = "tiny/doc2:1"
"""Of all passages: those of the other corpus come after the novel's."""


class Shelf:
    """The home in a folder, with the novel and a corpus that is not literary."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file, self.registry = folder, folder / "terms.csv", folder / "models.yaml"
        self.warehouse = DuckDBWarehouse(path=str(folder / "home" / "variorum.duckdb"))

    def write_registry(self, url: str) -> None:
        """Have the extractor answer at a URL, one question after the other."""
        judge = {"endpoint": "server", "id": "reader", "family": "referee", "price": {"input": 1, "output": 2}}
        content = {
            "endpoints": {"server": {"url": url, "in_flight": 1}}, "judges": {"reader": judge},
            "embedders": {"minilm": {}}, "embedder": "minilm",
        }  # fmt: skip
        self.registry.write_text(json.dumps(content), encoding="utf-8")

    @property
    def provider(self) -> Provider:
        return Provider(registry_path=str(self.registry), ledger_path=str(self.folder / "home" / "ledger.sqlite"))

    @cached_property
    def definitions(self) -> dg.Definitions:
        return build_definitions(
            rooms=CORE, resource_overrides={
                "warehouse": self.warehouse, "provider": self.provider, "embedder": LetterEmbedder(),
            }
        )  # fmt: skip

    def describe(self, **literary: Any) -> None:
        """Write the novel's description with what it says under `literary`, and take it in."""
        write_chunks(self.folder / "novel", "novel", "ja", "morri", CHUNKS, {"human": "morri", **literary})
        register(self.warehouse, self.folder / "novel" / "corpus.yaml")

    def glossary(self) -> pl.DataFrame:
        """Materialize the glossary of all passages; return its rows without bookkeeping columns."""
        materialized(self.definitions, ["glossary"], FIRST, LAST)
        return self.warehouse.read("glossary").drop("fingerprint", "run_id", "updated_at")


def write_chunks(
    folder: Path, name: str, language: str, human: str, chunks: Mapping[str, tuple[str, str | None]],
    literary: Mapping[str, Any],
) -> Path:  # fmt: skip
    """Write a literary corpus as JSON lines: source and, where there is one, human translation by passage id."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"passage_id": chunk, "lang": language, "source": source, "references": {human: text} if text else {}}
        for chunk, (source, text) in chunks.items()
    ]
    content = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    (folder / "chunks.jsonl").write_text(content, encoding="utf-8")
    description = {
        "name": name, "layout": "jsonl", "root": "chunks.jsonl", "literary": dict(literary),
        "source": {"language": language, "licence": "public domain"},
        "references": {human: {"language": "en", "licence": "public domain"}},
    }  # fmt: skip
    (folder / "corpus.yaml").write_text(json.dumps(description, ensure_ascii=False), encoding="utf-8")
    return folder / "corpus.yaml"


def made_shelf(folder: Path, copy: Path) -> Shelf:
    """Make a home in which both corpora have their references and no terms, and a copy of it."""
    with pytest.MonkeyPatch.context() as patch:
        made_home(patch, folder)
        shelf = Shelf(folder)
        shelf.write_registry("http://127.0.0.1:1/v1")
        patch.setenv("VARIORUM_MODELS", str(shelf.registry))
        register(shelf.warehouse, write_corpus(folder / "corpus"))
        shelf.describe()
        with dg.DagsterInstance.get() as instance:
            runs.look(shelf.definitions, instance)
        materialized(shelf.definitions, ["alignment", "glossary"], FIRST, LAST)
    shutil.copytree(folder, copy, symlinks=True)
    return shelf
