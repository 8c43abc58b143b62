"""What a metric's scores are worth beside people's ratings: AUC, order of pairs and of systems, recall, precision.

A figure is a statistic of sums over units, so that one function gives its value and its bootstrap resamples. `weights`
have the shape (1 + resamples, units), the sample first: see `intervals.sample_and_resamples`. Suspicion is a score that
rises with damage. Here: figures of arrays. Not here: scores (scoring), rows of the table (rows), raters (raters).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

from benchmark_assets.metrics.concordance import kendall_tau
from benchmark_assets.metrics.intervals import Floats, Units
from benchmark_assets.metrics.measures import ratio
from benchmark_assets.metrics.metric import Metric

GAP = 10.0
"""Difference of people's scores above which a pair of outputs is clear (10 MQM points: two major errors)."""

Flags = NDArray[np.bool_]
Spans = list[tuple[int, int]]


class Figure(NamedTuple):
    """A figure's name, its values in the sample and in each resample, and the number of outputs or pairs behind it."""

    name: str
    values: Floats
    n: int


class OutputPairs(NamedTuple):
    """OutputPairs of outputs of one passage, shape (pairs,).

    `first` and `second` are rows; `unit` numbers units; `gap` is the first output's score minus the second's; `differ`
    tells whether one alone has a major error.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    unit: Units
    gap: Floats
    differ: Flags


def pairs(passages: NDArray[np.int64], units: Units, scores: Floats, major: Flags) -> OutputPairs:
    """All pairs of outputs of one passage. Arguments have the shape (outputs,)."""
    order = np.argsort(passages, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(passages[order])) + 1)
    indices = [np.array(list(combinations(group, 2)), dtype=np.int64).reshape(-1, 2) for group in groups]
    first, second = np.concatenate(indices).T if indices else np.zeros((2, 0), np.int64)
    return OutputPairs(first, second, units[first], scores[first] - scores[second], major[first] != major[second])


def concordance(suspicion: Floats, worse: Flags, strata: NDArray[np.int64], units: Units, count: int) -> Floats:
    """OutputPairs of a worse and another output of one stratum, by their units: shape (2, units, units).

    The first count is the pairs in which the worse output is more suspicious (half of the ties), the second all pairs.
    Outputs without a suspicion are left out.
    """
    counts = np.zeros((2, count, count))
    known = np.isfinite(suspicion)
    for stratum in np.unique(strata[known]):
        inside = known & (strata == stratum)
        high, at = suspicion[inside & worse], units[inside & worse]
        sizes = np.bincount(at, minlength=count)
        for unit in np.unique(units[inside & ~worse]):
            low = np.sort(suspicion[inside & ~worse & (units == unit)])
            below = (np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")) / 2
            counts[0, :, unit] += np.bincount(at, below, minlength=count)
            counts[1, :, unit] += sizes * len(low)
    return counts


def auc(name: str, counts: Floats, weights: Floats) -> Figure:
    """Area under the ROC curve from the counts of `concordance`: Mann and Whitney 1947."""
    won, compared = (np.einsum("ri,ij,rj->r", weights, part, weights, optimize=True) for part in counts)
    return Figure(name, ratio(won, compared), int(counts[1].sum()))


def share_right(name: str, suspicion: Floats, found: OutputPairs, chosen: Flags, weights: Floats) -> Figure:
    """Share of chosen pairs in which the worse output is more suspicious; a tie counts half."""
    difference = suspicion[found.first] - suspicion[found.second]
    kept = chosen & np.isfinite(difference)
    right = (1 + np.sign(difference[kept]) * np.sign(-found.gap[kept])) / 2
    units = weights.shape[1]
    sums = [np.bincount(found.unit[kept], part, minlength=units) for part in (right, np.ones(len(right)))]
    return Figure(name, ratio(weights @ sums[0], weights @ sums[1]), int(kept.sum()))


def of_labels(name: str, suspicion: Floats, major: Flags, found: OutputPairs, weights: Floats) -> Figure:
    """Share of pairs in which the output with a major error is more suspicious than the one without."""
    by_label = found._replace(gap=major[found.second].astype(np.float64) - major[found.first])
    return share_right(name, suspicion, by_label, found.differ, weights)


def of_pairs(suspicion: Floats, major: Flags, found: OutputPairs, weights: Floats) -> Iterator[Figure]:
    """Figures within passages: an output with a major error against one without (`auc_within`), outputs `GAP` apart
    (`auc_gap10`), and all with different scores (`pair_accuracy`)."""
    yield of_labels("auc_within", suspicion, major, found, weights)
    yield share_right("auc_gap10", suspicion, found, np.abs(found.gap) >= GAP, weights)
    yield share_right("pair_accuracy", suspicion, found, found.gap != 0, weights)


def captured(
    suspicion: Floats, major: Flags, units: Units, weights: Floats, shares: Sequence[float]
) -> list[tuple[Floats, Floats]]:
    """Recall and precision of major errors in the most suspicious outputs, for each of some shares of all outputs; each
    of shape (1 + resamples,). Of outputs that tie at the limit, the expected number is taken."""
    known = np.isfinite(suspicion)
    order = np.flatnonzero(known)[np.argsort(-suspicion[known], kind="stable")]
    ends = np.append(np.flatnonzero(np.diff(suspicion[order])), len(order) - 1)
    by_unit = weights[:, units[order]]
    taken, hits = (
        np.pad(np.cumsum(part, axis=1)[:, ends], ((0, 0), (1, 0))) for part in (by_unit, by_unit * major[order])
    )
    rows, found = np.arange(len(weights)), []
    for share in shares:
        limit = share * taken[:, -1]
        at = np.maximum((taken >= limit[:, None]).argmax(axis=1), 1)
        before, inside = taken[rows, at - 1], hits[rows, at - 1]
        part = (limit - before) / np.maximum(taken[rows, at] - before, 1e-12)
        caught = inside + part * (hits[rows, at] - inside)
        found.append((ratio(caught, hits[:, -1]), ratio(caught, limit)))
    return found


def of_systems(metric: Metric, statistics: Floats, gold: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Goodness of systems by a metric and by people, each of shape (1 + resamples, systems).

    `statistics` are the metric's additive statistics by unit, shape (units, systems, statistics); `gold` has numbers
    and sums of people's scores, shape (units, systems, 2).
    """
    sums = np.einsum("ru,usk->rsk", weights, statistics, optimize=True)
    people = np.einsum("ru,usk->rsk", weights, gold, optimize=True)
    return metric.better * metric.of(sums), ratio(people[..., 1], people[..., 0])


