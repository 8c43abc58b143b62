"""Each column of a package has a type and a meaning."""

from pathlib import Path

import dagster as dg
import polars as pl

from benchmark_assets.reporting.dictionary import entries, page, title
from benchmark_assets.reporting.export import export
from resources.warehouse import Warehouse


def test_every_column_of_a_package_has_a_type_and_a_meaning(
    built: dg.Definitions, warehouse: Warehouse, tmp_path: Path
) -> None:
    folder = tmp_path / "package"
    export(warehouse, folder, "tiny")
    known = pl.read_csv(folder / "dictionary.csv")
    assert known.filter(pl.any_horizontal(pl.all().is_null())).rows() == []
    written = {
        (path.stem, column)
        for path in folder.glob("*.csv")
        if path.name != "dictionary.csv"
        for column in pl.read_csv(path, n_rows=0).columns
    }
    assert set(known.select("table", "column").rows()) == written
    kinds = {"VARCHAR": pl.String, "DOUBLE": pl.Float64, "INTEGER": pl.Int32, "BOOLEAN": pl.Boolean}
    for table, column, kind in known.select("table", "column", "type").iter_rows():
        if kind in kinds:
            assert pl.read_parquet_schema(folder / f"parquet/{table}.parquet")[column] == kinds[kind], (table, column)
    text = (folder / "dictionary.md").read_text(encoding="utf-8")
    assert all(f"## {table}\n" in text and title(table) in text for table in known["table"].unique())


def test_bounds_are_those_of_the_number_between_them() -> None:
    (low,) = (
        each for each in entries({"leaderboard.csv": pl.DataFrame({"drift": [], "drift_low": []})})
        if each.column == "drift_low"
    )  # fmt: skip
    assert low.meaning == "Lower bound of the 95 % interval of `drift`. Null with too few units."
    assert "| `drift_low` | DOUBLE | drift | Lower bound" in page([low])
