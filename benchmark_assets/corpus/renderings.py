"""Renderings: the human translations of passages in the warehouse, whether or not the passages are selected.

Not here: choosing which renderings become references (references), rights in renderings (rights).
"""

import polars as pl

from benchmark_assets.corpus.model import joined
from benchmark_assets.corpus.pairs import CALLED_WRONG
from resources.keys import CORPUS
from resources.warehouse import Warehouse


def renderings(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Human translations of passages (column `passage`), from segmented references and from alignments.

    Returns
    -------
    One row per passage and translator: `passage`, `translator`, `segments` (parallel to the source segments, null where
    untranslated), `text` (segments joined), `flag` (note of the corpus or null) and `suspicious` (number of segments
    that failed verification, or whose pair is doubted).
    """
    columns = ["passage", "translator", "segments"]
    segmented = warehouse.read("segmented_reference", passages, [*columns, "flag"])
    aligned = warehouse.read("alignment", passages, columns).with_columns(flag=pl.lit(None, pl.String))
    rows = pl.concat([segmented, aligned]).sort("passage", "translator")
    stages = warehouse.read("verification", passages, ["passage", "translator", "segment_id", "stage"])
    wrong = pl.concat([stages.filter(stage="suspicious").drop("stage"), doubted_pairs(warehouse, passages)]).unique()
    counts = wrong.group_by("passage", "translator").agg(suspicious=pl.len().cast(pl.Int64))
    texts = pl.Series("text", [joined(segments) for segments in rows["segments"].to_list()], dtype=pl.String)
    rows = rows.with_columns(texts).join(counts, on=["passage", "translator"], how="left", maintain_order="left")
    return rows.with_columns(pl.col("suspicious").fill_null(0))


def doubted_pairs(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Segments of references that are not used because their pair is doubted: `passage`, `translator`, `segment_id`.

    In corpora of added benchmarks, which have published numbers, computed doubts are shown and change nothing; a pair
    that a person calls wrong is used nowhere.
    """
    rows = warehouse.read("pair_doubt", passages, ["passage", "translator", "segment_id", "kind", "accepted"])
    fixed = warehouse.read("benchmark", columns=["corpora"])["corpora"].explode().drop_nulls()
    counts = ~pl.col("accepted") & ~CORPUS.is_in(fixed.to_list())
    return rows.filter(counts | (pl.col("kind") == CALLED_WRONG)).drop("kind", "accepted")


def with_doubts(warehouse: Warehouse, settings: pl.DataFrame) -> pl.DataFrame:
    """Append the doubted pairs of a passage to its `settings`; without doubts, nothing changes."""
    names = pl.format(" {} {}", "translator", "segment_id").sort().str.join(",")
    doubted = doubted_pairs(warehouse, settings.select("passage")).group_by("passage").agg(doubted=names)
    added = settings.join(doubted, on="passage", how="left", maintain_order="left")
    return added.select("passage", settings=pl.concat_str("settings", "doubted", ignore_nulls=True))


def doubts_by_reference(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """What is doubted in each reference of passages, in words: `passage`, `translator`, `doubt`."""
    rows = warehouse.read("pair_doubt", passages, ["passage", "translator", "segment_id", "evidence"])
    words = pl.format("{} {}", "segment_id", "evidence").str.join("; ")
    return rows.sort("passage", "translator").group_by("passage", "translator", maintain_order=True).agg(doubt=words)
