"""Rows of the tables `alignment`, `unassigned` and `verification`. Not here: aligning a document (monotone, asking),
storage.

If the alignment of a whole document or of a passage is not credible, its texts are null and the column `doubt` has the
reason: no text is better than a wrong one.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from benchmark_assets.alignment.aligner_questions import Extracted
from benchmark_assets.alignment.extent import examine
from benchmark_assets.alignment.likeness import Embed, has_words
from benchmark_assets.alignment.monotone import Aligned, Beside, align
from benchmark_assets.alignment.published import METHOD
from benchmark_assets.alignment.published_stages import published_findings
from benchmark_assets.alignment.units import Span
from benchmark_assets.corpus.anchors import stretches
from resources.catalogue import schema
from resources.keys import CORPUS

CONFIDENT = 0.13
"""Minimum confidence of a credible document alignment. None of 60 suttas aligned to another sutta of the same
collection reached it. Of 250 suttas aligned to their own translations, 7 did not reach it: their files contain another
text, or lack most of the sutta (docs/measurements.md)."""

FOUND = 0.2
"""Minimum likeness of a passage that counts as present, averaged over its segments by source length. It excludes 39 %
of the suttas' passages with a wrong length, and 0.5 % of the passages with the right length."""

UNSURE = 0.35
"""With `ask: unsure`, models are asked about segments with a likeness below this."""

WHOLE = 0.75
"""A passage with at least this share of its expected length counts as completely translated."""

ALIGNMENT = schema("alignment")
UNASSIGNED = schema("unassigned")
VERIFICATION = schema("verification")


class SegmentPlace(NamedTuple):
    """A segment of a document: passage, id, source text, and its text in each segmented translation (`guides`)."""

    passage: str
    id: str
    source: str
    guides: tuple[str | None, ...]


class AlignedSegment(NamedTuple):
    """The alignment of a segment: text, range of characters in the prose, likeness and method (table `alignment`)."""

    text: str | None
    start: int | None = None
    end: int | None = None
    likeness: float | None = None
    method: str | None = None


def places(sources: pl.DataFrame, references: pl.DataFrame) -> list[SegmentPlace]:
    """The segments of a document in order, from its rows of `source_text` and `segmented_reference`."""
    translators = sorted(set(references["translator"]))
    texts = {(p, t): segments for p, t, segments in references.select("passage", "translator", "segments").iter_rows()}
    return [
        SegmentPlace(passage, ids[i], segments[i], tuple(row[i] if row else None for row in rendered))
        for passage, ids, segments in sources.sort("position").select("passage", "segment_ids", "segments").iter_rows()
        for rendered in [[texts.get((passage, translator)) for translator in translators]]
        for i in range(len(ids))
    ]


def is_guided(segments: Sequence[SegmentPlace]) -> bool:
    """Whether a segmented translation of the document guides its alignment."""
    return any(has_words(text) for segment in segments for text in segment.guides)


def guides(segments: Sequence[SegmentPlace]) -> list[list[str | None]]:
    """The segmented translations of a document, each with the text of every segment; the source if there are none."""
    if not is_guided(segments):
        return [[segment.source for segment in segments]]
    columns = zip(*(segment.guides for segment in segments), strict=True)
    return [guide for texts in columns if any(guide := list(texts))]


def by_embeddings(
    prose: str,
    segments: Sequence[SegmentPlace],
    embed: Embed,
    anchors: Mapping[int, int] = MappingProxyType({}),
    embed_source: Embed | None = None,
) -> Aligned:
    """Align a document offline, with its segmented translations as guides; for `anchors`, see `monotone.align`.

    A document without a segmented translation has its source as the guide; `embed` must then support both languages.
    With `embed_source`, which supports both, the source is compared beside the guides. Raises ValueError like
    `monotone.align`.
    """
    ends = [one.passage != other.passage for one, other in pairwise(segments)]
    guided = is_guided(segments)
    beside = Beside([segment.source for segment in segments], embed_source) if guided and embed_source else None
    return align(prose, guides(segments), [*ends, True], embed, anchors, foreign=not guided, beside=beside)


