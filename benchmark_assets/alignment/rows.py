"""Rows of the alignment's tables, from documents. Not here: how a document is aligned (monotone, asking), storage.

A document whose alignment as a whole cannot be trusted gets no text at all, and a passage that is like nothing in the
translation gets none: null with a doubt in words, never a wrong text.
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
"""Least confidence of a document: of 60 suttas aligned to the text of another of the same collection none reached it,
of 250 aligned to their own 7 did not, for their files hold another text or lack most of it (docs/measurements.md)."""

FOUND = 0.2
"""Least likeness of a passage, on average over its source: 39 % of the suttas' passages with a wrong length lie below,
and 0.5 % of those with the right one."""

UNSURE = 0.35
"""Likeness of a segment below which a model is asked, where it is asked only for what is unsure."""

WHOLE = 0.75
"""Share of its expected length from which a passage is taken to be in the translation as a whole."""

ALIGNMENT = schema("alignment")
VERIFICATION = schema("verification")


class SegmentPlace(NamedTuple):
    """A segment of a document: its passage, id and source text, and its text in each segmented translation."""

    passage: str
    id: str
    source: str
    guides: tuple[str | None, ...]


class Piece(NamedTuple):
    """What a segment was given: text, its place in the prose, likeness and method; see the table `alignment`."""

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

    Where there is none, the source itself is the guide. That takes an embedder of both languages; with another, the
    alignment is not confident, and says so.

    Raises
    ------
    ValueError
        As `monotone.align`.
    """
    guides = [guide for texts in zip(*(each.guides for each in segments), strict=True) if any(guide := list(texts))]
    ends = [one.passage != other.passage for one, other in pairwise(segments)]
    return align(prose, guides or [[each.source for each in segments]], [*ends, True], embed)


def unsure(segments: Sequence[SegmentPlace], aligned: Aligned) -> list[str]:
    """Segments with a source that the offline aligner leaves without a text, or with one that is little like them."""
    doubt = _doubt(aligned)
    found: list[str] = []
    for _, own in groupby(enumerate(segments), key=lambda each: each[1].passage):
        places = list(own)
        likeness = [aligned.likeness[index] if aligned.spans[index] else None for index, _ in places]
        absent = doubt or _absence([place for _, place in places], likeness)
        found += [
            place.id
            for (_, place), alike in zip(places, likeness, strict=True)
            if place.source.strip() and (absent or alike is None or alike < UNSURE)
        ]
    return found


def aligned_rows(
    translator: str,
    prose: str,
    segments: Sequence[SegmentPlace],
    aligned: Aligned | None,
    extracted: Sequence[Extracted],
    corrections: Mapping[str, str | None],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What became of a document: rows of `alignment`, and passages of which a model failed to align a segment.

    A correction by hand goes before what a model extracted, and that before the offline alignment.

    Parameters
    ----------
    aligned
        None where a model was asked for everything.

    Returns
    -------
    Rows of `alignment`, one a passage; and columns `passage` and `error`.
    """
    asked = {each.segment: each for each in extracted}
    doubt = _doubt(aligned)
    rows: list[tuple[object, ...]] = []
    failures: list[tuple[str, str]] = []
    pace = _pace(segments, aligned)
    numbered = list(enumerate(segments))
    for passage, own in groupby(numbered, key=lambda each: each[1].passage):
        places = list(own)
        offline = _merged(places, [_offline(prose, aligned, index) for index, _ in places], pace)
        absent = doubt or _absence([place for _, place in places], [piece.likeness for piece in offline])
        pieces = []
        for (_, place), piece in zip(places, offline, strict=True):
            answer = asked.get(place.id)
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
    """Rows of `verification` of a document and translator, one a segment that was given a text.

    Parameters
    ----------
    alignment
        Columns `passage`, `segment_ids` and `segments` (null where a passage was not aligned), in the document's order.
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
        (passage, translator, segment, found.stage, found.start, found.end, found.similarity, found.in_order,
         found.evidence)
        for (passage, segment, _), found in zip(pieces, findings, strict=True)
        if found.stage
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=VERIFICATION, orient="row")


def _doubt(aligned: Aligned | None) -> str | None:
    if aligned is None or aligned.confidence >= CONFIDENT:
        return None
    return f"is this a translation of the document? confidence {aligned.confidence:.2f}, below {CONFIDENT}"


def _absence(places: Sequence[SegmentPlace], likeness: Sequence[float | None]) -> str | None:
    """Why a passage is not taken to be in the translation; None where it is, or where nothing was found of it.

    `likeness` is that of each segment to its stretch, None without one.
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
    """Characters of a segment, mean over the guides that have it."""
    lengths = [len(text) for text in place.guides if text]
    return sum(lengths) / len(lengths) if lengths else 0.0


def _pace(segments: Sequence[SegmentPlace], aligned: Aligned | None) -> float:
    """Length of the translation by the guides', over what was found."""
    if aligned is None:
        return 1.0
    found = [(place, span) for place, span in zip(segments, aligned.spans, strict=True) if span]
    expected = sum(_expected(place) for place, _ in found)
    return sum(end - start for _, (start, end) in found) / expected if expected else 1.0


def _merged(places: Sequence[tuple[int, SegmentPlace]], pieces: Sequence[Piece], pace: float) -> list[Piece]:
    """The pieces of a passage; '' for a segment without one where the passage is there as a whole without it.

    The aligner gives a short segment ('Yes, sir.') to its neighbour where the translation has both in one clause.
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
    """The piece that a segment is given in the end; '' where there is nothing to translate."""
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
    return {segment: text for each in rows["corrections"] for segment, text in json.loads(each).items()}
