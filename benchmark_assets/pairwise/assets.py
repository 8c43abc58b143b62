"""Assets of pairwise judging: comparisons of outputs with anchors, rubric marks, and scores from both."""

from collections.abc import Iterator

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.metrics.assets import REFERENCE, SOURCE
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.pairwise import readings, rubric, scores
from benchmark_assets.pairwise.comparing import judged_by
from benchmark_assets.pairwise.matches import Comparisons
from benchmark_assets.partitions import BY_MODEL, GRID, MODEL, SINGLE_RUN
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from benchmark_assets.translation.systems import Systems
from resources.digest import digest
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

comparison = study_asset(Comparisons, GRID, "pairwise", [model_output, SOURCE])


@dg.asset(group_name="pairwise", code_version="1", kinds={"duckdb", "numpy"})
def anchor_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Scores of each base set's anchors against each other: win rate, strength and LT by slice."""
    contracts = {row["base_set"]: scores.contract(row) for row in warehouse.read("base_set").iter_rows(named=True)}

    def compute(_: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("anchor_score").drop("fingerprint")]
        for base_set, contract in contracts.items():
            key = pl.DataFrame({"base_set": [base_set]})
            judgments, items = (warehouse.read(table, key) for table in ("anchor_judgment", "base_set_item"))
            rows.append(scores.anchor_scores(judgments, items, contract))
        return Computed({"anchor_score": pl.concat(rows)})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        wanted = partitions if contracts else partitions.clear()
        return wanted.with_columns(settings=pl.lit(digest(scores.SIGNATURE, contracts)))

    return refresh(
        context, warehouse, compute, settings, lambda: readings.of_anchors(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip


@dg.asset(
    partitions_def=MODEL, backfill_policy=SINGLE_RUN, group_name="pairwise", code_version="1",
    kinds={"duckdb", "numpy"}, deps=[dg.AssetDep(comparison, partition_mapping=BY_MODEL)],
)  # fmt: skip
def pairwise_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Systems],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Scores of a model against each base set that it was compared with, from separate fits: win rate and LT by slice.

    Scores of models that are no longer registered stay as they are, under their former contract. The same holds for
    scores against a base set whose judge is unknown.
    """
    contracts = dict(_contracts(warehouse, systems.provider))

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        compared = warehouse.read("comparison", partitions.select("model"), ["model", "base_set"]).unique()
        words = pl.col("base_set").replace_strict(contracts, default="", return_dtype=pl.String)
        by_model = compared.sort("model", "base_set").group_by("model", maintain_order=True).agg(
            pl.when(~words.has_nulls()).then(words.str.join("\n"))
        )  # fmt: skip
        registered = pl.col("model").is_in(list(systems.known(by_model["model"])))
        return by_model.select(
            "model", settings=pl.when(registered).then(pl.format("{} {}", pl.lit(scores.SIGNATURE), "base_set"))
        )

    def compute(stale: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("pairwise_score").drop("fingerprint")]
        for base_set, contract in contracts.items():
            key = pl.DataFrame({"base_set": [base_set]})
            compared = warehouse.read("comparison", stale.join(key, how="cross"))
            judgments, items = (warehouse.read(table, key) for table in ("anchor_judgment", "base_set_item"))
            if contract and len(compared):
                rows.append(scores.candidate_scores(compared, judgments, items, contract))
        return Computed({"pairwise_score": pl.concat(rows)})

    return refresh(
        context, warehouse, compute, settings, lambda: readings.of_models(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip


rubric_vote = study_asset(rubric.RubricVotes, GRID, "pairwise", [model_output, REFERENCE, SOURCE])


@dg.asset(
    partitions_def=MODEL, backfill_policy=SINGLE_RUN, group_name="pairwise", code_version="1", kinds={"duckdb"},
    deps=[dg.AssetDep(rubric_vote, partition_mapping=BY_MODEL)],
)  # fmt: skip
def rubric_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Summary of a model's marks by corpus and judge: mean, shares of useful and perfect outputs."""

    def compute(stale: pl.DataFrame) -> Computed:
        votes = warehouse.read("rubric_vote", stale, ["model", "passage", "judge", "mark", "perfect"])
        return Computed({"rubric_summary": rubric.summarize(votes)})

    return refresh(
        context, warehouse, compute, SIGNATURE, lambda: readings.of_rubric(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip


def _contracts(warehouse: Warehouse, provider: Provider) -> Iterator[tuple[str, str | None]]:
    """Contract of models' scores against each base set; None if neither the base set nor the registry has its judge."""
    judges = provider.registry().judges
    for row in warehouse.read("base_set").iter_rows(named=True):
        if row["judged"] or row["judge"] in judges:
            yield row["base_set"], scores.contract(row, None if row["judged"] else judged_by(provider, row["judge"]))
        else:
            yield row["base_set"], None
