"""How often intervals hold the truth in simulated corpora of units, how wide they are, and what tests can tell.

Units have a common deviation that makes up a share of the variance (the intraclass correlation); sizes are equal, or
the largest unit has half of all passages. All runs of a cell are computed at once.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from numpy.random import Generator
from scipy.stats import beta, norm  # type: ignore[import-untyped]

from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.metrics.intervals import Floats, Z, bounds, p_values, rate_intervals
from benchmark_assets.metrics.significance import differences, rate_tests, score_bound

PASSAGES_PER_UNIT = 6
RUNS = 4000
CORRELATIONS = (0, 0.1, 0.3)
SLACK = 3
"""Percentage points by which a small run may be beside the targets."""

Interval = tuple[Floats, Floats]


def unit_sizes(units: int, kind: str) -> Floats:
    if kind == "equal":
        sizes: Floats = np.full(units, float(PASSAGES_PER_UNIT))
        return sizes
    rest = max(1, units * PASSAGES_PER_UNIT // 2 // (units - 1))
    return np.array([float(rest * (units - 1)), *[float(rest)] * (units - 1)])


def unit_means(random: Generator, sizes: Floats, correlation: float, skewed: bool, runs: int) -> Floats:
    """Means of units of normal scores around 0, or of lognormal ones (their exponentials), shape (units, runs)."""
    common: Floats = random.normal(size=(len(sizes), runs)) * correlation**0.5
    means: Floats = np.empty(common.shape)
    if not skewed:
        means[:] = common + random.normal(size=common.shape) * ((1 - correlation) / sizes[:, None]) ** 0.5
        return means
    for at, size in enumerate(sizes.astype(np.int64)):
        own = random.normal(size=(size, runs)) * (1 - correlation) ** 0.5
        means[at] = np.exp(common[at] + own).mean(axis=0) - np.exp(0.5)
    return means


def of_means(means: Floats, sizes: Floats) -> tuple[float, float, float]:
    """How often, in %, intervals of a mean hold 0 and tests reject it, and the mean width; from `unit_means`."""
    shares = np.broadcast_to((sizes / sizes.sum())[:, None], means.shape)
    estimates = (shares * means).sum(axis=0)
    influences = shares * (means - estimates)
    low, high = bounds(influences, shares)
    held = (estimates - low <= 0) & (estimates + high >= 0)
    rejected = p_values(estimates, influences, shares) <= 0.05
    return 100 * held.mean(), 100 * rejected.mean(), float(np.median(low + high))


@pytest.mark.proof
@pytest.mark.parametrize("skewed", [False, True], ids=["normal", "lognormal"])
def test_intervals_of_means_hold_the_truth(skewed: bool, full: bool) -> None:
    runs, unit_counts = (RUNS, (5, 6, 8, 10, 20, 50)) if full else (500, (6, 10, 50))
    slack = 0 if full else SLACK
    print("\nunits, sizes: % held (at each correlation); width / normal width with the true variance, equal units")
    for units, kind in product(unit_counts, ("equal", "largest half")):
        sizes, held, widths = unit_sizes(units, kind), [], []
        for correlation in CORRELATIONS:
            means = unit_means(np.random.default_rng(units), sizes, correlation, skewed, runs)
            hold, rejected, width = of_means(means, sizes)
            held.append(hold)
            widths.append(width / (2 * Z * float(((sizes / sizes.sum())[:, None] * means).sum(axis=0).std())))
            assert rejected == pytest.approx(100 - hold), "interval and test are one method"
        row = "  ".join(f"{each:.1f}" for each in held)
        print(f"{units:>5}  {kind:<12}  {row}  {'  '.join(f'{width:.2f}' for width in widths)}")
        assert min(held) >= 93 - slack, (units, kind)
        if units >= 10 and kind == "equal":
            assert max(held) <= 97.5 + slack, (units, kind)


def hits(random: Generator, sizes: Floats, correlation: float, limits: Floats, runs: int) -> Iterator[Floats]:
    """Hits of passages of each unit, shape (systems, passages, runs): a normal score exceeds the system's limit.

    Half of the variance of scores is shared by the systems."""
    systems = len(limits)

    def scores(count: int) -> Floats:
        shared = random.normal(size=(1, count, runs)) * 0.5**0.5
        found: Floats = shared + random.normal(size=(systems, count, runs)) * 0.5**0.5
        return found

    for size in sizes.astype(np.int64):
        latent = scores(1) * correlation**0.5 + scores(int(size)) * (1 - correlation) ** 0.5
        yield (latent > limits[:, None, None]).astype(np.float64)


def held_and_wide(low: Floats, high: Floats, truth: float) -> tuple[float, float]:
    return 100 * float(((low <= truth + 1e-12) & (high >= truth - 1e-12)).mean()), float((high - low).mean())


def measured_effect(sums: Floats, sizes: Floats, variances: Floats) -> Floats:
    """Design effect as measured by the jackknife, at least 1; 1 if nothing varies."""
    shares = (sizes / sizes.sum())[:, None]
    influences = sums / sizes.sum() - shares * sums.sum(axis=0) / sizes.sum()
    squares = ((influences / (1 - shares)) ** 2).sum(axis=0) * (len(sizes) - 1) / len(sizes)
    effects: Floats = np.maximum(np.divide(squares, variances, out=np.ones(squares.shape), where=variances > 0), 1)
    return effects


def score_interval(rates: Floats, trials: Floats) -> Interval:
    middle, scale = rates + Z**2 / (2 * trials), 1 + Z**2 / trials
    half = Z * np.sqrt(rates * (1 - rates) / trials + Z**2 / (4 * trials**2))
    return (middle - half) / scale, (middle + half) / scale


def named_of_rates(sums: Floats, sizes: Floats) -> list[Interval]:
    """Wilson's interval, Clopper and Pearson's (Korn and Graubard 1998) and Agresti and Coull's, with the trials over
    the measured design effect."""
    rates = sums.sum(axis=0) / sizes.sum()
    trials = sizes.sum() / measured_effect(sums, sizes, rates * (1 - rates) / sizes.sum())
    hit, missed = rates * trials, (1 - rates) * trials
    exact = (
        np.where(hit > 0, beta.ppf(0.025, np.maximum(hit, 1e-9), missed + 1), 0),
        np.where(missed > 0, beta.ppf(0.975, hit + 1, np.maximum(missed, 1e-9)), 1),
    )
    middle = (hit + Z**2 / 2) / (trials + Z**2)
    half = Z * np.sqrt(middle * (1 - middle) / (trials + Z**2))
    return [score_interval(rates, trials), exact, (middle - half, middle + half)]


def named_of_differences(first: Floats, second: Floats, wins: Floats, losses: Floats, sizes: Floats) -> list[Interval]:
    """Newcombe's hybrid score interval (1998), Tango's (1998), and Bonett and Price's (2012), with the trials over the
    measured design effects."""
    total = sizes.sum()
    rates = [sums.sum(axis=0) / total for sums in (first, second)]
    variances = [rate * (1 - rate) for rate in rates]
    (low, high), (other_low, other_high) = (
        score_interval(rate, total / measured_effect(sums, sizes, variance / total))
        for sums, rate, variance in zip((first, second), rates, variances, strict=True)
    )
    both = np.sqrt(variances[0] * variances[1])
    agreement = rates[0] - wins.sum(axis=0) / total - rates[0] * rates[1]
    phi = np.divide(agreement, both, out=np.zeros(both.shape), where=both > 0)
    difference = rates[0] - rates[1]

    def distance(one: Floats, other: Floats) -> Floats:
        square: Floats = one**2 - 2 * phi * one * other + other**2
        return np.sqrt(np.maximum(square, 0))

    newcombe = (
        difference - distance(rates[0] - low, other_high - rates[1]),
        difference + distance(high - rates[0], rates[1] - other_low),
    )
    won, lost = wins.sum(axis=0), losses.sum(axis=0)
    effect = measured_effect(wins - losses, sizes, ((won + lost) / total - difference**2) / total)
    b, c, n = won / effect, lost / effect, total / effect
    z = np.full(b.shape, Z)
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = Z * np.sqrt((p + q - (p - q) ** 2) / (n + 2))
    return [newcombe, (score_bound(b, c, n, z), -score_bound(c, b, n, z)), (p - q - half, p - q + half)]


def best(named: list[Interval], truth: float) -> float:
    """Width of the narrowest named interval that holds the truth in at least 93 %."""
    found = [held_and_wide(*each, truth) for each in named]
    return min((width for held, width in found if held >= 93), default=float("nan"))


@pytest.mark.proof
def test_intervals_of_rates_hold_the_truth(full: bool) -> None:
    runs, unit_counts = (RUNS, (5, 6, 10, 20, 50)) if full else (200, (6, 20))
    print("\nunits, sizes, rate: % held (at each correlation); width / the best of three named methods")
    ratios = []
    for units, kind, rate in product(unit_counts, ("equal", "largest half"), (0.01, 0.03, 0.05, 0.2)):
        sizes, row = unit_sizes(units, kind), []
        for correlation in CORRELATIONS:
            random = np.random.default_rng(units)
            sums = np.stack([each[0].sum(axis=0) for each in hits(random, sizes, correlation, norm.isf([rate]), runs)])
            ends = np.array(rate_intervals(sums, np.broadcast_to(sizes[:, None], sums.shape)), dtype=np.float64)
            held, width = held_and_wide(ends[:, 0], ends[:, 1], rate)
            row.append((held, width / best(named_of_rates(sums, sizes), rate)))
            assert held >= 92.5 - (0 if full else SLACK), (units, kind, rate, correlation)
        ratios += [ratio for _, ratio in row]
        print(f"{units:>5}  {kind:<12}  {rate:<4}  {'  '.join(f'{held:.1f} ({ratio:.2f})' for held, ratio in row)}")
    print(f"widths: mean {np.nanmean(ratios):.2f}, at most {np.nanmax(ratios):.2f} of the best")


@pytest.mark.proof
def test_intervals_of_differences_of_rates_hold_the_truth(full: bool) -> None:
    runs, unit_counts = (RUNS, (5, 6, 10, 20, 50)) if full else (200, (6, 20))
    print("\nunits, sizes, rates: % held (at each correlation); width / the best of three named methods")
    ratios = []
    pairs = ((0, 0), (0, 0.01), (0.01, 0.01), (0.01, 0.03), (0.03, 0.03), (0, 0.03))
    for units, kind, rates in product(unit_counts, ("equal", "largest half"), pairs):
        sizes, row, truth = unit_sizes(units, kind), [], rates[0] - rates[1]
        for correlation in CORRELATIONS:
            drawn = list(hits(np.random.default_rng(units), sizes, correlation, norm.isf(rates), runs))
            sums = (np.stack([of(one, other).sum(axis=0) for one, other in drawn]) for of in (
                lambda one, _: one, lambda _, other: other, lambda one, other: one * (1 - other),
                lambda one, other: other * (1 - one),
            ))  # fmt: skip
            first, second, wins, losses = sums
            tests = rate_tests(wins, losses, np.broadcast_to(sizes[:, None], wins.shape))
            low, high = (tests[name].to_numpy() for name in ("difference_low", "difference_high"))
            held, width = held_and_wide(low, high, truth)
            row.append((held, width / best(named_of_differences(first, second, wins, losses, sizes), truth)))
            assert held >= 93 - (0 if full else SLACK), (units, kind, rates, correlation)
            assert (high - low).min() > 0
        ratios += [ratio for _, ratio in row]
        words = "  ".join(f"{held:.1f} ({ratio:.2f})" for held, ratio in row)
        print(f"{units:>5}  {kind:<12}  {rates}  {words}")
    print(f"widths: mean {np.nanmean(ratios):.2f}, at most {np.nanmax(ratios):.2f} of the best")


@pytest.mark.proof
def test_two_systems_that_differ_by_the_spread_of_documents_are_told_apart(full: bool) -> None:
    """One of five systems is better than the others by one standard deviation of their scores of documents."""
    runs, documents, metric = (RUNS // 4 if full else 60), 20, BY_NAME["sim_best"]
    found = np.zeros((runs, 2))
    for run in range(runs):
        values = np.random.default_rng(run).normal(size=(5, documents))
        values[1] += 1
        statistics = np.stack([np.ones(values.shape), values + 5], axis=2)
        row = differences(statistics, np.arange(documents), metric).filter(first=0, second=1).row(0, named=True)
        found[run] = row["answer"] == "different", row["p_family"] <= 0.05
    alone, family = 100 * found.mean(axis=0)
    print(f"\ntold apart at 20 documents: {alone:.1f} % by the pair alone, {family:.1f} % in the family of ten pairs")
    assert alone >= (80 if full else 70)


def test_leaving_out_a_document_adds_no_significance_on_average() -> None:
    for documents in (6, 8, 12):
        means = np.random.default_rng(documents).normal(size=(documents, 2000)) + 0.8
        rejected = [of_means(each, np.full(len(each), 6.0))[1] for each in (means, means[1:])]
        assert rejected[1] <= rejected[0] + 1
