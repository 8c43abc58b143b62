"""Comparison of systems: pairwise differences, ranks and clusters in each measure, concordance of the measures.

Here: the rows of the tables. Not here: the tests (metrics.significance), the coefficients (metrics.concordance).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

from benchmark_assets.metrics import concordance, significance
from benchmark_assets.metrics.entries import MEAN_RANK, MEASURES, ranked
from benchmark_assets.metrics.intervals import (
    Floats,
    bounded,
    by_unit,
    effective_units,
    sample_and_resamples,
    unit_sizes,
)
from benchmark_assets.metrics.measures import Panel, estimates, panel, summed
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.metrics.scores import signed
from resources.catalogue import schema

COMPARISON = schema("system_comparison")
RANK = schema("metric_rank")
CONCORDANCE = schema("metric_concordance")

_PAIR = ["kind", "system", "other_kind", "other", "mean_references", "other_references"]


def compare(scores: pl.DataFrame, metrics: Sequence[Metric] = MEASURES) -> pl.DataFrame:
    """Difference between each pair of comparable systems, in each ranked metric that both systems have.

    Parameters
    ----------
    scores
        As `metrics.coverage.completed` returns them, with the column `apart`: only systems of a corpus with the same
        value are compared. A missing output counts with the worst scores, as in ranks.
    metrics
        The metrics whose columns `scores` has.

    Returns
    -------
    Columns of `COMPARISON`. `difference` is the score of `system` minus the score of `other`. Whether higher scores
    are better depends on the measure. The families of `p_family` are the pairs of models, of translators, and of a
    model and a translator, in a measure.
    """
    parts = [pl.DataFrame(schema=COMPARISON)]
    for corpus, _, text, systems in _groups(scores.filter("expected"), ranked(metrics)):
        families = _pairs(systems).partition_by("kind", "other_kind", maintain_order=True)
        for measure, pairs in product(ranked(metrics), families):
            indices = pairs.select("first", "second").rows()
            tests = significance.differences(systems.statistics[measure.name], systems.units, measure, indices)
            named = tests.join(pairs, on=["first", "second"], maintain_order="left")
            signature = f"{text}{_made(measure)}; {significance.signature(measure, _family(pairs))}"
            parts.append(
                named.with_columns(
                    corpus=pl.lit(corpus), measure=pl.lit(measure.name), signature=pl.lit(signature)
                ).select(COMPARISON.names())
            )
    return pl.concat(parts)


def _pairs(systems: Panel) -> pl.DataFrame:
    """All pairs of systems: their indices `first` and `second` in the panel, and the columns of `_PAIR`."""
    rows = systems.systems.drop("ranked").with_row_index("first")
    names = {"first": "second", "kind": "other_kind", "system": "other", "mean_references": "other_references"}
    pairs = rows.join_where(rows.rename(names), pl.col("first") < pl.col("second")).sort("first", "second")
    return pairs.select(pl.col("first", "second").cast(pl.Int64), *_PAIR)


def _family(pairs: pl.DataFrame) -> str:
    """What the pairs of a family are, in words."""
    (kinds,) = pairs.select("kind", "other_kind").unique().rows()
    return f"{len(pairs)} pairs of {' and '.join(sorted({_PLURAL[kind] for kind in kinds}))}"


_PLURAL = {"model": "models", "human": "translators"}


def standings(
    scores: pl.DataFrame, compared: pl.DataFrame, metrics: Sequence[Metric] = MEASURES
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ranks of comparable models in each metric, and concordance of the metrics, for each corpus that has a model.

    Parameters
    ----------
    scores
        As `metrics.coverage.completed` returns them, with the column `apart`: systems of a corpus with the same value
        are ranked together.
    compared
        Rows of `system_comparison`.
    metrics
        The metrics whose columns `scores` has.

    Returns
    -------
    ranks
        Columns of `RANK`: one row for each system and each ranked metric that at least one model has. Each ranked
        model also has a row for `mean_rank`, whose `value` is its mean rank over the metrics that are ranked `with
        others`. Translators and models with too few usable outputs have a value, but no rank. The bounds of a rank are
        computed by `significance.rank_sets`. Models with the same number in `cluster` belong to the same cluster (see
        `significance.clusters`).
    agreement
        Columns of `CONCORDANCE`, for models whose `apart` is '': 'tau_b' of each pair of metrics, and 'W' of the
        metrics that are ranked `with others`, over the ranked models that have all of them. A 'tau_b' is null if all
        models are tied in either metric; 'W' is null only if all models are tied in every metric.
    """
    ranks: list[tuple[object, ...]] = []
    agreement: list[tuple[object, ...]] = []
    for corpus, apart, text, systems in _groups(scores, ranked(metrics)):
        models = systems.systems["ranked"].to_numpy()
        sizes = unit_sizes(systems.units)
        weights, count = sample_and_resamples(len(sizes)), effective_units(sizes)
        sums = {each.name: _unit_sums(systems, each) for each in ranked(metrics)}
        values = {each.name: each.of(summed(sums[each.name], weights)) for each in ranked(metrics)}
        measures = [each for each in ranked(metrics) if np.isfinite(values[each.name][0, models]).any()]
        if not measures:
            continue
        goodness = np.stack([each.better * values[each.name] for each in measures])
        absent = [each.name for each in ranked(metrics) if each.name not in {present.name for present in measures}]
        text = f"{text}; {concordance.SIGNATURE}" + (f"; no model has {', '.join(absent)}" if absent else "")
        differences = compared.filter(pl.col("corpus") == corpus)
        made = {each.name: _made(each) for each in measures}
        ranks += [
            (corpus, *row, apart, text + made.get(str(row[2]), ""))
            for row in _ranks(systems, measures, goodness, differences, count)
        ]
        if not apart:
            agreement += [(corpus, *row, text) for row in _concordance(measures, goodness[..., models], count)]
    return pl.DataFrame(ranks, schema=RANK, orient="row"), pl.DataFrame(agreement, schema=CONCORDANCE, orient="row")


