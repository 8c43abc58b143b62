"""The ledger: stores every attempt before it is sent and every reply before it is read, and keeps the accounts.

Guarantee: no stored reply is lost or paid for twice, and no cap is exceeded. A call that is in flight at a crash is
recorded as uncertain, and its question is asked again.

Here: the interface, and what its implementations share: the queue of changes that are committed together, what a reply
costs, the queries that both databases understand. Not here: files, transactions and claims (sqlite_ledger,
postgres_ledger), the meaning of a reply (reading), when to ask (client).
"""

import asyncio
import json
import logging
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import polars as pl

from resources.errors import BadInput
from resources.identity import StoreMark
from resources.provider.archive import FEWEST
from resources.provider.question import Question
from resources.provider.reading import REPLIES, USABLE, USELESS, Outcome, Policy, Raw, Reading
from resources.provider.registry import NANO, Budget, Price

logger = logging.getLogger("variorum.ledger")

INCREDIBLE = 10
"""If the reported tokens would cost more than this many times the worst-case cost of the call, the report is not
trusted and the cost counts as unknown. Otherwise, a single wrong number would exhaust the budget permanently."""

PATIENCE = 600
"""Seconds for which replies are kept in memory while they cannot be stored."""

UNCERTAIN = "uncertain"
"""Outcome of an attempt whose session ended before a reply was stored."""

LOST = "lost:"
"""Beginning of the key of a question whose text and replies are lost. No question of a study has such a key."""

PROBE = "probe"
"""Purpose of questions that only determine which version of a model is served."""

ENDED = ", ".join(f"'{outcome}'" for outcome in REPLIES)
"""Outcomes of attempts with a reply, for SQL."""

FINISHED = ", ".join(f"'{outcome}'" for outcome in Outcome if outcome.policy in (Policy.USE, Policy.FAIL))
"""Outcomes of attempts with a reply, or with an error that would occur again, for SQL."""

_STANDING = f"""
    SELECT run, cost IS NULL AND reserved > 0, asked, received FROM attempt LEFT JOIN reply ON attempt = id
    WHERE model = ? AND purpose = ? AND outcome IN ({", ".join(f"'{outcome}'" for outcome in USELESS)})
    AND id > coalesce((
        SELECT id FROM attempt WHERE model = ? AND purpose = ?
        AND outcome IN ({", ".join(f"'{outcome}'" for outcome in USABLE)}) ORDER BY id DESC LIMIT 1
    ), 0) ORDER BY id
"""

COLUMNS = (
    "id", "question", "session", "run", "model", "requested_model", "purpose", "effort", "price", "asked", "reserved",
    "outcome", "detail", "finish", "served_model", "served_provider", "prompt_tokens", "cached_tokens",
    "completion_tokens", "reasoning_tokens", "reported_cost", "priced_cost", "cost", "system_fingerprint",
)  # fmt: skip
"""Columns of an attempt."""

MANY = 500
"""Number of keys in one query."""


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


class Standing(NamedTuple):
    """Attempts of no use at a model's questions of one purpose, since the last usable reply.

    `useless` is their number; those that were under way when the first one failed count as one. `unknown` is the number
    of those whose cost is not known, and `run` is the run of the last one.
    """

    useless: int = 0
    unknown: int = 0
    run: str = ""


class Statements(Protocol):
    """A connection to either database. Placeholders are `?`."""

    def execute(self, query: str, parameters: Sequence[Any] = ..., /) -> Any:
        """Execute a statement; return its cursor."""


def money(day: str) -> str:
    """SQL for columns of an attempt: its worst case, its cost, and the names of its accounts. `day` is SQL for the name
    of its account of the day."""
    return f"reserved, cost, 'run ' || run, {day}, 'model ' || model"


