"""Event log of the Dagster instance: SQLite, with the events of a batch stored in one transaction a shard.

A run has a shard, a file of its own. Where the base class makes it by migrations, with an engine and a connection for
every event, here it is a copy of an empty one, and both are kept: together half of what a small run costs. What a
migration has brought is asked for once a process, not before every query.

Here: the subclass that dagster.yaml names, and nothing that depends on this project. Not here: what is in the events
(benchmark_assets.lineage). It stands on internals of Dagster 1.13; tests/resources/test_event_storage.py holds it to
the behaviour of the class that it replaces.
"""

import logging
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any, Self

import dagster as dg
import sqlalchemy as db
from dagster._core.events import DagsterEventType
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData
from sqlalchemy.pool import NullPool

logger = logging.getLogger("variorum.event_storage")

BATCHED = {
    DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    DagsterEventType.ASSET_MATERIALIZATION,
    DagsterEventType.ASSET_OBSERVATION,
}

ENGINES = 100
"""Engines that are kept at most; a web server reads the shards of all runs."""


class BatchingSqliteEventLogStorage(SqliteEventLogStorage):
    """`SqliteEventLogStorage` that stores a batch of asset events in one transaction of each shard.

    The base class stores a batch one event at a time, each in connections of its own: about 13 ms a partition of a run.
    Here the run's shard and the index shard each take the whole batch at once: about 1 ms.

    Parameters
    ----------
    base_dir
        Folder of the shards; by default the folder that the base class uses, `$DAGSTER_HOME/history/runs`.
    batch_size
        Events a transaction. Dagster batches only where `DAGSTER_EVENT_BATCH_SIZE` is set; since every process that
        stores events loads this class, it is set here unless the environment says otherwise.

    Notes
    -----
    The index commits before the run's shard and both roll back where either statement fails, so storing those events
    one by one then repeats nothing. Only a failure of the very last commit can leave events in the index alone, and
    only an event that cannot be stored by itself either makes Dagster store the whole batch again.
    """

    def __init__(self, base_dir: str, batch_size: int = 1000, inst_data: ConfigurableClassData | None = None) -> None:
        os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", str(batch_size))
        self._engines: dict[str, db.Engine] = {}
        self._migrated: set[tuple[str, str]] = set()
        super().__init__(base_dir, inst_data)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Configuration in dagster.yaml; both keys are optional."""
        return {
            "base_dir": dg.Field(dg.StringSource, is_required=False),
            "batch_size": dg.Field(dg.IntSource, is_required=False, default_value=1000),
        }

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:
        """Build the storage from dagster.yaml.

        Raises
        ------
        KeyError
            With neither `base_dir` nor the environment variable `DAGSTER_HOME`.
        """
        base_dir = config_value.get("base_dir") or os.path.join(os.environ["DAGSTER_HOME"], "history", "runs")
        return cls(base_dir, config_value["batch_size"], inst_data)

    def store_event(self, event: EventLogEntry) -> None:
        """Store one event."""
        super().store_event(event)
        self._tell_watchers(event.run_id)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events in order; neighbours that are asset events of one run share a transaction."""

        def batch_of(event: EventLogEntry) -> str | None:
            return event.run_id if event.is_dagster_event and event.dagster_event_type in BATCHED else None

        for run_id, group in groupby(events, key=batch_of):
            neighbours = list(group)
            if run_id is not None:
                try:
                    self._store_asset_events(run_id, neighbours)
                    continue
                except Exception as error:  # Dagster would repeat the groups that are stored, too
                    logger.warning("storing %d events one by one, since the batch failed: %s", len(neighbours), error)
            super().store_event_batch(neighbours)

    def has_table(self, table_name: str) -> bool:
        """Whether the index shard has a table."""
        return self._has("table", table_name, lambda: super(BatchingSqliteEventLogStorage, self).has_table(table_name))

    def has_secondary_index(self, name: str) -> bool:
        """Whether a migration of the events was completed."""
        return self._has("index", name, lambda: super(BatchingSqliteEventLogStorage, self).has_secondary_index(name))

    def wipe(self) -> None:
        """Delete all events, and the shards of the runs."""
        self._let_go()
        self._migrated.clear()
        super().wipe()

    def dispose(self) -> None:
        """Close everything."""
        self._let_go()
        super().dispose()

    @contextmanager
    def _connect(self, shard: str) -> Iterator[db.Connection]:
        with self._db_lock:
            engine = self._engine(shard)
            if shard not in self._initialized_dbs:
                if not os.path.exists(self.path_for_shard(shard)):
                    self._copy_empty_shard(shard)
                else:
                    self._initdb(engine)
                self._initialized_dbs.add(shard)
            with engine.connect() as connection, connection.begin():
                yield connection

    def _has_asset_key_col_on_connection(self, conn: db.Connection, column_name: str) -> bool:
        return self._has(
            "column", column_name,
            lambda: super(BatchingSqliteEventLogStorage, self)._has_asset_key_col_on_connection(conn, column_name),
        )  # fmt: skip

    def _has(self, kind: str, name: str, look: Callable[[], bool]) -> bool:
        """What `look` says; it is asked until it says yes, for no migration is undone."""
        if (kind, name) not in self._migrated and look():
            self._migrated.add((kind, name))
        return (kind, name) in self._migrated

    def _engine(self, shard: str) -> db.Engine:
        """The engine of a shard, which keeps a connection: with the last one that closes, SQLite tidies the file up."""
        if len(self._engines) > ENGINES:
            self._let_go()
        if shard not in self._engines:
            engine = db.create_engine(
                self.conn_string_for_shard(shard),
                pool_size=1,
                max_overflow=-1,
                connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS},
            )
            # What a power cut takes of the log is reported anew from the warehouse, by the next update.
            db.event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous=NORMAL").close())
            self._engines[shard] = engine
        return self._engines[shard]

    def _tell_watchers(self, run_id: str) -> None:
        """Have those who watch the shard's file look at it: what is new is in its log until SQLite tidies up."""
        with suppress(FileNotFoundError):
            os.utime(self.path_for_shard(run_id))

    def _let_go(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()

    def _copy_empty_shard(self, shard: str) -> None:
        """Make a shard; of several processes that try, the first one does."""
        empty = self.path_for_shard(f"empty-{dg.__version__}").removesuffix(".db")
        own = f"{empty}-{uuid.uuid4()}"
        if not os.path.exists(empty):
            engine = db.create_engine(f"sqlite:///{own}", poolclass=NullPool)
            self._initdb(engine)
            os.replace(own, empty)
        shutil.copyfile(empty, own)
        with suppress(FileExistsError):
            os.link(own, self.path_for_shard(shard))
        os.unlink(own)

    def _store_asset_events(self, run_id: str, events: list[EventLogEntry]) -> None:
        rows = [self._event_to_row(event) for event in events]
        with self.run_connection(run_id) as run_shard:
            run_shard.execute(SqlEventLogStorageTable.insert(), rows)
            # Not self.index_connection(): it takes the lock that the run's connection holds already.
            with self._engine(INDEX_SHARD_NAME).begin() as index_shard:
                insert = SqlEventLogStorageTable.insert().returning(
                    SqlEventLogStorageTable.c.id, sort_by_parameter_order=True
                )
                ids = index_shard.execute(insert, rows).scalars().all()
                self._store_asset_event_tags(index_shard, events, ids)
                # One row an asset holds its latest event; within a batch only the last of each kind can be that.
                latest = {(event.get_dagster_event().asset_key, event.dagster_event_type): (event, event_id)
                          for event, event_id in zip(events, ids, strict=True)}  # fmt: skip
                for event, event_id in sorted(latest.values(), key=lambda pair: pair[1]):
                    self._store_asset_event(index_shard, event, event_id)
        self._tell_watchers(run_id)