def by_numbers(
    prose: str, segments: Sequence[SegmentPlace], numbers: Sequence[tuple[int, str]]
) -> dict[int, AlignedSegment]:
    """Pieces by the index of their segment, for passages whose first segment has a number in the translation's text.

    A segment without such a number is merged with the previous segment, because it is unknown where its text
    begins. `numbers` has the offset and text of each number in the prose.
    """
    numbered = stretches([segment.id for segment in segments], numbers, len(prose))
    pieces: dict[int, AlignedSegment] = {}
    for _, group in groupby(range(len(segments)), key=lambda index: segments[index].passage):
        indices = list(group)
        if indices[0] in numbered:
            pieces |= {index: _numbered(prose, numbered.get(index)) for index in indices}
    return pieces


def _numbered(prose: str, stretch: Span | None) -> AlignedSegment:
    """The piece of a segment, from its stretch of the prose without surrounding white space.

    Without a stretch, the segment is merged with the previous one. The text of a stretch without words is None.
    """
    if stretch is None:
        return AlignedSegment("", method="merged")
    text = prose[slice(*stretch)]
    start = stretch[0] + len(text) - len(text.lstrip())
    text = text.strip()
    return AlignedSegment(text, start, start + len(text), method="number") if has_words(text) else AlignedSegment(None)


def unsure(segments: Sequence[SegmentPlace], aligned: Aligned) -> list[str]:
    """Ids of segments for which the offline aligner found no text, or a text of low likeness.

    Includes all segments of doubtful passages or documents, but no segment without a source text.
    """
    doubts = _doubts(segments, aligned)
    doubtful: list[str] = []
    for passage, group in groupby(enumerate(segments), key=lambda numbered: numbered[1].passage):
        places = list(group)
        likeness = [aligned.likeness[index] if aligned.spans[index] else None for index, _ in places]
        absent = doubts.get(passage)
        doubtful += [
            place.id
            for (_, place), value in zip(places, likeness, strict=True)
            if place.source.strip() and (absent or value is None or value < UNSURE)
        ]
    return doubtful


