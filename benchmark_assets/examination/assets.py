"""Assets of report cards of judges and of verdicts on judges. Not here: the examinations (vital_signs)."""

import dagster as dg
import polars as pl

from benchmark_assets.examination.exhibits import EXHIBITS
from benchmark_assets.examination.reports import reports, signature, with_choices
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from resources.catalogue import schema
from resources.provider.provider import Provider
from resources.warehouse import Warehouse


@dg.asset(
    group_name="examination", code_version="3", kinds={"duckdb", "numpy"},
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


@dg.asset(group_name="examination", code_version="1", kinds={"duckdb"}, deps=[judge_report])
def judge_verdict(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """The verdict on each examined judge. Votes depend on it, so that judges are examined before they are asked."""

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        examined = len(warehouse.read("judge_report", columns=["judge"], most=1))
        return (partitions if examined else partitions.clear()).with_columns(settings=pl.lit(""))

    def compute(_: pl.DataFrame) -> Computed:
        return Computed({"judge_verdict": warehouse.read("judge_report", columns=schema("judge_verdict").names())})

    return refresh(context, warehouse, compute, settings, sparse=True, partial=True)