class Ledger(ABC):
    """The questions, replies and costs of a home. Several processes can use it at once.

    Every method raises BadInput if the ledger cannot be used.
    """

    for_update = ""
    """End of a query that locks the rows that it reads until the transaction ends."""

    day: str
    """SQL for the name of an attempt's account of the day."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the ledger is, for messages."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether the ledger was created. It is created when it is first used."""

    @abstractmethod
    def session(self, run: str, budget: Budget) -> "Session":
        """A session for one process and one event loop, to be used in a `with` statement.

        Parameters
        ----------
        run
            The run to which calls are charged.
        budget
            Caps in US dollars for the run and for the day.
        """

    @abstractmethod
    def replies(self, model: str) -> Iterator[tuple[int, bytes, Raw]]:
        """Yield the replicate, request body (JSON) and raw reply of each finished question to a model, oldest first.

        A question is finished if it got a reply, or an error that would occur again.
        """

    @abstractmethod
    def compact(self, before: datetime, fewest: int = FEWEST) -> int:
        """Move replies that arrived before `before`, and their requests, to compressed files; return the number of
        replies.

        A file gets at least `fewest` replies. A ledger without such files returns 0.
        """

    @abstractmethod
    def archived(self) -> list[Path]:
        """The compressed files to which the ledger refers."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Statements]:
        """A connection for queries."""

    @abstractmethod
    def changing(self) -> AbstractContextManager[Statements]:
        """A connection in a transaction, which is committed at the end of the block, or undone after an error."""

    def attempts(self) -> pl.DataFrame:
        """Read all attempts, one row each, oldest first, with costs in US dollars and times in UTC."""
        with self.reading() as connection:
            cursor = connection.execute(
                f"SELECT {', '.join(f'a.{name}' for name in COLUMNS)}, q.key, q.place, q.replicate, r.status, "
                "r.received, (SELECT note FROM correction c WHERE c.attempt = a.id ORDER BY c.id DESC LIMIT 1) AS "
                "correction FROM attempt a JOIN question q ON q.id = a.question LEFT JOIN reply r ON r.attempt = a.id "
                "ORDER BY a.id"
            )
            names = [column[0] for column in cursor.description]
            frame = pl.DataFrame(
                cursor.fetchall(), schema=[(name, _KINDS.get(name, pl.String)) for name in names], orient="row"
            )
        times = "asked", "received"
        moments = [pl.from_epoch((pl.col(name) * 1e6).cast(pl.Int64), "us").alias(name) for name in times]
        money = [pl.col(name) / NANO for name in ("reserved", "reported_cost", "priced_cost", "cost")]
        return frame.with_columns(*moments, *money)

    def charged(self, run: str, since: int) -> pl.DataFrame:
        """Calls that are charged to a run, by model, purpose and outcome (null in flight): number and US dollars.

        Only attempts above the number `since` are read, so that a long ledger costs nothing (see `last_attempt`). A
        call of unknown cost counts at its highest possible cost.

        Returns
        -------
        Columns `model`, `purpose`, `outcome`, `calls` and `dollars`.
        """
        query = (
            "SELECT model, purpose, outcome, count(*), CAST(sum(coalesce(cost, reserved)) AS BIGINT) FROM attempt "
            "WHERE id > ? AND run = ? GROUP BY model, purpose, outcome ORDER BY model, purpose, outcome"
        )
        rows = []
        if self.exists():
            with self.reading() as connection:
                rows = connection.execute(query, (since, run)).fetchall()
        words = dict.fromkeys(["model", "purpose", "outcome"], pl.String)
        schema: dict[str, Any] = {**words, **dict.fromkeys(["calls", "dollars"], pl.Int64)}
        return pl.DataFrame(rows, schema, orient="row").with_columns(pl.col("dollars") / NANO)

    def last_attempt(self) -> int:
        """The number of the last attempt; 0 if there is none."""
        if not self.exists():
            return 0
        with self.reading() as connection:
            (number,) = connection.execute("SELECT coalesce(max(id), 0) FROM attempt").fetchone() or (0,)
        return int(number)

    def answered(self, keys: Iterable[str]) -> set[str]:
        """The subset of `keys` whose questions have a reply."""
        return self._with_attempts(keys, f"a.outcome IN ({ENDED})", 1)

    def ended(self, keys: Iterable[str], outcome: Outcome, times: int, by_itself: bool = False) -> set[str]:
        """The subset of `keys` whose questions have at least `times` attempts with this outcome; only those that the
        model ended `by_itself` if so required."""
        return self._with_attempts(keys, f"a.outcome = '{outcome}'" + " AND a.finish != ''" * by_itself, times)

    def _with_attempts(self, keys: Iterable[str], condition: str, times: int) -> set[str]:
        known, found = list(keys), set[str]()
        with self.reading() as connection:
            for start in range(0, len(known), MANY):
                some = known[start : start + MANY]
                query = (
                    f"SELECT q.key FROM question q JOIN attempt a ON a.question = q.id WHERE {condition} AND q.key IN "
                    f"({', '.join('?' * len(some))}) GROUP BY q.key HAVING count(*) >= {times}"
                )
                found |= {key for (key,) in connection.execute(query, some).fetchall()}
        return found

    def usage(self, model: str, purpose: str) -> tuple[int, int] | None:
        """Sums of the prompt tokens and of the completion tokens of a model's replies for a purpose; None if the ledger
        has no such counts."""
        with self.reading() as connection:
            prompt, completion = connection.execute(
                "SELECT CAST(sum(prompt_tokens) AS BIGINT), CAST(sum(completion_tokens) AS BIGINT) FROM attempt "
                "WHERE model = ? AND purpose = ?",
                (model, purpose),
            ).fetchone()
        return (prompt, completion) if prompt and completion else None

    def pace(self, model: str, purpose: str) -> float | None:
        """Mean seconds from a question to its reply, over a model's replies for a purpose; None if there are none."""
        with self.reading() as connection:
            (seconds,) = connection.execute(
                "SELECT avg(r.received - a.asked) FROM attempt a JOIN reply r ON r.attempt = a.id "
                f"WHERE a.model = ? AND a.purpose = ? AND a.outcome IN ({ENDED})",
                (model, purpose),
            ).fetchone()
        return None if seconds is None else float(seconds)

    def served(self, place: str, requested: str) -> tuple[str, str]:
        """Versions that an endpoint reported for the model `requested`: the first, and the one in the latest probe.

        A version is '' if none was reported.
        """
        query = (
            "SELECT served_model FROM attempt a JOIN question q ON q.id = a.question "
            "WHERE q.place = ? AND a.requested_model = ? AND a.served_model != '' {} LIMIT 1"
        )
        if not self.exists():
            return "", ""
        with self.reading() as connection:
            first = connection.execute(query.format("ORDER BY a.id"), (place, requested)).fetchone()
            last = connection.execute(
                query.format("AND purpose = ? ORDER BY a.id DESC"), (place, requested, PROBE)
            ).fetchone()
        return (first or ("",))[0], (last or ("",))[0]

    def mark(self) -> StoreMark | None:
        """The mark that identifies the home; None if the ledger does not exist or has none yet."""
        if not self.exists():
            return None
        with self.reading() as connection:
            row = connection.execute("SELECT home, epoch, TRUE FROM identity").fetchone()
            return StoreMark(*row) if row else None

    def set_mark(self, mark: StoreMark) -> None:
        """Replace the mark that identifies the home."""
        with self.changing() as connection:
            connection.execute("DELETE FROM identity")
            connection.execute("INSERT INTO identity VALUES (?, ?)", (mark.home, mark.epoch))

    def state(self) -> str:
        """Return a string that changes whenever an attempt is added or settled, or a cost is corrected."""
        counts = "SELECT count(*), count(outcome), (SELECT count(*) FROM correction) FROM attempt"
        with self.reading() as connection:
            return str(connection.execute(counts).fetchone())


