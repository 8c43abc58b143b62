"""A corpus of any size for measurements, and the code location over it."""

import json
from pathlib import Path

import dagster as dg

from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.partitions import range_tags
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.support import LetterEmbedder, run
from tests.systems import rule_systems


def write_jsonl_corpus(folder: Path, passages: int) -> Path:
    """A corpus of short passages with two references each, as JSON lines; return its description."""
    folder.mkdir(parents=True)
    lines = [
        {
            "passage_id": f"d{i // 20}:{i}",
            "lang": "la",
            "source": f"Sententia {i} brevis est.",
            "references": {"ann": f"Sentence {i} is short.", "ben": f"The sentence numbered {i} is a short one."},
        }
        for i in range(passages)
    ]
    (folder / "passages.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    text = {"language": "en", "licence": "CC0-1.0"}
    description = {
        "name": "bench",
        "layout": "jsonl",
        "root": "passages.jsonl",
        "source": {"language": "la", "licence": "CC0-1.0"},
        "references": {"ann": text, "ben": text},
        "sensitivity": {"passages": 0},  # no damaged texts
    }
    (folder / "corpus.yaml").write_text(json.dumps(description), encoding="utf-8")
    return folder / "corpus.yaml"


def grid(
    folder: Path, home: Path, passages: int, instance: dg.DagsterInstance, warehouse: DuckDBWarehouse | None = None
) -> dg.Definitions:
    """The code location on a warehouse that holds the corpus, its source reported."""
    warehouse = warehouse or DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    systems = rule_systems(warehouse, home)
    definitions = build_definitions(
        resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder(), "systems": systems}
    )
    register(warehouse, write_jsonl_corpus(folder, passages))
    run(definitions, instance, "scan")
    return definitions


def materialize(
    definitions: dg.Definitions, instance: dg.DagsterInstance, first: str, last: str, *assets: str
) -> dg.ExecuteInProcessResult:
    """One run of assets over a range of partitions."""
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection=set(map(dg.AssetKey, assets)))
    return job.execute_in_process(instance=instance, tags=range_tags(first, last))
