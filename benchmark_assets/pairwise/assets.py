"""Assets of pairwise judging: comparisons of outputs with anchors, rubric marks, and the scores from both."""

import dagster as dg
import polars as pl

from benchmark_assets.corpus.units import unit_settings, with_units
from benchmark_assets.examination.assets import judge_report, judge_verdict
from benchmark_assets.examination.errors import of_single, with_corrected
from benchmark_assets.examination.flags import flagged, of_judges
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.metrics.assets import REFERENCE, SOURCE
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.metrics.missing import of_verdicts
from benchmark_assets.pairwise import adjusted, base_sets, rubric, scores, totals
from benchmark_assets.pairwise.comparing import judged_by
from benchmark_assets.pairwise.exhibits import EXHIBITS
from benchmark_assets.pairwise.matches import Comparisons, known_of_base_sets, of_slices, partial_to, text_lengths
from benchmark_assets.partitions import GRID, MODEL, by_model, partitioned
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.studies.protocols import protocols
from benchmark_assets.studies.study import contract_settings
from benchmark_assets.translation.assets import model_output
from benchmark_assets.translation.systems import Systems
from resources.digest import digest
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

comparison = study_asset(Comparisons, GRID, "pairwise", [model_output, SOURCE, judge_verdict])


@dg.asset(group_name="pairwise", code_version="5", kinds={"duckdb", "numpy"}, deps=[judge_report])
def anchor_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Scores of each base set's anchors against each other, by slice: win rate, strength, LT, LT at equal length.

    A base set with published totals only has scores without intervals.
    """
    contracts = {row["base_set"]: scores.contract(row) for row in warehouse.read("base_set").iter_rows(named=True)}
    of_totals = totals.contracts(warehouse)

    def compute(_: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("anchor_score").drop("fingerprint")]
        known = known_of_base_sets(warehouse, warehouse.empty("hidden_sentinel"))
        for base_set, contract in contracts.items():
            key = pl.DataFrame({"base_set": [base_set]})
            judgments, items = warehouse.read("anchor_judgment", key), base_sets.items(warehouse, base_set)
            lengths = text_lengths(warehouse, base_set, warehouse.empty("comparison"))
            raw = scores.anchor_scores(judgments, items, lengths["system"], contract)
            rows.append(adjusted.with_anchor_adjustments(raw, judgments, items, lengths, known[base_set]))
        for base_set, contract in of_totals.items():
            published = warehouse.read("anchor_total", pl.DataFrame({"base_set": [base_set]}))
            rows.append(totals.scores_of_totals(published, contract))
        return Computed({"anchor_score": pl.concat(rows)})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        applicable = partitions if contracts or of_totals else partitions.clear()
        units = [base_sets.unit_kinds(warehouse, base_set) for base_set in contracts]
        signature = scores.SIGNATURE, adjusted.SIGNATURE
        return applicable.with_columns(settings=pl.lit(digest(signature, contracts, of_totals, units)))

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True, partial=True, draw=plots)


@dg.asset(
    **partitioned(MODEL), group_name="pairwise", code_version="8", kinds={"duckdb", "numpy"},
    deps=[by_model(comparison), judge_report],
)  # fmt: skip
def pairwise_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Systems],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Scores of a model against the anchors of each base set, by slice: win rate, LT, and LT at equal length.

    Each model is fitted separately. A model that is no longer registered keeps its scores, with the contract under
    which they were computed. The same holds for a model that was compared with a base set whose judge is unknown.
    Scores from a judge that failed its examination are null.
    """
    contracts = _contracts(warehouse, systems.provider)
    conditions = {
        base_set: contract and f"{contract}; {base_sets.unit_kinds(warehouse, base_set)}"
        for base_set, contract in contracts.items()
    }
    signature = f"{scores.SIGNATURE}; {adjusted.SIGNATURE}"

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        compared = warehouse.read("comparison", partitions.select("model"), ["model", "base_set"])
        contracts_of = contract_settings(systems, compared, conditions)
        return contracts_of.select("model", settings=pl.format("{} {}", pl.lit(signature), "settings"))

    def compute(stale: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("pairwise_score").drop("fingerprint", "judge_standing")]
        known = known_of_base_sets(warehouse, stale)
        for base_set, contract in contracts.items():
            key = pl.DataFrame({"base_set": [base_set]})
            comparisons = warehouse.read("comparison", stale.join(key, how="cross"))
            judgments, items = warehouse.read("anchor_judgment", key), base_sets.items(warehouse, base_set)
            if contract and len(comparisons):
                lengths = text_lengths(warehouse, base_set, comparisons)
                inputs = comparisons, judgments, items, contract, lengths, known[base_set]
                rows.append(adjusted.bounded_scores(*inputs))
        scored = pl.concat(rows)
        of_sets = of_slices(warehouse, scored.select("base_set", "slice").iter_rows())
        partial, named = partial_to(warehouse, stale), scored.select("model", "base_set").iter_rows()
        of_rows = [partial.get(key, standing) for key, standing in zip(named, of_sets, strict=True)]
        return Computed({"pairwise_score": flagged(scored, "pairwise_score", of_rows, kept=scores.OF_JUDGE)})

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True, partial=True, draw=plots)


rubric_vote = study_asset(rubric.RubricVotes, GRID, "pairwise", [model_output, REFERENCE, SOURCE, judge_verdict])


@dg.asset(
    **partitioned(MODEL), group_name="pairwise", code_version="5", kinds={"duckdb"},
    deps=[by_model(rubric_vote), judge_verdict, "sentinel"],
)  # fmt: skip
def rubric_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Summary of a model's rubric marks by corpus and judge: mean mark, shares of useful and of perfect outputs.

    Statistics of a judge that failed its examination are null.
    """

    def compute(stale: pl.DataFrame) -> Computed:
        votes = warehouse.read("rubric_vote", stale, ["model", "passage", "judge", "mark", "perfect"])
        ends = rubric.WORST, rubric.PERFECT
        rows = of_verdicts("rubric_summary", with_units(votes, warehouse), *ends, rubric.summarize)
        standings = of_judges(warehouse, "rubric_vote", keys := list(rows.select("corpus", "judge").iter_rows()))
        errors, of_rows = of_single(warehouse, "rubric_vote"), [standings[key] for key in keys]
        perfect = [known.of_sound() if (known := errors.get(key)) else None for key in keys]
        rows = with_corrected(rows, "perfect", "perfect_corrected", perfect)
        return Computed({"rubric_summary": flagged(rows, "rubric_summary", of_rows, further=["median"])})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        return unit_settings(warehouse, "rubric_vote", partitions, SIGNATURE)

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True, partial=True, draw=plots)


def _contracts(warehouse: Warehouse, provider: Provider) -> dict[str, str | None]:
    """Contract of the models' scores by base set; None if neither the base set nor the registry records its judge."""
    contracts: dict[str, str | None] = {}
    judges, published = provider.registry().judges, protocols(warehouse, "compare")
    for row in warehouse.read("base_set").iter_rows(named=True):
        judge = (
            None
            if row["judged"] or row["judge"] not in judges
            else judged_by(provider, row["judge"], published.get(row["base_set"]))
        )
        contracts[row["base_set"]] = scores.contract(row, judge) if row["judged"] or judge else None
    return contracts
