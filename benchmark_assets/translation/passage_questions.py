"""Translation of passages by a model, with further questions about passages that are missing from a reply.

Here: the protocol of PaliBench (appendix A) and of the audit (section 3.2): independent passages are sent as one JSON
object, and the reply is an object with the same keys. Not here: retries of a failed call (resources.provider.client),
parsing of replies (resources.provider.replies), chunks and lines (translation.requests).
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from benchmark_assets.translation.batches import halves
from benchmark_assets.translation.order import exchanged
from resources.prompts import Prompt
from resources.provider.asking import Ask, Template, Verdict, fields, free, insist
from resources.provider.client import BatchesStoppedError, CallFailed
from resources.provider.names import Unusable
from resources.provider.reading import Reading, storable
from resources.provider.registry import Model
from resources.provider.replies import REFUSED, TEXT, TOLERANT, schema_of
from resources.wording import visible

logger = logging.getLogger("variorum.provider")

PURPOSE = "translate"

TRIES = 3
"""Maximum number of questions about a single passage. Asking ends earlier if a reply has a translation."""


class Output(NamedTuple):
    """Result for one passage: a translation, a refusal in the model's words, or an error.

    `batch` is the first passage of the batch in which the passage was requested, `call` is the ledger key of the
    question, and `parsing` tells how the reply was parsed (provider.replies). `prompt` names the prompt, and `settings`
    are the fields of the request as JSON.
    """

    passage: str
    text: str | None = None
    refusal: str | None = None
    error: str | None = None
    batch: str | None = None
    call: str | None = None
    parsing: str | None = None
    prompt: str | None = None
    settings: str | None = None


Passages = Callable[[Iterable[str]], Template[str]]
"""Function from passage keys to the template of a question about these passages. From a reply, the
template reads only the translation under the first of these keys."""


def translating(model: Model, prompt: Prompt, languages: Mapping[str, str]) -> Passages:
    """Make templates of questions about passages. `languages` maps variables of the prompt to names of languages."""

    def template(keys: Iterable[str]) -> Template[str]:
        names = list(keys)
        schema = schema_of(names, TEXT)
        read = fields(schema, partial(text_under, names[0]))
        return Template(model, prompt, languages, PURPOSE, schema, read, "passages", TRIES)

    return template


def text_under(key: str, values: Mapping[str, Any]) -> str:
    """The translation under a key of a reply, stripped and storable.

    Raises
    ------
    ValueError
        If the value is missing, empty, or not a string.
    """
    if text := _text(values.get(key)):
        return text
    raise ValueError("the translation is missing, empty or not a string")


def output_of(passage: str, batch: str, verdict: Verdict[str]) -> Output:
    """The output of a passage, from the verdict on a question about this passage alone."""
    refusal = (verdict.abstention or "").removeprefix(REFUSED) if verdict.refused else None
    error = verdict.error or (None if verdict.refused else verdict.abstention)
    return Output(passage, verdict.value, refusal, error, batch, verdict.call, verdict.parsing)


async def translate(ask: Ask, template: Passages, passages: Mapping[str, str]) -> list[Output]:
    """Translate one batch of passages, with further requests for passages that are missing from a reply.

    Every translation in a reply is kept, and only the missing passages are requested again. If a reply has no usable
    translation, its batch is cut in halves, down to single passages. If the client stops batches, because none of them
    gets a usable reply, the passages are requested one by one at once.

    Translations that fit clearly better under each other's keys (translation.order) are requested again one by one. If
    such a request gives no translation, the first translation is kept, so that no output is lost on mere suspicion.

    Parameters
    ----------
    passages
        Source texts by key, at least one.

    Returns
    -------
    One output for each passage, in any order.
    """
    batch = next(iter(passages))
    outputs: list[Output] = []
    queue: list[Mapping[str, str]] = [passages]
    while queue:
        part = queue.pop(0)  # breadth first: both halves of a part are asked before the halves of either
        part_template = template(part)
        if len(part) == 1:
            (key,) = part
            outputs.append(output_of(key, batch, await insist(ask, part_template, part)))
            continue
        question = replace(part_template.question(part), usable=partial(_has_texts, part), batch=True)
        try:
            reply = await ask(question)
        except BatchesStoppedError:
            queue += [{key: text} for key, text in part.items()]
            continue
        except CallFailed as failure:
            if failure.reading:
                queue += reversed(halves(part))
            else:  # not asked, for example because the budget is spent
                outputs += [Output(key, error=str(failure), batch=batch, call=question.key) for key in part]
            continue
        texts, how = texts_of(reply.reading, part)
        if reply.recorded and how == TOLERANT:
            kept = await _of_earlier_versions(ask, template, part)
            outputs += [output._replace(batch=batch) for output in kept]
            part = {key: text for key, text in part.items() if key not in {output.passage for output in kept}}
            texts = {key: text for key, text in texts.items() if key in part}
        first = [Output(key, text, batch=batch, call=reply.key, parsing=how) for key, text in texts.items()]
        suspects = exchanged(part, texts)
        outputs += [output for output in first if output.passage not in suspects]
        for output in first:
            if output.passage in suspects:
                outputs.append(await _alone(ask, template, part, output))
        rest = {key: source for key, source in part.items() if key not in texts}
        if rest:
            queue += [rest] if texts else reversed(halves(part))
    return outputs


def texts_of(reading: Reading, keys: Iterable[str]) -> tuple[Mapping[str, str], str | None]:
    """The translations in a reply to a batch, by key, and how the reply was parsed; no translations and None if the
    reply has none."""
    names = list(keys)

    def found(values: Mapping[str, Any]) -> Mapping[str, str]:
        if texts := {key: text for key in names if (text := _text(values.get(key)))}:
            return texts
        raise ValueError("no translation of any passage")

    try:
        return fields(schema_of(names, TEXT), found)(reading)
    except Unusable:
        return {}, None


def _has_texts(keys: Iterable[str], reading: Reading) -> bool:
    return bool(texts_of(reading, keys)[0])


async def _of_earlier_versions(ask: Ask, template: Passages, part: Mapping[str, str]) -> list[Output]:
    """The outputs that earlier versions used instead of a stored reply to a batch, which they could not read: those of
    its halves, as far as their replies are stored."""
    outputs = [output for half in halves(part) for output in await translate(free(ask), template, half)]
    return [output for output in outputs if output.error is None and output.parsing != TOLERANT]


async def _alone(ask: Ask, template: Passages, sources: Mapping[str, str], first: Output) -> Output:
    """Request a single passage whose `first` output may belong to another passage, and return the output to keep."""
    passage = {first.passage: sources[first.passage]}
    again = output_of(first.passage, str(first.batch), await insist(ask, template(passage), passage))
    kept = again.text is None
    logger.warning(
        "%s: the translation seems to belong to another passage of the reply; %s", first.passage,
        f"kept, because a second request failed ({again.error or again.refusal})" if kept else "replaced by a new one",
    )  # fmt: skip
    return first if kept else again


def _text(value: object) -> str:
    """A translation, stripped and storable; '' if the value is not a string or shows nothing."""
    return storable(value.strip()) if isinstance(value, str) and visible(value) else ""
