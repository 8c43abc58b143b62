"""Event log of the Dagster instance: SQLite storage that writes a batch of events in one transaction.

Each run has its own file, a shard, and one file is the index of the asset events of all runs. The base class creates a
shard by migrations, and opens an engine and a connection for every event. This class copies an empty shard and keeps
one engine and connection open per shard while the run lasts, which halves the time of a small run. Completed
migrations are looked up once per process, not before every query. Events are stored in packed form. Those of a batch
are stored in the index only: a shard refers to them.

Here: the subclass named in dagster.yaml, independent of the rest of the project. Not here: what it shares with
PostgreSQL (event_log), the content of events (benchmark_assets.lineage), their packing (packing). This module relies on
internals of Dagster 1.13; tests/resources/test_event_storage.py checks that the subclass behaves like its base class.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import dagster as dg
import sqlalchemy as db
from dagster._core.assets import AssetDetails
from dagster._core.storage.event_log.schema import AssetKeyTable, SqlEventLogStorageMetadata, SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.pool import NullPool

from resources.dagster_storage.engines import BASE_DIR, base_dir, kept_engine
from resources.dagster_storage.event_log import CompactEventLog, ends_run, forget_events
from resources.dagster_storage.packing import PackedText
from resources.sqlite_files import INCREMENTAL, compact

RUN = "????????-????-????-????-????????????.db"
"""Pattern for the file names of runs' shards."""

ENGINES = 100
"""Maximum number of engines kept open. A web server reads the shards of all runs."""

EMPTY = f"empty-{dg.__version__}-2"
"""File that new shards are copied from. Raise the number at the end if the content of this file changes."""

SHARD_PAGE = 1024
"""Page size of a run's shard, in bytes. Most shards have some twenty events of 150 to 500 bytes."""

UNUSED = ["idx_step_key", "idx_asset_event_tags"]
"""Indexes of the base class that none of its queries on the index shard needs: steps are looked up in the shards of
runs, and the tags of an event by its id."""

NEXT = """1 + max(
    coalesce((SELECT max(id) FROM own_events), 0), coalesce((SELECT max(start + last - first) FROM batches), 0)
)"""
"""The id of the next event in a run's log. An event of a batch has the id that it would have if it were stored in the
shard."""

BATCH = f"INSERT INTO batches SELECT {NEXT}, :first, :last, :run"
"""Adds the events of a run between two ids of the index to the run's log. One transaction stored them, so their ids
follow each other."""

LOG_VIEW = """
CREATE TEMPORARY VIEW event_logs AS
SELECT id, run_id, event, dagster_event_type, timestamp, step_key, asset_key, partition FROM own_events
UNION ALL
SELECT start + id - first, made.run_id, event, dagster_event_type, timestamp, step_key, asset_key, partition
FROM batches CROSS JOIN event_index.event_logs AS made ON id BETWEEN first AND last AND made.run_id = batches.run_id
"""
"""The log of a run: events of its shard, and the events of the index that its batches name. Ids in the index may be
used again once an asset's events are wiped, hence the comparison of runs."""

LOG_INSERT = f"""
CREATE TEMPORARY TRIGGER store_event INSTEAD OF INSERT ON event_logs BEGIN
    INSERT INTO own_events (id, run_id, event, dagster_event_type, timestamp, step_key, asset_key, partition)
    SELECT {NEXT}, new.run_id, new.event, new.dagster_event_type, new.timestamp, new.step_key, new.asset_key,
        new.partition;
END
"""

Content = TypeVar("Content")


