"""Aggregates of a system over passages: means and corpus scores with intervals, outliers. Not here: ranking."""

import numpy as np
import polars as pl

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.intervals import SIGNATURE, sample_and_resamples
from benchmark_assets.metrics.lexical import signatures
from benchmark_assets.metrics.measures import MEASURES, OUTLIER, Floats
from resources.catalogue import schema

DRIFT = "drift: (1 - cos) / (spread + 0.01)"
"""The form of drift, for signatures."""

SUMMARY = schema("model_summary", "model", "corpus", "signature")


def summarize(scores: pl.DataFrame) -> dict[str, float | int | None]:
    """Aggregate one system's scores over some passages.

    Parameters
    ----------
    scores
        One row a passage, at least one: columns `passage`, `references` (their number), the columns of the measures,
        and `DIAGNOSES`.

    Returns
    -------
    The columns of `SUMMARY`. A value that rests on no passage is None: without envelopes there is no drift, without
    references there are only None and zero counts. Passages without references count in the diagnoses only.
    """
    scored = scores.drop_nulls("sim_best").sort("passage")
    enveloped = scored.drop_nulls("drift")
    outliers = int((enveloped["drift"] > OUTLIER).sum())
    row: dict[str, float | int | None] = {
        "passages": len(scored),
        "with_envelope": len(enveloped),
        "mean_references": scored.select(pl.col("references").mean()).item(),
        "outliers": outliers if len(enveloped) else None,
    }
    for measure, sums in zip(MEASURES, _resampled(scored), strict=True):
        estimate: tuple[float | None, ...] = None, None, None
        if sums[0, 0]:
            values = measure.of(sums)
            estimate = float(values[0]), *measure.interval(sums[0], values[1:])
        row |= zip((measure.name, f"{measure.name}_low", f"{measure.name}_high"), estimate, strict=True)
    for name in DIAGNOSES:
        row[name] = int(scores[name].sum()) if scores[name].count() else None
    return row


def signature(embedder: str, comet: str | None = None) -> str:
    """Everything that a reader needs to repeat the numbers of a summary."""
    parts = [f"embedder: {embedder}", DRIFT, f"outlier: drift > {OUTLIER}"]
    checkpoint = [f"COMET: {comet}"] if comet else []
    return "; ".join([*parts, *signatures().values(), *checkpoint, SIGNATURE])


def _resampled(scores: pl.DataFrame) -> list[Floats]:
    """Statistics of each measure, summed over all passages (first row) and over each resample."""
    statistics = [measure.statistics(scores) for measure in MEASURES]
    if scores.is_empty():
        return [table.sum(axis=0, keepdims=True) for table in statistics]
    whole = np.concatenate(statistics, axis=1)  # one product of matrices is many times faster than one a measure
    bounds = np.cumsum([table.shape[1] for table in statistics])[:-1]
    return np.split(sample_and_resamples(len(scores)) @ whole, bounds, axis=1)
