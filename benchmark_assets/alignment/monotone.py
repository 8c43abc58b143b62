"""The offline aligner: divides a continuous translation into the segments of the source by dynamic programming.

Here: the best path. Not here: similarities (likeness), possible boundaries (units), alignment by a model
(aligner_questions).

Each segment gets a stretch of consecutive units, from one clause to several sentences, or nothing (an omission). Units
may remain unassigned (an addition). Aligning stretches by their embeddings follows vecalign (Thompson and Koehn 2019)
and bertalign (Liu and Zhu 2022). Locating segments by means of other translations is specific to this project.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.alignment.belonging import SOFTENED, Words
from benchmark_assets.alignment.likeness import (
    Embed,
    GuideLikeness,
    Matrix,
    compare,
    has_words,
    likeness,
    matched,
    stretch_likeness,
    together,
)
from benchmark_assets.alignment.reclaiming import Reclaimer
from benchmark_assets.alignment.units import LONG, Span, TextUnits, units

MOST_UNITS = 8000
"""Maximum number of units in a document. Memory grows with the square of their number: 0.5 GB per matrix at this
limit."""

LEAST_WHOLE, LEAST_UNIT = 0.1, 0.09
"""Minimum contrast of a stretch and of a unit: similarity to its own segment, minus mean similarity to the others. Text
with less contrast is better left unassigned."""

ANCHORED = -1.0
"""Minimum contrast of units after the first anchor, in place of LEAST_UNIT: text between two anchors belongs to the
segments between them."""

BY_UNIT = 2.8
"""Weight of the contrast of a single unit that is as long as an average segment. For other units, the weight changes in
proportion to their length."""

MATCHED, MOST_MATCHED = 0.2, 3.0
"""Each sentence of a guide is matched with the unit that is most similar to it. This raises the similarity of the unit
to the sentence's segment by MATCHED times the ratio of matched characters to characters of the unit. Ratios above
MOST_MATCHED count as MOST_MATCHED."""

UNRELATED, PRIOR = 0.2, 3.0
"""UNRELATED: assumed similarity to an unrelated segment. PRIOR: number of hypothetical unrelated segments that are
included when similarities to the other segments of the document are averaged."""

COMPARED = 250.0
"""A passage is compared with rivals only if its expected number of characters is at least this: short passages repeat
one another, as verses of the Dhammapada do."""

FASTEST, SLOWEST = 0.6, 1.4
"""Bounds of the ratio of the translation's length to the guides' length."""

WITHIN, FEWEST, MOST = 6.0, 0.5, 1.25
"""WITHIN: penalty for a passage that begins or ends within a paragraph, as a multiple of the bonus for the end of a
paragraph. It counts if a foreign source is the guide, and there are FEWEST to MOST paragraphs for each passage: then a
passage that the translation lacks is left out, not cut from a neighbor's paragraph. Tuned on Livy, Caesar, a fable."""

BOUNDARIES = 40.0
"""Pseudocount: number of hypothetical boundaries that are counted with the boundaries of the document. The share of
hypothetical boundaries with unassigned units is computed from the penalty `added`."""


class Weights(NamedTuple):
    """Weights of the score, in the same unit as BY_UNIT.

    Attributes
    ----------
    whole
        Weight of the contrast of a whole stretch: its similarity to its segment, minus its similarity to other
        segments.
    uneven
        Penalty for an unexpected length: factor of the squared logarithm of actual over expected length.
    omitted
        Penalty for a segment without a stretch.
    added, rarity
        `added` is the penalty for unassigned units between two stretches. On the last path, the penalty is instead
        `rarity` times the negative logarithm of the share of boundaries with unassigned units.
    paragraph, sentence
        Bonus for a boundary at the end of a paragraph or sentence.
    passage
        Further bonus for a boundary at which a passage and a paragraph end together, as is usual in translations.
    rival, doubted
        Minimum margins of a passage. The margin is the similarity of the passage's text to the passage's own guides,
        minus its similarity to another passage's guides. Below `rival`, the passage is left out of the second path;
        below `doubted`, its final text is doubted.
    reclaimed
        Minimum contrast of unassigned text that a neighboring segment reclaims, if the text also fits the segment by
        words and length. The contrast is the text's similarity to this segment, minus its similarity to other segments.
    """

    whole: float
    uneven: float
    omitted: float
    added: float
    rarity: float
    paragraph: float
    sentence: float
    passage: float
    rival: float
    doubted: float
    reclaimed: float


