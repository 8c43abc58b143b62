"""The package of tasks and costs: every table in both forms, no text, and comparable with a former one."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.reporting.contents import as_csv, files
from benchmark_assets.reporting.differences import compare, read
from benchmark_assets.reporting.task_export import export_tasks
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.warehouse import Warehouse
from tests.reporting.report.made import SECRET, made, put

CALLS = {("alpha", "translate"), ("alpha", "judge")}


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """A warehouse with a task whose texts are all marked."""
    own = made(tmp_path, ["alpha"], 1)
    put(own, "task", [{"task": "T1", "description": SECRET, "root": SECRET, "kind": "classes", "restricted": True}])
    put(own, "task_sample", [{"task": "T1", "split": "test", "sample": "1", "texts": json.dumps({"text": SECRET})}])
    put(own, "task_span", [{"task": "T1", "split": "test", "sample": "1", "text": SECRET}])
    put(own, "answer", [{"model": "alpha", "task": "T1", "sample": "1", "label": "a", "problem": SECRET}])
    put(own, "answer_span", [{"model": "alpha", "task": "T1", "sample": "1", "text": SECRET}])
    put(own, "task_score", [{"model": "alpha", "task": "T1", "score": 50.0}])
    with own.kept_open():
        yield own


def test_it_has_every_table_twice_with_meanings_and_without_a_text(warehouse: Warehouse, tmp_path: Path) -> None:
    assert export_tasks(warehouse, tmp_path / "out") == ["T1"]
    tables = {file.stem: pl.read_parquet(file) for file in (tmp_path / "out/parquet").iterdir()}
    assert {f"{name}.csv" for name in tables} == {*files("task"), "costs.csv"}
    for name, rows in tables.items():
        assert as_csv(rows) == (tmp_path / f"out/{name}.csv").read_bytes()
    assert not any(SECRET.encode() in file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert not any(SECRET in rows.write_json() for rows in tables.values())
    known = pl.read_csv(tmp_path / "out/dictionary.csv")
    assert known.filter(pl.any_horizontal(pl.all().is_null())).rows() == []
    assert set(tables["costs"].select("model", "purpose").rows()) == CALLS
    assert tables["costs"]["paid"].to_list() == [0.25, 0.25]


def test_two_of_them_are_compared_and_none_with_a_corpus(warehouse: Warehouse, tmp_path: Path) -> None:
    export_tasks(warehouse, tmp_path / "old")
    board = warehouse.read("understanding_board").drop("run_id", "updated_at")
    put(warehouse, "understanding_board", board.with_columns(pl.col("score", "score_low", "score_high") * 2))
    export_tasks(warehouse, tmp_path / "new")
    found = compare(read(tmp_path / "old"), read(tmp_path / "new"))
    assert found.further["verdict"].unique().to_list() == ["better"]
    assert "model b bo" in found.further["of"].to_list()
    with pytest.raises(BadInput, match="is a package of tiny"):
        compare(read(tmp_path / "old"), read(tmp_path / "old")._replace(of="tiny"))


def test_there_is_nothing_to_write_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither tasks nor costs"):
        export_tasks(DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb")), tmp_path / "out")
    assert not (tmp_path / "out").exists()
