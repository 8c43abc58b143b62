"""Paired permutation tests: whether a system scores better than another, or a metric agrees better with people.

Not here: measures of agreement (meta_evaluation), comparisons of systems in tables (significance).
"""

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import SEED, Floats
from benchmark_assets.metrics.measures import ratio

TRIALS = 10_000
BLOCK = 250
"""Patterns of signs that are multiplied at once, as floats: more do not fit into the processor's cache."""

SIGNATURE = f"paired permutations, {TRIALS} trials (all exchanges where they are fewer), seed {SEED}"

ROUNDING = 1e-9
"""Sums of shares, or of standardized scores, count as equal if they differ by less than this tolerance."""


class Comparison(NamedTuple):
    """Difference in agreement with people between two metrics, the first minus the second.

    `p_first` and `p_second` are one-sided p-values of two tests: whether the first metric agrees better, and whether
    the second metric does.
    """

    difference: float
    p_first: float
    p_second: float


@lru_cache(maxsize=2)
def exchanges(items: int) -> NDArray[np.int8]:
    """For each trial and item, whether two sides keep (1) or exchange (-1) their scores: shape (trials, items).

    The trials are all patterns except the one that exchanges nothing. If there are more than `TRIALS` such patterns,
    the trials are `TRIALS` random patterns instead.
    """
    if 2**items - 1 <= TRIALS:
        kept: NDArray[np.int8] = (np.arange(2**items - 1)[:, None] >> np.arange(items) & 1).astype(np.int8)
        return 2 * kept - 1
    bits = np.random.default_rng(SEED).integers(0, 256, size=(TRIALS, (items + 7) // 8), dtype=np.uint8)
    drawn: NDArray[np.int8] = 2 * np.unpackbits(bits, axis=1, count=items).astype(np.int8) - 1
    return drawn


def at_least_observed(differences: Floats) -> Floats:
    """One-sided p-values, shape (pairs,), for the alternative that the first of two systems is better.

    `differences` are the first system's scores minus the second's, shape (pairs, items). The difference is 0
    for an item that lacks one or both of the scores.

    Notes
    -----
    Each trial exchanges the two systems in random items, so the sum of differences changes signs at random.
    p = (hits + 1) / (trials + 1), where a hit is a trial whose sum is at least the observed sum.
    """
    sums, observed = _exchanged_sums(differences), differences.sum(axis=1)
    return _p(sums, observed, ROUNDING * np.abs(differences).sum(axis=1))


def compare_accuracy(gold: Floats, metrics: Floats) -> list[Comparison]:
    """Compare metrics by accuracy: the mean over items of the share of system pairs that a metric orders as people do.

    Parameters
    ----------
    gold, metrics
        People's scores, shape (systems, items), and the metrics' scores, shape (metrics, systems, items). A higher
        score is better, and NaN marks a missing score. Two metrics are compared on the outputs that have scores by
        people and by both metrics.

    Returns
    -------
    One comparison for each pair of metrics, in the order of `itertools.combinations`. A comparison is NaN if no item
    has two outputs with all three scores.

    Notes
    -----
    PERM-BOTH of Deutsch et al. 2021: both metrics are standardized, and each trial exchanges their scores in random
    outputs. Ties count as in acc-eq with an epsilon of 0. For a pair of outputs, let u and v be the signs
    of its two outputs in a trial: 1 for an output that keeps its scores, -1 for one whose scores are exchanged. Whether
    a metric orders the pair as people do (1 or 0) is then a polynomial: a + b u + c v + d u v for the first metric, and
    a - b u - c v + d u v for the second. So the difference between the metrics is linear in the signs, and its
    coefficients are computed once for all trials.
    """
    pairs = [_standardized(gold, *two) for two in combinations(metrics, 2)]
    coefficients = np.array([_accuracy_coefficients(*scores).ravel() for scores in pairs]).reshape(len(pairs), -1)
    differences = _exchanged_sums(coefficients)
    observed = coefficients.sum(axis=1)
    observed[[not _comparable(people) for people, _, _ in pairs]] = np.nan
    return [_compared(differences[:, at], float(difference)) for at, difference in enumerate(observed)]


def compare_pearson(gold: Floats, metrics: Floats) -> list[Comparison]:
    """Compare metrics by their Pearson correlation with people over all outputs.

    Arguments and result are as in `compare_accuracy`, but a comparison is NaN if the scores by people or by one of the
    two metrics are constant.
    """
    pairs = [_standardized(gold, *two) for two in combinations(metrics, 2)]
    fixed, exchanged = [], []
    for people, one, two in pairs:
        count = np.isfinite(people).sum()
        x, a, b = (np.nan_to_num(scores).ravel() for scores in (_standard(people), one, two))
        half, gap = (a + b) / 2, (a - b) / 2
        fixed.append([half.sum(), (half**2 + gap**2).sum(), (x * half).sum(), count, (x**2).sum()])
        exchanged += [gap, 2 * half * gap, x * gap]
    terms = np.array(exchanged).reshape(3 * len(pairs), -1)
    sums = np.vstack([terms.sum(axis=1), _exchanged_sums(terms)]).reshape(-1, len(pairs), 3)
    constant = np.array(fixed).reshape(len(pairs), 5)
    count, spread = constant[:, 3], constant[:, 4]
    correlations = []
    for mixed in (constant[:, :3] + sums, constant[:, :3] - sums):
        total, squares, products = np.moveaxis(mixed, -1, 0)
        variance = squares - ratio(total**2, np.broadcast_to(count, total.shape))
        correlations.append(ratio(products, np.sqrt(np.where(variance > ROUNDING, variance * spread, 0.0))))
    differences = correlations[0] - correlations[1]
    return [_compared(column[1:], float(column[0])) for column in differences.T]


def _accuracy_coefficients(people: Floats, first: Floats, second: Floats) -> Floats:
    """Coefficient of each output's sign in the difference between two metrics' accuracies, shape (systems, items)."""
    low, high = np.triu_indices(len(people), k=1)
    order = np.sign(people[low] - people[high])
    compared = np.isfinite(order)
    counts = compared.sum(axis=0, keepdims=True).astype(np.float64)
    share = np.where(compared, ratio(np.ones_like(counts), counts), 0.0) / max((counts > 0).sum(), 1)
    coefficients = np.zeros(people.shape)
    for u, one in ((1, first), (-1, second)):
        for v, other in ((1, first), (-1, second)):
            right = (np.sign(one[low] - other[high]) == order) * share / 2
            np.add.at(coefficients, low, u * right)
            np.add.at(coefficients, high, v * right)
    return coefficients


def _standardized(gold: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """The scores of outputs that have all three scores; NaN for other outputs.

    The scores of each metric are standardized to mean 0 and standard deviation 1."""
    present = np.isfinite(gold) & np.isfinite(first) & np.isfinite(second)
    people, one, two = (np.where(present, scores, np.nan) for scores in (gold, first, second))
    return people, _standard(one), _standard(two)


def _standard(scores: Floats) -> Floats:
    """Scores with mean 0 and standard deviation 1, or all 0 if they are constant. NaN stays NaN."""
    present = scores[np.isfinite(scores)]
    if not len(present) or np.ptp(present) == 0:
        return scores * 0
    standard: Floats = (scores - present.mean()) / present.std()
    return standard


def _comparable(people: Floats) -> bool:
    """Whether any item has scores of at least two systems."""
    return bool((np.isfinite(people).sum(axis=0) > 1).any())


def _exchanged_sums(terms: Floats) -> Floats:
    """For each trial, the sums of `terms` with the trial's signs: from shape (columns, places) to (trials, columns)."""
    patterns = exchanges(terms.shape[1])
    blocks = range(0, len(patterns), BLOCK)
    return np.concatenate([patterns[at : at + BLOCK].astype(np.float64) @ terms.T for at in blocks])


def _compared(differences: Floats, observed: float) -> Comparison:
    if np.isnan(observed):
        return Comparison(observed, observed, observed)
    first, second = (_p(sign * differences, sign * observed, ROUNDING) for sign in (1, -1))
    return Comparison(observed, float(first), float(second))


def _p(trials: Floats, observed: Floats | float, tolerance: Floats | float) -> Floats:
    """P-value: the share of trials that reach the observed value, up to rounding. The observed value counts as a
    trial."""
    shares: Floats = ((trials >= observed - tolerance).sum(axis=0) + 1) / (len(trials) + 1)
    return shares
