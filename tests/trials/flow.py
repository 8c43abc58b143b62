"""A home in which everything that strangers added is used; run in a copy of the project, with a folder to write to."""

import json
import sys
from pathlib import Path

import dagster as dg
from click.testing import CliRunner

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.automation import runs
from benchmark_assets.cli import main
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.metrics.entries import KINDS
from benchmark_assets.metrics.further import Named
from benchmark_assets.pairwise import assets as pairwise
from benchmark_assets.reporting import leaderboard
from resources.catalogue import tables
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import prepare
from tests.support import CORE, MODELS, PASSAGES, SOURCES, TRANSLATIONS, LetterEmbedder, write_outputs


def written(folder: Path) -> Path:
    """The small corpus in the new layout, and the path of its description."""
    folder.mkdir()
    for document, segments in SOURCES.items():
        lines = [
            [key, text, *(each[document][key] for each in TRANSLATIONS.values())] for key, text in segments.items()
        ]
        (folder / f"{document}.lines").write_text("\n".join(map("\t".join, lines)), encoding="utf-8")
    content = {
        "name": "tiny", "layout": "interlinear", "root": ".", "rubric": {"judges": ["comparer"]},
        "source": {"language": "la", "licence": "CC0-1.0"},
        "references": {name: {"language": "en", "licence": "CC0-1.0"} for name in TRANSLATIONS},
    }  # fmt: skip
    (folder / "corpus.yaml").write_text(json.dumps(content), encoding="utf-8")
    return folder / "corpus.yaml"


def _local(passage: str) -> str:
    return passage.removeprefix("tiny/")


def _rendering(passage: str) -> str:
    """A translator's text of a passage."""
    segments = TRANSLATIONS["ann"][passage.partition(":")[0]]
    return " ".join(text for key, text in segments.items() if key.startswith(f"{passage}."))


def command(*arguments: object) -> str:
    """What a command prints; it has to succeed."""
    done = CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def everything(folder: Path, name: str) -> None:
    """Update the home, and write all pages and tables to a folder."""
    warehouse = DuckDBWarehouse(path=str(prepare() / "variorum.duckdb"))
    named = {metric: Named(KINDS[metric]) for metric in KINDS if metric == "letters"}
    resources = {"warehouse": warehouse, "embedder": LetterEmbedder(), "metrics": named}
    definitions = build_definitions(rooms=[*CORE, adjudication, pairwise], resource_overrides=resources)
    with dg.DagsterInstance.get() as instance:
        if not (folder / "corpus").exists():
            register(warehouse, written(folder / "corpus"))
            runs.look(definitions, instance)
            instance.add_dynamic_partitions("model", MODELS)
            for model in MODELS:
                outputs = {key: f"{model} says: {_rendering(key)}" for key in map(_local, PASSAGES)}
                command("import", "outputs", write_outputs(folder / f"{model}.jsonl", outputs), "--corpus", "tiny")
        runs.update(definitions, instance)
    pages = folder / name
    pages.mkdir()
    for table in {"segment_metric", "metric_summary", "system_comparison", "metric_rank", "register", "study_call",
                  "label_quarantine", "imported_annotation"} & tables().keys():  # fmt: skip
        warehouse.read(table).write_csv(pages / f"{table}.csv")
    command("report", pages / "report.html")
    command("export", "--as", "latex", pages / "tables", "tiny")
    command("reader", pages / "reader", "tiny")
    (pages / "leaderboard.txt").write_text(leaderboard.listed(leaderboard.read(warehouse)), encoding="utf-8")
    command("export", pages / "package", "tiny")
    (pages / "help.txt").write_text(command("--help") + command("greet"), encoding="utf-8")
    command("annotate", pages / "sheets", "tiny", "--annotator", "mori", "--protocol", "direct")


if __name__ == "__main__":
    everything(Path(sys.argv[1]), sys.argv[2])
