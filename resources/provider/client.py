"""The client: asks questions, many concurrently, and pays for each question only once.

Here: handling each outcome by waiting, retrying or stopping. Not here: the wire (transport), the meaning of a reply
(reading), storage and money (ledger), concurrency limits (lane), when replies of no use stop a model (breaker), the
form of an answer (replies).
"""

import asyncio
import logging
import random
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from resources.provider.breaker import Breaker, advice, judged, spent
from resources.provider.lane import Lane
from resources.provider.ledger import InFlightError, OverBudgetError, Session, UnwritableError
from resources.provider.question import Question
from resources.provider.reading import USELESS, Outcome, Policy, Raw, Reading, read, retry_after
from resources.provider.registry import Model
from resources.provider.transport import Transport, transport
from resources.wording import share_a_run

logger = logging.getLogger("variorum.provider")

RETRIES = 5
"""Maximum number of retries of a question after outcomes that may have cost money."""

QUIET = 20.0
"""Seconds that a question waits before the wait is logged."""

LONGEST_WAIT = 600.0
"""Longest delay that a server may announce, in seconds. After a longer delay, the model is not asked again."""

TRUSTED = 3
"""Number of announced delays that are trusted. If the server still throttles after these delays, the next delays are at
least as long as the delays for a server that announces nothing."""


@dataclass(frozen=True)
class Waits:
    """Waiting before a question is asked again, in seconds.

    Pauses begin with `first` and double each time up to `longest`. The actual pause is a random duration between half
    and all of this time, so that callers do not all retry at the same time. Once a question has waited longer than
    `patience` for a server that is down or throttles, its model is not asked again.
    """

    first: float = 0.5
    longest: float = 60.0
    patience: float = 3600.0


Item = TypeVar("Item")
Result = TypeVar("Result")


class CallFailed(Exception):  # noqa: N818 - the call failed; the program did not
    """A question got no reply. `reading` holds the failed outcome; None if nothing was sent."""

    def __init__(self, reason: str, reading: Reading | None = None) -> None:
        super().__init__(reason)
        self.reading = reading


class BatchesStoppedError(CallFailed):
    """A batch got no reply, because batches get no usable ones. Its items can be asked about one by one."""


class NotStored(CallFailed):
    """A question that is free has no stored reply."""

    def __init__(self) -> None:
        super().__init__("no reply is stored")


@dataclass(frozen=True)
class Reply:
    """A reply, complete or not (see `reading.outcome`). `recorded` is true if it came from the ledger, at no cost."""

    key: str
    reading: Reading
    recorded: bool


