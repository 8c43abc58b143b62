"""A warehouse in PostgreSQL: concurrent writers, lost connections, migration, vectors, and agreement with DuckDB."""

import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources import catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput, DamagedError
from resources.identity import StoreMark
from resources.migration import VERSIONS, digest
from resources.postgres.postgres_warehouse import PostgresWarehouse
from resources.warehouse import Replacement, Warehouse
from tests.resources.warehouses import content, process, replace, sources, texts
from tests.support import examples

VECTORS = pl.DataFrame({
    "embedder": ["e", "e"], "text_hash": ["1", "2"], "vector": [[0.1, -0.0], []], "cut": [None, True],
    "fingerprint": ["f", "f"], "served_model": ["m", "m"],
})  # fmt: skip


@pytest.fixture
def warehouse(postgres_warehouse: PostgresWarehouse) -> PostgresWarehouse:
    return postgres_warehouse


def outputs(model: str, text: str, *passages: str) -> pl.DataFrame:
    return pl.DataFrame({"model": model, "passage": passages, "text": text, "fingerprint": ""})


def impatient(warehouse: PostgresWarehouse) -> PostgresWarehouse:
    return warehouse.model_copy(update={"wait_seconds": 0.3})


def in_another_thread(act: Callable[[], Any]) -> Any:
    """What `act` returns or raises in a thread, and so on a connection, of its own."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(act())
        except BadInput as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    return results[0]


def cut_off(warehouse: PostgresWarehouse) -> None:
    """End all connections to the database, as a network or a server that fails would."""
    with psycopg.connect(warehouse.url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


# Several writers


def test_a_write_waits_for_writes_of_its_own_model_only(warehouse: PostgresWarehouse) -> None:
    hasty = impatient(warehouse)

    def write(model: str) -> Any:
        replacement = Replacement("model_output", outputs(model, "new", "x/1"), pl.DataFrame({"model": [model]}))
        return in_another_thread(lambda: hasty.write([replacement], "other"))

    def act() -> tuple[Any, Any]:
        warehouse.write([Replacement("model_output", outputs("a", "", "x/1"), pl.DataFrame({"model": ["a"]}))], "own")
        return write("b"), write("a")

    free, refused = warehouse.at_once("model_output", {"a"}, act)
    assert free is None
    assert "another process has been writing to it for 0.3 s; wait for that process or end it" in str(refused)
    assert warehouse.read("model_output", columns=["model", "run_id"]).rows() == [("a", "own"), ("b", "other")]


def test_states_of_one_asset_and_model_are_settled_by_one_process_at_a_time(warehouse: PostgresWarehouse) -> None:
    hasty = impatient(warehouse)

    def another(asset: str, models: set[str] | None) -> Any:
        return in_another_thread(lambda: hasty.at_once(asset, models, lambda: "settled"))

    def act() -> list[Any]:
        return [
            another("triage", {"b"}),
            another("verdict", {"a"}),
            another("triage", {"a", "b"}),
            another("triage", None),
        ]

    *free, same, whole = warehouse.at_once("triage", {"a"}, act)
    assert free == ["settled", "settled"]
    assert isinstance(same, BadInput)
    assert isinstance(whole, BadInput)


def replace_all(warehouse: Warehouse, name: str, rounds: int, tell: Connection) -> None:
    """Replace the same partitions by rows that only this process has."""
    tell.send("ready")
    tell.recv()
    for i in range(rounds):
        replace(warehouse, sources(f"x/{name}1", f"x/{name}2", corpus="x", text=f"{i}"))
    tell.send("done")


def test_of_two_processes_that_replace_the_same_partitions_one_leaves_its_rows(warehouse: PostgresWarehouse) -> None:
    with process(replace_all, warehouse, "a", 10) as (_, one), process(replace_all, warehouse, "b", 10) as (_, two):
        for connection in (one, two):
            assert connection.recv() == "ready"
            connection.send("go")
        seen = [sorted(texts(warehouse)) for _ in range(20)]
        assert [one.recv(), two.recv()] == ["done", "done"]
    assert all(rows in ([], ["x/a1", "x/a2"], ["x/b1", "x/b2"]) for rows in [*seen, sorted(texts(warehouse))])


def test_a_consistent_block_sees_one_state_and_keeps_no_writer_waiting(warehouse: PostgresWarehouse) -> None:
    replace(warehouse, sources("x/1"))
    with warehouse.consistently():
        assert list(texts(warehouse)) == ["x/1"]
        assert in_another_thread(lambda: replace(impatient(warehouse), sources("x/2"))) is None
        with warehouse.consistently():
            assert list(texts(warehouse)) == ["x/1"]
    assert list(texts(warehouse)) == ["x/2"]


def test_commands_wait_for_each_other_but_runs_do_not_wait_for_them(warehouse: PostgresWarehouse) -> None:
    def command() -> None:
        with impatient(warehouse).exclusively():
            pass

    with warehouse.exclusively(), warehouse.exclusively():
        assert in_another_thread(lambda: replace(impatient(warehouse), sources("x/1"))) is None
        assert list(texts(warehouse)) == ["x/1"]
        assert isinstance(in_another_thread(command), BadInput)
    assert in_another_thread(command) is None


# Lost connections


def test_reads_and_writes_outlive_a_lost_connection(warehouse: PostgresWarehouse) -> None:
    replace(warehouse, sources("x/1"))
    cut_off(warehouse)
    replace(warehouse, sources("x/2"))
    cut_off(warehouse)
    assert list(texts(warehouse)) == ["x/2"]


def test_an_act_whose_connection_is_lost_is_carried_out_again(warehouse: PostgresWarehouse) -> None:
    calls = []

    def act() -> int:
        with warehouse.consistently():
            calls.append(sorted(texts(warehouse)))
            if len(calls) == 2:
                cut_off(warehouse)
            texts(warehouse)
        replace(warehouse, sources(f"x/{len(calls)}"))
        if len(calls) == 1:
            cut_off(warehouse)
        return len(calls)

    assert warehouse.at_once("source_text", {""}, act) == 3
    assert (calls, list(texts(warehouse))) == ([[], [], []], ["x/3"])


def test_a_block_whose_connection_is_lost_ends_with_the_reason(warehouse: PostgresWarehouse) -> None:
    def read_twice() -> None:
        with warehouse.consistently():
            texts(warehouse)
            cut_off(warehouse)
            texts(warehouse)

    with pytest.raises(BadInput, match=r"the connection was lost .*run again"):
        read_twice()
    assert texts(warehouse) == {}


def test_a_server_that_cannot_be_reached_is_named_without_the_password(tmp_path: Path) -> None:
    warehouse = PostgresWarehouse(
        url="postgresql://me:secret@localhost:1/texts", home=str(tmp_path), vectors=str(tmp_path)
    )
    with pytest.raises(BadInput, match=r"cannot be reached .*start the server") as refused:
        warehouse.read("corpus")
    assert refused.value.where == "postgresql://localhost:1/texts"


# Tables


def test_the_character_nul_is_kept(warehouse: PostgresWarehouse) -> None:
    rows = sources("x/1", "x/2\0", text="a\0b", segments=[["a\0", "b"], ["c"]])
    replace(warehouse, rows, "x/1", "x/2\0")
    stored = warehouse.read("source_text", pl.DataFrame({"passage": ["x/2\0", "x/1"]}), ["passage", "text", "segments"])
    assert stored.rows() == [("x/1", "a\0b", ["a\0", "b"]), ("x/2\0", "a\0b", ["c"])]
    replace(warehouse, rows.head(1), "x/1", "x/2\0")
    assert texts(warehouse) == {"x/1": "a\0b"}


def test_a_text_with_the_character_that_stands_for_nul_is_refused(warehouse: PostgresWarehouse) -> None:
    with pytest.raises(BadInput, match=r"source_text: segments: contains the character U\+FDD0, which stands for NUL"):
        replace(warehouse, sources("x/1", segments=[["a\ufdd0"]]))
    assert texts(warehouse) == {}


@pytest.fixture
def migrated(database: str, tmp_path: Path) -> PostgresWarehouse:
    """A warehouse in a database whose tables a test may change."""
    own = PostgresWarehouse(url=database, home=str(tmp_path), vectors=str(tmp_path / "vectors"))
    replace(own, sources("x/1"))
    return own


def by_hand(warehouse: PostgresWarehouse, *statements: str) -> PostgresWarehouse:
    """Change tables without the class; return the same warehouse as another process would open it."""
    with psycopg.connect(warehouse.url) as connection:
        connection.execute("SET search_path TO warehouse")
        for statement in statements:
            connection.execute(statement)
    return warehouse.model_copy(update={"wait_seconds": 59.0})


def test_an_older_database_gets_the_declared_tables_and_keeps_its_rows(migrated: PostgresWarehouse) -> None:
    opened = by_hand(
        migrated,
        "ALTER TABLE source_text ALTER position TYPE bigint, ALTER text DROP NOT NULL, ADD COLUMN note text",
        "ALTER TABLE system_comparison RENAME COLUMN p TO p_randomization",
        "DROP TABLE leaderboard",
        "CREATE TABLE formerly (LIKE source_text)",
        "CREATE TABLE my_notes (note text)",
        "UPDATE schema_version SET number = 0, digest = ''",
    )
    assert opened.read("source_text").equals(migrated.read("source_text"))
    assert texts(opened) == {"x/1": "a text"}
    assert [table for table in catalogue.tables() if len(opened.differences(table))] == []
    with psycopg.connect(migrated.url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'warehouse'").fetchall()
        last = "SELECT number, digest FROM warehouse.schema_version ORDER BY migrated_at DESC LIMIT 1"
        assert connection.execute(last).fetchone() == (len(VERSIONS), digest())
    assert {name for (name,) in tables} - {*catalogue.tables()} == {"my_notes", "schema_version", "identity"}


def test_a_database_whose_rows_do_not_fit_is_refused_unchanged(migrated: PostgresWarehouse) -> None:
    opened = by_hand(
        migrated,
        "ALTER TABLE source_text ALTER text DROP NOT NULL",
        "UPDATE source_text SET text = NULL",
        "UPDATE schema_version SET digest = ''",
    )
    with pytest.raises(BadInput, match=r"rows do not fit the declared columns .*nothing was changed"):
        opened.read("corpus")
    with psycopg.connect(migrated.url) as connection:
        assert connection.execute("SELECT passage, text FROM warehouse.source_text").fetchall() == [("x/1", None)]


def test_a_database_of_a_later_version_is_refused(migrated: PostgresWarehouse) -> None:
    opened = by_hand(migrated, "UPDATE schema_version SET number = number + 1")
    with pytest.raises(BadInput, match="use the version of Variorum that wrote it, or a later one"):
        opened.read("corpus")


# Vectors and copies


def test_equal_vectors_are_equal_rows_whichever_file_they_are_in(warehouse: PostgresWarehouse) -> None:
    warehouse.write([Replacement("embedding", VECTORS, None)], "first")
    before = warehouse.read("embedding")
    again = pl.concat([VECTORS, VECTORS.head(1).with_columns(text_hash=pl.lit("3"))])
    warehouse.write([Replacement("embedding", again, None)], "later")
    after = warehouse.read("embedding")
    assert after.head(2).equals(before)
    assert after["run_id"].to_list() == ["first", "first", "later"]
    assert repr(after["vector"].to_list()) == repr(before["vector"].to_list() + before["vector"].to_list()[:1])


@pytest.mark.parametrize(("change", "problem"), [(Path.unlink, "is missing"), (None, "is damaged")])
def test_a_file_of_vectors_that_is_not_whole_is_named(
    warehouse: PostgresWarehouse, tmp_path: Path, change: Callable[[Path], None] | None, problem: str
) -> None:
    own = warehouse.model_copy(update={"vectors": str(tmp_path)})
    own.write([Replacement("embedding", VECTORS, None)], "run")
    (file,) = tmp_path.iterdir()
    if change:
        change(file)
    else:
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedError, match=problem) as refused:
        own.read("embedding")
    assert refused.value.where == str(file)


def test_vectors_may_be_in_an_object_store(warehouse: PostgresWarehouse) -> None:
    own = warehouse.model_copy(update={"vectors": "memory://vectors"})
    own.write([Replacement("embedding", VECTORS, None)], "run")
    assert own.read("embedding", columns=["text_hash", "vector"])["vector"].list.len().to_list() == [2, 0]


def test_a_snapshot_is_a_whole_warehouse_in_one_duckdb_file(warehouse: PostgresWarehouse, tmp_path: Path) -> None:
    replace(warehouse, sources("x/1", "x/2"))
    warehouse.write([Replacement("embedding", VECTORS, None)], "run")
    warehouse.set_mark(StoreMark("home", 3, True))
    own = warehouse.model_copy(update={"home": str(tmp_path)})
    file = own.snapshot()
    copy = DuckDBWarehouse(path=str(file))
    assert copy.mark() == warehouse.mark() == StoreMark("home", 3, True)
    for table in ("source_text", "embedding", "materialization"):
        assert copy.read(table).equals(warehouse.read(table)), table
    with duckdb.connect(str(file), read_only=True) as reader:
        replace(warehouse, sources("x/3"))
        assert own.snapshot() == file
        assert reader.execute("SELECT count(*) FROM source_text").fetchone() == (2,)
    assert [row[0] for row in content(file)["source_text"]] == ["x/3"]


# Agreement with DuckDB

PASSAGES = st.sampled_from(["x/1", "x/2", "X/1", "é/1", "z"])
ROW = st.tuples(
    st.sampled_from(["a", "b", "é\n'\\"]), st.lists(st.none() | st.sampled_from(["", "NULL", "{,}"]), max_size=2)
)
WRITE = st.tuples(st.dictionaries(PASSAGES, ROW), st.none() | st.sets(PASSAGES), st.sampled_from("fg"))


def written(warehouse: Warehouse, steps: list[tuple[dict[str, Any], set[str] | None, str]]) -> list[pl.DataFrame]:
    """What is read after each write, without the times."""
    seen = []
    for number, (rows, replaced, fingerprint) in enumerate(steps):
        segments = pl.Series([own for _, own in rows.values()], dtype=pl.List(pl.String))
        text = pl.Series([own for own, _ in rows.values()], dtype=pl.String)
        frame = sources(*rows, position=0, text=text, segments=segments, fingerprint=fingerprint)
        keys = (
            None if replaced is None else pl.DataFrame({"passage": sorted(replaced | {*rows})}, {"passage": pl.String})
        )
        warehouse.write([Replacement("source_text", frame, keys)], f"{number}")
        seen.append(warehouse.read("source_text", keys, most=3).drop("updated_at"))
        seen.append(warehouse.read("source_text").drop("updated_at"))
    return seen


@settings(examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(WRITE, min_size=1, max_size=4))
def test_the_same_writes_and_reads_give_the_same_frames_as_in_duckdb(
    warehouse: PostgresWarehouse, home: Path, steps: list[tuple[dict[str, Any], set[str] | None, str]]
) -> None:
    own = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    with own.kept_open():
        for each in (own, warehouse):
            each.write([Replacement("source_text", sources(), None)], "empty")
        for ours, theirs in zip(written(own, steps), written(warehouse, steps), strict=True):
            assert ours.equals(theirs)
            assert ours.schema == theirs.schema
