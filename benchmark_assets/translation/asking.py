"""Translation by a model: questions, use of replies, repeated questions.

Here: the protocol of PaliBench (appendix A) and of the audit (section 3.2), with independent passages as a JSON object
whose keys the reply repeats; and the number of tries for a single text. Not here: retries of a call
(resources.provider.client), the form of a reply (replies), chunks and lines (translation.requests).
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
"""Number of questions about a single text while its replies hold no translation."""

TEXT: Mapping[str, Any] = {"type": "string"}


class Output(NamedTuple):
    """Result for one passage: its text, a refusal in the model's words, or the error in place of either.

    `batch` is the first passage of the request's batch, `call` the question in the ledger, `parsing` the way the reply
    was parsed: 'strict', 'repaired' or 'prefix'.
    """

    passage: str
    text: str | None = None
    refusal: str | None = None
    error: str | None = None
    batch: str | None = None
    call: str | None = None
    parsing: str | None = None


Passages = Callable[[Iterable[str]], Template[str]]
"""The template of questions about passages with these keys; its reader takes the first key's translation."""


def translating(model: Model, prompt: Prompt, languages: Mapping[str, str]) -> Passages:
    """Templates of questions about passages; the languages are names, as in the prompt."""

    def template(keys: Iterable[str]) -> Template[str]:
        names = list(keys)
        read = fields(names, partial(text_under, names[0]))
        return Template(model, prompt, languages, PURPOSE, schema_of(names, TEXT), read, "passages", TRIES)

    return template


def text_under(key: str, values: Mapping[str, Any]) -> str:
    """The translation under a key, in the form in which it is stored.

    Raises
    ------
    ValueError
        If there is none.
    """
    if text := _text(values.get(key)):
        return text
    raise ValueError("the translation is empty or no text")


def output_of(passage: str, batch: str, verdict: Verdict[str]) -> Output:
    """The output of a passage that was requested alone."""
    refusal = (verdict.abstention or "").removeprefix(REFUSED) if verdict.refused else None
    error = verdict.error or (None if verdict.refused else verdict.abstention)
    return Output(passage, verdict.value, refusal, error, batch, verdict.call, verdict.parsing)


async def translate(ask: Ask, template: Passages, passages: Mapping[str, str]) -> list[Output]:
    """Translate one batch, passage by passage if necessary.

    Every passage that a reply translates is taken, and only the others are asked for again. A batch whose reply has no
    usable passage is cut in halves, down to single passages.

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
        part_template = template(part)
        if len(part) == 1:
            (key,) = part
            outputs.append(output_of(key, batch, await insist(ask, part_template, part)))
            continue
        question = part_template.question(part)
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
    """A translation in the form in which it is stored; '' if a value is no text."""
    return storable(value.strip()) if isinstance(value, str) else ""
