"""A home with the small corpus, imported models, judges of a registry and a base set, and the assets that judge."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.error_spans import assets as error_spans
from benchmark_assets.pairwise import assets as pairwise
from benchmark_assets.pairwise.base_sets import JudgeRecord, Judging
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.translation.systems import Systems
from benchmark_assets.vital_signs import assets as vital_signs
from resources.digest import text_hash
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.provider.provider import Provider
from resources.warehouse import Replacement
from tests.support import (
    CONSTRUCTION,
    CORE,
    PASSAGES,
    LetterEmbedder,
    made_home,
    materialized,
    write_corpus,
    write_outputs,
)  # fmt: skip

MODELS = ("ours", "theirs")
OUTPUTS = {"doc1:1": "A dog runs. The cat sits.", "doc1:2": "The sun rises.", "doc2:1": "He says nothing new."}
FIRST, SECOND, THIRD = OUTPUTS.values()
ANCHORS = {
    "high": {"doc1:1": "A mouse runs. A cat sits.", "doc1:2": "Up goes the sun.", "doc2:1": "Nothing new from him."},
    "low": {"doc1:1": "Mouse cat.", "doc1:2": "Sun.", "doc2:1": "New."},
    "theirs": {"doc1:1": "A rat. A cat.", "doc1:2": "Sun up.", "doc2:1": "No news."},
}
SET = "anchors@1.0.0"
BOTH = Judging()


def write_judges(path: Path, url: str, families: Mapping[str, str] | None = None, **settings: Any) -> None:
    """Write a registry with two judges and models of two families; `settings` are those of the judge `comparer`."""
    judge = {"endpoint": "server", "family": "referee", "price": {"input": 1, "output": 2}}
    content = {
        "endpoints": {"server": {"url": url}},
        "judges": {"comparer": judge | {"id": "comparer"} | settings, "marker": judge | {"id": "marker"}},
        "families": {"ours": "acme", "theirs": "other"} if families is None else families,
        "embedders": {"minilm": {}}, "embedder": "minilm",
    }  # fmt: skip
    path.write_text(json.dumps(content), encoding="utf-8")


STORIES = (
    "The king did not hear the seven merchants. He said that the river was wide, and he went home with his sons. "
    "It is not far, and you do not need a great boat upon it.",
    "At dawn the monk left the village. Three women gave him rice; he did not eat it, but he thanked the women. "
    "It is late, therefore you cannot stay here, and you do not have to.",
    "A farmer lost two oxen in the forest. He never found the oxen, and his wife wept, for the winter was near. "
    "It is true that many do not see it before they are old, and you are not.",
    "The teacher asked the student four questions. The student answered one, and the teacher was not angry. "
    "You do not know it all, therefore it is good to ask, and not before noon.",
    "Five ships came to the harbor. The captain spoke to the merchants, but the merchants did not buy his grain. "
    "It is true that they do not sleep upon land, and are not often glad.",
    "The queen slept under a tree. When the soldiers came, she was not afraid; she gave the soldiers nine coins. "
    "She is kind, and it is true that you are not; do not say it to all.",
)
"""Translations that are long enough for sentinels of all kinds."""


class Arena:
    """The home in a folder. Its judges answer at `url`."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.warehouse = DuckDBWarehouse(path=str(folder / "home" / "variorum.duckdb"))
        self.registry = folder / "models.yaml"
        write_judges(self.registry, url)

    @property
    def provider(self) -> Provider:
        return Provider(registry_path=str(self.registry), ledger_path=str(self.folder / "home" / "ledger.sqlite"))

    @property
    def systems(self) -> Systems:
        return Systems(warehouse=self.warehouse, provider=self.provider)

    @cached_property
    def definitions(self) -> dg.Definitions:
        return build_definitions(
            rooms=[*CORE, pairwise, error_spans, vital_signs],
            resource_overrides={"warehouse": self.warehouse, "embedder": LetterEmbedder()},
        )

    def describe(self, rubric: Sequence[str] = (), spans: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Write the corpus with the judges of its rubric and the section `spans`, and import it."""
        path = write_corpus(self.folder / "corpus")
        judging = {"rubric": {"judges": list(rubric)}, "spans": dict(spans)}
        path.write_text(json.dumps(json.loads(path.read_text()) | judging))
        register(self.warehouse, path)

    def outputs(self, model: str, texts: Mapping[str, str]) -> None:
        import_outputs(self.warehouse, write_outputs(self.folder / f"{model}.jsonl", texts), "tiny", None)

    def base_set(
        self,
        name: str = SET,
        anchors: Mapping[str, Mapping[str, str]] = ANCHORS,
        items: Sequence[str] = tuple(OUTPUTS),
        judging: Judging = BOTH,
        sources: Mapping[str, str] | None = None,
        judge: str = "comparer",
        judged: JudgeRecord | None = None,
    ) -> None:
        """Store a base set; `sources` are texts of items that the anchors translated, where these were others."""
        passages = [f"tiny/{item}" for item in items]
        found = self.warehouse.read("source_text", pl.DataFrame({"passage": passages}), ["passage", "text"])
        texts = dict(found.iter_rows()) | {f"tiny/{item}": text for item, text in (sources or {}).items()}
        own = pl.DataFrame({"base_set": [name]})
        stamp = [pl.lit(name).alias("base_set"), pl.lit(name).alias("fingerprint")]
        entry = {
            "name": name, "version": "1.0.0", "folder": "",
            "judge": judge, "judged": judged.model_dump_json() if judged else None,
            "settings": judging.model_dump_json(), "content": repr((anchors, items, sources)),
        }  # fmt: skip
        frozen = [(anchor, f"tiny/{item}", given[item]) for anchor, given in anchors.items() for item in items]
        rows = {
            "base_set": pl.DataFrame([entry], schema=dict.fromkeys(entry, pl.String)),
            "base_set_item": pl.DataFrame({
                "passage": passages, "direction": "la-en", "difficulty": "easy",
                "source_hash": [text_hash(texts[passage]) for passage in passages],
            }),
            "anchor_output": pl.DataFrame(frozen, schema=["anchor", "passage", "text"], orient="row"),
        }  # fmt: skip
        self.warehouse.write(
            [Replacement(table, frame.with_columns(stamp), own) for table, frame in rows.items()], run_id="test"
        )

    def examinable(self, passages: int = 9, seed: int = 1, **judging: Mapping[str, Any]) -> None:
        """Add passages with translations of some length, and ask for an examination from this many passages. `judging`
        has further sections of the description."""
        path = write_corpus(self.folder / "corpus")
        examination = {"examination": {"passages": passages, "seed": seed}}
        path.write_text(json.dumps(json.loads(path.read_text()) | examination | judging))
        register(self.warehouse, path)
        for table, texts in (
            ("source_text", ["{}"]),
            ("reference", ["{}", "In other words: {}", "{} So the story goes."]),
        ):
            rows = self.warehouse.read(table).drop("run_id", "updated_at").filter(passage=PASSAGES[0])
            for number, story in enumerate(STORIES, start=1):
                text = f"Fons {number}, alia." if table == "source_text" else story
                added = rows.with_columns(
                    passage=pl.lit(f"tiny/story:{number}"), text=pl.Series([each.format(text) for each in texts])
                )
                self.warehouse.write([Replacement(table, added, added.select("passage").unique())], run_id="test")

    def examined(self, purpose: str, **verdicts: str) -> None:
        """Store these verdicts on judges, with report cards that have nothing else."""
        counted = "calls unread damaged instructed praised subtle misled archaic plain padded pairs"
        counts = dict.fromkeys(counted.split(), 9)
        rows = [
            {"judge": judge, "purpose": purpose, "aspect": "", "direction": "la-en", "verdict": verdict,
             "problem": "obeyed" if verdict == "failed" else None, "signature": "", "fingerprint": "", **counts}
            for judge, verdict in verdicts.items()
        ]  # fmt: skip
        for table in ("judge_report", "judge_verdict"):
            empty = self.warehouse.empty(table)
            cards = pl.concat([empty, pl.DataFrame(rows)], how="diagonal_relaxed").select(empty.columns)
            self.warehouse.write([Replacement(table, cards, None)], run_id="test")

    def materialize(self, assets: Sequence[str], first: str, last: str) -> None:
        materialized(self.definitions, assets, first, last)

    def row(self, *assets: str, model: str = "ours") -> None:
        """Materialize assets of a model's row."""
        self.materialize(assets, f"{model}|{PASSAGES[0]}", f"{model}|{PASSAGES[-1]}")


def made_arena(folder: Path) -> None:
    """Make a home in which everything is ready for judging."""
    with pytest.MonkeyPatch.context() as patch:
        made_home(patch, folder)
        patch.setenv("VARIORUM_MODELS", str(folder / "models.yaml"))
        arena = Arena(folder, "http://127.0.0.1:1/v1")
        arena.describe()
        with dg.DagsterInstance.get() as instance:
            runs.look(arena.definitions, instance)
            instance.add_dynamic_partitions("model", list(MODELS))
        arena.materialize([*CONSTRUCTION, "reference"], PASSAGES[0], PASSAGES[-1])
        for model in MODELS:
            arena.outputs(model, OUTPUTS)
        arena.materialize(["model_output"], f"ours|{PASSAGES[0]}", f"theirs|{PASSAGES[-1]}")
        arena.base_set()
