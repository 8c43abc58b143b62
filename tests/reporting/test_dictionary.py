"""Each column of a package has a type and a meaning."""

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.reporting.contents import BY_BASE_SET, BY_CORPUS, BY_PASSAGE
from benchmark_assets.reporting.dictionary import declared, entries, page, parsed, shared, title
from benchmark_assets.reporting.export import export
from resources.warehouse import Warehouse

DDL = """\
-- Head of the file.

-- What the table holds,
-- in two lines.
CREATE TABLE IF NOT EXISTS thing (
    corpus VARCHAR NOT NULL,
    share DOUBLE, share_low DOUBLE, share_high DOUBLE,  -- of all
    names VARCHAR[] NOT NULL,      -- first line
                                   -- and second
    first INTEGER, last INTEGER,   -- characters
    task VARCHAR NOT NULL DEFAULT '',
    PRIMARY KEY (corpus)
);

CREATE TABLE IF NOT EXISTS other (
    place INTEGER NOT NULL,
    PRIMARY KEY (place)
);
"""


def test_comments_of_the_schema_are_read_as_they_stand() -> None:
    tables = parsed(DDL)
    assert {name: table.meaning for name, table in tables.items()} == {
        "thing": "What the table holds, in two lines.", "other": "",
    }  # fmt: skip
    assert tables["thing"].columns == {
        "corpus": ("VARCHAR", ""), "share": ("DOUBLE", "of all"), "share_low": ("DOUBLE", "of all"),
        "share_high": ("DOUBLE", "of all"), "names": ("VARCHAR[]", "first line and second"),
        "first": ("INTEGER", "characters"), "last": ("INTEGER", "characters"), "task": ("VARCHAR", ""),
    }  # fmt: skip


def test_the_dictionary_knows_the_tables_that_the_warehouse_has(warehouse: Warehouse) -> None:
    assert {name: [*table.columns] for name, table in declared().items()} == {
        name: [*columns, "run_id", "updated_at"] for name, columns in warehouse.tables().items()
    }


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
    assert low.meaning == "lower bound of the 95 % interval of `drift`"
    assert "| `drift_low` | DOUBLE | lower bound" in page([low])


@pytest.mark.parametrize("name", sorted(shared()))
def test_no_shared_meaning_is_left_over(name: str) -> None:
    tables = {table for table, _ in (BY_PASSAGE | BY_CORPUS | BY_BASE_SET).values()} | {
        "drift_score", "lexical_score", "source_text", "selection", "verification", "model_output",
    }  # fmt: skip
    columns = {column for table in tables for column in declared()[table].columns}
    assert name in columns | {"passage_id"}
