"""Scores of models and of human translators, passage by passage, in one form.

Here: joining the tables of the score assets. Not here: aggregates (metrics.summary), comparisons.
"""

import polars as pl

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.summary import signature
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Warehouse


def model_scores(warehouse: Warehouse, models: pl.DataFrame | None = None) -> pl.DataFrame:
    """All scores and diagnoses of the outputs of models.

    Parameters
    ----------
    models
        Column `model`; by default all models.

    Returns
    -------
    One row a scored output: `kind` ('model'), `system`, `corpus`, `passage`, `references` (their number), the columns
    of `drift_score` and `lexical_score`, the columns of COMET (`comet` is its signature) and `DIAGNOSES`, null where
    the output has no row.
    """
    on = ["model", "passage"]
    drift, lexical = (warehouse.read(table, models) for table in ("drift_score", "lexical_score"))
    against = warehouse.read("output_similarity", models, on).group_by(on).agg(references=pl.len())
    rows = drift.join(lexical, on=on).join(against, on=on, how="left").with_columns(pl.col("references").fill_null(0))
    rows = _with_comet(rows, warehouse, "comet_score", models, on)
    rows = rows.join(warehouse.read("output_diagnostic", models, [*on, *DIAGNOSES]), on=on, how="left")
    return rows.select(pl.lit("model").alias("kind"), pl.col("model").alias("system"), CORPUS, pl.exclude("model"))


def human_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Rows as of `model_scores` for each translator scored against the other translators, with one reference fewer than
    a model has."""
    on = ["passage", "translator"]
    rows = warehouse.read("human_baseline").with_columns(references=pl.len().over("passage") - 1)
    rows = _with_comet(rows, warehouse, "comet_baseline", None, on)
    rows = rows.with_columns(pl.lit(None, pl.Boolean).alias(name) for name in DIAGNOSES)
    return rows.select(
        pl.lit("human").alias("kind"), pl.col("translator").alias("system"), CORPUS, pl.exclude("translator")
    )


def all_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of models and translators that come from the same embedder and the same checkpoint of COMET.

    Scores of two embedders do not compare: a model whose scores come from another embedder than the translators' is
    left out until its scores are materialized. COMET columns from another checkpoint are null.
    """
    models, humans = model_scores(warehouse), human_scores(warehouse)
    makers = humans.group_by("corpus").agg(own_embedder=pl.col("embedder").max(), own_comet=pl.col("comet").max())
    models = models.join(makers, on="corpus", how="left", maintain_order="left")
    alone = pl.col("own_embedder").is_null()
    same = alone | pl.col("comet").eq_missing(pl.col("own_comet"))
    models = models.filter(alone | (pl.col("embedder") == pl.col("own_embedder"))).with_columns(
        pl.when(same).then(name).alias(name) for name in ("comet", "comet_avg", "comet_best")
    )
    return pl.concat([models.drop(makers.columns[1:]), humans], how="diagonal_relaxed")


def made_by(warehouse: Warehouse, passages: pl.DataFrame) -> list[str]:
    """Signatures of all scores of outputs of these passages (column `passage`): one for each embedder."""
    embedders = warehouse.read("drift_score", passages, ["embedder"])["embedder"].unique().sort()
    comet = ", ".join(warehouse.read("comet_score", passages, ["signature"])["signature"].drop_nulls().unique().sort())
    return [signature(embedder, comet or None) for embedder in embedders]


def signed(scores: pl.DataFrame, row: str) -> str:
    """The signature of an average or comparison of these scores.

    Parameters
    ----------
    row
        Name of the numbers in an error.

    Raises
    ------
    BadInput
        If several embedders, or several checkpoints of COMET, made the scores.
    """
    makers = [scores[name].drop_nulls().unique().sort().to_list() for name in ("embedder", "comet")]
    for name, several in zip(("embedders", "checkpoints of COMET"), makers, strict=True):
        if len(several) > 1:
            remedy = "materialize the scores of all references and outputs with one of them: `variorum update`"
            raise BadInput("scores", row, f"were made by several {name} ({', '.join(several)})", remedy)
    (embedder,), comet = makers
    return signature(embedder, *comet)


def _with_comet(
    rows: pl.DataFrame, warehouse: Warehouse, table: str, keys: pl.DataFrame | None, on: list[str]
) -> pl.DataFrame:
    comet = warehouse.read(table, keys, [*on, "comet_avg", "comet_best", "signature"])
    return rows.join(comet.rename({"signature": "comet"}), on=on, how="left")
