"""The exhibit of what metrics are worth. Not here: computing the numbers."""

import polars as pl

from resources.exhibits import Exhibit

WORTH = Exhibit(
    "validation", "worth of metrics", order="gold_set metric embedder figure",
    full="gold_set origin metric embedder figure value n unit_kind note",
    rows=lambda rows: rows.filter(pl.col("kind") == ""),
)  # fmt: skip