class Client:
    """Asks questions within one event loop; open it with `opened`."""

    def __init__(self, ledger: Session, waits: Waits) -> None:
        self._ledger, self._waits = ledger, waits
        self._transports: dict[tuple[str, str], tuple[Transport, asyncio.Semaphore]] = {}
        self._lanes: dict[str, Lane] = {}
        self._breakers: dict[tuple[str, str], Breaker] = {}  # by model and purpose
        self._stopped: dict[tuple[str, ...], str] = {}  # by model, or by model and purpose; () stops all

    async def ask(self, question: Question) -> Reply:
        """Return the reply to a question, from the ledger or from its model.

        Raises
        ------
        CallFailed
            If there is no reply, or the client was stopped by a budget, a rejected key, missing credit, a full disk or
            replies of no use.
        NotStored
            If the question is free, and the ledger has no reply.
        BatchesStoppedError
            If only batches were stopped, because none of them got a usable reply.
        BadInput
            If the model cannot be called: its API key is not set, or its recording lacks the question.
        """
        retries, announcements, pause, waited = 0, 0, self._waits.first, 0.0
        before: Reading | None = None
        while True:
            try:
                stored = await self._ledger.find(question.key)
                if stored:
                    return Reply(question.key, read(stored), recorded=True)
                if question.free:
                    raise NotStored
                self._check(question)
                raw, reading = await self.attempt(question, await self._breaker(question))
            except InFlightError:
                await asyncio.sleep(random.uniform(0.05, 0.2))
                with suppress(UnwritableError):  # the next claim raises it again
                    await self._ledger.settle_the_dead()
                continue
            except OverBudgetError as error:
                self._stop((error.model,) if error.model else (), str(error))
                continue
            except UnwritableError as error:
                self._stop((), str(error))
                raise CallFailed(f"stopped: {error}") from error
            if reading.policy is Policy.USE:
                return Reply(question.key, reading, recorded=False)
            self._check(question)
            retries += reading.policy is Policy.RETRY
            if waited > self._waits.patience:
                reason = f"{question.model.place}: {_words(question, reading)}, for {waited:.0f} s"
                self._stop((question.model.name,), reason)
                continue
            if reading.policy is Policy.FAIL or retries > RETRIES or _repeats(question, before, reading):
                raise CallFailed(_words(question, reading), reading)
            before = reading
            delay = (retry_after(raw.headers) if reading.policy is Policy.WAIT else None) or 0.0
            announcements += delay > 0
            if not delay or announcements > TRUSTED:
                delay, pause = max(delay, pause * random.uniform(0.5, 1)), min(2 * pause, self._waits.longest)
            waited += delay
            if waited > QUIET:
                logger.warning("%s: %s; asking again in %.0f s", question.model.name, _words(question, reading), delay)
            await asyncio.sleep(delay)

    def lane(self, model: Model) -> Lane:
        """The lane that limits the concurrent calls of a model."""
        return self._lanes.setdefault(model.name, Lane(model.in_flight))

    def width(self, model: Model) -> int:
        """Useful number of concurrent questions to a model: twice its lane's limit, since some wait for the ledger."""
        return 2 * self.lane(model).most

    async def close(self) -> None:
        """Close all connections and finish all writes."""
        await asyncio.gather(*(each.close() for each, _ in self._transports.values()), self._ledger.drained())

    async def attempt(self, question: Question, breaker: Breaker) -> tuple[Raw, Reading]:
        """Make one attempt at a question, without retries: claim, send, store, settle.

        Raises
        ------
        CallFailed
            If the client was stopped.
        Refusal
            If the ledger does not allow the question now. BadInput is raised as by `ask`.
        """
        wire, places = self._wire(question.model)
        lane = self.lane(question.model)
        while True:
            async with AsyncExitStack() as held:
                await lane.enter()
                held.callback(lane.leave)
                await held.enter_async_context(places)
                self._check(question)
                if sent := breaker.send(question.batch):
                    held.callback(breaker.came, sent, None)
                    attempt = await self._ledger.claim(question)
                    try:
                        raw = await wire.send(question)
                        reading = read(raw)
                        found = judged(question, reading)
                        breaker.came(sent, found.outcome)
                        self._heed(question, raw, found, breaker)
                        await held.aclose()  # the next call may begin while this reply is stored
                        await self._ledger.receive(attempt, raw)
                    except BaseException:
                        self._ledger.abandon(attempt)
                        raise
                    self._ledger.settle(attempt, found)
                    return raw, reading
            await breaker.changed()

    async def _breaker(self, question: Question) -> Breaker:
        """The breaker for a question, which begins with what earlier runs have met."""
        name = question.model.name, question.purpose
        if name not in self._breakers:
            standing = await self._ledger.standing(*name)
            if reason := spent(standing, self._ledger.run, question.model.name):
                self._stop(name, reason)
            self._breakers.setdefault(name, Breaker(standing.useless))
        return self._breakers[name]

    def _heed(self, question: Question, raw: Raw, reading: Reading, breaker: Breaker) -> None:
        """Adjust the lane to the outcome of a call, or stop asking."""
        model, words = question.model, f"{question.model.place}: {_words(question, reading)}"
        if reading.policy is Policy.USE:
            self.lane(model).succeeded()
        if reading.outcome is Outcome.RATE_LIMITED or raw.status == 503:
            announced = retry_after(raw.headers) or 0.0
            if announced > LONGEST_WAIT:
                wait = f"asks to wait {announced:.0f} s, longer than {LONGEST_WAIT:.0f} s: ask again later"
                self._stop((model.name,), f"{words}, {wait}")
            else:
                self.lane(model).throttled(announced)
        elif reading.policy in (Policy.STOP, Policy.STOP_MODEL):
            self._stop(() if reading.policy is Policy.STOP else (model.name,), words)
        elif reading.outcome in USELESS and (breaker.all.ended or breaker.batches.ended):
            name = (model.name, question.purpose) if breaker.all.ended else _batches(question)
            self._stop(name, f"{words}; {advice(question, reading, breaker)}")

    def _wire(self, model: Model) -> tuple[Transport, asyncio.Semaphore]:
        endpoint = model.endpoint
        name = model.settings.endpoint, model.place
        if name not in self._transports:
            self._transports[name] = transport(endpoint), asyncio.Semaphore(endpoint.in_flight)
        return self._transports[name]

    def _check(self, question: Question) -> None:
        for name in ((), (question.model.name,), (question.model.name, question.purpose)):
            if name in self._stopped:
                raise CallFailed(f"stopped: {self._stopped[name]}")
        if question.batch and (reason := self._stopped.get(_batches(question))):
            raise BatchesStoppedError(f"stopped: {reason}")

    def _stop(self, name: tuple[str, ...], reason: str) -> None:
        if name not in self._stopped:
            logger.error("%s: no further calls; %s", ", ".join(name) or "all models", reason)
            self._stopped[name] = reason


