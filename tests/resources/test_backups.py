"""Backups of a finished home: what they contain, what restoration brings back, kills and damage."""

import random
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import repairing, runs
from benchmark_assets.automation.due import due, order
from benchmark_assets.automation.safekeeping import agreement
from resources import backups, catalogue
from resources.changes import LOG
from resources.provider.sqlite_ledger import SqliteLedger, connect
from resources.warehouse import Warehouse
from tests.processes import environment, here
from tests.support import by_hand, edit_segment

ONE = "from benchmark_assets.cli import console; console()"
"""A command in a process that can be killed."""

RESTORE = ("restore", "--as-of-backup", "--yes")

EMPTY = zlib.compress(b"{}")


def contents(warehouse: Warehouse) -> dict[str, pl.DataFrame]:
    with warehouse.kept_open():
        return {table: warehouse.read(table) for table in catalogue.tables() if table != LOG}


def assert_equal(found: dict[str, pl.DataFrame], expected: dict[str, pl.DataFrame], *without: str) -> None:
    for table, rows in expected.items():
        columns = {*without, *(("fingerprint",) if without and table == "unit_sum" else ())}  # of times
        assert found[table].drop(columns, strict=False).equals(rows.drop(columns, strict=False)), table


@pytest.fixture
def saved(built: dg.Definitions, instance: dg.DagsterInstance, home: Path) -> Path:
    """A folder with a backup of the finished home, whose ledger has a reply."""
    with closing(connect(home / "ledger.sqlite")) as ledger:
        answer(ledger, "before")
    folder = home.parent / "backups"
    here(home, "backup", str(folder))
    return folder


def answer(connection: sqlite3.Connection, key: str) -> None:
    """A question with a paid reply."""
    connection.execute("INSERT OR IGNORE INTO session VALUES ('s', 'r', 0)")
    question = connection.execute(
        "INSERT INTO question (key, place, replicate, body) VALUES (?, 'p', 0, ?)", (key, EMPTY)
    ).lastrowid
    attempt = connection.execute(
        "INSERT INTO attempt (question, session, run, model, purpose, asked, reserved, outcome) "
        "VALUES (?, 's', 'r', 'm', 'translate', 0, 0, 'answered')",
        (question,),
    ).lastrowid
    connection.execute("INSERT INTO reply VALUES (?, 0, 200, '{}', ?, '')", (attempt, EMPTY))


def answered(home: Path) -> set[str]:
    with closing(connect(home / "ledger.sqlite")) as ledger:
        return {key for (key,) in ledger.execute("SELECT key FROM question")}


def test_a_lost_warehouse_is_named_and_a_restored_home_is_current(
    saved: Path, built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, home: Path
) -> None:
    before = contents(warehouse)
    by_hand(warehouse.name).close()  # it is no longer kept open
    for part in ("variorum.duckdb", "variorum.duckdb.wal"):
        (home / part).unlink(missing_ok=True)
    refused = here(home, "status", code=1)
    assert (
        "variorum.duckdb: is missing, although this home has been used; bring it back with `variorum restore"
        in refused.stderr
    )
    assert "repaired with" in here(home, "restore", str(saved)).stdout
    assert_equal(contents(warehouse), before)
    with dg.DagsterInstance.get() as restored:
        # The fixture's reply has not been counted yet.
        assert [asset for asset in order(built) if len(due(built, restored, asset).rows)] == [dg.AssetKey("model_call")]
    assert "the next update reports 0 partitions to Dagster" in here(home, "verify").stdout


@pytest.mark.proof
@pytest.mark.large
def test_what_happened_since_is_materialized_again_and_later_replies_stay(
    saved: Path,
    built: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    corpus: Path,
    home: Path,
) -> None:
    edit_segment(corpus, "ann", "doc1:1.1", "Another mouse runs.")
    with closing(connect(home / "ledger.sqlite")) as ledger:
        answer(ledger, "after")
    runs.look(built, instance)
    runs.update(built, instance)
    undisturbed = contents(warehouse)
    by_hand(warehouse.name).close()
    here(home, "restore", str(saved), "--as-of-backup", "--yes")
    assert answered(home) == {"before", "after"}
    with dg.DagsterInstance.get() as restored:
        runs.look(built, restored)
        runs.update(built, restored)
        assert_equal(contents(warehouse), undisturbed, "run_id", "updated_at")
        assert agreement(built, restored).select(pl.col("unreported").sum()).item() == 0


