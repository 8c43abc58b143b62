"""The ledger of one machine: an SQLite file, with compressed files of old texts beside it.

Here: the file, its transactions, sessions that are alive while a file is locked, reserved disk space. Not here: what
both ledgers share (ledger), the files of old texts (archive).
"""

import asyncio
import json
import os
import sqlite3
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Self

from resources import locks, sqlite_files
from resources.errors import BadInput, DamagedError
from resources.provider import archive
from resources.provider.archive import FEWEST
from resources.provider.ledger import (
    ENDED,
    FINISHED,
    PATIENCE,
    UNCERTAIN,
    Abandon,
    Change,
    Claim,
    InFlightError,
    Ledger,
    Receive,
    Session,
    Settle,
    SettleTheDead,
    Stand,
    Standing,
    UnwritableError,
    Write,
    compressed,
    headers,
    logger,
    money,
    over_budget,
    settlement,
    standing,
)  # fmt: skip
from resources.provider.question import Question
from resources.provider.reading import Outcome, Raw, Reading, read
from resources.provider.registry import NANO, Budget

SCHEMA = Path(__file__).with_name("ledger.sql")

VERSION = 1
"""Version of the tables, stored as `user_version`. It is raised with changes that earlier programs cannot handle."""

BUSY = 60
"""Seconds to wait for another process that has locked the file."""

BALLAST = 8 << 20
"""Bytes reserved on disk. They are released when the disk is full, so that replies in flight can still be stored."""

SALVAGE = "merge it with a backup by `variorum restore FOLDER`, or salvage what can be read with `variorum rebuild`"

_RAW = "r.status, r.headers, r.broken, r.body, f.file, f.start, f.length"
_FILED = "LEFT JOIN archived f ON f.kind = 'reply' AND f.id = r.attempt"

_REPLY_TO = (
    f"SELECT {_RAW} FROM attempt a JOIN reply r ON r.attempt = a.id {_FILED} "
    f"WHERE a.question = ? AND a.outcome IN ({ENDED}) ORDER BY a.id LIMIT 1"
)
_TAKEN = f"SELECT 1 FROM attempt WHERE question = ? AND (outcome IS NULL OR outcome IN ({ENDED}))"


_DAY = "'day ' || date(asked, 'unixepoch')"

_MONEY = money(_DAY)


