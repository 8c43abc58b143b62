import random

import choix
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.bradley_terry import (
    PENALTY,
    fit,
    fit_fixed,
    log_shares,
    obstacle,
    on_scale,
    solvable,
    without_units,
    without_units_fixed,
)
from tests.pairwise.simulated import expected, judged, sigma

TABLES = st.integers(2, 6).flatmap(
    lambda size: arrays(np.float64, (size, size), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0, 30.0, 1000.0]))
).map(lambda wins: wins * (1 - np.eye(len(wins))))  # fmt: skip
SOLVABLE = TABLES.filter(lambda wins: bool(solvable(wins)))


def loss(strengths: Floats, wins: Floats, penalty: float = PENALTY) -> tuple[float, Floats]:
    """The objective of choix's `opt_pairwise`, and its slope."""
    differences = strengths[:, None] - strengths[None, :]
    missed = wins * sigma(-differences)
    value = (wins * np.logaddexp(0, -differences)).sum() + penalty * (strengths**2).sum()
    return float(value), 2 * penalty * strengths - missed.sum(axis=1) + missed.sum(axis=0)


def by_scipy(wins: Floats) -> Floats:
    start = np.zeros(len(wins))
    strengths: Floats = minimize(loss, start, args=(wins,), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    return strengths


@given(SOLVABLE)
def test_no_other_strengths_are_likelier(wins: Floats) -> None:
    found = fit(wins)
    value, slope = loss(found, wins)
    assert_allclose(slope, 0, atol=1e-6)
    assert value <= loss(by_scipy(wins), wins)[0] + 1e-9
    assert found.mean() == pytest.approx(0, abs=1e-9)


def test_it_is_what_choix_finds() -> None:
    wins = judged(np.array([2.0, 1.0, 0.0, -1.0, -2.0]), 0.5, np.random.default_rng(1), orders="one").sum(axis=0)
    matches = [(i, j) for i, j in np.argwhere(wins) for _ in range(int(wins[i, j]))]
    assert_allclose(fit(wins), choix.opt_pairwise(5, matches, alpha=PENALTY), atol=1e-4)


@given(SOLVABLE, st.randoms(use_true_random=False))
def test_the_order_of_systems_does_not_matter(wins: Floats, chance: random.Random) -> None:
    order = list(range(len(wins)))
    chance.shuffle(order)
    assert_allclose(fit(wins[np.ix_(order, order)]), fit(wins)[order], atol=1e-6)


@given(SOLVABLE)
def test_who_lost_all_that_was_won_has_the_opposite_strength(wins: Floats) -> None:
    assert_allclose(fit(wins.T), -fit(wins), atol=1e-6)


@given(SOLVABLE, st.integers(0, 3))
def test_many_tables_at_once_are_each_fitted_alone(wins: Floats, other: int) -> None:
    hopeless = np.triu(np.ones_like(wins), 1)
    tables = np.stack([wins, 3 * wins, hopeless, wins.T])
    found = fit(np.stack([tables, tables[::-1]]))
    assert found.shape == (2, 4, len(wins))
    assert np.isnan(found[0, 2]).all()
    assert np.isnan(found[1, 1]).all()
    rows = [0, 1, 3]
    assert_allclose(found[0, rows], [fit(tables[row]) for row in rows], atol=1e-6)
    assert_allclose(found[1], found[0, ::-1])


@given(arrays(np.float64, 5, elements=st.floats(-4, 4)), st.floats(1, 500))
def test_expected_wins_give_the_strengths_back(strengths: Floats, matches: float) -> None:
    assert_allclose(fit(matches * expected(strengths)), strengths - strengths.mean(), atol=1e-2)


@given(arrays(np.float64, 6, elements=st.floats(-8, 8)), st.floats(-3, 3))
def test_shares_of_the_odds_know_differences_only(strengths: Floats, constant: float) -> None:
    values, derivatives = log_shares(strengths)
    odds = np.exp(strengths)
    assert_allclose(on_scale(values), 10 * odds / odds.sum(), atol=1e-9)
    assert_allclose(log_shares(strengths + constant)[0], values, atol=1e-9)
    assert_allclose(derivatives.sum(axis=1), 0, atol=1e-9)
    step = 1e-6 * np.arange(6)
    assert_allclose(log_shares(strengths + step)[0] - values, derivatives @ step, atol=1e-9)


@given(st.integers(0, 1000))
def test_strengths_without_a_unit_are_near_those_of_the_others(seed: int) -> None:
    chance = np.random.default_rng(seed)
    wins = chance.integers(1, 9, size=(20, 4, 4)) * (1 - np.eye(4))
    total = wins.sum(axis=0)
    strengths = fit(total)
    without, covariance = without_units(wins, strengths)
    assert_allclose(without, fit(total - wins), atol=5e-3)
    assert np.ptp(without - strengths) > 0.02
    assert_allclose(without_units(2 * wins, strengths)[1], covariance / 2, atol=1e-6)
    assert_allclose(covariance.sum(axis=0), 0, atol=1e-9)
    anchors, own, lost = np.array([-1.0, 0.0, 0.5, 2.0]), wins[:, 0], wins[:, :, 0]
    strength = float(fit_fixed(anchors, own.sum(axis=0), lost.sum(axis=0)))
    alone, weights, variance = without_units_fixed(anchors, own, lost, strength)
    assert_allclose(alone, fit_fixed(anchors, total[0] - own, total[:, 0] - lost), atol=5e-3)
    step = 1e-3 * np.arange(4)
    assert fit_fixed(anchors + step, total[0], total[:, 0]) - strength == pytest.approx(step @ weights, abs=1e-5)
    chances = sigma(strength - anchors)
    assert 1 / variance == pytest.approx(((total[0] + total[:, 0]) * chances * (1 - chances)).sum())


@given(arrays(np.float64, 6, elements=st.floats(-18, 18)))
def test_systems_without_information_have_a_large_variance(strengths: Floats) -> None:
    """A system that is far from all others is known by a single odd match."""
    covariance = without_units(expected(strengths)[None], strengths)[1]
    assert (np.diag(covariance) > 0.3).all()
    assert (np.linalg.eigvalsh(covariance) > -1e-9 * np.trace(covariance)).all()


@given(arrays(np.float64, 4, elements=st.floats(-6, 6)), st.floats(-6, 6))
def test_held_anchors_give_a_known_strength_back(anchors: Floats, strength: float) -> None:
    chances = sigma(strength - anchors)
    assert fit_fixed(anchors, 70 * chances, 70 * (1 - chances)) == pytest.approx(strength, abs=1e-6)
    shifted = fit_fixed(np.stack([anchors, anchors + 1]), 70 * chances, 70 * (1 - chances))
    assert_allclose(shifted, [strength, strength + 1], atol=1e-6)


def test_held_anchors_far_apart() -> None:
    """Between them the likelihood is all but flat."""
    anchors = np.array([-60.0, 60.0])
    assert fit_fixed(anchors, np.array([10.0, 0.0]), np.array([0.0, 10.0])) == pytest.approx(0, abs=1)
    assert fit_fixed(anchors, np.array([10.0, 5.0]), np.array([0.0, 5.0])) == pytest.approx(60)


def test_without_a_win_or_a_loss_there_is_no_strength() -> None:
    anchors, some, none = np.zeros(3), np.ones(3), np.zeros(3)
    assert np.isnan(fit_fixed(anchors, some, none))
    assert np.isnan(fit_fixed(anchors, none, some))
    assert np.isnan(fit_fixed(anchors, none, none))
    assert np.isnan(fit_fixed(np.full(3, np.nan), some, some))
    found = fit_fixed(np.stack([anchors, anchors]), np.stack([some, none]), some)
    assert found[0] == pytest.approx(0)
    assert np.isnan(found[1])


@given(TABLES)
def test_strengths_exist_where_wins_connect_all_both_ways(wins: Floats) -> None:
    parts, _ = connected_components(wins > 0, connection="strong")
    assert solvable(wins) == (parts == 1)
    assert np.isnan(fit(wins)).all() == (parts > 1)
    assert (obstacle(wins, [f"s{number}" for number in range(len(wins))]) is None) == (parts == 1)


@pytest.mark.parametrize(
    ("wins", "why"),
    [
        ([[0, 1, 2], [0, 0, 1], [0, 1, 0]], "ann has lost no match"),
        ([[0, 1, 0.5], [0, 0, 0], [0.5, 1, 0]], "ben has won no match"),
        ([[0, 1, 1], [0, 0, 1], [0, 0, 0]], "ann has lost no match; cyd has won no match"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "cyd has no match that counts"),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], "ann, ben and cyd have no match that counts"),
        ([[3, 0, 0], [0, 0, 0], [0, 0, 0]], "ann, ben and cyd have no match that counts"),  # against itself
    ],
)
def test_it_is_said_who_has_no_strength(wins: list[list[float]], why: str) -> None:
    assert obstacle(np.array(wins, dtype=np.float64), ["ann", "ben", "cyd"]) == f"no finite strengths exist: {why}"


def test_it_is_said_that_groups_never_met_or_never_lost() -> None:
    both = np.array([[0.0, 1.0], [1.0, 0.0]])
    apart = np.kron(np.eye(2), both)
    names = ["ann", "ben", "cyd", "dan"]
    assert obstacle(apart, names) == "no finite strengths exist: ann and ben never met cyd and dan"
    above = apart.copy()
    above[1, 2] = 1
    assert obstacle(above, names) == "no finite strengths exist: ann and ben never lost to cyd and dan"
