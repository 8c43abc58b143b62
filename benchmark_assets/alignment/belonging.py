"""How well stretches of a continuous translation fit the segments of its source: words, length and boundaries.

Here: the fit of a stretch to a segment, as a log-likelihood ratio. Not here: which stretch a segment should have
(extent, reclaiming), similarities to embeddings (likeness).

The fit has three parts. The words and the length of a stretch are compared with the words and the lengths of the
segment's other translations, and its boundaries with the other boundaries of the document. None of the three parts
depends on the embedder of the offline aligner, or on the place that this aligner assigned.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.alignment.likeness import stemmed
from benchmark_assets.alignment.normalization import ELLIPSIS_IN_PROSE, normal_form
from benchmark_assets.alignment.units import units

SOFTENED = 12.0
"""Characters added to both lengths of a length ratio, so that 'Yes, sir.' may match 'Even so, lord.'"""

SHARED = 0.5
"""Assumed share of a segment's words that come from its other translations; the rest come from the whole document."""

UNASSIGNED = 0.3
"""Loss in log-likelihood for each word that belongs to no segment. There is no such loss where a segment lacks a text,
because the word may belong to that segment."""

EVEN, TYPICAL, FEW = 0.35, 0.45, 8
"""Standard deviation of log length ratios. EVEN is the minimum; TYPICAL is used if fewer than FEW segments have a
ratio."""

FARTHEST = 6.0
"""Maximum deviation of a length from the expected length, in standard deviations; larger deviations are clipped."""

ORDINARY = np.array([1.2, 2.0, 0.75, 0.05])
"""Pseudocounts: for each kind of boundary, the number that is added to its count in the document."""

MOST = 8.0
"""Maximum absolute value of the log-likelihood ratio of a boundary; larger values are clipped."""

_PARAGRAPH, _SENTENCE, _CLAUSE, _WITHIN = range(4)
_ABBREVIATED = re.compile(ELLIPSIS_IN_PROSE)
_SENTENCE_END = re.compile(r"[.?!…;:。！？；：]")

Vector = NDArray[np.float64]
Stretch = tuple[int, int]
"""A half-open range of words of the prose."""


class Words:
    """The words of a continuous translation, and how strongly each word belongs to each segment.

    Attributes
    ----------
    starts, ends
        Range of characters of each word in the prose.
    kinds
        Kind of the boundary before each word and of the boundary at the end of the prose, shape (words + 1,). A
        boundary is between paragraphs or lines, between sentences, between clauses, or within a clause.
    guides
        Segmented translations, at least one. Each has one text per segment, or None for a segment that it lacks.
    foreign
        Whether the guide is the source: then words that it lacks say nothing, and those that it has are names.
    """

    def __init__(self, prose: str, guides: Sequence[Sequence[str | None]], foreign: bool = False) -> None:
        form = normal_form(prose).folded()
        self.starts, self.ends = [start for start, _ in form.spans], [end for _, end in form.spans]
        self.kinds = _boundaries(prose, self.starts, self.ends)
        self.guides = guides
        self._absent = 0.0 if foreign else float(np.log(1 - SHARED))
        self._stems = [stemmed(word) for word in form.tokens]
        shares = [_shares([texts[at] for texts in guides]) for at in range(len(guides[0]))]
        totals = Counter(self._stems)
        for texts in guides:
            totals.update(word for text in texts if text for word in _stems(text))
        count = sum(totals.values())
        self._ratios = [
            {word: float(np.log(1 - SHARED + SHARED * share * count / totals[word])) for word, share in own.items()}
            for own in shares
        ]

    @property
    def count(self) -> int:
        """Number of words in the prose."""
        return len(self._stems)

    def is_guided(self, segment: int) -> bool:
        """Whether another translation has words for a segment."""
        return bool(self._ratios[segment])

    def stretch(self, start: int, end: int) -> Stretch:
        """The words that begin in a range of characters."""
        return bisect_left(self.starts, start), bisect_left(self.starts, end)

    def characters(self, stretch: Stretch) -> int:
        """Length of a stretch in characters, from its first word to its last."""
        return self.ends[stretch[1] - 1] - self.starts[stretch[0]] if stretch[1] > stretch[0] else 0

    def belonging(self, segment: int, stretch: Stretch) -> Vector:
        """Log-likelihood ratio of each word of a stretch: this segment versus the whole document.

        Zero where no other translation has the segment.
        """
        own = self._ratios[segment]
        if not own:
            return np.zeros(stretch[1] - stretch[0])
        return np.array([own.get(word, self._absent) for word in self._stems[slice(*stretch)]], dtype=np.float64)


