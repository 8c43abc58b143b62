"""Aggregates of published scores, computed with the functions of our own tables. Not here: their import (benchmarks).

Published scores are from the publisher's references, embedder and COMET checkpoint. They are in tables of their own and
never on the leaderboard.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from benchmark_assets.metrics.concordance import ranks
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import MEASURES
from benchmark_assets.reporting.agreement import agreement
from benchmark_assets.reporting.closest import closest
from benchmark_assets.reporting.leaderboard import summaries
from resources.catalogue import schema

PUBLISHED_SUMMARY = schema("published_summary")
PASSAGES, OVERALL = "passages", "all passages"
"""Bases of a value: scores of passages, or scores over all passages."""

SHARE, SPREAD = "share", "human_spread"


def summary(published: pl.DataFrame) -> pl.DataFrame:
    """Aggregates of published scores.

    Parameters
    ----------
    published
        Rows of `published_score`.

    Returns
    -------
    Columns of `PUBLISHED_SUMMARY`. From scores of passages: the aggregates of `metrics.measures`, the share of each
    closest reference (`share`), and the human spread. From scores over all passages: the values that were published.
    Metrics with a better direction have ranks among the systems with the same basis, in the published form.

    Notes
    -----
    BLEU and chrF++ of a corpus do not follow from scores of its passages. They are in the result only if scores over
    all passages were published.
    """
    parts = [pl.DataFrame(schema=PUBLISHED_SUMMARY)]
    for (benchmark, corpus, whole), rows in published.group_by("benchmark", "corpus", pl.col("passage_id") == ""):
        values = pl.concat(_overall(rows) if whole else _of_passages(rows), how="diagonal")
        named = _ranked(values).with_columns(
            benchmark=pl.lit(benchmark), corpus=pl.lit(corpus), basis=pl.lit(OVERALL if whole else PASSAGES),
            embedder=pl.lit(rows["embedder"][0]),
        )  # fmt: skip
        absent = {name: pl.lit(None, kind) for name, kind in PUBLISHED_SUMMARY.items() if name not in named.columns}
        complete = named.with_columns(**absent).with_columns(pl.col("system", "translator").fill_null(""))
        parts.append(complete.select(pl.col(name).cast(kind) for name, kind in PUBLISHED_SUMMARY.items()))
    return pl.concat(parts).sort("benchmark", "corpus", "basis", "measure", "system", "translator")


def as_scores(published: pl.DataFrame) -> pl.DataFrame:
    """Published scores of passages as the functions of our own tables take them, each passage as a unit of its own."""
    statistics = dict.fromkeys(["chrf_statistics", "bleu_statistics"], pl.List(pl.Int64))
    numbers = dict.fromkeys(["drift_adjusted", "drift_euclidean"], pl.Float64())
    null = pl.Schema(numbers | statistics | {"tokenizer": pl.String()} | dict.fromkeys(DIAGNOSES, pl.Boolean()))
    return published.filter(pl.col("passage_id") != "").with_columns(
        *(pl.lit(None, kind).alias(name) for name, kind in null.items()),
        system="model", passage=pl.format("{}/{}", "corpus", "passage_id"), kind=pl.lit("model"),
        unit="passage_id", unit_kind=pl.lit("passages"),
        expected=pl.lit(value=True), evaluated=pl.lit(value=True), usable=pl.lit(value=True), ranked=pl.lit(value=True),
    )  # fmt: skip


def _of_passages(published: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Values computed from scores of passages, in frames with some of the columns of `PUBLISHED_SUMMARY`."""
    scores = as_scores(published)
    names = [measure.name for measure in MEASURES]
    yield (
        summaries(scores, "system")
        .select("system", "passages", *names)
        .unpivot(names, index=["system", "passages"], variable_name="measure")
        .drop_nulls()
    )
    translators = scores.select(translator="closest_reference").drop_nulls().unique()
    shares = closest(scores, scores.select("passage").unique().join(translators, how="cross"))
    yield shares.select("system", "translator", "passages", value="share", measure=pl.lit(SHARE))
    envelopes = scores.select("passage", "unit", "unit_kind", "human_spread", reference_count="references")
    similarities = pl.DataFrame(schema=schema("reference_similarity"))
    spreads = agreement(similarities, envelopes.drop_nulls().unique("passage"), envelopes.unique("passage"))
    yield spreads.select("measure", "passages", "value", "sd")


def _overall(published: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Published scores over all passages, in a frame with some of the columns of `PUBLISHED_SUMMARY`."""
    names = [measure.name for measure in MEASURES]
    rows = published.with_columns(length_offset=(pl.col("length_ratio") - 1).abs())
    present = [name for name in names if name in rows.columns]
    values = rows.unpivot(present, index=["model", "passages"], variable_name="measure").drop_nulls("value")
    yield values.rename({"model": "system"})


def _ranked(values: pl.DataFrame) -> pl.DataFrame:
    """Values with their rank and the number of systems in their measure."""
    better = {metric.name: metric.better for metric in MEASURES if metric.better}
    parts = []
    for (measure,), rows in values.group_by(["measure"]):
        models = np.ones(len(rows), dtype=bool)
        goodness = rows["value"].to_numpy() * better.get(str(measure), np.nan)
        count = rows["system"].drop_nulls().n_unique()
        parts.append(rows.with_columns(rank=pl.Series(ranks(goodness, models)).fill_nan(None), systems=pl.lit(count)))
    return pl.concat(parts)
