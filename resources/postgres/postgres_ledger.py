"""The ledger of many machines: a PostgreSQL database.

A session is alive while its lease, a time by the server's clock, lies ahead. It takes slices of the caps from the
shared accounts, and spends from them, so that sessions do not wait for each other.

Here: connections, transactions, leases, slices. Not here: what both ledgers share (ledger).
"""

import asyncio
import json
import os
import threading
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, LiteralString, NamedTuple, Self

import psycopg

from resources.errors import BadInput
from resources.postgres.connections import place, words
from resources.provider.archive import FEWEST
from resources.provider.ledger import (
    ENDED,
    FINISHED,
    PATIENCE,
    UNCERTAIN,
    Abandon,
    Claim,
    Find,
    InFlightError,
    Ledger,
    Receive,
    Session,
    Settle,
    Settlement,
    SettleTheDead,
    Stand,
    Statements,
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
from resources.provider.reading import Outcome, Raw, Reading, read
from resources.provider.registry import NANO, Budget

SCHEMA = Path(__file__).with_suffix(".sql")

CHANGES = {2: "ALTER TABLE question ALTER replicate TYPE BIGINT"}
"""Statements by which tables of an earlier version become tables of each later one."""

VERSION = max(CHANGES)
"""Version of the tables. It is raised with every change of them."""

LEASE = 60.0
"""Seconds for which a session counts as alive after it was last heard. It renews its lease three times as often."""

SHARE = 50
"""A session takes at most this fraction of what is left of a cap, unless the calls at hand need more. Smaller slices
are taken more often; larger slices let more money lie idle while other sessions wait."""

AHEAD = 16
"""Without a cap, a session takes this many times what the calls at hand need."""

PAUSE = 0.5
"""Seconds between attempts to connect to a server that cannot be reached."""

CUT = 15
"""Seconds after which a silent connection counts as broken, on both ends. A transaction whose client was cut off then
releases its locks."""

_IMPATIENT = f"""
    SET idle_in_transaction_session_timeout = '{CUT}s';
    SET lock_timeout = '{CUT}s';
"""

_DAY = "'day ' || to_char(to_timestamp(asked) AT TIME ZONE 'UTC', 'YYYY-MM-DD')"

_MONEY = money(_DAY)

_RENEWED = """
    WITH before AS (SELECT id, closed FROM session WHERE id = %s FOR UPDATE)
    UPDATE session SET lease = clock_timestamp() + make_interval(secs => %s), closed = FALSE
    FROM before WHERE session.id = before.id
    RETURNING before.closed, extract(epoch FROM now())::FLOAT8, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')
"""

_FOUND = f"""
    SELECT DISTINCT ON (q.key) q.key, r.status, r.headers, r.broken, r.body
    FROM question q JOIN attempt a ON a.question = q.id JOIN reply r ON r.attempt = a.id
    WHERE q.key = ANY(%s) AND a.outcome IN ({ENDED}) ORDER BY q.key, a.id
"""

_TAKEN = f"""
    SELECT q.key, a.id, a.session, a.claim, a.outcome FROM question q JOIN attempt a ON a.question = q.id
    WHERE q.key = ANY(%s) AND (a.outcome IS NULL OR a.outcome IN ({ENDED}))
"""

# In the order of keys: sessions that ask the same questions wait for each other, and do not deadlock.
_QUESTIONS = """
    INSERT INTO question (key, place, replicate, body)
    SELECT * FROM unnest(%s::TEXT[], %s::TEXT[], %s::BIGINT[], %s::BYTEA[]) AS new (key, place, replicate, body)
    ORDER BY key ON CONFLICT (key) DO NOTHING
"""

_ATTEMPTS = """
    INSERT INTO attempt (question, session, claim, run, model, requested_model, purpose, effort, price, asked, reserved)
    SELECT q.id, %s, claim, %s, model, requested, purpose, effort, price, %s, worst
    FROM unnest(%s::TEXT[], %s::INTEGER[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::BIGINT[])
    AS new (key, claim, model, requested, purpose, effort, price, worst) JOIN question q USING (key) ORDER BY q.id
    ON CONFLICT (question) WHERE outcome IS NULL DO NOTHING RETURNING id, claim
"""

# The insertion waited for transactions that were settling the same questions; only a new query sees what they wrote.
_ANSWERED_MEANWHILE = f"""
    DELETE FROM attempt a WHERE a.id = ANY(%s) AND EXISTS
    (SELECT 1 FROM attempt o WHERE o.question = a.question AND o.outcome IN ({ENDED})) RETURNING claim
"""

_RECEIVED = """
    INSERT INTO reply
    SELECT * FROM unnest(%s::BIGINT[], %s::FLOAT8[], %s::INTEGER[], %s::TEXT[], %s::BYTEA[], %s::TEXT[])
    ON CONFLICT (attempt) DO NOTHING
"""

# A late reply: its session lost its lease, and another session closed the attempt as uncertain. The attempt is opened
# again unless the question was asked again; the condition of the index makes sure that only one attempt is open.
_REOPENED = f"""
    UPDATE attempt a SET outcome = NULL WHERE a.id = ANY(%s) AND a.outcome = '{UNCERTAIN}' AND NOT EXISTS
    (SELECT 1 FROM attempt o WHERE o.question = a.question AND (o.outcome IS NULL OR o.outcome IN ({ENDED})))
    RETURNING {_MONEY}
"""

_SETTLED = f"""
    UPDATE attempt a SET outcome = new.outcome, detail = new.detail, finish = new.finish,
        served_model = new.served_model, served_provider = new.served_provider, prompt_tokens = new.prompt_tokens,
        cached_tokens = new.cached_tokens, completion_tokens = new.completion_tokens,
        reasoning_tokens = new.reasoning_tokens, reported_cost = new.reported_cost, priced_cost = new.priced_cost,
        cost = coalesce((SELECT after FROM correction c WHERE c.attempt = a.id ORDER BY c.id DESC LIMIT 1), new.cost),
        system_fingerprint = new.system_fingerprint
    FROM unnest(%s::BIGINT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::BIGINT[], %s::BIGINT[],
        %s::BIGINT[], %s::BIGINT[], %s::BIGINT[], %s::BIGINT[], %s::BIGINT[], %s::TEXT[])
    AS new (id, outcome, detail, finish, served_model, served_provider, prompt_tokens, cached_tokens, completion_tokens,
        reasoning_tokens, reported_cost, priced_cost, cost, system_fingerprint)
    WHERE a.id = new.id AND a.outcome IS NULL
    RETURNING a.session, a.reserved, a.cost, 'run ' || a.run, {_DAY}, 'model ' || a.model
"""

_DEAD = """
    SELECT id FROM session WHERE NOT closed AND lease < clock_timestamp() AND id <> %s FOR UPDATE SKIP LOCKED
"""

Connection = psycopg.Connection[tuple[Any, ...]]

_KEPT: dict[tuple[int, str], list[Connection]] = {}
"""Connections that are not in use, by process and URL: a forked process must not use those of its parent."""


class _Translated:
    """A connection to PostgreSQL for queries that both databases understand: their placeholder is `?`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def execute(self, query: str, parameters: Sequence[Any] = (), /) -> psycopg.Cursor[tuple[Any, ...]]:
        """Execute a statement; return its cursor."""
        values = [storable(value) for value in parameters]
        return self._connection.execute(query.replace("?", "%s"), values or None)


class PostgresLedger(Ledger):
    """A ledger in the schema `ledger` of a PostgreSQL database. The schema is created, and brought to the present
    version, when the ledger is first used.

    Parameters
    ----------
    url
        URL of the database.
    lease
        Seconds for which a session counts as alive after it was last heard.
    """

    for_update = " FOR UPDATE"
    day = _DAY

    def __init__(self, url: str, lease: float = LEASE) -> None:
        self.url, self.lease = url, lease

    @property
    def place(self) -> str:
        """The database's host and name."""
        return place(self.url)

    def exists(self) -> bool:
        """Whether the database has the schema."""
        with self._connected() as connection:
            return _version(connection) is not None

    def session(self, run: str, budget: Budget) -> Session:
        """A session that is alive while its lease lies ahead."""
        return PostgresSession(self, run, budget)

    def replies(self, model: str) -> Iterator[tuple[int, bytes, Raw]]:
        """The finished questions to a model, read from the server in parts."""
        with self._opened() as connection, connection.transaction(), connection.cursor("replies") as cursor:
            cursor.execute(
                "SELECT q.replicate, q.body, r.status, r.headers, r.broken, r.body FROM attempt a "
                "JOIN question q ON q.id = a.question JOIN reply r ON r.attempt = a.id "
                f"WHERE a.model = %s AND a.outcome IN ({FINISHED}) ORDER BY a.id",
                (model,),
            )
            for replicate, body, *reply in cursor:
                yield replicate, zlib.decompress(body), _raw(*reply)

    def compact(self, before: datetime, fewest: int = FEWEST) -> int:
        """Nothing: files beside the database would be on one machine, and in no copy of the database."""
        return 0

    def archived(self) -> list[Path]:
        """No files."""
        return []

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        """A connection for queries."""
        with self._opened() as connection:
            yield _Translated(connection)

    @contextmanager
    def changing(self) -> Iterator[Statements]:
        """A connection in a transaction."""
        with self._opened() as connection, connection.transaction():
            yield _Translated(connection)

    @contextmanager
    def founded(self) -> Iterator[Connection]:
        """A connection in a transaction that creates the tables, in a database that lacks them."""
        with self._connected() as connection, _alone(connection), connection.transaction():
            connection.execute(SCHEMA.read_bytes())
            yield connection

    def connect(self) -> Connection:
        """Open a connection; create the tables, or bring them to the present version, if necessary.

        Raises
        ------
        psycopg.Error
            If the server cannot be reached, or the database cannot be used.
        BadInput
            If a later version of the program made the tables.
        """
        connection = psycopg.connect(
            self.url, autocommit=True, connect_timeout=CUT, keepalives_idle=5, keepalives_interval=5,
            keepalives_count=2, tcp_user_timeout=1000 * CUT, application_name="variorum ledger",
        )  # fmt: skip
        try:
            connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            connection.execute("SET search_path TO ledger")
            version = _version(connection)
            if version is None or version < VERSION:
                version = _declare(connection)
        except BaseException:
            connection.close()
            raise
        if version > VERSION:
            connection.close()
            problem = f"the ledger has version {version}, but this program knows versions up to {VERSION}"
            raise BadInput(self.place, "", problem, "use the version of Variorum that wrote it, or a later one")
        return connection

    def unusable(self, error: psycopg.Error) -> BadInput:
        """The fault behind an error of the driver."""
        return BadInput(
            self.place, "", f"cannot be used as a ledger ({words(error)})", "start the server, or check the URL"
        )

    @contextmanager
    def _opened(self) -> Iterator[Connection]:
        """A connection that nobody else uses. It is kept: opening one costs the server 5 ms."""
        kept = _KEPT.setdefault((os.getpid(), self.url), [])
        try:
            connection = _living(kept) or self.connect()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            kept.append(connection)
        except psycopg.OperationalError as error:
            raise self.unusable(error) from error

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """A connection to the database, which may lack the tables."""
        try:
            with psycopg.connect(self.url, autocommit=True, connect_timeout=CUT) as connection:
                yield connection
        except psycopg.OperationalError as error:
            raise self.unusable(error) from error


def _living(kept: list[Connection]) -> Connection | None:
    """Take a connection that has not been lost since it was used, to tables of the present version."""
    while kept:
        connection = kept.pop()
        with suppress(psycopg.Error):
            if _one(connection.execute("SELECT number FROM version")) == (VERSION,):
                return connection
        connection.close()
    return None


def _version(connection: Connection) -> int | None:
    """Version of the tables; None if there are none."""
    (exists,) = _one(connection.execute("SELECT to_regclass('ledger.version') IS NOT NULL"))
    return int(_one(connection.execute("SELECT number FROM ledger.version"))[0]) if exists else None


def _declare(connection: Connection) -> int:
    """Create the tables, or bring them to the present version, unless another process was faster; return their
    version."""
    with _alone(connection), connection.transaction():
        version = _version(connection)
        if version is None:
            connection.execute(SCHEMA.read_bytes())
        else:
            for number in range(version + 1, VERSION + 1):
                connection.execute(CHANGES[number])
                connection.execute("UPDATE version SET number = %s", (number,))
    return max(version or 0, VERSION)


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Keep others from creating the tables until the block ends. A connection whose block fails has to be closed.

    The lock is taken before a transaction begins. Within one, PostgreSQL could answer from its cache that there are
    still no tables after it has waited for the process that created them.
    """
    connection.execute("SELECT pg_advisory_lock(hashtext('variorum ledger'))")
    yield
    connection.execute("SELECT pg_advisory_unlock(hashtext('variorum ledger'))")


def _one(cursor: psycopg.Cursor[tuple[Any, ...]]) -> tuple[Any, ...]:
    row = cursor.fetchone()
    assert row is not None
    return row


def storable(value: Any) -> Any:
    """A text without what PostgreSQL cannot store in texts: NUL and lone surrogates become U+FFFD."""
    if not isinstance(value, str):
        return value
    return str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def _columns(rows: Iterable[Sequence[Any]], count: int) -> list[list[Any]]:
    """Rows as arrays for `unnest`."""
    table = [[storable(value) for value in row] for row in rows]
    return [[row[number] for row in table] for number in range(count)]


def _raw(status: int | None, names: str, broken: str, body: bytes) -> Raw:
    return Raw(status, json.loads(names), zlib.decompress(body), broken)


@dataclass
class AccountSlice:
    """What a session holds of an account, in nanodollars."""

    held: int = 0
    reserved: int = 0
    paid: int = 0
    uncertain: int = 0

    @property
    def free(self) -> int:
        """What is left for further calls."""
        return self.held - self.reserved - self.paid - self.uncertain


class Slices:
    """The slices of sessions, within one transaction that has locked the sessions."""

    def __init__(self, connection: Connection, sessions: Sequence[str]) -> None:
        self._connection, self._sessions = connection, list(sessions)
        self._slices: dict[tuple[str, str], AccountSlice] = {}
        self._before: dict[tuple[str, str], tuple[int, ...]] | None = None  # None: not read yet
        self._taken: Counter[str] = Counter()  # from accounts, in this transaction

    def of(self, session: str, account: str) -> AccountSlice:
        """The slice of a session; an empty one is added, and its account if there is none."""
        self._read()
        if (session, account) not in self._slices:
            self._slices[session, account] = AccountSlice()
            self._connection.execute("INSERT INTO account (name) VALUES (%s) ON CONFLICT DO NOTHING", (account,))
        return self._slices[session, account]

    def _read(self) -> None:
        if self._before is not None:
            return
        query = "SELECT session, account, held, reserved, paid, uncertain FROM slice WHERE session = ANY(%s)"
        for session, account, *amounts in self._connection.execute(query, (self._sessions,)):
            self._slices[session, account] = AccountSlice(*amounts)
        self._before = {key: astuple(part) for key, part in self._slices.items()}

    def take(self, session: str, account: str, amount: int) -> None:
        """Move money from an account to a slice, or back if the amount is negative."""
        self.of(session, account).held += amount
        self._taken[account] += amount

    def close(self, session: str, reserved: int, cost: int | None, *accounts: str) -> None:
        """Count an attempt that was closed: as paid, or as uncertain if its cost is unknown."""
        for account in accounts:
            part = self.of(session, account)
            part.reserved -= reserved
            if cost is None:
                part.uncertain += reserved
            else:
                part.paid += cost

    def enlarge(self, session: str, needs: Mapping[str, int], caps: Mapping[str, float | None]) -> None:
        """Take from accounts what slices lack for calls with these worst cases, or what is left, if it is less.

        The account is locked from the look at what is left until the transaction ends, so no cap is exceeded.
        """
        lacks = {account: need - self.of(session, account).free for account, need in needs.items()}
        short = [account for account, lack in lacks.items() if lack > 0]
        if not short:
            return
        query = "SELECT name, paid + uncertain + reserved FROM account WHERE name = ANY(%s) ORDER BY name FOR UPDATE"
        for account, used in self._connection.execute(query, (short,)).fetchall():
            lack, cap = lacks[account], caps[account]
            if cap is None:
                self.take(session, account, AHEAD * lack)
            else:
                left = max(int(cap * NANO) - used - self._taken[account], 0)
                self.take(session, account, min(max(lack, left // SHARE), left))

    def give_back(self) -> None:
        """Return unspent money to the accounts."""
        self._read()
        for (session, account), part in self._slices.items():
            if part.free > 0:
                self.take(session, account, -part.free)

    def spent(self, session: str, account: str) -> int:
        """What all sessions together have paid or may have paid from an account."""
        (elsewhere,) = _one(self._connection.execute(
            "SELECT (a.paid + a.uncertain + coalesce((SELECT sum(s.paid + s.uncertain) FROM slice s "
            "WHERE s.account = a.name AND s.session <> %s), 0))::BIGINT FROM account a WHERE a.name = %s",
            (session, account),
        ))  # fmt: skip
        own = self.of(session, account)
        return int(elsewhere) + own.paid + own.uncertain

    def write(self) -> None:
        """Write all slices, and what was taken from accounts."""
        before = self._before or {}
        parts = {key: astuple(part) for key, part in self._slices.items()}
        rows = [(*key, *part) for key, part in parts.items() if part != before.get(key)]
        if not rows:
            return
        self._connection.execute(
            "INSERT INTO slice SELECT * FROM unnest(%s::TEXT[], %s::TEXT[], %s::BIGINT[], %s::BIGINT[], %s::BIGINT[], "
            "%s::BIGINT[]) ON CONFLICT (session, account) DO UPDATE SET held = excluded.held, "
            "reserved = excluded.reserved, paid = excluded.paid, uncertain = excluded.uncertain",
            _columns(rows, 6),
        )
        taken = {account: amount for account, amount in self._taken.items() if amount}
        _add(self._connection, {account: (0, amount, 0) for account, amount in taken.items()})

    def fold(self) -> None:
        """Return all slices to their accounts: what was spent is booked there, and the rest is free again."""
        self._read()
        sums: dict[str, tuple[int, int, int]] = {}
        for (_, account), part in self._slices.items():
            paid, reserved, uncertain = sums.get(account, (0, 0, 0))
            sums[account] = paid + part.paid, reserved - part.held, uncertain + part.uncertain
        _add(self._connection, sums)
        self._connection.execute("DELETE FROM slice WHERE session = ANY(%s)", (self._sessions,))


def _add(connection: Connection, sums: Mapping[str, tuple[int, int, int]]) -> None:
    """Add amounts (paid, reserved, uncertain) to accounts, in the order of their names, which prevents deadlocks."""
    if not sums:
        return
    connection.execute("SELECT 1 FROM account WHERE name = ANY(%s) ORDER BY name FOR UPDATE", (list(sums),))
    connection.execute(
        "UPDATE account a SET paid = a.paid + n.paid, reserved = a.reserved + n.reserved, "
        "uncertain = a.uncertain + n.uncertain "
        "FROM unnest(%s::TEXT[], %s::BIGINT[], %s::BIGINT[], %s::BIGINT[]) AS n (name, paid, reserved, uncertain) "
        "WHERE a.name = n.name",
        _columns(((name, *amounts) for name, amounts in sums.items()), 4),
    )


class _Charge(NamedTuple):
    """The price (JSON) and worst case (nanodollars) of an attempt."""

    price: str | None
    worst: int


class _Wish(NamedTuple):
    """A claim that may be granted: its number, its charge, and the caps of its accounts in US dollars."""

    number: int
    claim: Claim
    charge: _Charge
    caps: Mapping[str, float | None]


@dataclass
class _Batch:
    """The changes of one transaction, by kind, and their results by number: None where a change has none."""

    writes: list[Write]
    results: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        changes = [(write.number, write.change) for write in self.writes]
        self.finds = {number: change.key for number, change in changes if isinstance(change, Find)}
        self.stands = {number: change for number, change in changes if isinstance(change, Stand)}
        self.claims = {number: change for number, change in changes if isinstance(change, Claim)}
        self.received = {number: change for number, change in changes if isinstance(change, Receive)}
        self.settled = {change.attempt: change.reading for _, change in changes if isinstance(change, Settle)}
        self.abandoned = [change.attempt for _, change in changes if isinstance(change, Abandon)]
        self.settles_the_dead = any(isinstance(change, SettleTheDead) for _, change in changes)


class PostgresSession(Session):
    """A session with a PostgreSQL ledger. Parameters as for `Ledger.session`.

    All changes that wait are carried out by one transaction, in a thread, by a few statements about sets. If the
    connection breaks, the transaction is repeated: every statement finds what an earlier try has committed.
    """

    def __init__(self, ledger: PostgresLedger, run: str, budget: Budget) -> None:
        super().__init__(storable(run))
        self._ledger, self._budget = ledger, budget
        self._session = uuid.uuid4().hex
        self._charges: dict[int, _Charge] = {}  # of the session's attempts that are not settled
        self._lapsed = False  # whether the lease has ever ended, so that others closed attempts of this session
        self._used = False  # whether the session was used since its lease was last renewed
        self._connection: Connection | None = None
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        """Open the session, begin to renew its lease, and settle the attempts of dead sessions."""
        try:
            connection = self._connected()
            with connection.transaction():
                connection.execute(
                    "INSERT INTO session VALUES (%s, %s, extract(epoch FROM now()), "
                    "clock_timestamp() + make_interval(secs => %s))",
                    (self._session, self.run, self._ledger.lease),
                )
                _settle_the_dead(connection, self._session)
        except psycopg.Error as error:
            raise self._ledger.unusable(error) from error
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._renewal = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._renewal.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the session. Attempts still in flight become uncertain, and unspent money returns to the accounts."""
        self._ended.set()
        self._thread.shutdown()
        self._renewal.join()
        for _try in range(2):  # a connection may have broken; if both break, the end of the lease closes the session
            with suppress(psycopg.Error):
                connection = self._connected()
                with connection.transaction():
                    connection.execute("SELECT 1 FROM session WHERE id = %s FOR UPDATE", (self._session,))
                    _end(connection, [self._session])
                break
        if self._connection:
            self._connection.close()

    async def find(self, key: str) -> Raw | None:
        """Return the stored reply to a question, given its key; None if there is none."""
        if self._unwritable:
            raise self._unwritable
        raw: Raw | None = await self._write(Find(key))
        return raw

    def _renew(self) -> None:
        """Renew the lease until the session ends, and return money that lies idle."""
        connection: Connection | None = None
        while not self._ended.wait(self._ledger.lease / 3):
            try:
                connection = connection or self._connect()
                with connection.transaction():
                    self._renew_once(connection)
            except (psycopg.Error, BadInput) as error:
                logger.warning("%s: the lease was not renewed; %s", self._ledger.place, error)
                if connection:
                    connection.close()
                connection = None
        if connection:
            connection.close()

    def _renew_once(self, connection: Connection) -> None:
        renewed = connection.execute(
            "UPDATE session SET lease = clock_timestamp() + make_interval(secs => %s) WHERE id = %s AND NOT closed",
            (self._ledger.lease, self._session),
        )
        if renewed.rowcount and not self._used:
            slices = Slices(connection, [self._session])
            slices.give_back()
            slices.write()
        self._used = False

    def _connect(self) -> Connection:
        connection = self._ledger.connect()
        connection.execute(_IMPATIENT)
        return connection

    def _connected(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        return self._connection

    async def _commit(self, writes: list[Write]) -> None:
        give_up = time.monotonic() + (0 if self._unwritable else PATIENCE)
        logged = False
        while True:
            try:
                results = await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, writes)
            except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
                # The server cannot be reached, was restarted, is full, or ended a deadlock.
                if time.monotonic() < give_up:
                    if not logged:
                        logger.warning("%s: %s; replies are kept in memory", self._ledger.place, words(error))
                    logged = True
                    await asyncio.sleep(PAUSE)
                    continue
                self._unwritable = UnwritableError(
                    self._ledger.place, "", f"cannot be written ({words(error)})", "start its server, then run again"
                )
                results = [self._unwritable] * len(writes)
            except Exception as error:  # one of the changes is faulty: each is carried out alone
                if len(writes) > 1:
                    for write in writes:
                        await self._commit([write])
                    return
                results = [error]
            for write, result in zip(writes, results, strict=True):
                self._end(write, result)
            return

    def _transact(self, writes: list[Write]) -> list[Any]:
        """Carry out changes in one transaction; return the result or refusal of each."""
        self._used = True
        connection, batch = self._connected(), _Batch(writes)
        try:
            with connection.transaction():
                self._carry_out(connection, batch)
        except psycopg.OperationalError:
            connection.close()
            raise
        for attempt in [*batch.settled, *batch.abandoned]:
            self._charges.pop(attempt, None)
        return [batch.results.get(write.number) for write in writes]

    def _carry_out(self, connection: Connection, batch: _Batch) -> None:
        if len(batch.finds) < len(batch.writes):
            was_closed, now, today = _one(connection.execute(_RENEWED, (self._session, self._ledger.lease)))
            self._lapsed |= was_closed
            slices = Slices(connection, [self._session])
            self._receive(connection, slices, batch)
            readings = {
                attempt: settlement(reading, *self._charges[attempt]) for attempt, reading in batch.settled.items()
            }
            _settle(connection, slices, readings)
            if batch.abandoned:
                _close(connection, slices, "a.id = ANY(%s) AND a.session = %s", (batch.abandoned, self._session))
            if batch.settles_the_dead:
                _settle_the_dead(connection, self._session)
            if batch.claims:
                self._claim(connection, slices, batch, now, today)
            slices.write()
        if batch.finds:
            rows = connection.execute(_FOUND, (list(batch.finds.values()),)).fetchall()
            found = {key: _raw(*reply) for key, *reply in rows}
            batch.results |= {number: found.get(key) for number, key in batch.finds.items()}
        for number, change in batch.stands.items():
            batch.results[number] = standing(_Translated(connection), change.model, change.purpose)

    def _receive(self, connection: Connection, slices: Slices, batch: _Batch) -> None:
        if not batch.received:
            return
        rows = [
            (new.attempt, new.received, new.raw.status, headers(new.raw), new.body, new.raw.broken)
            for new in batch.received.values()
        ]
        connection.execute(_RECEIVED, _columns(rows, 6))
        if self._lapsed:
            self._reopen(connection, slices, batch)

    def _reopen(self, connection: Connection, slices: Slices, batch: _Batch) -> None:
        """Open attempts with late replies again; refuse a reply whose question was asked again."""
        ids = [new.attempt for new in batch.received.values()]
        for reserved, cost, *accounts in connection.execute(_REOPENED, (ids,)).fetchall():
            for account in accounts:
                slices.take(self._session, account, reserved)
                slices.of(self._session, account).reserved += reserved
                _add(connection, {account: (-(cost or 0), 0, -reserved if cost is None else 0)})
        query = "SELECT id FROM attempt WHERE id = ANY(%s) AND outcome IS NOT NULL"
        closed = {attempt for (attempt,) in connection.execute(query, (ids,))}
        for number, new in batch.received.items():
            if new.attempt in closed:
                batch.results[number] = InFlightError()

    def _claim(self, connection: Connection, slices: Slices, batch: _Batch, now: float, today: str) -> None:
        wishes = self._wishes(connection, batch, today)
        granted = self._grant(connection, slices, wishes, batch.results)
        if not granted:
            return
        questions = [(w.claim.question, w) for w in granted]
        connection.execute(_QUESTIONS, _columns(
            ((q.key, q.model.place, q.replicate, compressed(q.canonical)) for q, _ in questions), 4,
        ))  # fmt: skip
        rows = [
            (q.key, wish.number, q.model.name, q.model.settings.id, q.purpose, q.model.settings.effort, *wish.charge)
            for q, wish in questions
        ]
        new = connection.execute(_ATTEMPTS, (self._session, self.run, now, *_columns(rows, 8))).fetchall()
        ids = {number: attempt for attempt, number in new}
        for (number,) in connection.execute(_ANSWERED_MEANWHILE, (list(ids.values()),)).fetchall():
            del ids[number]
        for wish in granted:
            if wish.number in ids:
                batch.results[wish.number] = ids[wish.number]
                self._charges[ids[wish.number]] = wish.charge
            else:
                batch.results[wish.number] = InFlightError()
                for account in wish.caps:
                    slices.of(self._session, account).reserved -= wish.charge.worst

    def _wishes(self, connection: Connection, batch: _Batch, today: str) -> list[_Wish]:
        """The claims of questions that nobody asks and that have no reply. A claim that an earlier try of this
        transaction has committed gets its attempt."""
        keys = [claim.question.key for claim in batch.claims.values()]
        taken = {key: rest for key, *rest in connection.execute(_TAKEN, (keys,))}
        wishes: dict[str, _Wish] = {}
        for number, claim in batch.claims.items():
            question, model = claim.question, claim.question.model
            charge = _Charge(model.price.model_dump_json() if model.price else None, question.worst_case or 0)
            if question.key in taken:
                attempt, *owner = taken[question.key]
                is_own = owner == [self._session, number, None]
                batch.results[number] = attempt if is_own else InFlightError()
                if is_own:
                    self._charges[attempt] = charge
            elif question.key in wishes:
                batch.results[number] = InFlightError()
            else:
                caps = {
                    f"run {self.run}": self._budget.run, f"day {today}": self._budget.day,
                    f"model {storable(model.name)}": model.settings.budget,
                }  # fmt: skip
                wishes[question.key] = _Wish(number, claim, charge, caps)
        return list(wishes.values())

    def _grant(
        self, connection: Connection, slices: Slices, wishes: Sequence[_Wish], results: dict[int, Any]
    ) -> list[_Wish]:
        """Reserve the worst cases of claims in the session's slices, which are enlarged if necessary. Claims for which
        no money is left are refused."""
        needs, caps = Counter[str](), dict[str, float | None]()
        for wish in wishes:
            needs.update(dict.fromkeys(wish.caps, wish.charge.worst))
            caps |= wish.caps
        slices.enlarge(self._session, needs, caps)
        granted: list[_Wish] = []
        refused: dict[str, list[_Wish]] = {}
        for wish in wishes:
            parts = {account: slices.of(self._session, account) for account in wish.caps}
            short = [account for account, part in parts.items() if part.free < wish.charge.worst]
            if short:
                refused.setdefault(short[0], []).append(wish)
                continue
            granted.append(wish)
            for part in parts.values():
                part.reserved += wish.charge.worst
        for account, losers in refused.items():
            spent, cap = slices.spent(self._session, account), caps[account]
            for wish in losers:
                worst = wish.charge.worst
                is_over = cap is not None and spent + worst > cap * NANO
                results[wish.number] = over_budget(account, cap or 0, spent, worst) if is_over else InFlightError()
        if refused:
            slices.give_back()  # another session may have enough with it
        return granted


def _settle(connection: Connection, slices: Slices, settlements: Mapping[int, Settlement]) -> None:
    """Write settlements to attempts that are open, and count their costs."""
    if settlements:
        columns = _columns(((attempt, *values) for attempt, values in settlements.items()), 14)
        for row in connection.execute(_SETTLED, columns).fetchall():
            slices.close(*row)


def _close(connection: Connection, slices: Slices, which: LiteralString, values: Sequence[Any]) -> int:
    """Close open attempts that have no caller: settle those with a stored reply, and mark the rest as uncertain.

    `which` is an SQL condition on `attempt a`. Return the number of uncertain attempts.
    """
    settlements: dict[int, Settlement] = {}
    for attempt, price, worst, *reply in connection.execute(
        "SELECT a.id, a.price, a.reserved, r.status, r.headers, r.broken, r.body FROM attempt a "
        f"JOIN reply r ON r.attempt = a.id WHERE {which} AND a.outcome IS NULL",
        values,
    ):
        try:
            reading = read(_raw(*reply))
        except Exception as error:  # one unreadable reply must not block all sessions
            reading = Reading(Outcome.UNREADABLE, detail=type(error).__name__)
        settlements[attempt] = settlement(reading, price, worst)
    _settle(connection, slices, settlements)
    lost = connection.execute(
        f"UPDATE attempt a SET outcome = '{UNCERTAIN}', cost = CASE WHEN price IS NOT NULL AND reserved = 0 THEN 0 END "
        f"WHERE {which} AND a.outcome IS NULL RETURNING session, {_MONEY}",
        values,
    ).fetchall()
    for row in lost:
        slices.close(*row)
    return len(lost)


def _end(connection: Connection, sessions: list[str]) -> int:
    """Close sessions that the transaction has locked: their attempts, and their slices. Return the number of uncertain
    attempts."""
    slices = Slices(connection, sessions)
    lost = _close(connection, slices, "a.session = ANY(%s)", (sessions,))
    slices.fold()
    connection.execute("UPDATE session SET closed = TRUE WHERE id = ANY(%s)", (sessions,))
    return lost


def _settle_the_dead(connection: Connection, own: str) -> None:
    dead = [session for (session,) in connection.execute(_DEAD, (own,))]
    if dead and (lost := _end(connection, dead)):
        logger.warning("%d calls were in flight when a run ended; their questions will be asked again", lost)
