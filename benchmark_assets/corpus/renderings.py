"""Renderings of passages by every translator, from the warehouse, whether or not their passages are selected.

Not here: which renderings are references (references.rows), which may be passed on (rights).
"""

import polars as pl

from benchmark_assets.corpus.model import joined
from resources.warehouse import Warehouse


def renderings(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Human translations of passages, from segmented references and from alignments.

    Returns
    -------
    Columns `passage`, `translator`, `segments`, `text` (segments joined), `flag` and `suspicious`: the number of
    segments whose text was not found in the translation.
    """
    columns = ["passage", "translator", "segments"]
    segmented = warehouse.read("segmented_reference", passages, [*columns, "flag"])
    aligned = warehouse.read("alignment", passages, columns).with_columns(flag=pl.lit(None, pl.String))
    rows = pl.concat([segmented, aligned]).sort("passage", "translator")
    doubtful = warehouse.read("verification", passages, ["passage", "translator", "stage"]).filter(stage="suspicious")
    counts = doubtful.group_by("passage", "translator").agg(suspicious=pl.len().cast(pl.Int64))
    texts = pl.Series("text", [joined(segments) for segments in rows["segments"].to_list()], dtype=pl.String)
    rows = rows.with_columns(texts).join(counts, on=["passage", "translator"], how="left", maintain_order="left")
    return rows.with_columns(pl.col("suspicious").fill_null(0))