class SqliteLedger(Ledger):
    """A ledger in an SQLite file, which is created when it is first used."""

    day = _DAY

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def place(self) -> str:
        """The file's path."""
        return str(self.path)

    def exists(self) -> bool:
        """Whether the file exists."""
        return self.path.exists()

    def session(self, run: str, budget: Budget) -> Session:
        """A session that is alive while it holds the lock on a file."""
        return SqliteSession(self.path, run, budget)

    def replies(self, model: str) -> Iterator[tuple[int, bytes, Raw]]:
        """The finished questions to a model, with texts from the compressed files."""
        with self.reading() as connection:
            for replicate, *row in connection.execute(
                f"SELECT q.replicate, q.body, g.file, g.start, g.length, {_RAW} FROM attempt a "
                f"JOIN question q ON q.id = a.question JOIN reply r ON r.attempt = a.id {_FILED} "
                "LEFT JOIN archived g ON g.kind = 'question' AND g.id = q.id "
                f"WHERE a.model = ? AND a.outcome IN ({FINISHED}) AND (q.body <> x'' OR g.file IS NOT NULL) "
                "ORDER BY a.id",
                (model,),
            ):
                yield replicate, archive.text(self.path, *row[:4]), _raw(self.path, row[4:])

    def compact(self, before: datetime, fewest: int = FEWEST) -> int:
        """Move old texts to compressed files. The ledger's own file shrinks if half of it is free."""
        if not self.exists():
            return 0
        total, moved = 0, 1
        with self.reading() as connection:
            while moved:
                with transaction(connection):
                    moved = archive.move(connection, self.path, before.timestamp(), fewest)
                total += moved
        if total:
            sqlite_files.compact(self.path)
        return total

    def archived(self) -> list[Path]:
        """The compressed files to which the ledger refers."""
        if not self.exists():
            return []
        with self.reading() as connection:
            return archive.files(connection, self.path)

    def is_in_use(self) -> bool:
        """Whether a session of any process is open."""
        for file in self.path.with_name(f"{self.path.name}.sessions").glob("*"):
            with suppress(FileNotFoundError), file.open("r+") as lock:
                if not locks.tried(lock):
                    return True
        return False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection; damage that it meets is named."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = connect(self.path)
        try:
            with _damage_named(self.path):
                yield connection
        finally:
            connection.close()

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A connection that holds the write lock."""
        with self.reading() as connection, transaction(connection):
            yield connection


class SqliteSession(Session):
    """A session with an SQLite ledger. Parameters as for `Ledger.session`."""

    def __init__(self, path: Path, run: str, budget: Budget) -> None:
        super().__init__(run)
        self._path, self._budget = path, budget
        self._session = uuid.uuid4().hex
        self._give_up = 0.0

    def __enter__(self) -> Self:
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
        self._lock = os.open(self._locks / self._session, os.O_CREAT | os.O_RDWR, 0o666)
        locks.exclusive(self._lock)
        # Commits wait for the disk, so they run in a thread outside the event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        try:
            with _damage_named(self._path), transaction(self._connection) as connection:
                connection.execute("INSERT INTO session VALUES (?, ?, ?)", (self._session, self.run, time.time()))
                self._settle_the_dead(connection)
        except BaseException:
            self._leave()
            raise
        self._connection.execute(
            "PRAGMA busy_timeout = 1000"
        )  # short, because the event loop would be blocked from now on
        return self

    def __exit__(self, *_: object) -> None:
        """Close the session. Attempts still in flight become uncertain."""
        self._thread.shutdown()
        with suppress(sqlite3.Error), transaction(self._connection) as connection:
            _close(connection, "session = ?", self._session)
        self._leave()

    def _leave(self) -> None:
        self._thread.shutdown()
        self._connection.close()
        self._reader.close()
        (self._locks / self._session).unlink(missing_ok=True)
        os.close(self._lock)

    async def find(self, key: str) -> Raw | None:
        """Return the stored reply to a question, given its key; None if there is none."""
        # This is called before every question, and most questions are new, so the quick look-up comes first.
        with _damage_named(self._path):
            question = self._reader.execute("SELECT id FROM question WHERE key = ?", (key,)).fetchone()
            row = question and self._reader.execute(_REPLY_TO, question).fetchone()
            return _raw(self._path, row) if row else None

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

    def _carry_out(self, change: Change) -> int | Standing | None:
        connection = self._connection
        match change:
            case Claim(question, asked):
                return self._claim(connection, question, asked)
            case Stand(model, purpose):
                return standing(connection, model, purpose)
            case Receive(attempt, received, raw, body):
                row = attempt, received, raw.status, headers(raw), body, raw.broken
                connection.execute("INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?)", row)
            case Settle(attempt, reading):
                _settle(connection, attempt, reading)
            case Abandon(attempt):
                _close(connection, "id = ?", attempt)
            case SettleTheDead():
                self._settle_the_dead(connection)
        return None

    def _claim(self, connection: sqlite3.Connection, question: Question, now: float) -> int:
        model = question.model
        row = connection.execute("SELECT id FROM question WHERE key = ?", (question.key,)).fetchone()
        if row and connection.execute(_TAKEN, row).fetchone():
            raise InFlightError
        worst = question.worst_case or 0
        accounts = f"run {self.run}", f"day {datetime.fromtimestamp(now, UTC):%Y-%m-%d}", f"model {model.name}"
        caps = self._budget.run, self._budget.day, model.settings.budget
        for name, cap in zip(accounts, caps, strict=True):
            _reserve(connection, name, worst, cap)
        question_id = row[0] if row else None
        if question_id is None:
            question_id = connection.execute(
                "INSERT INTO question (key, place, replicate, body) VALUES (?, ?, ?, ?)",
                (question.key, model.place, question.replicate, compressed(question.canonical)),
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
                question_id, self._session, self.run, model.name, model.settings.id, question.purpose,
                model.settings.effort, price, now, worst,
            ),
        ).lastrowid  # fmt: skip
        assert attempt is not None
        return attempt

    async def _commit(self, writes: list[Write]) -> None:
        if self._unwritable:
            writes = self._only_paid(writes)
        while writes:
            try:
                results = await self._transact(writes)
            except sqlite3.Error as error:
                if _is_damage(error):
                    self._unwritable = UnwritableError(self._path, "", f"is damaged ({error})", SALVAGE)
                    for write in self._only_paid(writes):
                        if len(writes) > 1:  # the reply of another call may belong on the damaged page
                            await self._commit([write])
                        else:
                            self._end(write, self._unwritable)
                    return
                if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                    logger.warning("%s: locked by another process; trying again", self._path)
                    await asyncio.sleep(1)
                    continue
                self._unwritable = UnwritableError(
                    self._path, "", f"cannot be written ({error})", "free space on its disk, then run again"
                )
                writes = await self._make_room(self._only_paid(writes))
            else:
                for write, result in zip(writes, results, strict=True):
                    self._end(write, result)
                return

    async def _transact(self, writes: list[Write]) -> list[Any]:
        results: list[Any] = []
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for write in writes:
                try:
                    results.append(self._carry_out(write.change))
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

    def _only_paid(self, writes: list[Write]) -> list[Write]:
        """Fail the changes that do not concern paid calls, and return the rest."""
        for write in writes:
            if not write.paid:
                self._end(write, self._unwritable)
        return [write for write in writes if write.paid]

    async def _make_room(self, paid: list[Write]) -> list[Write]:
        """Delete the ballast (reserved space); if it was deleted before, wait for one second. Return the changes to
        retry: none after PATIENCE seconds."""
        ballast = self._ballast()
        if ballast.exists():
            ballast.unlink(missing_ok=True)
        elif time.monotonic() < self._give_up:
            await asyncio.sleep(1)
        if not self._give_up:
            self._give_up = time.monotonic() + PATIENCE
            logger.error("%s; replies in flight are stored in the reserved space, or kept in memory", self._unwritable)
        if time.monotonic() < self._give_up:
            return paid
        for write in paid:
            self._end(write, self._unwritable)
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
        If the file cannot be opened as a ledger, or is newer than this program.
    """
    try:
        connection = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            connection.close()
            problem = f"has version {version}, but this program knows versions up to {VERSION}"
            raise BadInput(path, "", problem, "use the version of Variorum that wrote it, or a later one")
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # on macOS, as in `locks.flush`
        columns = [row[1] for row in connection.execute("PRAGMA table_info(attempt)")]
        for name in ("requested_model", "system_fingerprint"):  # a ledger that is older than these columns
            if columns and name not in columns:
                connection.execute(f"ALTER TABLE attempt ADD COLUMN {name} TEXT")
        present = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if version < VERSION or (version == VERSION and not _declared() <= present):
            connection.executescript(SCHEMA.read_text(encoding="utf-8"))
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    return connection


