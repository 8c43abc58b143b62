"""Asking models about items: about one item repeatedly, until there is a verdict; about many items concurrently.

Here: the question about an item, and the loop that all studies share. Not here: retries of a call (client), the JSON
in a reply (replies), the choice of items (benchmark_assets.studies), the interpretation of a reply
(the package of each study).
"""

import dataclasses
import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from resources import prompts
from resources.errors import BadInput
from resources.prompts import Prompt
from resources.provider.client import CallFailed, Client, NotStored, Reply, complete, each
from resources.provider.estimate import CostEstimate, estimate, total
from resources.provider.marks import NO_MARKS, MarkedForm
from resources.provider.names import Unusable
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading
from resources.provider.registry import Model
from resources.provider.replies import TOLERANT, Tolerance, readings

logger = logging.getLogger("variorum.provider")

TRIES = 6
"""Maximum number of questions about one item: the first, and five retries (audit, section 3.4)."""

TRIES_OF_LENGTH = 2
"""Maximum number of replies about one item that reach the token limit. Such replies are expensive, and retries rarely
help."""

SECONDS_BETWEEN_WORDS = 5.0
"""Interval between progress messages, in seconds."""

Ask = Callable[[Question], Awaitable[Reply]]
Thing = TypeVar("Thing")
Value = TypeVar("Value")


Read = Callable[[Reading], tuple[Value, str | None]]
"""Function that returns a reply's value and the way in which it was parsed (`Fields.how`). The function raises Unusable
if the reply has no value."""


def fields(
    schema: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Value], spoken: str = "", listed: str = "",
    marks: MarkedForm = NO_MARKS,
) -> Read[Value]:  # fmt: skip
    """Make a reader of replies that should be JSON objects with this schema (see resources.provider.replies).

    Parameters
    ----------
    read
        Function that computes the reply's value from its fields. If there is no value, the function raises ValueError
        with the reason.
    spoken
        Key whose value may be given in words instead of an object; '' if there is no such key.
    listed, marks
        Key and form of marked words; '' if there are none.
    """

    def from_reply(reading: Reading) -> tuple[Value, str | None]:
        reasons: list[str] = []
        cut = reading.outcome is not Outcome.ANSWERED
        for answer in readings(reading, Tolerance(schema, spoken, listed, marks)):
            try:
                return read(answer.values), answer.how
            except ValueError as fault:
                reasons.append(str(fault) if answer.values and not cut else answer.problem)
        raise Unusable(next(filter(None, reversed(reasons)), ""))

    return from_reply


@dataclass(frozen=True)
class Template(Generic[Value]):
    """The common part of all questions of one kind to one model.

    `values` fills the variables of `prompt` that are the same for all items; `variable` is the name of the variable for
    the item; the item is inserted as JSON, or `fill` gives the values of the variables for an item. `answer` is the
    JSON schema of a reply (None for free text), and `read` extracts the reply's value. `purpose` is recorded in the
    accounts. At most `tries` questions are asked about an item. A failed call with an outcome in `final` is read like a
    reply, because asking again would not change the outcome.
    """

    model: Model
    prompt: Prompt
    values: Mapping[str, str]
    purpose: str
    answer: Mapping[str, Any] | None
    read: Read[Value]
    variable: str = "item"
    tries: int = TRIES
    final: Collection[Outcome] = ()
    fill: Callable[[Any], Mapping[str, str]] | None = None

    @property
    def determinants(self) -> tuple[object, ...]:
        """Everything that determines a verdict, except the item; for use in fingerprints."""
        return self.prompt.digest(**self.values), *self.model.determinants

    def question(self, item: Any, replicate: int = 0) -> Question:
        """Make the question about one item, which is any JSON value."""
        shown = self.fill(item) if self.fill else {self.variable: json.dumps(item, ensure_ascii=False, indent=1)}
        messages = self.prompt.render(**self.values, **shown)
        return Question(self.model, tuple(messages), self.purpose, self.answer, replicate, self.reads)

    def reads(self, reading: Reading) -> bool:
        """Whether a reply has a value."""
        try:
            self.read(reading)
        except Unusable:
            return False
        return True


def template_of(
    model: Model, name: str, values: Mapping[str, str], answer: Mapping[str, Any],
    read: Callable[[Mapping[str, Any]], Value], spoken: str = "", listed: str = "", marks: MarkedForm = NO_MARKS,
) -> Template[Value]:  # fmt: skip
    """The template of questions whose purpose has the name of their prompt; the other arguments are as for `fields`."""
    return Template(model, prompts.load(name), values, name, answer, fields(answer, read, spoken, listed, marks))


class Verdict(NamedTuple, Generic[Value]):
    """The result of asking about an item: a value, the reason for an abstention, or an error.

    `call` is the ledger key of the last question, '' if none was asked; `asked` is the number of questions. `parsing`
    is the way in which the value was parsed. `refused` is true if the model or a filter refused to answer.
    """

    call: str = ""
    asked: int = 0
    value: Value | None = None
    parsing: str | None = None
    abstention: str | None = None
    error: str | None = None
    refused: bool = False