def _batches(question: Question) -> tuple[str, ...]:
    return question.model.name, question.purpose, "batches"


def _repeats(question: Question, before: Reading | None, reading: Reading) -> bool:
    """Whether a model that draws no lots has ended twice without a text: it will do so again."""
    ended = reading.outcome is Outcome.EMPTY and reading.finish != ""
    return ended and before == reading and question.model.settings.temperature == 0


def _words(question: Question, reading: Reading) -> str:
    """The outcome of a call and its message, unless the message quotes the question, which contains corpus texts."""
    content = " ".join(message["content"] for message in question.messages)
    hidden = share_a_run(reading.detail, content)
    return f"{reading.outcome}: {'the message quotes the question, see the ledger' if hidden else reading.detail}"


@asynccontextmanager
async def opened(ledger: Session, waits: Waits = Waits()) -> AsyncIterator[Client]:
    """Open a client on a session with the ledger.

    No call is running when the block ends, not even after an error or a cancellation.
    """
    with ledger:
        client = Client(ledger, waits)
        try:
            yield client
        finally:
            await asyncio.shield(client.close())


def complete(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end in a new event loop.

    SIGINT and SIGTERM cancel it: running calls are closed properly, then the signal is raised again for the previous
    handler. Dagster's handler would raise an exception at any point, even within a transaction.
    """
    with asyncio.Runner() as runner:
        if threading.current_thread() is not threading.main_thread():
            return runner.run(main)
        loop = runner.get_loop()
        task = loop.create_task(main)
        caught: list[signal.Signals] = []

        def cancel(number: signal.Signals) -> None:
            if not caught:
                task.cancel()
            caught.append(number)

        signals = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.getsignal(number) for number in signals}
        for number in signals:
            loop.add_signal_handler(number, cancel, number)
        try:
            return loop.run_until_complete(task)
        finally:
            for number in signals:
                loop.remove_signal_handler(number)
                signal.signal(number, before[number])
            if caught:
                signal.raise_signal(caught[0])


async def each(work: Callable[[Item], Awaitable[Result]], items: Iterable[Item], width: int) -> AsyncIterator[Result]:
    """Yield the result of `work` for each item, in the order of completion, with at most `width` running at a time.

    Items are taken from the iterable as capacity allows. An exception in `work` cancels the rest.
    """
    source = iter(items)
    running: set[asyncio.Task[Result]] = set()
    try:
        while True:
            for item in source:
                running.add(asyncio.ensure_future(work(item)))
                if len(running) >= width:
                    break
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
