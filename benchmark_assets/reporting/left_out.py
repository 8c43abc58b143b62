"""Scores of models and human translators against the same references: the references of all translators except one.

Here: scores from similarities, without vectors. Not here: comparisons (people), thresholds (outliers).
"""

import polars as pl

from benchmark_assets.metrics.drift import adjusted_drift
from benchmark_assets.metrics.further import SOUND, scores_of
from benchmark_assets.references.rows import both_ways
from resources.keys import CORPUS
from resources.warehouse import Warehouse


def reference_pairs(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Similarities of the references of `passages` to each other: rows of `reference_similarity`, and `embedder`."""
    envelopes = warehouse.read("reference_envelope", passages.select("passage"), ["passage", "embedder"])
    return warehouse.read("reference_similarity", passages.select("passage")).join(envelopes, on="passage")


def comparable(warehouse: Warehouse, passages: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Similarities of the outputs for `passages` to references, and of the references to each other, from the same
    embedder.

    Rows of `output_similarity` and `reference_similarity`, each with the column `embedder`. An output is left out if
    the output and the references were embedded by different embedders.
    """
    keys = passages.select("passage")
    envelopes = warehouse.read("reference_envelope", keys, ["passage", "embedder"])
    scored = warehouse.read("drift_score", keys, ["model", "passage", "embedder"])
    current = scored.join(envelopes, on=["passage", "embedder"], how="semi")
    outputs = warehouse.read("output_similarity", keys).join(current, on=["model", "passage"])
    return outputs, reference_pairs(warehouse, passages)


def named_scores(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Scores by the metrics that the registry names, for all texts of `passages`: columns `kind`, `system`, `passage`,
    and one for each metric."""
    keys = passages.select("passage")
    outputs = scores_of(warehouse, "segment_metric", ["model", "passage"], keys).rename({"model": "system"})
    sound = keys.with_columns(kind=pl.lit(SOUND))
    texts = scores_of(warehouse, "human_metric", ["translator", "passage"], sound).rename({"translator": "system"})
    parts = [rows.with_columns(kind=pl.lit(kind)) for rows, kind in ((outputs, "model"), (texts, "human"))]
    return pl.concat(parts, how="diagonal_relaxed")


def left_out_scores(outputs: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Score outputs and each translator's text against the references of the other translators.

    Parameters
    ----------
    outputs
        Columns `model`, `passage`, `translator`, `similarity`: cosine of an output and a reference.
    pairs
        Columns `passage`, `translator`, `other`, `similarity`, `embedder`: one row for each pair of references.

    Returns
    -------
    Columns `corpus`, `passage`, `embedder`, `left_out` (the translator whose reference is excluded), `kind`, `system`
    (a model, or the translator in `left_out`), `references` (the number of references that remain), `sim_best`, and
    `drift_adjusted` (null if only one reference remains).

    Notes
    -----
    Let s(x, j) be the cosine of a text x and reference j, and let t be left out of n references. The mean similarity
    of x is Σ s(x, j) / (n - 1) over j ≠ t. The mean similarity of the references is the sum over all pairs without t,
    divided by (n - 1)(n - 2) / 2.
    """
    texts = (
        both_ways(pairs)
        .group_by("passage", "embedder", left_out="translator")
        .agg(
            references=pl.len().cast(pl.Int64),
            similarity=pl.col("similarity").sum(),
            sim_best=pl.col("similarity").max(),
        )
    )
    sums = pairs.group_by("passage").agg(all_pairs=pl.col("similarity").sum())
    kept = (pl.col("references") * (pl.col("references") - 1)) / 2
    others = texts.join(sums, on="passage").select(
        "passage", "embedder", "left_out", "references",
        agreement=pl.when(pl.col("references") > 1).then((pl.col("all_pairs") - pl.col("similarity")) / kept),
    )  # fmt: skip
    people = texts.select(
        "passage", "left_out", "sim_best", kind=pl.lit("human"), system="left_out",
        similarity=pl.col("similarity") / pl.col("references"),
    )  # fmt: skip
    compared = outputs.select("model", "passage", "translator", "similarity").join(
        others.select("passage", "left_out"), on="passage"
    )
    models = compared.filter(pl.col("translator") != pl.col("left_out")).group_by("passage", "left_out", "model").agg(
        sim_best=pl.col("similarity").max(), similarity=pl.col("similarity").mean()
    )  # fmt: skip
    models = models.with_columns(kind=pl.lit("model"), system="model").select(people.columns)
    rows = pl.concat([models, people]).join(others, on=["passage", "left_out"])
    drift = adjusted_drift(*(rows[name].cast(pl.Float64).to_numpy() for name in ("similarity", "agreement")))
    rows = rows.with_columns(CORPUS, drift_adjusted=pl.Series(drift, dtype=pl.Float64).fill_nan(None))
    return rows.select(
        "corpus", "passage", "embedder", "left_out", "kind", "system", "references", "sim_best", "drift_adjusted"
    ).sort("corpus", "passage", "left_out", "kind", "system")  # fmt: skip
