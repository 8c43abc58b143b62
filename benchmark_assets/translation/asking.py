"""Translating by a model: what is asked, what is taken from a reply, what is asked for again.

Here: the protocol of PaliBench (appendix A) and of the audit (section 3.2), independent passages as a JSON object, the
same keys back; and how long a single text is asked for. Not here: retries of a call (resources.provider.client), the
form of a reply (structured), chunks and lines (translation.requests).
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from benchmark_assets.translation.batches import halves
from resources.prompts import Prompt
from resources.provider.client import CallFailed, Reply
from resources.provider.question import Question
from resources.provider.reading import Outcome, storable
from resources.provider.registry import Model
from resources.provider.structured import parse, schema_of

PURPOSE = "translate"

TRIES = 3
"""How often a single text is asked for when its replies hold no translation of it."""

TRIES_OF_LENGTH = 2
"""The same once a reply reaches the limit of tokens: such replies cost the most, and rarely end otherwise."""

Ask = Callable[[Question], Awaitable[Reply]]
TEXT: Mapping[str, Any] = {"type": "string"}


class Output(NamedTuple):
    """What came of one passage: its text, a refusal in the model's words, or the error for which there is neither.

    `batch` names the passages that were asked for together by the first of them, `call` the question in the ledger,
    `parsing` how the text was got out of the reply: 'strict', 'repaired' or 'prefix'.
    """

    passage: str
    text: str | None = None
    refusal: str | None = None
    error: str | None = None
    batch: str | None = None
    call: str | None = None
    parsing: str | None = None


@dataclass(frozen=True)
class Task:
    """What all batches of a translation have in common."""

    model: Model
    prompt: Prompt
    source_language: str
    target_language: str

    def question(self, passages: Mapping[str, str], replicate: int = 0) -> Question:
        """The request for these passages, texts by key."""
        messages = self.prompt.render(
            source_language=self.source_language, target_language=self.target_language,
            passages=json.dumps(passages, ensure_ascii=False, indent=1),
        )  # fmt: skip
        return Question(self.model, tuple(messages), PURPOSE, schema_of(passages, TEXT), replicate)


async def translate(ask: Ask, task: Task, passages: Mapping[str, str]) -> list[Output]:
    """Translate one batch, passage by passage where it has to be.

    Of a reply, every passage that it translates is taken, and only the others are asked for again. A batch of which
    nothing could be taken is cut in halves, down to single passages.

    Parameters
    ----------
    passages
        Source texts by key, at least one.

    Returns
    -------
    One output for each passage.
    """
    batch = next(iter(passages))
    outputs: list[Output] = []
    waiting = [passages]
    while waiting:
        part = waiting.pop()
        if len(part) == 1:
            (key,) = part
            output = await insist(ask, partial(task.question, part), key)
            outputs.append(output._replace(batch=batch))
            continue
        question = task.question(part)
        try:
            reply = await ask(question)
        except CallFailed as failure:
            if failure.reading:
                waiting += halves(part)
            else:  # asking was stopped
                outputs += [Output(key, error=str(failure), batch=batch, call=question.key) for key in part]
            continue
        answer = parse(reply.reading, part)
        texts = {key: text for key in part if (text := _text(answer.values.get(key)))}
        outputs += [Output(key, text, batch=batch, call=reply.key, parsing=answer.how) for key, text in texts.items()]
        rest = {key: source for key, source in part.items() if key not in texts}
        if rest:
            waiting += [rest] if texts else halves(part)
    return outputs


async def insist(ask: Ask, question: Callable[[int], Question], key: str) -> Output:
    """Ask for one text until a reply has it: under `key`, which the output is for.

    A refusal is a result at once. A reply that holds no translation is asked for again, `TRIES` times in all, or
    `TRIES_OF_LENGTH` where it reached the limit of tokens.

    Parameters
    ----------
    question
        The request by its replicate, from 0.
    """
    problem, call = "", ""
    for replicate in range(TRIES):
        asked = question(replicate)
        try:
            reply = await ask(asked)
        except CallFailed as failure:
            return Output(key, error=str(failure), batch=key, call=asked.key)
        call, answer = reply.key, parse(reply.reading, [key])
        if text := _text(answer.values.get(key)):
            return Output(key, text, batch=key, call=call, parsing=answer.how)
        if reply.reading.outcome is Outcome.REFUSED:
            return Output(key, refusal=reply.reading.detail, batch=key, call=call)
        problem = answer.problem or "the translation is empty or no text"
        if reply.reading.outcome is Outcome.LENGTH and replicate + 1 >= TRIES_OF_LENGTH:
            break
    return Output(key, error=problem, batch=key, call=call)


def _text(value: object) -> str:
    """A translation as it is stored, '' where a value is none."""
    return storable(value.strip()) if isinstance(value, str) else ""
