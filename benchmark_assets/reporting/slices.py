"""Scores by slice of a corpus: collections, and thirds of the passages by length, human spread and rarity of words.

Not here: aggregates (metrics.summary).
"""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.contamination.wording import words
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.metrics.measures import estimates, numbered_units
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.reporting.leaderboard import summaries
from benchmark_assets.reporting.unchanged import bases
from resources.catalogue import schema
from resources.keys import COLLECTION
from resources.warehouse import Warehouse

THIRDS = {
    "source_length": ["short", "middle", "long"],
    "reference_length": ["short", "middle", "long"],
    "human_spread": ["narrow", "middle", "wide"],
    "rarity": ["common", "middle", "rare"],
}
"""Names of the thirds, lowest first, for each column that is divided into thirds."""

SLICE = pl.Schema({
    "corpus": pl.String(), "passage": pl.String(), "dimension": pl.String(), "slice": pl.String(),
    "least": pl.Float64(), "most": pl.Float64(),
})  # fmt: skip


NOTHING = pl.DataFrame(schema=schema("slice_summary"))
NAMED = schema("metric_summary")


def measured(warehouse: Warehouse) -> pl.DataFrame:
    """Source length, mean length of the complete references (both in characters), human spread, and rarity of the
    source's words (see `rarity`) of each passage.

    Passages without a complete reference are left out.
    """
    references = warehouse.read("reference", columns=["passage", "text", "complete"]).filter("complete")
    lengths = references.group_by("passage").agg(reference_length=pl.col("text").str.len_chars().mean())
    sources = warehouse.read("source_text", columns=["corpus", "passage", "document", "text"])
    spreads = warehouse.read("reference_envelope", columns=["passage", "human_spread"])
    rows = sources.with_columns(source_length=pl.col("text").str.len_chars())
    rare = rarity(rows.select("corpus", "passage", "text"))
    rows = rows.drop("text").join(lengths, on="passage").join(rare, on="passage", how="left")
    return rows.join(spreads, on="passage", how="left")


def rarity(texts: pl.DataFrame) -> pl.DataFrame:
    """How rare the words of passages are: the mean over a passage's words of -ln(share of the corpus's passages with
    the word).

    `texts` has `corpus`, `passage` and `text`; the result has `passage` and `rarity`, without passages that have no
    word.
    """
    own = texts.with_columns(word=words(texts["text"]).list.unique(), passages=pl.len().over("corpus"))
    rows = own.explode("word")
    share = pl.len().over("corpus", "word") / pl.col("passages")
    rows = (
        rows.drop_nulls("word").with_columns(value=-share.log()).group_by("passage").agg(rarity=pl.col("value").mean())
    )
    return rows.with_columns(pl.col("rarity").round(6))  # the order of addition differs from run to run


def slices(passages: pl.DataFrame) -> pl.DataFrame:
    """Divide the passages into slices: at most one slice per passage and dimension.

    Parameters
    ----------
    passages
        Columns `corpus`, `passage`, `document` and the columns in `THIRDS`. A passage with null in a column of
        `THIRDS` is in no slice of that dimension.

    Returns
    -------
    Columns of `SLICE`. `least` and `most` are the lowest and the highest value in a third; null for collections. If a
    corpus has only one slice in a dimension, that slice is left out.

    Notes
    -----
    The collection of a document is the part of its id before the first character that is not a letter: `an10.13`
    belongs to `an`. Thirds are formed by rank within the corpus. Equal values are in the same third, so thirds differ
    in size if values repeat.
    """
    collection = passages.select(
        "corpus", "passage", pl.lit("collection").alias("dimension"), COLLECTION.alias("slice"),
        least=pl.lit(None, pl.Float64), most=pl.lit(None, pl.Float64),
    )  # fmt: skip
    parts = [collection.drop_nulls("slice")]
    for dimension, names in THIRDS.items():
        rows = passages.drop_nulls(dimension)
        third = (3 * (pl.col(dimension).rank("min") - 1)).over("corpus") // pl.len().over("corpus")
        thirds = rows.select(
            "corpus", "passage", pl.lit(dimension).alias("dimension"), pl.col(dimension).cast(pl.Float64),
            slice=third.replace_strict(dict(enumerate(names)), return_dtype=pl.String),
        )  # fmt: skip
        value, within = pl.col(dimension), ["corpus", "slice"]
        parts.append(
            thirds.with_columns(least=value.min().over(within), most=value.max().over(within)).select(SLICE.names())
        )
    return pl.concat(parts).filter(pl.col("slice").n_unique().over("corpus", "dimension") > 1)


def sliced(
    scores: pl.DataFrame, parts: pl.DataFrame, stored: pl.DataFrame = NOTHING, settings: str = ""
) -> pl.DataFrame:
    """Aggregates of each system over each slice: rows of `slice_summary`.

    Parameters
    ----------
    scores
        As `metrics.scores.all_scores` returns them.
    parts
        Slices as `slices` returns them.
    stored
        Former rows. Those whose scores have not changed are returned as they are.
    settings
        What determines aggregates besides the scores.
    """
    keys = ["dimension", "slice", "kind", "system"]
    rows = scores.join(parts.select("passage", "dimension", "slice"), on="passage").sort(*keys, "passage")
    bounds = parts.select("corpus", "dimension", "slice", "least", "most").unique()
    based = bases(rows, ["corpus", *keys], settings)
    kept = stored.drop("least", "most").join(based, on=based.columns, how="semi")
    changed = summaries(rows.join(kept, on=["corpus", *keys], how="anti"), *keys).join(based, on=["corpus", *keys])
    every = pl.concat([kept, changed.select(kept.columns)]).sort("corpus", *keys)
    return every.join(bounds, on=["corpus", "dimension", "slice"], how="left", maintain_order="left")


def of_named(scores: pl.DataFrame, parts: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
    """Means of the metrics that the registry names: rows of `metric_summary`, for whole corpora and their slices.

    Parameters
    ----------
    scores
        As `metrics.coverage.completed_scores` returns them.
    parts
        Slices as `slices` returns them.
    metrics
        The metrics, each a column of `scores`.
    """
    keys = ["corpus", "dimension", "slice", "kind", "system"]
    whole = scores.with_columns(dimension=pl.lit(""), slice=pl.lit(""))
    sliced = scores.join(parts.select("passage", "dimension", "slice"), on="passage")
    rows: list[tuple[object, ...]] = []
    groups = pl.concat([whole, sliced.select(whole.columns)]).group_by(keys) if metrics else ()
    for key, group in groups:
        tables = [metric.statistics(group) for metric in metrics]
        units, kind = numbered_units(group["unit"]), group["unit_kind"][0]
        for metric, table, estimate in zip(metrics, tables, estimates(metrics, tables, units), strict=True):
            text = f"{metric.made}; mean over passages, {metric.missing:g} without a usable output; {SIGNATURE}"
            rows.append((*key, metric.name, int(table[:, 0].sum()), *estimate, f"{text}; units: {kind}"))
    return pl.DataFrame(rows, schema=NAMED, orient="row").drop_nulls("value").sort(*keys, "metric")
