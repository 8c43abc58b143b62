"""Dagster's storages of events, runs and schedules on PostgreSQL, for a group that shares a server.

Events are written in batches and packed, old events and runs can be forgotten, as in the SQLite files of one person.
Dagster's tables are in the schema `dagster`, so that they share a database with the warehouse and the ledger.

Here: the classes named in deploy/dagster.yaml. Not here: what they share with SQLite (event_log, run_storage). The
packages are in the extra `server`. This module relies on internals of dagster-postgres 0.29;
tests/resources/test_postgres_storage.py checks that the classes behave like their base classes.
"""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Self

import dagster as dg
import sqlalchemy as db
from dagster._core.storage.event_log.schema import SecondaryIndexMigrationTable, SqlEventLogStorageMetadata
from dagster._core.storage.runs.schema import RunStorageSqlMetadata
from dagster._core.storage.schedules.schema import ScheduleStorageSqlMetadata
from dagster._core.storage.sql import stamp_alembic_rev
from dagster._serdes import ConfigurableClassData
from dagster_postgres import PostgresEventLogStorage, PostgresRunStorage, PostgresScheduleStorage
from dagster_postgres import event_log as base
from dagster_postgres.utils import create_pg_connection, pg_alembic_config, retry_pg_connection_fn

from resources.dagster_storage.event_log import BATCHED, CompactEventLog, forget_events
from resources.dagster_storage.packing import PackedString
from resources.dagster_storage.run_storage import ForgettingRunStorage
from resources.postgres.connections import LINK

SCHEMA = "dagster"
"""Schema of Dagster's tables."""

LOCK = "SELECT pg_advisory_xact_lock(hashtext('dagster events of ' || :asset))"
"""Has transactions that store events of the same asset wait for each other, so that an event never becomes visible
after one with a higher id: readers continue from the highest id that they have seen."""


UNTESTED = 1.0
"""Seconds after its last use for which a connection is not tested: a step makes a hundred statements."""

PART = 1000
"""Number of rows that are copied at once."""


class _InSchema:
    """A storage of dagster-postgres whose tables are in the schema `dagster`; named before its class of Dagster."""

    def __init__(self, postgres_url: str, inst_data: ConfigurableClassData | None = None) -> None:
        with declaring(postgres_url) as address:
            super().__init__(address, inst_data=inst_data)  # type: ignore[call-arg]

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Keys in dagster.yaml: the URL of the database, `postgresql://USER:PASSWORD@HOST/DATABASE`."""
        return {"postgres_url": dg.Field(dg.StringSource)}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:
        """Build the storage from dagster.yaml. The base class would build itself, not the subclass."""
        return cls(inst_data=inst_data, **config_value)


class CompactPostgresEventLogStorage(CompactEventLog, _InSchema, PostgresEventLogStorage):
    """`PostgresEventLogStorage` that stores a batch of asset events in one transaction, packs events and forgets old
    ones.

    The base class stores planned events one at a time, over a new connection for each.

    Parameters
    ----------
    postgres_url
        URL of the database, `postgresql://…`.
    batch_size
        Events per transaction, unless `DAGSTER_EVENT_BATCH_SIZE` is set.
    """

    def __init__(
        self, postgres_url: str, batch_size: int = 1000, inst_data: ConfigurableClassData | None = None
    ) -> None:
        self.batch_by(batch_size)
        self._tables: set[str] = set()
        super().__init__(postgres_url, inst_data)
        self._engine = pooled(self.postgres_url)
        _pack_text(self._engine)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Configuration keys for dagster.yaml."""
        return {**super().config_type(), "batch_size": dg.Field(dg.IntSource, is_required=False, default_value=1000)}

    def optimize_for_webserver(self, statement_timeout: int, pool_recycle: int, max_overflow: int) -> None:
        """Open the connections that a web server needs."""
        self._engine.dispose()
        super().optimize_for_webserver(statement_timeout, pool_recycle, max_overflow)
        _pack_text(self._engine)

    def store_event(self, event: dg.EventLogEntry) -> None:
        """Store one event, in a transaction that waits for others with events of the same asset."""
        if event.is_dagster_event and event.dagster_event_type in BATCHED:
            self._store_asset_events(event.run_id, [event])
        else:
            super().store_event(event)

    def forget(self, before: float) -> None:
        """Remove events that are older than `before` (Unix time) and do not affect the present state.

        These are the logs of runs and what `forget_events` removes. PostgreSQL itself frees the space.
        """
        with self.index_transaction() as connection:
            forget_events(connection, before)

    def has_table(self, table_name: str) -> bool:
        """Whether a table exists. A table that exists is looked up once, because none is ever dropped."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def dispose(self) -> None:
        """Close all connections."""
        super().dispose()
        self._engine.dispose()

    def _store_asset_events(self, run_id: str, events: list[dg.EventLogEntry]) -> None:
        keys = {event.get_dagster_event().asset_key for event in events}
        with self.index_transaction() as connection:
            for asset in sorted(key.to_string() for key in keys if key):
                connection.execute(db.text(LOCK), {"asset": asset})
            self._insert_asset_events(connection, events)


class ForgettingPostgresRunStorage(ForgettingRunStorage, _InSchema, PostgresRunStorage):
    """`PostgresRunStorage` that keeps a connection open and can forget old runs."""

    def __init__(self, postgres_url: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(postgres_url, inst_data)
        self._engine = pooled(self.postgres_url)

    def dispose(self) -> None:
        """Close all connections."""
        super().dispose()
        self._engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[db.Connection]:
        with create_pg_connection(self._engine) as connection:
            connection = connection.execution_options(isolation_level="READ COMMITTED")
            with connection.begin():
                yield connection


class SchemaPostgresScheduleStorage(_InSchema, PostgresScheduleStorage):
    """`PostgresScheduleStorage` with its tables in the schema `dagster`."""


@contextmanager
def founded(url: str) -> Iterator[db.Connection]:
    """A connection in a transaction that creates Dagster's tables, in a database that lacks them."""
    engine = db.create_engine(_address(url), poolclass=db.NullPool)
    with declaring(url), engine.connect() as connection, connection.begin():
        for tables in (SqlEventLogStorageMetadata, RunStorageSqlMetadata, ScheduleStorageSqlMetadata):
            tables.create_all(connection)
        stamp_alembic_rev(pg_alembic_config(base.__file__), connection)
        yield connection


