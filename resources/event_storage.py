"""Event log of the Dagster instance: SQLite storage that writes a batch of events in one transaction per shard.

Each run has its own file, a shard. The base class creates a shard by migrations, and opens an engine and a
connection for every event. This class copies an empty shard and keeps one engine and connection open per shard, which
halves the time of a small run. Completed migrations are looked up once per process, not before every query.

Here: the subclass named in dagster.yaml, independent of the rest of the project. Not here: the content of events
(benchmark_assets.lineage). It relies on internals of Dagster 1.13; tests/resources/test_event_storage.py checks that
it behaves like its base class.
"""

import logging
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
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

RUN = "????????-????-????-????-????????????.db"
"""Pattern of the name of a run's shard."""

ENGINES = 100
"""Maximum number of engines kept open. A web server reads the shards of all runs."""


class BatchingSqliteEventLogStorage(SqliteEventLogStorage):
    """`SqliteEventLogStorage` that stores a batch of asset events in one transaction per shard.

    The base class opens connections for each event of a batch, which takes about 13 ms per partition of a run. This
    class writes the whole batch to the run's shard and to the index shard in one transaction each: about 1 ms per
    partition.

    Parameters
    ----------
    base_dir
        Folder of the shards; by default `$DAGSTER_HOME/history/runs`, as in the base class.
    batch_size
        Events per transaction. Dagster batches events only if `DAGSTER_EVENT_BATCH_SIZE` is set, so this class sets
        the variable, in every process that stores events, unless it is already set.

    Notes
    -----
    If writing to either shard fails, both transactions roll back, and the events are then stored one by one, without
    duplicates. The index commits first, so events can be in the index alone only if the commit of the run's shard
    fails. If storing a single event fails, too, Dagster stores the whole batch again.
    """

    def __init__(self, base_dir: str, batch_size: int = 1000, inst_data: ConfigurableClassData | None = None) -> None:
        os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", str(batch_size))
        self._engines: dict[str, db.Engine] = {}
        self._migrated: set[tuple[str, str]] = set()
        super().__init__(base_dir, inst_data)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Configuration keys for dagster.yaml, both optional."""
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
            If neither `base_dir` nor the environment variable `DAGSTER_HOME` is set.
        """
        base_dir = config_value.get("base_dir") or os.path.join(os.environ["DAGSTER_HOME"], "history", "runs")
        return cls(base_dir, config_value["batch_size"], inst_data)

    def forget_logs(self, before: float) -> None:
        """Remove the logs of runs whose last event is older than `before` (Unix time).

        What assets, partitions and checks have become stays: it is in the index shard. The page of such a run in
        Dagster's UI has no messages.
        """
        old = [path for path in Path(self._base_dir).glob(RUN) if path.stat().st_mtime < before]
        if old:
            self._dispose_engines()
        for path in old:
            for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
                part.unlink(missing_ok=True)

    def store_event(self, event: EventLogEntry) -> None:
        """Store one event."""
        super().store_event(event)
        self._tell_watchers(event.run_id)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events in order; consecutive asset events of one run share a transaction."""

        def batch_of(event: EventLogEntry) -> str | None:
            return event.run_id if event.is_dagster_event and event.dagster_event_type in BATCHED else None

        for run_id, group in groupby(events, key=batch_of):
            batch = list(group)
            if run_id is not None:
                try:
                    self._store_asset_events(run_id, batch)
                    continue
                except Exception as error:  # if raised, Dagster would store the finished groups again
                    logger.warning("storing %d events one by one, because the batch failed: %s", len(batch), error)
            super().store_event_batch(batch)

    def has_table(self, table_name: str) -> bool:
        """Whether the index shard has a table."""
        return self._has("table", table_name, lambda: super(BatchingSqliteEventLogStorage, self).has_table(table_name))

    def has_secondary_index(self, name: str) -> bool:
        """Whether a data migration of the event log has been completed."""
        return self._has("index", name, lambda: super(BatchingSqliteEventLogStorage, self).has_secondary_index(name))

    def wipe(self) -> None:
        """Delete all events and the shards of all runs."""
        self._dispose_engines()
        self._migrated.clear()
        super().wipe()

    def dispose(self) -> None:
        """Close all connections."""
        self._dispose_engines()
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

    def _has(self, kind: str, name: str, check: Callable[[], bool]) -> bool:
        """Return the result of `check`. A true result is cached, because no migration is undone."""
        if (kind, name) not in self._migrated and check():
            self._migrated.add((kind, name))
        return (kind, name) in self._migrated

    def _engine(self, shard: str) -> db.Engine:
        """The engine of a shard. It keeps a connection open: SQLite checkpoints when the last connection closes."""
        if len(self._engines) > ENGINES:
            self._dispose_engines()
        if shard not in self._engines:
            engine = db.create_engine(
                self.conn_string_for_shard(shard),
                pool_size=1,
                max_overflow=-1,
                connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS},
            )
            # Events lost in a power failure are reported again from the warehouse, by the next update.
            db.event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous=NORMAL").close())
            self._engines[shard] = engine
        return self._engines[shard]

    def _tell_watchers(self, run_id: str) -> None:
        """Touch the shard's file, because its watchers do not see that new events went to SQLite's write-ahead log."""
        with suppress(FileNotFoundError):
            os.utime(self.path_for_shard(run_id))

    def _dispose_engines(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()

    def _copy_empty_shard(self, shard: str) -> None:
        """Create a shard as a copy of an empty one. If several processes try, the first one succeeds."""
        empty = self.path_for_shard(f"empty-{dg.__version__}").removesuffix(".db")
        draft = f"{empty}-{uuid.uuid4()}"
        if not os.path.exists(empty):
            engine = db.create_engine(f"sqlite:///{draft}", poolclass=NullPool)
            self._initdb(engine)
            os.replace(draft, empty)
        shutil.copyfile(empty, draft)
        with suppress(FileExistsError):
            os.link(draft, self.path_for_shard(shard))
        os.unlink(draft)

    def _store_asset_events(self, run_id: str, events: list[EventLogEntry]) -> None:
        rows = [self._event_to_row(event) for event in events]
        with self.run_connection(run_id) as run_shard:
            run_shard.execute(SqlEventLogStorageTable.insert(), rows)
            # Not self.index_connection(): it takes a lock that the run's connection already holds.
            with self._engine(INDEX_SHARD_NAME).begin() as index_shard:
                insert = SqlEventLogStorageTable.insert().returning(
                    SqlEventLogStorageTable.c.id, sort_by_parameter_order=True
                )
                ids = index_shard.execute(insert, rows).scalars().all()
                self._store_asset_event_tags(index_shard, events, ids)
                # A row per asset holds its latest event; within a batch that is the last event of each kind.
                latest = {(event.get_dagster_event().asset_key, event.dagster_event_type): (event, event_id)
                          for event, event_id in zip(events, ids, strict=True)}  # fmt: skip
                for event, event_id in sorted(latest.values(), key=lambda pair: pair[1]):
                    self._store_asset_event(index_shard, event, event_id)
        self._tell_watchers(run_id)
