"""Rows of the alignment's tables, from documents. Not here: aligning a document (monotone, asking), storage.

A document whose alignment as a whole cannot be trusted gets no text at all, and neither does a passage that resembles
nothing in the translation: null with a doubt in words, never a wrong text.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import polars as pl

from benchmark_assets.alignment.asking import Extracted
from benchmark_assets.alignment.likeness import Embed
from benchmark_assets.alignment.monotone import Aligned, align
from benchmark_assets.alignment.verification import verify
from resources.catalogue import schema

CONFIDENT = 0.13
"""Least confidence of a document: none of 60 suttas aligned to the text of another of the same collection reached it;
7 of 250 aligned to their own did not, because their files hold another text or lack most of it
(docs/measurements.md)."""

FOUND = 0.2
"""Least likeness of a passage, on average over its source: 39 % of the suttas' passages with a wrong length lie below,
and 0.5 % of the passages with the right length."""

UNSURE = 0.35
"""Likeness of a segment below which a model is asked, with `ask: unsure`."""

WHOLE = 0.75
"""Share of its expected length from which a passage counts as translated as a whole."""

ALIGNMENT = schema("alignment")
VERIFICATION = schema("verification")


class SegmentPlace(NamedTuple):
    """A segment of a document: its passage, id and source text, and its text in each segmented translation."""

    passage: str
    id: str
    source: str
    guides: tuple[str | None, ...]


class Piece(NamedTuple):
    """The alignment of a segment: text, its place in the prose, likeness and method; see the table `alignment`."""

    text: str | None
    start: int | None = None
    end: int | None = None
    likeness: float | None = None
    method: str | None = None


def places(sources: pl.DataFrame, references: pl.DataFrame) -> list[SegmentPlace]:
    """The segments of a document, in order.

    Parameters
    ----------
    sources
        Rows of source_text of one document.
    references
        Rows of segmented_reference of its passages.
    """
    translators = sorted(set(references["translator"]))
    texts = {(p, t): segments for p, t, segments in references.select("passage", "translator", "segments").iter_rows()}
    return [
        SegmentPlace(passage, ids[i], segments[i], tuple(row[i] if row else None for row in rendered))
        for passage, ids, segments in sources.sort("position").select("passage", "segment_ids", "segments").iter_rows()
        for rendered in [[texts.get((passage, translator)) for translator in translators]]
        for i in range(len(ids))
    ]


def by_embeddings(prose: str, segments: Sequence[SegmentPlace], embed: Embed) -> Aligned:
    """Align a document offline, with all its segmented translations as guides.

    Without any, the source itself is the guide. That needs an embedder of both languages; with another embedder, the
    alignment has a low confidence.

    Raises
    ------
    ValueError
        As `monotone.align`.
    """
    columns = zip(*(segment.guides for segment in segments), strict=True)
    guides = [guide for texts in columns if any(guide := list(texts))]
    ends = [one.passage != other.passage for one, other in pairwise(segments)]
    return align(prose, guides or [[segment.source for segment in segments]], [*ends, True], embed)


def unsure(segments: Sequence[SegmentPlace], aligned: Aligned) -> list[str]:
    """Ids of segments for which the offline aligner found no text, or a text of low likeness.

    Segments without a source text are left out.
    """
    doubt = _doubt(aligned)
    doubtful: list[str] = []
    for _, group in groupby(enumerate(segments), key=lambda numbered: numbered[1].passage):
        places = list(group)
        likeness = [aligned.likeness[index] if aligned.spans[index] else None for index, _ in places]
        absent = doubt or _absence([place for _, place in places], likeness)
        doubtful += [
            place.id
            for (_, place), alike in zip(places, likeness, strict=True)
            if place.source.strip() and (absent or alike is None or alike < UNSURE)
        ]
    return doubtful


def aligned_rows(
    translator: str,
    prose: str,
    segments: Sequence[SegmentPlace],
    aligned: Aligned | None,
    extracted: Sequence[Extracted],
    corrections: Mapping[str, str | None],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Results for a document: rows of `alignment`, and passages with a segment that a model failed to align.

    A manual correction takes precedence over a model's text, and a model's text over the offline alignment.

    Parameters
    ----------
    aligned
        None if a model was asked about everything.

    Returns
    -------
    Rows of `alignment`, one a passage; and columns `passage` and `error`.
    """
    answers = {result.segment: result for result in extracted}
    doubt = _doubt(aligned)
    rows: list[tuple[object, ...]] = []
    failures: list[tuple[str, str]] = []
    pace = _pace(segments, aligned)
    numbered = list(enumerate(segments))
    for passage, group in groupby(numbered, key=lambda place: place[1].passage):
        places = list(group)
        offline = _merged(places, [_offline(prose, aligned, index) for index, _ in places], pace)
        absent = doubt or _absence([place for _, place in places], [piece.likeness for piece in offline])
        pieces = []
        for (_, place), piece in zip(places, offline, strict=True):
            answer = answers.get(place.id)
            if answer and answer.error and place.id not in corrections:
                failures.append((passage, f"{translator}, {place.id}: {answer.error}"))
            pieces.append(_settled(place, None if absent else piece, answer, corrections))
        found = any(piece.text for piece in pieces)
        columns = ([piece[column] for piece in pieces] for column in range(len(Piece._fields)))
        confidence = aligned.confidence if aligned else None
        rows.append((passage, translator, *columns, confidence, None if found else absent))
    failed = pl.DataFrame(failures, schema=["passage", "error"], orient="row", schema_overrides={"passage": pl.String})
    return pl.DataFrame(rows, schema=ALIGNMENT, orient="row"), failed.unique("passage", maintain_order=True)


