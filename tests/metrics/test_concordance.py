import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.metrics.concordance import kendall_tau, kendall_w, ranks

NAN = math.nan
PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9)


def ranked(*values: float) -> list[float]:
    return list(ranks(np.array(values, dtype=np.float64), np.ones(len(values), dtype=bool)))


def test_the_best_is_first_and_equal_ones_share_their_ranks() -> None:
    assert ranked(3, 9, 5) == [3, 1, 2]
    assert ranked(3, 9, 3, 1) == [2.5, 1, 2.5, 4]
    assert ranked(7, 7, 7) == [2, 2, 2]


def test_what_has_no_score_has_no_rank_and_takes_none() -> None:
    assert_allclose(ranked(3, NAN, 5), [2, NAN, 1])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=10))
def test_ranks_add_up(values: list[int]) -> None:
    assert sum(ranked(*values)) == pytest.approx(len(values) * (len(values) + 1) / 2)


def test_a_translator_stands_among_the_models_and_moves_none() -> None:
    models = np.array([True, False, True, False])
    goodness = np.array([[5.0, 9.0, 7.0, 9.0], [5.0, 6.0, 7.0, 5.0]])
    assert ranks(goodness, models).tolist() == [[2, 1, 1, 1], [2, 2, 1, 2.5]]


@given(PAIRS)
def test_tau_counts_pairs_in_the_same_order(pairs: list[tuple[int, int]]) -> None:
    both = list(itertools.combinations(pairs, 2))
    agree = sum(np.sign(a - c) * np.sign(b - d) for (a, b), (c, d) in both)
    untied = [sum(one[side] != other[side] for one, other in both) for side in (0, 1)]
    expected = agree / math.sqrt(untied[0] * untied[1]) if all(untied) else NAN
    first, second = np.array(pairs, dtype=np.float64).T
    assert_allclose(kendall_tau(first, second), expected)


@pytest.mark.parametrize(
    ("second", "tau"), [([1, 2, 3, 4], 1), ([4, 3, 2, 1], -1), ([2, 1, 3, 4], 4 / 6), ([1, 1, 1, 1], NAN)]
)
def test_tau_of_orders_that_one_can_check(second: list[int], tau: float) -> None:
    assert_allclose(kendall_tau(np.array([1.0, 2, 3, 4]), np.array(second, dtype=np.float64)), tau)


def test_tau_leaves_out_systems_that_lack_a_score() -> None:
    first, second = np.array([1.0, 2, 3, NAN, 9]), np.array([1.0, 2, 3, 4, NAN])
    assert kendall_tau(first, second) == 1
    assert np.isnan(kendall_tau(first[3:], second[3:]))


@given(st.lists(st.permutations(range(1, 6)), min_size=2, max_size=6))
def test_w_follows_from_the_mean_correlation_of_ranks(orders: list[list[int]]) -> None:
    table = np.array(orders, dtype=np.float64)
    mean = (np.corrcoef(table).sum() - len(table)) / (len(table) * (len(table) - 1))
    assert_allclose(kendall_w(table), (mean * (len(table) - 1) + 1) / len(table), atol=1e-12)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=5))
def test_w_is_corrected_for_ties(values: list[list[int]]) -> None:
    table = ranks(np.array(values, dtype=np.float64), np.ones(4, dtype=bool))
    m, n = table.shape
    ties = sum(c**3 - c for row in table for c in np.unique(row, return_counts=True)[1])
    squares = ((table.sum(axis=0) - m * (n + 1) / 2) ** 2).sum()
    whole = m**2 * (n**3 - n) - m * ties
    assert_allclose(kendall_w(table), 12 * squares / whole if whole else NAN, atol=1e-12)


def test_thousands_of_resamples_are_one_call() -> None:
    random = np.random.default_rng(4)
    first, second = random.normal(size=(2, 50, 6))
    assert_allclose(kendall_tau(first, second), [kendall_tau(a, b) for a, b in zip(first, second, strict=True)])
    table = np.stack([first, second], axis=1)
    placed = ranks(table, np.ones(6, dtype=bool))
    assert placed.shape == (50, 2, 6)
    assert_allclose(kendall_w(placed), [kendall_w(each) for each in placed])