@cache
def _declared() -> set[str]:
    """Names of the tables and indexes of a ledger. Declaring them again would write, 20 ms each time one looks."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(SCHEMA.read_text(encoding="utf-8"))
        return {name for (name,) in empty.execute("SELECT name FROM sqlite_master")}


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
        raise over_budget(name, cap, spent, worst)
    if spent + reserved + worst > cap * NANO:
        raise InFlightError


def _settle(connection: sqlite3.Connection, attempt: int, reading: Reading) -> None:
    """Record the reading of a reply, and move the reserved cost to paid, or to uncertain if the cost is unknown."""
    price, worst = connection.execute("SELECT price, reserved FROM attempt WHERE id = ?", (attempt,)).fetchone()
    row = connection.execute(
        "UPDATE attempt SET outcome = ?, detail = ?, finish = ?, served_model = ?, served_provider = ?, "
        "prompt_tokens = ?, cached_tokens = ?, completion_tokens = ?, reasoning_tokens = ?, reported_cost = ?, "
        f"priced_cost = ?, cost = ?, system_fingerprint = ? WHERE id = ? RETURNING {_MONEY}",
        (*settlement(reading, price, worst), attempt),
    ).fetchone()
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
    for attempt, status, names, broken, body in received:
        try:
            _settle(connection, attempt, read(Raw(status, json.loads(names), zlib.decompress(body), broken)))
        except sqlite3.Error:
            raise
        except Exception as error:  # one unreadable reply must not block all sessions
            _settle(connection, attempt, Reading(Outcome.UNREADABLE, detail=type(error).__name__))
    lost = connection.execute(
        "UPDATE attempt SET outcome = ?, cost = CASE WHEN price IS NOT NULL AND reserved = 0 THEN 0 END "
        f"WHERE {which} AND outcome IS NULL RETURNING {_MONEY}",
        (UNCERTAIN, value),
    ).fetchall()
    for row in lost:
        _move_money(connection, row)
    return len(lost)


def _move_money(connection: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    """Update the accounts for a closed attempt. `row` has the columns _MONEY."""
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
def _damage_named(path: Path) -> Iterator[None]:
    """Raise BadInput in place of SQLite's errors about a damaged file and zlib's errors about damaged texts."""
    try:
        yield
    except (sqlite3.DatabaseError, zlib.error) as error:
        if not _is_damage(error):
            raise
        raise _unusable(path, error) from error


def _is_damage(error: sqlite3.Error | zlib.error) -> bool:
    """Whether an error shows a damaged file, unlike a full disk or a rule of a table."""
    if isinstance(error, sqlite3.OperationalError):
        return "Could not decode" in str(error) or "malformed" in str(error)
    return not isinstance(error, sqlite3.IntegrityError)


def _unusable(path: Path, error: sqlite3.Error | zlib.error) -> BadInput:
    if not _is_damage(error):
        return BadInput(path, "", f"cannot be used as a ledger ({error})", "free space or make the folder writable")
    return DamagedError(path, "", f"is damaged ({error})", SALVAGE)