_KINDS: Mapping[str, Any] = {
    **dict.fromkeys(["id", "question", "replicate", "status"], pl.Int64),
    **dict.fromkeys(["prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"], pl.Int64),
    **dict.fromkeys(["reserved", "reported_cost", "priced_cost", "cost"], pl.Int64),
    **dict.fromkeys(["asked", "received"], pl.Float64),
}


class Find(NamedTuple):
    """Find the stored reply to a question."""

    key: str


class Stand(NamedTuple):
    """Count the attempts of no use since the last usable reply."""

    model: str
    purpose: str


class Claim(NamedTuple):
    """Record an attempt at a question, and reserve its worst case."""

    question: Question
    asked: float


class Receive(NamedTuple):
    """Store a raw reply. `body` is its body, compressed."""

    attempt: int
    received: float
    raw: Raw
    body: bytes


class Settle(NamedTuple):
    """Record the reading of a stored reply and its cost."""

    attempt: int
    reading: Reading


class Abandon(NamedTuple):
    """Close an attempt whose caller no longer waits."""

    attempt: int


class SettleTheDead(NamedTuple):
    """Close the attempts of sessions that ended without closing them."""


Change = Find | Stand | Claim | Receive | Settle | Abandon | SettleTheDead


@dataclass
class Write:
    """A change for the next transaction. `number` identifies it within its session.

    After a failed write, only a change for a `paid` call is retried. If the caller of a claim was cancelled meanwhile,
    the attempt is abandoned.
    """

    number: int
    change: Change
    done: "asyncio.Future[Any] | None"  # None if no caller waits

    @property
    def paid(self) -> bool:
        """Whether the change concerns a call that may have cost something."""
        return isinstance(self.change, Receive | Settle | Abandon)


