"""Pairwise scores and marks as people read them in Dagster's UI. Not here: the numbers."""

from collections.abc import Mapping

import polars as pl

from resources.tables import shown
from resources.warehouse import Warehouse

COUNTS = ["items", "matches", "wins", "ties", "excluded", "win_rate"]


def of_anchors(warehouse: Warehouse) -> Mapping[str, str]:
    """Anchors of each base set by LT."""
    return {"anchors": _best_first(warehouse, "anchor_score", "anchor", "lt", "en")}


def of_models(warehouse: Warehouse) -> Mapping[str, str]:
    """Models by base set and slice, best first."""
    return {"scores": _best_first(warehouse, "pairwise_score", "model", "lt", "lt_fixed", "first_rate")}


def of_rubric(warehouse: Warehouse) -> Mapping[str, str]:
    """Marks of models by corpus and judge, best first."""
    rows = warehouse.read("rubric_summary").sort("corpus", "judge", "mean", descending=[False, False, True])
    return {"marks": shown(rows, "rubric_summary")}


def _best_first(warehouse: Warehouse, table: str, system: str, *scores: str) -> str:
    """Systems by base set and slice, and below them what they are comparable under."""
    rows = warehouse.read(table).sort("base_set", "slice", "lt", descending=[False, False, True])
    rows = rows.with_columns(signature=pl.format("{}; {}", "contract", "signature"))
    return shown(rows, table, "base_set", "slice", system, *COUNTS, *scores, "problem")
