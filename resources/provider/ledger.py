"""The ledger: stores every attempt before it is sent and every reply before it is read, and keeps the accounts.

Guarantee: no complete reply is lost or paid for twice. A call that is in flight at a crash is recorded as uncertain,
and its question is asked again.

Here: the SQLite file, its transactions, sessions and accounts. Not here: the meaning of a reply (reading), when to ask
(client).
"""

import asyncio
import json
import logging
import os
import sqlite3
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from resources import locks, sqlite_files
from resources.errors import BadInput
from resources.identity import Mark
from resources.provider import archive
from resources.provider.question import Question
from resources.provider.reading import REPLIES, Outcome, Policy, Raw, Reading, read
from resources.provider.registry import NANO, Budget, Price

logger = logging.getLogger("variorum.ledger")

SCHEMA = Path(__file__).with_name("ledger.sql")

VERSION = 1
"""Version of the tables, stored as `user_version`. It is raised with changes that earlier programs cannot handle."""

BUSY = 60
"""Seconds to wait for another process that has locked the file."""

BALLAST = 8 << 20
"""Bytes reserved on disk. They are released when the disk is full, so that replies in flight can still be stored."""

INCREDIBLE = 10
"""If the reported tokens would cost more than this many times the worst-case cost of the call, the report is not
trusted and the cost counts as unknown. Otherwise, a single wrong number would exhaust the budget permanently."""

PATIENCE = 600
"""Seconds for which replies are kept in memory while they cannot be stored."""

UNCERTAIN = "uncertain"
"""Outcome of an attempt whose process ended before a reply was stored."""

SALVAGE = "restore a backup with `variorum restore FOLDER`, or salvage what can be read with `variorum rebuild`"

PROBE = "probe"
"""Purpose of questions that only determine which version of a model is served."""

_REPLIES = ", ".join(f"'{outcome}'" for outcome in REPLIES)

_RAW = "r.status, r.headers, r.broken, r.body, f.file, f.start, f.length"
_FILED = "LEFT JOIN archived f ON f.kind = 'reply' AND f.id = r.attempt"

_REPLY_TO = (
    f"SELECT {_RAW} FROM attempt a JOIN reply r ON r.attempt = a.id {_FILED} "
    f"WHERE a.question = ? AND a.outcome IN ({_REPLIES}) ORDER BY a.id LIMIT 1"
)
_TAKEN = f"SELECT 1 FROM attempt WHERE question = ? AND (outcome IS NULL OR outcome IN ({_REPLIES}))"


class Refusal(Exception):  # noqa: N818 - not an error: the question can be asked later, or was answered meanwhile
    """The ledger does not allow a question to be asked now."""


class InFlightError(Refusal):
    """Another caller is asking the question, or calls in flight have reserved the remaining budget."""


class OverBudgetError(Refusal):
    """The question would exceed the budget of `model`; if `model` is '', the budget of the run or day."""

    def __init__(self, reason: str, model: str) -> None:
        super().__init__(reason)
        self.model = model


class UnwritableError(BadInput):
    """The ledger cannot be written, so no question may be asked."""


@dataclass
class _Write:
    """A change for the next transaction. After a failed write, only a change for a `paid` call is retried."""

    change: Callable[[sqlite3.Connection], Any]
    done: "asyncio.Future[Any] | None"  # None if no caller waits
    paid: bool
    undo: Callable[[Any], None] | None = None  # called with the result if the caller was cancelled meanwhile

    def end(self, result: Any) -> None:
        """Pass the result or error to the waiting caller. If no caller waits, undo a change that succeeded, and log an
        error."""
        if self.done is None or self.done.cancelled():
            if isinstance(result, Exception):
                if not isinstance(result, Refusal):
                    logger.error("%s", result)
            elif self.undo:
                self.undo(result)
        elif isinstance(result, Exception):
            self.done.set_exception(result)
        else:
            self.done.set_result(result)


