"""The tables of the audit in Dagster: they come with the first label or verdict, and go with the last."""

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.audit import assets as audit
from benchmark_assets.definitions import build_definitions
from benchmark_assets.people import assets as forms
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.audit.stored import put
from tests.support import CORE, LetterEmbedder, made_home, run

TABLES = (
    "audit_outcome", "error_category", "judge_calibration", "error_estimate", "metric_agreement", "metric_comparison",
)  # fmt: skip


def test_tables_come_with_the_first_label_and_go_with_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = DuckDBWarehouse(path=str(made_home(monkeypatch, tmp_path) / "variorum.duckdb"))
    definitions = build_definitions(
        rooms=[*CORE, adjudication, forms, audit],
        resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder()},
    )
    outputs = [{"model": "m", "passage": f"c/p:{i}"} for i in range(3)]
    place = {"drift": 1.0, "band": "0.0-1.0", "queued": False, "sampled": True}
    put(warehouse, "triage", *({**output, **place, "item": str(i)} for i, output in enumerate(outputs)))

    def counts() -> list[int]:
        run(definitions, instance, "audit")
        return [len(warehouse.read(table)) for table in TABLES]

    put(warehouse, "drift_score", *({**output, "embedder": "e", "drift": 1.0} for output in outputs))
    put(warehouse, "lexical_score", *({**output, "chrf": 50.0} for output in outputs))

    with dg.DagsterInstance.get() as instance:
        assert counts() == [0] * 6
        assert not instance.get_latest_materialization_event(dg.AssetKey("audit_outcome"))
        judgement = {"label": "MAJOR_ERROR", "error_category": "OTHER", "severity": "high", "notes": ""}
        put(warehouse, "human_label", {**outputs[0], "annotator": "a", **judgement})
        outcome, category, calibration, estimate, agreement, tests = counts()
        assert outcome > 0
        assert category > 0
        assert estimate > 0
        assert agreement == 2 * 10  # two metrics, ten statistics
        assert tests == 2  # one pair of metrics, two statistics
        assert warehouse.read("metric_agreement")["value"].null_count() == 20  # one label has nothing to agree with
        assert calibration == 0  # no judge has said anything
        people = warehouse.read("audit_outcome").filter(raters="people", model="m", band="")
        assert people.select("asked", "judged", "major").row(0) == (3, 1, 1)
        assert people["signature"].str.contains("Wilson").all()
        put(warehouse, "human_label")
        assert counts() == [0] * 6
        states = warehouse.read("materialization")
        assert states.filter(pl.col("asset").is_in(TABLES)).is_empty()
