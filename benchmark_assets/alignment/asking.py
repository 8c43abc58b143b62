"""Align a continuous translation with the segments of its source by a model: questions, use of replies, repeated
questions.

Here: the protocol of PaliBench (section 3.2, appendix B): the whole translation with each batch of segments, and a JSON
object whose keys the reply repeats. Not here: whether an answer occurs in the translation (verification), retries of a
call (resources.provider.client), the form of a reply (replies).
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmark_assets.corpus.model import passage_of
from benchmark_assets.translation.batches import halves
from benchmark_assets.translation.systems import language_name
from resources import prompts
from resources.digest import digest
from resources.prompts import Prompt
from resources.provider.client import CallFailed, Reply, complete, each
from resources.provider.estimate import Estimate, estimate
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Outcome, storable
from resources.provider.registry import Model
from resources.provider.replies import parse, schema_of

logger = logging.getLogger("variorum.alignment")

PURPOSE = "align"

SMALLEST, LARGEST = 15, 30
"""Segments of a batch. Source: PaliBench, section 3.2."""

TRIES = 3
"""Most replies in a row without a requested segment. Each question repeats the whole translation."""

EXTRACT: Mapping[str, Any] = {"type": ["string", "null"]}


class Asked(NamedTuple):
    """A segment's source text, and its text in a segmented translation; None if there is no such text."""

    source: str
    guide: str | None


class Extracted(NamedTuple):
    """Result for one segment.

    `text` is None if the translation has no text for the segment, or if there is an `error`. `call` identifies the
    question in the ledger; `parsing` is 'strict', 'repaired' or 'prefix', the way in which the reply was parsed. `call`
    and `parsing` are None if no question was asked.
    """

    segment: str
    text: str | None = None
    error: str | None = None
    call: str | None = None
    parsing: str | None = None


@dataclass(frozen=True)
class Task:
    """The common part of all batches of a document and translator. `prose` is the whole translation."""

    model: Model
    prompt: Prompt
    source_language: str
    target_language: str
    prose: str

    def question(self, segments: Mapping[str, Asked], replicate: int = 0) -> Question:
        """The request for segments, given by id. The text before the segments is the same for each batch."""
        items = {
            segment: {"source": asked.source} | ({"guide": asked.guide} if asked.guide else {})
            for segment, asked in segments.items()
        }
        messages = self.prompt.render(
            source_language=self.source_language, target_language=self.target_language, prose=self.prose,
            segments=json.dumps(items, ensure_ascii=False, indent=1),
        )  # fmt: skip
        return Question(self.model, tuple(messages), PURPOSE, schema_of(segments, EXTRACT), replicate)


class AlignmentWork(NamedTuple):
    """A translation of a document that a model aligns.

    `source_language` and `target_language` are BCP 47 or ISO 639 tags. `segments` are all segments of the document, in
    order; `asked` are the ids of the segments to align.
    """

    document: str
    translator: str
    source_language: str
    target_language: str
    prose: str
    segments: Mapping[str, Asked]
    asked: Sequence[str]


def batches(segments: Sequence[str]) -> list[list[str]]:
    """Cut segments, in order, into batches of 15 to 30; fewer than 15 are one batch.

    Parameters
    ----------
    segments
        Ids of the segments of a document.

    Returns
    -------
    list
        Ids of each batch. As few cuts as possible lie within a passage; among equal ways the one with fewest batches.
    """
    if len(segments) <= LARGEST:
        return [list(segments)] if segments else []
    # By the end of a batch: number of cuts within passages so far, and the start of the batch. A longer last batch
    # never needs another one before it, so the earliest start makes the fewest batches.
    best: dict[int, tuple[int, int]] = {0: (0, 0)}
    for end in range(SMALLEST, len(segments) + 1):
        starts = [start for start in range(max(0, end - LARGEST), end - SMALLEST + 1) if start in best]
        ways = [(best[start][0] + _is_within(segments, start), start) for start in starts]
        if ways:
            best[end] = min(ways)
    cut: list[list[str]] = []
    end = len(segments)
    while end:
        start = best[end][1]
        cut.append(list(segments[start:end]))
        end = start
    return cut[::-1]


def _is_within(segments: Sequence[str], cut: int) -> bool:
    return cut > 0 and passage_of(segments[cut - 1]) == passage_of(segments[cut])


