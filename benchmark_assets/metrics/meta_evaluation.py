"""Meta-evaluation: agreement of a metric's scores with scores by people.

Scores have the shape (systems, items). A higher score is better, and NaN marks a missing score. An output counts if it
has both scores. Functions with the argument `weights` return a statistic of the sample, followed by the statistic of
each resample. `weights` are the weights of the items in the sample and in each resample, shape (1 + resamples, items):
see `intervals.sample_and_resamples`. Not here: tests between two metrics (permutation), tables, scores.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmark_assets.metrics.concordance import kendall_tau
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.measures import ratio
from benchmark_assets.metrics.permutation import ROUNDING, at_least_observed

SIGNATURE = (
    "acc-eq: epsilon that maximizes it in the sample, kept in resamples; soft pairwise accuracy: p by paired "
    "permutations, in resamples by normal approximation"
)

BLOCK = 1 << 17
"""Pairs of outputs that are compared at a time: few enough for the processor's cache."""


def shared(gold: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """Both arrays with NaN wherever either is NaN or infinite."""
    present = np.isfinite(gold) & np.isfinite(metric)
    return np.where(present, gold, np.nan), np.where(present, metric, np.nan)


def averaged(values: Floats, weights: Floats) -> Floats:
    """Weighted mean of values per item, shape (items,) to (1 + resamples,); items with the value NaN are left out."""
    present = np.isfinite(values)
    return ratio(weights @ np.where(present, values, 0.0), weights @ present.astype(np.float64))


# Pearson


def pearson(first: Floats, second: Floats) -> Floats:
    """Pearson correlation along the last axis, from shape (..., n) to (...), in [-1, 1].

    Pairs with a NaN are left out. NaN where fewer than two pairs remain, or either side is constant.
    """
    x, y = shared(first, second)
    present = np.isfinite(x)
    count = present.sum(axis=-1, keepdims=True)
    centered = []
    for values in (x, y):
        mean = ratio(np.where(present, values, 0.0).sum(axis=-1, keepdims=True), count)
        low = np.where(present, values, np.inf).min(axis=-1, keepdims=True)
        high = np.where(present, values, -np.inf).max(axis=-1, keepdims=True)
        centered.append(np.where(present & (high > low), values - mean, 0.0))
    a, b = centered
    return ratio((a * b).sum(axis=-1), np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1)))


def moments(first: Floats, second: Floats) -> Floats:
    """Terms whose sums determine Pearson's correlation, from shape (...) to (..., 6); zeros for missing values.

    Both sides are centered and scaled to a range of at most 1, because sums of squares of raw values lose digits.
    """
    x, y = shared(first, second)
    present = np.isfinite(x)
    if not present.any():
        return np.zeros((*x.shape, 6))
    x, y = (
        np.where(present, values - values[present].mean(), 0.0) / (np.ptp(values[present]) or 1.0) for values in (x, y)
    )
    return np.stack([present.astype(np.float64), x, y, x * x, y * y, x * y], axis=-1)


def pearson_of(sums: Floats) -> Floats:
    """Pearson correlation from sums of `moments`, shape (..., 6) to (...); NaN if a side is constant up to rounding."""
    n, sx, sy, sxx, syy, sxy = np.moveaxis(sums, -1, 0)
    of_x, of_y = n * sxx - sx * sx, n * syy - sy * sy
    constant = (of_x <= 1e-12 * n * n) | (of_y <= 1e-12 * n * n)
    return ratio(n * sxy - sx * sy, np.where(constant, 0.0, np.sqrt(np.maximum(of_x, 0) * np.maximum(of_y, 0))))


def pearson_pooled(gold: Floats, metric: Floats, weights: Floats) -> Floats:
    """Pearson correlation over all outputs, shape (1 + resamples,)."""
    return pearson_of(weights @ moments(gold, metric).sum(axis=0))


def pearson_by_item(gold: Floats, metric: Floats, weights: Floats) -> Floats:
    """Mean over items of the correlation over systems, shape (1 + resamples,); items without variance are left out."""
    return averaged(pearson(gold.T, metric.T), weights)


def pearson_by_system(gold: Floats, metric: Floats, weights: Floats) -> Floats:
    """Mean over systems of the correlation over items, shape (1 + resamples,); constant systems are left out."""
    terms = np.stack([moments(*scores) for scores in zip(gold, metric, strict=True)])
    by_system = pearson_of(np.einsum("ri,sik->rsk", weights, terms, optimize=True))
    present = np.isfinite(by_system)
    return ratio(np.where(present, by_system, 0.0).sum(axis=1), present.sum(axis=1).astype(np.float64))


# Pairs of outputs


def kendall_by_item(gold: Floats, metric: Floats, weights: Floats) -> Floats:
    """Mean over items of Kendall's tau-b over systems, shape (1 + resamples,); items that are all tied are left out."""
    return averaged(kendall_tau(gold.T, metric.T), weights)


