"""The ledger: every attempt before it is sent, every reply before it is read, and what all of it cost.

The promise: no completed reply is ever lost or asked for twice; what was in flight at a crash is listed as uncertain
and asked again. Here: everything that knows this SQLite file, its transactions, its sessions and its accounts. Not
here: what a reply means (reading), when to ask (client).
"""

import asyncio
import fcntl
import json
import logging
import os
import sqlite3
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from resources.errors import BadInput
from resources.provider.question import Question
from resources.provider.reading import POLICY, REPLIES, Outcome, Policy, Raw, Reading, read
from resources.provider.registry import NANO, Budget, Price

logger = logging.getLogger("variorum.ledger")

SCHEMA = Path(__file__).with_name("ledger.sql")

BUSY = 60
"""Seconds for which others may hold the file."""

BALLAST = 8 << 20
"""Bytes that are set aside and given up when the disk is full, so that replies under way can still be stored."""

PATIENCE = 600
"""Seconds for which replies are kept in memory while they cannot be stored."""

UNCERTAIN = "uncertain"
"""Outcome of an attempt whose process ended before a reply was stored."""

PROBE = "probe"
"""Purpose of questions that only ask which version of a model answers."""

_REPLIES = ", ".join(f"'{outcome}'" for outcome in REPLIES)

_REPLY_TO = (
    "SELECT r.status, r.headers, r.body, r.broken FROM attempt a JOIN reply r ON r.attempt = a.id "
    f"WHERE a.question = ? AND a.outcome IN ({_REPLIES}) ORDER BY a.id LIMIT 1"
)
_TAKEN = f"SELECT 1 FROM attempt WHERE question = ? AND (outcome IS NULL OR outcome IN ({_REPLIES}))"


class Refusal(Exception):  # noqa: N818 - not an error: the question may be asked later, or was answered meanwhile
    """The ledger does not let a question be sent now."""


class InFlightError(Refusal):
    """Somebody else is asking it, or the money that is left is reserved by calls in flight."""


class OverBudgetError(Refusal):
    """It would exceed a cap: that of `model`, or of all where this is ''."""

    def __init__(self, reason: str, model: str) -> None:
        super().__init__(reason)
        self.model = model


class UnwritableError(BadInput):
    """Nothing can be stored any more, so nothing may be asked."""


