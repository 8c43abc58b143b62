import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import kendalltau, pearsonr  # type: ignore[import-untyped]

from benchmark_assets.metrics import meta_evaluation as agree
from benchmark_assets.metrics.intervals import Floats

NAN = math.nan


@st.composite
def panels(draw: st.DrawFn, missing: bool = True) -> tuple[Floats, Floats]:
    """Scores by people and a metric of 2 to 4 systems on 1 to 4 items, on coarse scales; NaN where missing."""
    shape = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    score = st.integers(-4, 4).map(lambda number: number / 2)
    rows = st.lists(score | st.just(NAN) if missing else score, min_size=math.prod(shape), max_size=math.prod(shape))
    gold, metric = (np.array(draw(rows), dtype=np.float64).reshape(shape) for _ in range(2))
    return gold, metric


def once(items: int) -> Floats:
    return np.ones((1, items))


def accuracy(pairs: list[tuple[tuple[float, float], tuple[float, float]]], epsilon: float) -> float:
    """Share of pairs of outputs (people's score, metric's score) that are ordered or tied alike."""
    right = 0
    for (gold, metric), (other_gold, other_metric) in pairs:
        sign = 0 if abs(metric - other_metric) <= epsilon else np.sign(metric - other_metric)
        right += sign == np.sign(gold - other_gold)
    return right / len(pairs) if pairs else NAN


def pairs_by_item(gold: Floats, metric: Floats) -> list[list[tuple[tuple[float, float], tuple[float, float]]]]:
    items = [
        [output for output in zip(*column, strict=True) if not np.isnan(output).any()]
        for column in zip(gold.T.tolist(), metric.T.tolist(), strict=True)
    ]
    return [list(itertools.combinations(outputs, 2)) for outputs in items]


def all_pairs(gold: Floats, metric: Floats) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    outputs = zip(gold.ravel().tolist(), metric.ravel().tolist(), strict=True)
    return list(itertools.combinations([output for output in outputs if not np.isnan(output).any()], 2))


@given(panels())
def test_epsilon_by_item_is_the_smallest_of_the_best(panel: tuple[Floats, Floats]) -> None:
    items = pairs_by_item(*panel)
    differences = {abs(one[1] - other[1]) for pairs in items for one, other in pairs}
    means = {
        epsilon: np.mean([accuracy(pairs, epsilon) for pairs in items if pairs])
        for epsilon in sorted({0.0, *differences})
        if any(items)
    }
    epsilon = agree.epsilon_by_item(*panel)
    found = agree.accuracy_by_item(*panel, epsilon, once(panel[0].shape[1]))[0]
    if means:
        best = max(means.values())
        assert found == pytest.approx(best)
        assert epsilon == next(candidate for candidate, mean in means.items() if mean > best - 1e-9)
    else:
        assert (epsilon, math.isnan(found)) == (0, True)


@given(panels())
@example((np.array([[0.0, 1, 0]]), np.array([[0.0, 0, 1]])))  # the metric ties outputs that people do not
def test_pooled_epsilon_is_the_smallest_of_the_best(panel: tuple[Floats, Floats]) -> None:
    pairs = all_pairs(*panel)
    assume(pairs)
    candidates = sorted({0.0, *(abs(one[1] - other[1]) for one, other in pairs)})
    shares = {epsilon: accuracy(pairs, epsilon) for epsilon in candidates}
    epsilon = agree.epsilon_pooled(*panel)
    assert epsilon == max(shares, key=lambda candidate: (shares[candidate], -candidate))
    found = agree.accuracy_pooled(agree.pooled_pairs(*panel, epsilon), once(panel[0].shape[1]))[0]
    assert found == pytest.approx(shares[epsilon])


def test_pooled_epsilon_of_many_outputs_is_that_of_all_pairs_sorted() -> None:
    random = np.random.default_rng(1)
    for noise in (0.3, 1, 3):
        metric = random.normal(size=(4, 100))
        gold = np.digitize(metric + noise * random.normal(size=metric.shape), [-1.5, -0.5]).astype(np.float64)
        one, other = np.triu_indices(metric.size, k=1)
        difference, order = metric.ravel()[one] - metric.ravel()[other], gold.ravel()[one] - gold.ravel()[other]
        gains = np.where(order == 0, 1, np.where(order * difference > 0, -1, 0))
        ranked = np.argsort(np.abs(difference))
        sums = np.cumsum(gains[ranked])
        expected = np.abs(difference)[ranked][sums.argmax()] if sums.max() > 0 else 0
        assert agree.epsilon_pooled(gold, metric) == expected


@given(panels(), st.integers(1, 5), st.integers(-3, 3))
def test_scale_and_place_of_either_side_do_not_matter(panel: tuple[Floats, Floats], factor: int, shift: int) -> None:
    gold, metric = panel
    weights = once(gold.shape[1])
    moved = factor * gold + shift, factor * metric - shift
    for statistic in (
        agree.pearson_pooled, agree.pearson_by_item, agree.pearson_by_system, agree.kendall_by_item,
        agree.soft_pairwise_accuracy,
    ):  # fmt: skip
        assert_allclose(statistic(*moved, weights), statistic(gold, metric, weights), atol=1e-9)
    assert agree.epsilon_by_item(*moved) == factor * agree.epsilon_by_item(gold, metric)
    assert agree.epsilon_pooled(*moved) == factor * agree.epsilon_pooled(gold, metric)


