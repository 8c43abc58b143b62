"""Significance of differences between systems: tests of units, three answers, families of tests, clusters of systems.

Tests use the passages that both systems have. Not here: intervals and tests of a single number (intervals), the list of
measures (measures), tables.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import combinations

import numpy as np
import polars as pl
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import (
    ROUNDING,
    SEED,
    SKEWED,
    Floats,
    Units,
    Z,
    bounds,
    by_unit,
    design_effect,
    influence,
    p_values,
    unit_sizes,
)
from benchmark_assets.metrics.metric import Metric

LEVEL = 0.05
DRAWS = 10_000
"""Draws of the largest statistic of a family of tests."""

POWER = 0.8
SEEN = 1 + scipy.special.ndtri(POWER) / Z
"""True difference that is found significant with the probability `POWER`, in half widths of the interval."""

DIFFERENT, EQUAL, OPEN = "different", "equal", "cannot be told"
"""Answers on two systems. Equal: the whole interval of the difference is within the margin of the metric."""

SIGNATURE = (
    f"differences: on the passages that both systems have; p: as the intervals, for rates McNemar's with Tango's "
    f"interval; answer: different if p is at most {LEVEL}; detectable: true difference that is found with probability "
    f"{POWER}; p_family: step-down max-T over a family of pairs, {DRAWS} draws, seed {SEED}"
)

TESTED = pl.Schema({
    **dict.fromkeys(["difference_low", "difference_high", "p", "p_family"], pl.Float64()),
    "answer": pl.String(), "detectable": pl.Float64(),
})  # fmt: skip
DIFFERENCES = pl.Schema({
    "first": pl.Int64(), "second": pl.Int64(), "passages": pl.Int32(), "units": pl.Int32(), "difference": pl.Float64(),
    **TESTED,
})  # fmt: skip


def signature(metric: Metric, family: str) -> str:
    """How systems are compared by a metric, with its margin and the family of pairs."""
    margin = "none declared" if metric.margin is None else f"{metric.margin:g}"
    return f"{SIGNATURE}; equal: interval within the margin of {metric.name}, {margin}; family: {family}"


def differences(
    statistics: Floats, units: Units, metric: Metric, compared: Iterable[tuple[int, int]] | None = None
) -> pl.DataFrame:
    """Compare pairs of systems on the passages that both have.

    Parameters
    ----------
    statistics
        Statistics of `metric`, shape (systems, passages, statistics), as in `measures.Panel`.
    units
        Index of each passage's unit, shape (passages,).
    metric
        The metric, whose aggregate maps sums of statistics to scores.
    compared
        Indices of the systems of each pair, the smaller one first; by default, of all pairs. They are the family of
        `p_family`.

    Returns
    -------
    Columns of `DIFFERENCES`, one row per pair with a common passage; `first` and `second` are indices of systems.
    `difference` is the first system's score minus the second's. The other columns are as in `answered`.

    Notes
    -----
    A unit's influence on a difference is the difference of its influences on the scores. The interval contains 0 if
    and only if `p` is above 0.05.
    """
    present = statistics[:, :, 0] > 0
    pairs_by_passages: dict[bytes, list[tuple[int, int]]] = {}
    every = combinations(range(len(statistics)), 2)
    for first, second in every if compared is None else compared:
        pairs_by_passages.setdefault((present[first] & present[second]).tobytes(), []).append((first, second))
    parts, deviations = [pl.DataFrame(schema=DIFFERENCES).select("first", "second")], []
    for pattern, pairs in pairs_by_passages.items():
        common = np.frombuffer(pattern, dtype=bool)
        if not common.any():
            continue
        own, common_units = np.unique(units[common], return_inverse=True)
        sums = by_unit(statistics[:, common].transpose(1, 0, 2), common_units)
        totals, sizes = sums.sum(axis=0), unit_sizes(common_units)
        shares = (sizes / sizes.sum())[:, None]
        influences = influence(metric.of(totals), metric.of(totals - sums), shares)
        one, other = np.array(pairs).T
        difference = metric.of(totals)[one] - metric.of(totals)[other]
        own_influences = influences[:, one] - influences[:, other]
        if metric.proportion:
            hits = statistics[:, common, 1].T
            wins = by_unit(hits[:, one] * (1 - hits[:, other]), common_units)
            losses = by_unit(hits[:, other] * (1 - hits[:, one]), common_units)
            tests = rate_tests(wins, losses, np.broadcast_to(sizes[:, None], wins.shape))
        else:
            tests = mean_tests(difference, own_influences, np.broadcast_to(shares, own_influences.shape))
        parts.append(pl.DataFrame({
            "first": one, "second": other, "passages": int(common.sum()), "units": len(sizes), "difference": difference,
            **tests,
        }))  # fmt: skip
        deviations.append(np.zeros((int(units.max()) + 1, len(pairs))))
        deviations[-1][own] = own_influences
    rows = pl.concat(parts, how="diagonal_relaxed")
    tested = answered(rows, np.hstack(deviations), metric.margin) if deviations else rows
    absent = {name: pl.lit(None, kind) for name, kind in DIFFERENCES.items() if name not in tested.columns}
    return tested.with_columns(**absent).select(pl.col(name).cast(kind) for name, kind in DIFFERENCES.items()).sort(
        "first", "second"
    )  # fmt: skip


def answered(rows: pl.DataFrame, influences: Floats, margin: float | None = None) -> pl.DataFrame:
    """Add `p_family`, `answer` and `detectable` to tests of differences.

    Parameters
    ----------
    rows
        `difference`, and `difference_low`, `difference_high` and `p`, null with too few units: the family of tests.
    influences
        Influences of the units on each difference, shape (units, rows).
    margin
        Largest difference that counts as none; None if no margin was declared: then systems are equal only if all their
        units are.
    """
    low, high = pl.col("difference_low"), pl.col("difference_high")
    within = pl.lit(value=False) if margin is None else (low >= -margin) & (high <= margin)
    same = pl.Series((np.abs(influences) < ROUNDING).all(axis=0)) & (rows["difference"].abs() < ROUNDING)
    answer = pl.when(pl.col("p") <= LEVEL).then(pl.lit(DIFFERENT)).when(within | same).then(pl.lit(EQUAL))
    p_family = family(rows["p"].cast(pl.Float64).to_numpy(), influences)
    return rows.with_columns(
        pl.Series("p_family", p_family, dtype=pl.Float64).fill_nan(None),
        answer=answer.otherwise(pl.lit(OPEN)),
        detectable=SEEN * (high - low) / 2,
    )


def mean_tests(differences: Floats, influences: Floats, shares: Floats) -> Mapping[str, pl.Series]:
    """Columns `difference_low`, `difference_high` and `p` of differences; null with too few units.

    `differences` has the shape (pairs,); the others are as in `intervals.studentized`, with a column for each pair.
    """
    low, high = bounds(influences, shares)
    numbers = differences - low, differences + high, p_values(differences, influences, shares)
    return _columns(*numbers)


def rate_tests(wins: Floats, losses: Floats, trials: Floats) -> Mapping[str, pl.Series]:
    """Columns `difference_low`, `difference_high` and `p` of differences between two rates; null with too few units.

    Parameters
    ----------
    wins, losses
        Numbers by unit of passages that only the first system, or only the second one, hits; shape (units, pairs).
    trials
        Numbers of passages by unit, shape (units, pairs).

    Notes
    -----
    Tango's score interval of paired proportions (1998), which has no width of 0, with the counts over the design
    effect; its test of 0 is McNemar's. The bounds are found by halving.
    """
    total = trials.sum(axis=0)
    won, lost = wins.sum(axis=0), losses.sum(axis=0)
    difference, shares = (won - lost) / total, trials / total
    variances = ((won + lost) / total - difference**2) / total
    units = ((wins + losses) > 0).sum(axis=0)
    influences = (wins - losses) / total - shares * difference
    effects, quantiles, degrees = design_effect(influences, shares, variances, units, trials, SKEWED)
    b, c, n = won / effects, lost / effects, total / effects
    z = np.abs(b - c) / np.sqrt(np.maximum(b + c, 1e-300))
    p = np.where(b + c > 0, 2 * scipy.special.stdtr(degrees, -z), 1.0)
    low, high = score_bound(b, c, n, quantiles), -score_bound(c, b, n, quantiles)
    return _columns(*(np.where(np.isnan(quantiles), np.nan, each) for each in (low, high, p)))


def score_bound(b: Floats, c: Floats, n: Floats, z: Floats) -> Floats:
    """Lower bounds of differences of two paired proportions, by Tango's score test.

    `b` and `c` are the numbers of pairs in which only the first one, or only the second one, is a hit, `n` the numbers
    of all pairs, `z` the quantiles; shape (pairs,).
    """
    low, high = np.full(b.shape, -1.0), (b - c) / n
    for _ in range(50):
        middle = (low + high) / 2
        linear = (2 * n - b + c) * middle - b - c
        root = np.sqrt(np.maximum(linear**2 + 8 * n * c * middle * (1 - middle), 0))
        variance = n * ((root - linear) / (2 * n) + middle * (1 - middle))
        rejected = b - c - n * middle > z * np.sqrt(np.maximum(variance, 0))
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return low


def _columns(low: Floats, high: Floats, p: Floats) -> Mapping[str, pl.Series]:
    numbers = {"difference_low": low, "difference_high": high, "p": p}
    return {name: pl.Series(name, values, dtype=pl.Float64).fill_nan(None) for name, values in numbers.items()}


def family(p: Floats, influences: Floats) -> Floats:
    """P-values for a family of tests: each is valid no matter how many of the other hypotheses are true.

    Parameters
    ----------
    p
        P-values, shape (tests,). NaN does not count as a test, and stays NaN.
    influences
        Influences of the units on each estimate, shape (units, tests); their correlations are those of the tests.

    Notes
    -----
    Step-down max-T (Westfall and Young 1993): the smallest p is compared with the largest of all statistics, the next
    one with the largest of the rest, and so on. The statistics are drawn as normal ones with the correlations of the
    influences. A copy of a test changes nothing, because its statistic is that of the test; a correction by number
    would.
    """
    tests = np.flatnonzero(~np.isnan(p))
    order = tests[np.argsort(p[tests], kind="stable")]
    length = np.linalg.norm(influences[:, order], axis=0)
    directions = influences[:, order] / np.where(length > 0, length, 1)
    drawn = np.abs(_draws(len(influences)) @ directions)
    largest = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
    reached = (largest >= -scipy.special.ndtri(p[order] / 2) - 1e-9).sum(axis=0)
    corrected = np.full_like(p, np.nan)
    corrected[order] = np.maximum.accumulate(np.maximum((1 + reached) / (1 + DRAWS), p[order]))
    return corrected


@lru_cache(maxsize=2)
def _draws(units: int) -> Floats:
    return np.random.default_rng(SEED).normal(size=(DRAWS, units))


def holm(p: Floats) -> Floats:
    """P-values corrected for multiple tests, shape (tests,) to (tests,). NaN does not count as a test, and stays NaN.

    Notes
    -----
    Holm 1979: the smallest of n p-values is multiplied by n, the next one by n - 1, and so on; a corrected value is at
    least the previous one and at most 1.
    """
    tests = np.flatnonzero(~np.isnan(p))
    order = tests[np.argsort(p[tests], kind="stable")]
    corrected = np.full_like(p, np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return corrected


def clusters(ahead: NDArray[np.bool_]) -> list[int]:
    """Group ranked systems into clusters, as in WMT's findings.

    Parameters
    ----------
    ahead
        Whether the row's system is significantly better than the column's, shape (systems, systems), best system first.

    Returns
    -------
    The number of each system's cluster, from 1. By WMT's rule since 2017, a cluster ends after a system if
    this system and all systems above it are significantly better than all systems below it. Two systems in a cluster
    may differ significantly if systems ranked between them do not.
    """
    starts = [at > 0 and bool(ahead[:at, at:].all()) for at in range(len(ahead))]
    return [1 + sum(starts[: at + 1]) for at in range(len(starts))]


def rank_sets(ahead: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and the last rank that each system may have (Mogstad, Romano, Shaikh and Wilhelm 2024).

    The first rank is 1 plus the number of significantly better systems. The last rank is the number of systems minus
    the number of significantly worse systems. `ahead` is as in `clusters`, but with the systems in any order. All ranks
    of a cluster are better than all ranks of the next cluster.
    """
    better, worse = ahead.sum(axis=0), ahead.sum(axis=1)
    return [(1 + int(above), len(ahead) - int(below)) for above, below in zip(better, worse, strict=True)]
