"""Event log of the Dagster instance: SQLite storage that writes a batch of events in one transaction per shard.

Each run has its own file, a shard. The base class creates a shard by migrations, and opens an engine and a connection
for every event. This class copies an empty shard and keeps one engine and connection open per shard while the run
lasts, which halves the time of a small run. Completed migrations are looked up once per process, not before every
query. Events are stored in packed form, and events that do not affect the present state can be removed.

Here: the subclass named in dagster.yaml, independent of the rest of the project. Not here: the content of events
(benchmark_assets.lineage), their packing (packing). This module relies on internals of Dagster 1.13;
tests/resources/test_event_storage.py checks that the subclass behaves like its base class.
"""

import logging
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import dagster as dg
import sqlalchemy as db
from dagster._core.events import EVENT_TYPE_TO_PIPELINE_RUN_STATUS, DagsterEventType
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.dagster_run import FINISHED_STATUSES
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
    SqlEventLogStorageMetadata,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.pool import NullPool

from resources.engines import BASE_DIR, base_dir, kept_engine
from resources.packing import PackedText, pack
from resources.sqlite_files import compact

logger = logging.getLogger("variorum.event_storage")

BATCHED = {
    DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    DagsterEventType.ASSET_MATERIALIZATION,
    DagsterEventType.ASSET_OBSERVATION,
}

RUN = "????????-????-????-????-????????????.db"
"""Pattern for the file names of runs' shards."""

ENGINES = 100
"""Maximum number of engines kept open. A web server reads the shards of all runs."""

EMPTY = f"empty-{dg.__version__}-1"
"""File that new shards are copied from. Raise the number at the end if the content of this file changes."""

IN_SHARD = {SqlEventLogStorageTable, AssetEventTagsTable}
"""Tables of a run's shard: its events, and the table of tags, which must exist because Dagster deletes a run's
tags from it."""

SHARD_PAGE = 1024
"""Page size of a run's shard, in bytes. Most shards have some twenty events of 150 to 500 bytes."""

CHANGES = 10
"""Maximum number of version changes that are kept per partition (see REFERRED)."""

OLD = """
CREATE TEMPORARY TABLE forgotten AS
SELECT id, asset_key, dagster_event_type, partition FROM event_logs
WHERE timestamp < :before
    AND id <= :last
    AND id < (SELECT max(id) FROM event_logs)
    AND id NOT IN (
        SELECT evaluation_event_storage_id FROM asset_check_executions WHERE evaluation_event_storage_id IS NOT NULL
    )
    AND id NOT IN (
        SELECT id FROM (
            SELECT
                dagster_event_type AS kind,
                max(id) AS id,
                max(max(id)) OVER (PARTITION BY asset_key, dagster_event_type) AS last_of_asset,
                max(CASE dagster_event_type WHEN 'ASSET_MATERIALIZATION' THEN max(id) ELSE 0 END)
                    OVER (PARTITION BY asset_key, partition) AS materialized
            FROM event_logs
            WHERE asset_key IS NOT NULL
            GROUP BY asset_key, dagster_event_type, partition
        )
        WHERE kind <> 'ASSET_MATERIALIZATION_PLANNED' OR id > materialized OR id = last_of_asset
    )
"""
"""Selects the events to forget: all events before a time, except the latest event of each kind for each partition. The
latest plan to materialize a partition is also forgotten once the partition has been materialized. The latest plan of
each asset is kept, because Dagster queries it. The newest event of all is kept, too: SQLite derives the next id from
it, and sensors remember ids."""

