"""Moving a home of files to PostgreSQL: what is copied, what is compared, and a copy that lacks nothing."""

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
import sqlalchemy as db

from benchmark_assets.automation import identity, runs
from benchmark_assets.automation.due import due, order
from benchmark_assets.automation.server import moving
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources import catalogue
from resources.changes import LOG
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.postgres.postgres_ledger import PostgresLedger
from resources.postgres.postgres_warehouse import PostgresWarehouse
from resources.provider.registry import Budget
from resources.provider.sqlite_ledger import SqliteLedger, connect
from resources.warehouse import Replacement, Warehouse
from tests.postgres import use_database
from tests.processes import here
from tests.resources.test_backups import EMPTY, answer
from tests.support import LetterEmbedder, edit_segment, reports
from tests.systems import rule_systems

OPEN = "still open"


def target(database: str, home: Path) -> PostgresWarehouse:
    return PostgresWarehouse(url=database, home=str(home), vectors=str(home / "vectors"))


def on_database(warehouse: PostgresWarehouse, folder: Path) -> dg.Definitions:
    overrides = {
        "warehouse": warehouse, "embedder": LetterEmbedder(), "systems": rule_systems(warehouse, folder)
    }  # fmt: skip
    return build_definitions(resource_overrides=overrides)


def stale(definitions: dg.Definitions, instance: dg.DagsterInstance) -> list[str]:
    return [asset.to_user_string() for asset in order(definitions) if len(due(definitions, instance, asset).rows)]


def contents(warehouse: Warehouse, *without: str) -> dict[str, pl.DataFrame]:
    return {table: warehouse.read(table).drop(without, strict=False) for table in catalogue.tables()}


def edited(definitions: dg.Definitions, instance: dg.DagsterInstance) -> Counter[tuple[str, str]]:
    """The partitions that an update materializes after a file was edited."""
    before = reports(instance)
    runs.look(definitions, instance)
    runs.update(definitions, instance)
    return reports(instance) - before


