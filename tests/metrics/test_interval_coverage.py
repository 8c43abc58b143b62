"""How often intervals hold the truth, and tests of equal systems reject, in simulated corpora of units.

Units have a common deviation that makes up a share of the variance (the intraclass correlation); sizes are equal, or
the largest unit has half of all passages.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import norm  # type: ignore[import-untyped]

from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.metrics.intervals import Floats, bounds, rate_interval
from benchmark_assets.metrics.significance import sign_test

PASSAGES_PER_UNIT = 6
RUNS = 4000


class Cell(NamedTuple):
    """A simulated corpus, and what became of its runs, in %."""

    units: int
    sizes: str
    correlation: float
    held: float
    rejected: float
    width: float


def unit_sizes(units: int, kind: str) -> Floats:
    if kind == "equal":
        return np.full(units, float(PASSAGES_PER_UNIT))
    rest = max(1, units * PASSAGES_PER_UNIT // 2 // (units - 1))
    return np.array([float(rest * (units - 1)), *[float(rest)] * (units - 1)])


def simulated(units: int, kind: str, correlation: float, runs: int) -> Cell:
    """Means of normal scores around 0: how often the interval holds 0, the test rejects 0, and the relative width."""
    random = np.random.default_rng(units)
    sizes = unit_sizes(units, kind)
    shares = (sizes / sizes.sum())[:, None]
    common = random.normal(size=(units, runs)) * correlation**0.5
    own = random.normal(size=(units, runs)) * ((1 - correlation) / sizes[:, None]) ** 0.5
    unit_means = common + own
    means = (shares * unit_means).sum(axis=0)
    influences = shares * (unit_means - means)
    table = np.broadcast_to(shares, influences.shape)
    low, high = bounds(influences, table)
    held = ((means - low <= 0) & (means + high >= 0)).mean()
    rejected = (sign_test(means, influences, table) <= 0.05).mean()
    deviation = float((shares[:, 0] ** 2 * (correlation + (1 - correlation) / sizes)).sum() ** 0.5)
    return Cell(
        units, kind, correlation, 100 * held, 100 * rejected, float((low + high).mean()) / (2 * 1.96 * deviation)
    )


@pytest.mark.proof
def test_intervals_hold_the_truth_and_tests_reject_no_more_than_they_say(full: bool) -> None:
    runs, unit_counts = (RUNS, (5, 6, 10, 50, 300)) if full else (500, (5, 10, 50))
    slack = 0 if full else 3
    cells = [
        simulated(units, kind, correlation, runs)
        for units in unit_counts
        for kind in ("equal", "largest half")
        for correlation in (0, 0.1, 0.3)
    ]
    print("\nunits, sizes, correlation: held %, rejected %, width / normal width with the true variance")
    for cell in cells:
        name = f"{cell.units:>5}  {cell.sizes:<12}  {cell.correlation:<3}"
        print(f"{name}  {cell.held:.1f}  {cell.rejected:.1f}  {cell.width:.2f}")
        most = 97 + slack if cell.units >= 2 * FEWEST else 100
        assert 93 - slack <= cell.held <= most, cell
        assert cell.rejected <= 6 + slack, cell


def rates(units: int, kind: str, correlation: float, rate: float, runs: int) -> float:
    """How often, in %, the interval of a rate holds the truth; rows are hits if a normal score exceeds a limit."""
    random, sizes = np.random.default_rng(units), unit_sizes(units, kind).astype(np.int64)
    of_row, rows = np.repeat(np.arange(units), sizes), int(sizes.sum())
    held = 0
    for _ in range(runs):
        common = random.normal(size=units) * correlation**0.5
        hits = common[of_row] + random.normal(size=rows) * (1 - correlation) ** 0.5 > norm.isf(rate)
        low, high = rate_interval(hits, of_row)
        assert low is not None
        assert high is not None
        held += low <= rate <= high
    return 100 * held / runs


@pytest.mark.proof
def test_intervals_of_rates_hold_the_truth(full: bool) -> None:
    runs, unit_counts = (1000, (5, 10, 50, 300)) if full else (60, (10,))
    for units in unit_counts:
        for kind in ("equal", "largest half"):
            for correlation in (0, 0.1, 0.3):
                held = [rates(units, kind, correlation, rate, runs) for rate in (0.05, 0.2)]
                print(f"{units:>5}  {kind:<12}  {correlation:<3}  {held[0]:.1f}  {held[1]:.1f}")
                assert min(held) >= (93 if full else 85), (units, kind, correlation)
