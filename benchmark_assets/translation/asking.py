"""Translating a batch of passages by a model: what is asked, what is taken from a reply, what is asked for again.

Here: the protocol of PaliBench (appendix A) and of the audit (section 3.2): independent passages as a JSON object, the
same keys back. Not here: retries of a call (resources.provider.client), the form of a reply (structured).
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
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
"""How often a single passage is asked for when its replies hold no translation of it."""

TRIES_OF_LENGTH = 2
"""The same for a passage whose replies reach the limit of tokens: these cost the most, and rarely end otherwise."""

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


async def translate(
    ask: Callable[[Question], Awaitable[Reply]], task: Task, passages: Mapping[str, str]
) -> list[Output]:
    """Translate one batch, passage by passage where it has to be.

    Of a reply, every passage that it translates is taken, and only the others are asked for again. A batch of which
    nothing could be taken is cut in halves, down to single passages: one of them that is refused is a result, one that
    is unusable is asked for a few times.

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
    waiting = [(passages, 0)]
    while waiting:
        part, replicate = waiting.pop()
        question = task.question(part, replicate)
        try:
            reply = await ask(question)
        except CallFailed as failure:
            if failure.reading and len(part) > 1:  # without a reading, asking was stopped
                waiting += [(half, 0) for half in halves(part)]
            else:
                outputs += [Output(key, error=str(failure), batch=batch, call=question.key) for key in part]
            continue
        answer = parse(reply.reading, part)
        texts = {key: value for key, value in answer.values.items() if isinstance(value, str) and value.strip()}
        outputs += [
            Output(key, storable(text.strip()), batch=batch, call=reply.key, parsing=answer.how)
            for key, text in texts.items()
        ]
        rest = {key: source for key, source in part.items() if key not in texts}
        if not rest:
            continue
        if texts:
            waiting.append((rest, 0))
        elif len(part) > 1:
            waiting += [(half, 0) for half in halves(part)]
        else:
            (key,) = part
            if reply.reading.outcome is Outcome.REFUSED:
                outputs.append(Output(key, refusal=reply.reading.detail, batch=batch, call=reply.key))
            elif replicate + 1 == (TRIES_OF_LENGTH if reply.reading.outcome is Outcome.LENGTH else TRIES):
                problem = answer.problem or "the translation is empty or no text"
                outputs.append(Output(key, error=problem, batch=batch, call=reply.key))
            else:
                waiting.append((part, replicate + 1))
    return outputs
