"""Agreement of each metric with people by several statistics, and tests of the difference between two metrics.

Here: tables from people's labels and the scores of outputs. Not here: the statistics (metrics.meta_evaluation,
metrics.permutation), correlation with the panel's verdicts (correlation).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.audit.rated import labeled_by_people
from benchmark_assets.metrics import meta_evaluation as agree
from benchmark_assets.metrics import permutation
from benchmark_assets.metrics.entries import MEASURES
from benchmark_assets.metrics.intervals import SIGNATURE as INTERVALS
from benchmark_assets.metrics.intervals import Floats, Units, bounded, effective_units, sample_and_resamples, unit_sizes
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.metrics.significance import holm
from benchmark_assets.people.mqm import LABEL_POINTS
from resources.catalogue import schema

METRIC_AGREEMENT, METRIC_COMPARISON = schema("metric_agreement"), schema("metric_comparison")

_LABELS = f"people's labels as scores: {', '.join(f'{label} {points}' for label, points in LABEL_POINTS.items())}"


def agreements(rows: pl.DataFrame, scores: pl.DataFrame, metrics: Sequence[Metric] = MEASURES) -> pl.DataFrame:
    """Rows of `metric_agreement`: agreement of metrics with people's labels.

    `rows` are rows of `rated`. `scores` has the columns `model` and `passage`, and the columns of `metrics`.
    Returns columns of `METRIC_AGREEMENT`; a metric that scores no labeled output has no rows.
    """
    result: list[tuple[object, ...]] = []
    for corpus, gold, oriented, units in _by_corpus(rows, scores, metrics):
        sizes_of_units = unit_sizes(units)
        weights, count = sample_and_resamples(len(sizes_of_units))[:, units], effective_units(sizes_of_units)
        for metric, values in oriented.items():
            outputs = np.isfinite(gold) & np.isfinite(values)
            if outputs.any():
                found = _statistics(gold, values, weights, count, _pairs(outputs))
                sizes = int(outputs.any(axis=1).sum()), int(outputs.any(axis=0).sum()), int(outputs.sum())
                signature = f"{_LABELS}; {agree.SIGNATURE}; {permutation.SIGNATURE}; {INTERVALS}"
                result += [(corpus, metric, *row[:3], *sizes, *row[3:], signature) for row in found]
    return pl.DataFrame(result, schema=METRIC_AGREEMENT, orient="row")


def comparisons(rows: pl.DataFrame, scores: pl.DataFrame, metrics: Sequence[Metric] = MEASURES) -> pl.DataFrame:
    """Rows of `metric_comparison`: tests of each pair of metrics; parameters as in `agreements`.

    Returns columns of `METRIC_COMPARISON`; pairs of metrics without a common labeled output have no rows.
    """
    result: list[tuple[object, ...]] = []
    for corpus, gold, oriented, _ in _by_corpus(rows, scores, metrics):
        common = [
            int((np.isfinite(gold) & np.isfinite(one) & np.isfinite(other)).sum())
            for one, other in combinations(oriented.values(), 2)
        ]
        for statistic, grouping, compare in (
            ("pearson", "pooled", permutation.compare_pearson),
            ("accuracy", "passage", permutation.compare_accuracy),
        ):
            tests = np.array(compare(gold, np.stack(list(oriented.values()))))
            two_sided = np.minimum(1, 2 * tests[:, 1:].min(axis=1))
            corrected = holm(two_sided)
            family = "p_family: two-sided, by Holm's method over the pairs of metrics of the corpus"
            signature = f"{_LABELS}; {permutation.SIGNATURE}; {family}"
            for pair, outputs, test, p in zip(combinations(oriented, 2), common, tests, corrected, strict=True):
                if outputs:
                    numbers = (None if np.isnan(number) else float(number) for number in (*test, p))
                    result.append((corpus, statistic, grouping, *pair, outputs, *numbers, signature))
    return pl.DataFrame(result, schema=METRIC_COMPARISON, orient="row")


def _by_corpus(
    rows: pl.DataFrame, scores: pl.DataFrame, metrics: Sequence[Metric]
) -> list[tuple[object, Floats, dict[str, Floats], Units]]:
    """For each corpus with labels: its name, people's scores, scores by metric, and the unit number of each passage.

    A metric's scores are negated if a lower score is better. Scores have the shape (models, passages), NaN if missing.
    Models and passages are in alphabetical order.
    """
    people = labeled_by_people(rows).with_columns(
        people=pl.col("label").replace_strict(LABEL_POINTS, return_dtype=pl.Float64)
    )
    goodness = {metric.name: metric.goodness for metric in metrics if "agreement" in metric.boards}
    turned = scores.select("model", "passage", **goodness)
    scored = people.select("corpus", "model", "passage", "unit", "people")
    labeled = scored.join(turned, on=["model", "passage"], how="left")
    result = []
    for (corpus,), outputs in labeled.sort("corpus").group_by(["corpus"], maintain_order=True):
        places = tuple(outputs[name].rank("dense").to_numpy() - 1 for name in ("model", "passage"))
        shape = tuple(int(place.max()) + 1 for place in places)
        arrays = {}
        for name in ("people", *goodness):
            arrays[name] = np.full(shape, np.nan)
            arrays[name][places] = outputs[name].cast(pl.Float64).to_numpy()
        units = outputs.select("passage", "unit").unique("passage").sort("passage")["unit"]
        result.append((corpus, arrays.pop("people"), arrays, numbered_units(units)))
    return result


def _statistics(
    gold: Floats, metric: Floats, weights: Floats, units: float, pairs: dict[str, int]
) -> list[tuple[object, ...]]:
    """Rows of a metric: statistic, grouping, epsilon, number of pairs, and value with interval."""
    by_passage, pooled = agree.epsilon_by_item(gold, metric), agree.epsilon_pooled(gold, metric)
    sums = agree.pooled_pairs(gold, metric, pooled)
    means = agree.system_means(gold, metric, weights)
    found = [
        ("pearson", "pooled", None, agree.pearson_pooled(gold, metric, weights)),
        ("pearson", "passage", None, agree.pearson_by_item(gold, metric, weights)),
        ("pearson", "model", None, agree.pearson_by_system(gold, metric, weights)),
        ("pearson", "means", None, agree.pearson(*means)),
        ("kendall", "pooled", None, agree.kendall_pooled(sums, weights)),
        ("kendall", "passage", None, agree.kendall_by_item(gold, metric, weights)),
        ("acc_eq", "pooled", pooled, agree.accuracy_pooled(sums, weights)),
        ("acc_eq", "passage", by_passage, agree.accuracy_by_item(gold, metric, by_passage, weights)),
        ("pairwise_accuracy", "means", None, agree.pairwise_accuracy(*means)),
        ("soft_pairwise_accuracy", "means", None, agree.soft_pairwise_accuracy(gold, metric, weights)),
    ]
    return [
        (statistic, grouping, epsilon, pairs[grouping], *bounded(values, units))
        for statistic, grouping, epsilon, values in found
    ]


def _pairs(outputs: NDArray[np.bool_]) -> dict[str, int]:
    """Number of pairs that each grouping compares: pairs of models for `means`, else pairs of outputs.

    `outputs`, shape (models, passages), is true for outputs that have both scores.
    """
    counts = {
        "pooled": outputs.sum(), "passage": outputs.sum(axis=0), "model": outputs.sum(axis=1),
        "means": outputs.any(axis=1).sum(),
    }  # fmt: skip
    return {grouping: int((count * (count - 1) // 2).sum()) for grouping, count in counts.items()}
