"""Scores of models and human translators by passage, joined from the tables of the score assets.

Not here: aggregates (metrics.summary), comparisons.
"""

import polars as pl

from benchmark_assets.corpus.units import with_units
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.further import SOUND, scores_of
from benchmark_assets.metrics.summary import signature
from benchmark_assets.metrics.tokenizers import DEFAULT
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Warehouse


def model_scores(warehouse: Warehouse, models: pl.DataFrame | None = None) -> pl.DataFrame:
    """All scores and diagnoses of the outputs of `models` (column `model`); by default, of all models.

    Returns one row per scored output. The columns are `kind` ('model'), `system`, `corpus`, `passage`, `references`
    (number of references), the columns of `drift_score` and `lexical_score`, `comet_avg`, `comet_best`, `comet`
    (signature of COMET), `DIAGNOSES`, `unit` and `unit_kind` (corpus.units). The columns of COMET are null for outputs
    without COMET scores, and `DIAGNOSES` are null for outputs without diagnoses. There is a further column for each
    metric that the registry names.
    """
    on = ["model", "passage"]
    drift, lexical = (warehouse.read(table, models) for table in ("drift_score", "lexical_score"))
    envelopes = warehouse.read("reference_envelope", columns=["passage", "reference_count"])
    references = envelopes.select("passage", references=pl.col("reference_count").cast(pl.UInt32))
    rows = drift.join(lexical, on=on).join(references, on="passage", how="left")
    rows = rows.with_columns(pl.col("references").fill_null(0))
    rows = _with_comet(rows, warehouse, "comet_score", models, on)
    rows = rows.join(warehouse.read("output_diagnostic", models, [*on, *DIAGNOSES]), on=on, how="left")
    rows = rows.join(scores_of(warehouse, "segment_metric", on, models), on=on, how="left")
    rows = with_units(rows, warehouse)
    return rows.select(pl.lit("model").alias("kind"), pl.col("model").alias("system"), CORPUS, pl.exclude("model"))


def human_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of each translator against the other translators of a passage; columns as in `model_scores`.

    A translator is scored against one reference fewer than a model.
    """
    on = ["passage", "translator"]
    rows = warehouse.read("human_baseline").with_columns(references=pl.len().over("passage") - 1)
    rows = _with_comet(rows, warehouse, "comet_baseline", None, on)
    rows = rows.join(scores_of(warehouse, "human_metric", on, pl.DataFrame({"kind": [SOUND]})), on=on, how="left")
    rows = rows.with_columns(pl.lit(None, pl.Boolean).alias(name) for name in DIAGNOSES)
    rows = with_units(rows, warehouse)
    return rows.select(
        pl.lit("human").alias("kind"), pl.col("translator").alias("system"), CORPUS, pl.exclude("translator")
    )


def all_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of models and translators, comparable within each corpus; columns as in `model_scores`.

    In a corpus with scores of translators, a model's scores are left out if they come from another embedder than the
    translators' scores. The model's COMET columns are null if they come from another checkpoint.
    """
    models, humans = model_scores(warehouse), human_scores(warehouse)
    makers = humans.group_by("corpus").agg(human_embedder=pl.col("embedder").max(), human_comet=pl.col("comet").max())
    models = models.join(makers, on="corpus", how="left", maintain_order="left")
    without_humans = pl.col("human_embedder").is_null()
    same_comet = without_humans | pl.col("comet").eq_missing(pl.col("human_comet"))
    models = models.filter(without_humans | (pl.col("embedder") == pl.col("human_embedder"))).with_columns(
        pl.when(same_comet).then(name).alias(name) for name in ("comet", "comet_avg", "comet_best")
    )
    return pl.concat([models.drop(makers.columns[1:]), humans], how="diagonal_relaxed")


def made_by(warehouse: Warehouse, passages: pl.DataFrame) -> list[str]:
    """Signatures of the scores of all outputs for `passages` (column `passage`), one signature for each embedder."""

    def makers(table: str, column: str) -> pl.Series:
        return warehouse.read(table, passages, [column])[column].drop_nulls().unique().sort()

    comet, tokenizer = ", ".join(makers("comet_score", "signature")), ", ".join(makers("lexical_score", "tokenizer"))
    return [
        signature(embedder, comet or None, tokenizer=tokenizer or DEFAULT)
        for embedder in makers("drift_score", "embedder")
    ]


def signed(scores: pl.DataFrame, row: str) -> str:
    """Signature of a summary or comparison that is computed from `scores`.

    `scores` has at least one row, and all its rows are from one corpus. Its columns include `embedder`, `comet`,
    `tokenizer` (null for 13a in older warehouses) and `unit_kind`. Raises BadInput, with `row` as the key, if the
    scores come from several embedders, COMET checkpoints or tokenizers.
    """
    makers = [sorted(scores[name].drop_nulls().unique()) for name in ("embedder", "comet", "tokenizer")]
    for name, signatures in zip(("embedders", "COMET checkpoints", "tokenizers"), makers, strict=True):
        if len(signatures) > 1:
            remedy = f"run `variorum update` to materialize all scores with the same {name.removesuffix('s')}"
            raise BadInput("scores", row, f"come from several {name} ({', '.join(signatures)})", remedy)
    (embedder,), comet, tokenizer = makers
    return signature(embedder, next(iter(comet), None), next(iter(tokenizer), DEFAULT), scores["unit_kind"][0])


def _with_comet(
    rows: pl.DataFrame, warehouse: Warehouse, table: str, keys: pl.DataFrame | None, on: list[str]
) -> pl.DataFrame:
    comet = warehouse.read(table, keys, [*on, "comet_avg", "comet_best", "signature"])
    return rows.join(comet.rename({"signature": "comet"}), on=on, how="left")