class Ledger:
    """A session with the ledger, for one process and one event loop. Several sessions can use the file at once.

    Parameters
    ----------
    path
        The SQLite file; created if it does not exist.
    run
        The run to which calls are charged.
    budget
        Caps in US dollars for the run and for the day.
    """

    def __init__(self, path: Path, run: str, budget: Budget) -> None:
        self._path, self._run, self._budget = path, run, budget
        self._session = uuid.uuid4().hex
        self._writes: list[_Write] = []
        self._flush: asyncio.Task[None] | None = None
        self._full: UnwritableError | None = None
        self._give_up = 0.0

    def __enter__(self) -> "Ledger":
        """Open the ledger, lock a file that shows that this session is alive, and settle attempts of dead sessions."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        had_ballast = self._ballast().exists()
        self._set_ballast()
        try:
            self._connection, self._reader = connect(self._path), connect(self._path)
        except BadInput:
            if not had_ballast:
                self._ballast().unlink()
            raise
        self._locks = self._path.with_name(f"{self._path.name}.sessions")
        self._locks.mkdir(exist_ok=True)
        self._lock = os.open(self._locks / self._session, os.O_CREAT | os.O_RDWR)
        locks.exclusive(self._lock)
        # Commits wait for the disk, so they run in a thread outside the event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        with transaction(self._connection) as connection:
            connection.execute("INSERT INTO session VALUES (?, ?, ?)", (self._session, self._run, time.time()))
            self._settle_the_dead(connection)
        self._connection.execute(
            "PRAGMA busy_timeout = 1000"
        )  # short, because the event loop would be blocked from now on
        return self

    def __exit__(self, *_: object) -> None:
        """Close the session. Attempts still in flight become uncertain."""
        self._thread.shutdown()
        with suppress(sqlite3.Error), transaction(self._connection) as connection:
            _close(connection, "session = ?", self._session)
        self._connection.close()
        self._reader.close()
        (self._locks / self._session).unlink(missing_ok=True)
        os.close(self._lock)

    def find(self, key: str) -> Raw | None:
        """Return the stored reply to a question, given its key; None if there is none."""
        # This is called before every question, and most questions are new, so the quick look-up comes first.
        with _damage_named(self._path):
            question = self._reader.execute("SELECT id FROM question WHERE key = ?", (key,)).fetchone()
            row = question and self._reader.execute(_REPLY_TO, question).fetchone()
            return _raw(self._path, row) if row else None

    async def claim(self, question: Question) -> int:
        """Record an attempt, reserve its worst-case cost, and return its id. The question may then be sent.

        Raises
        ------
        InFlightError
            If the question is already in flight, or calls in flight have reserved the remaining budget. Call `find`
            and `claim` again later.
        OverBudgetError
            If the worst-case cost exceeds a cap.
        UnwritableError
            If the ledger cannot be written.
        """
        if self._full:
            raise self._full
        now = time.time()
        attempt: int = await self._write(
            lambda connection: self._claim(connection, question, now), paid=False, undo=self.abandon
        )
        return attempt

    async def receive(self, attempt: int, raw: Raw) -> None:
        """Store a raw reply. It is on disk when this method returns."""
        row = (
            attempt, time.time(), raw.status, json.dumps(dict(raw.headers)), _compressed(raw.body), raw.broken,
        )  # fmt: skip
        insert = "INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?)"
        await self._write(lambda connection: connection.execute(insert, row), paid=True)

    def settle(self, attempt: int, reading: Reading) -> None:
        """Record the reading of a stored reply, and move its cost from reserved to paid, in the next transaction.

        If the process ends before the transaction, the next session reads the stored reply again.
        """
        self._queue(_Write(lambda connection: _settle(connection, attempt, reading), None, paid=True))

    async def drained(self) -> None:
        """Wait until all queued changes are stored."""
        while self._flush:
            await asyncio.shield(self._flush)

    def abandon(self, attempt: int) -> None:
        """Close an attempt whose caller no longer waits. The attempt becomes uncertain, unless its reply is stored."""
        self._queue(_Write(lambda connection: _close(connection, "id = ?", attempt), None, paid=True))

    async def settle_the_dead(self) -> None:
        """Close the attempts of dead sessions: settle attempts with a stored reply, and mark the rest as uncertain."""
        await self._write(self._settle_the_dead, paid=False)

    def _settle_the_dead(self, connection: sqlite3.Connection) -> None:
        for (session,) in connection.execute("SELECT DISTINCT session FROM attempt WHERE outcome IS NULL").fetchall():
            if session != self._session and self._is_dead(session):
                lost = _close(connection, "session = ?", session)
                logger.warning("%d calls were in flight when a run ended; their questions will be asked again", lost)

    def _is_dead(self, session: str) -> bool:
        try:
            lock = os.open(self._locks / session, os.O_RDWR)
        except FileNotFoundError:
            return True
        try:
            if not locks.tried(lock):
                return False
        finally:
            os.close(lock)
        (self._locks / session).unlink(missing_ok=True)
        return True

    def _claim(self, connection: sqlite3.Connection, question: Question, now: float) -> int:
        model = question.model
        row = connection.execute("SELECT id FROM question WHERE key = ?", (question.key,)).fetchone()
        if row and connection.execute(_TAKEN, row).fetchone():
            raise InFlightError
        worst = question.worst_case or 0
        accounts = f"run {self._run}", f"day {datetime.fromtimestamp(now, UTC):%Y-%m-%d}", f"model {model.name}"
        caps = self._budget.run, self._budget.day, model.settings.budget
        for name, cap in zip(accounts, caps, strict=True):
            _reserve(connection, name, worst, cap)
        question_id = row[0] if row else None
        if question_id is None:
            question_id = connection.execute(
                "INSERT INTO question (key, place, replicate, body) VALUES (?, ?, ?, ?)",
                (question.key, model.place, question.replicate, _compressed(question.canonical)),
            ).lastrowid
        connection.execute(
            "INSERT INTO account (name, reserved) VALUES (?1, ?4), (?2, ?4), (?3, ?4) "
            "ON CONFLICT DO UPDATE SET reserved = reserved + excluded.reserved",
            (*accounts, worst),
        )
        price = model.price and model.price.model_dump_json()
        attempt = connection.execute(
            "INSERT INTO attempt "
            "(question, session, run, model, requested_model, purpose, effort, price, asked, reserved) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                question_id, self._session, self._run, model.name, model.settings.id, question.purpose,
                model.settings.effort, price, now, worst,
            ),
        ).lastrowid  # fmt: skip
        assert attempt is not None
        return attempt

    async def _write(
        self, change: Callable[[sqlite3.Connection], Any], paid: bool, undo: Callable[[Any], None] | None = None
    ) -> Any:
        done = asyncio.get_running_loop().create_future()
        self._queue(_Write(change, done, paid, undo))
        try:
            return await done
        except asyncio.CancelledError:
            if undo and done.done() and not done.cancelled() and not done.exception():
                undo(done.result())
            raise

    def _queue(self, write: _Write) -> None:
        self._writes.append(write)
        if self._flush is None:
            self._flush = asyncio.create_task(self._flush_all())

    async def _flush_all(self) -> None:
        """Carry out queued changes until the queue is empty. All changes that are waiting share one transaction."""
        try:
            while self._writes:
                await asyncio.sleep(0)  # lets other tasks queue their changes first
                writes, self._writes = self._writes, []
                await self._commit(writes)
        finally:
            self._flush = None

    async def _commit(self, writes: list[_Write]) -> None:
        if self._full:
            writes = self._only_paid(writes)
        while writes:
            try:
                results = await self._transact(writes)
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                    logger.warning("%s: locked by another process; trying again", self._path)
                    await asyncio.sleep(1)
                    continue
                self._full = UnwritableError(
                    self._path, "", f"cannot be written ({error})", "free space on its disk, then run again"
                )
                writes = await self._make_room(self._only_paid(writes))
            else:
                for write, result in zip(writes, results, strict=True):
                    write.end(result)
                return

    async def _transact(self, writes: list[_Write]) -> list[Any]:
        results: list[Any] = []
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for write in writes:
                try:
                    results.append(write.change(self._connection))
                except sqlite3.Error:
                    raise
                except Exception as error:  # raised before anything was changed, so the other writes are unaffected
                    results.append(error)
            await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.execute, "COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        return results

    def _only_paid(self, writes: list[_Write]) -> list[_Write]:
        """Fail the changes that do not concern paid calls, and return the rest."""
        for write in writes:
            if not write.paid:
                write.end(self._full)
        return [write for write in writes if write.paid]

    async def _make_room(self, paid: list[_Write]) -> list[_Write]:
        """Delete the ballast (reserved space); if it was deleted before, wait for one second. Return the changes to
        retry: none after PATIENCE seconds."""
        ballast = self._ballast()
        if ballast.exists():
            ballast.unlink(missing_ok=True)
        elif time.monotonic() < self._give_up:
            await asyncio.sleep(1)
        if not self._give_up:
            self._give_up = time.monotonic() + PATIENCE
            logger.error("%s; replies in flight are stored in the reserved space, or kept in memory", self._full)
        if time.monotonic() < self._give_up:
            return paid
        for write in paid:
            write.end(self._full)
        return []

    def _ballast(self) -> Path:
        return self._path.with_name(f"{self._path.name}.ballast")

    def _set_ballast(self) -> None:
        ballast = self._ballast()
        if ballast.exists() and ballast.stat().st_size == BALLAST:
            return
        try:
            ballast.write_bytes(os.urandom(BALLAST))  # incompressible, so it takes its full size on any file system
        except OSError as error:
            ballast.unlink(missing_ok=True)
            raise UnwritableError(
                self._path,
                "",
                f"no space is left in its folder ({error.strerror})",
                f"free at least {2 * BALLAST >> 20} MB",
            ) from error


def connect(path: Path) -> sqlite3.Connection:
    """Open a ledger, and create or migrate its tables. Data is on disk when a commit returns.

    Raises
    ------
    BadInput
        If the file cannot be opened as a ledger.
    """
    try:
        connection = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # on macOS, as in `locks.flush`
        columns = [row[1] for row in connection.execute("PRAGMA table_info(attempt)")]
        for name in ("requested_model", "system_fingerprint"):  # a ledger that is older than these columns
            if columns and name not in columns:
                connection.execute(f"ALTER TABLE attempt ADD COLUMN {name} TEXT")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version <= VERSION:
            connection.executescript(SCHEMA.read_text(encoding="utf-8"))
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    if version > VERSION:
        connection.close()
        problem = f"has version {version}, but this program knows versions up to {VERSION}"
        raise BadInput(path, "", problem, "use the version of Variorum that wrote it, or a later one")
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log.

    SQLite does not wait for locks here: if two processes create the file at once, one gets SQLITE_BUSY and must retry.
    """
    deadline = time.monotonic() + BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def attempts(path: Path) -> pl.DataFrame:
    """Read all attempts, one row each, oldest first, with costs in US dollars and times in UTC."""
    with _closing(path) as connection:
        cursor = connection.execute(
            "SELECT a.*, q.key, q.place, q.replicate, r.status, r.received, "
            "(SELECT note FROM correction c WHERE c.attempt = a.id ORDER BY c.id DESC LIMIT 1) AS correction "
            "FROM attempt a JOIN question q ON q.id = a.question LEFT JOIN reply r ON r.attempt = a.id ORDER BY a.id"
        )
        names = [column[0] for column in cursor.description]
        frame = pl.DataFrame(
            cursor.fetchall(), schema=[(name, _KINDS.get(name, pl.String)) for name in names], orient="row"
        )
    moments = [pl.from_epoch((pl.col(name) * 1e6).cast(pl.Int64), "us").alias(name) for name in ("asked", "received")]
    money = [pl.col(name) / NANO for name in ("reserved", "reported_cost", "priced_cost", "cost")]
    return frame.with_columns(*moments, *money)


