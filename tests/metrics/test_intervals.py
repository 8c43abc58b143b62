import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import (
    PRIOR_EFFECT,
    RESAMPLES,
    Floats,
    bounded,
    bounds,
    by_unit,
    effective_units,
    freedom,
    influence,
    mean_interval,
    p_values,
    percentile_interval,
    rate_interval,
    rate_intervals,
    resampling_weights,
    sample_and_resamples,
    wilson,
)
from tests.support import examples


# From Outliers to Errors: tables 7 (the first four), text of 4.2, tables 9, 10 and E5.
@pytest.mark.parametrize(
    ("successes", "trials", "printed"),
    [
        (1, 100, "0.2-5.4"), (2, 100, "0.6-7.0"), (1, 50, "0.4-10.5"), (11, 50, "12.8-35.2"),
        (3, 200, "0.5-4.3"),
        (57, 726, "6.1-10.0"), (48, 353, "10.4-17.6"), (64, 124, "42.9-60.2"),
        (9, 224, "2.1-7.5"), (26, 302, "5.9-12.3"), (18, 257, "4.5-10.8"), (116, 420, "23.6-32.1"),
        (9, 1700, "0.28-1.00"), (26, 1700, "1.05-2.23"), (18, 1700, "0.67-1.67"), (116, 1700, "5.72-8.12"),
    ],
)  # fmt: skip
def test_wilson_intervals_are_those_printed(successes: int, trials: int, printed: str) -> None:
    digits = len(printed.partition("-")[0].partition(".")[2])
    assert "-".join(f"{100 * bound:.{digits}f}" for bound in wilson(successes, trials)) == printed


COUNTS = st.integers(1, 10_000).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))


@given(COUNTS)
def test_wilson_bounds_are_where_the_score_test_rejects(counts: tuple[int, int]) -> None:
    successes, trials = counts
    for bound in wilson(successes, trials):
        if 1e-9 < bound < 1 - 1e-9:
            z = (successes / trials - bound) / math.sqrt(bound * (1 - bound) / trials)
            assert_allclose(abs(z), 1.959964, atol=1e-4)


@given(COUNTS)
def test_failures_have_the_mirrored_interval_of_successes(counts: tuple[int, int]) -> None:
    successes, trials = counts
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    assert_allclose(wilson(trials - successes, trials), (1 - high, 1 - low), atol=1e-12)


def test_no_trials_have_no_proportion() -> None:
    with pytest.raises(ZeroDivisionError):
        wilson(0, 0)


def p_of(values: Floats, candidate: float) -> float:
    """P-value of the hypothesis that the mean of independent values is `candidate`."""
    shares = np.full((len(values), 1), 1 / len(values))
    influences = shares * (values[:, None] - values.mean())
    return float(p_values(np.array([values.mean() - candidate]), influences, shares)[0])


@given(st.lists(st.integers(-9, 9), min_size=5, max_size=12), st.floats(-20, 20))
def test_an_interval_contains_what_the_test_does_not_reject(values: list[int], candidate: float) -> None:
    low, high = mean_interval(np.array(values, dtype=np.float64), np.arange(len(values)))
    assert low is not None
    assert high is not None
    if min(abs(candidate - low), abs(candidate - high)) > 1e-4:
        assert bool(p_of(np.array(values, dtype=np.float64), candidate) > 0.05) is bool(low < candidate < high)


def test_symmetric_values_have_the_interval_of_students_t() -> None:
    values = np.array([-3.0, -1, -0.5, 0.5, 1, 3])
    half = stats.t.ppf(0.975, 0.7 * 5) * values.std(ddof=1) / math.sqrt(6)
    assert mean_interval(values, np.arange(6)) == pytest.approx((-half, half))


def test_skewed_values_have_the_longer_bound_on_the_side_of_the_tail() -> None:
    values = np.exp(np.random.default_rng(3).normal(size=20))
    low, high = mean_interval(values, np.arange(20))
    assert low is not None
    assert high is not None
    assert high - values.mean() > 1.3 * (values.mean() - low)
    assert [p_of(values, bound) for bound in (low, high)] == pytest.approx([0.05, 0.05])


@given(st.integers(6, 40))
def test_fewer_units_have_a_longer_interval(units: int) -> None:
    quantiles = [stats.t.ppf(0.975, freedom(np.full((n, 1), 1 / n))[0]) for n in (units, units - 1)]
    assert quantiles[0] < quantiles[1]


def test_unequal_units_have_fewer_degrees_of_freedom() -> None:
    half = np.array([0.5, *np.full(19, 0.5 / 19)])
    some = np.array([*np.full(4, 0.15), *np.full(16, 0.4 / 16)])
    equal, one_large, some_large = (float(freedom(each[:, None])[0]) for each in (np.full(20, 0.05), half, some))
    assert equal == pytest.approx(0.7 * 19)
    assert max(one_large, some_large) < 0.3 * equal


def test_four_units_have_no_interval() -> None:
    units = np.array([0, 1, 2, 3] * 9)
    assert mean_interval(np.arange(36.0), units) == (None, None)
    assert rate_interval(np.arange(36) > 9, units) == (None, None)
    assert bounded(np.arange(9.0), 4) == (0, None, None)
    assert all(np.isnan(ends).all() for ends in bounds(np.ones((4, 2)), np.full((4, 2), 0.25)))


