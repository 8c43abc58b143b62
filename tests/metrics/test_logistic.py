"""Logistic regression: known slopes come back, and what has no slope has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.logistic import slope
from benchmark_assets.metrics.measures import NONE


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


def test_few_units_have_a_slope_without_an_interval() -> None:
    quantity = np.random.default_rng(1).normal(size=100)
    value, low, high = slope(quantity, outcomes(quantity, 1, 1).astype(bool), np.arange(100) // 50)
    assert value is not None
    assert (low, high) == (None, None)
