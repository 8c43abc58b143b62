"""Salvage of a damaged ledger, row by row, and of the accounts of a lost ledger.

Here: reading around damaged pages, sums of accounts. Not here: a sound ledger (ledger), when a ledger is salvaged
(automation.repairing).
"""

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from resources.provider import archive
from resources.provider.ledger import COLUMNS, ENDED, LOST, UNCERTAIN, Ledger, Statements
from resources.provider.registry import NANO
from resources.provider.sqlite_ledger import SqliteLedger
from resources.sqlite_files import integrity, reading

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


_WITHOUT_REPLY = f"""
    SELECT id FROM question WHERE key NOT LIKE '{LOST}%'
    AND id IN (SELECT question FROM attempt WHERE outcome IN ({ENDED}))
    AND id NOT IN (SELECT question FROM attempt JOIN reply ON attempt = id WHERE outcome IN ({ENDED}))
"""
_ASKED_AGAIN = (
    f"""
    UPDATE attempt SET question = former.id FROM question q JOIN question former ON former.key = '{LOST}' || q.key
    WHERE q.id = attempt.question AND q.id IN ({_WITHOUT_REPLY})
    """,
    f"UPDATE question SET key = '{LOST}' || key WHERE id IN ({_WITHOUT_REPLY})",
)
"""Statements that rename questions whose reply is lost: under its key, such a question would count as answered. If a
reply to it has been lost before, its attempts are added to those of that time."""

_ANSWERED = """
    SELECT q.key, a.asked FROM {0}.reply r
    JOIN {0}.attempt a ON a.id = r.attempt JOIN {0}.question q ON q.id = a.question
"""
_CORRECTED = """
    SELECT a.session, a.asked, c.made, c.after FROM {0}.correction c JOIN {0}.attempt a ON a.id = c.attempt
"""


class Salvaged(NamedTuple):
    """Numbers of attempts and of replies in the new ledger, number of replies that are certainly lost, and number of
    replies that another ledger added."""

    attempts: int
    replies: int
    lost: int
    added: int


def damage(path: Path, folders: Sequence[Path] = ()) -> str:
    """Why a ledger is damaged: a table that cannot be read, or a text that cannot be decompressed; '' if it is sound.

    Archived texts are read from sound files in `folders`, by default the ledger's own folder.
    """
    folders = folders or [archive.folder(path)]
    if problem := integrity(path):
        return problem
    texts = "SELECT body FROM question UNION ALL SELECT body FROM reply"
    try:
        with _opened(path) as connection:
            if not all(_decompresses(body) for (body,) in connection.execute(texts)):
                return "a text cannot be decompressed"
            for file in archive.files(connection, path):
                if not any(archive.is_sound(folder / file.name) for folder in folders):
                    return f"{file.name} is missing or damaged"
    except sqlite3.Error as error:
        return str(error)
    return ""


def salvage(damaged: Path | None, new: Path, other: Path | None = None) -> Salvaged:
    """Make a new ledger of every readable row of a damaged one, and of what `other` has in addition.

    An attempt whose question is lost is kept, because of its cost. A reply is lost if its text cannot be decompressed,
    or if its attempt or the question is lost; its question can then be asked again.

    Parameters
    ----------
    damaged
        The ledger of a home. None if the home has none.
    other
        A sound ledger of the same home, such as that of a backup.
    """
    ledger = SqliteLedger(new)
    texts = [archive.folder(path) for path in (damaged, other) if path]
    with ledger.changing() as target:
        if damaged:
            with _opened(damaged) as source:
                _copy_all(source, target, texts)
        added = 0
        if other:
            with _opened(other) as source:
                added = _add(source, target)
        target.execute(
            f"INSERT INTO question SELECT question, '{LOST}' || question, '', 0, x'' FROM attempt "
            "WHERE question NOT IN (SELECT id FROM question) GROUP BY question"
        )
        target.execute("DELETE FROM reply WHERE attempt NOT IN (SELECT id FROM attempt)")
        for statement in _ASKED_AGAIN:
            target.execute(statement)
        target.execute("DELETE FROM account")
        target.execute(_ACCOUNTS.format(day=ledger.day))
        attempts, replies, lost = target.execute(
            "SELECT (SELECT count(*) FROM attempt), (SELECT count(*) FROM reply), (SELECT count(*) FROM attempt "
            "WHERE outcome NOT IN ('uncertain', 'unreachable') AND id NOT IN (SELECT attempt FROM reply))"
        ).fetchone()
    return Salvaged(attempts, replies, lost, added)


