"""Asset of the report cards of judges. Not here: the examinations themselves, which are assets of the judges' rooms."""

from functools import partial

import dagster as dg
import polars as pl

from benchmark_assets.examination import readings
from benchmark_assets.examination.reports import CHOICE, choices_on_texts, reports, signature
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

PAIRS = {"comparison_sentinel": "comparison", "aspect_sentinel": "aspect_vote"}
"""Examinations of judges that choose between two texts: the table of each examination, and the table of the judges'
votes on outputs."""

TEXTS = {"judge_sentinel": "judge_vote", "rubric_sentinel": "rubric_vote", "span_sentinel": "span_vote"}
"""Examinations of judges of single texts: the table of each examination, and the table of the judges' votes on
outputs."""


@dg.asset(
    group_name="examination", code_version="2", kinds={"duckdb", "numpy"}, metadata={"tables": ["judge_accuracy"]},
    deps=[*PAIRS, *TEXTS],
)  # fmt: skip
def judge_report(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider]
) -> dg.Output[None]:
    """Report card of each examined judge: accuracy, obedience, preferences for length and position, and a verdict."""
    thresholds = provider.registry().examination
    tables = {purpose: warehouse.read(table) for table, purpose in PAIRS.items()}
    tables |= {purpose: choices_on_texts(warehouse.read(table)) for table, purpose in TEXTS.items()}
    choices = pl.concat([rows.select(*CHOICE, purpose=pl.lit(purpose)) for purpose, rows in tables.items()])

    def compute(_: pl.DataFrame) -> Computed:
        cards, accuracies = reports(choices, thresholds)
        return Computed({"judge_report": cards, "judge_accuracy": accuracies})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        applicable = partitions.clear() if choices.is_empty() else partitions
        return applicable.with_columns(settings=pl.lit(f"{signature(thresholds)}; {signature(thresholds.of_marks())}"))

    return refresh(
        context, warehouse, compute, settings, partial(readings.of_reports, warehouse), sparse=True, partial=True
    )
