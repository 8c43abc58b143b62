"""The table catalogue: complete, the same in every database, and what checks and writes go by."""

import ast
import math
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import duckdb
import polars as pl
import pytest

from benchmark_assets.automation.checks import Subject, sound
from benchmark_assets.definitions import build_definitions
from benchmark_assets.lineage.refresh import OWNER, further_tables
from benchmark_assets.partitions import dimensions
from benchmark_assets.reporting.contents import ASSEMBLED
from benchmark_assets.views import VIEWS
from resources import catalogue
from resources.catalogue import Column
from resources.changes import LOG
from resources.errors import BadInput
from resources.home import PROJECT
from resources.provider.provider import Provider
from resources.provider.registry import default_path
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Replacement, Warehouse
from tests.rows import outside, rows_of
from tests.support import by_hand

STORED = sorted(catalogue.tables())


def test_every_column_has_a_unit_a_meaning_and_a_range_or_a_reason_for_none() -> None:
    assert list(catalogue.faults(catalogue.declared())) == []


def test_duckdb_reads_the_types_that_frames_have() -> None:
    with duckdb.connect() as connection:
        connection.execute(catalogue.duckdb_ddl())
        for table in catalogue.tables().values():
            found = connection.sql(f'SELECT * FROM "{table.name}"').pl().schema
            assert dict(found) == {name: column.polars for name, column in table.columns.items()}


def test_every_table_can_be_displayed() -> None:
    for table in catalogue.declared().values():
        columns = [table.columns[name] for name in table.displayed]
        assert len({column.heading for column in columns}) == len(columns), table.name
        assert [column.name for column in columns if column.polars.is_float() and column.digits is None] == []


def test_bounds_of_an_interval_are_columns_beside_their_number() -> None:
    columns = catalogue.table("leaderboard").columns
    low = columns["drift_low"]
    assert (low.between, low.unit, low.nullable) == ("drift", "drift", True)
    assert low.meaning == "Lower bound of the 95 % interval of `drift`. Null with too few units."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("t: {meaning: A., key: [a], colums: [a]}", "t.colums: extra inputs"),
        ("t: {meaning: A., key: [a], columns: [{a: {unit: cosines, meaning: A.}}]}", "unit 'cosines' is unknown"),
        ("t: {meaning: A., key: [a], columns: [{a: {unit: name, meening: A.}}]}", "meening"),
        ("t: {meaning: A., key: [never_declared]}", "t.never_declared: has no unit"),
        ("t: {meaning: A., key: [a]}\nt: {meaning: B., key: [b]}", "'t' occurs twice"),
    ],
    ids=["unknown key", "unknown unit", "unknown key of a column", "undeclared column", "table twice"],
)
def test_a_fault_in_a_declaration_names_file_and_key(tmp_path: Path, text: str, problem: str) -> None:
    for name in (catalogue.UNITS, catalogue.SHARED):
        (tmp_path / name).write_bytes((catalogue.FOLDER / name).read_bytes())
    (tmp_path / "room.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=problem) as fault:
        catalogue.read(tmp_path)
    assert "room.yaml" in str(fault.value)


def test_what_a_declaration_lacks_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / catalogue.UNITS).write_text("number: {type: DOUBLE, meaning: Any.}\nword: {type: VARCHAR, meaning: A.}")
    (tmp_path / catalogue.SHARED).write_text("fingerprint: &one {unit: word, meaning: A., open: any}\n"
                                             "run_id: *one\nupdated_at: *one\n")  # fmt: skip
    (tmp_path / "room.yaml").write_text("t: {key: [a], columns: [{a: {unit: word}}, {b: {unit: number, meaning: B.}}]}")
    assert list(catalogue.faults(catalogue.read(tmp_path))) == [
        "t: has no meaning", "t.a: has no meaning", "t.a: has no values, and `open` gives no reason",
        "t.b: has no range, and `open` gives no reason",
    ]  # fmt: skip


# What goes by it


def numeric(table: str) -> list[Column]:
    return [column for column in catalogue.table(table).columns.values() if column.numeric]


def checked() -> dict[str, tuple[list[str], list[str]]]:
    """Further tables and dimensions of each asset that has a table."""
    assets = [each for each in build_definitions().assets or () if isinstance(each, dg.AssetsDefinition)]
    return {
        key.to_user_string(): (further_tables(each, key), dimensions(each.specs_by_key[key].partitions_def))
        for each in assets for key in each.keys if key.to_user_string() in STORED
    }  # fmt: skip