def test_a_lost_ledger_comes_back(saved: Path, home: Path) -> None:
    for part in home.glob("ledger.sqlite*"):
        if part.is_file():
            part.unlink()
    here(home, "restore", str(saved))
    assert answered(home) == {"before"}


@pytest.mark.proof
@pytest.mark.large
def test_compressed_replies_come_back_with_their_ledger(saved: Path, home: Path) -> None:
    assert SqliteLedger(home / "ledger.sqlite").compact(datetime.fromtimestamp(1, UTC), fewest=1) == 1
    (file,) = SqliteLedger(home / "ledger.sqlite").archived()
    here(home, "backup", str(saved))
    content = file.read_bytes()
    file.write_bytes(b"")
    assert f"{file.name}: cannot be read" in here(home, "verify", code=1).stderr
    for part in (file, *home.glob("ledger.sqlite*")):
        if part.is_file():
            part.unlink()
    here(home, "restore", str(saved))
    assert file.read_bytes() == content
    assert "sound" in here(home, "verify").stdout
    assert "sound" in here(home, "verify", str(saved)).stdout


def test_what_a_restoration_moved_aside_is_no_part_of_the_home(saved: Path, home: Path) -> None:
    (home / "ledger.sqlite").write_bytes(b"no database" * 1000)
    assert "ledger.sqlite: is damaged" in here(home, "verify", code=1).stderr
    here(home, "restore", str(saved))
    assert (home / repairing.RESTORED).exists()
    assert "sound" in here(home, "verify").stdout


def test_files_that_did_not_change_take_no_space(saved: Path, home: Path) -> None:
    first = backups.manifest(backups.chosen(saved, None))
    here(home, "backup", str(saved))
    second = backups.manifest(backups.chosen(saved, None))
    run_files = {path for path in second.files if path.startswith("dagster/history/runs/") and "-" in Path(path).stem}
    assert {path for path in run_files if not second.files[path].linked} == set()
    assert second.rows == first.rows
    assert "sources/tiny/" in " ".join(second.outside)
    assert "sound" in here(home, "verify", str(saved)).stdout


def test_a_new_backup_sees_what_was_written_since(saved: Path, warehouse: Warehouse, home: Path) -> None:
    with by_hand(warehouse.name) as connection:
        connection.execute("DELETE FROM drift_score")
    here(home, "backup", str(saved))
    assert backups.manifest(backups.chosen(saved, None)).rows["drift_score"] == 0
    refused = here(home, "verify", code=1)
    assert (
        "drift_score: rows do not agree with their records; recompute them with `variorum update --anew"
        in refused.stderr
    )


@pytest.mark.parametrize("path", ["variorum.duckdb", "ledger.sqlite", "dagster/history/runs.db"])
def test_a_damaged_backup_is_named_and_the_home_stays_as_it_is(saved: Path, home: Path, path: str) -> None:
    file = backups.chosen(saved, None) / path
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    for command in ("verify", "restore"):
        assert (
            f"{path}: was altered since the backup; use another backup"
            in here(home, command, str(saved), code=1).stderr
        )
    file.unlink()
    assert f"{path}: is missing; use another backup" in here(home, "restore", str(saved), code=1).stderr
    assert not (home / repairing.RESTORED).exists()


def test_a_folder_of_something_else_is_left_alone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words")
    refused = here(home, "backup", str(tmp_path / "mine"), code=1)
    assert "mine: is not a folder of backups; choose an empty folder, or one with backups" in refused.stderr
    assert "contains no backup" in here(home, "restore", str(tmp_path), code=1).stderr


def test_the_last_backup_of_each_day_week_and_month_is_kept(tmp_path: Path) -> None:
    begun = datetime(2025, 1, 1)
    for day in range(0, 400):
        for hour in (3, 20):
            backup = tmp_path / (begun + timedelta(days=day, hours=hour)).strftime(backups.STAMP)
            backup.mkdir()
            (backup / backups.MANIFEST).write_text("{}")
    backups.spare(tmp_path)
    kept = [moment for name in backups.names(tmp_path) if (moment := backups.moment(name))]
    assert {moment.hour for moment in kept} == {20}
    assert kept[-backups.DAYS :] == [begun + timedelta(days=393 + day, hours=20) for day in range(backups.DAYS)]
    assert len({(moment.year, moment.month) for moment in kept}) == backups.MONTHS
    assert len(kept) <= backups.DAYS + backups.WEEKS + backups.MONTHS
    assert not list(tmp_path.glob(".new-*"))


