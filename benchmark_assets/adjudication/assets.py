"""Assets of the adjudication: which outputs are looked at, what judges and people say of them, what that comes to."""

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.panel import JudgeVotes
from benchmark_assets.adjudication.triage import audits, banded, item_key
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.metrics.assets import REFERENCE, SOURCE, drift_score
from benchmark_assets.partitions import GRID, SINGLE_RUN
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from resources.warehouse import Warehouse


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="adjudication", code_version="1", kinds={"duckdb"},
    deps=[model_output, drift_score],
)  # fmt: skip
def triage(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Band of drift of each output, whether the panel judges it, and whether people do.

    The sample of a model is drawn from all its outputs, so one that changes its band may take another's place in it.
    """

    def rows(asked: pl.DataFrame) -> pl.DataFrame:
        drifts = warehouse.read("drift_score", asked.select("model").unique(), ["model", "passage", "drift"])
        return banded(drifts, audits(warehouse)).join(asked, on=["model", "passage"], how="semi")

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        return rows(asked).select("model", "passage", settings=pl.format("{} {} {}", "band", "queued", "sampled"))

    def compute(due: pl.DataFrame) -> Computed:
        texts = warehouse.read("model_output", due, ["model", "passage", "text"])
        item = pl.struct("model", "passage", "text").map_elements(lambda row: item_key(**row), return_dtype=pl.String)
        return Computed(
            {"triage": rows(due).join(texts.select("model", "passage", item=item), on=["model", "passage"])}
        )

    return refresh(context, warehouse, compute, settings)


judge_vote = study_asset(JudgeVotes, GRID, "adjudication", [triage, model_output, REFERENCE, SOURCE])


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="adjudication", code_version="1", kinds={"duckdb"},
    deps=[judge_vote],
)  # fmt: skip
def verdict(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """What the panel says of an output, by the majority of its seats."""

    def compute(due: pl.DataFrame) -> Computed:
        return Computed({"verdict": verdicts(warehouse.read("judge_vote", due))})

    return refresh(context, warehouse, compute, sparse=True)


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="adjudication", code_version="1", kinds={"duckdb"},
    deps=[triage],
)  # fmt: skip
def human_label(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """What people say of an output as it is now: a label that was given to a former text of it does not apply."""

    def labels(asked: pl.DataFrame) -> pl.DataFrame:
        items = warehouse.read("triage", asked.select("model", "passage"), ["model", "passage", "item"])
        given = warehouse.read("imported_label", items.select("item")).drop("file", "run_id", "updated_at")
        return items.join(given, on="item").drop("item").sort("model", "passage", "annotator")

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        said = pl.format("{} {}", "annotator", "fingerprint").str.join("\n")
        return labels(asked).group_by("model", "passage", maintain_order=True).agg(settings=said)

    def compute(due: pl.DataFrame) -> Computed:
        return Computed({"human_label": labels(due).drop("fingerprint")})

    return refresh(context, warehouse, compute, settings, sparse=True)
