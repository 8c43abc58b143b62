"""Assets for reporting: a summary of each model, comparisons of all systems, and the report.

Every table includes the human translators as systems. A translator is scored against the other translators, and so has
one reference fewer than a model. The column `mean_references` is the mean number of references.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import dagster as dg
import polars as pl

from benchmark_assets.corpus.human_work import outdated_counts
from benchmark_assets.corpus.units import units
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Description, Plots, refresh
from benchmark_assets.lineage.standing import UNKNOWN
from benchmark_assets.metrics import concordance, significance
from benchmark_assets.metrics.assets import (
    comet_baseline,
    comet_score,
    drift_score,
    human_baseline,
    human_metric,
    lexical_score,
    output_diagnostic,
    segment_metric,
)
from benchmark_assets.metrics.coverage import completed_scores, own_sets, own_sets_of
from benchmark_assets.metrics.further import metrics_of, named_in
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.metrics.scores import all_scores, human_scores, model_scores
from benchmark_assets.metrics.summary import signature
from benchmark_assets.partitions import MODEL, by_model, partitioned
from benchmark_assets.references.assets import reference_envelope
from benchmark_assets.reporting import closest, headline, outliers, people, published, translators
from benchmark_assets.reporting.agreement import agreement
from benchmark_assets.reporting.comparability import grouped, made
from benchmark_assets.reporting.comparisons import compare, standings
from benchmark_assets.reporting.exhibits import EXHIBITS, ranks, shares, slice_tables
from benchmark_assets.reporting.human_range import TABLES, among_people
from benchmark_assets.reporting.leaderboard import further, origins, rank, read, readable, summaries, titled
from benchmark_assets.reporting.report import ASSETS
from benchmark_assets.reporting.slices import measured, of_named, sliced, slices
from benchmark_assets.reporting.unit_sums import UnitSums
from benchmark_assets.translation.systems import Systems
from benchmark_assets.validation.boards import certified
from resources.catalogue import PROVENANCE
from resources.digest import digest
from resources.embedding_cache import embed_unique
from resources.exhibits import Exhibit, described
from resources.home import home
from resources.provider.provider import Provider
from resources.tables import markdown, with_signatures
from resources.warehouse import Warehouse

OUTPUTS = [drift_score, lexical_score, comet_score, output_diagnostic]
SCORES = [drift_score, lexical_score, comet_score, human_baseline, comet_baseline, segment_metric, human_metric]

SCORED_BY = signature("of the scores")
"""Settings that all assets with aggregated scores have in common."""

CODE = "6"
"""Code version of the aggregates; raise it whenever their results change."""

ON_DEMAND = "variorum/on-demand"
"""Tag of assets that are materialized only on request and never count as stale."""


@dg.asset(
    **partitioned(MODEL), group_name="reporting", code_version="5", kinds={"duckdb"},
    deps=[by_model(asset) for asset in OUTPUTS],
)  # fmt: skip
def model_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Aggregates of a model's scores over each corpus, with 95 % intervals."""

    def compute(stale: pl.DataFrame) -> Computed:
        # The scores of all models are read by other aggregates of an update, too, and kept.
        scores = model_scores(warehouse, stale if len(stale) == 1 else None)
        scores = scores.join(stale, left_on="system", right_on="model", how="semi", maintain_order="left")
        rows = summaries(completed_scores(warehouse, scores), "system")
        return Computed({"model_summary": rows.rename({"system": "model"})})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        return own_sets_of(warehouse, partitions).with_columns(
            pl.concat_str(pl.lit(SCORED_BY), pl.lit(" "), "settings").alias("settings")
        )

    def describe() -> Description:
        rows = warehouse.read("model_summary", pl.DataFrame({"model": context.partition_keys}))
        return {"summary": with_signatures(readable(rows.rename({"model": "system"})), rows)}

    return refresh(context, warehouse, compute, settings, describe, draw=plots)


@dg.asset(
    group_name="reporting", code_version="6", kinds={"duckdb"},
    deps=[model_summary, human_baseline, comet_baseline, "metric_summary", "error_estimate", "validation"],
)  # fmt: skip
def leaderboard(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Systems],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Models of every corpus, ordered by people's error rates, else by a measure with a certificate, else by nothing.

    Models are compared over the same passages: a missing output has the worst scores, and a model with too few outputs
    or a limited evaluation has no rank. Translators stand apart, each scored against the others; the only translator of
    a corpus has no row. A model that was removed from the registry keeps its row, marked as removed.
    """
    evaluated = set(warehouse.read("model_summary", columns=["model"])["model"])
    removed = sorted(evaluated - systems.known(evaluated))

    def compute(_: pl.DataFrame) -> Computed:
        provenance = ["fingerprint", "run_id", "updated_at"]
        models = warehouse.read("model_summary").drop(provenance)
        people = completed_scores(warehouse, human_scores(warehouse))
        humans = summaries(people, "system").rename({"system": "translator"}).filter(pl.col("passages") > 0)
        orders = headline.errors(warehouse), certified(warehouse)
        return Computed({"leaderboard": rank(models, humans, made(warehouse), *orders, removed)})

    def describe() -> Description:
        board = read(warehouse)
        return {
            **titled(board),
            "worth": "\n".join(f"- {line}" for line in headline.worth(warehouse)),
            "origins": markdown(origins(board)),
            "further": with_signatures(further(board), board),
        }

    settings = _with_own_sets(warehouse, f"{SCORED_BY} {removed} {digest(made(warehouse).rows())}")
    return refresh(context, warehouse, compute, settings, describe, partial=True, draw=plots)


def _with_own_sets(warehouse: Warehouse, settings: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Settings of an unpartitioned asset that depends on the passages, units and settings of every corpus."""
    return lambda partitions: partitions.with_columns(settings=pl.lit(f"{settings} {own_sets(warehouse)}"))