class StretchFit:
    """The fit of stretches to segments, given the current stretches of all segments (`places`).

    The translator's pace, the spread of lengths and the usual boundaries are estimated from `places`.
    """

    def __init__(self, words: Words, places: Mapping[int, Stretch]) -> None:
        self.words, self.places = words, places
        lengths = {segment: words.characters(place) for segment, place in places.items()}
        self._expected = _expected(words.guides, lengths)
        ratios = [_ratio(lengths[at], self._expected[at]) for at in places if at in self._expected]
        spread = 1.4826 * float(np.median(np.abs(np.array(ratios) - np.median(ratios)))) if ratios else 0.0
        self._deviation = max(EVEN, spread) if len(ratios) >= FEW else TYPICAL
        own = ORDINARY + np.bincount([words.kinds[at] for place in places.values() for at in place], minlength=4)
        everywhere = np.bincount(words.kinds, minlength=4) + 0.5
        weights = np.log(own / own.sum()) - np.log(everywhere / everywhere.sum())
        self.boundaries: Vector = np.clip(weights, -MOST, MOST)[words.kinds]
        """Log-likelihood ratio of a boundary before each word and at the end of the prose, shape (words + 1,)."""

    def expects_length(self, segment: int) -> bool:
        """Whether another translation has an unabbreviated text for the segment."""
        return segment in self._expected

    def length(self, segment: int, characters: NDArray[np.int_]) -> Vector:
        """Log-likelihood of lengths of a segment, up to a constant; zero where no length is expected."""
        if not self.expects_length(segment):
            return np.zeros(len(characters))
        deviations = _ratio(characters, self._expected[segment]) / self._deviation
        return np.asarray(-(np.minimum(np.abs(deviations), FARTHEST) ** 2) / 2, dtype=np.float64)

    def of(self, segment: int, stretch: Stretch) -> float:
        """Fit of a stretch to a segment; zero for an empty stretch."""
        if stretch[1] <= stretch[0]:
            return 0.0
        ends = self.boundaries[stretch[0]] + self.boundaries[stretch[1]]
        length = self.length(segment, np.array([self.words.characters(stretch)]))[0]
        return float((self.words.belonging(segment, stretch) + UNASSIGNED).sum() + ends + length)


def _boundaries(prose: str, starts: Sequence[int], ends: Sequence[int]) -> NDArray[np.int_]:
    cuts = [start for start, _ in units(prose, 0.0).spans]

    def kind(end: int, start: int) -> int:
        between = prose[end:start]
        if "\n" in between:
            return _PARAGRAPH
        if _SENTENCE_END.search(between):
            return _SENTENCE
        return _CLAUSE if bisect_left(cuts, end) < bisect_left(cuts, start + 1) else _WITHIN

    inner = [kind(end, start) for end, start in zip(ends, starts[1:], strict=False)]
    return np.array([_PARAGRAPH, *inner, _PARAGRAPH] if starts else [_PARAGRAPH], dtype=np.int_)


@lru_cache(maxsize=10_000)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(stemmed(word) for word in normal_form(text).folded().tokens)


def _shares(texts: Sequence[str | None]) -> dict[str, float]:
    """Share of each stem among the words of a segment, averaged over the translations that have the segment."""
    counters = [counter for text in texts if text and (counter := Counter(_stems(text)))]
    shares: Counter[str] = Counter()
    for counter in counters:
        shares.update({word: count / counter.total() / len(counters) for word, count in counter.items()})
    return dict(shares)


def _expected(guides: Sequence[Sequence[str | None]], lengths: Mapping[int, int]) -> dict[int, float]:
    """Expected length of each segment: its mean length over the guides, all scaled to the translator's pace.

    Abbreviated texts are ignored, because their length is not informative.
    """
    expected: dict[int, list[float]] = {}
    for guide in guides:
        texts = [None if text is None or _ABBREVIATED.search(text) else text for text in guide]
        pairs = [(length, len(text)) for at, length in lengths.items() if (text := texts[at])]
        if pairs:
            pace = sum(length for length, _ in pairs) / sum(other for _, other in pairs)
            for at, text in enumerate(texts):
                if text:
                    expected.setdefault(at, []).append(pace * len(text))
    return {at: sum(values) / len(values) for at, values in expected.items()}


def _ratio(characters: NDArray[np.int_] | int, expected: float) -> Vector:
    return np.asarray(np.log((np.asarray(characters) + SOFTENED) / (expected + SOFTENED)), dtype=np.float64)
