"""Alignment, by a model, of a continuous translation with the segments of its source.

Here: the protocol of PaliBench (section 3.2, appendix B). Each question contains the whole translation and a batch of
segments; the reply is a JSON object with the same keys as the batch. Not here: checking that an answer occurs in the
translation (verification), retries of a failed call (resources.provider.client), parsing of replies (replies).
"""

import asyncio
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmark_assets.corpus.model import passage_of
from benchmark_assets.translation.batches import halves
from benchmark_assets.translation.systems import language_name
from resources import prompts
from resources.digest import digest
from resources.prompts import Prompt
from resources.provider.asking import Ask, ask_all, fields, free, one_round, repeats
from resources.provider.client import CallFailed
from resources.provider.estimate import CostEstimate, estimate
from resources.provider.names import Unusable
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading, storable
from resources.provider.registry import Model
from resources.provider.replies import TOLERANT, schema_of

logger = logging.getLogger("variorum.alignment")

PURPOSE = "align"

SMALLEST, LARGEST = 15, 30
"""Minimum and maximum number of segments in a batch. Source: PaliBench, section 3.2."""

TRIES = 3
"""Maximum number of consecutive replies without an answer. The limit is low because each question repeats the whole
translation."""

EXTRACT: Mapping[str, Any] = {"type": ["string", "null"]}
"""JSON schema of a segment's text in a reply."""


class SourceSegment(NamedTuple):
    """A segment's source text, and its text in a segmented translation (None if the translation lacks it)."""

    source: str
    guide: str | None


class Extracted(NamedTuple):
    """A model's result for one segment.

    `text` is None if the translation does not contain the segment, or if there is an `error`. `call` is the ledger key
    of the question; `parsing` says how the reply was parsed (provider.replies). `call` and `parsing` are None if no
    question was asked. `method` is as in the table `alignment`.
    """

    segment: str
    text: str | None = None
    error: str | None = None
    call: str | None = None
    parsing: str | None = None
    method: str = "model"


@dataclass(frozen=True)
class AlignmentTask:
    """The part of a question that all batches of a translation share. `prose` is the whole translation."""

    model: Model
    prompt: Prompt
    source_language: str
    target_language: str
    prose: str

    def question(self, segments: Mapping[str, SourceSegment], replicate: int = 0) -> Question:
        """The question about a batch, given as segments by id. All batches have the same prompt before the segments."""
        items = {
            key: {"source": segment.source} | ({"guide": segment.guide} if segment.guide else {})
            for key, segment in segments.items()
        }
        messages = self.prompt.render(
            source_language=self.source_language, target_language=self.target_language, prose=self.prose,
            segments=json.dumps(items, ensure_ascii=False, indent=1),
        )  # fmt: skip
        schema = schema_of(segments, EXTRACT)

        def usable(reading: Reading) -> bool:
            return bool(extracts_of(reading, segments)[0])

        return Question(self.model, tuple(messages), PURPOSE, schema, replicate, usable)


class AlignmentWork(NamedTuple):
    """A translation of a document for a model to align.

    `source_language` and `target_language` are BCP 47 or ISO 639 tags. `segments` has all segments of the document, in
    order, by id; `requested` are the ids of the segments to align.
    """

    document: str
    translator: str
    source_language: str
    target_language: str
    prose: str
    segments: Mapping[str, SourceSegment]
    requested: Sequence[str]


def batches(segments: Sequence[str]) -> list[list[str]]:
    """Divide a document's segment ids, in order, into batches of 15 to 30; fewer than 15 ids form one batch.

    The division has the fewest possible cuts within passages and, among such divisions, the fewest batches.
    """
    if len(segments) <= LARGEST:
        return [list(segments)] if segments else []
    passages = [passage_of(segment) for segment in segments]
    # For each possible end of a batch: number of cuts within passages so far, and start of the batch. Among equal
    # numbers of cuts, the earliest start leaves the fewest batches.
    best: dict[int, tuple[int, int]] = {0: (0, 0)}
    for end in range(SMALLEST, len(segments) + 1):
        starts = [start for start in range(max(0, end - LARGEST), end - SMALLEST + 1) if start in best]
        ways = [(best[start][0] + (start > 0 and passages[start - 1] == passages[start]), start) for start in starts]
        if ways:
            best[end] = min(ways)
    reversed_batches: list[list[str]] = []
    end = len(segments)
    while end:
        start = best[end][1]
        reversed_batches.append(list(segments[start:end]))
        end = start
    return reversed_batches[::-1]


class _Part(NamedTuple):
    """Segments to ask about, the number of unusable replies so far, and the last of them.

    If `problem` is not '', a further reply would not help, and only stored replies are read.
    """

    segments: Mapping[str, SourceSegment]
    tries: int = 0
    previous: Reading | None = None
    problem: str = ""


async def align(ask: Ask, task: AlignmentTask, segments: Mapping[str, SourceSegment]) -> list[Extracted]:
    """Align one batch.

    A segment is done when a reply has a text or null for it; the next question asks only about the remaining segments.
    After a reply without any usable answer the question is repeated, at most `TRIES` times in all, and at temperature 0
    only until a reply equals the one before; if the reply reached the token limit, the segments are divided into two
    questions. A refusal or a failed call is final for all segments of the question: the cause may be the translation,
    which every further question would repeat.

    Texts that earlier versions took from later replies, because they could not read a stored reply, are kept (see
    provider.asking.insist).

    Parameters
    ----------
    ask
        Sends a question to the model; raises CallFailed.
    segments
        Consecutive segments by id.

    Returns
    -------
    One result per segment, in the same order. A blank text counts as null.
    """
    extracted = await _align(ask, task, [_Part(segments)])
    return [extracted[segment] for segment in segments]


