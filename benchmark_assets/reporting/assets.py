"""Assets that people read: a summary for each model, and the tables of all systems side by side.

A human translator stands in every table as a system scored against the other translators, with one reference fewer than
a model: `mean_references` says how many there were.
"""

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Description, Plots, refresh
from benchmark_assets.metrics import concordance, significance
from benchmark_assets.metrics.assets import (
    comet_baseline,
    comet_score,
    drift_score,
    human_baseline,
    lexical_score,
    output_diagnostic,
)
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.metrics.scores import all_scores, human_scores, model_scores
from benchmark_assets.metrics.summary import signature
from benchmark_assets.partitions import BY_MODEL, MODEL, SINGLE_RUN
from benchmark_assets.references.assets import reference_envelope
from benchmark_assets.reporting import closest, readings
from benchmark_assets.reporting.agreement import agreement
from benchmark_assets.reporting.comparisons import compare, standings
from benchmark_assets.reporting.leaderboard import further, rank, readable, summaries
from benchmark_assets.reporting.report import ASSETS
from benchmark_assets.reporting.slices import measured, sliced, slices
from benchmark_assets.translation.systems import Systems
from resources.home import home
from resources.tables import shown, with_signatures
from resources.warehouse import Warehouse

OUTPUTS = [drift_score, lexical_score, comet_score, output_diagnostic]
SCORES = [drift_score, lexical_score, comet_score, human_baseline, comet_baseline]

ON_DEMAND = "variorum/on-demand"
"""Tag of assets that are materialized on request only: they are never stale."""


@dg.asset(
    partitions_def=MODEL, backfill_policy=SINGLE_RUN, group_name="reporting", code_version="2", kinds={"duckdb"},
    deps=[dg.AssetDep(each, partition_mapping=BY_MODEL) for each in OUTPUTS],
)  # fmt: skip
def model_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """A model's aggregates over each corpus, with 95 % intervals."""

    def compute(due: pl.DataFrame) -> Computed:
        rows = summaries(model_scores(warehouse, due), "system").rename({"system": "model"})
        return Computed({"model_summary": rows})

    def describe() -> Description:
        rows = warehouse.read("model_summary", pl.DataFrame({"model": context.partition_keys}))
        return {"summary": with_signatures(readable(rows.rename({"model": "system"})), rows)}

    return refresh(context, warehouse, compute, signature("of the scores"), describe, draw=plots)


@dg.asset(
    group_name="reporting", code_version="2", kinds={"duckdb"}, deps=[model_summary, human_baseline, comet_baseline],
)  # fmt: skip
def leaderboard(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Systems],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Models and human translators of every corpus, ranked by similarity to the closest reference.

    A human translator's row scores that translator against the other translators, and so shows how far apart people
    are. A model that was removed from the registry keeps its row, marked as removed.
    """
    evaluated = set(warehouse.read("model_summary", columns=["model"])["model"])
    removed = sorted(evaluated - systems.known(evaluated))

    def compute(_: pl.DataFrame) -> Computed:
        provenance = ["fingerprint", "run_id", "updated_at"]
        models = warehouse.read("model_summary").drop(provenance)
        humans = summaries(human_scores(warehouse), "system").rename({"system": "translator"})
        return Computed({"leaderboard": rank(models, humans, removed)})

    def describe() -> Description:
        board = warehouse.read("leaderboard")
        return {
            "leaderboard": with_signatures(readable(board), board), "further": with_signatures(further(board), board)
        }  # fmt: skip

    return refresh(context, warehouse, compute, f"{signature('of the scores')} {removed}", describe, draw=plots)


@dg.asset(group_name="reporting", code_version="1", kinds={"duckdb"}, deps=[reference_envelope])
def translator_agreement(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Similarity of each pair of translators, distance of each translator from the centroid, and the human spread."""

    def compute(_: pl.DataFrame) -> Computed:
        columns = ["passage", "reference_count", "human_spread"]
        envelopes = warehouse.read("reference_envelope", columns=columns)
        return Computed({"translator_agreement": agreement(warehouse.read("reference_similarity"), envelopes)})

    def describe() -> Description:
        return {"agreement": shown(warehouse.read("translator_agreement"), "translator_agreement")}

    return refresh(context, warehouse, compute, SIGNATURE, describe, draw=plots)


