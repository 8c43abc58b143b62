"""Parts of a corpus that are looked at apart: collections, short and long passages, narrow and wide envelopes.

Not here: aggregates (metrics.summary).
"""

import polars as pl

from benchmark_assets.reporting.leaderboard import summaries
from resources.keys import COLLECTION
from resources.warehouse import Warehouse

THIRDS = {
    "source_length": ["short", "middle", "long"],
    "reference_length": ["short", "middle", "long"],
    "human_spread": ["narrow", "middle", "wide"],
}
"""Columns that are cut into thirds, and what the thirds are called."""

SLICE = pl.Schema({
    "corpus": pl.String(), "passage": pl.String(), "dimension": pl.String(), "slice": pl.String(),
    "least": pl.Float64(), "most": pl.Float64(),
})  # fmt: skip


def measured(warehouse: Warehouse) -> pl.DataFrame:
    """Input of `slices`: all passages that have a complete reference, with lengths in characters."""
    references = warehouse.read("reference", columns=["passage", "text", "complete"]).filter("complete")
    lengths = references.group_by("passage").agg(reference_length=pl.col("text").str.len_chars().mean())
    sources = warehouse.read("source_text", columns=["corpus", "passage", "document", "text"])
    spreads = warehouse.read("reference_envelope", columns=["passage", "human_spread"])
    rows = sources.with_columns(source_length=pl.col("text").str.len_chars()).drop("text")
    return rows.join(lengths, on="passage").join(spreads, on="passage", how="left")


def slices(passages: pl.DataFrame) -> pl.DataFrame:
    """The slices that each passage belongs to, one for each dimension.

    Parameters
    ----------
    passages
        Columns `corpus`, `passage`, `document` and the columns in `THIRDS`. A passage with null in one of these is in
        no slice of that dimension.

    Returns
    -------
    Columns of `SLICE`; `least` and `most` bound the values in a third. No rows for a dimension in which a corpus has
    one slice only.

    Notes
    -----
    The collection of a document is the part of its id before the first character that is not a letter: `an10.13`
    belongs to `an`. Thirds are by rank within the corpus. Equal values are in the same third, so thirds differ in size
    where values repeat.
    """
    collection = passages.select(
        "corpus", "passage", pl.lit("collection").alias("dimension"), COLLECTION.alias("slice"),
        least=pl.lit(None, pl.Float64), most=pl.lit(None, pl.Float64),
    )  # fmt: skip
    parts = [collection.drop_nulls("slice")]
    for dimension, names in THIRDS.items():
        known = passages.drop_nulls(dimension)
        third = (3 * (pl.col(dimension).rank("min") - 1)).over("corpus") // pl.len().over("corpus")
        cut = known.select(
            "corpus", "passage", pl.lit(dimension).alias("dimension"), pl.col(dimension).cast(pl.Float64),
            slice=third.replace_strict(dict(enumerate(names)), return_dtype=pl.String),
        )  # fmt: skip
        value, within = pl.col(dimension), ["corpus", "slice"]
        parts.append(
            cut.with_columns(least=value.min().over(within), most=value.max().over(within)).select(SLICE.names())
        )
    return pl.concat(parts).filter(pl.col("slice").n_unique().over("corpus", "dimension") > 1)


def sliced(scores: pl.DataFrame, parts: pl.DataFrame) -> pl.DataFrame:
    """Summaries of each system over each slice: rows of `slice_summary`.

    Parameters
    ----------
    scores
        As `metrics.scores.all_scores` returns them.
    parts
        Columns of `SLICE`.
    """
    keys = ["dimension", "slice", "kind", "system"]
    own = scores.join(parts.select("passage", "dimension", "slice"), on="passage").sort(*keys, "passage")
    bounds = parts.select("corpus", "dimension", "slice", "least", "most").unique()
    return summaries(own, *keys).join(bounds, on=["corpus", "dimension", "slice"], how="left", maintain_order="left")
