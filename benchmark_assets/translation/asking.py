"""Translating by a model: what is asked, what is taken from a reply, what is asked for again.

Here: the protocol of PaliBench (appendix A) and of the audit (section 3.2), independent passages as a JSON object, the
same keys back; and how long a single text is asked for. Not here: retries of a call (resources.provider.client), the
form of a reply (replies), chunks and lines (translation.requests).
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from benchmark_assets.translation.batches import halves
from resources.prompts import Prompt
from resources.provider.asking import Ask, Template, Verdict, fields, insist
from resources.provider.client import CallFailed
from resources.provider.reading import storable
from resources.provider.registry import Model
from resources.provider.replies import REFUSED, parse, schema_of

PURPOSE = "translate"

TRIES = 3
"""How often a single text is asked for when its replies hold no translation of it."""

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


Passages = Callable[[Iterable[str]], Template[str]]
"""How passages of these keys are asked for; what is read from a reply is the translation of the first."""


def translating(model: Model, prompt: Prompt, languages: Mapping[str, str]) -> Passages:
    """How a model is asked for passages; the languages are names, as the prompt has them."""

    def template(keys: Iterable[str]) -> Template[str]:
        names = list(keys)
        read = fields(names, partial(text_under, names[0]))
        return Template(model, prompt, languages, PURPOSE, schema_of(names, TEXT), read, "passages", TRIES)

    return template


def text_under(key: str, values: Mapping[str, Any]) -> str:
    """The translation under a key, as it is stored.

    Raises
    ------
    ValueError
        Where there is none.
    """
    if text := _text(values.get(key)):
        return text
    raise ValueError("the translation is empty or no text")


def output_of(passage: str, batch: str, verdict: Verdict[str]) -> Output:
    """What came of a passage that was asked for alone."""
    refusal = (verdict.abstention or "").removeprefix(REFUSED) if verdict.refused else None
    error = verdict.error or (None if verdict.refused else verdict.abstention)
    return Output(passage, verdict.value, refusal, error, batch, verdict.call, verdict.parsing)


async def translate(ask: Ask, template: Passages, passages: Mapping[str, str]) -> list[Output]:
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
        own = template(part)
        if len(part) == 1:
            (key,) = part
            outputs.append(output_of(key, batch, await insist(ask, own, part)))
            continue
        question = own.question(part)
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


def _text(value: object) -> str:
    """A translation as it is stored, '' where a value is none."""
    return storable(value.strip()) if isinstance(value, str) else ""
