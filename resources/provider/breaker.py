"""The circuit breaker: an end to paying a model for replies of no use.

Here: counting, when to stop, and what a person can do then. Not here: which outcomes are of no use (reading), asking
(client), the outcomes of earlier runs (ledger).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from resources.provider.ledger import Standing
from resources.provider.question import Question
from resources.provider.reading import CALLS_TOOL, REASONED, USABLE, USELESS, Outcome, Reading

MOST = 14
"""Attempts of no use in a row after which a model gets no further questions of a purpose. A question gets at most six
attempts, so at least three questions failed. A single unacceptable passage does not stop a model: the other half of a
batch is answered after two failures at the latest."""

MOST_BATCHES = 10
"""Attempts of no use in a row after which a model gets no further batches, but their items one by one. The rest of
`MOST` shows whether these are answered."""

ADVICE: Mapping[Outcome, str] = {
    Outcome.EMPTY: "the replies have no text: try other settings with `variorum check model {model}`, or another model",
    Outcome.WEB_PAGE: "check `url`: API addresses often end in /v1",
    Outcome.UNREADABLE: "check `url`: what it returns are no chat completions",
    Outcome.DROPPED: "connections break before any text: lower `in_flight` or `batch_tokens`, or ask the operator",
    Outcome.TIMEOUT: "raise `timeout`, or lower `in_flight` or `batch_tokens`",
    Outcome.BROKEN_OFF: "the server fails while it generates: lower `in_flight` or `batch_tokens`, or ask the operator",
    Outcome.OVERSIZED: "the replies do not end: try another model, or raise `max_tokens` if they are right",
    Outcome.REJECTED: "`variorum check model {model}` finds settings that the endpoint refuses",
    Outcome.UNUSABLE: "the replies lack the requested answer: read one with `variorum trace`, then try another model",
}
"""What a person can do about each outcome of no use."""

THOUGHT = "raise `max_tokens`, or let the model think less with `effort` (`none` switches thinking off)"
"""Advice if the model returns its reasoning and no text."""

CALLED = "switch off tool calls at the server, or set `structured` to another form"
"""Advice if the model returns a tool call and no text."""


AFTERWARDS = "The next `variorum update` asks a single question first"
ONE_BY_ONE = "Passages are now requested one by one"


class Row:
    """Attempts of no use in a row, that is, without a usable reply in between.

    Attempts in flight when the row began count as one, because a single incident may have caused all their failures.
    Attempts sent later count each. They are sent only as long as the limit would hold if none of them was of use, so it
    is never exceeded: a row costs at most the attempts in flight at its beginning, and `most` - 1 others.

    Parameters
    ----------
    most
        Number of attempts that ends the row.
    useless
        Length of a row that began in earlier runs. If it has reached `most`, one attempt is left, as a trial.
    """

    def __init__(self, most: int, useless: int = 0) -> None:
        self._usual, self._most = most, max(most, useless + 1)
        self.useless = useless
        self._in_flight = self._number = 0  # attempts sent since the row began; number of the row

    @property
    def ended(self) -> bool:
        """Whether the limit is reached."""
        return self.useless >= self._most

    @property
    def has_room(self) -> bool:
        """Whether a further attempt may be sent now."""
        return not self.useless or self.useless + self._in_flight < self._most

    def sent(self) -> int | None:
        """Count an attempt that is sent; return the number of the row to which it belongs, None if there is no row."""
        if not self.useless:
            return None
        self._in_flight += 1
        return self._number

    def came(self, number: int | None, outcome: Outcome | None) -> None:
        """Count the outcome of an attempt; None if it was cancelled. `number` is the result of `sent`."""
        counted = bool(self.useless) and number == self._number
        self._in_flight -= counted
        if outcome in USABLE:
            self._most, self.useless, self._in_flight = self._usual, 0, 0
        elif outcome in USELESS and (counted or not self.useless):
            self._number += not self.useless
            self.useless += 1


Sent = list[tuple[Row, int | None]]
"""An attempt that was sent: the rows that count it, each with its number. Empty once its outcome was counted."""


class Breaker:
    """The rows of one model and one purpose: of all attempts, and of attempts at batches alone.

    A purpose has one prompt and one form of answer, so replies to it fail alike. A batch may fail where its items do
    not, because it needs more tokens and a larger object.
    """

    def __init__(self, useless: int = 0) -> None:
        self.all, self.batches = Row(MOST, useless), Row(MOST_BATCHES)
        self._changed = asyncio.Event()

    def send(self, batch: bool) -> Sent | None:
        """Count an attempt that is sent now; None if it must wait for the outcomes of others."""
        rows = (self.all, self.batches) if batch else (self.all,)
        return [(row, row.sent()) for row in rows] if all(row.has_room for row in rows) else None

    def came(self, sent: Sent, outcome: Outcome | None) -> None:
        """Count the outcome of an attempt once; None if it has none."""
        for row, number in sent:
            row.came(number, outcome)
        sent.clear()
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self) -> None:
        """Wait for the next outcome."""
        await self._changed.wait()


def judged(question: Question, reading: Reading) -> Reading:
    """The reading of a reply, with the outcome UNUSABLE if it should have an answer to the question and has none."""
    answered = reading.outcome in (Outcome.ANSWERED, Outcome.CUT)
    if not answered and (reading.outcome is not Outcome.LENGTH or reading.text.strip()):
        return reading
    try:
        usable = question.usable(reading)
    except Exception:  # the asker, which reads the reply in the same way, meets the error after the reply was stored
        usable = False
    words = reading.detail or ("no answer in the requested form" if answered else "no text before the token limit")
    return reading if usable else replace(reading, outcome=Outcome.UNUSABLE, detail=words)


def advice(question: Question, reading: Reading, breaker: Breaker) -> str:
    """What a person can do when a row has ended with this reading, and what happens next."""
    words = ADVICE[reading.outcome].format(model=question.model.name)
    if reading.detail.startswith(REASONED) or reading.finish == "length":
        words = THOUGHT
    elif reading.detail.startswith(CALLS_TOOL):
        words = CALLED
    if breaker.all.ended:
        return f"{breaker.all.useless} calls in a row gave nothing of use; {words}. {AFTERWARDS}"
    return f"{breaker.batches.useless} batches in a row gave nothing of use; {words}. {ONE_BY_ONE}"


def spent(standing: Standing, run: str, model: str) -> str:
    """The reason not to ask even once: the row ended in this run, or money in it is uncertain. '' if there is none."""
    if standing.useless < MOST:
        return ""
    words = f"the last {standing.useless} calls gave nothing of use"
    if standing.unknown:
        return (
            f"{words}, and {standing.unknown} may have cost money: see `variorum costs --uncertain` and the endpoint's "
            f"bill, then `variorum confirm --model {model} --note …`, with `--cost 0` if they cost nothing, and update "
            "again"
        )
    return f"{words}. {AFTERWARDS}" if standing.run == run else ""
