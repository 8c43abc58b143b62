"""A home with a store that is lost, older, foreign or damaged says so before anything runs, and can be mended."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation import repairing, runs
from resources.identity import LAG, Marks, StoreMark, faults
from resources.provider.sqlite_ledger import SqliteLedger, connect
from resources.warehouse import Warehouse
from tests.processes import here
from tests.resources.test_backups import answer, assert_equal, contents
from tests.support import by_hand, edit_segment

STORES = Marks._fields


@given(st.lists(st.integers(0, LAG), min_size=3, max_size=3), st.integers(3, 100), st.booleans())
def test_stores_that_a_killed_update_left_behind_belong_together(lags: list[int], epoch: int, ledger: bool) -> None:
    marks = Marks(*(StoreMark("home", epoch - lag, ledger) for lag in lags))
    assert faults(marks) == {}
    assert faults(Marks(None, None, None)) == {}
    assert faults(marks._replace(ledger=None)) == (
        {"ledger": "was lost: it contains nothing from this home"} if ledger else {}
    )


@given(st.sampled_from(STORES), st.integers(2, 100), st.integers(LAG + 1, 50))
def test_the_one_store_that_does_not_belong_to_the_others_is_named(store: str, epoch: int, lag: int) -> None:
    sound = Marks(*[StoreMark("home", epoch + lag, True)] * 3)
    assert faults(sound._replace(**{store: StoreMark("home", epoch, True)})) == {
        store: "is older than the rest of this home"
    }
    assert faults(sound._replace(**{store: StoreMark("other", 999, True)})) == {store: "belongs to another home"}
    assert faults(sound._replace(**{store: None})) == {store: "was lost: it contains nothing from this home"}


def test_two_stores_of_different_homes_are_both_named() -> None:
    both = Marks(StoreMark("home", 7, False), StoreMark("other", 8, False), None)
    assert faults(both) == dict.fromkeys(["dagster", "warehouse"], "belongs to another home")


@pytest.fixture
def former(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path, home: Path, tmp_path: Path
) -> Path:
    """A copy of the finished home from before its last update; the home itself has a ledger with a reply since."""
    runs.update(built, instance)
    by_hand(warehouse.name).close()
    shutil.copytree(home, tmp_path / "former", symlinks=True)
    with closing(connect(home / "ledger.sqlite")) as ledger:
        answer(ledger, "question")
    edit_segment(corpus, "ann", "doc1:1.1", "Another mouse runs.")
    runs.look(built, instance)
    runs.update(built, instance)
    by_hand(warehouse.name).close()
    return tmp_path / "former"


def remove(home: Path, former: Path, part: str) -> None:
    shutil.rmtree(home / part) if (home / part).is_dir() else (home / part).unlink()


def put_former(home: Path, former: Path, part: str) -> None:
    remove(home, former, part)
    (shutil.copytree if (former / part).is_dir() else shutil.copyfile)(former / part, home / part)


def damage(home: Path, former: Path, part: str) -> None:
    file = home / part if (home / part).is_file() else home / part / "history" / "runs" / "index.db"
    content = file.read_bytes()
    file.write_bytes(content[:300] + b"\xa5" * (len(content) - 300))


FULL = [pytest.mark.large]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("harm", "part", "fault"),
    [
        (remove, "ledger.sqlite", "ledger.sqlite: was lost"),
        pytest.param(put_former, "dagster", "dagster: is older than the rest of this home", marks=FULL),
        pytest.param(
            remove, "variorum.duckdb", "variorum.duckdb: is missing, although this home has been used", marks=FULL
        ),
        pytest.param(damage, "ledger.sqlite", "ledger.sqlite: is damaged", marks=FULL),
        pytest.param(remove, "dagster", "dagster: was lost", marks=FULL),
        pytest.param(damage, "dagster", "dagster: is damaged", marks=FULL),
        pytest.param(
            put_former, "variorum.duckdb", "variorum.duckdb: is older than the rest of this home", marks=FULL
        ),
        pytest.param(damage, "variorum.duckdb", "variorum.duckdb: cannot be opened as a warehouse", marks=FULL),
    ],
)  # fmt: skip
def test_a_harmed_home_names_the_fault_and_is_mended(
    former: Path,
    built: dg.Definitions,
    warehouse: Warehouse,
    home: Path,
    harm: Callable[[Path, Path, str], None],
    part: str,
    fault: str,
) -> None:
    undisturbed, spent = contents(warehouse), SqliteLedger(home / "ledger.sqlite").attempts()["asked", "cost", "model"]
    by_hand(warehouse.name).close()
    with closing(sqlite3.connect(home / "ledger.sqlite")) as ledger:
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    harm(home, former, part)
    for command in (["status"], ["update"]):
        refused = here(home, *command, code=1).stderr
        assert fault in refused
        assert "variorum restore FOLDER" in refused
        assert "variorum rebuild" in refused
    print(*repairing.rebuild(lambda: built), sep="\n")
    here(home, "status")
    with dg.DagsterInstance.get() as instance:
        runs.look(built, instance)
        runs.update(built, instance)
    found = contents(warehouse)
    if part == "variorum.duckdb" and harm is not put_former:
        assert found["source_text"].is_empty()
        assert_equal(found, {"model_call": undisturbed["model_call"]}, "run_id", "updated_at")
    else:
        without = {"run_id", "updated_at", *({"call", "fingerprint"} if part == "ledger.sqlite" else ())}
        assert_equal(found, undisturbed, *without)
    assert SqliteLedger(home / "ledger.sqlite").attempts()["asked", "cost", "model"].equals(spent)
    by_hand(warehouse.name).close()
    assert "sound" in here(home, "verify").stdout


def test_tables_of_another_version_of_dagster_are_migrated(
    built: dg.Definitions, instance: dg.DagsterInstance, home: Path
) -> None:
    here(home, "status")
    index = home / "dagster" / "history" / "runs" / "index.db"
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("DELETE FROM secondary_indexes")
    here(home, "status")
    with closing(sqlite3.connect(index)) as connection:
        assert connection.execute("SELECT count(*) FROM secondary_indexes").fetchone() == (0,)
    instance.daemon_cursor_storage.set_cursor_values({"variorum/dagster": "1.12.0"})
    here(home, "status")
    with closing(sqlite3.connect(index)) as connection:
        assert ("asset_key_index_columns",) in connection.execute("SELECT name FROM secondary_indexes").fetchall()
