"""Pairwise scores and marks as people read them in Dagster's UI. Not here: the numbers."""

from collections.abc import Mapping

import polars as pl

from resources.tables import number, shown
from resources.warehouse import Warehouse

COUNTS = ["items", "matches", "wins", "ties", "excluded"]


def of_anchors(warehouse: Warehouse) -> Mapping[str, str]:
    """Anchors of each base set by LT."""
    rows = warehouse.read("anchor_score").sort("base_set", "slice", "lt", descending=[False, False, True])
    numbers = [number("win_rate", 1, 100), number("lt", 2), number("en", 2), pl.col("problem").fill_null("")]
    return {"anchors": _shown(rows.select("base_set", "slice", "anchor", *COUNTS, *numbers), rows)}


def of_models(warehouse: Warehouse) -> Mapping[str, str]:
    """Models by base set and slice, best first."""
    rows = warehouse.read("pairwise_score").sort("base_set", "slice", "lt", descending=[False, False, True])
    numbers = [
        number("win_rate", 1, 100), number("lt", 2), number("lt_fixed", 2), number("first_rate", 2),
        pl.col("problem").fill_null(""),
    ]  # fmt: skip
    return {"scores": _shown(rows.select("base_set", "slice", "model", *COUNTS, *numbers), rows)}


def of_rubric(warehouse: Warehouse) -> Mapping[str, str]:
    """Marks of models by corpus and judge, best first."""
    rows = warehouse.read("rubric_summary").sort("corpus", "judge", "mean", descending=[False, False, True])
    shares = [number(name, 1, 100).alias(f"{name}, %") for name in ("useful", "perfect", "flagged")]
    names = ["corpus", "judge", "model", "outputs", "abstained"]
    marks = ["ones", "twos", "threes", "fours", "fives"]
    table = rows.select(*names, number("mean", 2), pl.col("median").round(1), *marks, *shares)
    return {"marks": shown(table, rows)}


def _shown(table: pl.DataFrame, rows: pl.DataFrame) -> str:
    """A table, and below it what its rows are comparable under."""
    signed = rows.select(signature=pl.format("{}; {}", "contract", "signature"))
    return shown(table, signed)