_KINDS: Mapping[str, Any] = {
    **dict.fromkeys(["id", "question", "replicate", "status"], pl.Int64),
    **dict.fromkeys(["prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"], pl.Int64),
    **dict.fromkeys(["reserved", "reported_cost", "priced_cost", "cost"], pl.Int64),
    **dict.fromkeys(["asked", "received"], pl.Float64),
}


def replies(path: Path, model: str) -> Iterator[tuple[int, bytes, Raw]]:
    """Yield the replicate, request body (JSON) and raw reply of each finished question to a model, oldest first.

    A question is finished if it got a reply, or an error that would occur again.
    """
    ends = ", ".join(f"'{outcome}'" for outcome in Outcome if outcome.policy in (Policy.USE, Policy.FAIL))
    with _closing(path) as connection:
        for replicate, *row in connection.execute(
            f"SELECT q.replicate, q.body, g.file, g.start, g.length, {_RAW} FROM attempt a "
            f"JOIN question q ON q.id = a.question JOIN reply r ON r.attempt = a.id {_FILED} "
            "LEFT JOIN archived g ON g.kind = 'question' AND g.id = q.id "
            f"WHERE a.model = ? AND a.outcome IN ({ends}) ORDER BY a.id",
            (model,),
        ):
            yield replicate, archive.text(path, *row[:4]), _raw(path, row[4:])


