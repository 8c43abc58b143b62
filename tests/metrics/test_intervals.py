import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.metrics.intervals import (
    RESAMPLES,
    mean_interval,
    percentile_interval,
    resampling_weights,
    wilson,
)


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


@given(st.integers(1, 200))
def test_a_resample_draws_as_many_passages_as_there_are(passages: int) -> None:
    weights = resampling_weights(passages)
    assert weights.shape == (RESAMPLES, passages)
    assert (weights >= 0).all()
    assert (weights.sum(axis=1) == passages).all()


def test_equal_arguments_give_equal_intervals() -> None:
    values = np.random.default_rng(5).normal(size=80)
    assert (resampling_weights(80) == resampling_weights(80)).all()
    assert mean_interval(values, resampling_weights(80)) == mean_interval(values, resampling_weights(80))


def test_every_passage_is_drawn_alike() -> None:
    draws = resampling_weights(50).sum(axis=0)
    # each of 50,000 draws is passage i with probability 1/50: mean 1,000, standard deviation 31
    assert abs(draws - 1000).max() < 5 * 31.3


def test_the_bootstrap_covers_the_mean_as_often_as_it_promises() -> None:
    random = np.random.default_rng(7)
    weights = resampling_weights(60)
    intervals = [mean_interval(random.normal(3, 2, size=60), weights) for _ in range(300)]
    covered = sum(low <= 3 <= high for low, high in intervals) / len(intervals)
    assert 0.90 <= covered <= 0.985


def test_the_bootstrap_interval_is_as_wide_as_the_standard_error_says() -> None:
    values = np.random.default_rng(11).normal(0, 1, size=400)
    low, high = mean_interval(values, resampling_weights(400))
    assert_allclose(high - low, 2 * 1.96 * values.std() / 20, rtol=0.1)


@given(st.floats(-100, 100), st.integers(1, 20), st.integers(0, 20))
def test_absent_values_count_for_nothing(value: float, present: int, absent: int) -> None:
    values = np.array([value] * present + [math.nan] * absent)
    assert_allclose(mean_interval(values, resampling_weights(len(values))), (value, value), atol=1e-9)


def test_a_resample_that_drew_only_absent_values_says_nothing() -> None:
    weights = np.array([[2, 0, 0], [0, 1, 1], [0, 0, 2]])
    assert mean_interval(np.array([3.0, math.nan, math.nan]), weights) == (3, 3)
    assert mean_interval(np.array([3.0, 5.0, math.nan]), weights) == pytest.approx((3.05, 4.95))


def test_an_interval_is_the_middle_95_percent() -> None:
    assert percentile_interval(np.arange(1001.0)) == pytest.approx((25, 975))


def test_a_resample_that_says_nothing_is_left_out() -> None:
    values = np.concatenate([np.arange(1001.0), np.full(500, math.nan)])
    assert percentile_interval(values) == pytest.approx((25, 975))