@given(st.lists(st.floats(-9, 9), min_size=12, max_size=12), st.permutations(range(12)))
@examples(25)
def test_an_interval_follows_its_values(values: list[float], order: list[int]) -> None:
    units = np.arange(12) // 2
    low, high = mean_interval(np.array(values), units)
    assert mean_interval(np.array(values)[order], units[order]) == pytest.approx((low, high))
    assert low is not None
    assert high is not None
    assert low <= np.mean(values) + 1e-9
    assert high >= np.mean(values) - 1e-9
    assert mean_interval(10 - 2 * np.array(values), units) == pytest.approx((10 - 2 * high, 10 - 2 * low))


def test_passages_that_repeat_within_a_unit_say_nothing_new() -> None:
    values = np.random.default_rng(3).normal(size=20)
    once, often = mean_interval(values, np.arange(20)), mean_interval(np.repeat(values, 9), np.repeat(np.arange(20), 9))
    assert often == pytest.approx(once)


def test_absent_values_count_for_nothing() -> None:
    values = np.array([1.0, 2, 3, 4, 5, 9, math.nan, math.nan])
    assert mean_interval(values, np.arange(8)) == mean_interval(values[:6], np.arange(6))


@pytest.mark.parametrize("sizes", [[1, 1, 1, 1, 1, 1, 1, 1], [3, 1, 4, 1, 5, 9]])
def test_a_unit_without_a_share_counts_for_nothing(sizes: list[int]) -> None:
    random = np.random.default_rng(4)
    shares = np.array(sizes) / sum(sizes)
    means = random.normal(size=len(sizes))
    some = (shares * (means - shares @ means))[:, None], shares[:, None]
    more = tuple(np.vstack([table, np.zeros((1, 1))]) for table in some)
    assert_allclose(bounds(*more), bounds(*some))


def test_the_influence_on_a_mean_is_a_units_deviation() -> None:
    values, units = np.random.default_rng(1).normal(size=12), np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3])
    sums, sizes = by_unit(values, units), np.bincount(units)
    without = (sums.sum() - sums) / (12 - sizes)
    expected = (sums - sizes * values.mean()) / 12
    assert_allclose(influence(values.mean(), without, sizes / 12), expected, atol=1e-12)


def test_units_of_equal_size_are_as_many_as_they_are() -> None:
    assert effective_units(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_units(np.array([50.0, *np.full(50, 1.0)])) == pytest.approx(100**2 / 2550)


def test_a_rate_of_independent_rows_has_wilsons_interval() -> None:
    hits = np.random.default_rng(2).random(1000) < 0.1
    assert rate_interval(hits, np.arange(1000)) == pytest.approx(wilson(int(hits.sum()), 1000))


def test_a_rate_of_none_or_all_has_a_width() -> None:
    units = np.repeat(np.arange(20), 5)
    assert rate_interval(np.zeros(100, dtype=bool), units) == pytest.approx(wilson(0, 100 / PRIOR_EFFECT))
    assert rate_interval(np.ones(100, dtype=bool), units) == pytest.approx((1 - wilson(0, 100 / PRIOR_EFFECT)[1], 1))


def test_rows_that_repeat_within_a_unit_add_little() -> None:
    hits, units = np.repeat(np.random.default_rng(2).random(40) < 0.3, 50), np.repeat(np.arange(40), 50)
    low, high = rate_interval(hits, units)
    narrow, wide = wilson(2000 * hits.mean(), 2000), wilson(20 * hits.mean(), 20)
    assert low is not None
    assert high is not None
    assert wide[0] < low < narrow[0]
    assert narrow[1] < high < wide[1]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6)), min_size=5, max_size=20))
def test_rates_of_hits_and_misses_are_mirrored(counts: list[tuple[int, int]]) -> None:
    trials = np.array([[max(each)] for each in counts], dtype=np.float64)
    hits = np.array([[min(each)] for each in counts], dtype=np.float64)
    (low, high), (missed, most) = *rate_intervals(hits, trials), *rate_intervals(trials - hits, trials)
    assert low is not None
    assert high is not None
    rate = hits.sum() / trials.sum()
    assert 0 <= low <= rate <= high <= 1
    assert high - low > 0.01
    if rate != 0.5:
        assert (missed, most) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(st.integers(1, 200))
def test_a_resample_draws_as_many_units_as_there_are(units: int) -> None:
    weights = resampling_weights(units)
    assert weights.shape == (RESAMPLES, units)
    assert (weights >= 0).all()
    assert (weights.sum(axis=1) == units).all()
    assert (sample_and_resamples(units) == np.vstack([np.ones(units), weights])).all()


def test_every_unit_is_drawn_alike() -> None:
    draws = resampling_weights(50).sum(axis=0)
    # each of 50,000 draws is unit i with probability 1/50: mean 1,000, standard deviation 31
    assert abs(draws - 1000).max() < 5 * 31.3


def test_percentiles_widen_as_units_become_fewer() -> None:
    values = np.arange(10_001.0)
    ends = [percentile_interval(values, units) for units in (5, 10, 50, 1e9)]
    assert ends[-1] == pytest.approx((250, 9750), abs=1)
    lows = [low for low, _ in ends if low is not None]
    assert lows == sorted(lows)
    assert lows[0] < 50


def test_a_resample_that_says_nothing_is_left_out() -> None:
    values = np.concatenate([np.arange(1001.0), np.full(500, math.nan)])
    assert percentile_interval(values, 100) == percentile_interval(np.arange(1001.0), 100)
