"""Assets of pairwise judging: outputs beside anchors, marks by a rubric, and what these amount to."""

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
    """Anchors of each base set among themselves: win rate, strength and LT by slice."""
    contracts = {row["base_set"]: scores.contract(row) for row in warehouse.read("base_set").iter_rows(named=True)}

    def compute(_: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("anchor_score").drop("fingerprint")]
        for base_set, contract in contracts.items():
            own = pl.DataFrame({"base_set": [base_set]})
            judgments, items = (warehouse.read(table, own) for table in ("anchor_judgment", "base_set_item"))
            rows.append(scores.anchor_scores(judgments, items, contract))
        return Computed({"anchor_score": pl.concat(rows)})

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        own = asked if contracts else asked.clear()
        return own.with_columns(settings=pl.lit(digest(scores.SIGNATURE, contracts)))

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
    """A model against each base set that it was compared with, in a fit of its own: win rate and LT by slice.

    Scores of models that are known no more stay as they are, under the contract that they were made by; so do those
    against a base set of which nobody knows who judges.
    """
    contracts = dict(_contracts(warehouse, systems.provider))

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        compared = warehouse.read("comparison", asked.select("model"), ["model", "base_set"]).unique()
        words = pl.col("base_set").replace_strict(contracts, default="", return_dtype=pl.String)
        own = compared.sort("model", "base_set").group_by("model", maintain_order=True).agg(
            pl.when(~words.has_nulls()).then(words.str.join("\n"))
        )  # fmt: skip
        known = pl.col("model").is_in(list(systems.known(own["model"])))
        return own.select(
            "model", settings=pl.when(known).then(pl.format("{} {}", pl.lit(scores.SIGNATURE), "base_set"))
        )

    def compute(due: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("pairwise_score").drop("fingerprint")]
        for base_set, contract in contracts.items():
            own = pl.DataFrame({"base_set": [base_set]})
            compared = warehouse.read("comparison", due.join(own, how="cross"))
            judgments, items = (warehouse.read(table, own) for table in ("anchor_judgment", "base_set_item"))
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
    """What a model's marks amount to, by corpus and judge: mean, shares of useful and perfect outputs."""

    def compute(due: pl.DataFrame) -> Computed:
        votes = warehouse.read("rubric_vote", due, ["model", "passage", "judge", "mark", "perfect"])
        return Computed({"rubric_summary": rubric.summarize(votes)})

    return refresh(
        context, warehouse, compute, SIGNATURE, lambda: readings.of_rubric(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip


def _contracts(warehouse: Warehouse, provider: Provider) -> Iterator[tuple[str, str | None]]:
    """What the scores of models against each base set have in common; None where neither the base set nor the registry
    says who judges them."""
    judges = provider.registry().judges
    for row in warehouse.read("base_set").iter_rows(named=True):
        if row["judged"] or row["judge"] in judges:
            yield row["base_set"], scores.contract(row, None if row["judged"] else judged_by(provider, row["judge"]))
        else:
            yield row["base_set"], None
