"""What people made for passages, from the edit of a file to the leaderboard: nothing is destroyed, nothing misread."""

import logging
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.automation import runs
from benchmark_assets.corpus.human_work import kept, notices, outdated_counts
from benchmark_assets.partitions import range_tags
from benchmark_assets.people import assets as people
from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.sheets import sheet
from benchmark_assets.reporting.reader.content import shown
from benchmark_assets.translation.imports import import_outputs
from resources.errors import RunFailedError
from resources.warehouse import Replacement, Warehouse
from tests.corpus.support import edit
from tests.support import CORE, PASSAGES, run, write_outputs


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return [*CORE, adjudication, people]


TEXTS = {"doc1:1": "A mouse runs; a cat sits.", "doc1:2": "The sun comes up.", "doc2:1": "Nothing new is new here."}
SCORED = ("model_output", "drift_score", "lexical_score", "triage", "human_label")
ENDS = f"mine|{PASSAGES[0]}", f"mine|{PASSAGES[2]}"


def label(warehouse: Warehouse, folder: Path) -> None:
    """Import a label of each output of the model."""
    items = warehouse.read("triage", pl.DataFrame({"model": ["mine"]}), ["item"])["item"]
    columns = ["item", "annotator", "label", "error_category", "severity"]
    rows = [[item, "mori", "VALID_VARIATION", "", "none"] for item in items]
    (folder / "labels.csv").write_bytes(sheet(columns, rows))
    import_labels(warehouse, [folder / "labels.csv"])


def scored(warehouse: Warehouse) -> dict[str, list[str]]:
    """Passages of the model in the tables that depend on its outputs."""
    key = pl.DataFrame({"model": ["mine"]})
    return {table: warehouse.read(table, key, ["passage"])["passage"].to_list() for table in SCORED}


def on_board(warehouse: Warehouse) -> list[int]:
    return warehouse.read("leaderboard").filter(system="mine")["passages"].to_list()


def test_work_outlasts_its_passage_and_what_translates_an_earlier_source_is_not_scored(
    built: dg.Definitions,
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    corpus: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = write_outputs(tmp_path / "mine.jsonl", TEXTS)
    import_outputs(warehouse, path, "tiny", "mine")
    instance.add_dynamic_partitions("model", ["mine"])
    for stage in ("translate", "score"):
        run(definitions, instance, stage, ENDS)
    triage = definitions.resolve_implicit_global_asset_job_def().get_subset(
        asset_selection={dg.AssetKey("triage"), dg.AssetKey("human_label")}
    )
    triage.execute_in_process(instance=instance, tags=range_tags(*ENDS))
    label(warehouse, tmp_path)
    unrecorded = warehouse.read("imported_label").drop("run_id", "updated_at").with_columns(passage=None)
    warehouse.write([Replacement("imported_label", unrecorded, None)], "earlier version")
    triage.execute_in_process(instance=instance, tags=range_tags(*ENDS))
    assert scored(warehouse) == dict.fromkeys(SCORED, PASSAGES)

    edit(corpus.parent / "root/la/test/doc1_root-la-test.json", {"doc1:2.1": "Luna oritur."})
    for file in corpus.parent.rglob("doc2_*.json"):
        file.unlink()
    with caplog.at_level(logging.INFO):
        runs.look(definitions, instance)
    assert "1 rows of imported_label, 1 rows of imported_output" in caplog.text
    assert "`variorum remove kept tiny`" in caplog.text
    assert "mine: 1 imported outputs translate an earlier source (tiny/doc1:2)" in caplog.text
    assert kept(warehouse).rows() == [("tiny", table, PASSAGES[2]) for table in ("imported_label", "imported_output")]

    runs.update(definitions, instance)
    assert scored(warehouse) == dict.fromkeys(SCORED, PASSAGES[:1])
    assert on_board(warehouse) == [2]  # one output translates an earlier source
    assert [len(warehouse.read(table)) for table in ("imported_output", "imported_label")] == [3, 3]
    passages: list[Any] = shown(warehouse, "tiny", private=False).passages
    outputs = [output for passage in passages for output in passage["outputs"] if output["model"] == "mine"]
    shown_outputs = [(output["outdated"], output["text"], output["drift"] is None) for output in outputs]
    assert shown_outputs == [(False, TEXTS["doc1:1"], False), (True, TEXTS["doc1:2"], True)]
    assert outdated_counts(warehouse).rows() == [("mine", "tiny", 1)]

    import_outputs(warehouse, write_outputs(path, {key: TEXTS[key] for key in ("doc1:1", "doc1:2")}), "tiny", "mine")
    runs.remove(definitions, instance, "kept", "tiny")
    assert notices(warehouse) == []
    assert [len(warehouse.read(table)) for table in ("imported_output", "imported_label")] == [2, 2]
    with pytest.raises(RunFailedError, match="tiny: has no kept work on passages that are no longer in its files"):
        runs.remove(definitions, instance, "kept", "tiny")
