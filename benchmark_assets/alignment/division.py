"""Division of words between two neighboring segments, such that they fit their segments best.

Here: the best division, given how well each end and each beginning fits, and the cost of words that belong to neither
segment. Not here: the fit (belonging), what follows from a better division (extent, reclaiming).
"""

from collections.abc import Sequence

import numpy as np

from benchmark_assets.alignment.belonging import UNASSIGNED, Stretch, Vector, Words

GAP = 3.0
"""Loss in log-likelihood for prose between two segments that belongs to neither, where no segment lacks a text."""

LACKING = 6
"""Maximum number of segments without a text, on either side of a stretch, that are compared with it."""

NEVER = -1e9
"""Fit of an impossible end or beginning."""


def of_neither(words: Words, absent: Sequence[int], region: Stretch) -> tuple[Vector, float]:
    """Log-likelihood of each word of a region if it belongs to neither segment, and the loss per stretch of them.

    `absent` are the segments without a text whose place is in the region: such words may be theirs.
    """
    count = region[1] - region[0]
    if not absent:
        return np.full(count, -UNASSIGNED), GAP
    unassigned = np.zeros(count)
    for segment in {*absent[:LACKING], *absent[-LACKING:]}:
        unassigned = np.maximum(unassigned, words.belonging(segment, region))
    return unassigned, 0.0


def best_division(first: Vector, second: Vector, gap: float) -> tuple[int, int, float]:
    """The best end of the first stretch and start of the second one, and their total, less `gap` if they are apart.

    `first` has the fit of each end, `second` of each beginning, both from left to right, shape (places,).
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