@pytest.mark.large
@pytest.mark.proof
def test_a_moved_home_is_current_and_recomputes_after_an_edit_what_files_would(
    built: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: DuckDBWarehouse,
    home: Path,
    corpus: Path,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """At the small size, the edit leaves the text of its passage alone."""
    status = runs.status(built, instance)
    records = reports(instance)
    before = contents(warehouse)
    monkeypatch.setenv("VARIORUM_TARGET", database)
    said = here(home, "migrate-to").stdout
    assert f"warehouse: {sum(map(len, before.values()))} rows of {len(before)} tables, all equal" in said

    if full:
        edit_segment(corpus, "ann", "doc1:1.1", "Another mouse runs.")
    else:
        edit_segment(corpus, "ann", "doc1:1.1", "A mouse runs. The")
        edit_segment(corpus, "ann", "doc1:1.2", "cat sits.")
    by_files = edited(built, instance)
    files = contents(warehouse, "run_id", "updated_at")

    moved = target(database, home)
    assert all(rows.equals(before[table]) for table, rows in contents(moved).items())
    use_database(monkeypatch, home, database)
    definitions = on_database(moved, home.parent)
    with dg.DagsterInstance.get() as group:
        assert reports(group) == records
        assert runs.status(definitions, group).equals(status)
        assert stale(definitions, group) == []
        assert edited(definitions, group) == by_files
    for table, rows in contents(moved, "run_id", "updated_at").items():
        if table == LOG:  # which run wrote what
            continue
        stamps = ["fingerprint"] if table == "unit_sum" else []  # of times
        assert rows.drop(stamps).equals(files[table].drop(stamps)), table


@pytest.fixture
def asked(home: Path) -> SqliteLedger:
    """A ledger with an archived reply, another reply, a corrected cost, and a call that a kill interrupted."""
    with closing(connect(home / "ledger.sqlite")) as connection:
        for key in ("old", "new", OPEN):
            answer(connection, key)
        connection.execute("UPDATE reply SET received = 4102444801 WHERE attempt > 1")
        connection.execute("DELETE FROM reply WHERE attempt = 3")
        connection.execute("UPDATE attempt SET outcome = NULL, price = '{}', reserved = 7 WHERE id = 3")
        connection.execute(
            "INSERT INTO account VALUES ('run r', 5, 7, 0), ('day 1970-01-01', 5, 7, 0), ('model m', 5, 7, 0)"
        )
        correction = (4, 1, 1.5, "Ann \0", None, 5, "the bill")
        connection.execute("INSERT INTO correction VALUES (?, ?, ?, ?, ?, ?, ?)", correction)
    ledger = SqliteLedger(home / "ledger.sqlite")
    assert ledger.compact(datetime(2000, 1, 1, tzinfo=UTC), fewest=1) == 1
    return ledger


def test_a_ledger_keeps_its_replies_costs_and_numbers(
    asked: SqliteLedger, instance: dg.DagsterInstance, warehouse: Warehouse, home: Path, database: str
) -> None:
    counts = moving.move(instance, warehouse, asked, target(database, home))
    assert {table: count for (store, table), count in counts.items() if store == "ledger"} == {
        "session": 1, "question": 3, "attempt": 3, "reply": 2, "account": 3, "correction": 1, "identity": 0
    }  # fmt: skip
    ledger = PostgresLedger(database)
    assert list(ledger.replies("m")) == list(asked.replies("m"))
    assert ledger.attempts().equals(asked.attempts())
    with ledger.session("another", Budget()):
        pass  # settles the interrupted call
    with ledger.connect() as connection:
        balance = set(connection.execute("SELECT * FROM balance WHERE name <> 'run another'"))
        assert balance == {(name, 5, 0, 7) for name in ("run r", "day 1970-01-01", "model m")}
        new = "INSERT INTO question (key, place, replicate, body) VALUES ('k', 'p', 0, %s) RETURNING id"
        assert connection.execute(new, (EMPTY,)).fetchone() == (4,)


def test_a_home_that_asks_models_is_refused_and_nothing_is_in_the_database(
    asked: SqliteLedger, instance: dg.DagsterInstance, warehouse: Warehouse, home: Path, database: str
) -> None:
    with asked.session("run", Budget()), pytest.raises(BadInput, match="a run is asking models"):
        moving.move(instance, warehouse, asked, target(database, home))
    moving.refuse_used(target(database, home))


def in_warehouse(copy: moving.Target) -> None:
    rows = copy.warehouse.read("corpus").drop("run_id", "updated_at")
    copy.warehouse.write([Replacement("corpus", rows.with_columns(description=pl.lit("elsewhere")), None)], "damage")


def in_reply(copy: moving.Target) -> None:
    assert copy.ledger
    copy.ledger.execute("UPDATE reply SET status = 500 WHERE attempt = 2")


def in_account(copy: moving.Target) -> None:
    assert copy.ledger
    copy.ledger.execute("DELETE FROM account WHERE name = 'model m'")


def in_dagster(copy: moving.Target) -> None:
    copy.dagster.execute(db.text("UPDATE kvs SET value = '' WHERE id = 1"))


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (in_warehouse, "warehouse.corpus: tiny"),
        (in_reply, "ledger.reply: 2"),
        (in_account, "ledger.account: model m"),
        (in_dagster, "dagster.kvs: 1"),
    ],
)
def test_a_damaged_copy_is_named_and_not_kept(
    damage: Callable[[moving.Target], None],
    named: str,
    asked: SqliteLedger,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    corpus: Path,
    home: Path,
    database: str,
) -> None:
    register(warehouse, corpus)
    identity.migrate_dagster(instance)
    place = target(database, home)

    def move() -> None:
        with moving.held(instance, warehouse, asked) as source, moving.founded(place, has_ledger=True) as copy:
            moving.take_over(source, copy)
            moving.verify(source, copy)
            damage(copy)
            moving.verify(source, copy)

    with pytest.raises(BadInput, match=f"{named}: the copy of this row differs"):
        move()
    moving.refuse_used(place)


def test_a_database_with_a_part_of_a_home_is_refused(
    built: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    home: Path,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As after a kill between two commits."""

    def interrupted() -> None:
        ledger = SqliteLedger(home / "ledger.sqlite")
        with (
            moving.held(instance, warehouse, ledger) as source,
            moving.founded(target(database, home), has_ledger=False) as copy,
        ):
            moving.take_over(source, copy)
            copy.dagster.commit()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(BadInput, match="the database is not empty; name another database"):
        moving.refuse_used(target(database, home))
    use_database(monkeypatch, home, database)
    assert "was lost: it contains nothing from this home" in here(home, "status", code=1).stderr


def test_a_database_that_has_a_home_is_refused(
    instance: dg.DagsterInstance, warehouse: Warehouse, ledger: SqliteLedger, home: Path, database: str
) -> None:
    place = target(database, home)
    moving.move(instance, warehouse, ledger, place)
    with pytest.raises(BadInput, match=r"dagster\.alembic_version: the database is not empty"):
        moving.move(instance, warehouse, ledger, place)