def aligned_rows(
    translator: str,
    prose: str,
    segments: Sequence[SegmentPlace],
    aligned: Aligned | None,
    extracted: Sequence[Extracted],
    corrections: Mapping[str, str | None],
    doubt: str | None = None,
    numbered: Mapping[int, AlignedSegment] = MappingProxyType({}),
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Combine the results for a document into rows of `alignment`.

    Order of precedence: manual correction, text by a model, offline alignment, numbers in the translation's text.

    Parameters
    ----------
    aligned
        The offline alignment; None if a model was asked about all segments.
    extracted
        A model's results for the segments that it was asked about.
    corrections
        Manually corrected texts by segment id; null for a segment that the translation lacks.
    doubt
        Why the document was not aligned; None if it was aligned.
    numbered
        Pieces by segment, divided at the numbers in the translation's text (`by_numbers`).

    Returns
    -------
    Rows of `alignment`, one per passage, and the passages with a segment that a model failed to align: columns
    `passage` and `error`.
    """
    answers = {result.segment: result for result in extracted}
    doubts = _doubts(segments, aligned)
    rows: list[tuple[object, ...]] = []
    failures: list[tuple[str, str]] = []
    pace = _pace(segments, aligned)
    for passage, group in groupby(enumerate(segments), key=lambda place: place[1].passage):
        places = list(group)
        found = [
            AlignedSegment(prose[slice(*span)], *span, aligned.likeness[index], "embedding")
            if aligned and (span := aligned.spans[index]) else AlignedSegment(None)
            for index, _ in places
        ]  # fmt: skip
        offline = _merged(places, found, pace)
        absent = doubt or doubts.get(passage)
        if absent and all(index in numbered for index, _ in places):
            offline, absent = [numbered[index] for index, _ in places], None
        pieces = []
        for (_, place), piece in zip(places, offline, strict=True):
            answer = answers.get(place.id)
            if answer and answer.error and place.id not in corrections:
                failures.append((passage, f"{translator}, {place.id}: {answer.error}"))
            pieces.append(_settled(place, None if absent else piece, answer, corrections))
        has_text = any(piece.text for piece in pieces)
        columns = ([piece[column] for piece in pieces] for column in range(len(AlignedSegment._fields)))
        confidence = aligned.confidence if aligned else None
        rows.append((passage, translator, *columns, confidence, None if has_text else absent))
    failed_passages = pl.DataFrame(failures, schema={"passage": pl.String, "error": pl.String}, orient="row")
    return pl.DataFrame(rows, schema=ALIGNMENT, orient="row"), failed_passages.unique("passage", maintain_order=True)


def unassigned_rows(
    translator: str, prose: str, segments: Sequence[SegmentPlace], alignment: pl.DataFrame
) -> pl.DataFrame:
    """Rows of `unassigned`: every stretch of a translation that is in no segment and has a letter or digit.

    `alignment` has the document's rows of `alignment`. Texts from a model or a correction are located where they
    occur verbatim, in the order of the segments.
    """
    groups = groupby(segments, key=lambda place: place.passage)
    ids = {passage: [place.id for place in group] for passage, group in groups}
    taken: list[tuple[int, int, str, str]] = []
    end = 0
    columns = alignment.select("passage", "segments", "starts", "ends")
    for passage, texts, starts, ends in columns.iter_rows():
        for segment, text, start, stop in zip(ids[passage], texts, starts, ends, strict=True):
            if text and start is None and (found := prose.find(text, end)) >= 0:
                start, stop = found, found + len(text)
            if start is not None:
                taken.append((start, stop, passage, segment))
                end = stop
    places = [(0, 0, segments[0].passage, None), *sorted(taken), (len(prose), len(prose), "", None)]
    if taken:
        places[0] = (0, 0, min(taken)[2], None)
    rows = []
    for (_, start, passage, after), (end, _, _, before) in pairwise(places):
        text = prose[start:end]
        if has_words(text):
            first = start + len(text) - len(text.lstrip())
            rows.append((passage, translator, first, first + len(text.strip()), text.strip(), after, before))
    return pl.DataFrame(rows, schema=UNASSIGNED, orient="row")


def unassigned_totals(rows: pl.DataFrame) -> pl.DataFrame:
    """For each corpus and translator, the numbers of unassigned stretches and characters, from rows of `unassigned`."""
    groups = rows.with_columns(CORPUS).group_by("corpus", "translator")
    totals = groups.agg(stretches=pl.len(), characters=(pl.col("end_at") - pl.col("start_at")).sum())
    return totals.sort("corpus", "translator")


def verified_rows(
    translator: str, prose: str, segments: Sequence[SegmentPlace], alignment: pl.DataFrame, others: Mapping[str, str]
) -> pl.DataFrame:
    """Rows of `verification` for a document and translator, one per segment with a text.

    `segments` has all segments of the document in order. `alignment` has the columns `passage`, `segments` (texts, null
    if a passage was not aligned) and `methods`; `others` has the texts of the translator's other documents by id. A
    document that was aligned by a published protocol is verified by the published stages.
    """
    pieces = {
        passage: list(zip(texts, methods, strict=True))
        for passage, texts, methods in alignment.select("passage", "segments", "methods").drop_nulls().iter_rows()
    }
    aligned: list[tuple[str | None, str | None]] = []
    for passage, group in groupby(segments, key=lambda place: place.passage):
        aligned += pieces.get(passage) or [(None, None)] * len(list(group))
    given = {at for at, (_, method) in enumerate(aligned) if method in ("hand", "number")}
    texts = [text for text, _ in aligned]
    if any(method == METHOD for _, method in aligned):
        findings = published_findings(texts, prose, given)
    else:
        findings = examine(texts, prose, guides(segments), given, others, foreign=not is_guided(segments))
    rows = [
        (place.passage, translator, place.id, finding.stage, finding.start, finding.end, finding.similarity,
         finding.in_order, finding.evidence)
        for place, finding in zip(segments, findings, strict=True)
        if finding.stage
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=VERIFICATION, orient="row")


def _doubts(segments: Sequence[SegmentPlace], aligned: Aligned | None) -> dict[str, str]:
    """Why the offline alignment of a passage is not credible, by passage; credible passages are left out."""
    if aligned is None:
        return {}
    passages = [list(group) for _, group in groupby(enumerate(segments), key=lambda numbered: numbered[1].passage)]
    names = [places[0][1].passage for places in passages]
    doubts: dict[str, str] = {}
    for number, places in enumerate(passages):
        likeness = [aligned.likeness[index] if aligned.spans[index] else None for index, _ in places]
        if number in aligned.anchored:
            continue
        if aligned.confidence < CONFIDENT:
            confidence = f"confidence {aligned.confidence:.2f}, below {CONFIDENT}"
            doubts[names[number]] = f"may not be a translation of this document: {confidence}"
        elif number in aligned.rivals:
            doubts[names[number]] = f"the text at its place resembles {names[aligned.rivals[number]]} more"
        elif number in aligned.displaced:
            start, end = aligned.displaced[number]
            doubts[names[number]] = f"may be out of order: unassigned text resembles it, characters {start} to {end}"
        elif absence := _absence([place for _, place in places], likeness):
            doubts[names[number]] = absence
    return doubts


def _absence(places: Sequence[SegmentPlace], likeness: Sequence[float | None]) -> str | None:
    """Why a passage counts as absent from the translation. None if it is present, or if none of its segments is
    aligned.

    `likeness` has the likeness of each segment to its text in the translation, None for a segment that is not aligned.
    """
    if all(value is None for value in likeness):
        return None
    weights = [len(place.source) for place in places]
    mean = sum(w * (value or 0.0) for w, value in zip(weights, likeness, strict=True)) / max(sum(weights), 1)
    return None if mean >= FOUND else f"nothing in the translation resembles it: likeness {mean:.2f}, below {FOUND}"


def _expected(place: SegmentPlace) -> float:
    """Expected length of a segment in characters: mean over the guides that have the segment; 0 if no guide has it."""
    lengths = [len(text) for text in place.guides if text]
    return sum(lengths) / len(lengths) if lengths else 0.0


def _pace(segments: Sequence[SegmentPlace], aligned: Aligned | None) -> float:
    """Ratio of the translation's length to the guides' mean length, over the aligned segments."""
    if aligned is None:
        return 1.0
    spans = [(place, span) for place, span in zip(segments, aligned.spans, strict=True) if span]
    expected = sum(_expected(place) for place, _ in spans)
    return sum(end - start for _, (start, end) in spans) / expected if expected else 1.0


def _merged(
    places: Sequence[tuple[int, SegmentPlace]], pieces: Sequence[AlignedSegment], pace: float
) -> list[AlignedSegment]:
    """Set the text of unaligned segments to '' if the passage is completely translated without them.

    If the translation has a short segment ('Yes, sir.') and its neighbor in one clause, the aligner assigns the whole
    clause to the neighbor.
    """
    expected = [pace * _expected(place) for _, place in places]
    whole = sum(len(piece.text or "") for piece in pieces) >= WHOLE * sum(expected)
    return [
        AlignedSegment("", method="merged") if whole and length and piece.text is None else piece
        for length, piece in zip(expected, pieces, strict=True)
    ]


def _settled(
    place: SegmentPlace, offline: AlignedSegment | None, answer: Extracted | None, corrections: Mapping[str, str | None]
) -> AlignedSegment:
    """The final alignment of a segment; its text is '' if the source has no text."""
    if place.id in corrections:
        text = corrections[place.id]
        return AlignedSegment(text, method="hand" if text else None)
    if answer is not None:
        return AlignedSegment(answer.text, method=answer.method) if answer.text else AlignedSegment(None)
    if not place.source.strip():
        return AlignedSegment("")
    return offline or AlignedSegment(None)


def corrected(rows: pl.DataFrame) -> dict[str, str | None]:
    """Manually corrected texts by segment id, from rows of `continuous_reference`."""
    return {segment: text for entry in rows["corrections"] for segment, text in json.loads(entry).items()}
