"""Closest references of each system (PaliBench, table 7). Not here: similarities (metrics.drift)."""

import polars as pl

from benchmark_assets.metrics.intervals import rate_interval
from benchmark_assets.metrics.measures import numbered_units
from resources.catalogue import schema

CLOSEST = schema("closest_share", "signature")
SIGNATURE = (
    "share: of the passages in which there is this reference and at least one other, those in which it is the most "
    "similar, equal ones going to the first by name; 95 % intervals: Wilson, with a sample size that follows from the "
    "units"
)


def closest(scores: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """Share of passages in which each translator's reference is the most similar to a system's output.

    Parameters
    ----------
    scores
        Columns `kind`, `system`, `corpus`, `passage`, `references` (number of references), `closest_reference`
        and `unit`.
    references
        Columns `passage` and `translator`: the complete references. A translator's text is not compared with itself.

    Returns
    -------
    Columns of `CLOSEST` and `signature`: one row for each pair of a system and a translator in a corpus, with the
    share in [0, 1] and its 95 % interval.
    """
    outputs = scores.filter(pl.col("references") >= 2, pl.col("closest_reference").is_not_null())
    pairs = outputs.select("kind", "system", "corpus", "passage", "references", "closest_reference", "unit").join(
        references.select("passage", "translator"), on="passage"
    )
    pairs = pairs.filter((pl.col("kind") == "model") | (pl.col("translator") != pl.col("system")))
    hits = pl.col("closest_reference") == pl.col("translator")
    counts = pairs.group_by("corpus", "kind", "system", "translator").agg(
        "unit", mean_references=pl.col("references").mean(), passages=pl.len(), closest=hits.sum(), hits=hits
    )
    intervals = [
        rate_interval(hits.to_numpy(), numbered_units(units))
        for hits, units in zip(counts["hits"], counts["unit"], strict=True)
    ]
    rows = counts.with_columns(
        pl.Series("share_low", [low for low, _ in intervals], dtype=pl.Float64),
        pl.Series("share_high", [high for _, high in intervals], dtype=pl.Float64),
        share=pl.col("closest") / pl.col("passages"),
    )
    ordered = rows.sort("corpus", "kind", "system", "translator", descending=[False, True, False, False])
    return ordered.select(pl.col(name).cast(kind) for name, kind in CLOSEST.items()).with_columns(
        signature=pl.lit(SIGNATURE)
    )
