"""Logistic regression: known slopes come back, and what has no slope has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.logistic import BOUND, penalized_slope, slope
from benchmark_assets.metrics.measures import NONE

RATIOS = np.log(np.tile([1.5, 3.0], 9))


def outcomes(quantity: Floats, steepness: float, seed: int) -> Floats:
    chance = np.random.default_rng(seed)
    drawn: Floats = chance.random(len(quantity)) < special.expit(0.3 + steepness * quantity)
    return drawn


@given(st.floats(-2, 2), st.integers(0, 99))
def test_a_known_slope_comes_back(steepness: float, seed: int) -> None:
    quantity = np.random.default_rng(seed).normal(size=4000)
    value, low, high = slope(quantity, outcomes(quantity, steepness, seed).astype(bool), np.arange(4000) // 20)
    assert value is not None
    assert low is not None
    assert high is not None
    assert low < value < high
    assert high - low < 0.5
    assert low - 0.3 < steepness < high + 0.3


def test_intervals_hold_the_slope_in_95_percent() -> None:
    held = []
    for seed in range(200):
        quantity = np.random.default_rng(seed).normal(size=120)
        _, low, high = slope(quantity, outcomes(quantity, 1.2, seed).astype(bool), np.arange(120) // 2)
        assert low is not None
        assert high is not None
        held.append(low <= 1.2 <= high)
    assert 0.89 < np.mean(held) < 0.99


@pytest.mark.parametrize(
    ("quantity", "outcome"),
    [([], []), ([1, 1, 1, 1], [1, 0, 1, 0]), ([1, 2, 3, 4], [1, 1, 1, 1]), ([1, 2, 3, 4], [0, 0, 1, 1])],
    ids=["no rows", "a constant", "one outcome", "separated"],
)
def test_without_a_maximum_there_is_no_slope(quantity: list[float], outcome: list[int]) -> None:
    rows = np.array(quantity, dtype=float)
    assert slope(rows, np.array(outcome, dtype=bool), np.arange(len(rows))) == NONE


def test_a_published_slope_stays_as_it_is() -> None:
    quantity = np.random.default_rng(1).normal(size=100)
    found = slope(quantity, outcomes(quantity, 1, 1).astype(bool), np.arange(100) // 10)
    assert found == pytest.approx((1.1612192963925931, 0.6296478802444196, 1.8802789676153264), rel=1e-9)
    for steepness, expected in ((19.5, pytest.approx(19.5)), (20.5, None)):
        scaled = quantity * 1.1612192963925931 / steepness
        assert slope(scaled, outcomes(quantity, 1, 1).astype(bool), np.arange(100) // 10).value == expected


def test_few_units_have_a_slope_without_an_interval() -> None:
    quantity = np.random.default_rng(1).normal(size=100)
    value, low, high = slope(quantity, outcomes(quantity, 1, 1).astype(bool), np.arange(100) // 50)
    assert value is not None
    assert (low, high) == (None, None)


@pytest.mark.proof
@pytest.mark.parametrize("true", [0.0, 1.2])
@pytest.mark.parametrize("orders", ["independent", "equal"])
def test_intervals_hold_the_coefficient(true: float, orders: str, full: bool) -> None:
    generator, runs = np.random.default_rng(1), 500 if full else 20
    chances = special.expit(true * RATIOS)[:, None]
    estimates = []
    for _ in range(runs):
        drawn = generator.random((len(RATIOS), 2)) < chances
        chosen = drawn if orders == "independent" else drawn[:, [0, 0]]
        estimates.append(penalized_slope(RATIOS, chosen.astype(np.float64)))
    values, lows, highs = np.array(estimates, dtype=np.float64).T
    coverage, mean, width = ((lows <= true) & (true <= highs)).mean(), values.mean(), np.median(highs - lows)
    print(f"{true} logits, orders {orders}: mean {mean:.2f}, coverage {coverage:.1%}, median width {width:.1f}")
    assert coverage >= (0.92 if full else 0.8)
    assert abs(mean - true) < (0.1 if full else 0.6)


def test_a_second_order_narrows_the_interval_only_by_what_it_adds() -> None:
    """Orders that always agree count as one order. Independent orders are more evidence."""
    random = np.random.default_rng(6)
    one, other = (random.random((2, len(RATIOS))) < special.expit(RATIOS)).astype(np.float64)
    alone = penalized_slope(RATIOS, one[:, None])
    assert alone == pytest.approx((0.5678486, -0.5437357, 1.8165366), abs=1e-6)
    assert penalized_slope(RATIOS, np.stack([one, one], axis=1)) == pytest.approx(alone, abs=0.05)
    both = penalized_slope(RATIOS, np.stack([one, other], axis=1))
    narrow, wide = (float(np.ptp(np.array(estimate[1:], dtype=np.float64))) for estimate in (both, alone))
    assert narrow < 0.8 * wide


def test_one_sided_choices_have_a_finite_coefficient() -> None:
    always, never = (
        np.array(penalized_slope(RATIOS, np.full((len(RATIOS), 2), chosen)), dtype=np.float64) for chosen in (1.0, 0.0)
    )
    value, low, high = always
    assert 1 < low < value < high < BOUND
    assert value == pytest.approx(-never[0], abs=1e-3)


def test_position_is_no_fondness_of_length() -> None:
    value, low, high = penalized_slope(RATIOS, np.tile([1.0, 0.0], (len(RATIOS), 1)))
    assert value == pytest.approx(0, abs=1e-3)
    assert low is not None
    assert high is not None
    assert low < 0 < high
