"""Records the sample's systems anew: `make recording`, after the prompt or the sample's source has changed.

Their translations are those of the recording in place; a real server gives them, and the real client asks for them.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import dagster as dg

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources.embedders import SentenceTransformerEmbedder
from resources.home import PROJECT, prepare
from resources.provider.registry import default_path, load
from resources.provider.transport import record
from resources.warehouse import Warehouse
from tests.provider.server import serve

SAMPLE = PROJECT / "warehouse" / "sample"
RECORDING = SAMPLE / "recording.jsonl"


def translations() -> dict[str, dict[str, str]]:
    """Texts by passage id, by model."""
    texts: dict[str, dict[str, str]] = {}
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        content = json.loads(reply["body"])["choices"][0]["message"]["content"]
        texts.setdefault(reply["model"], {}).update(json.loads(content))
    return texts


def main() -> None:
    """Write the recording."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder, serve() as server:
        os.environ["VARIORUM_HOME"] = folder
        os.environ["DAGSTER_HOME"] = f"{folder}/dagster"
        registry = load(default_path())
        models = {name: {"endpoint": "server", "id": own.id} for name, own in registry.models.items() if own.corpora}
        content = {
            "endpoints": {"server": {"url": server.url}}, "models": models, "embedders": {"minilm": {}},
            "embedder": "minilm",
        }  # fmt: skip
        path = Path(folder) / "models.yaml"
        path.write_text(json.dumps(content), encoding="utf-8")
        os.environ["VARIORUM_MODELS"] = str(path)
        warehouse = Warehouse(path=str(prepare() / "variorum.duckdb"))
        overrides = {"warehouse": warehouse, "embedder": SentenceTransformerEmbedder()}
        definitions = build_definitions(resource_overrides=overrides)
        resources = definitions.resources or {}
        register(warehouse, SAMPLE / "corpus.yaml")
        with dg.DagsterInstance.get() as instance:
            runs.look(definitions, instance)
        passages = warehouse.read("source_text")
        for model, texts in translations().items():
            if missing := set(passages["passage_id"]) - set(texts):
                sys.exit(f"{model} has no translation of {sorted(missing)}: add a line with it to {RECORDING}")
            server.configure(answers=texts)
            sources = dict(passages.select("passage", "text").iter_rows())
            outputs = list(resources["systems"].system(model).translate(sources, "recording"))
            assert all(output.text for output in outputs), outputs
            lines += record(resources["provider"].ledger, model)
    RECORDING.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