def lacking(ledger: Path, other: Path) -> int:
    """Number of replies and corrections that `other` has and a sound ledger has not."""
    with _opened(ledger) as connection:
        connection.execute("ATTACH ? AS other", (str(other),))
        return sum(
            int(
                connection.execute(
                    f"SELECT count(*) FROM ({query.format('other')} EXCEPT {query.format('main')})"
                ).fetchone()[0]
            )
            for query in (_ANSWERED, _CORRECTED)
        )


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


def _copy_all(source: sqlite3.Connection, target: Statements, texts: Sequence[Path]) -> None:
    """Copy every readable row. Archived texts are read from sound files in the folders `texts`."""
    tables: set[str] = set()
    with suppress(sqlite3.DatabaseError):  # nothing can be read, not even the names of the tables
        tables = {name for (name,) in source.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table in TABLES:
        if table in tables:
            _copy(source, target, table)
    with suppress(sqlite3.DatabaseError):  # read from the index alone, which may be sound where the table is not
        for number, key in source.execute("SELECT id, key FROM question ORDER BY key").fetchall():
            target.execute("INSERT OR IGNORE INTO question VALUES (?, ?, '', 0, x'')", (number, key))
    for (name,) in target.execute("SELECT DISTINCT file FROM archived").fetchall():
        if not any(archive.is_sound(folder / name) for folder in texts):
            target.execute(
                "DELETE FROM reply WHERE attempt IN (SELECT id FROM archived WHERE kind = 'reply' AND file = ?)",
                (name,),
            )
            target.execute("DELETE FROM archived WHERE file = ?", (name,))
    target.execute(  # the places of their texts were on a damaged page
        "DELETE FROM reply WHERE body = x'' AND attempt NOT IN (SELECT id FROM archived WHERE kind = 'reply')"
    )


def _copy(source: sqlite3.Connection, target: Statements, table: str) -> None:
    columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    for row in _readable(source, f"SELECT rowid, {names} FROM {table} WHERE rowid >= ? ORDER BY rowid"):
        body = dict(zip(columns, row[1:], strict=True)).get("body")
        if body is None or _decompresses(body):
            with suppress(sqlite3.IntegrityError):  # a damaged page may contain rows of another page
                target.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row[1:])


