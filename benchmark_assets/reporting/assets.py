"""Assets that people read: a summary for each model, and the leaderboard of all."""

import dagster as dg
import polars as pl

from benchmark_assets.lineage.refresh import Computed, refresh
from benchmark_assets.metrics.assets import drift_score, human_baseline, lexical_score
from benchmark_assets.metrics.summary import signature
from benchmark_assets.partitions import BY_MODEL, MODEL, SINGLE_RUN
from benchmark_assets.reporting.leaderboard import rank, readable, summaries
from benchmark_assets.reporting.tables import markdown
from benchmark_assets.translation.systems import Systems
from resources.warehouse import Warehouse


@dg.asset(
    partitions_def=MODEL, backfill_policy=SINGLE_RUN, group_name="reporting", code_version="1", kinds={"duckdb"},
    deps=[dg.AssetDep(score, partition_mapping=BY_MODEL) for score in (drift_score, lexical_score)],
)  # fmt: skip
def model_summary(context: dg.AssetExecutionContext, warehouse: Warehouse) -> dg.Output[None]:
    """A model's aggregates over each corpus, with 95 % intervals."""

    def compute(due: pl.DataFrame) -> Computed:
        drift, lexical = (warehouse.read(table, due) for table in ("drift_score", "lexical_score"))
        scores = drift.join(lexical, on=["model", "passage"])
        return Computed({"model_summary": summaries(scores, "model")})

    def describe() -> dict[str, dg.MetadataValue]:
        rows = warehouse.read("model_summary", pl.DataFrame({"model": context.partition_keys}))
        return {"summary": dg.MetadataValue.md(markdown(readable(rows.rename({"model": "system"}))))}

    return refresh(context, warehouse, compute, signature("of the scores"), describe)


@dg.asset(
    group_name="reporting", code_version="1", kinds={"duckdb"}, deps=[model_summary, human_baseline],
)  # fmt: skip
def leaderboard(context: dg.AssetExecutionContext, warehouse: Warehouse, systems: Systems) -> dg.Output[None]:
    """Models and human translators of every corpus, ranked by similarity to the closest reference.

    A human translator's row scores that translator against the others: it says how far apart people are. A model that
    was removed from the registry keeps its row, which says so.
    """
    evaluated = set(warehouse.read("model_summary", columns=["model"])["model"])
    removed = sorted(evaluated - systems.known(evaluated))

    def compute(_: pl.DataFrame) -> Computed:
        provenance = ["fingerprint", "run_id", "updated_at"]
        models = warehouse.read("model_summary").drop(provenance)
        humans = summaries(warehouse.read("human_baseline"), "translator")
        return Computed({"leaderboard": rank(models, humans, removed)})

    def describe() -> dict[str, dg.MetadataValue]:
        return {"leaderboard": dg.MetadataValue.md(markdown(readable(warehouse.read("leaderboard")), most=200))}

    return refresh(context, warehouse, compute, f"{signature('of the scores')} {removed}", describe)
