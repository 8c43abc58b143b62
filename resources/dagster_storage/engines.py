"""SQLAlchemy engines for SQLite files that several processes use: Dagster's shards of events and its table of runs.

Here: connections that stay open, and the folder of the files. Not here: tables (event_storage, run_storage).
"""

import os
from collections.abc import Mapping
from typing import Any

import dagster as dg
import sqlalchemy as db
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS

BASE_DIR = {"base_dir": dg.Field(dg.StringSource, is_required=False)}
"""Key in dagster.yaml that configures the folder of the files."""

LOG_BYTES = 1_000_000
"""Size, in bytes, to which SQLite truncates a write-ahead log once its content is in the database."""


def kept_engine(url: str) -> db.Engine:
    """An engine that keeps a connection open, because opening one takes longer than most statements.

    A commit does not wait for the disk. A power failure may lose the last transactions, but never parts of one.
    """
    engine = db.create_engine(url, pool_size=1, max_overflow=-1, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})

    def configure(raw: db.PoolProxiedConnection, _: object) -> None:
        raw.execute("PRAGMA synchronous=NORMAL").close()
        raw.execute(f"PRAGMA journal_size_limit={LOG_BYTES}").close()

    db.event.listen(engine, "connect", configure)
    return engine


def base_dir(config: Mapping[str, Any], *default: str) -> str:
    """The folder that dagster.yaml names as `base_dir`, by default a folder below `$DAGSTER_HOME`.

    Raises
    ------
    KeyError
        If neither `base_dir` nor the environment variable `DAGSTER_HOME` is set.
    """
    return config.get("base_dir") or os.path.join(os.environ["DAGSTER_HOME"], *default)
