"""Assets of adjudication: triage of outputs, judges' votes, the panel's verdicts."""

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.panel import JudgeVotes, counted
from benchmark_assets.adjudication.triage import audits, banded, item_key, outputs_of, without_support
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.examination.assets import judge_verdict
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.metrics.assets import REFERENCE, SOURCE, drift_score
from benchmark_assets.metrics.further import NamedMetrics
from benchmark_assets.partitions import GRID, partitioned
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from resources.warehouse import Warehouse


@dg.asset(
    **partitioned(GRID), group_name="adjudication", code_version="1", kinds={"duckdb"},
    deps=[model_output, drift_score],
)  # fmt: skip
def triage(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], metrics: dg.ResourceParam[NamedMetrics]
) -> dg.Output[None]:
    """Band of each output, whether the output is queued for the panel, and whether it is sampled for people.

    A model's sample is drawn from all its outputs. When an output moves into a band, it may displace another output
    from the sample. Outputs whose audit is by support are triaged once they have a score by it.
    """

    # Scores by support are no input, without which nothing would be triaged. The settings read them.
    on = ["model", "passage"]

    def rows(partitions: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Bands of the outputs, and the outputs that need a score by support which the registry does not name."""
        settings = audits(warehouse)
        outputs = outputs_of(warehouse, partitions.select("model").unique(), settings)
        computed = any(named.metric.name == "support" for named in metrics.values())
        parts = banded(outputs, settings), without_support(outputs, {} if computed else settings)
        return tuple(part.join(partitions, on=on, how="semi") for part in parts)  # type: ignore[return-value]

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        bands, lacking = rows(partitions)
        screened = pl.when("screened").then(pl.lit(" screened")).otherwise(pl.lit(""))
        words = pl.format("{} {} {}{}", "band", "queued", "sampled", screened)
        failing = lacking.select(*on, settings=pl.lit("no score by support"))
        return pl.concat([bands.select(*on, settings=words), failing])

    def compute(stale: pl.DataFrame) -> Computed:
        texts = warehouse.read("model_output", stale, [*on, "text"])
        item = pl.struct("model", "passage", "text").map_elements(lambda row: item_key(**row), return_dtype=pl.String)
        bands, lacking = rows(stale)
        error = pl.lit("has no score by support: name `support` under `metrics` in the registry, or change `audit.by`")
        triaged = bands.join(texts.select(*on, item=item), on=on)
        return Computed({"triage": triaged}, lacking.with_columns(error=error) if len(lacking) else None)

    return refresh(context, warehouse, compute, settings)


judge_vote = study_asset(JudgeVotes, GRID, "adjudication", [triage, model_output, REFERENCE, SOURCE, judge_verdict])


@dg.asset(
    **partitioned(GRID), group_name="adjudication", code_version="1", kinds={"duckdb"}, deps=[judge_vote, judge_verdict]
)
def verdict(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """The panel's verdict on an output, by majority of its judges. Votes of judges that failed their examination do not
    count."""

    def compute(stale: pl.DataFrame) -> Computed:
        return Computed({"verdict": verdicts(counted(warehouse.read("judge_vote", stale), warehouse))})

    return refresh(context, warehouse, compute, sparse=True, partial=True)
