"""Table of runs of the Dagster instance: storages that can forget old runs; on SQLite with a connection kept open.

The base class of SQLite creates an engine and a connection for each of some twenty statements of a run.

Here: the subclass named in dagster.yaml, independent of the rest of the project, and what it shares with PostgreSQL.
Not here: events (event_storage), PostgreSQL (postgres_storage), the choice of runs to forget (automation.runs). This
module relies on internals of Dagster 1.13.
"""

import json
import zlib
from abc import abstractmethod
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self

import sqlalchemy as db
from dagster._core.storage.dagster_run import FINISHED_STATUSES
from dagster._core.storage.runs import SqliteRunStorage, SqlRunStorage
from dagster._core.storage.runs.schema import RunsTable, RunTagsTable, SnapshotsTable
from dagster._serdes import ConfigurableClassData

from resources.dagster_storage.engines import BASE_DIR, base_dir, kept_engine
from resources.sqlite_files import compact

FINISHED = [status.value for status in FINISHED_STATUSES]


class ForgettingRunStorage(SqlRunStorage):
    """Storage of runs in SQL that can forget old runs."""

    def forget(self, before: float, named: Collection[str]) -> bool:
        """Remove runs that ended before `before` (Unix time), and snapshots of jobs that no other run refers to.

        Runs with events in the index (ids `named`) stay. The newest run stays, too, so that no id is used twice.
        Returns whether any run was removed.
        """
        newest = db.select(db.func.max(RunsTable.c.id)).scalar_subquery()
        old = db.select(RunsTable.c.run_id).where(
            RunsTable.c.status.in_(FINISHED), RunsTable.c.end_time < before, RunsTable.c.id < newest
        )
        with self._transaction() as connection:
            forgotten = set(connection.execute(old).scalars()) - set(named)
            for run_id in forgotten:
                connection.execute(db.delete(RunTagsTable).where(RunTagsTable.c.run_id == run_id))
                connection.execute(db.delete(RunsTable).where(RunsTable.c.run_id == run_id))
            if forgotten:
                _forget_snapshots(connection)
        return bool(forgotten)

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[db.Connection]:
        """A connection in a transaction."""


class ForgettingSqliteRunStorage(ForgettingRunStorage, SqliteRunStorage):
    """`SqliteRunStorage` that keeps a connection open and can forget old runs."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engine = kept_engine(conn_string)
        super().__init__(conn_string, inst_data)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Configuration keys for dagster.yaml: the folder, by default `$DAGSTER_HOME/history`, as in the base class."""
        return BASE_DIR

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:
        """Build the storage from dagster.yaml; raises KeyError like `base_dir`."""
        return cls.from_local(base_dir(config_value, "history"), inst_data)

    @contextmanager
    def connect(self) -> Iterator[db.Connection]:
        """A connection in a transaction."""
        with self._engine.connect() as connection, connection.begin():
            yield connection

    def dispose(self) -> None:
        """Close all connections."""
        self._engine.dispose()
        super().dispose()

    def forget(self, before: float, named: Collection[str]) -> bool:
        """Remove old runs, and return free pages to the disk."""
        forgotten = super().forget(before, named)
        if forgotten:
            compact(Path(self._engine.url.database or ""))
        return forgotten

    def _transaction(self) -> AbstractContextManager[db.Connection]:
        return self.connect()


def _forget_snapshots(connection: db.Connection) -> None:
    """Remove snapshots of jobs and plans to which no run refers. A run also refers to the parent snapshot of its
    job."""
    bodies = {
        row.snapshot_id: json.loads(zlib.decompress(row.snapshot_body))
        for row in connection.execute(db.select(SnapshotsTable))
    }
    named: set[str | None] = set()
    for job, run in connection.execute(db.select(RunsTable.c.snapshot_id, RunsTable.c.run_body)):
        lineage = bodies.get(job, {}).get("lineage_snapshot") or {}
        named |= {job, json.loads(run)["execution_plan_snapshot_id"], lineage.get("parent_snapshot_id")}
    for snapshot in bodies.keys() - named:
        connection.execute(db.delete(SnapshotsTable).where(SnapshotsTable.c.snapshot_id == snapshot))
