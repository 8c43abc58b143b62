"""Reclaiming: extending segments into adjacent text that the best path left unassigned.

Here: how far a segment extends into unassigned text. Not here: the best path (monotone), the fit (belonging). Doubts
about a segment's extent are computed elsewhere (extent), from the same likelihoods.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.alignment.belonging import Stretch, StretchFit, Vector, Words
from benchmark_assets.alignment.division import NEVER, best_division, cumulated, of_neither
from benchmark_assets.alignment.units import Span, TextUnits


class Reclaimer:
    """Extends the stretches of segments into the unassigned units beside them.

    Parameters
    ----------
    words
        The words of the translation and of its guides.
    parts
        The units of the translation.
    contrast
        Similarity of each unit to each segment, minus its similarity to other segments, shape (units, segments).
    least
        Minimum contrast, averaged by length, of units that a segment reclaims.
    longest
        Maximum number of units in a stretch.
    anchors
        Maps a segment to the unit with which it begins. No other segment is extended across this unit.
    """

    def __init__(
        self,
        words: Words,
        parts: TextUnits,
        contrast: NDArray[np.float64],
        least: float,
        longest: int,
        anchors: Mapping[int, int],
    ) -> None:
        self._words, self._contrast, self._least, self._longest = words, contrast, least, longest
        self._anchors = anchors
        self._lengths = np.diff(parts.ends)
        firsts = [words.stretch(start, start)[0] for start, _ in parts.spans]
        self._cuts = np.array([*firsts, words.count], dtype=np.int_)
        """The first word of each unit, and the number of words, shape (units + 1,)."""

    def extended(self, stretches: Sequence[Span]) -> list[Span]:
        """Stretches of all segments, as half-open ranges of units, extended by the units that they reclaim.

        Unassigned units between two segments are divided into three parts: for the first segment, for neither, and for
        the second segment. The division is the one in which words, lengths and boundaries fit best.
        """
        extended = list(stretches)
        placed = [at for at, (start, end) in enumerate(stretches) if self._cuts[end] > self._cuts[start]]
        fit = StretchFit(self._words, {at: self._region(*stretches[at]) for at in placed})
        for before, after in pairwise([None, *placed, None]):
            low = 0 if before is None else extended[before][1]
            high = len(self._lengths) if after is None else extended[after][0]
            if self._cuts[high] == self._cuts[low]:
                continue
            end, start = self._divided(fit, (before, after), (low, high), extended)
            if before is not None and self._resembles(before, low, end):
                extended[before] = extended[before][0], end
            if after is not None and self._resembles(after, start, high):
                extended[after] = start, extended[after][1]
        return extended

    def _region(self, start: int, end: int) -> Stretch:
        return int(self._cuts[start]), int(self._cuts[end])

    def _resembles(self, segment: int, start: int, end: int) -> bool:
        """Whether a range has units, and whether their contrast with a segment is high enough."""
        contrast, lengths = self._contrast[start:end, segment], self._lengths[start:end]
        return end > start and float(np.average(contrast, weights=lengths)) >= self._least

    def _divided(
        self, fit: StretchFit, neighbors: tuple[int | None, int | None], between: Span, stretches: Sequence[Span]
    ) -> Span:
        """The best end of the first neighbor, and the best beginning of the second one.

        The first neighbor is None at the beginning of the document, the second one at its end.
        """
        before, after = neighbors
        segments = range(0 if before is None else before + 1, len(stretches) if after is None else after)
        absent = [at for at in segments if self._words.is_guided(at)]
        region = self._region(*between)
        unassigned, gap = of_neither(self._words, absent, region)
        places = np.arange(between[0], between[1] + 1)
        first, second = np.full(len(places), NEVER), np.full(len(places), NEVER)
        first[0] = second[-1] = 0.0
        if before is not None:
            gains = cumulated(self._words.belonging(before, region) - unassigned)[self._cuts[places] - region[0]]
            first = gains + self._fit(fit, before, [(stretches[before][0], place) for place in places.tolist()])
            first[places > min((unit for at, unit in self._anchors.items() if at > before), default=places[-1])] = NEVER
        if after is not None:
            gains = cumulated((self._words.belonging(after, region) - unassigned)[::-1])
            gains = gains[region[1] - self._cuts[places]]
            second = gains + self._fit(fit, after, [(place, stretches[after][1]) for place in places.tolist()])
            second[places < max((unit for at, unit in self._anchors.items() if at <= after), default=0)] = NEVER
        end, start, _ = best_division(first, second, gap)
        return between[0] + end, between[0] + start

    def _fit(self, fit: StretchFit, segment: int, stretches: Sequence[Span]) -> Vector:
        """Fit of the length and boundaries of each possible stretch of a segment.

        A boundary that all possible stretches share does not affect the choice.
        """
        regions = [self._region(*stretch) for stretch in stretches]
        lengths = fit.length(segment, np.array([self._words.characters(region) for region in regions]))
        boundaries = np.array([fit.boundaries[start] + fit.boundaries[end] for start, end in regions])
        too_long = np.array([end - start > self._longest for start, end in stretches])
        return np.where(too_long, NEVER, lengths + boundaries)
