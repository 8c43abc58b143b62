"""The offline aligner: cuts a continuous translation into the segments of the source, in order, by a dynamic program.

Here: the path. Not here: similarities (likeness), possible boundaries (units), alignment by a model (asking).

Every segment gets a stretch of units, which may be one clause of a sentence or several sentences (splits and merges are
treated alike), or none (an omission); units may be left over (an addition). Aligning by embeddings of stretches is the
idea of vecalign (Thompson and Koehn 2019) and bertalign (Liu and Zhu 2022); finding segments of the source through
other translations of them, and all stretches at once, is ours.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.alignment.likeness import Embed, Guide, guide, has_words, likeness, nearest
from benchmark_assets.alignment.units import Units, units

MOST_UNITS = 8000
"""Most units of a document that are aligned at once: memory grows with their square, 0.5 GB a matrix at this number."""

# Weights of the score. Chosen on every second of 251 suttas with published lengths of passages, on the Daodejing and on
# the Dhammapada; docs/measurements.md has the results on the other half of the suttas.
WHOLE = 0.5  # of the stretch against the segment; the rest is the weight of its units, one by one
CHANCE = 0.3  # similarity that any stretch of a document has to any segment
COMMON = 0.8  # share of a unit's median similarity that carries no information on its place
UNEVEN = 0.1  # of the squared logarithm of a stretch's length by the expected one
SOFTENED = 12.0  # characters added to both lengths, so that 'Yes, sir.' may match 'Even so, lord.'
OMITTED = 0.1  # for a segment without a stretch
ADDED = 0.2  # for leaving over as much as an average segment
PARAGRAPH, SENTENCE = 0.05, 0.02  # for a boundary there; translators begin a passage in a new paragraph:
PASSAGE = 0.1
FASTEST, SLOWEST = 0.6, 1.4  # bounds of a translation's length by the guides'


class Aligned(NamedTuple):
    """The result of an alignment.

    Attributes
    ----------
    spans
        Place of each segment in the prose, half-open and without white space around; None if it has none.
    likeness
        Similarity of each segment to its stretch, in [-0.5, 1]; 0 without one.
    confidence
        Of the whole document: mean over characters of how much more similar a segment is to its own stretch than to
        the stretch of another segment; see CONFIDENT.
    """

    spans: list[tuple[int, int] | None]
    likeness: list[float]
    confidence: float


def align(prose: str, guides: Sequence[Sequence[str | None]], passage_ends: Sequence[bool], embed: Embed) -> Aligned:
    """Find the segments of a source in a continuous translation of it.

    Parameters
    ----------
    prose
        The continuous translation of a document.
    guides
        Segmented translations of the same document into the same language, one or more: for each the text of every
        segment, None where it has none. A text without a word counts as none. A segment that no guide has is given no
        stretch.
    passage_ends
        For each segment whether it is the last of its passage.

    Raises
    ------
    ValueError
        Without a guide that has a segment, or with more than MOST_UNITS units of prose.
    """
    count = len(passage_ends)
    worded = [[text if has_words(text) else None for text in each] for each in guides]
    guides = [each for each in worded if any(each)]
    if not guides:
        raise ValueError("no guide has a segment of this document")
    expected = _expected(guides)
    known = np.flatnonzero(~np.isnan(expected))
    parts = units(prose, float(np.nanmean(expected)))
    if not parts.texts:
        return Aligned([None] * count, [0.0] * count, 0.0)
    if len(parts.texts) > MOST_UNITS:
        raise ValueError(f"the translation has {len(parts.texts)} units, at most {MOST_UNITS} are aligned at once")
    pace = float(np.clip(parts.ends[-1] / np.nansum(expected), FASTEST, SLOWEST))
    longest = _longest(parts.ends, max(3 * pace * float(np.nanmax(expected)), 300.0))
    compared = [guide(parts, each, longest, embed) for each in guides]
    stretches = _path(parts, compared, expected, pace, passage_ends, longest)
    spans = [
        _trimmed(prose, parts.spans[start][0], parts.spans[end - 1][1]) if end > start else None
        for start, end in stretches
    ]
    alike, confidence = _confidence(compared, stretches, parts.ends, known)
    return Aligned(spans, alike, confidence)


def _path(
    parts: Units,
    guides: Sequence[Guide],
    expected: NDArray[np.float64],
    pace: float,
    passage_ends: Sequence[bool],
    longest: int,
) -> list[tuple[int, int]]:
    """The best stretch of each segment, as a half-open range of units; the range is empty for an omitted segment."""
    known = np.flatnonzero(~np.isnan(expected))
    ends, average = parts.ends, float(np.nanmean(expected))
    # A segment without a guide may be the last of its passage; the passage then ends with the segment before.
    last = np.logical_or.reduceat(np.array(passage_ends), known)
    near = nearest(guides)
    near = near - COMMON * np.median(near[:, known], axis=1, keepdims=True)
    single = np.vstack([np.zeros((1, near.shape[1])), np.cumsum(near * np.diff(ends)[:, None], axis=0)]) / average
    boundaries = np.arange(len(ends))
    sizes = np.arange(longest + 1)[:, None]
    starts = np.maximum(boundaries[None, :] - sizes, 0)
    possible = (boundaries[None, :] >= sizes) & (sizes > 0)
    lengths = np.log(ends[None, :] - ends[starts] + SOFTENED)
    bonus = PARAGRAPH * parts.paragraphs + SENTENCE * parts.sentences
    passage_bonus = bonus + PASSAGE * parts.paragraphs
    added = ADDED * ends / average
    score = np.where(boundaries == 0, 0.0, -np.inf)
    steps: list[tuple[NDArray[np.int_], NDArray[np.int_]]] = []
    for segment, ends_passage in zip(known.tolist(), last, strict=True):
        score, origin = _after_additions(score, added)
        weight = float(np.sqrt(expected[segment] / average))
        uneven = UNEVEN * (lengths - np.log(pace * expected[segment] + SOFTENED)) ** 2
        whole = weight * ((1 - WHOLE) * (likeness(guides, segment) - CHANCE) - uneven)
        by_unit = WHOLE * (single[None, :, segment] - single[starts, segment])
        total = score[starts] + whole + by_unit + (passage_bonus if ends_passage else bonus)
        total[~possible] = -np.inf
        size = total.argmax(axis=0)
        best = total[size, boundaries]
        omitted = score - OMITTED * weight
        taken = best > omitted
        score = np.where(taken, best, omitted)
        steps.append((origin, np.where(taken, size, 0)))
    end = int((score + added).argmax())
    stretches = [(0, 0)] * len(expected)
    for segment, (origin, taken_units) in zip(known[::-1], reversed(steps), strict=True):
        start = end - int(taken_units[end])
        stretches[segment] = (start, end)
        end = int(origin[start])
    return stretches


def _after_additions(
    score: NDArray[np.float64], added: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """The best score at each boundary if units before it may be left over, and the boundary that it comes from."""
    level = score + added
    best = np.maximum.accumulate(level)
    origin = np.maximum.accumulate(np.where(level >= best, np.arange(len(score)), 0))
    return best - added, origin


def _confidence(
    guides: Sequence[Guide], stretches: Sequence[tuple[int, int]], ends: NDArray[np.float64], known: NDArray[np.int_]
) -> tuple[list[float], float]:
    """Likeness of each segment to its stretch, and its mean excess over the likeness of other segments to it."""
    taken = [segment for segment in known if stretches[segment][1] > stretches[segment][0]]
    alike = [0.0] * len(stretches)
    if not taken:
        return alike, 0.0
    firsts = np.array([stretches[segment][0] for segment in taken])
    lasts = np.array([stretches[segment][1] for segment in taken])
    table = np.zeros((len(taken), len(taken)))
    for column, segment in enumerate(taken):
        table[:, column] = likeness(guides, segment)[lasts - firsts, lasts]
    own = np.diagonal(table)
    for segment, value in zip(taken, own, strict=True):
        alike[segment] = float(value)
    others = (table.sum(axis=1) - own) / max(len(taken) - 1, 1)
    lengths = ends[lasts] - ends[firsts]
    return alike, float(((own - others) * lengths).sum() / ends[-1])


def _expected(guides: Sequence[Sequence[str | None]]) -> NDArray[np.float64]:
    """Expected characters of each segment: mean over guides, scaled to the first guide; NaN without a guide."""
    totals = [sum(len(text) for text in each if text) for each in guides]
    table = np.array([
        [len(text) * totals[0] / total if text else np.nan for text in each]
        for each, total in zip(guides, totals, strict=True)
    ])  # fmt: skip
    counts = (~np.isnan(table)).sum(axis=0)
    sums = np.nansum(table, axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _longest(ends: NDArray[np.float64], characters: float) -> int:
    """Most units in a stretch that ends with the unit in which it exceeds `characters`."""
    last = np.searchsorted(ends, ends[:-1] + characters)
    return int(min((last - np.arange(len(last))).max(), len(last)))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip()), end - len(stretch) + len(stretch.rstrip())
