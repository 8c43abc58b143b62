"""Asking models about items: one item until there is a verdict, and many items at a time.

Here: the question about an item, and what all studies share in asking it. Not here: retries of a call (client), the
JSON in a reply (replies), which items there are (benchmark_assets.studies), what a reply must say (the rooms).
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from resources.errors import BadInput
from resources.prompts import Prompt
from resources.provider.client import CallFailed, Client, Reply, complete, each
from resources.provider.estimate import Estimate, estimate, total
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading
from resources.provider.registry import Model
from resources.provider.replies import Unusable, parse

logger = logging.getLogger("variorum.provider")

TRIES = 6
"""How often a judge is asked about one item: once, and up to five times again (audit, section 3.4)."""

TRIES_OF_LENGTH = 2
"""How many of these may reach the limit of tokens: such replies cost the most, and rarely end otherwise."""

SECONDS_BETWEEN_WORDS = 5.0
"""How often progress is reported."""

Ask = Callable[[Question], Awaitable[Reply]]
Thing = TypeVar("Thing")
Value = TypeVar("Value")


Read = Callable[[Reading], tuple[Value, str | None]]
"""The value of a reply, and how it was found in the reply; raises Unusable where there is none."""


def fields(names: Collection[str], read: Callable[[Mapping[str, Any]], Value]) -> Read[Value]:
    """Read a reply that should be a JSON object with these fields (see resources.provider.replies).

    Parameters
    ----------
    read
        The value of the fields that a reply has; raises ValueError, in words, where they give none.
    """

    def from_reply(reading: Reading) -> tuple[Value, str | None]:
        answer = parse(reading, names)
        try:
            return read(answer.values), answer.how
        except ValueError as fault:
            raise Unusable(str(fault) if answer.values and answer.how != "prefix" else answer.problem) from fault

    return from_reply


@dataclass(frozen=True)
class Template(Generic[Value]):
    """What all questions of one kind to one model have in common.

    `values` fill those variables of `prompt` that are the same for all items; `variable` is the one that holds the
    item, as JSON. `answer` is the JSON schema of a reply, `read` takes the value from one, `purpose` is for the
    accounts. An item is asked about `tries` times at most. A call that ends in one of the outcomes `final` brought no
    reply, but is read like one: to ask again would change nothing.
    """

    model: Model
    prompt: Prompt
    values: Mapping[str, str]
    purpose: str
    answer: Mapping[str, Any]
    read: Read[Value]
    variable: str = "item"
    tries: int = TRIES
    final: Collection[Outcome] = ()

    @property
    def determinants(self) -> tuple[object, ...]:
        """What determines a verdict besides the item."""
        return self.prompt.digest(**self.values), *self.model.determinants

    def question(self, item: Any, replicate: int = 0) -> Question:
        """The request about one item."""
        shown = json.dumps(item, ensure_ascii=False, indent=1)
        messages = self.prompt.render(**self.values, **{self.variable: shown})
        return Question(self.model, tuple(messages), self.purpose, self.answer, replicate)


class Verdict(NamedTuple, Generic[Value]):
    """What came of an item: a value, the reason why there is none, or the error in place of either.

    `call` is the last question in the ledger, '' where nobody was asked; `asked` is how many questions there were.
    `parsing` says how the value was found in the reply. `refused`: the reason is a refusal, by the model or by a
    filter.
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

    An unusable reply is asked for again, `template.tries` times in all; then the model abstains. A reply that was cut
    off counts if what is read from it was complete before the cut. After two replies that reached the limit of tokens
    without that, the model abstains. A refusal is an abstention at once: it is a paid reply that would come again.

    A call that fails is an error, no abstention: asked later, the model may well answer.

    Parameters
    ----------
    replicate
        Number of the first question.
    """
    problem, call, lengths = "", "", 0
    for number in range(replicate, replicate + template.tries):
        question = template.question(item, number)
        call, asked = question.key, number - replicate + 1
        try:
            reading = (await ask(question)).reading
        except CallFailed as failure:
            if failure.reading is None or failure.reading.outcome not in template.final:
                return Verdict(call, asked, error=str(failure))
            reading = failure.reading
        except BadInput as fault:
            return Verdict(call, asked, error=str(fault))
        try:
            value, parsing = template.read(reading)
            return Verdict(call, asked, value, parsing)
        except Unusable as reason:
            problem = str(reason)
        lengths += reading.outcome is Outcome.LENGTH
        if reading.outcome is Outcome.REFUSED or lengths == TRIES_OF_LENGTH:
            break
    return Verdict(call, asked, abstention=problem, refused=reading.outcome is Outcome.REFUSED)


def estimate_all(provider: Provider, questions: Iterable[Question]) -> Estimate | None:
    """Calls and cost of questions to any models, each taken to be answered at once; None where there are none."""
    by_model: dict[str, list[Question]] = {}
    for question in questions:
        by_model.setdefault(question.model.name, []).append(question)
    return total(estimate(own, provider.ledger) for own in by_model.values()) if by_model else None


def ask_all(
    provider: Provider,
    name: str,
    one: Callable[[Ask, Thing], Awaitable[Value]],
    models: Iterable[Model],
    run: str,
    following: Callable[[Sequence[tuple[Thing, Value]]], Sequence[Thing]],
) -> list[tuple[Thing, Value]]:
    """What `one` makes of each thing, in their order, as many at a time as the models' lanes take. The run pays.

    Things are begun in their order, so that where a budget ends the asking, those at the end are left. Every few
    seconds, and at the end of a round, a line under `name` says how many are done.

    Parameters
    ----------
    models
        Those that are asked.
    following
        The things of the next round, from all that came so far; none ends the asking.
    """
    given: list[tuple[Thing, Value]] = []
    first = following(given)
    if not first:
        return given

    async def asked() -> None:
        async with provider.opened(run) as client:
            width = sum(client.width(model) for model in {model.name: model for model in models}.values())
            things = first
            while things:
                given.extend(zip(things, await _at_once(client, name, one, things, width), strict=True))
                things = following(given)

    complete(asked())
    return given


def one_round(things: Sequence[Thing]) -> Callable[[Sequence[tuple[Thing, Value]]], Sequence[Thing]]:
    """All things in one round, for `ask_all`."""
    return lambda given: () if given else things


async def _at_once(
    client: Client, name: str, one: Callable[[Ask, Thing], Awaitable[Value]], things: Sequence[Thing], width: int
) -> list[Value]:
    done: dict[int, Value] = {}
    said = time.monotonic()

    async def numbered(number: int) -> None:
        done[number] = await one(client.ask, things[number])

    async for _ in each(numbered, range(len(things)), width):
        if time.monotonic() > said + SECONDS_BETWEEN_WORDS:
            logger.info("%s: %d of %d", name, len(done), len(things))
            said = time.monotonic()
    logger.info("%s: %d of %d", name, len(done), len(things))
    return [done[number] for number in range(len(things))]