class BatchingSqliteEventLogStorage(CompactEventLog, SqliteEventLogStorage):
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
        self.batch_by(batch_size)
        self._engines: dict[str, db.Engine] = {}
        self._migrated: set[tuple[str, str]] = set()
        self._reads: dict[Hashable, tuple[tuple[object, ...], Any]] = {}
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

        The shard of a run is removed if the run's last event is older. In Dagster's UI, the page of this run then has
        no messages. In the index shard, older events are removed as `forget_events` does.
        """
        folder = Path(self._base_dir)
        templates = set(folder.glob("empty-*")) - {folder / EMPTY}
        old = [path for path in {*folder.glob(RUN), *templates} if path.stat().st_mtime < before]
        if old:
            self._dispose_engines()
        for path in old:
            _remove(path)
        with self.index_connection() as index_shard:
            forgotten = forget_events(index_shard, before)
        if forgotten:
            compact(Path(self.path_for_shard(INDEX_SHARD_NAME)))

    def store_event(self, event: dg.EventLogEntry) -> None:
        """Store one event. After the last event of a run, close its shard, which then consists of one file, and give
        back the pages of the index that the run's plans have left free."""
        super().store_event(event)
        if ends_run(event):
            with self._db_lock:
                self._close(event.run_id)
            compact(Path(self.path_for_shard(INDEX_SHARD_NAME)))
        self._tell_watchers(event.run_id)

    def delete_events(self, run_id: str) -> None:
        """Delete a run's events: its shard, and its rows of the index shard."""
        with self._db_lock:
            self._close(run_id)
            _remove(Path(self.path_for_shard(run_id)))
        with self.index_connection() as index_shard:
            self.delete_events_for_run(index_shard, run_id)
        if self.supports_global_concurrency_limits:
            self.free_concurrency_slots_for_run(run_id)

    def has_table(self, table_name: str) -> bool:
        """Whether the index shard has a table."""
        return self._has("table", table_name, lambda: super(BatchingSqliteEventLogStorage, self).has_table(table_name))

    def has_secondary_index(self, name: str) -> bool:
        """Whether a data migration of the event log has been completed."""
        return self._has("index", name, lambda: super(BatchingSqliteEventLogStorage, self).has_secondary_index(name))

    def get_dynamic_partitions(self, partitions_def_name: str) -> Sequence[str]:
        """Keys of a partitions definition."""
        read = super().get_dynamic_partitions
        return self._kept(("partitions", partitions_def_name), lambda: read(partitions_def_name))

    def has_dynamic_partition(self, partitions_def_name: str, partition_key: str) -> bool:
        """Whether a partitions definition has a key."""
        read = self.get_dynamic_partitions
        return partition_key in self._kept(("keys", partitions_def_name), lambda: frozenset(read(partitions_def_name)))

    def _get_assets_details(self, asset_keys: Sequence[dg.AssetKey]) -> Sequence[AssetDetails | None]:
        """When assets were last wiped: None for an asset that never was."""
        wiped = self._kept("wiped", self._wiped)
        return [wiped.get(key.to_string()) for key in asset_keys]

    def _wiped(self) -> dict[str, AssetDetails]:
        assets = AssetKeyTable.c
        query = db.select(assets.asset_key, assets.asset_details).where(assets.asset_details.is_not(None))
        with self.index_connection() as index:
            rows = index.execute(query).all()
        return {key: dg.deserialize_value(details, AssetDetails) for key, details in rows}

    def _kept(self, name: Hashable, read: Callable[[], Content]) -> Content:
        """What `read` returns of the index. It is read again only after a write to the index."""
        with self.index_connection() as index:
            raw: Any = index.connection.dbapi_connection
            others = raw.execute("PRAGMA data_version").fetchone()  # changes with the writes of other connections
            state = raw, raw.total_changes, others
        if (known := self._reads.get(name)) is None or known[0] != state:
            known = self._reads[name] = state, read()
        content: Content = known[1]
        return content

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

    def _initdb(self, engine: db.Engine, for_index_shard: bool = False) -> None:
        """Create the tables of a shard. The index can give free pages back."""
        if for_index_shard:
            db.event.listen(engine, "connect", lambda raw, _: raw.execute(INCREMENTAL).close())
        super()._initdb(engine, for_index_shard)

    def _engine(self, shard: str) -> db.Engine:
        """The engine of a shard. The engine keeps a connection open, because closing the last connection causes a
        checkpoint."""
        if len(self._engines) > ENGINES:
            self._dispose_engines()
        if shard not in self._engines:
            # Events lost in a power failure are reported again from the warehouse, by the next update.
            engine = self._engines[shard] = kept_engine(self.conn_string_for_shard(shard))
            engine.dialect.colspecs = {**engine.dialect.colspecs, db.Text: PackedText}
            db.event.listen(engine, "connect", _without_unused if shard == INDEX_SHARD_NAME else self._see_batches)
        return self._engines[shard]

    def _see_batches(self, raw: db.PoolProxiedConnection, _: object) -> None:
        """Have a connection to a run's shard see the run's events in the index, too. Shards of earlier versions have
        copies of these events."""
        if raw.execute("SELECT 1 FROM sqlite_schema WHERE name = 'batches'").fetchone():
            raw.execute("ATTACH ? AS event_index", (self.path_for_shard(INDEX_SHARD_NAME),)).close()
            raw.execute(LOG_VIEW).close()
            raw.execute(LOG_INSERT).close()

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
                if table is not SqlEventLogStorageTable:
                    table.drop(connection)
            for index in SqlEventLogStorageTable.indexes:
                index.drop(connection)
            connection.exec_driver_sql("ALTER TABLE event_logs RENAME TO own_events")
            connection.exec_driver_sql("CREATE TABLE batches (start INTEGER, first INTEGER, last INTEGER, run_id TEXT)")
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM")

    def _store_asset_events(self, run_id: str, events: list[dg.EventLogEntry]) -> None:
        # Not self.index_connection(): it takes a lock that the run's connection already holds.
        with self.run_connection(run_id) as run_shard, self._engine(INDEX_SHARD_NAME).begin() as index_shard:
            ids = self._insert_asset_events(index_shard, events)
            run_shard.execute(db.text(BATCH), {"first": ids[0], "last": ids[-1], "run": run_id})
        self._tell_watchers(run_id)


def _remove(shard: Path) -> None:
    for part in (shard, shard.with_name(f"{shard.name}-wal"), shard.with_name(f"{shard.name}-shm")):
        part.unlink(missing_ok=True)


def _without_unused(raw: db.PoolProxiedConnection, _: object) -> None:
    """Drop the indexes of the index shard that no query needs."""
    for index in UNUSED:
        raw.execute(f"DROP INDEX IF EXISTS {index}").close()
