"""Exhibits of all rooms: they name columns that there are, and give their rows in one order in all media."""

from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

from resources import catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.exhibits import Exhibit, described, ordered
from resources.home import PROJECT
from tests.reporting.report.made import put

MODULES = sorted(PROJECT.glob("benchmark_assets/*/exhibits.py"))
DECLARED = {
    id(exhibit): exhibit
    for file in MODULES
    for value in vars(import_module(f"benchmark_assets.{file.parent.name}.exhibits")).values()
    for exhibit in (value if isinstance(value, list) else [value])
    if isinstance(exhibit, Exhibit)
}


@pytest.mark.parametrize("exhibit", DECLARED.values(), ids=lambda each: each.name or each.title or each.table)
def test_an_exhibit_names_columns_that_there_are(exhibit: Exhibit) -> None:
    columns = catalogue.declared()[exhibit.table].columns
    values = exhibit.chart.values.split() if exhibit.chart else []
    assert {*exhibit.full.split(), *values, *(name.lstrip("-") for name in exhibit.order.split())} <= set(columns)
    assert {*exhibit.columns.split()} <= {*columns, *catalogue.shared()}
    assert exhibit.name or exhibit.title or exhibit.columns
    assert {*exhibit.assets} <= {*catalogue.tables(), "package_cost"}


def test_rows_are_in_order_within_each_corpus_and_null_is_last() -> None:
    rows = pl.DataFrame({"corpus": ["b", "a", "a", "a"], "score": [1.0, None, 2.0, 3.0]})
    assert ordered(rows, "-score").rows() == [("a", 3.0), ("a", 2.0), ("a", None), ("b", 1.0)]
    assert ordered(rows.drop("corpus"), "score")["score"].to_list() == [1.0, 2.0, 3.0, None]


def test_an_asset_shows_its_exhibits_by_name(tmp_path: Path) -> None:
    warehouse = DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb"))
    put(warehouse, "recall_cost", [{"corpus": "c", "ranking": name, "recall": 0.9} for name in ("b", "a")])
    exhibits = [
        Exhibit("recall_cost", "costs", order="-ranking", full="ranking recall", sources="error_estimate"),
        Exhibit("recall_cost", order="ranking", sources="error_estimate"), Exhibit("recall_cost", "of another asset"),
    ]  # fmt: skip
    shown = described(warehouse, exhibits, "error_estimate")
    assert [line.split(" | ")[0] for line in shown["costs"].split("\n")[2:4]] == ["| b", "| a"]
    assert list(shown) == ["costs"]
    assert exhibits[0].frame(warehouse, "c")["ranking"].to_list() == ["b", "a"]
    assert exhibits[0].frame(warehouse, "other").is_empty()
