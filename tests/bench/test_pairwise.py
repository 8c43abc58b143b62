"""How long the strengths of 20 anchors and a candidate take, and their intervals.

Figures are printed beside their targets; only that all ways find the same is asserted, and the ratio to the same
objective under scipy, which knows the sums of wins as we do.
"""

import time

import choix
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import Floats, sample_and_resamples
from benchmark_assets.pairwise.bradley_terry import PENALTY, fit
from tests.pairwise.simulated import ANCHORS, judged

pytestmark = pytest.mark.bench

ITEMS, LOOPED = 67, 20


@pytest.fixture(scope="module")
def won() -> Floats:
    """On each item one match of each two of 20 anchors, 12,730 in all, and of the candidate with each."""
    return judged(np.append(ANCHORS, 0.7), 0.5, np.random.default_rng(1), items=ITEMS, orders="one")


def by_scipy(wins: Floats) -> Floats:
    def loss(strengths: Floats) -> tuple[float, Floats]:
        differences = strengths[:, None] - strengths[None, :]
        missed = wins / (1 + np.exp(differences))
        value = (wins * np.logaddexp(0, -differences)).sum() + PENALTY * (strengths**2).sum()
        return float(value), 2 * PENALTY * strengths - missed.sum(axis=1) + missed.sum(axis=0)

    found: Floats = minimize(loss, np.zeros(len(wins)), jac=True, method="BFGS", options={"gtol": 1e-6}).x
    return found


def test_one_fit(won: Floats) -> None:
    wins = won.sum(axis=0)
    fit(wins)
    begun = time.perf_counter()
    found = fit(wins)
    took, begun = time.perf_counter() - begun, time.perf_counter()
    theirs = by_scipy(wins)
    scipy = time.perf_counter() - begun
    print(
        f"\n{wins.sum():,.0f} matches of 21 systems: {took * 1e3:.1f} ms (target 50); "
        f"scipy on the same sums: {scipy * 1e3:.0f} ms"
    )
    assert_allclose(found, theirs, atol=1e-4)
    matches = [(i, j) for i, j in np.argwhere(wins) for _ in range(int(wins[i, j]))]
    begun = time.perf_counter()
    theirs = choix.opt_pairwise(21, matches, alpha=PENALTY)
    print(f"  choix, match by match: {time.perf_counter() - begun:.2f} s")
    assert_allclose(found, theirs, atol=1e-3)


def test_a_thousand_resamples_of_items(won: Floats) -> None:
    tables = np.tensordot(sample_and_resamples(ITEMS), won, axes=1)
    begun = time.perf_counter()
    found = fit(tables)
    took, begun = time.perf_counter() - begun, time.perf_counter()
    theirs = [by_scipy(table) for table in tables[:LOOPED]]
    scipy = (time.perf_counter() - begun) / LOOPED * len(tables)
    print(f"\n1,000 resamples of {ITEMS} items: {took:.2f} s (target 2); scipy on the same sums: {scipy:.1f} s")
    assert_allclose(found[:LOOPED], theirs, atol=1e-3)
    assert took < scipy / 2