def test_the_last_backup_is_the_last_made_whatever_the_clock_said(tmp_path: Path) -> None:
    days = [f"2026-01-{day:02}" for day in range(1, 10)]
    order = [days[0], *(f"2027-03-{day:02}" for day in range(1, 9)), *days[1:]]  # the clock was ahead for 8 backups
    made = [f"{day}T03-00-00.000000Z-{number}" for number, day in enumerate(order, 1)]
    former, renamed = "2025-12-31T03-00-00.000000Z", "before-the-thesis"
    for name in (*made, former, renamed):
        (tmp_path / name).mkdir()
        (tmp_path / name / backups.MANIFEST).write_text("{}")
    assert backups.names(tmp_path) == [former, renamed, *made]
    backups.spare(tmp_path)
    assert backups.names(tmp_path)[-7:] == made[-7:]
    assert backups.chosen(tmp_path, None).name == made[-1]
    assert (tmp_path / renamed).exists()


@pytest.mark.parametrize("path", ["ledger.sqlite", "dagster/history/runs.db"])
def test_a_damaged_store_never_takes_the_place_of_a_sound_copy(saved: Path, home: Path, path: str) -> None:
    with (home / path).open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xff" * 4096)
    before = backups.names(saved)
    assert "is damaged" in here(home, "backup", str(saved), code=1).stderr
    assert backups.names(saved) == before
    here(home, "restore", str(saved))
    here(home, "backup", str(saved))
    assert answered(home) == {"before"}


def test_files_of_a_corpus_whose_description_is_lost_stay_in_the_next_backup(
    saved: Path, corpus: Path, home: Path
) -> None:
    content = corpus.read_bytes()
    corpus.unlink()
    assert "since the description cannot be read: tiny" in here(home, "backup", str(saved)).stdout
    here(home, "restore", str(saved))
    assert corpus.read_bytes() == content


def test_damage_to_a_backup_is_not_passed_on_to_the_next(saved: Path, home: Path) -> None:
    last = backups.chosen(saved, None)
    (linked,) = last.glob("sources/tiny/*.yaml")
    linked.write_text("damaged")
    here(home, "backup", str(saved))
    assert "sound" in here(home, "verify", str(saved)).stdout
    (backups.chosen(saved, None) / backups.MANIFEST).write_text("damaged")
    here(home, "backup", str(saved))
    assert backups.chosen(saved, None).name.endswith("-3")
    assert backups.check(backups.chosen(saved, None)).rows


@pytest.mark.large
@pytest.mark.proof
def test_kills_of_backup_and_restoration_lose_neither_side(
    saved: Path, warehouse: Warehouse, home: Path, full: bool
) -> None:
    before, chance, ready = contents(warehouse), random.Random(4), home / ".restoring" / "ready"
    interrupted = 0
    for turn in range(20 if full else 2):
        kill(home, lambda: any(saved.glob(".new-*")), chance.uniform(0, 1), "backup", str(saved))
        backups.check(backups.chosen(saved, None))
        if turn % 2:  # while files are exchanged
            kill(home, ready.exists, chance.uniform(0, 0.002), *RESTORE, str(saved))
        else:  # while they are copied
            kill(home, (home / ".restoring").exists, chance.uniform(0, 0.2), *RESTORE, str(saved))
        if ready.exists():
            interrupted += 1
            assert "a repair was interrupted" in here(home, "status", code=1).stderr
        here(home, *RESTORE, str(saved))
        assert_equal(contents(warehouse), before)
        assert answered(home) == {"before"}
        by_hand(warehouse.name).close()
    print(f"\n{interrupted} restorations were interrupted after everything had been copied")
    here(home, "backup", str(saved))
    assert not list(saved.glob(".new-*"))
    assert "sound" in here(home, "verify", str(saved)).stdout


def kill(home: Path, has_begun: Callable[[], bool], seconds: float, *arguments: str) -> None:
    """Begin a command, and kill it so many seconds after its work has begun."""
    process = subprocess.Popen(
        [sys.executable, "-c", ONE, *arguments],
        env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while process.poll() is None and not has_begun():
        pass
    time.sleep(seconds)
    process.kill()
    process.wait()
