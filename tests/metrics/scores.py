"""Rows of a system's scores as the warehouse joins them, with drift and similarity set by the test."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.lexical import lexical_scores

OUTPUTS = ["The mouse runs away.", "Up the sun comes at last, late.", "A cat sits still.", "Nothing new is said here."]
REFERENCES = ["The mouse runs off.", "Up comes the sun.", "The cat sits still.", "He says nothing new."]


def scores(
    drifts: Sequence[float | None],
    similarities: Sequence[float | None] | None = None,
    system: str = "m",
    corpus: str = "x",
) -> pl.DataFrame:
    """One row a passage; `drifts` is None without envelope, `similarities` None without references.

    Every passage is a unit of its own, and has a usable output.
    """
    similar = [0.9] * len(drifts) if similarities is None else similarities
    passages = [f"{corpus}/{i}" for i in range(len(drifts))]
    outputs = pl.DataFrame(
        [(p, OUTPUTS[i % len(OUTPUTS)]) for i, p in enumerate(passages)],
        schema={"passage": pl.String, "text": pl.String},
        orient="row",
    )
    references = pl.DataFrame(
        [(p, REFERENCES[i % len(REFERENCES)]) for i, p in enumerate(passages) if similar[i] is not None],
        schema=outputs.schema,
        orient="row",
    )
    columns = {
        "drift": drifts,
        "drift_adjusted": [None if drift is None else 1.0 for drift in drifts],
        "drift_euclidean": [None if drift is None else 1.0 for drift in drifts],
        "sim_centroid": [None if drift is None else 0.95 for drift in drifts],
        "sim_best": similar,
    }
    return lexical_scores(outputs, references, on=["passage"], within=["passage"]).with_columns(
        pl.lit(system).alias("model"),
        pl.lit("model").alias("kind"),
        pl.col("passage").alias("unit"),
        pl.lit("passages").alias("unit_kind"),
        *(pl.lit(value=True).alias(name) for name in ("expected", "evaluated", "usable", "ranked")),
        pl.lit("letter pairs").alias("embedder"),
        *(pl.lit(None, pl.Float64).alias(name) for name in ("comet_avg", "comet_best")),
        *(pl.lit(None, pl.Boolean).alias(name) for name in DIAGNOSES),
        pl.lit(None, pl.String).alias("comet"),
        pl.Series("references", [0 if each is None else 1 for each in similar], dtype=pl.UInt32),
        *(pl.Series(name, values, dtype=pl.Float64) for name, values in columns.items()),
    )
