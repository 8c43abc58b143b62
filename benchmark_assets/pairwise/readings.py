"""Tables of pairwise scores and rubric marks for Dagster's UI. Not here: computing the numbers."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.pairwise.scores import EFFECTS
from resources.tables import shown
from resources.warehouse import Warehouse

COUNTS = ["items", "matches", "wins", "ties", "excluded", "win_rate"]


def of_anchors(warehouse: Warehouse) -> Mapping[str, str]:
    """Table of the anchors of each base set and slice, highest LT first."""
    return {"anchors": _best_first(warehouse, "anchor_score", "anchor", "lt", "lt_controlled", "en", "length_problem")}


def of_models(warehouse: Warehouse) -> Mapping[str, str]:
    """Table of the models in each base set and slice, highest LT first."""
    lts = "lt", "lt_fixed", "lt_controlled", "lt_fixed_controlled"
    columns = *EFFECTS, "length_problem", "first_rate", "judge_standing"
    return {"scores": _best_first(warehouse, "pairwise_score", "model", *lts, *columns)}


def of_rubric(warehouse: Warehouse) -> Mapping[str, str]:
    """Table of rubric marks: the models of each corpus and judge, highest mean first."""
    rows = warehouse.read("rubric_summary").sort("corpus", "judge", "mean", descending=[False, False, True])
    return {"marks": shown(rows, "rubric_summary")}


def _best_first(warehouse: Warehouse, table: str, system: str, *scores: str) -> str:
    """Markdown table of systems by base set and slice, followed by the contracts and signatures of their scores."""
    rows = warehouse.read(table).sort("base_set", "slice", "lt", descending=[False, False, True])
    rows = rows.with_columns(signature=pl.format("{}; {}", "contract", "signature"))
    return shown(rows, table, "base_set", "slice", system, *COUNTS, *scores, "problem")
