"""Comparison of systems: pairwise differences, ranks and clusters in each measure, and concordance of the measures.

Here: the rows of the tables. Not here: the tests (metrics.significance), the coefficients (metrics.concordance).
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics import concordance, significance
from benchmark_assets.metrics.intervals import bounded, sample_and_resamples
from benchmark_assets.metrics.measures import MEAN_RANK, RANKED, Floats, Measure, Panel, panel, summed
from benchmark_assets.metrics.scores import signed
from resources.catalogue import schema

COMPARISON = schema("system_comparison")
RANK = schema("metric_rank")
CONCORDANCE = schema("metric_concordance")


def compare(scores: pl.DataFrame) -> pl.DataFrame:
    """Differences of each pair of systems of a corpus, in each measure of `RANKED` that both systems have.

    Parameters
    ----------
    scores
        As `metrics.scores.all_scores` returns them.

    Returns
    -------
    Columns of `COMPARISON`. `difference` is the score of `system` minus the score of `other`; whether greater scores
    are better depends on the measure. P-values are corrected by Holm's method within three families for each
    corpus and measure: pairs of models, pairs of translators, and pairs of a model and a translator.
    """
    parts = [pl.DataFrame(schema=COMPARISON)]
    for corpus, text, systems in _corpora(scores):
        rows = systems.systems.with_row_index("first").with_columns(pl.col("first").cast(pl.Int64))
        others = rows.rename(
            {"first": "second", "kind": "other_kind", "system": "other", "mean_references": "other_references"}
        )
        for measure in RANKED:
            tests = significance.differences(systems.statistics[measure.name], measure.of)
            named = tests.join(rows, on="first").join(others, on="second").sort("first", "second")
            families = named.partition_by("kind", "other_kind", maintain_order=True)
            parts += [
                family.with_columns(
                    pl.Series("p_holm", significance.holm(family["p_randomization"].to_numpy())),
                    corpus=pl.lit(corpus), measure=pl.lit(measure.name),
                    signature=pl.lit(f"{text}; {significance.SIGNATURE}"),
                ).select(COMPARISON.names())
                for family in families
            ]  # fmt: skip
    return pl.concat(parts)


def standings(scores: pl.DataFrame, compared: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ranks of the systems in each measure, and concordance of the measures, for each corpus that has a model.

    Parameters
    ----------
    scores
        As `metrics.scores.all_scores` returns them.
    compared
        Rows of `system_comparison`.

    Returns
    -------
    ranks
        Columns of `RANK`: one row for each system and each measure of `RANKED` that at least one model has, and one per
        system for `mean_rank`, whose `value` is the system's mean rank over the measures that it has. Ranks are among
        models; a translator gets the rank that a model with the same score would have. Models with the same number in
        `cluster` belong to the same cluster (see `significance.clusters`); `cluster` is null for translators.
    agreement
        Columns of `CONCORDANCE`: 'tau_b' of each pair of measures, and 'W' of all measures over the models that have
        every measure. A 'tau_b' is null if either measure ties all models, 'W' only if every measure does.
    """
    ranks: list[tuple[object, ...]] = []
    agreement: list[tuple[object, ...]] = []
    for corpus, text, systems in _corpora(scores):
        models = (systems.systems["kind"] == "model").to_numpy()
        weights = sample_and_resamples(len(systems.passages))
        values = {each.name: each.of(summed(systems.statistics[each.name], weights)) for each in RANKED}
        measures = [each for each in RANKED if np.isfinite(values[each.name][0, models]).any()]
        if not measures:
            continue
        goodness = np.stack([each.better * values[each.name] for each in measures])
        absent = [each.name for each in RANKED if each not in measures]
        text = f"{text}; {concordance.SIGNATURE}" + (f"; no model has {', '.join(absent)}" if absent else "")
        differences = compared.filter(pl.col("corpus") == corpus)
        ranks += [(corpus, *row, text) for row in _ranks(systems, measures, goodness, models, differences)]
        agreement += [(corpus, *row, text) for row in _concordance(measures, goodness[..., models])]
    return pl.DataFrame(ranks, schema=RANK, orient="row"), pl.DataFrame(agreement, schema=CONCORDANCE, orient="row")


