"""Division of words between two neighboring segments, such that the words fit their segments best.

Here: the best division, given the fit of each possible end and beginning, and the cost of words that belong to neither
segment. Not here: the fit (belonging), consequences of a better division (extent, reclaiming).
"""

from collections.abc import Sequence

import numpy as np

from benchmark_assets.alignment.belonging import UNASSIGNED, Stretch, Vector, Words

GAP = 3.0
"""Loss in log-likelihood for prose between two segments that belongs to neither segment. There is no such loss where
another segment lacks a text, because the prose may be its text."""

LACKING = 6
"""Unassigned prose may be the text of a segment that lacks one. If many segments at a place lack a text, the prose is
compared with only the first LACKING and the last LACKING of these segments."""

NEVER = -1e9
"""Fit of an impossible end or beginning."""


def of_neither(words: Words, absent: Sequence[int], region: Stretch) -> tuple[Vector, float]:
    """Log-likelihood of each word of a region if it belongs to neither segment, and the loss per stretch of such words.

    `absent` lists the segments that lack a text and whose place is in the region: words that belong to neither neighbor
    may be the text of one of these segments.
    """
    count = region[1] - region[0]
    if not absent:
        return np.full(count, -UNASSIGNED), GAP
    unassigned = np.zeros(count)
    for segment in {*absent[:LACKING], *absent[-LACKING:]}:
        unassigned = np.maximum(unassigned, words.belonging(segment, region))
    return unassigned, 0.0


def best_division(first: Vector, second: Vector, gap: float) -> tuple[int, int, float]:
    """The best end of the first stretch, the best start of the second one, and the total fit of both.

    `first` has the fit of the first stretch for each possible end, and `second` the fit of the second stretch for each
    possible start. Both have the shape (places,), in the order of the text. The total is reduced by `gap` if the
    stretches do not touch.
    """
    indices = np.arange(len(first))
    highest = np.maximum.accumulate(first)
    origin = np.maximum.accumulate(np.where(first >= highest, indices, 0))
    apart = np.full(len(first), 2 * NEVER)
    apart[1:] = highest[:-1] + second[1:] - gap
    touching = first + second
    joint, start = int(touching.argmax()), int(apart.argmax())
    if touching[joint] >= apart[start]:
        return joint, joint, float(touching[joint])
    return int(origin[start - 1]), start, float(apart[start])


def cumulated(values: Vector) -> Vector:
    """Sums of the first n values, for every n, shape (values + 1,)."""
    return np.concatenate([[0.0], np.cumsum(values)])
