"""Old requests and replies, moved from the ledger to compressed files, from which they can still be read.

Thousands of requests and replies that are compressed together take a fraction of the space that they take if each is
compressed alone. Files are named by a hash of their content and are never changed or removed, so that a copy of the
ledger always finds the files that it refers to.

Here: the files, and the rows of `archived` that point into them. Not here: when replies are old (automation.runs).
"""

import lzma
import sqlite3
import zlib
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from resources.errors import DamagedError
from resources.whole_files import write

FILE = 2000
"""Maximum number of replies in a file. To read one reply, the whole file is decompressed."""

FEWEST = 200
"""Minimum number of old replies to move; fewer stay in the ledger."""

_OLD = """
    SELECT r.attempt, r.body, q.id, q.body FROM reply r
    JOIN attempt a ON a.id = r.attempt JOIN question q ON q.id = a.question
    WHERE r.received < ? AND r.body <> x'' AND a.outcome IS NOT NULL ORDER BY r.attempt LIMIT ?
"""


def folder(ledger: Path) -> Path:
    """The folder of a ledger's compressed files, which is beside the ledger."""
    return ledger.with_name(f"{ledger.name}.archive")


def text(ledger: Path, body: bytes, file: str | None, start: int, length: int) -> bytes:
    """The text of a request or reply.

    `file`, `start` and `length` are the place of the text according to the table `archived`. `file` is None if the text
    has no row in this table; `body`, which the ledger stores, then has the compressed text.

    Raises
    ------
    DamagedError
        If the file is missing or damaged.
    zlib.error
        If the body is damaged.
    """
    return zlib.decompress(body) if file is None else read(folder(ledger) / file)[start : start + length]


def files(connection: sqlite3.Connection, ledger: Path) -> list[Path]:
    """Paths of the compressed files to which a ledger refers."""
    names = connection.execute("SELECT DISTINCT file FROM archived ORDER BY file").fetchall()
    return [folder(ledger) / name for (name,) in names]


def is_sound(file: Path) -> bool:
    """Whether a file has the content by whose hash it is named."""
    try:
        content = lzma.decompress(file.read_bytes())
    except (OSError, lzma.LZMAError):
        return False
    return f"{_digest(content)}.xz" == file.name


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


@lru_cache(maxsize=2)  # replies are read in the order of their numbers
def read(file: Path) -> bytes:
    """The texts in a file, one after the other.

    Raises
    ------
    DamagedError
        If the file is missing or damaged.
    """
    try:
        return lzma.decompress(file.read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise DamagedError(file, "", f"cannot be read ({error})", "restore the file from a backup") from error


def move(connection: sqlite3.Connection, ledger: Path, before: float, fewest: int) -> int:
    """Move the bodies of replies that arrived before `before` (Unix time), and of their requests, to one file.

    The caller's transaction holds the ledger's write lock. The file is on disk before the caller commits the rows that
    point into it. Return the number of moved replies: at most FILE, and 0 if there are fewer than `fewest` replies to
    move.
    """
    rows = connection.execute(_OLD, (before, FILE)).fetchall()
    if len(rows) < max(fewest, 1):
        return 0
    bodies = {("reply", attempt): body for attempt, body, _, _ in rows}
    bodies |= {("question", question): body for _, _, question, body in rows if body}
    contents = {place: zlib.decompress(body) for place, body in bodies.items()}
    whole = b"".join(contents.values())
    name = f"{_digest(whole)}.xz"
    write(folder(ledger) / name, lzma.compress(whole))
    start = 0
    for (table, number), content in contents.items():
        connection.execute("INSERT INTO archived VALUES (?, ?, ?, ?, ?)", (table, number, name, start, len(content)))
        key = "attempt" if table == "reply" else "id"
        connection.execute(f"UPDATE {table} SET body = x'' WHERE {key} = ?", (number,))
        start += len(content)
    return len(rows)
