"""Alignment by the published protocol of PaliBench: its batches, runs and reader, faults included.

Here: requests and replies as in its program (code/pipeline/align.py; PaliBench Contributors, CC BY 4.0). Not here:
which protocol applies (documents), its prompt, which a recipe locates in the paper's repository, its verification
(published_stages), the project's own questions (aligner_questions).
"""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmark_assets.alignment.aligner_questions import PURPOSE, AlignmentWork, Extracted
from benchmark_assets.studies.protocols import PublishedProtocol
from resources.digest import digest
from resources.provider.asking import Ask, Template, ask_all, one_round
from resources.provider.client import CallFailed
from resources.provider.estimate import CostEstimate, estimate
from resources.provider.names import Unusable
from resources.provider.provider import Provider
from resources.provider.question import ANY_OBJECT
from resources.provider.reading import Reading, storable
from resources.provider.registry import Model

logger = logging.getLogger("variorum.alignment")

METHOD = "published"
"""Method of a segment whose text a model gave under a published protocol (table `alignment`)."""


class SegmentBatch(NamedTuple):
    """Segments of a translation that are asked about together, by id."""

    work: AlignmentWork
    segments: Sequence[str]


class PublishedAligner:
    """Aligns translations with a model of the registry, as the program of PaliBench does.

    A translation is asked about whole, and its batches in order, one after the other; translations are asked about
    concurrently. A failed batch leaves its segments without an answer, and the program goes on with the next one. A
    further run, up to `tries`, batches the passages anew that have no text yet.
    """

    def __init__(self, provider: Provider, model: Model, protocol: PublishedProtocol) -> None:
        self._provider, self._model, self._protocol = provider, protocol.applied(model), protocol
        self._template = aligning(self._model, protocol)

    def fingerprint(self, *_languages: str) -> str:
        """Hash of the protocol and of the model with its settings; the prompt names its languages itself."""
        return digest(self._protocol, *self._model.determinants)

    def estimate(self, works: Sequence[AlignmentWork]) -> CostEstimate:
        """Calls and cost of the first run."""
        batches = (SegmentBatch(work, batch) for work in works for batch in self._batches(work, {}))
        return estimate([self._template.question(batch) for batch in batches], self._provider.ledger)

    def align(self, works: Sequence[AlignmentWork], run: str) -> dict[tuple[str, str], list[Extracted]]:
        """As `ModelAligner.align`, except that all segments of a translation are asked about."""
        logger.info("%s: %s", self._model.name, self.estimate(works))
        name, models = f"{self._model.name}, translations", [self._model]
        found = ask_all(self._provider, name, self.extract, models, run, one_round(works))
        return {
            (work.document, work.translator): [texts.get(key, Extracted(key)) for key in work.requested]
            for work, texts in found
        }

    async def extract(self, ask: Ask, work: AlignmentWork) -> dict[str, Extracted]:
        """The results for the segments of a translation, by id.

        A segment that a reply lacks is null, as in the published program; so is one that no batch has.
        """
        found: dict[str, Extracted] = {}
        for number in range(self._protocol.tries):
            answered = {key: each.text for key, each in found.items() if each.error is None}
            for segments in self._batches(work, answered):
                results = await self._answers(ask, SegmentBatch(work, segments), number)
                found |= {key: each for key, each in results.items() if each.error is None or key not in answered}
        return found

    async def _answers(self, ask: Ask, batch: SegmentBatch, run: int) -> dict[str, Extracted]:
        question = self._template.question(batch, run)
        try:
            reply = await ask(question)
            values, how = self._template.read(reply.reading)
        except (CallFailed, Unusable) as reason:
            return {key: Extracted(key, error=str(reason), call=question.key) for key in batch.segments}
        return {key: _extracted(key, values.get(key), reply.key, how) for key in batch.segments}

    def _batches(self, work: AlignmentWork, answered: Mapping[str, str | None]) -> list[list[str]]:
        return published_batches([*work.segments], answered, *self._protocol.batch_segments)


def aligning(model: Model, protocol: PublishedProtocol) -> Template[Mapping[str, Any]]:
    """The template of questions about a `SegmentBatch`. `model` has the protocol's settings already.

    The variables of the prompt are `translator` (capitalized), `capitals` (the same in capitals), `segments` and
    `translation`.
    """

    def fill(batch: SegmentBatch) -> Mapping[str, str]:
        segments = {
            key: {name: getattr(batch.work.segments[key], text) or "" for name, text in protocol.fields.items()}
            for key in batch.segments
        }
        translator = batch.work.translator.capitalize()
        values = {
            "translator": translator, "capitals": translator.upper(), "translation": batch.work.prose,
            "segments": json.dumps(segments, ensure_ascii=False, indent=2),
        }  # fmt: skip
        return {name: text for name, text in values.items() if name in protocol.variables}

    return Template(model, protocol.prompt, {}, PURPOSE, ANY_OBJECT, _read, tries=protocol.tries, fill=fill)


def published_batches(
    segments: Sequence[str], answered: Mapping[str, str | None], target: int, most: int
) -> list[list[str]]:
    """Batches of whole passages, in order: at least `target` segments, and at most `most` unless a passage has more.

    A passage whose segments are answered, not all with null, is left out. To the published program, an id's passage
    ends at its last dot, even if that dot is in the name of the text: for `sn12.2:1`, it is the whole `sn12`.
    """
    batches: list[list[str]] = []
    batch: dict[str, None] = {}
    for passage in dict.fromkeys(key.rpartition(".")[0] or key for key in segments):
        within = [key for key in segments if key == passage or key.startswith(f"{passage}.")]
        if any(answered.get(key) is not None for key in within):
            continue
        if batch and len(batch) + len(within) > most:
            batches.append([*batch])
            batch = {}
        batch |= dict.fromkeys(within)
        if len(batch) >= target:
            batches.append([*batch])
            batch = {}
    return [*batches, [*batch]] if batch else batches


def _read(reading: Reading) -> tuple[Mapping[str, Any], str]:
    """The object in a reply. Nothing is repaired: where it is no JSON, the published program leaves the batch out."""
    try:
        content = json.loads(reading.text.strip())
    except (ValueError, RecursionError) as error:
        raise Unusable("no JSON" if reading.text.strip() else "empty reply") from error
    if not isinstance(content, dict):
        raise Unusable("no JSON object, at which the published program stops")
    return content, "strict"


def _extracted(key: str, value: Any, call: str, how: str | None) -> Extracted:
    if value is None or isinstance(value, str):
        return Extracted(key, value and storable(value), call=call, parsing=how, method=METHOD)
    return Extracted(key, error="the value is neither text nor null", call=call)