def _corpora(scores: pl.DataFrame) -> Iterator[tuple[str, str, Panel]]:
    """Name, signature and panel of each corpus that has scores."""
    for (corpus,), rows in scores.drop_nulls("sim_best").sort("corpus").group_by(["corpus"], maintain_order=True):
        yield str(corpus), signed(rows, str(corpus)), panel(rows, RANKED)


def _ranks(
    systems: Panel, measures: list[Measure], goodness: Floats, models: NDArray[np.bool_], compared: pl.DataFrame
) -> Iterator[tuple[object, ...]]:
    """Rows of `metric_rank` without the columns `corpus` and `signature`.

    `goodness` (more is better) has shape (measures, 1 + resamples, systems); the observed values precede the resamples.
    `models`, shape (systems,), is true for models.
    """
    names = systems.systems.rows()
    ranked = concordance.ranks(goodness, models)
    for measure, good, rank in zip(measures, goodness, ranked, strict=True):
        cluster = _clusters(names, measure, good[0], models, compared)
        sums = systems.statistics[measure.name].sum(axis=1)
        for at in np.flatnonzero(~np.isnan(good[0])).tolist():
            scores = measure.better * good[:, at]
            value = scores[0], *measure.interval(sums[at], scores[1:])
            yield *names[at][:2], measure.name, *names[at][2:], *value, *bounded(rank[:, at]), cluster.get(at)
    present = ~np.isnan(ranked)
    counts = present.sum(axis=0)
    means = np.divide(
        np.where(present, ranked, 0).sum(axis=0), counts, out=np.full(counts.shape, np.nan), where=counts > 0
    )
    mean_ranks = concordance.ranks(-means, models)
    for at in np.flatnonzero(counts[0]).tolist():
        yield *names[at][:2], MEAN_RANK, *names[at][2:], *bounded(means[:, at]), *bounded(mean_ranks[:, at]), None


def _clusters(
    names: list[tuple[Any, ...]], measure: Measure, good: Floats, models: NDArray[np.bool_], compared: pl.DataFrame
) -> dict[int, int]:
    """Number of each model's cluster in a measure, by the model's position in `names`."""
    pairs = compared.filter(pl.col("measure") == measure.name, kind="model", other_kind="model")
    ahead: set[tuple[str, str]] = set()
    for system, other, difference, p in pairs.select("system", "other", "difference", "p_holm").iter_rows():
        if p < significance.LEVEL:
            ahead.add((system, other) if measure.better * difference > 0 else (other, system))
    order = [int(at) for at in np.argsort(-good, kind="stable") if models[at] and not np.isnan(good[at])]
    table = np.array([[(names[i][1], names[j][1]) in ahead for j in order] for i in order], dtype=bool)
    return dict(zip(order, significance.clusters(table), strict=True))


def _concordance(measures: list[Measure], goodness: Floats) -> Iterator[tuple[object, ...]]:
    """Rows of `metric_concordance` without the columns `corpus` and `signature`, for the models in `goodness`."""
    for one, other in combinations(range(len(measures)), 2):
        models = int(np.isfinite(goodness[[one, other], 0]).all(axis=0).sum())
        tau = concordance.kendall_tau(goodness[one], goodness[other])
        yield "tau_b", measures[one].name, measures[other].name, models, *bounded(tau)
    complete = goodness[..., np.isfinite(goodness[:, 0]).all(axis=0)]
    count = complete.shape[-1]
    if count and len(measures) > 1:
        ranked = concordance.ranks(complete, np.ones(count, dtype=bool))
        names = " ".join(each.name for each in measures)
        yield "W", names, "", count, *bounded(concordance.kendall_w(np.moveaxis(ranked, 0, 1)))
