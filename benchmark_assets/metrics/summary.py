"""Aggregates of one system over passages: means and corpus scores with intervals, outliers, diagnoses.

Not here: ranking.
"""

import numpy as np
import polars as pl

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.intervals import SIGNATURE, sample_and_resamples
from benchmark_assets.metrics.lexical import signatures
from benchmark_assets.metrics.measures import MEASURES, OUTLIER, Floats
from benchmark_assets.metrics.tokenizers import DEFAULT
from resources.catalogue import schema

DRIFT = "drift: (1 - cos) / (spread + 0.01)"
"""Formula of drift, for signatures."""

SUMMARY = schema("model_summary", "model", "corpus", "signature")


def summarize(scores: pl.DataFrame) -> dict[str, float | int | None]:
    """Aggregate one system's scores over passages.

    Parameters
    ----------
    scores
        One row per passage, at least one: columns `passage`, `references` (number of references), the columns of the
        measures, and `DIAGNOSES`.

    Returns
    -------
    The columns of `SUMMARY`. Passages without references count only in the diagnoses. Values for which no passage has
    data are None, such as the drift if no passage has an envelope.
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


def signature(embedder: str, comet: str | None = None, tokenizer: str = DEFAULT) -> str:
    """Everything needed to reproduce the numbers of a summary, in words."""
    parts = [f"embedder: {embedder}", DRIFT, f"outlier: drift > {OUTLIER}", *signatures(tokenizer).values()]
    return "; ".join([*parts, *([f"COMET: {comet}"] if comet else []), SIGNATURE])


def _resampled(scores: pl.DataFrame) -> list[Floats]:
    """Sums of each measure's statistics over all passages (row 0) and over each resample, shape (rows, statistics)."""
    statistics = [measure.statistics(scores) for measure in MEASURES]
    if scores.is_empty():
        return [table.sum(axis=0, keepdims=True) for table in statistics]
    whole = np.concatenate(statistics, axis=1)  # one matrix product is many times faster than one per measure
    bounds = np.cumsum([table.shape[1] for table in statistics])[:-1]
    return np.split(sample_and_resamples(len(scores)) @ whole, bounds, axis=1)
