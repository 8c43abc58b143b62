"""Aggregates of a system over a corpus: means and corpus scores with intervals, outliers. Not here: ranking."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import (
    SIGNATURE,
    mean_interval,
    resampling_weights,
    statistic_interval,
    wilson,
)
from benchmark_assets.metrics.lexical import corpus_bleu, corpus_chrf, signatures

OUTLIER = 2.0
"""Drift (cosine form) above which, strictly, an output counts as an outlier: PaliBench, section 3.5."""

MEANS = ["drift", "drift_euclidean", "sim_best", "sim_centroid", "length_ratio"]

SUMMARY = pl.Schema({
    "passages": pl.Int32(), "with_envelope": pl.Int32(), "outliers": pl.Int32(),
    **{
        f"{name}{bound}": pl.Float64()
        for name in ("outlier_rate", *MEANS, "bleu", "chrf")
        for bound in ("", "_low", "_high")
    },
})  # fmt: skip


def summarize(scores: pl.DataFrame) -> dict[str, float | int | None]:
    """Aggregate one system's scores over one corpus.

    Parameters
    ----------
    scores
        One row a passage, columns as in `drift_score` and `lexical_score`, at least one row.

    Returns
    -------
    The columns of `SUMMARY`. What rests on no passage is None: without an envelope there is no drift, without
    references nothing but None and zero counts.
    """
    scored, enveloped = scores.drop_nulls("sim_best"), scores.drop_nulls("drift")
    row: dict[str, float | int | None] = {"passages": len(scored), "with_envelope": len(enveloped)}
    outliers = int((enveloped["drift"] > OUTLIER).sum())
    row["outliers"] = outliers if len(enveloped) else None
    row |= _named(
        "outlier_rate", (outliers / len(enveloped), *wilson(outliers, len(enveloped))) if len(enveloped) else None
    )
    weights = resampling_weights(len(scores))
    for name in MEANS:
        values = scores[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        present = bool(np.isfinite(values).any())
        row |= _named(name, (float(np.nanmean(values)), *mean_interval(values, weights)) if present else None)
    lexical = resampling_weights(len(scored)) if len(scored) else weights
    for name, score in (("bleu", corpus_bleu), ("chrf", corpus_chrf)):
        statistics = scored[f"{name}_statistics"]
        if not len(scored):
            row |= _named(name, None)
            continue
        table: NDArray[np.int64] = np.array(statistics.to_list(), dtype=np.int64)
        row |= _named(name, (score(table.sum(axis=0)), *statistic_interval(table, lexical, score)))
    return row


def signature(embedder: str) -> str:
    """Everything that a reader needs to repeat the numbers of a summary."""
    parts = [f"embedder: {embedder}", "drift: (1 - cos) / (spread + 0.01)", f"outlier: drift > {OUTLIER}"]
    return "; ".join([*parts, *signatures().values(), SIGNATURE])


def _named(name: str, values: tuple[float, float, float] | None) -> dict[str, float | int | None]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), values or (None, None, None), strict=True))
