"""Strengths from the published totals of JP-TL-Bench's base set v1.0."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.bradley_terry import PENALTY, fit, log_shares, on_scale
from tests.pairwise.simulated import sigma

pytestmark = pytest.mark.realdata

MATCHES = 67
"""Of each two anchors: 1,273 each, against 19 others."""


def some_table(totals: Floats, seed: int, matches: int = MATCHES, least: float = 0.5) -> Floats:
    """Some wins of a round robin with these totals, shape (n, n), of each system against each other: at least `least`
    of so many matches. If `least` is whole, all of them are, because the simplex method ends in a corner."""
    size = len(totals)
    upper = np.argwhere(np.triu(np.ones((size, size)), 1))
    sums = np.zeros((size, len(upper)))
    fixed = np.zeros(size)
    for column, (one, other) in enumerate(upper):
        sums[one, column], sums[other, column] = 1, -1  # what one wins more, the other wins less
        fixed[other] += matches
    cost = np.random.default_rng(seed).normal(size=len(upper))
    won = linprog(cost, A_eq=sums, b_eq=totals - fixed, bounds=(least, matches - least), method="highs-ds").x
    wins = np.zeros((size, size))
    wins[upper[:, 0], upper[:, 1]] = won
    wins[upper[:, 1], upper[:, 0]] = matches - won
    return wins


def as_choix_stops(wins: Floats) -> Floats:
    """The objective of choix's `opt_pairwise` (alpha 1e-6) under its optimizer, with its tolerance."""
    matches, size = wins + wins.T, len(wins)

    def loss(strengths: Floats) -> float:
        differences = strengths[:, None] - strengths[None, :]
        return float((wins * np.logaddexp(0, -differences)).sum() + PENALTY * (strengths**2).sum())

    def slope(strengths: Floats) -> Floats:
        expected = matches * sigma(strengths[:, None] - strengths[None, :])
        found: Floats = expected.sum(axis=1) - wins.sum(axis=1) + 2 * PENALTY * strengths
        return found

    def curvature(strengths: Floats) -> Floats:
        chances = sigma(strengths[:, None] - strengths[None, :])
        found = -matches * chances * (1 - chances)
        return found - np.diag(found.sum(axis=1) - 2 * PENALTY)

    start = np.zeros(size)
    found: Floats = minimize(loss, start, method="Newton-CG", jac=slope, hess=curvature, options={"xtol": 1e-5}).x
    return found


def test_lt_and_en_of_the_twenty_anchors(realdata: Path) -> None:
    """The file has totals only. They are enough: where all pairs have met equally often, the likelihood depends on the
    wins by their totals alone (Σ_ij w_ij (θ_i - θ_j) = Σ_i (w_i - l_i) θ_i), so any table with these totals will do.

    The published figures are where choix's optimizer stops, 4e-6 from the maximum of its own objective: stopped there,
    all digits come out. The maximum itself is within 1e-6 of every LT, and within 4.2e-6 of every EN: the largest
    EN is 5.134760 there and 5.134764 here.
    """
    file = realdata / "jp-tl-bench/baseset/v1.0/scores_overall.json"
    rows = json.loads(file.read_text(encoding="utf-8"))
    totals, matches, score, published_lt, published_en = (
        np.array([row[name] for row in rows], dtype=np.float64) for name in ("wins", "matches", "score", "LT", "EN")
    )
    assert set(matches) == {19 * MATCHES}
    tables = np.stack([some_table(totals, seed) for seed in (1, 2)])
    assert np.abs(tables[0] - tables[1]).max() > 30
    assert_allclose(tables.sum(axis=2), [totals, totals])
    for wins, strengths in zip(tables, fit(tables), strict=True):
        assert_allclose(on_scale(strengths), published_lt, rtol=0, atol=1e-6)
        assert_allclose(on_scale(log_shares(strengths)[0]), published_en, rtol=0, atol=5e-6)
        stopped = as_choix_stops(wins)
        assert_allclose(stopped, score, rtol=0, atol=1e-10)
        assert_allclose(on_scale(stopped - stopped.mean()), published_lt, rtol=0, atol=1e-10)
        assert_allclose(on_scale(log_shares(stopped)[0]), published_en, rtol=0, atol=1e-10)