def accuracy_by_item(gold: Floats, metric: Floats, epsilon: float, weights: Floats) -> Floats:
    """Mean over items of the share of pairs of systems that metric and people order alike, shape (1 + resamples,).

    Notes
    -----
    The share counts pairs that metric and people order alike, and pairs that both tie. A metric ties two scores that
    differ by at most `epsilon`. This is acc-eq of Deutsch et al. 2023, called acc23 in mt-metrics-eval.
    """
    compared, difference, order = _item_pairs(gold, metric)
    agree = np.where(np.abs(difference) <= epsilon, order == 0, order * difference > 0) & compared
    return averaged(ratio(agree.sum(axis=1).astype(np.float64), compared.sum(axis=1)), weights)


def epsilon_by_item(gold: Floats, metric: Floats) -> float:
    """The smallest epsilon that maximizes `accuracy_by_item`.

    Candidates are 0 and all absolute differences of the metric within items (Deutsch et al. 2023, algorithm 1).
    """
    compared, difference, order = _item_pairs(gold, metric)
    share = ratio(np.ones(compared.shape), np.broadcast_to(compared.sum(axis=1, keepdims=True), compared.shape))
    gains = np.where(order == 0, share, np.where(order * difference > 0, -share, 0.0))
    return _best_epsilon(np.abs(difference[compared]), gains[compared])


def epsilon_pooled(gold: Floats, metric: Floats) -> float:
    """The smallest epsilon that maximizes the accuracy over all pairs of outputs; candidates as in `epsilon_by_item`.

    Notes
    -----
    17,000 outputs have 144 million pairs, which take long to sort. So pairs are first counted in bins of their
    difference, and then only the pairs in bins that may contain the maximum are sorted.
    """
    present = np.isfinite(gold) & np.isfinite(metric)
    order = np.argsort(gold[present], kind="stable")
    people, scores = gold[present][order], metric[present][order]
    if len(scores) < 2:
        return 0.0
    bins = min(len(scores) ** 2, 1 << 16)
    scale = (bins - 1) / (np.ptp(scores) or 1.0)
    ties, losses = np.zeros((2, bins), dtype=np.int64)
    for difference, tied in _gaining_or_losing(people, scores):
        places = (difference * scale).astype(np.int64)
        ties += np.bincount(places[tied], minlength=bins)
        losses += np.bincount(places[~tied], minlength=bins)
    net = ties - losses
    before = np.cumsum(net) - net
    candidates = before + ties >= max((before + net).max(), 0)
    sorted_net = np.where(candidates, net, 0)
    skipped = before - (np.cumsum(sorted_net) - sorted_net)  # net gain of all smaller differences that are not sorted
    differences, gains = [], []
    for difference, tied in _gaining_or_losing(people, scores):
        near = candidates[(difference * scale).astype(np.int64)]
        differences.append(difference[near])
        gains.append(np.where(tied[near], 1, -1))
    found = np.concatenate(differences)
    return _best_epsilon(found, np.concatenate(gains), skipped[(found * scale).astype(np.int64)])