def _add(source: sqlite3.Connection, target: Statements) -> int:
    """Add attempts, replies and corrections that a ledger lacks; return the number of replies.

    Attempts are the same if session, time and either their numbers or their questions are equal.
    """
    before = target.execute("SELECT count(*) FROM reply").fetchone()[0]
    for row in source.execute("SELECT id, run, started FROM session").fetchall():
        target.execute("INSERT OR IGNORE INTO session VALUES (?, ?, ?)", row)
    numbers: dict[int, int] = {}
    columns = ", ".join(f"a.{name}" for name in COLUMNS)
    rows = source.execute(f"SELECT q.key, {columns} FROM attempt a JOIN question q ON q.id = a.question ORDER BY a.id")
    for key, *values in rows.fetchall():
        attempt = dict(zip(COLUMNS, values, strict=True))
        question = _question(source, target, attempt["question"], key)
        same = target.execute(
            "SELECT id, outcome FROM attempt WHERE session = ? AND asked = ? AND (id = ? OR question = ?)",
            (attempt["session"], attempt["asked"], attempt["id"], question),
        ).fetchone()
        if same and same[1] is None:
            target.execute("DELETE FROM attempt WHERE id = ?", (same[0],))
        number = numbers[attempt["id"]] = same[0] if same else _free(target, "attempt", attempt["id"])
        target.execute(
            "UPDATE attempt SET question = ? WHERE id = ? AND question NOT IN (SELECT id FROM question)",
            (question, number),
        )
        row = {**attempt, "id": number, "question": question}
        marks = ", ".join("?" * len(COLUMNS))
        target.execute(
            f"INSERT OR IGNORE INTO attempt ({', '.join(COLUMNS)}) VALUES ({marks})", [row[name] for name in COLUMNS]
        )
    for attempt_id, *reply in source.execute("SELECT attempt, received, status, headers, body, broken FROM reply"):
        if attempt_id in numbers:
            number = numbers[attempt_id]
            if not target.execute("SELECT 1 FROM reply WHERE attempt = ?", (number,)).fetchone():
                target.execute("INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?)", (number, *reply))
                target.execute("DELETE FROM archived WHERE kind = 'reply' AND id = ?", (number,))
                _archived(source, target, "reply", attempt_id, number)
    corrections = "SELECT attempt, made, author, before, after, note FROM correction ORDER BY id"
    for attempt_id, *correction in source.execute(corrections).fetchall():
        row = (numbers.get(attempt_id), *correction)
        known = "SELECT 1 FROM correction WHERE attempt = ? AND made = ? AND author = ? AND after = ?"
        if row[0] and not target.execute(known, (row[0], row[1], row[2], row[4])).fetchone():
            target.execute(
                "INSERT INTO correction (attempt, made, author, before, after, note) VALUES (?, ?, ?, ?, ?, ?)", row
            )
    target.execute(
        "UPDATE attempt SET cost = ("
        "SELECT after FROM correction c WHERE c.attempt = attempt.id ORDER BY made DESC LIMIT 1) "
        "WHERE id IN (SELECT attempt FROM correction)"
    )
    return int(target.execute("SELECT count(*) FROM reply").fetchone()[0]) - int(before)


def _question(source: sqlite3.Connection, target: Statements, number: int, key: str) -> int:
    """The number in `target` of a question of `source`, which is added, or completed by its text."""
    place, replicate, body = source.execute(
        "SELECT place, replicate, body FROM question WHERE id = ?", (number,)
    ).fetchone()
    found = target.execute(
        "SELECT id, body, place FROM question WHERE key IN (?, ?) ORDER BY length(key)", (key, f"{LOST}{key}")
    ).fetchone()
    if found is None:
        own = _free(target, "question", number)
        target.execute("INSERT INTO question VALUES (?, ?, ?, ?, ?)", (own, key, place, replicate, body))
    else:
        own, present, _ = found
        if present or target.execute("SELECT 1 FROM archived WHERE kind = 'question' AND id = ?", (own,)).fetchone():
            return int(own)
        target.execute(
            "UPDATE question SET key = ?, place = ?, replicate = ?, body = ? WHERE id = ?",
            (key, place, replicate, body, own),
        )
    _archived(source, target, "question", number, own)
    return int(own)


def _archived(source: sqlite3.Connection, target: Statements, kind: str, number: int, own: int) -> None:
    """Copy the place of an archived text."""
    place = source.execute(
        "SELECT file, start, length FROM archived WHERE kind = ? AND id = ?", (kind, number)
    ).fetchone()
    if place:
        target.execute("INSERT OR IGNORE INTO archived VALUES (?, ?, ?, ?, ?)", (kind, own, *place))


def _free(target: Statements, table: str, number: int) -> int:
    """A number that no row has: the given one if possible."""
    taken = target.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone()
    return int(target.execute(f"SELECT max(id) + 1 FROM {table}").fetchone()[0]) if taken else number


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A ledger for reading, in which letters that are not UTF-8 do not prevent reading the rest of a row."""
    with closing(reading(path)) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        yield connection


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
