"""Faults of the disk in words: it is full, or a file may not be written.

Here: finding such a fault behind an error of Python, SQLite or SQLAlchemy. Not here: faults that a store explains
itself (duckdb_warehouse, provider.sqlite_ledger).
"""

import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from resources.errors import BadInput

SPACE = "free space on its disk, then run again: what was stored is kept"
RIGHTS = "make it writable for this user, or set VARIORUM_HOME to a folder that is"
EITHER = "make it writable for this user, or free space on its disk; then run again: what was stored is kept"

_REMEDIES = {
    errno.ENOSPC: SPACE, errno.EDQUOT: SPACE, errno.EFBIG: SPACE,
    errno.EROFS: RIGHTS, errno.EACCES: RIGHTS, errno.EPERM: RIGHTS,
}  # fmt: skip

_SQLITE = {
    sqlite3.SQLITE_FULL: SPACE, sqlite3.SQLITE_READONLY: RIGHTS, sqlite3.SQLITE_PERM: RIGHTS,
    sqlite3.SQLITE_IOERR: EITHER, sqlite3.SQLITE_CANTOPEN: EITHER,
}  # fmt: skip


def fault(error: BaseException, home: Path) -> BadInput | None:
    """The fault of the disk behind an error; None if there is none. `home` is named if the error names no file."""
    for each in _causes(error):
        if isinstance(each, OSError) and each.errno in _REMEDIES:
            problem = f"cannot be written ({each.strerror})"
            return BadInput(each.filename2 or each.filename or home, "", problem, _REMEDIES[each.errno])
        code = getattr(each, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _SQLITE:  # the rest of an extended code says where
            return BadInput(home, "", f"cannot be written ({each})", _SQLITE[code & 0xFF])
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and the errors that it came from."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [each.__context__, each.__cause__, getattr(each, "orig", None)]
