"""Exhibits of what metrics are worth. Not here: computing the numbers."""

import polars as pl

from benchmark_assets.validation.boards import certificates
from resources.exhibits import Exhibit

WORTH = Exhibit(
    "validation", "worth of metrics", order="gold_set metric embedder figure",
    full="gold_set origin metric embedder figure value n unit_kind note",
    rows=lambda rows: rows.filter(pl.col("kind") == ""),
)  # fmt: skip
CERTIFICATES = Exhibit(
    "certificate", "", "What the measures are worth",
    "How each measure compares with people's ratings. A measure may order systems if it puts at least 60 % of pairs of "
    "systems in people's order on two gold sets (lower bound), and mark outputs if it finds the output with a major "
    "error in at least 55 % of pairs; else it is a distance.",
    columns="metric ranks marks worth", read=certificates, sources="validation model_summary",
)  # fmt: skip