@dg.asset(group_name="reporting", code_version="1", kinds={"duckdb"}, deps=[drift_score, human_baseline])
def closest_share(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Share of passages for which each translator's reference is the closest to a system's output."""

    def compute(_: pl.DataFrame) -> Computed:
        scores, translators = all_scores(warehouse), warehouse.read("human_baseline", columns=["passage", "translator"])
        return Computed({"closest_share": closest.closest(scores, translators)})

    def describe() -> Description:
        return {"shares": readings.shares(warehouse.read("closest_share"))}

    return refresh(context, warehouse, compute, closest.SIGNATURE, describe, draw=plots)


@dg.asset(group_name="reporting", code_version="1", kinds={"duckdb"}, deps=SCORES)
def system_comparison(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Differences of each pair of systems in each ranked measure, with intervals, p-values and corrected p-values."""

    def compute(_: pl.DataFrame) -> Computed:
        return Computed({"system_comparison": compare(all_scores(warehouse))})

    def describe() -> Description:
        return {"differences": readings.differences(warehouse.read("system_comparison"))}

    settings = f"{signature('of the scores')} {significance.SIGNATURE}"
    return refresh(context, warehouse, compute, settings, describe, draw=plots)


@dg.asset(
    group_name="reporting", code_version="1", metadata={"tables": ["metric_concordance"]}, kinds={"duckdb"},
    deps=[*SCORES, system_comparison],
)  # fmt: skip
def metric_rank(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Ranks in each measure, clusters of models that cannot be told apart, and whether measures agree."""

    def compute(_: pl.DataFrame) -> Computed:
        ranks, agreeing = standings(all_scores(warehouse), warehouse.read("system_comparison"))
        return Computed({"metric_rank": ranks, "metric_concordance": agreeing})

    def describe() -> Description:
        ranks, agreeing = (warehouse.read(table) for table in ("metric_rank", "metric_concordance"))
        return {"ranks": readings.ranks(ranks), "concordance": shown(agreeing, "metric_concordance")}

    settings = f"{signature('of the scores')} {concordance.SIGNATURE} {significance.SIGNATURE}"
    return refresh(context, warehouse, compute, settings, describe, draw=plots)


@dg.asset(
    group_name="reporting", code_version="1", kinds={"duckdb"},
    deps=[*SCORES, output_diagnostic, reference_envelope, "source_text", "reference"],
)  # fmt: skip
def slice_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Every system's aggregates over parts of a corpus: collections, and thirds by length and by human spread."""

    def compute(_: pl.DataFrame) -> Computed:
        return Computed({"slice_summary": sliced(all_scores(warehouse), slices(measured(warehouse)))})

    def describe() -> Description:
        return {"slices": readings.slices(warehouse.read("slice_summary"))}

    return refresh(context, warehouse, compute, signature("of the scores"), describe, draw=plots)


@dg.asset(group_name="reporting", code_version="2", kinds={"duckdb", "vegalite"}, deps=ASSETS, tags={ON_DEMAND: "yes"})
def report(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """All aggregates as one HTML page that needs no network; its version is a hash of its content.

    An asset that was never materialized counts as empty. Materialized on request only: the page takes seconds to write,
    and is not read after every change.
    """
    from benchmark_assets.reporting.report.page import content_hash
    from benchmark_assets.reporting.report.writing import write

    file = home() / "reports" / "report.html"

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        anything = any(len(warehouse.read(table, most=1)) for table in ("leaderboard", "understanding_board"))
        lost = len(warehouse.read("report", most=1)) > 0 and not file.is_file()
        return (asked if anything else asked.clear()).with_columns(settings=pl.lit("lost" if lost else ""))

    def compute(_: pl.DataFrame) -> Computed:
        html = write(warehouse, file)
        row = {"file": str(file.relative_to(home())), "content": content_hash(html), "bytes": len(html.encode())}
        return Computed({"report": pl.DataFrame([row])})

    def describe() -> Description:
        rows = warehouse.read("report")
        if rows.is_empty():
            return {}
        return {"path": dg.MetadataValue.path(str(file)), "size, bytes": dg.MetadataValue.int(rows["bytes"][0])}

    return refresh(context, warehouse, compute, settings, describe, sparse=True, partial=True)