async def insist(ask: Ask, template: Template[Value], item: Any, replicate: int = 0) -> Verdict[Value]:
    """Ask about one item until a reply can be read.

    A stored reply that only the tolerant reading can read was unusable in earlier versions, which asked again. If they
    stored a later reply that the strict reading can read, that reply was used, and stays in use. Otherwise, the
    earliest readable reply is used.

    The question is asked at most `template.tries` times, and again only after an unusable reply. The model abstains if
    no reply is usable. It abstains at once if two unusable replies reached the token limit, or if it refuses, because
    asking again would cost as much and end the same way. For the same reason, a model with temperature 0 is not asked
    again after two equal replies. Replies that are stored already are read in any case. A truncated reply is usable if
    its value was complete before the cut.

    A failed call is an error, not an abstention: the model may answer later.

    Parameters
    ----------
    replicate
        Replicate number of the first question.
    """
    lengths, verdict = 0, Verdict[Value]()
    tolerant: Verdict[Value] | None = None
    previous: Reading | None = None
    enough = False
    for number in range(replicate, replicate + template.tries):
        question = template.question(item, number)
        if enough:
            question = dataclasses.replace(question, free=True)
        call, asked, recorded = question.key, number - replicate + 1, False
        try:
            reply = await ask(question)
            reading, recorded = reply.reading, reply.recorded
        except CallFailed as failure:
            if enough and isinstance(failure, NotStored):
                break
            if failure.reading is None or failure.reading.outcome not in template.final:
                return Verdict(call, asked, error=str(failure))
            reading = failure.reading
        except BadInput as fault:
            return Verdict(call, asked, error=str(fault))
        try:
            value, parsing = template.read(reading)
            verdict = Verdict(call, asked, value, parsing)
            if not recorded or parsing != TOLERANT:
                return verdict
            tolerant = tolerant or verdict
        except Unusable as reason:
            verdict = Verdict(call, asked, abstention=str(reason), refused=reading.outcome is Outcome.REFUSED)
        lengths += reading.outcome is Outcome.LENGTH
        if verdict.refused or lengths == TRIES_OF_LENGTH:
            break
        enough = enough or tolerant is not None or repeats(template.model, reading, previous)
        previous = reading
    return tolerant or verdict


def free(ask: Ask) -> Ask:
    """The same way of asking, but only for replies that the ledger has already."""
    return lambda question: ask(dataclasses.replace(question, free=True))


def repeats(model: Model, reading: Reading, previous: Reading | None) -> bool:
    """Whether a reply equals the one before at temperature 0, so that the next one would be the same."""
    same = previous is not None and (reading.outcome, reading.text) == (previous.outcome, previous.text)
    return same and model.settings.temperature == 0


def estimate_all(provider: Provider, questions: Iterable[Question]) -> CostEstimate | None:
    """Estimate the cost of questions to one or more models, at one call per question; None if there are no
    questions."""
    by_model: dict[str, list[Question]] = {}
    for question in questions:
        by_model.setdefault(question.model.name, []).append(question)
    return total(estimate(group, provider.ledger) for group in by_model.values()) if by_model else None


def ask_all(
    provider: Provider,
    name: str,
    one: Callable[[Ask, Thing], Awaitable[Value]],
    models: Iterable[Model],
    run: str,
    following: Callable[[Sequence[tuple[Thing, Value]]], Sequence[Thing]],
) -> list[tuple[Thing, Value]]:
    """Ask models about many things concurrently, as far as their lanes allow, and pair each thing with its result.

    Results are in the order of the things. Things are also started in order: if the budget runs out, the last things
    get no reply. Progress is logged under `name` every few seconds and at the end of a round.

    Parameters
    ----------
    one
        Function that asks about one thing.
    models
        The models that `one` asks.
    run
        The run to which calls are charged.
    following
        Function that returns the things of the next round, given all results so far; an empty round ends the work.
    """
    results: list[tuple[Thing, Value]] = []
    first = following(results)
    if not first:
        return results

    async def rounds() -> None:
        async with provider.opened(run) as client:
            width = sum(client.width(model) for model in {model.name: model for model in models}.values())
            things = first
            while things:
                results.extend(zip(things, await _at_once(client, name, one, things, width), strict=True))
                things = following(results)

    complete(rounds())
    return results


def one_round(things: Sequence[Thing]) -> Callable[[Sequence[tuple[Thing, Value]]], Sequence[Thing]]:
    """Make the argument `following` of `ask_all` for a single round with all things."""
    return lambda results: () if results else things


async def _at_once(
    client: Client, name: str, one: Callable[[Ask, Thing], Awaitable[Value]], things: Sequence[Thing], width: int
) -> list[Value]:
    done: dict[int, Value] = {}
    logged = time.monotonic()

    async def numbered(number: int) -> None:
        done[number] = await one(client.ask, things[number])

    async for _ in each(numbered, range(len(things)), width):
        if time.monotonic() > logged + SECONDS_BETWEEN_WORDS:
            logger.info("%s: %d of %d", name, len(done), len(things))
            logged = time.monotonic()
    logger.info("%s: %d of %d", name, len(done), len(things))
    return [done[number] for number in range(len(things))]