def test_a_number_outside_its_unit_is_found_in_every_column_of_every_table(
    warehouse: Warehouse, ledger: SqliteLedger
) -> None:
    warehouse.read("corpus")  # makes the file
    with by_hand(warehouse.name) as connection:  # as nobody who writes through the warehouse could
        for table in STORED:
            rows = rows_of(table, len(numeric(table)))
            for number, column in enumerate(numeric(table)):
                row = rows[number].with_columns(pl.lit(outside(column), column.polars).alias(column.name))
                if OWNER in row.columns:  # a table of several assets; each is checked for its own rows
                    row = row.with_columns(pl.lit("comparison").alias(OWNER))
                connection.from_arrow(row.to_arrow()).insert_into(table)
    found = set()
    for asset, (further, dims) in checked().items():
        problems = sound(subject(asset, further, dims, warehouse, ledger))
        outsiders = problems.filter(pl.col("problem").str.starts_with("not a number"), rows=1)
        found |= {where if "." in where else f"{asset}.{where}" for where in outsiders["where"]}
    assert found == {f"{table}.{column.name}" for table in STORED for column in numeric(table)}


def subject(asset: str, further: list[str], dims: list[str], warehouse: Warehouse, ledger: SqliteLedger) -> Subject:
    provider = Provider(registry_path=str(default_path()), ledger_path=str(ledger.path))
    return Subject(asset, further, dims, [], None, warehouse, provider, pl.DataFrame.clear)


def test_a_word_that_is_not_on_the_list_is_found(warehouse: Warehouse, ledger: SqliteLedger) -> None:
    warehouse.read("corpus")
    with by_hand(warehouse.name) as connection:
        connection.from_arrow(rows_of("verdict", label=["FINE"]).to_arrow()).insert_into("verdict")
    problems = sound(subject("verdict", [], ["model", "passage"], warehouse, ledger))
    assert "label" in set(problems["where"])


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_number_is_written_that_is_not_finite(warehouse: Warehouse, number: float) -> None:
    for table in STORED:
        rows = rows_of(table).select(list(catalogue.table(table).content))
        for column in numeric(table):
            if catalogue.POLARS[column.type.removesuffix("[]")].is_float():
                bad = pl.lit([number] if column.type.endswith("[]") else number, column.polars)
                with pytest.raises(BadInput, match=f"{column.name}: contains NaN or an infinite number"):
                    warehouse.write([Replacement(table, rows.with_columns(bad.alias(column.name)), None)], "test")


def test_every_row_that_its_declaration_allows_is_written(warehouse: Warehouse) -> None:
    tables = [table for table in STORED if table != LOG]  # to which every write adds
    rows = {table: rows_of(table).select(list(catalogue.table(table).content)) for table in tables}
    warehouse.write([Replacement(table, own, None) for table, own in rows.items()], run_id="test")
    with warehouse.consistently():
        assert {len(warehouse.read(table)) for table in tables} == {1}


WRITING = {"schema", "empty", "Replacement", "table"}
"""Functions whose first argument names a table without reading it."""


def mentions() -> Iterator[tuple[str, ast.AST, ast.AST | None]]:
    """Each name of a stored table in the code, with the expression around it and the one around that."""
    for path in sorted((PROJECT / "benchmark_assets").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        around = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node.value in STORED:
                yield str(node.value), around[node], around.get(around[node])


def writes(table: str, near: ast.AST, far: ast.AST | None) -> bool:
    """Whether a mention only says what is written: a key of rows by table, the `tables` of an asset, a schema."""
    if isinstance(near, ast.Call):
        name = near.func.attr if isinstance(near.func, ast.Attribute) else getattr(near.func, "id", "")
        return name in WRITING
    if isinstance(near, ast.List | ast.Tuple) and isinstance(far, ast.Dict) and near in far.values:
        return ast.unparse(far.keys[far.values.index(near)] or near) == "'tables'"
    if isinstance(near, ast.Assign | ast.AnnAssign):  # the name of a study
        return ast.unparse(near).startswith("name")
    return isinstance(near, ast.Dict) and any(isinstance(key, ast.Constant) and key.value == table for key in near.keys)


def test_every_table_is_read_by_a_page_an_export_or_an_asset() -> None:
    read = {table for table, near, far in mentions() if not writes(table, near, far)}
    assert set(STORED) - read == set()


def test_every_table_that_is_not_stored_is_a_view_or_assembled_by_a_package() -> None:
    declared = {name: each for name, each in catalogue.declared().items() if not each.stored}
    assert {name for name, each in declared.items() if each.file not in ASSEMBLED} == set(VIEWS)
