import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.metrics.intervals import (
    RESAMPLES,
    TRIALS,
    bounded,
    bounds,
    by_unit,
    effective_units,
    influence,
    mean_interval,
    percentile_interval,
    rate_bounds,
    rate_interval,
    resampling_weights,
    sample_and_resamples,
    signs,
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


@given(st.integers(6, 9).flatmap(lambda n: st.lists(st.integers(-9, 9), min_size=n, max_size=n)), st.floats(0, 12))
def test_an_interval_contains_what_the_sign_test_does_not_reject(values: list[int], distance: float) -> None:
    deviations = np.array(values, dtype=np.float64)
    low, high = mean_interval(deviations, np.arange(len(values)))
    assert low is not None
    assert high is not None
    for candidate, bound in ((deviations.mean() - distance, low), (deviations.mean() + distance, high)):
        if abs(candidate - bound) > 1e-6:
            gaps = deviations - candidate
            sums = np.array([np.dot(s, gaps) for s in itertools.product((1, -1), repeat=len(values))])
            p = (np.abs(sums) >= abs(gaps.sum()) - 1e-9).mean()
            assert bool(p > 0.05) is bool(low < candidate < high)


def test_a_published_interval_of_many_units_stays_as_it_is() -> None:
    found = mean_interval(np.random.default_rng(3).normal(size=40), np.arange(40))
    assert found == pytest.approx((-0.41590186346949193, 0.3376745334079442), rel=1e-9)


def test_five_units_have_the_interval_of_students_t() -> None:
    values = np.array([3.0, 5.0, 4.0, 8.0, 6.0])
    half = 2.7764451 * values.std(ddof=1) / math.sqrt(5)
    assert mean_interval(values, np.arange(5)) == pytest.approx((values.mean() - half, values.mean() + half))


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


def test_all_patterns_of_signs_are_tried_if_they_are_few() -> None:
    few = signs(9)
    assert few.shape == (2**8, 9)
    assert len(np.unique(np.concatenate([few, -few]), axis=0)) == 2**9
    many = signs(50)
    assert many.shape == (TRIALS, 50)
    assert (many[0] == 1).all()
    assert abs(many.sum(axis=0, dtype=np.int64)).max() < 5 * 100  # standard deviation 100


def test_a_rate_of_independent_rows_has_about_wilsons_interval() -> None:
    hits = np.random.default_rng(2).random(1000) < 0.1
    assert rate_interval(hits, np.arange(1000)) == pytest.approx(wilson(int(hits.sum()), 1000), abs=0.004)


def test_a_rate_of_none_or_all_counts_every_unit_once() -> None:
    units = np.repeat(np.arange(20), 5)
    assert rate_interval(np.zeros(100, dtype=bool), units) == wilson(0, 20)
    assert rate_interval(np.ones(100, dtype=bool), units) == wilson(20, 20)


def test_a_rate_of_clustered_rows_has_the_bounds_of_its_mean_or_wider_ones() -> None:
    hits, units = np.repeat(np.random.default_rng(2).random(20) < 0.3, 5), np.repeat(np.arange(20), 5)
    low, high = mean_interval(hits.astype(np.float64), units)
    assert low is not None
    assert high is not None
    rate = float(hits.mean())
    for numbers in (units, 3 * units):
        assert rate_interval(hits, numbers) == pytest.approx(rate_bounds(rate, 100, 20, rate - low, high - rate))


@given(st.floats(0.01, 0.99), st.floats(0, 2), st.floats(0, 2))
def test_the_bounds_of_a_rate_are_at_least_those_of_independent_rows_and_of_the_mean(
    rate: float, below: float, above: float
) -> None:
    low, high = rate_bounds(rate, 100, 20, below, above)
    narrowest, widest = wilson(100 * rate, 100), wilson(rate, 1)
    assert 0 <= low <= min(narrowest[0], max(rate - below, 0)) + 1e-12
    assert 1 >= high >= max(narrowest[1], min(rate + above, 1)) - 1e-12
    if below < 1e-3 and above < 1e-3:
        assert (low, high) == pytest.approx(narrowest, abs=2e-3)
    assert low >= min(widest[0], rate - below) - 1e-12


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
