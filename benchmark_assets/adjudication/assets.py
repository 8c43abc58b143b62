"""Assets of adjudication: triage of outputs, judges' votes, the panel's verdicts."""

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.panel import JudgeVotes, counted
from benchmark_assets.adjudication.triage import audits, banded, item_key
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.examination.assets import judge_report
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.metrics.assets import REFERENCE, SOURCE, drift_score
from benchmark_assets.partitions import GRID, partitioned
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from resources.warehouse import Warehouse


@dg.asset(
    **partitioned(GRID), group_name="adjudication", code_version="1", kinds={"duckdb"},
    deps=[model_output, drift_score],
)  # fmt: skip
def triage(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Drift band of each output, whether the output is queued for the panel, and whether it is sampled for people.

    A model's sample is drawn from all its outputs. When an output moves into a band, it may displace another output
    from the sample.
    """

    def rows(partitions: pl.DataFrame) -> pl.DataFrame:
        drifts = warehouse.read("drift_score", partitions.select("model").unique(), ["model", "passage", "drift"])
        return banded(drifts, audits(warehouse)).join(partitions, on=["model", "passage"], how="semi")

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        screened = pl.when("screened").then(pl.lit(" screened")).otherwise(pl.lit(""))
        words = pl.format("{} {} {}{}", "band", "queued", "sampled", screened)
        return rows(partitions).select("model", "passage", settings=words)

    def compute(stale: pl.DataFrame) -> Computed:
        texts = warehouse.read("model_output", stale, ["model", "passage", "text"])
        item = pl.struct("model", "passage", "text").map_elements(lambda row: item_key(**row), return_dtype=pl.String)
        items = texts.select("model", "passage", item=item)
        return Computed({"triage": rows(stale).join(items, on=["model", "passage"])})

    return refresh(context, warehouse, compute, settings)


judge_vote = study_asset(JudgeVotes, GRID, "adjudication", [triage, model_output, REFERENCE, SOURCE])


@dg.asset(
    **partitioned(GRID), group_name="adjudication", code_version="1", kinds={"duckdb"}, deps=[judge_vote, judge_report]
)
def verdict(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """The panel's verdict on an output, by majority of its judges. Votes of judges that failed their examination do not
    count."""

    def compute(stale: pl.DataFrame) -> Computed:
        return Computed({"verdict": verdicts(counted(warehouse.read("judge_vote", stale), warehouse))})

    return refresh(context, warehouse, compute, sparse=True, partial=True)
