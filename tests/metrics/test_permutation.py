import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, pearsonr, zscore  # type: ignore[import-untyped]

from benchmark_assets.metrics import meta_evaluation as agree
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.permutation import at_least_observed, compare_accuracy, compare_pearson

SCORES = st.lists(st.integers(-3, 3), min_size=18, max_size=18).map(
    lambda values: np.array(values, dtype=np.float64).reshape(3, 3, 2)
)
"""Scores by people and by two metrics, of three systems on two items."""


def exchanged(first: Floats, second: Floats) -> list[tuple[Floats, Floats]]:
    """Both metrics, standardized, after every exchange of scores between them; first without any."""
    one, other = (zscore(scores, axis=None) if np.ptp(scores) else np.zeros(scores.shape) for scores in (first, second))
    kept = [np.array(signs).reshape(one.shape) for signs in itertools.product((True, False), repeat=one.size)]
    return [(np.where(keep, one, other), np.where(keep, other, one)) for keep in kept]


@given(SCORES)
def test_of_few_outputs_every_exchange_is_tried(scores: Floats) -> None:
    gold, first, second = scores
    weights = np.ones((1, 2))
    differences = [
        float(np.subtract(*(agree.accuracy_by_item(gold, metric, 0, weights)[0] for metric in metrics)))
        for metrics in exchanged(first, second)
    ]
    (test,) = compare_accuracy(gold, np.stack([first, second]))
    assert test.difference == pytest.approx(differences[0])
    assert test.p_first == pytest.approx(np.mean([each >= differences[0] - 1e-9 for each in differences]))
    assert test.p_second == pytest.approx(np.mean([each <= differences[0] + 1e-9 for each in differences]))


@given(SCORES)
def test_the_same_for_correlation(scores: Floats) -> None:
    gold, first, second = scores
    (test,) = compare_pearson(gold, np.stack([first, second]))
    if min(np.ptp(side) for side in scores) == 0:
        assert math.isnan(test.difference)
        return
    differences = []
    for metrics in exchanged(first, second):
        if min(np.ptp(metric) for metric in metrics) > 1e-9:
            one, other = (pearsonr(gold.ravel(), metric.ravel()).statistic for metric in metrics)
            differences.append(one - other)
        else:
            differences.append(math.nan)
    assert test.difference == pytest.approx(differences[0])
    assert test.p_first == pytest.approx(np.mean([each >= differences[0] - 1e-9 for each in differences]))


def test_each_direction_and_each_pair_has_its_own_p() -> None:
    random = np.random.default_rng(5)
    gold = random.normal(size=(4, 60))
    metrics = np.stack([gold + noise * random.normal(size=gold.shape) for noise in (0.3, 1, 3)])
    for compare in (compare_accuracy, compare_pearson):
        tests = compare(gold, metrics)
        assert [test.difference > 0 for test in tests] == [True] * 3  # from the best metric to the worst
        for test in tests:
            assert test.p_first < 0.01 < 0.99 < test.p_second
        backward = compare(gold, metrics[::-1])[2]
        assert backward.difference == pytest.approx(-tests[0].difference)
        assert backward.p_second == pytest.approx(tests[0].p_first, abs=0.01)
    assert at_least_observed(np.ones((1, 60))) == pytest.approx(1 / 10_001)  # no trial keeps all signs


def test_outputs_without_all_three_scores_are_left_out() -> None:
    random = np.random.default_rng(6)
    gold, first, second = random.normal(size=(3, 4, 8))
    gold[0, 0] = first[1, 1] = second[:, 2] = gold[:2, 3] = np.nan
    (test,), (accuracy,) = (compare(gold, np.stack([first, second])) for compare in (compare_pearson, compare_accuracy))
    present = np.isfinite(gold + first + second)
    r = [pearsonr(gold[present], metric[present]).statistic for metric in (first, second)]
    assert test.difference == pytest.approx(r[0] - r[1])
    common = np.where(present, gold, np.nan)
    shares = [agree.accuracy_by_item(common, metric, 0, np.ones((1, 8)))[0] for metric in (first, second)]
    assert accuracy.difference == pytest.approx(shares[0] - shares[1])
    for compare in (compare_accuracy, compare_pearson):
        (nothing,) = compare(np.full((4, 8), np.nan), np.stack([first, second]))
        assert all(math.isnan(number) for number in nothing)


def test_a_sum_that_differs_by_rounding_alone_is_as_great_as_observed() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point: exchanging all three is a hit, whatever the unit of the scores."""
    differences = np.array([[0.1, 0.2, -0.3]])
    sums = [sum(signs) for signs in itertools.product((1, -1), (2, -2), (-3, 3))]
    exact = sum(each >= 0 for each in sums) / len(sums)
    for unit in (1.0, 2.0**-40, 2.0**40):
        assert at_least_observed(unit * differences).tolist() == [exact]


@pytest.mark.proof
def test_p_of_equally_good_metrics_is_uniform(full: bool) -> None:
    random = np.random.default_rng(7)
    found: dict[str, list[float]] = {"accuracy": [], "pearson": [], "systems": []}
    for _ in range(1000 if full else 100):
        gold = random.normal(size=(4, 15))
        metrics = gold + random.normal(size=(2, *gold.shape))
        found["accuracy"].append(compare_accuracy(gold, metrics)[0].p_first)
        found["pearson"].append(compare_pearson(gold, metrics)[0].p_first)
        found["systems"].append(float(at_least_observed(metrics[:1, 0] - metrics[:1, 1] - gold[:1] + gold[1:2])[0]))
    for name, p in found.items():
        fit = kstest(p, "uniform").pvalue
        print(f"{name}: Kolmogorov-Smirnov p {fit:.2f}, share below 0.05 {np.mean(np.array(p) < 0.05):.3f}")
        assert fit > 0.001, name