def stored(warehouse: Warehouse, table: str) -> pl.DataFrame:
    """Stored rows of an unpartitioned aggregate, without the columns of provenance; none if the user asked to compute
    them anew."""
    rows = warehouse.read(table).drop(PROVENANCE)
    return rows.clear() if _wanted_anew(warehouse, table) else rows


def _wanted_anew(warehouse: Warehouse, asset: str) -> bool:
    """Whether the user asked to compute an asset anew."""
    return UNKNOWN in warehouse.read("materialization", pl.DataFrame({"asset": [asset]}), ["made_from"])["made_from"]


def _aggregate(
    deps: Sequence[dg.AssetsDefinition | str], settings: str,
    describe: Callable[[Warehouse], Description] | Sequence[Exhibit],
    *further_tables: str, summed: Sequence[str] = (),
) -> Callable[[Callable[..., Mapping[str, pl.DataFrame]]], dg.AssetsDefinition]:  # fmt: skip
    """Decorator: make an unpartitioned asset from a function that takes the warehouse and returns rows by table.

    The function's name and docstring become the asset's name and description. `further_tables` names the tables that
    the asset fills besides the table with its own name. If `summed` names the tables from which sums are made, the
    function also takes `UnitSums`.
    """

    def decorate(rows: Callable[..., Mapping[str, pl.DataFrame]]) -> dg.AssetsDefinition:
        @dg.asset(
            name=rows.__name__, description=rows.__doc__, group_name="reporting", code_version=CODE, kinds={"duckdb"},
            deps=deps, metadata={"tables": list(further_tables)} if further_tables else None,
        )  # fmt: skip
        def aggregate(
            context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
        ) -> dg.Output[None]:
            def compute(_: pl.DataFrame) -> Computed:
                if not summed:
                    return Computed(rows(warehouse))
                anew = _wanted_anew(warehouse, rows.__name__)
                return Computed(rows(warehouse, UnitSums(warehouse, summed, context.run.run_id, anew=anew)))

            own = _with_own_sets(warehouse, settings)
            description = partial(describe, warehouse) if callable(describe) else describe
            return refresh(context, warehouse, compute, own, description, draw=plots)

        return aggregate

    return decorate