@dataclass
class _Write:
    """One change, carried out in the next transaction; `paid` ones are repeated until they are stored."""

    change: Callable[[sqlite3.Connection], Any]
    done: "asyncio.Future[Any] | None"  # None where nobody waits
    paid: bool
    undo: Callable[[Any], None] | None = None  # for one that was carried out after who waited was cancelled

    def end(self, result: Any) -> None:
        """Tell who waits, unless they were cancelled: what is under way is carried out nevertheless."""
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
    """One process's session with the ledger, for use within one event loop. Several sessions can share the file.

    Parameters
    ----------
    path
        The SQLite file; it is made where there is none.
    run
        Name of the run that pays.
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
        """Open the file, take the lock that shows this process alive, and settle what dead ones left."""
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
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Commits wait for the disk; the event loop does not.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        with _transaction(self._connection) as connection:
            connection.execute("INSERT INTO session VALUES (?, ?, ?)", (self._session, self._run, time.time()))
            self._settle_the_dead(connection)
        self._connection.execute("PRAGMA busy_timeout = 1000")  # from here on it is the event loop that would wait
        return self

    def __exit__(self, *_: object) -> None:
        """Close; what is still in flight becomes uncertain."""
        self._thread.shutdown()
        with suppress(sqlite3.Error), _transaction(self._connection) as connection:
            _close(connection, "session = ?", self._session)
        self._connection.close()
        self._reader.close()
        (self._locks / self._session).unlink(missing_ok=True)
        os.close(self._lock)

    def find(self, key: str) -> Raw | None:
        """The reply to a question, if there is one."""
        # Most questions are new, and this is asked before each: the short way out comes first.
        question = self._reader.execute("SELECT id FROM question WHERE key = ?", (key,)).fetchone()
        row = question and self._reader.execute(_REPLY_TO, question).fetchone()
        return _raw(row) if row else None

    async def claim(self, question: Question) -> int:
        """Write an attempt, reserve its worst case, and return its id: from now on the question may be sent.

        Raises
        ------
        InFlightError
            Ask `find` and `claim` again later.
        OverBudgetError
            The worst case does not fit under a cap.
        UnwritableError
            The ledger cannot be written.
        """
        if self._full:
            raise self._full
        now = time.time()
        attempt: int = await self._write(
            lambda connection: self._claim(connection, question, now), paid=False, undo=self.abandon
        )
        return attempt

    async def receive(self, attempt: int, raw: Raw) -> None:
        """Store what came back. When this returns, it is on the disk."""
        row = (
            attempt, time.time(), raw.status, json.dumps(dict(raw.headers)), zlib.compress(raw.body, 1), raw.broken,
        )  # fmt: skip
        insert = "INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?)"
        await self._write(lambda connection: connection.execute(insert, row), paid=True)

    def settle(self, attempt: int, reading: Reading) -> None:
        """Note what a stored reply says and move its money from reserved to paid; done with the next transaction.

        Should the process end before, the next session reads the stored reply again.
        """
        self._queue(_Write(lambda connection: _settle(connection, attempt, reading), None, paid=True))

    async def drained(self) -> None:
        """Wait until everything that was queued is stored."""
        while self._flush:
            await asyncio.shield(self._flush)

    def abandon(self, attempt: int) -> None:
        """Close an attempt for whose reply nobody waits any more; unless it is stored already, it is uncertain."""
        self._queue(_Write(lambda connection: _close(connection, "id = ?", attempt), None, paid=True))

    async def settle_the_dead(self) -> None:
        """Close the attempts of sessions whose process is gone: replies are read, the rest becomes uncertain."""
        await self._write(self._settle_the_dead, paid=False)

    def _settle_the_dead(self, connection: sqlite3.Connection) -> None:
        for (session,) in connection.execute("SELECT DISTINCT session FROM attempt WHERE outcome IS NULL").fetchall():
            if session != self._session and self._is_dead(session):
                lost = _close(connection, "session = ?", session)
                logger.warning("%d calls were in flight when a run ended; they are asked again", lost)

    def _is_dead(self, session: str) -> bool:
        try:
            lock = os.open(self._locks / session, os.O_RDWR)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
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
        asked = row[0] if row else None
        if asked is None:
            asked = connection.execute(
                "INSERT INTO question (key, place, replicate, body) VALUES (?, ?, ?, ?)",
                (question.key, model.place, question.replicate, zlib.compress(question.canonical, 1)),
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
                asked,
                self._session,
                self._run,
                model.name,
                model.settings.id,
                question.purpose,
                model.settings.effort,
                price,
                now,
                worst,
            ),
        ).lastrowid
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
        """Carry out what is queued, all that has come together in one transaction, until nothing is left."""
        try:
            while self._writes:
                await asyncio.sleep(0)  # what other tasks have to write in this turn goes along
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
                    logger.warning("%s: another process holds it; trying again", self._path)
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
                except Exception as error:  # raised before anything was changed: its own matter
                    results.append(error)
            await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.execute, "COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        return results

    def _only_paid(self, writes: list[_Write]) -> list[_Write]:
        """Refuse what is not paid yet."""
        for write in writes:
            if not write.paid:
                write.end(self._full)
        return [write for write in writes if write.paid]

    async def _make_room(self, paid: list[_Write]) -> list[_Write]:
        """Give up the ballast, then wait for somebody to free space; return what is still worth storing."""
        ballast = self._ballast()
        if ballast.exists():
            ballast.unlink(missing_ok=True)
        elif time.monotonic() < self._give_up:
            await asyncio.sleep(1)
        if not self._give_up:
            self._give_up = time.monotonic() + PATIENCE
            logger.error("%s; replies under way use the space set aside, or wait for more in memory", self._full)
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
            ballast.write_bytes(os.urandom(BALLAST))  # what cannot be compressed takes its space everywhere
        except OSError as error:
            ballast.unlink(missing_ok=True)
            raise UnwritableError(
                self._path, "", f"no room beside it ({error.strerror})", f"free at least {2 * BALLAST >> 20} MB"
            ) from error


def connect(path: Path) -> sqlite3.Connection:
    """Open a ledger. A commit is on the disk when it returns.

    Raises
    ------
    BadInput
        Where the file is no ledger.
    """
    try:
        connection = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")
        columns = [row[1] for row in connection.execute("PRAGMA table_info(attempt)")]
        if columns and "requested_model" not in columns:  # written before there was this column
            connection.execute("ALTER TABLE attempt ADD COLUMN requested_model TEXT")
        connection.executescript(SCHEMA.read_text(encoding="utf-8"))
    except sqlite3.Error as error:
        raise BadInput(
            path, "", f"cannot be used as a ledger ({error})", "move the file away, or free space"
        ) from error
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log. There alone SQLite waits for nobody: a file that two make at once is busy for
    one of them."""
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
    """Every attempt with its status and times, one row each, oldest first; money in US dollars, times in UTC."""
    with _closing(path) as connection:
        cursor = connection.execute(
            "SELECT a.*, q.key, q.place, q.replicate, r.status, r.received "
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
    """Replicate, request body (JSON) and raw reply of every question of a model that came to an end, in their order.

    An end is a reply, or an error that asking again would not change.
    """
    ends = ", ".join(f"'{outcome}'" for outcome, policy in POLICY.items() if policy in (Policy.USE, Policy.FAIL))
    with _closing(path) as connection:
        for replicate, body, *raw in connection.execute(
            "SELECT q.replicate, q.body, r.status, r.headers, r.body, r.broken FROM attempt a "
            "JOIN question q ON q.id = a.question JOIN reply r ON r.attempt = a.id "
            f"WHERE a.model = ? AND a.outcome IN ({ends}) ORDER BY a.id",
            (model,),
        ):
            yield replicate, zlib.decompress(body), _raw(tuple(raw))


def answered(path: Path, keys: Iterable[str]) -> set[str]:
    """Those of the questions that have a reply."""
    query = (
        f"SELECT 1 FROM question q JOIN attempt a ON a.question = q.id WHERE q.key = ? AND a.outcome IN ({_REPLIES})"
    )
    with _closing(path) as connection:
        return {key for key in keys if connection.execute(query, (key,)).fetchone()}


def ended(path: Path, keys: Iterable[str], outcome: Outcome, times: int) -> set[str]:
    """Those of the questions that ended with this outcome so many times or more; it is none of a reply."""
    query = "SELECT count(*) FROM question q JOIN attempt a ON a.question = q.id WHERE q.key = ? AND a.outcome = ?"
    with _closing(path) as connection:
        return {key for key in keys if connection.execute(query, (key, outcome)).fetchone()[0] >= times}


def usage(path: Path, model: str, purpose: str) -> tuple[int, int] | None:
    """Prompt and completion tokens of all replies of a model for a purpose, None before the first."""
    with _closing(path) as connection:
        prompt, completion = connection.execute(
            "SELECT sum(prompt_tokens), sum(completion_tokens) FROM attempt WHERE model = ? AND purpose = ?",
            (model, purpose),
        ).fetchone()
    return (prompt, completion) if prompt and completion else None


def served(path: Path, place: str, requested: str) -> tuple[str, str]:
    """Versions that an endpoint served of what it calls `requested`: in its first reply, and in the latest to a PROBE.

    Either is '' where no reply said so.
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


def state(path: Path) -> str:
    """Changes whenever an attempt is added or settled."""
    with _closing(path) as connection:
        return str(connection.execute("SELECT count(*), count(outcome) FROM attempt").fetchone())


def _raw(row: tuple[Any, ...]) -> Raw:
    status, headers, body, broken = row
    return Raw(status, json.loads(headers), zlib.decompress(body), broken)


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
    """Note what a reply says, and move its worst case from reserved to paid, or to uncertain where nobody knows."""
    (price,) = connection.execute("SELECT price FROM attempt WHERE id = ?", (attempt,)).fetchone()
    priced = reported = None
    if price and reading.prompt_tokens is not None and reading.completion_tokens is not None:
        priced = Price.model_validate_json(price).cost(
            reading.prompt_tokens, reading.completion_tokens, reading.cached_tokens or 0
        )
    if reading.cost is not None:
        reported = round(reading.cost * NANO)
    cost = reported if reported is not None else priced
    if cost is None and reading.policy not in (Policy.USE, Policy.RETRY):
        cost = 0  # nothing was done; of all other calls that say nothing, nobody knows
    row = connection.execute(
        "UPDATE attempt SET outcome = ?, detail = ?, finish = ?, served_model = ?, served_provider = ?, "
        "prompt_tokens = ?, cached_tokens = ?, completion_tokens = ?, reasoning_tokens = ?, reported_cost = ?, "
        f"priced_cost = ?, cost = ? WHERE id = ? RETURNING {_MONEY}",
        (
            reading.outcome, reading.detail[:2000], reading.finish, reading.served_model, reading.served_provider,
            reading.prompt_tokens, reading.cached_tokens, reading.completion_tokens, reading.reasoning_tokens, reported,
            priced, cost, attempt,
        ),
    ).fetchone()  # fmt: skip
    _move_money(connection, row)


def _close(connection: sqlite3.Connection, which: str, value: int | str) -> int:
    """Close attempts that nobody waits for: a reply that was stored is read, the rest is uncertain; how many these are.

    `which` picks them by the columns of `attempt`.
    """
    received = connection.execute(
        "SELECT id, status, headers, body, broken FROM attempt JOIN reply ON attempt = id "
        f"WHERE {which} AND outcome IS NULL",
        (value,),
    ).fetchall()
    for attempt, *raw in received:
        try:
            _settle(connection, attempt, read(_raw(tuple(raw))))
        except sqlite3.Error:
            raise
        except Exception as error:  # one reply must not lock everybody out
            _settle(connection, attempt, Reading(Outcome.UNREADABLE, detail=type(error).__name__))
    lost = connection.execute(
        f"UPDATE attempt SET outcome = ? WHERE {which} AND outcome IS NULL RETURNING {_MONEY}", (UNCERTAIN, value)
    ).fetchall()
    for row in lost:
        _move_money(connection, row)
    return len(lost)


_MONEY = "reserved, cost, 'run ' || run, 'day ' || date(asked, 'unixepoch'), 'model ' || model"


def _move_money(connection: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    """Account for a settled attempt, given as _MONEY."""
    reserved, cost, *accounts = row
    paid, uncertain = (0, reserved) if cost is None else (cost, 0)
    connection.execute(
        "UPDATE account SET reserved = reserved - ?, paid = paid + ?, uncertain = uncertain + ? "
        "WHERE name IN (?, ?, ?)",
        (reserved, paid, uncertain, *accounts),
    )


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
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
        yield connection
    finally:
        connection.close()
