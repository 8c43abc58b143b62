"""References of a gold set, examined: people's ratings of them, their likeness to source and outputs, and what leaving
each out changes in the figures.

Only translators who are also rated as systems have ratings, as in WMT's sets. Not here: figures (rows), translators of
a corpus without ratings (reporting.translators).
"""

import numpy as np
import polars as pl

from benchmark_assets.corpus.units import FEWEST, divided
from benchmark_assets.metrics.contrasts import CONTRAST, compared, contrasts, summed
from benchmark_assets.validation.gold import GoldSet, labels
from benchmark_assets.validation.rows import rows_of
from benchmark_assets.validation.scoring import ON, Embed, scored
from resources.tables import ENDS, plain

METRICS = ("sim_best", "chrf")
FIGURES = ("auc_pooled", "auc_within", "system_kendall")
"""Metrics and figures that are computed without each reference."""

NONE = "none"
"""Value of `without` in the figures with all references."""


def examined(gold: GoldSet, embed: Embed, multilingual: Embed | None) -> pl.DataFrame:
    """Each reference of a gold set beside the others, on the same passages.

    Parameters
    ----------
    embed, multilingual
        Vectors of texts, for similarities to outputs and, by a multilingual embedder, to the source; without the second
        the source is left out.

    Returns
    -------
    Columns `view`, `measure`, `translator` and `contrasts.RESULTS`, where `other` is the mean of the other references.
    The views are `people` (score of the ratings, and the score less the mean score that the rater of the reference gave
    the systems' outputs of the same document), `source` and `systems` (cosines). Units are documents if there are
    `corpus.units.FEWEST` of them, else blocks.
    """
    named = pl.format("{}/{}", pl.lit(gold.name), "passage").alias("passage")  # contrasts take the corpus from the name
    rated = labels(gold)
    parts = {"people": contrasts(_ratings(gold, rated), 2), "systems": contrasts(_to_outputs(gold, rated, embed), 2)}
    if multilingual:
        parts["source"] = contrasts(_to_source(gold, multilingual), 2)
    passages = gold.passages.sort("position").with_columns(pl.col("document").fill_null(""), passage_id="passage")
    cluster = "document" if passages["document"].n_unique() >= FEWEST else "blocks"
    units = divided(passages.with_columns(position=pl.int_range(pl.len()).over("document")), cluster)
    keys = list(CONTRAST)[:1] + list(CONTRAST)[2:4]
    of_set = {view: part.with_columns(named) for view, part in parts.items()}
    return compared(summed(of_set, units.select(named, "unit")), keys, "translator").drop("corpus")


def _ratings(gold: GoldSet, rated: pl.DataFrame) -> pl.DataFrame:
    """Scores of the references that were rated, as rated and adjusted for raters; values of contrasts."""
    scores = gold.ratings.join(gold.passages.select("passage", "document"), on="passage")
    models = rated.filter(~pl.col("human")).select(ON)
    base = scores.join(models, on=ON, how="semi").filter(pl.col("rater") != "")
    base = base.group_by("rater", "document").agg(base=pl.mean("score"))
    translators = gold.references.select("passage", system="translator")
    own = scores.join(translators, on=["passage", "system"], how="semi").join(
        base, on=["rater", "document"], how="left"
    )
    measures = {"score": pl.col("score"), "score, adjusted for raters": pl.col("score") - pl.col("base")}
    rows = own.with_columns(**measures).unpivot(list(measures), index=["passage", "system"], variable_name="measure")
    return rows.group_by("passage", "measure", translator="system").agg(pl.mean("value"))


def _to_outputs(gold: GoldSet, rated: pl.DataFrame, embed: Embed) -> pl.DataFrame:
    """Mean similarity of each reference to the outputs of models for the passage."""
    outputs = rated.filter(~pl.col("human")).select("passage", "text")
    pairs = gold.references.join(outputs, on="passage", suffix="_output")
    return _means(pairs, "text_output", embed)


def _to_source(gold: GoldSet, embed: Embed) -> pl.DataFrame:
    """Similarity of each reference to the source."""
    return _means(gold.references.join(gold.passages.drop_nulls("source"), on="passage"), "source", embed)


def _means(pairs: pl.DataFrame, beside: str, embed: Embed) -> pl.DataFrame:
    vectors = embed(pl.concat([pairs["text"], pairs[beside]]).unique(maintain_order=True))
    places = vectors.select("text").with_row_index("place")
    at = [pairs.select(text=name).join(places, on="text", maintain_order="left")["place"] for name in ("text", beside)]
    table = vectors["vector"].to_numpy()
    cosines = np.einsum("ij,ij->i", *(table[place.to_numpy()].astype(np.float64) for place in at))
    rows = pairs.with_columns(value=pl.Series(cosines), measure=pl.lit("similarity"))
    return rows.group_by("passage", "measure", "translator").agg(pl.mean("value"))


def without_each(gold: GoldSet, signature: str, embed: Embed) -> pl.DataFrame:
    """Figures of `METRICS` with all references of a gold set, which has two or more, and without each.

    Rows of `validation`, with the column `without` (NONE for all). `signature` is that of the embedder.
    """
    tables = []
    for name in (NONE, *gold.references["translator"].unique().sort()):
        kept = gold._replace(references=gold.references.filter(pl.col("translator") != name))
        parts = [
            part._replace(metrics=[metric for metric in part.metrics if metric.name in METRICS])
            for part in scored(kept, {signature: embed}, {})
        ]
        rows = rows_of(kept, parts).filter(pl.col("figure").is_in(FIGURES), pl.col("metric").is_in(METRICS), kind="")
        tables.append(rows.with_columns(without=pl.lit(name)))
    return pl.concat(tables)


def readable(figures: pl.DataFrame) -> pl.DataFrame:
    """The result of `without_each` as a table: a row for each metric and reference left out."""
    rows = figures.with_columns(words=_with_bounds("value"))
    return rows.pivot("figure", index=["metric", "without"], values="words", maintain_order=True).sort("metric")


def page(gold: GoldSet, signature: str, embed: Embed, multilingual: Embed | None) -> str:
    """Both tables as text; a sentence if the set has one reference or none."""
    if gold.references["translator"].n_unique() < 2:
        return "its references cannot be compared: there are fewer than two"
    rows = examined(gold, embed, multilingual).sort("view", "measure", "translator")
    values = (pl.col(name).round(3) for name in ("value", "other"))
    table = rows.select(
        "view", "measure", "translator", "passages", "units", *values, difference=_with_bounds("difference")
    )
    return f"{plain(table)}\n\n{plain(readable(without_each(gold, signature, embed)))}"


def _with_bounds(name: str) -> pl.Expr:
    value, low, high = (pl.col(f"{name}{end}").round(3).cast(pl.String) for end in ENDS)
    return pl.coalesce(pl.format("{} [{}, {}]", value, low, high), value)
