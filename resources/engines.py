"""Engines on SQLite files that several processes use: Dagster's shards and its table of runs.

Here: connections that stay open, and the return of free pages to the disk. Not here: tables (event_storage,
run_storage).
"""

import logging

import sqlalchemy as db
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from sqlalchemy.exc import OperationalError

logger = logging.getLogger("variorum.engines")

LOG_BYTES = 1_000_000
"""Size to which SQLite cuts a write-ahead log once its content is in the database."""


def kept_engine(url: str) -> db.Engine:
    """An engine that keeps a connection open: to open and close one for each statement takes longer than most do.

    A commit does not wait for the disk. A power failure may lose the last transactions, but never parts of one.
    """
    engine = db.create_engine(url, pool_size=1, max_overflow=-1, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})

    def configure(raw: db.PoolProxiedConnection, _: object) -> None:
        raw.execute("PRAGMA synchronous=NORMAL").close()
        raw.execute(f"PRAGMA journal_size_limit={LOG_BYTES}").close()

    db.event.listen(engine, "connect", configure)
    return engine


def compact(engine: db.Engine) -> None:
    """Return free pages to the disk if they are half of the file; other processes wait for it, or read meanwhile.

    If another process writes for so long that SQLite gives up, the file stays as it is until the next call.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        free, pages = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("freelist_count", "page_count")
        )
        if 2 * free < pages:
            return
        try:
            connection.exec_driver_sql("VACUUM")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        except OperationalError as error:
            logger.info("%s is compacted later: %s", engine.url.database, error)
