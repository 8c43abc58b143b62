"""Assets of error spans: the errors that judges mark in outputs, and the scores of models."""

from functools import partial

import dagster as dg
import polars as pl

from benchmark_assets.error_spans import readings
from benchmark_assets.error_spans.judging import TABLE, SpanVotes
from benchmark_assets.error_spans.summary import rates, summarize
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.metrics.assets import REFERENCE, SOURCE
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.partitions import BY_MODEL, GRID, MODEL, SINGLE_RUN
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from resources.warehouse import Warehouse

span_vote = study_asset(SpanVotes, GRID, "error_spans", [model_output, REFERENCE, SOURCE])


@dg.asset(
    partitions_def=MODEL, backfill_policy=SINGLE_RUN, group_name="error_spans", code_version="1",
    metadata={"tables": ["span_rate"]}, kinds={"duckdb", "numpy"},
    deps=[dg.AssetDep(span_vote, partition_mapping=BY_MODEL)],
)  # fmt: skip
def span_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Mean scores of a model by corpus and judge, and its errors per output by category and severity."""

    def compute(stale: pl.DataFrame) -> Computed:
        votes, spans = (warehouse.read(table, stale.select("model")) for table in ("span_vote", TABLE))
        return Computed({
            "span_summary": summarize(votes, SIGNATURE), "span_rate": rates(votes, spans, SIGNATURE)
        })  # fmt: skip

    describe = partial(readings.of_spans, warehouse)
    return refresh(context, warehouse, compute, SIGNATURE, describe, sparse=True, draw=plots)
