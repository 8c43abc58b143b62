"""Asking judges: one kind of item put to one judge, again until the answer is one, and many items at a time.

Here: what all protocols of judging have in common. Not here: retries of a call (client), the form of a reply
(structured), what is asked and what its answer must be (the rooms).
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from resources.errors import BadInput
from resources.prompts import Prompt
from resources.provider.client import CallFailed, Client, Reply, each
from resources.provider.estimate import Estimate, estimate, total
from resources.provider.question import Question
from resources.provider.reading import Outcome
from resources.provider.registry import Model
from resources.provider.structured import parse

logger = logging.getLogger("variorum.provider")

TRIES = 6
"""How often a judge is asked about one item: once, and up to five times again (audit, section 3.4)."""

TRIES_OF_LENGTH = 2
"""How many of these may reach the limit of tokens: such replies cost the most, and rarely end otherwise."""

SECONDS_BETWEEN_WORDS = 5.0
"""How often progress is reported."""

Ask = Callable[[Question], Awaitable[Reply]]
Item = TypeVar("Item")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Task:
    """What all questions of one kind to one judge have in common.

    `prompt` has the variables `source_language`, `target_language` (names) and `item`; `answer` is the JSON schema of
    an answer, `purpose` for the accounts.
    """

    model: Model
    prompt: Prompt
    source_language: str
    target_language: str
    purpose: str
    answer: Mapping[str, Any]

    @property
    def determinants(self) -> tuple[object, ...]:
        """What determines an answer besides the item."""
        languages = {"source_language": self.source_language, "target_language": self.target_language}
        return self.prompt.digest(**languages), *self.model.determinants

    def question(self, item: Mapping[str, Any], replicate: int = 0) -> Question:
        """The request about one item, which the judge sees as JSON."""
        messages = self.prompt.render(
            source_language=self.source_language, target_language=self.target_language,
            item=json.dumps(item, ensure_ascii=False, indent=1),
        )  # fmt: skip
        return Question(self.model, tuple(messages), self.purpose, self.answer, replicate)


def estimate_asking(ledger: Path, asked: Iterable[tuple[Task, Mapping[str, Any]]]) -> Estimate:
    """Calls and cost of asking tasks about items, taking every first answer to be one."""
    by_judge: dict[str, list[Question]] = {}
    for task, item in asked:
        by_judge.setdefault(task.model.name, []).append(task.question(item))
    return total(estimate(questions, ledger) for questions in by_judge.values())


class Told(NamedTuple, Generic[Value]):
    """What came of one item: a value, the reason why the judge gave none, or the error in place of either.

    `call` is the last question in the ledger, `asked` how many there were, `parsing` how the value was got out of the
    reply: 'strict', 'repaired' or 'prefix'.
    """

    call: str
    asked: int
    value: Value | None = None
    parsing: str | None = None
    abstention: str | None = None
    error: str | None = None


async def insist(
    ask: Ask, task: Task, item: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Value]
) -> Told[Value]:
    """Ask about one item until the answer is one.

    An answer that is none is asked for again, five times at most; then the judge abstains. A reply that was cut off
    counts if what `read` needs was complete before the cut; after two that reached the limit of tokens without it, the
    judge abstains. A refusal, by the judge or by a filter, is an abstention at once: it is a paid reply that would come
    again. A repaired reply has to have all fields and no other (see resources.provider.structured).

    A call that fails is an error, no abstention: asked later, the judge may well answer.

    Parameters
    ----------
    read
        The value of the fields that a reply holds; raises ValueError, in words, where they are none.
    """
    problem, call, lengths, fields = "", "", 0, task.answer["required"]
    for replicate in range(TRIES):
        question = task.question(item, replicate)
        try:
            reply = await ask(question)
        except (CallFailed, BadInput) as failure:
            return Told(question.key, replicate + 1, error=str(failure))
        call, answer = reply.key, parse(reply.reading, fields)
        try:
            return Told(call, replicate + 1, read(answer.values), answer.how)
        except ValueError as fault:
            problem = str(fault) if answer.values and answer.how != "prefix" else answer.problem
        lengths += reply.reading.outcome is Outcome.LENGTH
        if reply.reading.outcome is Outcome.REFUSED or lengths == TRIES_OF_LENGTH:
            break
    return Told(call, replicate + 1, abstention=problem)


async def at_once(
    client: Client, one: Callable[[Item], Awaitable[Value]], items: Sequence[Item], models: Iterable[Model], name: str
) -> list[Value]:
    """What `one` makes of each item, in their order, as many at a time as the models' lanes take.

    Items are begun in their order, so that where a budget ends the asking, those at the end are left. Every few
    seconds, and at the end, a line under `name` says how many are done.
    """
    done: dict[int, Value] = {}
    said = time.monotonic()

    async def numbered(number: int) -> None:
        done[number] = await one(items[number])

    width = sum(client.width(model) for model in {model.name: model for model in models}.values())
    async for _ in each(numbered, range(len(items)), width):
        if time.monotonic() > said + SECONDS_BETWEEN_WORDS:
            logger.info("%s: %d of %d", name, len(done), len(items))
            said = time.monotonic()
    logger.info("%s: %d of %d", name, len(done), len(items))
    return [done[number] for number in range(len(items))]
