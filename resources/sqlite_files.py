"""SQLite files that several processes use: reading them, checks of their integrity, the return of free pages.

Not here: tables, and connections that stay open (dagster_storage.engines, provider.ledger).
"""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

logger = logging.getLogger("variorum.sqlite_files")

PATIENCE = 60
"""Seconds to wait for other processes that write."""

INCREMENTAL = "PRAGMA auto_vacuum = INCREMENTAL"
"""Has a new file, or one that is rewritten, keep a record of its pages, by which it can give single ones back."""


def reading(database: Path) -> sqlite3.Connection:
    """A connection that reads an existing database; a missing file raises `sqlite3.OperationalError`."""
    return sqlite3.connect(f"file:{database}?mode=ro", uri=True)


def integrity(database: Path) -> str:
    """The first problem that SQLite finds in a database; '' if the database is sound."""
    try:
        with closing(reading(database)) as connection:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else str(found)


def compact(database: Path) -> None:
    """Return free pages to the disk if they are at least an eighth of a file that can give single ones back, or half
    of another file, which is rewritten. Meanwhile, other processes can only read.

    If another process writes for so long that SQLite gives up, the file stays as it is until the next call.
    """
    with closing(sqlite3.connect(database, timeout=PATIENCE, isolation_level=None)) as connection:
        names = "freelist_count", "page_count", "auto_vacuum"
        free, pages, incremental = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        if (8 if incremental else 2) * free < pages:
            return
        try:
            if incremental:
                connection.executescript("PRAGMA incremental_vacuum")  # `execute` would return one page
                return
            connection.execute(INCREMENTAL)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError as error:
            logger.info("%s will be compacted later: %s", database, error)
