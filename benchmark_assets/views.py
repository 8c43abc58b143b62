"""Views: tables that are computed from stored rows whenever they are read.

Here: the function of each view, and reading a table that may be a view. Not here: what the functions compute (their
rooms), what the columns mean (the catalogue, where a view is a table that is not stored).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import polars as pl

from benchmark_assets.audit.calibration import confusions_of_judges
from benchmark_assets.audit.overlap import all_failing_passages, overlaps
from benchmark_assets.examination.hidden import at_work
from benchmark_assets.examination.reports import judge_accuracies
from benchmark_assets.literary.anchored import win_rates
from benchmark_assets.metrics.peers import consensus
from benchmark_assets.metrics.unmeasured import unmeasured
from benchmark_assets.selection.funnel import funnels
from benchmark_assets.understanding.stored import classes, confusions, scored_baselines
from benchmark_assets.validation.boards import certificates
from resources import catalogue
from resources.warehouse import Warehouse

VIEWS: Mapping[str, Callable[[Warehouse], pl.DataFrame]] = {
    "anchored_win_rate": win_rates, "certificate": certificates, "class_score": classes, "confusion": confusions,
    "failing_passage": all_failing_passages, "failure_overlap": overlaps, "funnel": funnels,
    "judge_accuracy": judge_accuracies, "judge_at_work": at_work, "judge_confusion": confusions_of_judges,
    "peer_consensus": consensus, "unmeasured_output": unmeasured,
    **{f"{kind}_score": partial(scored_baselines, table=f"{kind}_answer") for kind in ("baseline", "encoder")},
}  # fmt: skip


def read(
    warehouse: Warehouse, table: str, keys: pl.DataFrame | None = None, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Read rows of a stored table or of a view; parameters and order as in `Warehouse.read`."""
    if table not in VIEWS:
        return warehouse.read(table, keys, columns)
    rows = VIEWS[table](warehouse).sort(catalogue.declared()[table].key)
    if keys is not None:
        rows = rows.join(keys, on=keys.columns, how="semi")
    return rows if columns is None else rows.select(columns)