@given(panels())
def test_only_the_order_matters_to_kendall(panel: tuple[Floats, Floats]) -> None:
    gold, metric = panel
    weights = once(gold.shape[1])
    expected = agree.kendall_by_item(gold, metric, weights)
    pooled = agree.kendall_pooled(agree.pooled_pairs(gold, metric, 0), weights)
    for one, other in ((gold, np.exp(metric)), (metric, gold)):
        assert_allclose(agree.kendall_by_item(one, other, weights), expected, atol=1e-12)
        assert_allclose(agree.kendall_pooled(agree.pooled_pairs(one, other, 0), weights), pooled, atol=1e-12)


@given(panels())
def test_pooled_statistics_are_those_of_scipy(panel: tuple[Floats, Floats]) -> None:
    gold, metric = panel
    x, y = (scores[np.isfinite(gold) & np.isfinite(metric)] for scores in panel)
    assume(len(x) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0)
    weights = once(gold.shape[1])
    assert_allclose(agree.pearson_pooled(gold, metric, weights), pearsonr(x, y).statistic, atol=1e-9)
    assert_allclose(agree.pearson(x, y), pearsonr(x, y).statistic, atol=1e-9)
    assert_allclose(
        agree.kendall_pooled(agree.pooled_pairs(gold, metric, 0), weights), kendalltau(x, y).statistic, atol=1e-9
    )


@given(panels(), st.data())
def test_a_resample_is_a_sample_with_repeated_items(panel: tuple[Floats, Floats], data: st.DataObject) -> None:
    gold, metric = panel
    items = gold.shape[1]
    drawn = data.draw(st.lists(st.integers(0, items - 1), min_size=1, max_size=items))
    weights = np.bincount(drawn, minlength=items)[None].astype(np.float64)
    repeated = gold[:, drawn], metric[:, drawn]
    for statistic in (
        agree.pearson_pooled, agree.pearson_by_item, agree.pearson_by_system, agree.kendall_by_item,
        lambda *scores: agree.pairwise_accuracy(*agree.system_means(*scores)),
    ):  # fmt: skip
        assert_allclose(statistic(gold, metric, weights), statistic(*repeated, once(len(drawn))), atol=1e-9)
    # Copies of an output tie, so they change accuracies but not the order of pairs.
    assert_allclose(
        agree.kendall_pooled(agree.pooled_pairs(gold, metric, 0), weights),
        agree.kendall_pooled(agree.pooled_pairs(*repeated, 0), once(len(drawn))),
        atol=1e-9,
    )


@given(panels())
def test_a_metric_that_gives_the_scores_of_people_agrees_fully(panel: tuple[Floats, Floats]) -> None:
    gold, _ = panel
    weights = once(gold.shape[1])
    pairs = agree.pooled_pairs(gold, gold, 0)
    for found in (
        agree.pearson_pooled(gold, gold, weights), agree.kendall_by_item(gold, gold, weights),
        agree.accuracy_by_item(gold, gold, 0, weights), agree.kendall_pooled(pairs, weights),
        agree.accuracy_pooled(pairs, weights), agree.soft_pairwise_accuracy(gold, gold, weights),
        agree.pairwise_accuracy(*agree.system_means(gold, gold, weights)),
    ):  # fmt: skip
        assert math.isnan(found[0]) or found[0] == pytest.approx(1)


@given(panels(missing=False))
def test_soft_pairwise_accuracy_of_few_items_is_that_of_all_exchanges(panel: tuple[Floats, Floats]) -> None:
    def p(scores: Floats, one: int, other: int) -> float:
        gaps = (scores[one] - scores[other]).tolist()
        sums = [np.dot(gaps, signs) for signs in itertools.product((1, -1), repeat=len(gaps))]
        return float(np.mean([total >= sum(gaps) for total in sums]))

    pairs = list(itertools.combinations(range(len(panel[0])), 2))
    expected = 1 - np.mean([abs(p(panel[0], *pair) - p(panel[1], *pair)) for pair in pairs])
    assert agree.soft_pairwise_accuracy(*panel, once(panel[0].shape[1]))[0] == pytest.approx(expected)


def test_soft_pairwise_accuracy_asks_how_sure_and_not_only_who_is_ahead() -> None:
    random = np.random.default_rng(2)
    gold = random.normal(size=(2, 200)) + np.array([[0.5], [0]])
    unsure = random.normal(size=(2, 200)) + np.array([[0.02], [0]])
    unsure[0] += max(0, 0.01 + (unsure[1] - unsure[0]).mean())
    weights = np.ones((2, 200))
    people, metric = agree.system_means(gold, unsure, weights)
    assert agree.pairwise_accuracy(people, metric).tolist() == [1, 1]
    soft, approximate = agree.soft_pairwise_accuracy(gold, unsure, weights)
    assert 0.5 < soft < 0.65
    assert approximate == pytest.approx(soft, abs=0.01)


def test_means_of_systems_are_of_items_with_both_scores() -> None:
    means = agree.system_means(np.array([[1, NAN, 3]]), np.array([[5, 7, NAN]]), once(3))
    assert [side.tolist() for side in means] == [[[1]], [[5]]]


def test_without_common_outputs_nothing_is_known() -> None:
    gold, metric = np.array([[1.0, NAN], [2.0, NAN]]), np.array([[NAN, 1.0], [NAN, 2.0]])
    weights = once(2)
    assert agree.epsilon_pooled(gold, metric) == agree.epsilon_by_item(gold, metric) == 0
    pairs = agree.pooled_pairs(gold, metric, 0)
    for found in (
        agree.pearson_pooled(gold, metric, weights), agree.pearson_by_system(gold, metric, weights),
        agree.accuracy_by_item(gold, metric, 0, weights), agree.kendall_pooled(pairs, weights),
        agree.accuracy_pooled(pairs, weights), agree.soft_pairwise_accuracy(gold, metric, weights),
    ):  # fmt: skip
        assert np.isnan(found).all()
