"""The part of a reference that has no counterpart in a text, by the alignment of words and the lengths.

Here: the alignment, and how much likelier a gap makes it. Not here: when an output lacks a part (metrics.fidelity).
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BY_CHANCE = 0.06
"""Probability that a word of a missing part has a counterpart in the text."""

SPREAD = 0.15
"""Standard deviation of the logarithm of the ratio of lengths between translations of a long passage."""

INDEPENDENT = 8
"""Words of a passage that count as independent; evidence grows with the square root of this share of the words."""

LENGTH_WEIGHT = 1.5
"""Weight of the lengths beside the words."""

LEAST_GAP = 0.2
"""Minimum share of a reference that is examined as a gap."""

PLACES = 64
"""Places of a reference at which a gap may begin and end, at most."""


class Gap(NamedTuple):
    """A part of a reference, from `start` to `end` in [0, 1]. `score` is its weighted log likelihood ratio."""

    score: float
    start: float
    end: float


def counterparts(text: list[str], reference: list[str]) -> NDArray[np.bool_]:
    """Which words of a reference are in a longest common subsequence with a text, shape (words of the reference,).

    Computed with one bit for each word of the reference. Source: Hyyrö, Bit-parallel LCS-length computation revisited
    (2004).
    """
    places: dict[str, int] = {}
    for place, word in enumerate(reference):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(reference)) - 1
    unmatched = [full]
    for word in text:
        hits = unmatched[-1] & places.get(word, 0)
        unmatched.append((unmatched[-1] + hits | unmatched[-1] - hits) & full)
    found = np.zeros(len(reference), np.bool_)
    row, column = len(text), len(reference)
    while row and column:
        # The length up to a column is the number of zeros below it: it rises at the column's own zero, and a row keeps
        # the lengths of the row before where no more zeros are below the column.
        below = (1 << column) - 1
        if (unmatched[row] & below).bit_count() == (unmatched[row - 1] & below).bit_count():
            row -= 1
        elif unmatched[row] >> column - 1 & 1:
            column -= 1
        else:
            row, column = row - 1, column - 1
            found[column] = True
    return found


def widest_gap(found: NDArray[np.bool_], ratio: float) -> Gap:
    """The part of a reference that is most likely missing.

    Parameters
    ----------
    found
        Which words of the reference have a counterpart, as returned by `counterparts`; at least four.
    ratio
        Length of the text divided by that of the reference, above 0.

    Notes
    -----
    With a gap, its words have counterparts by chance, the other words as often as observed outside, and the text is
    shorter by its share. Without one, all words have counterparts as often as observed. Words of a passage are not
    independent, so their evidence is damped.
    """
    words = len(found)
    starts, ends = _parts(words)
    before = np.concatenate([[0], np.cumsum(found)])
    total, inside, size = before[-1], before[ends] - before[starts], ends - starts
    outside, rest = total - inside, words - size
    by_gap = _likelihood(inside, size, np.full(len(size), BY_CHANCE)) + _likelihood(outside, rest, _rate(outside, rest))
    by_words = by_gap - _likelihood(total, words, _rate(total, words))
    spread = math.hypot(SPREAD, 0.5 / math.sqrt(words))
    by_length = (math.log(ratio) ** 2 - (math.log(ratio) - np.log(rest / words)) ** 2) / (2 * spread**2)
    score = math.sqrt(min(1, INDEPENDENT / words)) * by_words + LENGTH_WEIGHT * by_length
    best = int(score.argmax())
    return Gap(float(score[best]), starts[best] / words, ends[best] / words)


def _rate(found: NDArray[np.int64], words: NDArray[np.int64] | int) -> NDArray[np.float64]:
    return np.asarray((found + 1) / (words + 2), np.float64).clip(0.05, 0.97)


def _likelihood(
    found: NDArray[np.int64], words: NDArray[np.int64] | int, rate: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log likelihood of the number of words with a counterpart."""
    return np.asarray(found * np.log(rate) + (words - found) * np.log(1 - rate), np.float64)


@cache
def _parts(words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts and ends of all parts that are examined, in words."""
    places = np.unique(np.linspace(0, words, min(words, PLACES) + 1).round().astype(np.int64))
    first, last = np.triu_indices(len(places), 1)
    starts, ends = places[first], places[last]
    chosen = (ends - starts >= max(2, LEAST_GAP * words)) & (ends - starts < words)
    return starts[chosen], ends[chosen]