async def _align(ask: Ask, task: AlignmentTask, queue: list[_Part]) -> dict[str, Extracted]:
    extracted: dict[str, Extracted] = {}
    while queue:
        part, tries, previous, problem = queue.pop()
        question = task.question(part, tries)
        try:
            reply = await (free(ask) if problem else ask)(question)
        except CallFailed as failure:
            extracted |= {key: Extracted(key, error=problem or str(failure), call=question.key) for key in part}
            continue
        texts, how, problem = extracts_of(reply.reading, part)
        too_long = reply.reading.outcome is Outcome.LENGTH and len(part) > 1
        following = [_Part(half, tries + 1) for half in halves(part)] if too_long else [
            _Part(part, tries + 1, reply.reading, problem if repeats(task.model, reply.reading, previous) else "")
        ]  # fmt: skip
        if reply.recorded and how == TOLERANT and tries + 1 < TRIES:
            earlier = await _align(free(ask), task, following)
            extracted |= {key: each for key, each in earlier.items() if not each.error and each.parsing != TOLERANT}
            part = {key: segment for key, segment in part.items() if key not in extracted}
        extracted |= {
            key: Extracted(key, storable((texts[key] or "").strip()) or None, call=reply.key, parsing=how)
            for key in part if key in texts
        }  # fmt: skip
        remaining = {key: segment for key, segment in part.items() if key not in extracted}
        if texts and remaining:
            queue.append(_Part(remaining))
        elif remaining and (reply.reading.outcome is Outcome.REFUSED or tries + 1 == TRIES):
            extracted |= {key: Extracted(key, error=problem, call=reply.key) for key in remaining}
        elif remaining:
            queue += following
    return extracted


def extracts_of(reading: Reading, keys: Iterable[str]) -> tuple[Mapping[str, str | None], str | None, str]:
    """The texts in a reply by segment, how the reply was parsed, and the reason if it has no texts."""

    def found(values: Mapping[str, Any]) -> Mapping[str, str | None]:
        if texts := {key: value for key, value in values.items() if value is None or isinstance(value, str)}:
            return texts
        raise ValueError("the values are neither text nor null")

    try:
        return *fields(schema_of(keys, EXTRACT), found)(reading), ""
    except Unusable as reason:
        return {}, None, str(reason)


_SegmentBatch = tuple[tuple[str, str], AlignmentTask, Mapping[str, SourceSegment]]
"""Document and translator, the task that creates the questions, and the segments of a batch by id."""


class ModelAligner:
    """Aligns translations with a model of the registry and the prompt `align`.

    The whole document is divided into batches, and a batch with a requested segment is sent as a whole: neighboring
    segments help to locate a repeated text, and an unchanged question can be answered from the ledger.
    Segments without a source text are in no batch, and their text is null.
    """

    def __init__(self, provider: Provider, model: Model) -> None:
        self._provider, self._model = provider, model
        self._prompt = prompts.load("align")

    def fingerprint(self, source_language: str, target_language: str) -> str:
        """Hash of endpoint, served version, settings and prompt for a pair of languages, given as tags.

        The hash does not depend on the texts or the batches.
        """
        names = {"source_language": language_name(source_language), "target_language": language_name(target_language)}
        return digest(self._prompt.digest(**names), *self._model.determinants)

    def estimate(self, works: Sequence[AlignmentWork]) -> CostEstimate:
        """Calls and cost of the batches, assuming one reply per batch and an empty provider cache."""
        return estimate([task.question(segments) for _, task, segments in self._batches(works)], self._provider.ledger)

    def align(self, works: Sequence[AlignmentWork], run: str) -> dict[tuple[str, str], list[Extracted]]:
        """Log the number of calls and their estimated cost, then align translations and charge the calls to `run`.

        The first batch of a translation is answered before the others are sent, so that the provider has cached the
        translation by then.

        Parameters
        ----------
        works
            At most one for each document and translator.

        Returns
        -------
        Results for the requested segments, in the order of `requested`, by document and translator.

        Raises
        ------
        BadInput
            If the model cannot be called: its API key is not in the environment, or its recording does not exist.
        """
        logger.info("%s: %s", self._model.name, self.estimate(works))
        first_answers: dict[tuple[str, str], asyncio.Event] = {}

        async def align_batch(ask: Ask, batch: _SegmentBatch) -> list[Extracted]:
            name, task, segments = batch
            if name in first_answers:
                await first_answers[name].wait()
            gate = first_answers.setdefault(name, asyncio.Event())
            extracted = await align(ask, task, segments)
            gate.set()
            return extracted

        once = one_round(list(self._batches(works)))
        results: dict[tuple[str, str], dict[str, Extracted]] = {}
        for (name, _, _), extracted in ask_all(
            self._provider, f"{self._model.name}, batches", align_batch, [self._model], run, once
        ):
            results.setdefault(name, {}).update((each.segment, each) for each in extracted)
        return {
            name: [results.get(name, {}).get(key, Extracted(key)) for key in work.requested]
            for work in works for name in [(work.document, work.translator)]
        }  # fmt: skip

    def _batches(self, works: Sequence[AlignmentWork]) -> Iterator[_SegmentBatch]:
        for work in works:
            names = language_name(work.source_language), language_name(work.target_language)
            task = AlignmentTask(self._model, self._prompt, *names, work.prose)
            requested = set(work.requested)
            for batch in batches([key for key, segment in work.segments.items() if segment.source.strip()]):
                if not requested.isdisjoint(batch):
                    yield (work.document, work.translator), task, {key: work.segments[key] for key in batch}