class Session(ABC):
    """A session with the ledger, for one process and one event loop. Calls are charged to `run`."""

    def __init__(self, run: str) -> None:
        self.run = run
        self._writes: list[Write] = []
        self._numbers = count()
        self._flush: asyncio.Task[None] | None = None
        self._unwritable: UnwritableError | None = None

    @abstractmethod
    def __enter__(self) -> Self:
        """Open the session, and settle the attempts of dead sessions."""

    @abstractmethod
    def __exit__(self, *_: object) -> None:
        """Close the session. Attempts still in flight become uncertain."""

    @abstractmethod
    async def find(self, key: str) -> Raw | None:
        """Return the stored reply to a question, given its key; None if there is none."""

    @abstractmethod
    async def _commit(self, writes: list[Write]) -> None:
        """Carry out changes in one transaction, and end each with its result or error."""

    async def standing(self, model: str, purpose: str) -> Standing:
        """Count the attempts of no use at a model's questions of a purpose, in all runs, since the last usable
        reply."""
        standing: Standing = await self._write(Stand(model, purpose))
        return standing

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
        if self._unwritable:
            raise self._unwritable
        attempt: int = await self._write(Claim(question, time.time()))
        return attempt

    async def receive(self, attempt: int, raw: Raw) -> None:
        """Store a raw reply. It is on disk when this method returns.

        Raises
        ------
        InFlightError
            If the session lost its lease, and another session has asked the question meanwhile. The reply is stored,
            but not used.
        """
        await self._write(Receive(attempt, time.time(), raw, compressed(raw.body)))

    def settle(self, attempt: int, reading: Reading) -> None:
        """Record the reading of a stored reply, and move its cost from reserved to paid, in the next transaction.

        If the process ends before the transaction, the next session reads the stored reply again.
        """
        self._queue(Settle(attempt, reading), None)

    async def drained(self) -> None:
        """Wait until all queued changes are stored."""
        while self._flush:
            await asyncio.shield(self._flush)

    def abandon(self, attempt: int) -> None:
        """Close an attempt whose caller no longer waits. The attempt becomes uncertain, unless its reply is stored."""
        self._queue(Abandon(attempt), None)

    async def settle_the_dead(self) -> None:
        """Close the attempts of dead sessions: settle attempts with a stored reply, and mark the rest as uncertain."""
        await self._write(SettleTheDead())

    async def _write(self, change: Change) -> Any:
        done = asyncio.get_running_loop().create_future()
        self._queue(change, done)
        try:
            return await done
        except asyncio.CancelledError:
            if isinstance(change, Claim) and done.done() and not done.cancelled() and not done.exception():
                self.abandon(done.result())
            raise

    def _queue(self, change: Change, done: "asyncio.Future[Any] | None") -> None:
        self._writes.append(Write(next(self._numbers), change, done))
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

    def _end(self, write: Write, result: Any) -> None:
        """Pass the result or error to the waiting caller. If no caller waits, abandon a claimed attempt, and log an
        error."""
        if write.done is None or write.done.cancelled():
            if isinstance(result, Exception):
                if not isinstance(result, Refusal):
                    logger.error("%s", result)
            elif isinstance(write.change, Claim):
                self.abandon(result)
        elif isinstance(result, Exception):
            write.done.set_exception(result)
        else:
            write.done.set_result(result)


def standing(connection: Statements, model: str, purpose: str) -> Standing:
    """The answer to `Stand`."""
    rows = connection.execute(_STANDING, (model, purpose, model, purpose)).fetchall()
    if not rows:
        return Standing()
    began = min(received or asked for _, _, asked, received in rows)
    useless = 1 + sum(asked > began for _, _, asked, _ in rows)
    return Standing(useless, sum(bool(unknown) for _, unknown, _, _ in rows), rows[-1][0])


class Settlement(NamedTuple):
    """What a settlement writes to an attempt; costs in nanodollars, None if unknown."""

    outcome: str
    detail: str
    finish: str | None
    served_model: str | None
    served_provider: str | None
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    reported_cost: int | None
    priced_cost: int | None
    cost: int | None
    system_fingerprint: str | None


def settlement(reading: Reading, price: str | None, worst: int) -> Settlement:
    """What the reading of a reply says of an attempt with this price (JSON) and worst case (nanodollars)."""
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
    return Settlement(
        reading.outcome, reading.detail[:2000], reading.finish, reading.served_model, reading.served_provider,
        reading.prompt_tokens, reading.cached_tokens, reading.completion_tokens, reading.reasoning_tokens, reported,
        priced, cost, reading.system_fingerprint,
    )  # fmt: skip


def over_budget(account: str, cap: float, spent: int, worst: int) -> OverBudgetError:
    """The refusal of a call whose worst case exceeds what is left of a cap in US dollars."""
    return OverBudgetError(
        f"the budget of {account} is {cap:g} dollars; {spent / NANO:.4f} are spent or uncertain, "
        f"and this call may cost {worst / NANO:.4f}",
        account.removeprefix("model ") if account.startswith("model ") else "",
    )


def compressed(content: bytes) -> bytes:
    """Compress content, in a zlib window no longer than the content: clearing 32 KB would take most of the time."""
    return zlib.compress(content, 1, wbits=min(max(len(content).bit_length(), 9), 15))


def headers(raw: Raw) -> str:
    """The headers of a reply as JSON."""
    return json.dumps(dict(raw.headers))
