"""Asset of the report cards of judges. Not here: the examinations themselves, which pairwise and literary make."""

from functools import partial

import dagster as dg
import polars as pl

from benchmark_assets.examination import readings
from benchmark_assets.examination.reports import reports, signature
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

PURPOSES = {"comparison_sentinel": "comparison", "aspect_sentinel": "aspect_vote"}
"""Tables of choices, and the tables of the votes that the judges were examined for."""


@dg.asset(
    group_name="examination", code_version="1", kinds={"duckdb", "numpy"}, metadata={"tables": ["judge_accuracy"]},
    deps=list(PURPOSES),
)  # fmt: skip
def judge_report(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider]
) -> dg.Output[None]:
    """Report card of each examined judge: accuracy, obedience, fondness of length and position, and a verdict."""
    thresholds = provider.registry().examination
    choices = pl.concat(
        [warehouse.read(table).with_columns(purpose=pl.lit(purpose)) for table, purpose in PURPOSES.items()]
    )

    def compute(_: pl.DataFrame) -> Computed:
        cards, accuracies = reports(choices, thresholds)
        return Computed({"judge_report": cards, "judge_accuracy": accuracies})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        applicable = partitions.clear() if choices.is_empty() else partitions
        return applicable.with_columns(settings=pl.lit(signature(thresholds)))

    return refresh(
        context, warehouse, compute, settings, partial(readings.of_reports, warehouse), sparse=True, partial=True
    )
