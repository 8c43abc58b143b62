"""Homes of former versions open with every row in its place.

`tests/homes` holds such homes as archives of CSV files and the statements that made their tables. Their texts are those
of the project's samples. That version's own code made the rows of `*_call`, except `rubric_vote_call`, whose two
rows are copies from `judge_call`.
"""

import zipfile
from pathlib import Path

import duckdb
import polars as pl
import pytest

from resources import catalogue
from resources.migration import DROPPED, RENAMED
from resources.warehouse import Warehouse

HOMES = Path(__file__).parent.parent / "homes"

CALLS = {
    "translation_call": ("model_output", ["batch"]),
    "judge_call": ("judge_vote", ["judge"]),
    "comparison_call": ("comparison", ["base_set", "anchor", "shown"]),
    "rubric_vote_call": ("rubric_vote", ["judge"]),
    "aspect_vote_call": ("aspect_vote", ["judge", "aspect", "shown"]),
    "glossary_call": ("glossary", []),
    "answer_call": ("answer", ["seed", "sample", "draw"]),
}


@pytest.fixture(scope="module")
def kept_open() -> bool:
    return False


@pytest.fixture
def former(warehouse: Warehouse, tmp_path: Path) -> dict[str, pl.DataFrame]:
    """The rows of a home of the version before `study_call`, which now lies where the warehouse looks."""
    with zipfile.ZipFile(HOMES / "before-study-call.zip") as archive:
        archive.extractall(tmp_path / "former")
    Path(warehouse.path).parent.mkdir(parents=True, exist_ok=True)
    Path(warehouse.path).unlink(missing_ok=True)
    with duckdb.connect(warehouse.path) as connection:
        connection.execute((tmp_path / "former" / "schema.sql").read_text(encoding="utf-8"))
        for file in (tmp_path / "former").glob("*.csv"):
            connection.execute(f"COPY \"{file.stem}\" FROM '{file}' (HEADER, NULLSTR '\\N')")
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: connection.sql(f'SELECT * FROM "{name}"').pl() for name in tables if name != "schema_digest"}


def test_no_row_of_a_former_home_is_lost(warehouse: Warehouse, former: dict[str, pl.DataFrame]) -> None:
    assert sum(map(len, former.values())) > 1000
    with warehouse.at_once():
        for name, rows in former.items():
            if name not in CALLS:
                rows = rows.rename({former: new for (table, former), new in RENAMED.items() if table == name})
                rows = rows.drop(column for table, column in DROPPED if table == name)
                now = warehouse.read(name).select(rows.columns)
                key = list(catalogue.table(name).key)
                assert now.sort(key).equals(rows.sort(key)), name


def test_every_call_of_a_former_home_is_found_under_its_study(
    warehouse: Warehouse, former: dict[str, pl.DataFrame]
) -> None:
    calls = warehouse.read("study_call")
    assert len(calls) == sum(len(former[table]) for table in CALLS)
    for table, (study, key) in CALLS.items():
        own = calls.filter(study=study).sort("model", "passage", "task", "item")
        item = pl.concat_str(key, separator="|") if key else pl.lit("")
        rows = former[table].with_columns(item=item)
        shared = [name for name in own.columns if name in rows.columns]
        order = [name for name in ("model", "passage", "task", "item") if name in shared]
        assert len(own) == len(rows) > 0
        assert own.select(shared).equals(rows.sort(order).select(shared)), table


def test_a_migrated_home_has_the_tables_of_the_catalogue_and_no_others(
    warehouse: Warehouse, former: dict[str, pl.DataFrame]
) -> None:
    warehouse.read("corpus")
    with duckdb.connect(warehouse.path) as connection:
        tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert tables - {"schema_digest"} == set(catalogue.tables())
    with warehouse.at_once():
        assert [table for table in catalogue.tables() if len(warehouse.differences(table))] == []