def moved(metadata: db.MetaData) -> list[db.Table]:
    """The tables of a storage whose rows belong to a home, in an order in which they can be filled."""
    return [
        table
        for table in metadata.sorted_tables
        if table.name not in ("daemon_heartbeats", SecondaryIndexMigrationTable.name)
    ]


def take_over(connection: db.Connection, table: db.Table, source: Iterable[Sequence[Any]]) -> None:
    """Add rows of another instance to a table, with their ids; later rows get higher ids."""
    packed = PackedString().bind_processor(connection.dialect)
    is_packed = table.metadata is SqlEventLogStorageMetadata
    names, remaining = table.columns.keys(), iter(source)
    while part := list(islice(remaining, PART)):
        values = ([packed(value) for value in row] if is_packed else row for row in part)
        connection.execute(table.insert(), [dict(zip(names, row, strict=True)) for row in values])
    sequence = f"pg_get_serial_sequence('{SCHEMA}.{table.name}', 'id')"
    connection.execute(db.text(f"SELECT setval({sequence}, max(id)) FROM {table.name}"))


def take_over_migrations(connection: db.Connection, sources: Iterable[db.Connection]) -> None:
    """Note which migrations of data the storages of another instance have completed. PostgreSQL has one table of them
    for all storages."""
    names = "name", "create_timestamp", "migration_completed"
    columns = [SecondaryIndexMigrationTable.c[name] for name in names]
    rows = [row for source in sources for row in source.execute(db.select(*columns))]
    completed = {row.name: row._asdict() for row in rows}
    if completed:
        connection.execute(SecondaryIndexMigrationTable.insert(), list(completed.values()))


def rows(connection: db.Connection, table: db.Table) -> Iterator[tuple[Any, ...]]:
    """Rows of a table in the order of their ids, unpacked, from a connection that need not unpack them itself."""
    unpacked = PackedString().result_processor(connection.dialect, None)
    result = connection.execute(table.select().order_by(table.c.id), execution_options={"yield_per": PART})
    for row in result:
        yield tuple(unpacked(value) for value in row)


@contextmanager
def declaring(url: str) -> Iterator[str]:
    """Keep others from creating Dagster's tables until the block ends; yield the URL by which Dagster reaches them.

    Their schema is created if it is missing. Dagster itself looks which tables are missing, and then creates them,
    without a lock: a second process could find some of them, or create the same ones.
    """
    engine = db.create_engine(_with_driver(url), poolclass=db.NullPool, isolation_level="AUTOCOMMIT")
    with retry_pg_connection_fn(engine.connect) as connection:  # whose end is the end of the lock
        connection.execute(db.text("SELECT pg_advisory_lock(hashtext('dagster tables'))"))
        connection.execute(db.text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        yield _address(url)


def _with_driver(url: str) -> db.URL:
    """The URL with psycopg2, which dagster-postgres needs and SQLAlchemy does not choose by itself, and with LINK."""
    address = db.make_url(url).set(drivername="postgresql+psycopg2")
    return address.update_query_dict({name: value for name, value in LINK.items() if name not in address.query})


def _address(url: str) -> str:
    """The URL by which Dagster reaches its schema of a database."""
    plain = _with_driver(url)
    given = plain.query.get("options", "")
    options = " ".join([*([given] if isinstance(given, str) else given), f"-csearch_path={SCHEMA}"]).strip()
    return plain.update_query_dict({"options": options}).render_as_string(hide_password=False)


def pooled(url: str) -> db.Engine:
    """An engine that keeps a connection open, and tests it after UNTESTED seconds: the server may have been started
    anew."""
    engine = db.create_engine(url, isolation_level="AUTOCOMMIT", pool_size=1, max_overflow=-1)

    def test(connection: Any, record: db.pool.ConnectionPoolEntry, _: object) -> None:
        if time.monotonic() - record.info.get("used", math.inf) > UNTESTED:
            try:
                engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error as error:
                raise db.exc.DisconnectionError from error

    def note(_: object, record: db.pool.ConnectionPoolEntry) -> None:
        record.info["used"] = time.monotonic()

    db.event.listen(engine, "checkout", test)
    db.event.listen(engine, "checkin", note)
    return engine


def _pack_text(engine: db.Engine) -> None:
    engine.dialect.colspecs = {**engine.dialect.colspecs, db.Text: PackedString}
