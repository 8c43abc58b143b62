"""Aggregates of one system over passages: means and corpus scores with intervals, outliers, diagnoses.

Not here: ranking.
"""

import polars as pl

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import MEASURES, OUTLIER
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.metrics.lexical import signatures
from benchmark_assets.metrics.measures import estimates, numbered_units
from benchmark_assets.metrics.metric import of_values
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
        One row per passage, at least one: columns `kind`, `passage`, `unit`, `references` (number of references),
        `expected`, `evaluated` and `usable` (as `coverage.completed` returns them), the columns of the measures, and
        `DIAGNOSES`.

    Returns
    -------
    The columns of `SUMMARY`. Passages without references count only in the diagnoses. Values for which no passage has
    data are None, such as the drift if no passage has an envelope, or `coverage` and `failures` of a translator. The
    coverage of a limited evaluation is a share of all expected passages.
    """
    scored = scores.drop_nulls("sim_best")
    outliers = int((scored["drift"] > OUTLIER).sum())
    is_model = scores["kind"].first() == "model"
    expected, usable = int(scores["expected"].sum()), int(scores["usable"].sum())
    evaluated = int((scores["expected"] & scores["evaluated"]).sum())
    row: dict[str, float | int | None] = {
        "passages": len(scored),
        "evaluated": evaluated if is_model else None,
        "available": expected if is_model else None,
        "units": scored["unit"].n_unique(),
        "coverage": usable / expected if is_model and expected else None,
        "failures": evaluated - usable if is_model else None,
        "with_envelope": scored["drift"].count(),
        "with_comet": scored["comet_avg"].count(),
        "mean_references": scored.select(pl.col("references").mean()).item(),
        "outliers": outliers if scored["drift"].count() else None,
    }
    values = scored.select(measure.counted.alias(measure.name) for measure in MEASURES)
    tables = [each.statistics(scored) if each.counts else of_values(values[each.name]) for each in MEASURES]
    for measure, estimate in zip(MEASURES, estimates(MEASURES, tables, numbered_units(scored["unit"])), strict=True):
        row |= zip((measure.name, f"{measure.name}_low", f"{measure.name}_high"), estimate, strict=True)
    for name in DIAGNOSES:
        row[name] = int(scores[name].sum()) if scores[name].count() else None
    return row


def signature(embedder: str, comet: str | None = None, tokenizer: str = DEFAULT, units: str | None = None) -> str:
    """Everything needed to reproduce the numbers of a summary, in words; `units` is the kind of the units."""
    parts = [
        f"embedder: {embedder}",
        DRIFT,
        f"outlier: drift > {OUTLIER}",
        *signatures(tokenizer).values(),
    ]
    return "; ".join(
        [*parts, *([f"COMET: {comet}"] if comet else []), SIGNATURE, *([f"units: {units}"] if units else [])]
    )