def answered(path: Path, keys: Iterable[str]) -> set[str]:
    """The subset of `keys` whose questions have a reply."""
    query = (
        f"SELECT 1 FROM question q JOIN attempt a ON a.question = q.id WHERE q.key = ? AND a.outcome IN ({_REPLIES})"
    )
    with _closing(path) as connection:
        return {key for key in keys if connection.execute(query, (key,)).fetchone()}


def ended(path: Path, keys: Iterable[str], outcome: Outcome, times: int) -> set[str]:
    """The subset of `keys` whose questions have at least `times` attempts with this outcome."""
    query = "SELECT count(*) FROM question q JOIN attempt a ON a.question = q.id WHERE q.key = ? AND a.outcome = ?"
    with _closing(path) as connection:
        return {key for key in keys if connection.execute(query, (key, outcome)).fetchone()[0] >= times}


def usage(path: Path, model: str, purpose: str) -> tuple[int, int] | None:
    """Sums of the prompt tokens and of the completion tokens of a model's replies for a purpose; None if the ledger has
    no such counts."""
    with _closing(path) as connection:
        prompt, completion = connection.execute(
            "SELECT sum(prompt_tokens), sum(completion_tokens) FROM attempt WHERE model = ? AND purpose = ?",
            (model, purpose),
        ).fetchone()
    return (prompt, completion) if prompt and completion else None