OF_LONG = Weights(1.2, 0.4, 0.2, 0.18, 0.048, 0.1, 0.02, 0.2, -0.03, -0.02, 0.08)
"""Weights for segments whose boundaries are between sentences (`units.LONG`), tuned on four translators of the
Daodejing; docs/measurements.md has the results on the other four. In their sound chapters, with two
guides, 0.5 % of the margins are below -0.011; with seven guides, none is. In missing chapters, all margins are below
-0.038."""

OF_SHORT = Weights(2.8, 0.56, 0.56, 0.5, 0.13, 0.28, 0.11, 0.56, -0.06, -0.06, -1.0)
"""Weights for segments that are single clauses. The ratios of these weights were tuned on the Dhammapada and on every
second one of 251 suttas whose passages have published lengths; `rival` and `doubted` were tuned on 16 suttas.
Similarities of clauses are weak evidence, so only words and lengths decide which text is reclaimed."""


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
    rivals
        For each passage whose text is more similar to another passage's guides than to its own: this other passage.
        Passages are numbered from 0.
    displaced
        For each passage without text: unassigned text that resembles this passage more than any other passage, as a
        range of characters.
    anchored
        Passages whose beginning and end are given by anchors.
    """

    spans: list[Span | None]
    likeness: list[float]
    confidence: float
    rivals: Mapping[int, int] = MappingProxyType({})
    displaced: Mapping[int, Span] = MappingProxyType({})
    anchored: frozenset[int] = frozenset()


class Beside(NamedTuple):
    """The segments of the source, and an embedder of both languages."""

    segments: Sequence[str]
    embed: Embed


class _Document(NamedTuple):
    """A document to align: units compared with guides, and the expectations for each segment and passage.

    `expected` is the expected length of each segment in the translation, shape (segments,), NaN without a guide.
    `passages` has the number of each segment's passage. `anchors` maps a segment to the boundary where its text begins.
    `within` is the penalty for a passage that begins or ends within a paragraph.
    """

    parts: TextUnits
    compared: GuideLikeness
    expected: NDArray[np.float64]
    passages: NDArray[np.int_]
    anchors: Mapping[int, int]
    weights: Weights
    within: float

    def anchored(self) -> frozenset[int]:
        """Passages that begin at an anchor and end at the next passage's anchor, or at the end of the document."""
        firsts = np.flatnonzero(np.diff(self.passages, prepend=-1)).tolist()
        return frozenset(
            number
            for number, first in enumerate(firsts)
            if first in self.anchors and (number + 1 == len(firsts) or firsts[number + 1] in self.anchors)
        )