def _groups(scores: pl.DataFrame, metrics: Sequence[Metric]) -> Iterator[tuple[str, str, str, Panel]]:
    """Corpus, `apart`, signature and scores (as a `Panel`) of each group of comparable systems that has scores."""
    keys = ["corpus", "apart"]
    for (corpus, apart), rows in scores.drop_nulls("sim_best").sort(keys).group_by(keys, maintain_order=True):
        yield str(corpus), str(apart), signed(rows, str(corpus)), panel(rows, metrics)


def _made(metric: Metric) -> str:
    """The signature of a metric that the registry names, as a part of a signature."""
    return f"; {metric.name}: {metric.made}" if metric.made else ""


def _unit_sums(systems: Panel, measure: Metric) -> Floats:
    """Sums of a measure's statistics by unit, shape (systems, units, statistics)."""
    return by_unit(systems.statistics[measure.name].transpose(1, 0, 2), systems.units).transpose(1, 0, 2)


def _ranks(
    systems: Panel, measures: list[Metric], goodness: Floats, compared: pl.DataFrame, units: float
) -> Iterator[tuple[object, ...]]:
    """Rows of `metric_rank` without the columns `corpus`, `apart` and `signature`.

    `goodness` (higher is better) has shape (measures, 1 + resamples, systems): observed values, then resamples.
    `units` is the effective number of units.
    """
    names, models = systems.systems.rows(), systems.systems["ranked"].to_numpy()
    order = np.where(models, goodness, np.nan)
    places = concordance.ranks(order, models)
    values = [
        estimates(measures, [systems.statistics[each.name][at] for each in measures], systems.units)
        for at in range(len(names))
    ]
    for row, (measure, rank) in enumerate(zip(measures, places, strict=True)):
        standing = _standing(names, measure, order[row, 0], compared)
        for at in np.flatnonzero(~np.isnan(goodness[row, 0])).tolist():
            kind, name, references, _ = names[at]
            cluster, *ends = standing.get(at, (None, None, None))
            place = float(rank[0, at]) if models[at] else None
            yield kind, name, measure.name, references, *values[at][row], place, *ends, cluster
    places = places[[each.ranks == "with others" for each in measures]]
    present = ~np.isnan(places)
    counts = present.sum(axis=0)
    means = np.divide(
        np.where(present, places, 0).sum(axis=0), counts, out=np.full(counts.shape, np.nan), where=counts > 0
    )
    mean_ranks = concordance.ranks(-means, models)
    for at in np.flatnonzero(counts[0]).tolist():
        kind, name, references, _ = names[at]
        value, rank = bounded(means[:, at], units), bounded(mean_ranks[:, at], units)
        yield kind, name, MEAN_RANK, references, *value, *rank, None


def _standing(
    names: list[tuple[Any, ...]], measure: Metric, good: Floats, compared: pl.DataFrame
) -> dict[int, tuple[int, float, float]]:
    """For each ranked model, the number of its cluster, its best rank and its worst rank in a measure.

    The keys are the models' positions in `names`. `good` is NaN for systems without a rank. The result is empty if
    there are too few units for p-values.
    """
    pairs = compared.filter(pl.col("measure") == measure.name, kind="model", other_kind="model")
    if not pairs["p_family"].count():
        return {}
    ahead: set[tuple[str, str]] = set()
    significant = pairs.filter(pl.col("p_family") <= significance.LEVEL)
    for system, other, difference in significant.select("system", "other", "difference").iter_rows():
        ahead.add((system, other) if measure.better * difference > 0 else (other, system))
    order = [int(at) for at in np.argsort(-good, kind="stable") if not np.isnan(good[at])]
    table = np.array([[(names[i][1], names[j][1]) in ahead for j in order] for i in order], dtype=bool)
    groups, sets = significance.clusters(table), significance.rank_sets(table)
    return {at: (group, best, worst) for at, group, (best, worst) in zip(order, groups, sets, strict=True)}


def _concordance(measures: list[Metric], goodness: Floats, units: float) -> Iterator[tuple[object, ...]]:
    """Rows of `metric_concordance` without the columns `corpus` and `signature`, for the models in `goodness`."""
    for one, other in combinations(range(len(measures)), 2):
        models = int(np.isfinite(goodness[[one, other], 0]).all(axis=0).sum())
        tau = concordance.kendall_tau(goodness[one], goodness[other])
        yield "tau_b", measures[one].name, measures[other].name, models, *bounded(tau, units)
    together = [each.ranks == "with others" for each in measures]
    goodness, names = goodness[together], [each.name for each in measures if each.ranks == "with others"]
    complete = goodness[..., np.isfinite(goodness[:, 0]).all(axis=0)]
    count = complete.shape[-1]
    if count and len(names) > 1:
        ordered = concordance.ranks(complete, np.ones(count, dtype=bool))
        value = bounded(concordance.kendall_w(np.moveaxis(ordered, 0, 1)), units)
        yield "W", " ".join(names), "", count, *value
