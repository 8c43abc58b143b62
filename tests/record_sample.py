"""Records the samples' systems and aligner anew: `make recording`, after a prompt or a sample's text has changed.

Translations are those of the recording in place, alignments those of `alignment.osei.jsonl`; a real server gives them,
and the real client asks for them.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl

from benchmark_assets.alignment.asking import ModelAligner
from benchmark_assets.alignment.documents import aligners, documents
from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.systems import Systems
from resources.embedders import SentenceTransformerEmbedder
from resources.home import PROJECT, prepare
from resources.provider.provider import Provider
from resources.provider.registry import default_path, load
from resources.provider.transport import record
from resources.warehouse import Warehouse
from tests.provider.server import Server, serve

SAMPLE = PROJECT / "warehouse" / "sample"
RECORDING = SAMPLE / "recording.jsonl"
DIALOGUES = PROJECT / "warehouse" / "dialogues"
ALIGNER = "recorded-aligner"


def translations() -> dict[str, dict[str, str]]:
    """Texts by passage id, by model."""
    texts: dict[str, dict[str, str]] = {}
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        content = json.loads(reply["body"])["choices"][0]["message"]["content"]
        texts.setdefault(reply["model"], {}).update(json.loads(content))
    return texts


def alignments() -> dict[str, str | None]:
    """Texts by segment id, as the aligner of `dialogues` answers."""
    texts: dict[str, str | None] = {}
    for line in (DIALOGUES / "alignment.osei.jsonl").read_text(encoding="utf-8").splitlines():
        texts |= json.loads(line)
    return texts


def main() -> None:
    """Write the recordings."""
    with tempfile.TemporaryDirectory() as folder, serve() as server:
        os.environ["VARIORUM_HOME"] = folder
        os.environ["DAGSTER_HOME"] = f"{folder}/dagster"
        registry = load(default_path())
        models = {name: {"endpoint": "server", "id": own.id} for name, own in registry.models.items() if own.corpora}
        content = {
            "endpoints": {"server": {"url": server.url}}, "models": models, "embedders": {"minilm": {}},
            "aligners": {ALIGNER: {"endpoint": "server", "id": ALIGNER}}, "embedder": "minilm",
        }  # fmt: skip
        path = Path(folder) / "models.yaml"
        path.write_text(json.dumps(content), encoding="utf-8")
        os.environ["VARIORUM_MODELS"] = str(path)
        warehouse = Warehouse(path=str(prepare() / "variorum.duckdb"))
        overrides = {"warehouse": warehouse, "embedder": SentenceTransformerEmbedder()}
        definitions = build_definitions(resource_overrides=overrides)
        resources = definitions.resources or {}
        for description in (SAMPLE / "corpus.yaml", DIALOGUES / "corpus.yaml"):
            register(warehouse, description)
        with dg.DagsterInstance.get() as instance:
            runs.look(definitions, instance)
        write(RECORDING, systems(warehouse, resources["systems"], resources["provider"], server))
        write(DIALOGUES / "recording.jsonl", aligner(warehouse, resources["provider"], server))


def systems(warehouse: Warehouse, systems: Systems, provider: Provider, server: Server) -> Iterator[str]:
    """Replies of the sample's systems."""
    passages = warehouse.read("source_text", pl.DataFrame({"corpus": ["sample"]}))
    sources = dict(passages.select("passage", "text").iter_rows())
    for model, texts in translations().items():
        if missing := set(passages["passage_id"]) - set(texts):
            sys.exit(f"{model} has no translation of {sorted(missing)}: add a line with it to {RECORDING}")
        server.configure(answers=texts)
        outputs = list(systems.system(model).translate(sources, "recording"))
        assert all(output.text for output in outputs), outputs
        yield from record(provider.ledger, model)


def aligner(warehouse: Warehouse, provider: Provider, server: Server) -> Iterator[str]:
    """Replies of the aligner of `dialogues`."""
    passages = warehouse.read("source_text", pl.DataFrame({"corpus": ["dialogues"]}), ["passage"])
    works = [
        document.work([each.id for each in document.segments])
        for document in documents(warehouse, passages)
        if aligners(warehouse)[document.corpus, document.translator].model
    ]
    server.configure(answers=alignments())
    found = ModelAligner(provider, provider.model(ALIGNER)).align(works, "recording")
    assert not any(each.error for extracted in found.values() for each in extracted), found
    yield from record(provider.ledger, ALIGNER)


def write(path: Path, replies: Iterator[str]) -> None:
    """Write replies, one a line, once all of them are there."""
    lines = list(replies)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
