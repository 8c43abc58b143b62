"""The asset `validation`: what metrics are worth beside people's ratings."""

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.metrics.assets import (
    comet_score,
    drift_score,
    human_metric,
    lexical_score,
    segment_metric,
)
from benchmark_assets.metrics.intervals import BOOTSTRAP
from benchmark_assets.people.assets import human_label
from benchmark_assets.sensitivity.assets import damaged_score
from benchmark_assets.validation.exhibits import WORTH
from benchmark_assets.validation.own import rows_of_people
from benchmark_assets.validation.planted import rows_of_planted
from benchmark_assets.validation.rows import VALIDATION
from resources.digest import digest
from resources.warehouse import Warehouse


@dg.asset(
    group_name="validation", code_version="3", kinds={"duckdb", "numpy"},
    deps=[human_label, drift_score, lexical_score, comet_score, segment_metric, damaged_score, human_metric],
)  # fmt: skip
def validation(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Figures of every metric beside people's ratings and beside planted errors.

    Rows are about gold sets that were recorded, about labels by people of a corpus, from 100 labeled outputs of its
    sample, and about errors planted in the human translations that the sensitivity suite damages.
    """

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        recorded = warehouse.read("gold_validation", columns=["gold_set", "updated_at"]).unique().sort("gold_set")
        others = [len(warehouse.read(table, columns=["passage"], most=1)) for table in ("human_label", "damaged_score")]
        applicable = partitions if len(recorded) or any(others) else partitions.clear()
        return applicable.with_columns(settings=pl.lit(digest(BOOTSTRAP, recorded.rows())))

    def compute(_: pl.DataFrame) -> Computed:
        recorded = warehouse.read("gold_validation").select(*VALIDATION)
        return Computed({"validation": pl.concat([recorded, rows_of_people(warehouse), rows_of_planted(warehouse)])})

    return refresh(context, warehouse, compute, settings, [WORTH], sparse=True, partial=True)
