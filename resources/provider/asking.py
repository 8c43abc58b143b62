"""Asking models about items: one item until there is a verdict, and many items concurrently.

Here: the question about an item, and the loop that all studies share. Not here: retries of a call (client), the JSON
in a reply (replies), the choice of items (benchmark_assets.studies), the meaning of a reply (the rooms).
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
"""Most questions to a judge about one item: one, and up to five retries (audit, section 3.4)."""

TRIES_OF_LENGTH = 2
"""Most tries that may reach the token limit: such replies cost the most, and further tries rarely end differently."""

SECONDS_BETWEEN_WORDS = 5.0
"""Interval between progress messages."""

Ask = Callable[[Question], Awaitable[Reply]]
Thing = TypeVar("Thing")
Value = TypeVar("Value")


Read = Callable[[Reading], tuple[Value, str | None]]
"""Reads a reply: its value, and how the value was parsed; raises Unusable if there is none."""


def fields(names: Collection[str], read: Callable[[Mapping[str, Any]], Value]) -> Read[Value]:
    """A reader of replies that should be JSON objects with these fields (see resources.provider.replies).

    Parameters
    ----------
    read
        Function from the fields present in a reply to its value; raises ValueError with the reason if there is none.
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
    """The common part of all questions of one kind to one model.

    `values` fill the variables of `prompt` that are the same for all items; `variable` holds the item, as JSON.
    `answer` is the JSON schema of a reply, `read` reads the value of a reply, `purpose` is for the accounts. An item
    gets at most `tries` questions. A call with an outcome in `final` is read like a reply although it brought none,
    because asking again would change nothing.
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
        """Everything that determines a verdict, except the item."""
        return self.prompt.digest(**self.values), *self.model.determinants

    def question(self, item: Any, replicate: int = 0) -> Question:
        """The question about one item."""
        shown = json.dumps(item, ensure_ascii=False, indent=1)
        messages = self.prompt.render(**self.values, **{self.variable: shown})
        return Question(self.model, tuple(messages), self.purpose, self.answer, replicate)


class Verdict(NamedTuple, Generic[Value]):
    """The result of asking about an item: a value, the reason for an abstention, or an error.

    `call` is the ledger key of the last question, '' if no model was asked; `asked` is the number of questions.
    `parsing` is how the value was parsed. `refused` is true if the abstention is a refusal, by the model or a filter.
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

    After an unusable reply the question is asked again, up to `template.tries` times in all; then the model abstains. A
    truncated reply counts if its value was complete before the cut. After two unusable replies that reached the token
    limit, the model abstains. A refusal is an abstention at once, because asking again would cost the same and bring
    the same.

    A failed call is an error, not an abstention: the model may answer later.

    Parameters
    ----------
    replicate
        Replicate number of the first question.
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
    """Calls and cost of questions to any models, assuming one call per question; None if there are no questions."""
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
    """Results of `one` for each thing, in order, as many concurrently as the models' lanes allow. The run pays.

    Things are started in order, so that if the budget runs out, the last ones are left. Progress is logged under `name`
    every few seconds and at the end of a round.

    Parameters
    ----------
    models
        The models that `one` asks.
    following
        Function from all results so far to the things of the next round; an empty round ends the asking.
    """
    given: list[tuple[Thing, Value]] = []
    first = following(given)
    if not first:
        return given

    async def rounds() -> None:
        async with provider.opened(run) as client:
            width = sum(client.width(model) for model in {model.name: model for model in models}.values())
            things = first
            while things:
                given.extend(zip(things, await _at_once(client, name, one, things, width), strict=True))
                things = following(given)

    complete(rounds())
    return given


def one_round(things: Sequence[Thing]) -> Callable[[Sequence[tuple[Thing, Value]]], Sequence[Thing]]:
    """A `following` for `ask_all` that asks about all things in one round."""
    return lambda given: () if given else things


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
