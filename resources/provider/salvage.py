"""Salvage of a damaged ledger, row by row, and of the accounts of a lost ledger.

Here: reading around damaged pages, sums of accounts. Not here: a sound ledger (ledger), when a ledger is salvaged
(automation.rebuilding).
"""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from resources.provider.ledger import COLUMNS, LOST, UNCERTAIN, Ledger
from resources.provider.registry import NANO
from resources.provider.sqlite_ledger import SqliteLedger
from resources.sqlite_files import integrity

TABLES = ("session", "question", "attempt", "reply", "correction", "archived", "identity")
"""Tables to copy; each table refers only to earlier ones. Accounts are computed, as sums over the attempts."""

FARTHEST = 1 << 20
"""Number of row ids after a damaged page that are searched for a readable row."""

_ACCOUNTS = """
    INSERT INTO account SELECT name, sum(coalesce(cost, 0)), sum(CASE WHEN outcome IS NULL THEN reserved ELSE 0 END),
        sum(CASE WHEN outcome IS NOT NULL AND cost IS NULL THEN reserved ELSE 0 END)
    FROM (
        SELECT *, 'run ' || run AS name FROM attempt
        UNION ALL SELECT *, {day} FROM attempt
        UNION ALL SELECT *, 'model ' || model FROM attempt
    ) AS charges GROUP BY name
"""


class Salvaged(NamedTuple):
    """Numbers of attempts and of replies in the new ledger, and number of replies that are certainly lost."""

    attempts: int
    replies: int
    lost: int


def is_damaged(path: Path) -> bool:
    """Whether a ledger cannot be read, or the text of any question or reply in it cannot be decompressed."""
    if integrity(path):
        return True
    texts = "SELECT body FROM question UNION ALL SELECT body FROM reply"
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return not all(_decompresses(body) for (body,) in connection.execute(texts))
    except sqlite3.Error:
        return True


def salvage(damaged: Path, new: Path) -> Salvaged:
    """Copy every readable row of a damaged ledger to a new one, and compute the accounts of the new one.

    An attempt whose question is lost is kept, because of its cost. A reply is lost if its text cannot be decompressed,
    or if its attempt or the question is lost.
    """
    ledger = SqliteLedger(new)
    with ledger.changing() as target, closing(sqlite3.connect(f"file:{damaged}?mode=ro", uri=True)) as source:
        tables: set[str] = set()
        with suppress(sqlite3.DatabaseError):  # nothing can be read, not even the names of the tables
            tables = {name for (name,) in source.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        for table in TABLES:
            if table in tables:
                _copy(source, target, table)
        target.execute(
            f"INSERT INTO question SELECT question, '{LOST}' || question, '', 0, x'' FROM attempt "
            "WHERE question NOT IN (SELECT id FROM question) GROUP BY question"
        )
        target.execute("DELETE FROM reply WHERE attempt NOT IN (SELECT id FROM attempt)")
        target.execute(_ACCOUNTS.format(day=ledger.day))
        return Salvaged(*target.execute(
            "SELECT (SELECT count(*) FROM attempt), (SELECT count(*) FROM reply), (SELECT count(*) FROM attempt "
            "WHERE outcome NOT IN ('uncertain', 'unreachable') AND id NOT IN (SELECT attempt FROM reply))"
        ).fetchone())  # fmt: skip


def put_back(ledger: Ledger, calls: pl.DataFrame) -> int:
    """From rows of `model_call`, add the attempts that a ledger lacks; return their number. Their replies stay lost.

    The attempts keep their costs in the accounts, so that budgets hold.
    """
    with ledger.changing() as connection:
        present = set(connection.execute("SELECT q.key, a.asked FROM attempt a JOIN question q ON q.id = a.question"))
        lacking = [row for row in map(_attempt, calls.iter_rows(named=True)) if not _known(row, present)]
        for row in lacking:
            key = LOST + row["call"].removeprefix(LOST)
            connection.execute(
                "INSERT INTO question (key, place, replicate, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (key, row["place"], row["replicate"], b""),
            )
            row["question"] = connection.execute("SELECT id FROM question WHERE key = ?", (key,)).fetchone()[0]
            named = [name for name in COLUMNS if name in row]
            connection.execute(
                f"INSERT INTO attempt ({', '.join(named)}) VALUES ({', '.join('?' * len(named))})",
                [row[name] for name in named],
            )
        connection.execute("DELETE FROM account")
        connection.execute(_ACCOUNTS.format(day=ledger.day))
    return len(lacking)


def _known(attempt: dict[str, Any], present: set[tuple[str, float]]) -> bool:
    call, asked = attempt["call"].removeprefix(LOST), attempt["asked"]
    return any((key, asked) in present for key in (call, LOST + call))


def _attempt(call: dict[str, Any]) -> dict[str, Any]:
    """A row of `model_call` with the names and units of the ledger's attempts."""
    money = {name: call[name] and round(call[name] * NANO) for name in ("reported_cost", "priced_cost", "cost")}
    asked = call["asked"].replace(tzinfo=UTC).timestamp()
    reserved = round(call["reserved"] * NANO)
    outcome = call["outcome"] or UNCERTAIN
    return {**call, **money, "reserved": reserved, "asked": asked, "session": "", "outcome": outcome}


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> None:
    columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    for row in _readable(source, f"SELECT rowid, {names} FROM {table} WHERE rowid >= ? ORDER BY rowid"):
        body = dict(zip(columns, row[1:], strict=True)).get("body")
        if body is None or _decompresses(body):
            with suppress(sqlite3.IntegrityError):  # a damaged page may contain rows of another page
                target.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row[1:])


def _readable(source: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """Rows in the order of their ids, except rows on damaged pages.

    After an error, the next readable row is searched for at increasing distances, then by bisection between the last
    two distances.
    """
    start: int | None = 0
    while start is not None:
        try:
            for row in source.execute(query, (start,)):
                yield row
                start = row[0] + 1
            return
        except sqlite3.DatabaseError:
            start = _next(source, query, start)


def _next(source: sqlite3.Connection, query: str, start: int) -> int | None:
    """The first id above `start` from which a row can be read; None if there is none within FARTHEST."""
    low, step = start, 1
    while not _reads(source, query, start + step):
        low, step = start + step, 2 * step
        if step > FARTHEST:
            return None
    high = start + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reads(source, query, middle) else (middle, high)
    return high


def _reads(source: sqlite3.Connection, query: str, start: int) -> bool:
    try:
        source.execute(query, (start,)).fetchone()
    except sqlite3.DatabaseError:
        return False
    return True


def _decompresses(body: bytes) -> bool:
    try:
        zlib.decompress(body) if body else b""
    except zlib.error:
        return False
    return True
