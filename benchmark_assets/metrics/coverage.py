"""The corpus's own set of passages, over which models are ranked, and worst scores for passages without output.

Here: the set, and the rows of models. Every model with scores in a corpus gets a row for each passage of the set, no
matter which other models are evaluated. Not here: scores of outputs (scores), aggregates (summary).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import polars as pl

from benchmark_assets.corpus.description import Scoring
from benchmark_assets.corpus.units import scoring, with_units
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.drift import worst_drift
from benchmark_assets.metrics.entries import OUTLIER
from benchmark_assets.metrics.further import named_in
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.metrics.tokenizers import tokenized
from resources.digest import digest
from resources.keys import CORPUS
from resources.warehouse import Warehouse

UNUSABLE = pl.any_horizontal(
    "empty", "refused", "other_passage", pl.col("copied") & pl.col("wrong_language")
).fill_null(value=False)
"""Whether an output counts as missing: no translation of its passage. A copy of the source counts as missing if it is
long enough to show that it is not in the language of the references; a truncated output has scores, and a mark."""

UNLIMITED = pl.DataFrame(schema={"system": pl.String, "passage": pl.String})
"""Limits of evaluations, if there are none."""

COMET = ("comet_avg", "comet_best")
"""Scores that are filled in only for models with COMET scores."""

SIGNATURE = (
    "passages without a usable output: similarity, chrF++, BLEU, COMET and length 0, drift as at similarity 0, an "
    "outlier (or left out, if the description says so); ranked: models with a usable output for the share of passages "
    "that the description demands (all passages if missing outputs are left out), if the evaluation was not limited"
)


def limited_passages(warehouse: Warehouse) -> pl.DataFrame:
    """Models and passages of limited evaluations: columns `model` and `passage`, sorted."""
    return warehouse.read("limited_item", columns=["model", "passage"]).filter(pl.col("passage") != "")


def completed_scores(warehouse: Warehouse, scores: pl.DataFrame) -> pl.DataFrame:
    """Apply `completed` to scores of systems in the warehouse, as `scores.all_scores` returns them."""
    own = own_passages(warehouse).join(scores.select("corpus").unique(), on="corpus", how="semi")
    limits = limited_passages(warehouse).rename({"model": "system"})
    worst = partial(worst_scores, warehouse)
    return completed(scores, own, worst, scoring(warehouse), limits, named_in(warehouse))


def completed(
    scores: pl.DataFrame,
    own: pl.DataFrame,
    worst: Callable[[pl.DataFrame], pl.DataFrame],
    settings: Mapping[str, Scoring],
    limits: pl.DataFrame = UNLIMITED,
    further: Sequence[Metric] = (),
) -> pl.DataFrame:
    """Complete the scores: a model with a score in a corpus gets a row for every passage of the corpus's own set.

    Parameters
    ----------
    scores
        Columns `kind`, `system`, `corpus`, `passage`, `embedder`, `comet`, the columns of the measures and `DIAGNOSES`.
    own
        The corpus's own set: `corpus`, `passage`, `unit`, `unit_kind`.
    worst
        Function from a frame with the column `passage`, without duplicates, to the columns of `worst_scores`. It is
        slow, so it is called only for passages without a usable output.
    settings
        Settings by corpus; a corpus without settings has the defaults.
    limits
        Passages of limited evaluations: `system`, `passage`. A model without rows for a corpus is evaluated completely.
    further
        Metrics that the registry names, each a column of `scores`. What a missing output counts stands in its entry; it
        counts for models that have a score.

    Returns
    -------
    The columns of `scores`, and `expected` (whether the passage is in the corpus's own set), `evaluated` (whether no
    limit excludes it), `usable` (whether it is expected and has a usable output) and `ranked` (whether the system is a
    model that was evaluated completely and has enough usable outputs: all of them if the settings have `missing: omit`,
    because a score without the worst outputs is too good). If a model has no usable output for an expected
    passage, its row has the worst scores. The scores are null if the passage was not evaluated, or the corpus's
    settings have `missing: omit`. Translators need not translate everything: they get no additional rows.
    """
    expected = pl.col("passage").is_in(own["passage"].implode())
    rows = scores.with_columns(expected=expected, usable=expected & ~UNUSABLE, evaluated=pl.lit(value=True))
    lacking = _lacking(rows, own, limits)
    filled = worst(lacking.filter("evaluated").select("passage").unique())
    omitting = [corpus for corpus, setting in settings.items() if setting.missing == "omit"]
    counted = pl.col("evaluated") & ~pl.col("corpus").is_in(omitting)
    conditions = dict.fromkeys(filled.columns, counted)
    conditions |= dict.fromkeys(COMET, counted & pl.col("comet").is_not_null())
    lacking = lacking.join(filled, on="passage", how="left").with_columns(
        pl.when(conditions[name]).then(name).alias(name) for name in filled.columns if name != "passage"
    )
    complete = pl.concat([rows.filter(pl.col("usable") | ~pl.col("expected")), lacking], how="diagonal_relaxed")
    is_lacking = pl.col("expected") & ~pl.col("usable") & counted
    complete = complete.with_columns(
        pl.when(is_lacking, pl.col(each.name).count().over("corpus", "kind", "system") > 0)
        .then(each.missing)
        .otherwise(each.name)
        .alias(each.name)
        for each in further
        if each.name in scores.columns
    )
    share = pl.col("usable").sum() / pl.col("expected").sum()
    demanded = {corpus: 1.0 if corpus in omitting else setting.coverage for corpus, setting in settings.items()}
    least = pl.col("corpus").replace_strict(demanded, default=Scoring().coverage, return_dtype=pl.Float64)
    ranked = (pl.col("kind") == "model") & (share >= least) & pl.col("evaluated").all()
    return complete.with_columns(ranked=ranked.over("corpus", "kind", "system"))


def own_passages(warehouse: Warehouse) -> pl.DataFrame:
    """Selected passages with a complete reference: columns `corpus`, `passage`, `unit`, `unit_kind`."""
    selected = warehouse.read("selection", columns=["passage", "selected"]).filter("selected")
    referenced = warehouse.read("reference", columns=["passage", "complete"]).filter("complete")
    passages = selected.select(CORPUS, "passage").join(referenced, on="passage", how="semi")
    return with_units(passages, warehouse)


def own_sets(warehouse: Warehouse) -> dict[str, str]:
    """For each corpus, a digest of the inputs of aggregates, except the scores: own passages, units, settings, and
    passages of limited evaluations."""
    settings = scoring(warehouse)
    rows = own_passages(warehouse).sort("passage")
    limits = limited_passages(warehouse).with_columns(CORPUS)
    limited = {corpus: group.rows() for (corpus,), group in limits.group_by(["corpus"], maintain_order=True)}
    return {
        corpus: digest(settings.get(corpus, Scoring()), group.rows(), limited.get(str(corpus), []))
        for (corpus,), group in rows.group_by(["corpus"], maintain_order=True)
    }


def own_sets_of(warehouse: Warehouse, models: pl.DataFrame) -> pl.DataFrame:
    """The digests from `own_sets` of all corpora in which a model has scores: columns `model` and `settings`."""
    digests = own_sets(warehouse)
    corpora = warehouse.read("drift_score", models.select("model"), ["model", "passage"])
    corpora = corpora.select("model", CORPUS).unique().sort("model", "corpus")
    words = pl.col("corpus").replace_strict(digests, default="", return_dtype=pl.String).str.join(" ")
    settings = corpora.group_by("model").agg(settings=words)
    return models.select("model").join(settings, on="model", how="left").with_columns(pl.col("settings").fill_null(""))


def worst_scores(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """The scores that an empty output would have, for each passage, as an outlier. `passages` has the column `passage`.

    Returns the columns of `drift_score` and `lexical_score` that measures use, `comet_avg`, `comet_best`, and
    `references` (number of references).
    """
    keys = passages.select("passage")
    references = warehouse.read("reference", keys, ["passage", "text", "complete"]).filter("complete")
    empty = tokenized(warehouse, keys).with_columns(text=pl.lit(""))
    lexical = lexical_scores(empty, references, on=["passage"], within=["passage"])
    counts = references.group_by("passage").agg(references=pl.len())
    columns = ["human_spread", "euclidean_spread", "mean_similarity"]
    envelopes = warehouse.read("reference_envelope", keys, ["passage", *columns])
    rows = lexical.join(counts, on="passage").join(envelopes, on="passage", how="left")
    zeros = {name: pl.lit(0.0) for name in ("sim_best", *COMET)}
    sim_centroid = pl.when(pl.col("human_spread").is_not_null()).then(0.0)
    outlying = pl.when(pl.col("drift").is_not_null()).then(
        pl.max_horizontal("drift", math.nextafter(OUTLIER, math.inf))
    )
    return rows.with_columns(worst_drift(rows)).with_columns(**zeros, sim_centroid=sim_centroid, drift=outlying).drop(
        columns
    )  # fmt: skip


def _lacking(rows: pl.DataFrame, own: pl.DataFrame, limits: pl.DataFrame) -> pl.DataFrame:
    """One row, without scores, for each expected passage for which a model has no usable output."""
    on = ["kind", "system", "corpus"]
    chosen = limits.select("system", "passage", chosen=True)
    limited = limits.select("system", CORPUS, limited=True).unique()
    models = rows.filter(kind="model").group_by(on).agg(pl.col("embedder", "comet").max())
    diagnosed = rows.filter("expected").select(*on, "passage", *DIAGNOSES)
    return (
        models.join(own, on="corpus")
        .join(rows.filter("usable"), on=[*on, "passage"], how="anti")
        .join(diagnosed, on=[*on, "passage"], how="left")
        .join(chosen, on=["system", "passage"], how="left")
        .join(limited, on=["system", "corpus"], how="left")
        .with_columns(expected=True, usable=False, evaluated=pl.col("limited").is_null() | pl.col("chosen"))
        .with_columns(pl.col("evaluated").fill_null(value=False))
        .drop("chosen", "limited")
    )