def align(
    prose: str,
    guides: Sequence[Sequence[str | None]],
    passage_ends: Sequence[bool],
    embed: Embed,
    anchors: Mapping[int, int] = MappingProxyType({}),
    foreign: bool = False,
    beside: "Beside | None" = None,
) -> Aligned:
    """Find the segments of a source in a continuous translation of the source.

    After a first path, the best path is computed again, with two changes. Passages whose text resembles another
    passage's guides more than their own are left out, and units that are the best match of sentences of the guides get
    more weight. Segments then reclaim adjacent unassigned text that fits them.

    Parameters
    ----------
    prose
        The continuous translation of a document.
    guides
        Segmented translations of the same document into the same language. Each has one text per segment, or None for a
        segment that it lacks. A text without a letter or digit counts as None. A segment that no guide has gets no
        stretch.
    passage_ends
        Whether each segment is the last one of its passage.
    embed
        Maps texts to unit vectors, shape (texts, dimensions).
    anchors
        Offsets in the prose at which the text of a segment begins, by the segment's index. Offsets increase with
        indices.
    foreign
        Whether the guide is the source, in another language. `embed` must then support both languages.
    beside
        The source, if it is compared with the translation beside the guides; None if guides alone decide.

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
    if beside:
        expected = _filled(expected, beside.segments)
    if foreign:  # a Chinese source has a fifth of the characters of its translation
        expected *= len(prose) / np.nansum(expected)
    length = float(np.nanmean(expected))
    weights = OF_LONG if length > LONG else OF_SHORT
    passages = np.concatenate([[0], np.cumsum(passage_ends[:-1], dtype=np.int_)])
    breaks = [found.end() for found in re.finditer(r"\n\s*", prose.rstrip())]
    is_comparable = foreign and FEWEST <= (len(breaks) + 1) / (passages[-1] + 1) <= MOST
    parts = units(prose, length, [*anchors.values(), *(breaks if is_comparable else [])])
    if not parts.texts:
        return Aligned([None] * count, [0.0] * count, 0.0)
    if len(parts.texts) > MOST_UNITS:
        raise ValueError(f"the translation has {len(parts.texts)} units; at most {MOST_UNITS} can be aligned")
    pace = float(np.clip(parts.ends[-1] / np.nansum(expected), FASTEST, SLOWEST))
    expected = pace * expected
    longest = _longest(parts.ends, float(np.nanmax(expected)))
    ends = [end for _, end in parts.spans]
    boundaries = {segment: int(np.searchsorted(ends, offset, side="right")) for segment, offset in anchors.items()}
    compared = compare(parts, guides, longest, embed, foreign)
    if beside:
        compared = together(compared, compare(parts, [beside.segments], longest, beside.embed, foreign=True))
    within = WITHIN * weights.paragraph if is_comparable else 0.0
    document = _Document(parts, compared, expected, passages, boundaries, weights, within)
    stretches = _path(document, document.compared.near, ~np.isnan(expected), weights.added)
    margins, _ = _margins(document, stretches)
    kept = ~np.isnan(expected) & (margins >= weights.rival)[passages]
    if kept.any():
        near = _rematched(document, stretches, kept)
        stretches = _path(document, near, kept, weights.added)
        stretches = _path(document, near, kept, _addition_penalty(document, stretches))
        if not foreign:  # the words of two languages have nothing in common
            contrast = np.full_like(near, -np.inf)
            contrast[:, kept] = _contrast(near[:, kept])
            reclaimer = Reclaimer(Words(prose, guides), parts, contrast, weights.reclaimed, longest, boundaries)
            # The second pass takes expected lengths and usual boundaries from the result of the first.
            stretches = reclaimer.extended(reclaimer.extended(stretches))
    margins, rivals = _margins(document, stretches)
    return Aligned(
        [_span(prose, parts, start, end) if end > start else None for start, end in stretches],
        *_confidence(document, stretches),
        {passage: int(rivals[passage]) for passage in np.flatnonzero(margins < weights.doubted).tolist()},
        {passage: _span(prose, parts, *unassigned) for passage, unassigned in _displaced(document, stretches).items()},
        document.anchored(),
    )


def _path(document: _Document, near: Matrix, kept: NDArray[np.bool_], added: float) -> list[Span]:
    """The best stretch of each segment as a half-open range of units, empty for an omitted segment.

    `near` is the similarity of units to segments; only the `kept` segments may have a stretch. `added` is the penalty
    for leaving units between two stretches unassigned.
    """
    parts, compared, expected, passages, anchors, weights, within = document
    segments, ends = np.flatnonzero(kept), parts.ends
    average = float(np.mean(expected[segments]))
    # If the last segment of a passage is not kept, the passage ends with its last kept segment.
    first, last = np.diff(passages[segments], prepend=-1) != 0, np.diff(passages[segments], append=-1) != 0
    least = np.where(np.arange(len(near)) < min(anchors.values(), default=len(near)), LEAST_UNIT, ANCHORED)
    gains = BY_UNIT * (_contrast(near[:, segments]) - least[:, None]) * np.diff(ends)[:, None] / average
    single = np.vstack([np.zeros((1, len(segments))), np.cumsum(gains, axis=0)])
    whole = likeness(compared, segments)
    boundaries = np.arange(len(ends))
    bonus = weights.paragraph * parts.paragraphs + weights.sentence * parts.sentences
    of_passage = bonus - within * ~parts.paragraphs
    passage_bonus = of_passage + weights.passage * parts.paragraphs
    score = np.where(boundaries == 0, 0.0, -np.inf)
    steps: list[tuple[NDArray[np.int_], NDArray[np.int_]]] = []
    for column, segment in enumerate(segments.tolist()):
        between = range(segments[column - 1] + 1 if column else 0, segment + 1)
        fixed = [anchors[index] for index in between if index in anchors]
        score, origin = _after_addition(score, (of_passage if first[column] else bonus) - added, fixed)
        longest = min(_longest(ends, expected[segment]), len(whole) - 1)
        sizes = np.arange(longest + 1)[:, None]
        starts = np.maximum(boundaries[None, :] - sizes, 0)
        weight = float(np.sqrt(expected[segment] / average))
        lengths = np.log((ends[None, :] - ends[starts] + SOFTENED) / (expected[segment] + SOFTENED))
        own = likeness(compared, segment, longest)
        contrast = _above_others(own, whole[: longest + 1], len(segments))
        total = score[starts] + weight * (weights.whole * (contrast - LEAST_WHOLE) - weights.uneven * lengths**2)
        total += single[None, :, column] - single[starts, column] + (passage_bonus if last[column] else bonus)
        total[(boundaries[None, :] < sizes) | (sizes == 0)] = -np.inf
        size = total.argmax(axis=0)
        best = total[size, boundaries]
        omitted = score - weights.omitted * weight
        aligned = best > omitted
        score = np.where(aligned, best, omitted)
        steps.append((origin, np.where(aligned, size, 0)))
    fixed = [boundary for index, boundary in anchors.items() if index > segments[-1]]
    _, origin = _after_addition(score, bonus - added, fixed)
    end = int(origin[-1])
    stretches = [(0, 0)] * len(expected)
    for segment, (origin, sizes_at_ends) in zip(segments[::-1].tolist(), reversed(steps), strict=True):
        start = end - int(sizes_at_ends[end])
        stretches[segment] = (start, end)
        end = int(origin[start])
    return stretches


def _contrast(near: Matrix) -> Matrix:
    """Similarity of units to segments, minus their mean similarity to the other segments."""
    return _above_others(near, near.sum(axis=1, keepdims=True), near.shape[1])


def _above_others(own: Matrix, total: Matrix, segments: int) -> Matrix:
    """Similarity to a segment, minus the mean similarity to the others; `total` is the sum over all segments."""
    return np.asarray(own - (total - own + PRIOR * UNRELATED) / (segments - 1 + PRIOR), dtype=np.float64)


def _after_addition(
    score: NDArray[np.float64], gain: NDArray[np.float64], fixed: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """For each boundary: the best score if units before it may stay unassigned, and where such unassigned units begin.

    `gain` is added to the score at each boundary where unassigned units end. The segment before these units must end at
    or before every boundary in `fixed`, and the segment after them must begin at or after every boundary in `fixed`.
    """
    boundaries = np.arange(len(score))
    if fixed:
        score = np.where(boundaries <= min(fixed), score, -np.inf)
    best = np.maximum.accumulate(score)
    origin = np.maximum.accumulate(np.where(score >= best, boundaries, 0))
    added = best + gain
    better = (origin < boundaries) & (added > score)
    score, origin = np.where(better, added, score), np.where(better, origin, boundaries)
    return np.where(boundaries >= max(fixed, default=0), score, -np.inf), origin


def _additions(document: _Document, stretches: Sequence[Span]) -> list[Span]:
    """The ranges of units that are in no stretch."""
    placed = [(0, 0), *(each for each in stretches if each[1] > each[0]), (len(document.parts.texts),) * 2]
    return [(end, start) for (_, end), (start, _) in pairwise(placed) if start > end]


def _addition_penalty(document: _Document, stretches: Sequence[Span]) -> float:
    """The penalty for unassigned units, from the share of boundaries where these stretches leave units unassigned."""
    weights = document.weights
    boundaries = 1 + sum(end > start for start, end in stretches)
    additions = len(_additions(document, stretches)) + BOUNDARIES * np.exp(-weights.added / weights.rarity)
    return float(-weights.rarity * np.log(additions / (boundaries + BOUNDARIES)))


def _rematched(document: _Document, stretches: Sequence[Span], kept: NDArray[np.bool_]) -> Matrix:
    """Similarity of units to segments, raised where sentences of the guides match the unit best.

    Each segment's sentences are compared with the units between the stretches of its neighbors, inclusive.
    """
    count = len(document.parts.texts)
    placed = [index for index in np.flatnonzero(kept).tolist() if stretches[index][1] > stretches[index][0]]
    before = np.searchsorted(placed, np.arange(len(stretches))) - 1
    after = np.searchsorted(placed, np.arange(len(stretches)), side="right")
    windows = [
        (stretches[placed[one]][0] if one >= 0 else 0, stretches[placed[other]][1] if other < len(placed) else count)
        for one, other in zip(before.tolist(), after.tolist(), strict=True)
    ]
    lengths = np.diff(document.parts.ends)[:, None]
    matches = np.nan_to_num(document.expected) * matched(document.compared, windows) / lengths
    if document.within:  # a segment that was left out would take the best clause of a neighbor's paragraph
        matches[:, [end == start for start, end in stretches]] = 0.0
    return document.compared.near + MATCHED * np.minimum(matches, MOST_MATCHED)


def _to_passages(document: _Document, start: int, end: int) -> NDArray[np.float64]:
    """Similarity of a stretch to each passage: its units' similarities to the passage's guides, weighted by unit
    length and summed."""
    starts = np.flatnonzero(np.diff(document.passages, prepend=-1))
    near = np.maximum.reduceat(document.compared.near[start:end], starts, axis=1)
    return np.asarray(np.diff(document.parts.ends)[start:end] @ near, dtype=np.float64)


def _margins(document: _Document, stretches: Sequence[Span]) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """How much more similar the units of each passage are to its own guides than to the guides of its rival.

    The rival is the other passage whose guides the units resemble most. Margins are averages over characters, shape
    (passages,). A margin is infinite if the passage has no text or no rival, is shorter than COMPARED, or is between
    anchors.
    """
    parts, passages = document.parts, document.passages
    count, anchored = int(passages[-1]) + 1, document.anchored()
    margins, rivals = np.full(count, np.inf), np.zeros(count, np.int_)
    lengths = np.bincount(passages, np.nan_to_num(document.expected))
    for passage in range(count):
        own = [stretches[segment] for segment in np.flatnonzero(passages == passage).tolist()]
        own = [(start, end) for start, end in own if end > start]
        if own and count > 1 and passage not in anchored and lengths[passage] >= COMPARED:
            similarity = sum(_to_passages(document, start, end) for start, end in own)
            assert isinstance(similarity, np.ndarray)
            others = np.where(np.arange(count) == passage, -np.inf, similarity)
            rivals[passage] = others.argmax()
            length = sum(parts.ends[end] - parts.ends[start] for start, end in own)
            margins[passage] = (similarity[passage] - others.max()) / length
    return margins, rivals


def _displaced(document: _Document, stretches: Sequence[Span]) -> dict[int, Span]:
    """For each passage without a stretch: unassigned units that resemble this passage more than any other."""
    with_text = {passage for passage, (start, end) in zip(document.passages, stretches, strict=True) if end > start}
    nearest = {int(_to_passages(document, *units).argmax()): units for units in _additions(document, stretches)}
    return {passage: units for passage, units in nearest.items() if passage not in with_text}


def _confidence(document: _Document, stretches: Sequence[Span]) -> tuple[list[float], float]:
    """The fields `likeness` and `confidence` of `Aligned`."""
    aligned = np.array([segment for segment, (start, end) in enumerate(stretches) if end > start], dtype=np.int_)
    likenesses = [0.0] * len(stretches)
    if not len(aligned):
        return likenesses, 0.0
    firsts, lasts = np.array(stretches)[aligned].T
    table = stretch_likeness(document.compared, firsts, lasts)[:, aligned]
    to_own = np.diagonal(table)
    for segment, value in zip(aligned.tolist(), to_own.tolist(), strict=True):
        likenesses[segment] = value
    to_others = (table.sum(axis=1) - to_own) / max(len(aligned) - 1, 1)
    lengths = document.parts.ends[lasts] - document.parts.ends[firsts]
    return likenesses, float(((to_own - to_others) * lengths).sum() / document.parts.ends[-1])


def _expected(guides: Sequence[Sequence[str | None]]) -> NDArray[np.float64]:
    """Expected length of each segment: mean over the guides, all scaled to the first guide's length; NaN without a
    guide."""
    totals = [sum(len(text) for text in texts if text) for texts in guides]
    table = np.array([
        [len(text) * totals[0] / total if text else np.nan for text in texts]
        for texts, total in zip(guides, totals, strict=True)
    ])  # fmt: skip
    counts = (~np.isnan(table)).sum(axis=0)
    sums = np.nansum(table, axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _filled(expected: NDArray[np.float64], sources: Sequence[str]) -> NDArray[np.float64]:
    """Expected lengths, of segments without a guide by the length of their source."""
    lengths = np.array([len(text) if has_words(text) else np.nan for text in sources])
    both = ~np.isnan(expected) & ~np.isnan(lengths)
    return np.where(np.isnan(expected), lengths * expected[both].sum() / lengths[both].sum(), expected)


def _longest(ends: NDArray[np.float64], expected: float) -> int:
    """Maximum number of units that a segment of this expected length may need, wherever its stretch starts."""
    last = np.searchsorted(ends, ends[:-1] + max(3 * expected, 300.0))
    return int(min((last - np.arange(len(last))).max(), len(last)))


def _span(prose: str, parts: TextUnits, first: int, last: int) -> Span:
    """The range of characters of units `first` to `last` - 1, without surrounding white space."""
    start, end = parts.spans[first][0], parts.spans[last - 1][1]
    stretch = prose[start:end]
    return start + len(stretch) - len(stretch.lstrip()), end - len(stretch) + len(stretch.rstrip())
