"""The offline aligner: divides a continuous translation into the segments of the source by dynamic programming.

Here: the best path. Not here: similarities (likeness), possible boundaries (units), alignment by a model (asking).

Each segment gets a stretch of consecutive units, from one clause to several sentences, or nothing (an omission). Units
may remain unassigned (an addition). Aligning stretches by their embeddings follows vecalign (Thompson and Koehn 2019)
and bertalign (Liu and Zhu 2022). Locating segments by means of other translations is specific to this project.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.alignment.likeness import Embed, Guide, guide, has_words, likeness, nearest
from benchmark_assets.alignment.units import Units, units

MOST_UNITS = 8000
"""Most units in a document. Memory grows with the square of their number: 0.5 GB per matrix at this limit."""

# Weights of the score, tuned on every second one of 251 suttas with published lengths of passages, on the Daodejing and
# on the Dhammapada; docs/measurements.md has the results on the other half of the suttas.
WHOLE = 0.5  # weight of the single units' similarities; 1 - WHOLE is the weight of the stretch's similarity as a whole
CHANCE = 0.3  # similarity that any stretch of a document has to any segment
COMMON = 0.8  # share of a unit's median similarity that says nothing about the unit's place
UNEVEN = 0.1  # penalty: factor of the squared logarithm of actual by expected length
SOFTENED = 12.0  # characters added to both lengths, so that 'Yes, sir.' may match 'Even so, lord.'
OMITTED = 0.1  # penalty for a segment without a stretch
ADDED = 0.2  # penalty for unassigned units as long as an average segment
PARAGRAPH, SENTENCE = 0.05, 0.02  # bonus for a boundary at the end of a paragraph or sentence
PASSAGE = 0.1  # further bonus where a passage and a paragraph end together, as translators usually arrange it
FASTEST, SLOWEST = 0.6, 1.4  # bounds of the ratio of the translation's length to the guides' length


class Aligned(NamedTuple):
    """The alignment of a document: the stretch of the prose that translates each segment.

    Attributes
    ----------
    spans
        Each segment's stretch as a half-open range of characters, without surrounding white space; None if the segment
        has no stretch.
    likeness
        Similarity of each segment to its stretch, in [-0.5, 1]; 0 if the segment has no stretch.
    confidence
        A stretch's similarity to its own segment, minus its mean similarity to the other segments; averaged over the
        characters of the prose, where characters outside all stretches count as 0. `rows.CONFIDENT` is the threshold.
    """

    spans: list[tuple[int, int] | None]
    likeness: list[float]
    confidence: float


def align(
    prose: str,
    guides: Sequence[Sequence[str | None]],
    passage_ends: Sequence[bool],
    embed: Embed,
    foreign: bool = False,
) -> Aligned:
    """Find the segments of a source in a continuous translation of it.

    Parameters
    ----------
    prose
        The continuous translation of a document.
    guides
        Segmented translations of the same document into the same language: for each translation the text of every
        segment, None where it has none. A text without a letter or digit counts as None. A segment that no guide has
        gets no stretch.
    passage_ends
        Whether each segment is the last one of its passage.
    embed
        Maps texts to unit vectors, shape (texts, dimensions).
    foreign
        Whether the guide is the source, in another language. `embed` must then support both languages.

    Raises
    ------
    ValueError
        If no guide has a segment, or the prose has more than MOST_UNITS units.
    """
    count = len(passage_ends)
    with_words = [[text if has_words(text) else None for text in texts] for texts in guides]
    guides = [texts for texts in with_words if any(texts)]
    if not guides:
        raise ValueError("no guide has a segment of this document")
    expected = _expected(guides)
    if foreign:  # a Chinese source has a fifth of the characters of its translation
        expected *= len(prose) / np.nansum(expected)
    guided_segments = np.flatnonzero(~np.isnan(expected))
    parts = units(prose, float(np.nanmean(expected)))
    if not parts.texts:
        return Aligned([None] * count, [0.0] * count, 0.0)
    if len(parts.texts) > MOST_UNITS:
        raise ValueError(f"the translation has {len(parts.texts)} units; at most {MOST_UNITS} can be aligned")
    pace = float(np.clip(parts.ends[-1] / np.nansum(expected), FASTEST, SLOWEST))
    longest = _longest(parts.ends, max(3 * pace * float(np.nanmax(expected)), 300.0))
    compared_guides = [guide(parts, texts, longest, embed, foreign) for texts in guides]
    stretches = _path(parts, compared_guides, expected, pace, passage_ends, longest)
    spans = [
        _trimmed(prose, parts.spans[start][0], parts.spans[end - 1][1]) if end > start else None
        for start, end in stretches
    ]
    return Aligned(spans, *_confidence(compared_guides, stretches, parts.ends, guided_segments))


def _path(
    parts: Units,
    guides: Sequence[Guide],
    expected: NDArray[np.float64],
    pace: float,
    passage_ends: Sequence[bool],
    longest: int,
) -> list[tuple[int, int]]:
    """The best stretch of each segment as a half-open range of units, empty for an omitted segment."""
    guided_segments = np.flatnonzero(~np.isnan(expected))
    ends, average = parts.ends, float(np.nanmean(expected))
    # If no guide has the last segment of a passage, the passage ends with the last segment that a guide has.
    last = np.logical_or.reduceat(np.array(passage_ends), guided_segments)
    near = nearest(guides)
    near = near - COMMON * np.median(near[:, guided_segments], axis=1, keepdims=True)
    single = np.vstack([np.zeros((1, near.shape[1])), np.cumsum(near * np.diff(ends)[:, None], axis=0)]) / average
    boundaries = np.arange(len(ends))
    sizes = np.arange(longest + 1)[:, None]
    starts = np.maximum(boundaries[None, :] - sizes, 0)
    possible = (boundaries[None, :] >= sizes) & (sizes > 0)
    lengths = np.log(ends[None, :] - ends[starts] + SOFTENED)
    bonus = PARAGRAPH * parts.paragraphs + SENTENCE * parts.sentences
    passage_bonus = bonus + PASSAGE * parts.paragraphs
    penalties = ADDED * ends / average
    score = np.where(boundaries == 0, 0.0, -np.inf)
    steps: list[tuple[NDArray[np.int_], NDArray[np.int_]]] = []
    for segment, ends_passage in zip(guided_segments.tolist(), last, strict=True):
        score, origin = _after_additions(score, penalties)
        weight = float(np.sqrt(expected[segment] / average))
        uneven = UNEVEN * (lengths - np.log(pace * expected[segment] + SOFTENED)) ** 2
        whole = weight * ((1 - WHOLE) * (likeness(guides, segment) - CHANCE) - uneven)
        by_unit = WHOLE * (single[None, :, segment] - single[starts, segment])
        total = score[starts] + whole + by_unit + (passage_bonus if ends_passage else bonus)
        total[~possible] = -np.inf
        size = total.argmax(axis=0)
        best = total[size, boundaries]
        omitted = score - OMITTED * weight
        aligned = best > omitted
        score = np.where(aligned, best, omitted)
        steps.append((origin, np.where(aligned, size, 0)))
    end = int((score + penalties).argmax())
    stretches = [(0, 0)] * len(expected)
    for segment, (origin, sizes_at_ends) in zip(guided_segments[::-1], reversed(steps), strict=True):
        start = end - int(sizes_at_ends[end])
        stretches[segment] = (start, end)
        end = int(origin[start])
    return stretches


def _after_additions(
    score: NDArray[np.float64], penalties: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """The best score at each boundary if units before it may stay unassigned, and the boundary before these units."""
    level = score + penalties
    best = np.maximum.accumulate(level)
    origin = np.maximum.accumulate(np.where(level >= best, np.arange(len(score)), 0))
    return best - penalties, origin


def _confidence(
    guides: Sequence[Guide],
    stretches: Sequence[tuple[int, int]],
    ends: NDArray[np.float64],
    guided_segments: NDArray[np.int_],
) -> tuple[list[float], float]:
    """The fields `likeness` and `confidence` of `Aligned`; `guided_segments` are indices of segments with a guide."""
    aligned = [segment for segment in guided_segments if stretches[segment][1] > stretches[segment][0]]
    likenesses = [0.0] * len(stretches)
    if not aligned:
        return likenesses, 0.0
    firsts = np.array([stretches[segment][0] for segment in aligned])
    lasts = np.array([stretches[segment][1] for segment in aligned])
    table = np.zeros((len(aligned), len(aligned)))
    for column, segment in enumerate(aligned):
        table[:, column] = likeness(guides, segment)[lasts - firsts, lasts]
    to_own = np.diagonal(table)
    for segment, value in zip(aligned, to_own, strict=True):
        likenesses[segment] = float(value)
    to_others = (table.sum(axis=1) - to_own) / max(len(aligned) - 1, 1)
    lengths = ends[lasts] - ends[firsts]
    return likenesses, float(((to_own - to_others) * lengths).sum() / ends[-1])


def _expected(guides: Sequence[Sequence[str | None]]) -> NDArray[np.float64]:
    """Expected length of each segment: mean over guides, scaled to the first guide's length; NaN without a guide."""
    totals = [sum(len(text) for text in texts if text) for texts in guides]
    table = np.array([
        [len(text) * totals[0] / total if text else np.nan for text in texts]
        for texts, total in zip(guides, totals, strict=True)
    ])  # fmt: skip
    counts = (~np.isnan(table)).sum(axis=0)
    sums = np.nansum(table, axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _longest(ends: NDArray[np.float64], characters: float) -> int:
    """The most units that a stretch may need to reach `characters`, wherever it starts."""
    last = np.searchsorted(ends, ends[:-1] + characters)
    return int(min((last - np.arange(len(last))).max(), len(last)))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip()), end - len(stretch) + len(stretch.rstrip())