def verified_rows(translator: str, prose: str, alignment: pl.DataFrame, others: Mapping[str, str]) -> pl.DataFrame:
    """Rows of `verification` of a document and translator, one a segment with a text.

    Parameters
    ----------
    alignment
        Columns `passage`, `segment_ids` and `segments` (null if a passage was not aligned), in the document's order.
    others
        The translator's other documents, by id.
    """
    pieces = [
        (passage, segment, text)
        for passage, ids, texts in alignment.select("passage", "segment_ids", "segments").iter_rows()
        for segment, text in zip(ids, texts or [None] * len(ids), strict=True)
    ]
    findings = verify([text for *_, text in pieces], prose, others)
    rows = [
        (passage, translator, segment, finding.stage, finding.start, finding.end, finding.similarity,
         finding.in_order, finding.evidence)
        for (passage, segment, _), finding in zip(pieces, findings, strict=True)
        if finding.stage
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=VERIFICATION, orient="row")


def _doubt(aligned: Aligned | None) -> str | None:
    if aligned is None or aligned.confidence >= CONFIDENT:
        return None
    return f"is this a translation of the document? confidence {aligned.confidence:.2f}, below {CONFIDENT}"


def _absence(places: Sequence[SegmentPlace], likeness: Sequence[float | None]) -> str | None:
    """The reason why a passage counts as absent from the translation; None if it is present, or no segment was found.

    `likeness` has the likeness of each segment to its stretch, None without a stretch.
    """
    weights = [len(place.source) for place in places]
    if all(each is None for each in likeness):
        return None
    alike = sum(w * (each or 0.0) for w, each in zip(weights, likeness, strict=True)) / max(sum(weights), 1)
    return None if alike >= FOUND else f"nothing in the translation is like it: likeness {alike:.2f}, below {FOUND}"


def _offline(prose: str, aligned: Aligned | None, index: int) -> Piece:
    span = aligned.spans[index] if aligned else None
    if aligned is None or span is None:
        return Piece(None)
    return Piece(prose[span[0] : span[1]], *span, aligned.likeness[index], "embedding")


def _expected(place: SegmentPlace) -> float:
    """Expected characters of a segment: mean over the guides that have the segment."""
    lengths = [len(text) for text in place.guides if text]
    return sum(lengths) / len(lengths) if lengths else 0.0


def _pace(segments: Sequence[SegmentPlace], aligned: Aligned | None) -> float:
    """Ratio of the translation's length to the guides' length, over the segments that have a stretch."""
    if aligned is None:
        return 1.0
    spans = [(place, span) for place, span in zip(segments, aligned.spans, strict=True) if span]
    expected = sum(_expected(place) for place, _ in spans)
    return sum(end - start for _, (start, end) in spans) / expected if expected else 1.0


def _merged(places: Sequence[tuple[int, SegmentPlace]], pieces: Sequence[Piece], pace: float) -> list[Piece]:
    """The pieces of a passage; '' for a segment without a piece if the passage is present as a whole without it.

    The aligner gives a short segment ('Yes, sir.') to its neighbor if the translation has both in one clause.
    """
    expected = [pace * _expected(place) for _, place in places]
    whole = sum(len(piece.text or "") for piece in pieces) >= WHOLE * sum(expected)
    return [
        Piece("", method="merged") if whole and length and piece.text is None else piece
        for length, piece in zip(expected, pieces, strict=True)
    ]


def _settled(
    place: SegmentPlace, offline: Piece | None, answer: Extracted | None, corrections: Mapping[str, str | None]
) -> Piece:
    """The final piece of a segment; '' if there is nothing to translate."""
    if place.id in corrections:
        text = corrections[place.id]
        return Piece(text, method="hand" if text else None)
    if answer is not None:
        return Piece(answer.text, method="model") if answer.text else Piece(None)
    if not place.source.strip():
        return Piece("")
    return offline or Piece(None)


def corrected(rows: pl.DataFrame) -> dict[str, str | None]:
    """Corrections by segment, from rows of continuous_reference."""
    return {segment: text for entry in rows["corrections"] for segment, text in json.loads(entry).items()}
