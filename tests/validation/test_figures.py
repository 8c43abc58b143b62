"""Figures of metrics beside people's ratings: against definitions, sklearn's AUC and sizes worked out by hand."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.validation import figures

ONCE = np.ones((1, 3))
"""Weights of a sample of three units, without resamples."""


@st.composite
def outputs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Suspicion, major error, unit and passage of outputs, two or more; both labels occur."""
    size = draw(st.integers(2, 30))
    values = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    major = draw(st.lists(st.booleans(), min_size=size, max_size=size).filter(lambda found: 0 < sum(found) < size))
    passages = np.array(draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)), np.int64)
    return np.array(values, np.float64), np.array(major), passages % 3, passages


@given(outputs())
def test_the_pooled_auc_is_that_of_the_roc_curve(sample: tuple[np.ndarray, ...]) -> None:
    suspicion, major, units, _ = sample
    counts = figures.concordance(suspicion, major, np.zeros(len(major), np.int64), units, 3)
    assert figures.auc("auc_pooled", counts, ONCE).values[0] == pytest.approx(roc_auc_score(major, suspicion))


@given(outputs())
def test_a_resample_has_the_figures_of_its_copies(sample: tuple[np.ndarray, ...]) -> None:
    suspicion, major, units, _ = sample
    weights = np.array([[1.0, 1, 1], [2, 1, 0]])
    counts = figures.concordance(suspicion, major, np.zeros(len(major), np.int64), units, 3)
    copies = np.repeat(np.arange(len(major)), weights[1].astype(int)[units])
    resampled = figures.auc("auc_pooled", counts, weights).values[1]
    if len(set(major[copies])) == 2:
        assert resampled == pytest.approx(roc_auc_score(major[copies], suspicion[copies]))
    else:
        assert np.isnan(resampled)


@given(outputs())
def test_pairs_of_a_passage_follow_the_definition(sample: tuple[np.ndarray, ...]) -> None:
    suspicion, major, units, passages = sample
    found = figures.pairs(passages, units, -5.0 * major, major)
    within = next(figures.of_pairs(suspicion, major, found, ONCE))
    wins = [
        (np.sign(suspicion[i] - suspicion[j]) * (1 if major[i] else -1) + 1) / 2
        for i, j in combinations(range(len(major)), 2) if passages[i] == passages[j] and major[i] != major[j]
    ]  # fmt: skip
    assert within.n == len(wins)
    if wins:
        assert within.values[0] == pytest.approx(np.mean(wins))


def test_clear_pairs_are_apart() -> None:
    suspicion, scores = np.array([3.0, 2, 1]), np.array([-12.0, -5, 0])
    found = figures.pairs(np.zeros(3, np.int64), np.zeros(3, np.int64), scores, scores <= -5)
    numbers = {figure.name: (float(figure.values[0]), figure.n) for figure in
               figures.of_pairs(suspicion, scores <= -5, found, np.ones((1, 1)))}  # fmt: skip
    assert numbers == {"auc_within": (1, 2), "auc_gap10": (1, 1), "pair_accuracy": (1, 3)}


def test_ties_at_the_limit_count_as_expected_on_average() -> None:
    major, units = np.array([True, False, True, False]), np.zeros(4, np.int64)
    half, whole = figures.captured(np.array([9.0, 5, 5, 1]), major, units, np.ones((1, 1)), [0.5, 1])
    assert [float(value[0]) for value in half] == pytest.approx([(1 + 0.5) / 2, (1 + 0.5) / 2])
    assert [float(value[0]) for value in whole] == pytest.approx([1, 0.5])


def test_systems_are_ordered_by_the_metric_of_a_corpus() -> None:
    statistics = np.array([[[2.0, 8], [2, 4], [2, 6]]])
    goodness, people = figures.of_systems(
        BY_NAME["drift"], statistics, np.array([[[2.0, -2], [2, -1], [2, -9]]]), np.ones((1, 1))
    )
    assert goodness.tolist() == [[-4, -2, -3]]
    found = {(figure.name, kind): float(figure.values[0]) for figure, kind in
             figures.order_of_systems(goodness, people, np.array([True, True, False]))}  # fmt: skip
    assert found == {("system_kendall", ""): 1, ("system_accuracy", ""): 1, ("system_accuracy", "people"): 0.5}


def test_tied_systems_count_half() -> None:
    people, tied = np.array([[3.0, 2, 1, 0]]), np.array([[5.0, 5, 5, 4]])
    found = [(figure.name, kind, float(figure.values[0])) for figure, kind in
             figures.order_of_systems(tied, people, np.array([True, True, True, False]))]  # fmt: skip
    assert found[1:] == [("system_accuracy", "", 0.5), ("system_accuracy", "people", 1)]


@pytest.mark.parametrize(
    ("predicted", "gold", "shares"),
    [
        ([(0, 10)], [(0, 10)], (1, 1, 1, 1)),
        ([(0, 10)], [(5, 10)], (0.5, 1, 1, 1)),
        ([(0, 3), (3, 6)], [(0, 6)], (1, 0.5, 2, 1)),
        ([], [(0, 6)], (0, 0, 0, 1)),
        ([(0, 6)], [(8, 9)], (0, 0, 1, 1)),
    ],
)
def test_a_span_matches_one_span_in_part(
    predicted: list[tuple[int, int]], gold: list[tuple[int, int]], shares: tuple[float, float, int, int]
) -> None:
    assert figures.matched_spans(predicted, gold) == shares