@_aggregate(
    [reference_envelope, drift_score, human_baseline],
    f"{SIGNATURE} {closest.SIGNATURE}",
    lambda warehouse: {
        **described(warehouse, EXHIBITS, "translator_agreement"),
        "shares": shares(warehouse.read("closest_share")),
    },
    "closest_share",
)
def translator_agreement(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Similarity of each pair of translators, distance of each translator from the centroid, and human spread.

    A second table has the share of passages for which each translator's reference is the closest to a system's output.
    """
    envelopes = warehouse.read("reference_envelope", columns=["passage", "reference_count", "human_spread"])
    similarities = warehouse.read("reference_similarity")
    translators = warehouse.read("human_baseline", columns=["passage", "translator"])
    return {
        "translator_agreement": agreement(similarities, envelopes, units(warehouse)),
        "closest_share": closest.closest(all_scores(warehouse), translators),
    }


@dg.asset(
    group_name="reporting", code_version=CODE, kinds={"duckdb", "numpy"}, metadata={"tables": ["without_reference"]},
    deps=[reference_envelope, drift_score, human_baseline, "source_text"],
)  # fmt: skip
def reference_examination(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """How far each translator is from the other translators, from the source and from the systems.

    A second table has the scores of the models without each translator. A doubt never removes a reference by itself.
    """
    multilingual = provider.registry().multilingual_embedder()
    embedded_by = multilingual.signature if multilingual else ""

    def compute(_: pl.DataFrame) -> Computed:
        parts = {"translators": translators.among_translators(warehouse)}
        if multilingual:
            texts = translators.sampled(warehouse)
            names = texts.select(pl.format("{} {}", "passage", "translator")).to_series()
            vectors = embed_unique(texts["text"], multilingual, warehouse, context.run.run_id, names)
            parts["source"] = translators.beside_source(texts, vectors)
        anew = _wanted_anew(warehouse, "reference_examination")
        sums = UnitSums(warehouse, translators.TABLES, context.run.run_id, anew=anew)
        return Computed(translators.examination(warehouse, parts, sums, embedded_by, CODE))

    settings = _with_own_sets(warehouse, f"{translators.SIGNATURE} {embedded_by}")
    return refresh(context, warehouse, compute, settings, EXHIBITS, draw=plots)


@_aggregate(
    [drift_score, reference_envelope, segment_metric, human_metric],
    f"{people.SIGNATURE} {outliers.SIGNATURE}",
    EXHIBITS,
    "human_difference", "outlier_threshold", "calibrated_outliers",
    summed=TABLES,
)  # fmt: skip
def human_range(warehouse: Warehouse, sums: UnitSums) -> Mapping[str, pl.DataFrame]:
    """Whether each model is better than, among or worse than the human translators, given the same references.

    Further tables have the drift threshold that a given share of human translations exceeds, and the share of each
    system's texts above it.
    """
    return among_people(warehouse, sums, stored(warehouse, "outlier_threshold"), CODE)


@_aggregate(
    [*SCORES, leaderboard],
    f"{SCORED_BY} {significance.SIGNATURE}",
    EXHIBITS,
)
def system_comparison(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Differences of comparable systems in each ranked measure, with intervals, p-values and answers."""
    scores = grouped(warehouse, completed_scores(warehouse, all_scores(warehouse)))
    return {"system_comparison": compare(scores, metrics_of(warehouse))}


@_aggregate(
    [*SCORES, system_comparison],
    f"{SCORED_BY} {concordance.SIGNATURE} {significance.SIGNATURE}",
    lambda warehouse: {
        "ranks": ranks(warehouse.read("metric_rank")),
        **described(warehouse, EXHIBITS, "metric_rank"),
    },
    "metric_concordance",
)
def metric_rank(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Ranks in each measure, clusters of models without significant differences, and concordance of the measures."""
    scores = grouped(warehouse, completed_scores(warehouse, all_scores(warehouse)))
    ranks, agreements = standings(scores, warehouse.read("system_comparison"), metrics_of(warehouse))
    return {"metric_rank": ranks, "metric_concordance": agreements}


@_aggregate(
    [*SCORES, output_diagnostic, reference_envelope, "source_text", "reference"],
    SCORED_BY,
    lambda warehouse: {"slices": slice_tables(read(warehouse, "slice_summary"))},
)
def slice_summary(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Aggregates of every system over slices of a corpus: collections, and thirds by length and by human spread."""
    scores = completed_scores(warehouse, all_scores(warehouse))
    former = stored(warehouse, "slice_summary")
    return {"slice_summary": sliced(scores, slices(measured(warehouse)), former, f"{CODE} {SCORED_BY}")}


@_aggregate(
    [drift_score, segment_metric, human_metric, output_diagnostic, reference_envelope, "source_text", "reference"],
    SIGNATURE,
    EXHIBITS,
)
def metric_summary(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Mean of each metric that the registry names, by system, over each corpus and its slices."""
    scores = completed_scores(warehouse, all_scores(warehouse))
    return {"metric_summary": of_named(scores, slices(measured(warehouse)), named_in(warehouse))}


@dg.asset(group_name="reporting", code_version="1", kinds={"duckdb"})
def published_summary(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Aggregates, ranks and closest references from published scores, which are not comparable with our own scores."""

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        files = warehouse.read("published_score", columns=["benchmark", "corpus", "file", "fingerprint"]).unique()
        applicable = partitions if len(files) else partitions.clear()
        return applicable.with_columns(settings=pl.lit(digest(files.sort(files.columns).rows())))

    def compute(_: pl.DataFrame) -> Computed:
        return Computed({"published_summary": published.summary(warehouse.read("published_score"))})

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True)


@dg.asset(group_name="reporting", code_version="3", kinds={"duckdb", "vegalite"}, deps=ASSETS, tags={ON_DEMAND: "yes"})
def report(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """All aggregates as one HTML page that needs no network. The asset's version is a hash of the page.

    Assets that were never materialized count as empty. Writing the page takes seconds, so the report is
    materialized only on request.
    """
    from benchmark_assets.reporting.report.page import content_hash
    from benchmark_assets.reporting.report.writing import write

    file = home() / "reports" / "report.html"

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        scored = any(len(warehouse.read(table, most=1)) for table in ("leaderboard", "understanding_board"))
        lost = len(warehouse.read("report", most=1)) > 0 and not file.is_file()
        outdated = outdated_counts(warehouse).rows()
        determinants = "lost" if lost else str(outdated) if outdated else ""
        return (partitions if scored else partitions.clear()).with_columns(settings=pl.lit(determinants))

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
