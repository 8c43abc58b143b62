"""Agreement with people as mt-metrics-eval computes it, on eight systems and sixty items."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark_assets.metrics import meta_evaluation as agree
from benchmark_assets.metrics.intervals import Floats, sample_and_resamples
from benchmark_assets.metrics.permutation import compare_accuracy

pytestmark = pytest.mark.realdata

METRICS = ("close", "coarse", "weak")


@pytest.fixture(scope="module")
def answers(realdata: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((realdata / "expected/meta_evaluation.json").read_text(encoding="utf-8"))
    return content


def scores(rows: list[list[float | None]]) -> Floats:
    return np.array(rows, dtype=np.float64)  # null becomes NaN


@pytest.mark.parametrize("metric", METRICS)
def test_all_statistics_are_those_of_mt_metrics_eval(answers: dict[str, Any], metric: str) -> None:
    gold, values = scores(answers["gold"]), scores(answers["metrics"][metric])
    weights = sample_and_resamples(gold.shape[1])
    by_item, pooled = agree.epsilon_by_item(gold, values), agree.epsilon_pooled(gold, values)
    pairs, means = agree.pooled_pairs(gold, values, pooled), agree.system_means(gold, values, weights)
    found = {
        "pearson_none": agree.pearson_pooled(gold, values, weights)[0],
        "pearson_item": agree.pearson_by_item(gold, values, weights)[0],
        "pearson_sys": agree.pearson_by_system(gold, values, weights)[0],
        "kendall_b_item": agree.kendall_by_item(gold, values, weights)[0],
        "kendall_b_none": agree.kendall_pooled(pairs, weights)[0],
        "acc23_item_epsilon0": agree.accuracy_by_item(gold, values, 0, weights)[0],
        "acc_eq_item": agree.accuracy_by_item(gold, values, by_item, weights)[0],
        "acc_eq_item_epsilon": by_item,
        "acc_eq_none": agree.accuracy_pooled(pairs, weights)[0],
        "acc_eq_none_epsilon": pooled,
        "system_pearson": agree.pearson(*means)[0],
        "pairwise_accuracy": agree.pairwise_accuracy(*means)[0],
    }
    expected = dict(answers["expected"][metric])
    soft = expected.pop("soft_pairwise_accuracy")
    assert found == pytest.approx(expected, abs=1e-9)
    assert agree.soft_pairwise_accuracy(gold, values, weights)[0] == pytest.approx(soft, abs=0.005)


def test_permutations_of_two_metrics_are_those_of_mt_metrics_eval(answers: dict[str, Any]) -> None:
    gold = scores(answers["gold"])
    tests = compare_accuracy(gold, np.stack([scores(answers["metrics"][metric]) for metric in METRICS]))
    assert len(answers["perm_both"]) == len(tests)
    for (first, second), test in zip(combinations(METRICS, 2), tests, strict=True):
        expected = answers["perm_both"][f"{first} < {second}"]
        assert -test.difference == pytest.approx(expected["delta"], abs=1e-9)  # there, the second minus the first
        assert test.p_second == pytest.approx(expected["p"], abs=0.03)
        assert test.p_first < 0.001
