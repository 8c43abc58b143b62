"""Moving a home of files to a PostgreSQL database, and the comparison of every row with its copy.

All stores are copied and compared before any transaction is committed, so that an interruption leaves nothing in the
database. Here: the order of steps, locks, and the comparison. Not here: how a store takes rows over
(postgres_warehouse, ledger_copy and postgres_storage of resources.postgres), backups.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from typing import Any, NamedTuple

import dagster as dg
import polars as pl
import psycopg
import sqlalchemy as db
from dagster._core.storage.event_log.schema import SqlEventLogStorageMetadata
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.runs.schema import RunStorageSqlMetadata
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.storage.schedules.schema import ScheduleStorageSqlMetadata

from resources import catalogue
from resources.errors import BadInput
from resources.postgres import ledger_copy, postgres_storage
from resources.postgres.connections import connected, reach
from resources.postgres.postgres_ledger import PostgresLedger
from resources.postgres.postgres_warehouse import PostgresWarehouse
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Warehouse

OWN = "warehouse", "ledger", "dagster", "work"
"""Schemas that a home has in a database."""

REMEDY = "nothing was kept in the database; run the command again, and report this error if it occurs again"


class FileStores(NamedTuple):
    """The stores of a home of files, which nobody else writes meanwhile.

    `ledger` is a connection to the ledger's file `ledger_place`; None if the home has no ledger. `dagster` has
    Dagster's tables by the connection to their file.
    """

    warehouse: Warehouse
    ledger: sqlite3.Connection | None
    ledger_place: SqliteLedger
    dagster: Sequence[tuple[db.Connection, Sequence[db.Table]]]


class Target(NamedTuple):
    """The stores of a home in a database, each with an open transaction."""

    warehouse: PostgresWarehouse
    ledger: psycopg.Connection[Any] | None
    dagster: db.Connection


def move(
    instance: dg.DagsterInstance, warehouse: Warehouse, ledger: SqliteLedger, target: PostgresWarehouse
) -> Counter[tuple[str, str]]:
    """Copy a home of files to an empty database, and return the number of rows by store and table.

    Raises
    ------
    BadInput
        If the database is not empty, if the home is in use, or if a copied row differs from the original.
    """
    refuse_used(target)
    with held(instance, warehouse, ledger) as source, founded(target, has_ledger=ledger.exists()) as copy:
        take_over(source, copy)
        return verify(source, copy)


def refuse_used(target: PostgresWarehouse) -> None:
    """Raise BadInput if a database has tables of a home."""
    query = "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname = ANY(%s) ORDER BY 1 LIMIT 1"
    reach(target.url, "the target")
    with connected(target.url) as connection:
        found = connection.execute(query, (list(OWN),)).fetchone()
    if found:
        raise BadInput(
            target.name, found[0], "the database is not empty",
            f"name another database; or, to discard this one, `DROP SCHEMA {', '.join(OWN)} CASCADE`",
        )  # fmt: skip


@contextmanager
def held(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: SqliteLedger) -> Iterator[FileStores]:
    """Keep others from writing to a home of files during the block.

    Raises
    ------
    BadInput
        If another process writes to the warehouse, or asks models.
    """
    events, runs, schedules = instance.event_log_storage, instance.run_storage, instance.schedule_storage
    assert isinstance(events, SqliteEventLogStorage)
    assert isinstance(runs, SqliteRunStorage)
    assert isinstance(schedules, SqliteScheduleStorage)
    with ExitStack() as stack:
        stack.enter_context(warehouse.consistently())
        connection = stack.enter_context(ledger.changing()) if ledger.exists() else None
        if ledger.is_in_use():
            raise BadInput(ledger.place, "", "a run is asking models", "wait for its end, then run the command again")
        dagster = [
            (stack.enter_context(events.index_connection()), postgres_storage.moved(SqlEventLogStorageMetadata)),
            (stack.enter_context(runs.connect()), postgres_storage.moved(RunStorageSqlMetadata)),
            (stack.enter_context(schedules.connect()), postgres_storage.moved(ScheduleStorageSqlMetadata)),
        ]
        yield FileStores(warehouse, connection, ledger, dagster)


@contextmanager
def founded(target: PostgresWarehouse, has_ledger: bool) -> Iterator[Target]:
    """Create the tables of all stores, in transactions that are committed at the end of the block, or not at all.

    The warehouse is committed last. If only some of the stores are committed, the marks of the home show it.
    """
    with ExitStack() as stack:
        stack.enter_context(target.founded())
        ledger = stack.enter_context(PostgresLedger(target.url).founded()) if has_ledger else None
        yield Target(target, ledger, stack.enter_context(postgres_storage.founded(target.url)))


def take_over(source: FileStores, target: Target) -> None:
    """Copy all rows."""
    for table in catalogue.tables():
        target.warehouse.take_over(table, source.warehouse.read(table))
    if mark := source.warehouse.mark():
        target.warehouse.set_mark(mark)
    if source.ledger and target.ledger:
        for table in ledger_copy.TABLES:
            rows = ledger_copy.rows_of_file(source.ledger, source.ledger_place.path, table)
            ledger_copy.take_over(target.ledger, table, rows)
        ledger_copy.complete(target.ledger)
    for connection, tables in source.dagster:
        for each in tables:
            postgres_storage.take_over(target.dagster, each, postgres_storage.rows(connection, each))
    postgres_storage.take_over_migrations(target.dagster, [connection for connection, _ in source.dagster])


def verify(source: FileStores, target: Target) -> Counter[tuple[str, str]]:
    """Compare every row with its copy, in order; return the number of rows by store and table.

    Raises
    ------
    BadInput
        For the first difference, with the table and the key of the row.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for table in catalogue.tables():
        counts["warehouse", table] = _compare_frames(table, source.warehouse.read(table), target.warehouse.read(table))
    if source.warehouse.mark() != target.warehouse.mark():
        raise BadInput("warehouse", "identity", "differs from the original", REMEDY)
    if source.ledger and target.ledger:
        for table in ledger_copy.TABLES:
            rows = ledger_copy.rows_of_file(source.ledger, source.ledger_place.path, table)
            copied = ledger_copy.rows_of_database(target.ledger, table)
            counts["ledger", table] = _compare_rows(f"ledger.{table}", rows, copied)
    for connection, tables in source.dagster:
        for each in tables:
            rows = postgres_storage.rows(connection, each)
            copied = postgres_storage.rows(target.dagster, each)
            counts["dagster", each.name] = _compare_rows(f"dagster.{each.name}", rows, copied)
    return counts


def _compare_frames(table: str, rows: pl.DataFrame, copied: pl.DataFrame) -> int:
    if not rows.equals(copied):
        key = pl.concat_str(catalogue.table(table).key, separator=", ").alias("key")
        both = (each.select(key, pl.all()).iter_rows() for each in (rows, copied))
        _compare_rows(f"warehouse.{table}", *both)
    return len(rows)


def _compare_rows(table: str, rows: Iterable[tuple[Any, ...]], copied: Iterable[tuple[Any, ...]]) -> int:
    """Compare rows whose first value is their key, and return their number."""
    count = 0
    for row, copy in zip_longest(rows, copied):
        if row != copy:
            key = str((row or copy or ("",))[0])
            raise BadInput(table, key, "the copy of this row differs from the original", REMEDY)
        count += 1
    return count