async def align(
    ask: Callable[[Question], Awaitable[Reply]], task: Task, segments: Mapping[str, Asked]
) -> list[Extracted]:
    """Align one batch.

    Every segment that a reply answers by a text or null is taken, and only the others are asked for again. After a
    reply without a usable answer the question is repeated a few times, in halves if the reply reached the limit of
    tokens. A refusal and a failed call are final for their segments: the translation, which is in every question, is as
    likely their cause as a segment.

    Parameters
    ----------
    segments
        Consecutive segments by id.

    Returns
    -------
    One for each segment, in their order. A blank text counts as null.
    """
    extracted: dict[str, Extracted] = {}
    waiting = [(segments, 0)]
    while waiting:
        part, tries = waiting.pop()
        question = task.question(part, tries)
        try:
            reply = await ask(question)
        except CallFailed as failure:
            extracted |= {key: Extracted(key, error=str(failure), call=question.key) for key in part}
            continue
        answer = parse(reply.reading, part)
        taken = {key: value for key, value in answer.values.items() if value is None or isinstance(value, str)}
        extracted |= {
            key: Extracted(key, storable((text or "").strip()) or None, call=reply.key, parsing=answer.how)
            for key, text in taken.items()
        }
        rest = {key: asked for key, asked in part.items() if key not in taken}
        if taken and rest:
            waiting.append((rest, 0))
        elif rest and (reply.reading.outcome is Outcome.REFUSED or tries + 1 == TRIES):
            problem = answer.problem or "the values are neither text nor null"
            extracted |= {key: Extracted(key, error=problem, call=reply.key) for key in rest}
        elif rest:
            too_long = reply.reading.outcome is Outcome.LENGTH and len(rest) > 1
            waiting += [(again, tries + 1) for again in (halves(rest) if too_long else [rest])]
    return [extracted[segment] for segment in segments]


class _Batch(NamedTuple):
    """The segments of one request, with the task and the translation to which they belong."""

    work: tuple[str, str]
    task: Task
    segments: Mapping[str, Asked]


def _has_source(work: AlignmentWork, segment: str) -> bool:
    return bool(work.segments[segment].source.strip())


class ModelAligner:
    """An aligner of the registry, asked with the prompt `align`, as in PaliBench (section 3.2, appendix B).

    Batches are cut in the document as a whole, and each batch with a requested segment is sent whole: neighbors
    distinguish the places of repeated text, and the ledger finds the same question again. Segments without a source
    text are in no batch, and null.
    """

    def __init__(self, provider: Provider, model: Model) -> None:
        self._provider, self._model = provider, model
        self._prompt = prompts.load("align")

    def fingerprint(self, source_language: str, target_language: str) -> str:
        """Hash of endpoint, version served, settings and prompt for a pair of languages, given as tags.

        Neither the texts nor the batches are part of it.
        """
        names = {"source_language": language_name(source_language), "target_language": language_name(target_language)}
        return digest(self._prompt.digest(**names), *self._model.determinants)

    def estimate(self, works: Sequence[AlignmentWork]) -> Estimate:
        """Calls and cost of the batches, assuming one reply for each and no cache of the provider."""
        return estimate([task.question(segments) for _, task, segments in self._batches(works)], self._provider.ledger)

    def align(self, works: Sequence[AlignmentWork], run: str) -> dict[tuple[str, str], list[Extracted]]:
        """Log the number of calls and the estimated cost, then align translations. The run pays.

        The first batch of a translation is answered before the other batches are sent, so that these find the
        translation in the provider's cache.

        Parameters
        ----------
        works
            At most one for each document and translator.

        Returns
        -------
        By document and translator, the results for the requested segments, in the order of `asked`.

        Raises
        ------
        BadInput
            If the model cannot be called here: no key in the environment, no such recording.
        """
        logger.info("%s: %s", self._model.name, self.estimate(works))
        done = {
            (work.document, work.translator): {
                key: Extracted(key) for key in work.segments if not _has_source(work, key)
            }
            for work in works
        }

        async def align_all() -> None:
            answered: dict[tuple[str, str], asyncio.Event] = {}
            async with self._provider.opened(run) as client:

                async def one(batch: _Batch) -> None:
                    if batch.work in answered:
                        await answered[batch.work].wait()
                    gate = answered.setdefault(batch.work, asyncio.Event())
                    results = await align(client.ask, batch.task, batch.segments)
                    gate.set()
                    done[batch.work] |= {extracted.segment: extracted for extracted in results}

                async for _ in each(one, self._batches(works), client.width(self._model)):
                    pass

        complete(align_all())
        return {
            (work.document, work.translator): [done[work.document, work.translator][segment] for segment in work.asked]
            for work in works
        }

    def _batches(self, works: Sequence[AlignmentWork]) -> Iterator[_Batch]:
        for work in works:
            names = language_name(work.source_language), language_name(work.target_language)
            task = Task(self._model, self._prompt, *names, work.prose)
            asked = set(work.asked)
            for batch in batches([key for key in work.segments if _has_source(work, key)]):
                if not asked.isdisjoint(batch):
                    yield _Batch((work.document, work.translator), task, {key: work.segments[key] for key in batch})