def served(path: Path, place: str, requested: str) -> tuple[str, str]:
    """Versions that an endpoint reported for the model `requested`: the first version, and the version in the latest
    probe.

    A version is '' if none was reported.
    """
    query = (
        "SELECT served_model FROM attempt a JOIN question q ON q.id = a.question "
        "WHERE q.place = ? AND a.requested_model = ? AND a.served_model != '' {} LIMIT 1"
    )
    with _closing(path) as connection:
        first = connection.execute(query.format("ORDER BY a.id"), (place, requested)).fetchone()
        last = connection.execute(
            query.format("AND purpose = ? ORDER BY a.id DESC"), (place, requested, PROBE)
        ).fetchone()
    return (first or ("",))[0], (last or ("",))[0]


def mark(path: Path) -> Mark | None:
    """The mark that identifies the home; None if the ledger does not exist or has none yet."""
    if not path.exists():
        return None
    with _closing(path) as connection:
        row = connection.execute("SELECT home, epoch, TRUE FROM identity").fetchone()
        return Mark(*row) if row else None


def set_mark(path: Path, mark: Mark) -> None:
    """Replace the mark that identifies the home."""
    with _closing(path) as connection, transaction(connection):
        connection.execute("DELETE FROM identity")
        connection.execute("INSERT INTO identity VALUES (?, ?)", (mark.home, mark.epoch))


def compact(path: Path, before: datetime, fewest: int = archive.FEWEST) -> int:
    """Move replies that arrived before `before`, and their requests, to compressed files; return the number of replies.

    A file gets at least `fewest` replies. The ledger's own file shrinks if half of it is free.
    """
    if not path.exists():
        return 0
    total, moved = 0, 1
    with _closing(path) as connection:
        while moved:
            with transaction(connection):
                moved = archive.move(connection, path, before.timestamp(), fewest)
            total += moved
    if total:
        sqlite_files.compact(path)
    return total


def archived(path: Path) -> list[Path]:
    """The compressed files to which a ledger refers."""
    if not path.exists():
        return []
    with _closing(path) as connection:
        return archive.files(connection, path)


def state(path: Path) -> str:
    """Return a string that changes whenever an attempt is added or settled, or a cost is corrected."""
    counts = "SELECT count(*), count(outcome), (SELECT count(*) FROM correction) FROM attempt"
    with _closing(path) as connection:
        return str(connection.execute(counts).fetchone())


def _compressed(content: bytes) -> bytes:
    """Compress content, in a zlib window no longer than the content: clearing 32 KB would take most of the time."""
    return zlib.compress(content, 1, wbits=min(max(len(content).bit_length(), 9), 15))


def _raw(path: Path, row: Sequence[Any]) -> Raw:
    """Make a reply from its columns _RAW."""
    status, headers, broken, *place = row
    return Raw(status, json.loads(headers), archive.text(path, *place), broken)


def _reserve(connection: sqlite3.Connection, name: str, worst: int, cap: float | None) -> None:
    if cap is None:
        return
    row = connection.execute("SELECT paid + uncertain, reserved FROM account WHERE name = ?", (name,)).fetchone()
    spent, reserved = row or (0, 0)
    if spent + worst > cap * NANO:
        raise OverBudgetError(
            f"the budget of {name} is {cap:g} dollars; {spent / NANO:.4f} are spent or uncertain, "
            f"and this call may cost {worst / NANO:.4f}",
            name.removeprefix("model ") if name.startswith("model ") else "",
        )
    if spent + reserved + worst > cap * NANO:
        raise InFlightError


