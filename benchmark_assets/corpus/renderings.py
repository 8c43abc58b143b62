"""Renderings: the human translations of passages in the warehouse, whether or not the passages are selected.

Not here: choosing which renderings become references (references), rights in renderings (rights).
"""

import polars as pl

from benchmark_assets.corpus.model import joined
from resources.warehouse import Warehouse


def renderings(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Human translations of passages (column `passage`), from segmented references and from alignments.

    Returns
    -------
    One row per passage and translator: `passage`, `translator`, `segments` (parallel to the source segments, null where
    untranslated), `text` (segments joined), `flag` (note of the corpus or null) and `suspicious` (number of segments
    that failed verification).
    """
    columns = ["passage", "translator", "segments"]
    segmented = warehouse.read("segmented_reference", passages, [*columns, "flag"])
    aligned = warehouse.read("alignment", passages, columns).with_columns(flag=pl.lit(None, pl.String))
    rows = pl.concat([segmented, aligned]).sort("passage", "translator")
    stages = warehouse.read("verification", passages, ["passage", "translator", "stage"])
    counts = stages.filter(stage="suspicious").group_by("passage", "translator").agg(suspicious=pl.len().cast(pl.Int64))
    texts = pl.Series("text", [joined(segments) for segments in rows["segments"].to_list()], dtype=pl.String)
    rows = rows.with_columns(texts).join(counts, on=["passage", "translator"], how="left", maintain_order="left")
    return rows.with_columns(pl.col("suspicious").fill_null(0))
