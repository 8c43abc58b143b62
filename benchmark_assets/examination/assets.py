"""Asset of the report cards of judges. Not here: the examinations themselves (vital_signs)."""

import dagster as dg
import polars as pl

from benchmark_assets.examination.exhibits import EXHIBITS
from benchmark_assets.examination.reports import reports, signature, with_choices
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from resources.provider.provider import Provider
from resources.warehouse import Warehouse


@dg.asset(
    group_name="examination", code_version="2", kinds={"duckdb", "numpy"},
    deps=["sentinel"],
)  # fmt: skip
def judge_report(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider]
) -> dg.Output[None]:
    """Report card of each examined judge: accuracy, obedience, preferences for length and position, and a verdict."""
    thresholds = provider.registry().examination
    choices = with_choices(warehouse.read("sentinel"))

    def compute(_: pl.DataFrame) -> Computed:
        return Computed({"judge_report": reports(choices, thresholds)})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        applicable = partitions.clear() if choices.is_empty() else partitions
        return applicable.with_columns(settings=pl.lit(f"{signature(thresholds)}; {signature(thresholds.of_marks())}"))

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True, partial=True)