def _settle(connection: sqlite3.Connection, attempt: int, reading: Reading) -> None:
    """Record the reading of a reply, and move the reserved cost to paid, or to uncertain if the cost is unknown."""
    price, worst = connection.execute("SELECT price, reserved FROM attempt WHERE id = ?", (attempt,)).fetchone()
    reported = None
    priced = 0 if price and not worst else None  # a free model costs nothing, even if it reports no tokens
    if price and reading.prompt_tokens is not None and reading.completion_tokens is not None:
        priced = Price.model_validate_json(price).cost(
            reading.prompt_tokens, reading.completion_tokens, reading.cached_tokens or 0
        )
    if reading.cost is not None:
        reported = round(reading.cost * NANO)
    if worst and (priced or 0) > INCREDIBLE * worst:
        priced = None  # the token counts stay in the accounts
    cost = reported if reported is not None else priced
    worked = reading.policy in (Policy.USE, Policy.RETRY) or reading.outcome is Outcome.OVERSIZED
    if cost is None and not worked:
        cost = 0  # other calls without usage have an unknown cost
    row = connection.execute(
        "UPDATE attempt SET outcome = ?, detail = ?, finish = ?, served_model = ?, served_provider = ?, "
        "prompt_tokens = ?, cached_tokens = ?, completion_tokens = ?, reasoning_tokens = ?, reported_cost = ?, "
        f"priced_cost = ?, cost = ?, system_fingerprint = ? WHERE id = ? RETURNING {MONEY}",
        (
            reading.outcome, reading.detail[:2000], reading.finish, reading.served_model, reading.served_provider,
            reading.prompt_tokens, reading.cached_tokens, reading.completion_tokens, reading.reasoning_tokens, reported,
            priced, cost, reading.system_fingerprint, attempt,
        ),
    ).fetchone()  # fmt: skip
    _move_money(connection, row)


def _close(connection: sqlite3.Connection, which: str, value: int | str) -> int:
    """Close open attempts that have no caller: settle those with a stored reply, and mark the rest as uncertain.

    `which` is an SQL condition on `attempt` with one placeholder, for `value`. Return the number of uncertain attempts.
    """
    received = connection.execute(
        "SELECT id, status, headers, broken, body FROM attempt JOIN reply ON attempt = id "
        f"WHERE {which} AND outcome IS NULL",
        (value,),
    ).fetchall()
    for attempt, status, headers, broken, body in received:
        try:
            _settle(connection, attempt, read(Raw(status, json.loads(headers), zlib.decompress(body), broken)))
        except sqlite3.Error:
            raise
        except Exception as error:  # one unreadable reply must not block all sessions
            _settle(connection, attempt, Reading(Outcome.UNREADABLE, detail=type(error).__name__))
    lost = connection.execute(
        "UPDATE attempt SET outcome = ?, cost = CASE WHEN price IS NOT NULL AND reserved = 0 THEN 0 END "
        f"WHERE {which} AND outcome IS NULL RETURNING {MONEY}",
        (UNCERTAIN, value),
    ).fetchall()
    for row in lost:
        _move_money(connection, row)
    return len(lost)


MONEY = "reserved, cost, 'run ' || run, 'day ' || date(asked, 'unixepoch'), 'model ' || model"
"""Columns of an attempt: its worst case, its cost, and the names of its accounts."""


def _move_money(connection: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    """Update the accounts for a closed attempt. `row` has the columns MONEY."""
    reserved, cost, *accounts = row
    paid, uncertain = (0, reserved) if cost is None else (cost, 0)
    connection.execute(
        "UPDATE account SET reserved = reserved - ?, paid = paid + ?, uncertain = uncertain + ? "
        "WHERE name IN (?, ?, ?)",
        (reserved, paid, uncertain, *accounts),
    )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Hold the write lock of a ledger, and commit all changes at the end, or none after an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


@contextmanager
def _closing(path: Path) -> Iterator[sqlite3.Connection]:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = connect(path)
    try:
        with _damage_named(path):
            yield connection
    finally:
        connection.close()


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Raise BadInput in place of SQLite's errors about a damaged file and zlib's errors about damaged texts."""
    try:
        yield
    except (sqlite3.DatabaseError, zlib.error) as error:
        if isinstance(error, sqlite3.OperationalError | sqlite3.IntegrityError):
            raise
        raise _unusable(path, error) from error


def _unusable(path: Path, error: sqlite3.Error | zlib.error) -> BadInput:
    if isinstance(error, sqlite3.OperationalError):  # such as a full disk
        return BadInput(path, "", f"cannot be used as a ledger ({error})", "free space or make the folder writable")
    return BadInput(path, "", f"is damaged ({error})", SALVAGE)
