"""A write-ahead log of garbage beside a sound database: rows that were committed before stay, and later ones, too."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from resources.dagster_storage.engines import kept_engine
from resources.duckdb_warehouse import LOST, DuckDBWarehouse
from resources.errors import DamagedError
from resources.provider.sqlite_ledger import connect
from resources.sqlite_files import integrity
from tests.resources.warehouses import replace, sources, texts

GARBAGE = {
    "noise": random.Random(1).randbytes(50_000),
    "zeros": bytes(50_000),
    "text": b"no log " * 1000,
    "nothing": b"",
}


@pytest.fixture(scope="module")
def kept_open() -> bool:
    return False


@pytest.mark.parametrize("log", GARBAGE.values(), ids=list(GARBAGE))
def test_a_warehouse_opens_and_keeps_what_is_stored(home: Path, log: bytes) -> None:
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    replace(warehouse, sources("x/1"), "x/1")
    (home / "variorum.duckdb.wal").write_bytes(log)
    replace(warehouse, sources("x/2"), "x/2")
    assert list(texts(warehouse)) == ["x/1", "x/2"]


def test_the_log_of_another_file_is_damage_that_is_named(home: Path, tmp_path: Path) -> None:
    warehouse, other = DuckDBWarehouse(path=str(home / "variorum.duckdb")), str(tmp_path / "other.duckdb")
    replace(warehouse, sources("x/1"), "x/1")
    with duckdb.connect(other) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("CREATE TABLE t (i INTEGER)")
    Path(f"{other}.wal").rename(home / "variorum.duckdb.wal")
    with pytest.raises(DamagedError, match=r"variorum\.duckdb\.wal") as refused:
        warehouse.read("corpus")
    assert refused.value.remedy == LOST


@pytest.mark.parametrize("log", GARBAGE.values(), ids=list(GARBAGE))
def test_a_ledger_opens_and_keeps_what_is_stored(tmp_path: Path, log: bytes) -> None:
    path = tmp_path / "ledger.sqlite"
    for session in ("before", "after"):
        with closing(connect(path)) as connection:
            connection.execute("INSERT INTO session VALUES (?, 'run', 0)", [session])
        if session == "before":
            path.with_name("ledger.sqlite-wal").write_bytes(log)
    with closing(connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM session").fetchall() == [(2,)]
    assert integrity(path) == ""


@pytest.mark.parametrize("log", GARBAGE.values(), ids=list(GARBAGE))
def test_dagsters_files_open_and_keep_what_is_stored(tmp_path: Path, log: bytes) -> None:
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE run (id TEXT)")
        connection.execute("INSERT INTO run VALUES ('before')")
        connection.commit()
    path.with_name("runs.db-wal").write_bytes(log)
    engine = kept_engine(f"sqlite:///{path}")
    with engine.begin() as writing:
        writing.exec_driver_sql("INSERT INTO run VALUES ('after')")
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM run").fetchall() == [(2,)]
    assert integrity(path) == ""
