"""The length coefficient: its sign, its limits, and the coverage of its interval."""

import numpy as np
import pytest
from scipy.special import expit  # type: ignore[import-untyped]

from benchmark_assets.metrics.logistic import BOUND, penalized_slope

RATIOS = np.log(np.tile([1.5, 3.0], 9))


@pytest.mark.proof
@pytest.mark.parametrize("true", [0.0, 1.2])
@pytest.mark.parametrize("orders", ["independent", "equal"])
def test_intervals_hold_the_coefficient(true: float, orders: str, full: bool) -> None:
    generator, runs = np.random.default_rng(1), 500 if full else 20
    chances = expit(true * RATIOS)[:, None]
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
    one, other = (random.random((2, len(RATIOS))) < expit(RATIOS)).astype(np.float64)
    alone = penalized_slope(RATIOS, one[:, None])
    assert penalized_slope(RATIOS, np.stack([one, one], axis=1)) == pytest.approx(alone, abs=0.05)
    both = penalized_slope(RATIOS, np.stack([one, other], axis=1))
    narrow, wide = (float(np.ptp(np.array(slope[1:], dtype=np.float64))) for slope in (both, alone))
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