def order_of_systems(scores: Floats, people: Floats, models: Flags) -> Iterator[tuple[Figure, str]]:
    """Kendall's tau-b and pairwise accuracy over models (kind ''), and over pairs of a person and a model (kind
    'people'). Arguments are as `of_systems` returns them; `models`, shape (systems,), is false for people."""
    systems, people_rated = np.flatnonzero(models), np.flatnonzero(~models)
    among, pairs_of = np.array(list(combinations(systems, 2))), np.array(list(product(people_rated, systems)))
    yield Figure("system_kendall", kendall_tau(scores[:, models], people[:, models]), len(systems)), ""
    yield Figure("system_accuracy", _in_order(scores, people, among), len(systems)), ""
    if len(people_rated):
        yield Figure("system_accuracy", _in_order(scores, people, pairs_of), len(pairs_of)), "people"


def _in_order(scores: Floats, people: Floats, among: NDArray[np.int64]) -> Floats:
    """Share of pairs of systems, shape (pairs, 2), that metric and people order alike, from shape (1 + resamples,
    systems) to (1 + resamples,): Kocmi et al. 2021, equation 1, but a tie in either counts half."""
    first, second = among.T
    alike = np.sign(scores[:, first] - scores[:, second]) * np.sign(people[:, first] - people[:, second])
    known = ~np.isnan(alike)
    return ratio(np.where(known, (1 + alike) / 2, 0).sum(axis=1), known.sum(axis=1))


def matched_spans(predicted: Spans, gold: Spans) -> tuple[float, float, int, int]:
    """Partial matches of spans of one output: sums of matched shares of predicted and of gold spans, and their numbers.

    Each predicted span is matched with at most one gold span, so that the characters that matched spans share are as
    many as possible; a match counts as the share of the span that lies in its partner. Summed over outputs, the ratios
    are a precision and a recall that neither reward many short nor few long spans.
    """
    overlap = np.array([[max(0, min(e, t) - max(b, s)) for s, t in gold] for b, e in predicted], dtype=np.float64)
    if not overlap.size:
        return 0.0, 0.0, len(predicted), len(gold)
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    shared = list(zip(rows, columns, overlap[rows, columns], strict=True))
    right = sum(value / (predicted[row][1] - predicted[row][0]) for row, _, value in shared)
    found = sum(value / (gold[column][1] - gold[column][0]) for _, column, value in shared)
    return float(right), float(found), len(predicted), len(gold)


def span_f1(matches: Floats, units: Units, weights: Floats) -> Figure:
    """F1 of spans over all outputs, from the numbers of `matched_spans`, shape (outputs, 4)."""
    sums = np.zeros((weights.shape[1], 4))
    np.add.at(sums, units, matches)
    right, found, predicted, gold = (weights @ sums).T
    precision, recall = ratio(right, predicted), ratio(found, gold)
    return Figure("span_f1", ratio(2 * precision * recall, precision + recall), len(matches))