REFERRED = """
DELETE FROM forgotten WHERE id IN (
    SELECT id FROM (
        SELECT
            id,
            changed,
            max(version = latest) OVER (PARTITION BY asset_key, dagster_event_type, partition ORDER BY id) AS known,
            sum(changed) OVER (PARTITION BY asset_key, dagster_event_type, partition ORDER BY id DESC) AS changes
        FROM (
            SELECT
                event_logs.id,
                event_logs.asset_key,
                dagster_event_type,
                partition,
                value AS version,
                value IS NOT lag(value) OVER history AS changed,
                last_value(value) OVER (history ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS latest
            FROM event_logs
            JOIN asset_event_tags ON event_id = event_logs.id AND key = 'dagster/data_version'
            WHERE (event_logs.asset_key, dagster_event_type, partition) IN (
                SELECT asset_key, dagster_event_type, partition FROM forgotten
            )
            WINDOW history AS (
                PARTITION BY event_logs.asset_key, dagster_event_type, partition ORDER BY event_logs.id
            )
        )
    )
    WHERE changed AND known AND changes <= :changes
)
"""
"""Exempts some events from OLD: for each partition, the first event that reported its present version, and all later
events that changed the version. A downstream partition refers to the upstream event that reported the version from
which it was computed; Dagster considers the downstream partition stale if this version differs from the present version
of the upstream partition."""


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
    duplicates. The index commits first. Therefore, only a failed commit of the run's shard can leave events that are in
    the index alone. If storing a single event fails, too, Dagster stores the whole batch again.
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
            **BASE_DIR,
            "batch_size": dg.Field(dg.IntSource, is_required=False, default_value=1000),
        }

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:
        """Build the storage from dagster.yaml; raises KeyError like `base_dir`."""
        return cls(base_dir(config_value, "history", "runs"), config_value["batch_size"], inst_data)

    def forget(self, before: float) -> None:
        """Remove events that are older than `before` (Unix time) and do not affect the present state.

        The shard of a run is removed if the run's last event is older. In the index shard, older events are removed,
        except the latest event of each kind for each partition. Among these latest events, an attempt to materialize a
        partition is removed, too, once the partition is materialized. A check keeps its latest evaluation and its
        latest finished evaluation. In Dagster's UI, the page of an old run then has no messages.
        """
        folder = Path(self._base_dir)
        templates = set(folder.glob("empty-*")) - {folder / EMPTY}
        old = [path for path in {*folder.glob(RUN), *templates} if path.stat().st_mtime < before]
        if old:
            self._dispose_engines()
        for path in old:
            for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
                part.unlink(missing_ok=True)
        with self.index_connection() as index_shard:
            forgotten = _forget_events(index_shard, datetime.fromtimestamp(before, UTC).replace(tzinfo=None))
        if forgotten:
            compact(Path(self.path_for_shard(INDEX_SHARD_NAME)))

    def runs_in_index(self) -> set[str]:
        """Ids of the runs that reported the events in the index shard."""
        with self.index_connection() as index_shard:
            return set(index_shard.execute(db.select(SqlEventLogStorageTable.c.run_id).distinct()).scalars())

    def store_event(self, event: EventLogEntry) -> None:
        """Store one event. After the last event of a run, close its shard, which then consists of one file."""
        super().store_event(event)
        if (
            event.is_dagster_event
            and EVENT_TYPE_TO_PIPELINE_RUN_STATUS.get(event.get_dagster_event().event_type) in FINISHED_STATUSES
        ):
            with self._db_lock:
                self._close(event.run_id)
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

    def get_latest_asset_partition_materialization_attempts_without_materializations(
        self, asset_key: dg.AssetKey, after_storage_id: int | None = None
    ) -> Mapping[str, tuple[str, int]]:
        """For each partition whose last attempt was not followed by a materialization: the run id and event id of this
        attempt.

        The base class fetches the latest events of all partitions; this class leaves the comparison to SQLite.
        """
        kinds = [DagsterEventType.ASSET_MATERIALIZATION, DagsterEventType.ASSET_MATERIALIZATION_PLANNED]
        latest = self._latest_event_ids_by_partition_subquery(asset_key, kinds, after_cursor=after_storage_id).c
        materialized, planned = (
            db.func.max(latest.id).filter(latest.dagster_event_type == kind.value) for kind in kinds
        )
        pending = (
            db.select(planned.label("id"))
            .group_by(latest.partition)
            .having(db.and_(planned.is_not(None), db.or_(materialized.is_(None), materialized < planned)))
            .subquery()
        )
        events = SqlEventLogStorageTable.c
        query = db.select(events.partition, events.run_id, events.id).join(pending, pending.c.id == events.id)
        with self.index_connection() as index_shard:
            return {partition: (run_id, event) for partition, run_id, event in index_shard.execute(query)}

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
            if not os.path.exists(self.path_for_shard(shard)):  # new, or removed by another process
                self._close(shard)
                self._copy_empty_shard(shard)
            elif shard not in self._initialized_dbs:
                self._initdb(self._engine(shard))
            self._initialized_dbs.add(shard)
            with self._engine(shard).connect() as connection, connection.begin():
                yield connection

    def _has_asset_key_col_on_connection(self, conn: db.Connection, column_name: str) -> bool:
        return self._has(
            "column", column_name,
            lambda: super(BatchingSqliteEventLogStorage, self)._has_asset_key_col_on_connection(conn, column_name),
        )  # fmt: skip

    def _has(self, kind: str, name: str, check: Callable[[], bool]) -> bool:
        """Return the result of `check`. A true result is cached, because migrations are never undone."""
        if (kind, name) not in self._migrated and check():
            self._migrated.add((kind, name))
        return (kind, name) in self._migrated

    def _engine(self, shard: str) -> db.Engine:
        """The engine of a shard. The engine keeps a connection open, because closing the last connection causes a
        checkpoint."""
        if len(self._engines) > ENGINES:
            self._dispose_engines()
        if shard not in self._engines:
            # Events lost in a power failure are reported again from the warehouse, by the next update.
            engine = self._engines[shard] = kept_engine(self.conn_string_for_shard(shard))
            engine.dialect.colspecs = {**engine.dialect.colspecs, db.Text: PackedText}
        return self._engines[shard]

    def _tell_watchers(self, run_id: str) -> None:
        """Touch the shard's file, because its watchers do not notice writes to SQLite's write-ahead log."""
        with suppress(FileNotFoundError):
            os.utime(self.path_for_shard(run_id))

    def _close(self, shard: str) -> None:
        if engine := self._engines.pop(shard, None):
            engine.dispose()

    def _dispose_engines(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()

    def _copy_empty_shard(self, shard: str) -> None:
        """Create a shard as a copy of an empty shard. If several processes create the same shard, the first process's
        copy stays."""
        empty = os.path.join(self._base_dir, EMPTY)
        draft = f"{empty}-{uuid.uuid4()}"
        if not os.path.exists(empty):
            self._make_empty_shard(draft)
            os.replace(draft, empty)
        shutil.copyfile(empty, draft)
        with suppress(FileExistsError):
            os.link(draft, self.path_for_shard(shard))
        os.unlink(draft)

    def _make_empty_shard(self, path: str) -> None:
        """Create an empty shard with the tables of a run, without indexes, because all its events are of one run."""
        engine = db.create_engine(f"sqlite:///{path}", poolclass=NullPool)
        db.event.listen(engine, "connect", lambda raw, _: raw.execute(f"PRAGMA page_size={SHARD_PAGE}").close())
        self._initdb(engine)
        with engine.begin() as connection:
            for table in SqlEventLogStorageMetadata.sorted_tables:
                if table not in IN_SHARD:
                    table.drop(connection)
                else:
                    for index in table.indexes:
                        index.drop(connection)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM")

    def _event_to_row(self, event: EventLogEntry) -> dict[str, Any]:
        """The row of an event. The event is packed here, once, because two shards store the row."""
        row = super()._event_to_row(event)
        return {**row, "event": pack(row["event"])}

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


def _forget_events(index_shard: db.Connection, before: datetime) -> bool:
    """Remove old events, their tags, and old evaluations of checks from the index; return whether any event was
    removed."""
    events = SqlEventLogStorageTable.c
    newest = db.select(events.id).where(events.timestamp < before).order_by(events.id.desc()).limit(1)
    last = index_shard.execute(newest).scalar()
    if last is None:
        return False
    index_shard.execute(_old_evaluations(before))
    index_shard.execute(db.text(OLD), {"before": str(before), "last": last})
    index_shard.execute(db.text(REFERRED), {"changes": CHANGES})
    index_shard.execute(db.text("DELETE FROM asset_event_tags WHERE event_id IN (SELECT id FROM forgotten)"))
    removed = index_shard.execute(db.text("DELETE FROM event_logs WHERE id IN (SELECT id FROM forgotten)")).rowcount
    index_shard.execute(db.text("DROP TABLE forgotten"))
    return removed > 0


def _old_evaluations(before: datetime) -> db.Delete:
    """Remove evaluations of checks before a time, except the latest evaluation and the latest finished evaluation of
    each check."""
    checks = AssetCheckExecutionsTable.c
    latest = db.select(db.func.max(checks.id)).group_by(checks.asset_key, checks.check_name, checks.partition)
    evaluated = [AssetCheckExecutionRecordStatus.SUCCEEDED.value, AssetCheckExecutionRecordStatus.FAILED.value]
    return AssetCheckExecutionsTable.delete().where(
        checks.create_timestamp < before,
        checks.id.not_in(latest),
        checks.id.not_in(latest.where(checks.execution_status.in_(evaluated))),
    )