def pooled_pairs(gold: Floats, metric: Floats, epsilon: float) -> Floats:
    """Five counts of pairs of outputs, by the items of the two outputs: shape (5, items, items).

    The counts are: concordant pairs minus discordant pairs; pairs that people do not tie; pairs that the metric does
    not tie; pairs that both order alike or both tie; and all pairs. Only the fourth count uses `epsilon`, in the same
    way as `accuracy_by_item`. A pair of outputs for the items i and j is counted in cell (i, j) or in cell (j, i). With
    weights w of items, w @ sums @ w counts the pairs of a resample, except pairs of an output and its own copy.
    """
    people, scores = shared(gold, metric)
    items = people.shape[1]
    sums = np.zeros((5, items, items), dtype=np.int32)
    rows = max(1, BLOCK // items)
    for start in range(0, items, rows):
        block = slice(start, start + rows)
        counts, earlier = sums[:, block], np.tri(items, k=-1, dtype=bool)[block]
        for one, other in combinations_with_replacement(range(len(people)), 2):
            order, _ = _signs(people[one, block], people[other])
            sign, distance = _signs(scores[one, block], scores[other])
            compared = np.isfinite(distance)
            if one == other:
                compared &= earlier
                order, sign = order * earlier, sign * earlier
            counts[0] += order * sign
            counts[1] += order != 0
            counts[2] += sign != 0
            counts[3] += compared & np.where(distance <= epsilon, order == 0, (order == sign) & (sign != 0))
            counts[4] += compared
    return sums.astype(np.float64)


def kendall_pooled(pairs: Floats, weights: Floats) -> Floats:
    """Kendall's tau-b over all pairs of outputs, from the counts of `pooled_pairs`; shape (1 + resamples,)."""
    agreement, people, metric = (_quadratic(weights, part) for part in pairs[:3])
    return ratio(agreement, np.sqrt(people * metric))


def accuracy_pooled(pairs: Floats, weights: Floats) -> Floats:
    """The accuracy of `accuracy_by_item`, but over all pairs of outputs, from the counts of `pooled_pairs`; shape
    (1 + resamples,)."""
    agreeing, compared = (_quadratic(weights, part) for part in pairs[3:])
    return ratio(agreeing, compared)


# Systems


def system_means(gold: Floats, metric: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean gold score and mean metric score of each system over its items that have both scores.

    Both results have the shape (1 + resamples, systems).
    """
    present = np.isfinite(gold) & np.isfinite(metric)
    counts = weights @ present.T.astype(np.float64)
    people, scores = (ratio(weights @ np.where(present, values, 0.0).T, counts) for values in (gold, metric))
    return people, scores


def pairwise_accuracy(gold: Floats, metric: Floats) -> Floats:
    """Share of pairs of systems that metric and people order alike: Kocmi et al. 2021, equation 1.

    From means, shape (..., systems), to shape (...). Systems without a mean are left out.
    """
    one, other = np.triu_indices(gold.shape[-1], k=1)
    order, sign = (np.sign(means[..., one] - means[..., other]) for means in (gold, metric))
    compared = ~np.isnan(order) & ~np.isnan(sign)
    return ratio(((order == sign) & compared).sum(axis=-1).astype(np.float64), compared.sum(axis=-1))


def soft_pairwise_accuracy(gold: Floats, metric: Floats, weights: Floats) -> Floats:
    """Agreement of metric and people on the certainty that one system is better than another: shape (1 + resamples,).

    Notes
    -----
    1 - the mean over pairs of systems of |p by people - p by the metric|, where p is the one-sided p-value of a paired
    permutation test over the items that both systems have: Thompson et al. 2024. For resamples, the permutation
    distribution is approximated by a normal distribution. Its mean is 0, and its variance is the sum of the squared
    differences.
    """
    one, other = np.triu_indices(len(gold), k=1)
    differences = [scores[one] - scores[other] for scores in shared(gold, metric)]
    common = np.isfinite(differences[0])
    filled = [np.where(common, difference, 0.0)[common.any(axis=1)] for difference in differences]
    if not len(filled[0]):
        return np.full(len(weights), np.nan)
    by_people, by_metric = (at_least_observed(difference) for difference in filled)
    people, scores = (scipy.special.ndtr(-_standardized(difference, weights[1:])) for difference in filled)
    resampled = 1 - np.abs(people - scores).mean(axis=1)
    return np.concatenate([[1 - np.abs(by_people - by_metric).mean()], resampled])


def _standardized(differences: Floats, weights: Floats) -> Floats:
    """Sums of differences, divided by the standard deviation of their permutation distribution.

    The result has the shape (resamples, pairs). A quotient is 0 if all differences in its sum are 0.
    """
    sums, squares = weights @ differences.T, weights @ (differences**2).T
    return np.nan_to_num(ratio(sums, np.sqrt(squares)))


def _item_pairs(gold: Floats, metric: Floats) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Pairs of systems by item: whether all scores exist, the metric's difference, and the sign of people's difference.

    All three results have the shape (items, pairs).
    """
    one, other = np.triu_indices(len(gold), k=1)
    people, scores = shared(gold, metric)
    difference = (scores[one] - scores[other]).T
    return np.isfinite(difference), difference, np.sign(people[one] - people[other]).T


def _signs(first: Floats, second: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Signs and absolute values of the differences of all pairs; the sign is 0 where a score is NaN."""
    difference = np.subtract.outer(first, second)
    return (difference > 0).view(np.int8) - (difference < 0).view(np.int8), np.abs(difference)


def _gaining_or_losing(people: Floats, scores: Floats) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Pairs whose order becomes right or wrong if the metric ties them.

    A pair becomes right if people tie it, and wrong if metric and people put it in the same order. For each block of
    pairs, yields the absolute differences of the metric, and whether people tie each pair. `people` must be in
    ascending order.
    """
    rows = max(1, BLOCK // len(people))
    for start in range(0, len(people), rows):
        block, rest = slice(start, start + rows), slice(start, None)
        difference = np.subtract.outer(scores[block], scores[rest])
        later = ~np.tri(len(difference), difference.shape[1], dtype=np.bool_)
        tied = np.equal.outer(people[block], people[rest]) & later
        kept = tied | (np.less.outer(people[block], people[rest]) & (difference < 0))
        yield np.abs(difference[kept]), tied[kept]


def _best_epsilon(differences: Floats, gains: NDArray[np.generic], skipped: NDArray[np.int64] | int = 0) -> float:
    """The smallest difference d that maximizes the total gain of the differences up to d; 0 if no total is positive.

    `skipped` is added to the totals: one number for each difference, or one number for all.
    """
    order = np.argsort(differences, kind="stable")
    ordered = differences[order]
    sums = np.cumsum(gains[order]) + (skipped if isinstance(skipped, int) else skipped[order])
    last = np.append(ordered[1:] != ordered[:-1], True)
    sums, ordered = sums[last[: len(sums)]], ordered[last[: len(ordered)]]
    if not len(sums) or sums.max() <= ROUNDING:
        return 0.0
    return float(ordered[np.argmax(sums >= sums.max() - ROUNDING)])


def _quadratic(weights: Floats, matrix: Floats) -> Floats:
    """w @ matrix @ w for each row w of weights."""
    forms: Floats = ((weights @ matrix) * weights).sum(axis=1)
    return forms
