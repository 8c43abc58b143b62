"""Assets of the audit: error rates, reliability of judges, error estimates, agreement of metrics, worked examples."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.assets import judge_vote, triage, verdict
from benchmark_assets.adjudication.labels import TAXONOMIES, categories_of
from benchmark_assets.adjudication.panel import counted, of_panels
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.audit.anchored import anchored_estimates
from benchmark_assets.audit.calibration import agreement, calibration, reliability
from benchmark_assets.audit.corrected import panel_errors, with_correction
from benchmark_assets.audit.correlation import correlations
from benchmark_assets.audit.estimates import estimates
from benchmark_assets.audit.examples import examples, with_people
from benchmark_assets.audit.exhibits import EXHIBITS
from benchmark_assets.audit.metric_agreement import agreements, comparisons
from benchmark_assets.audit.outcomes import categories, outcomes, with_standings, without_failed
from benchmark_assets.audit.rated import rated, rated_of, triage_of
from benchmark_assets.audit.raters import rater_model
from benchmark_assets.audit.recall_cost import recall_costs
from benchmark_assets.corpus.registry import taxonomies
from benchmark_assets.corpus.units import kinds
from benchmark_assets.examination.assets import judge_report
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.metrics.assets import comet_score, drift_score, lexical_score, output_diagnostic, segment_metric
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.further import metrics_of
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.metrics.scores import model_scores
from benchmark_assets.metrics.unmeasured import BAND
from benchmark_assets.people.assets import human_label
from benchmark_assets.references.assets import reference_envelope
from resources import prompts
from resources.digest import digest
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

SCORES = [drift_score, lexical_score, comet_score, segment_metric, output_diagnostic, reference_envelope]


def _of_ratings(
    deps: Sequence[dg.AssetsDefinition], *further_tables: str,
    code_version: str = "3", kinds: Sequence[str] = ("duckdb",), by_panel: bool = True, drawn: bool = True,
) -> Callable[[Callable[[Warehouse], Mapping[str, pl.DataFrame]]], dg.AssetsDefinition]:  # fmt: skip
    """Decorator: make an asset from a function that computes tables from all verdicts and labels.

    The function's name and docstring become the asset's name and description. `further_tables` names the tables besides
    the one with the asset's name. If `by_panel`, the description of the panel is appended to signatures, and a change
    of it makes the tables stale. While the warehouse has neither verdicts nor labels, nothing is computed, and earlier
    rows are removed.
    """

    def decorate(rows: Callable[[Warehouse], Mapping[str, pl.DataFrame]]) -> dg.AssetsDefinition:
        metadata: dict[str, Any] = {"tables": list(further_tables)} if further_tables else {}

        @dg.asset(
            name=rows.__name__, description=inspect.getdoc(rows), group_name="audit", code_version=code_version,
            metadata=metadata, kinds=set(kinds), deps=deps,
        )  # fmt: skip
        def of_ratings(
            context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse],
            provider: dg.ResourceParam[Provider], plots: Plots,
        ) -> dg.Output[None]:  # fmt: skip
            panels = _panels(warehouse, provider) if by_panel else {}

            def settings(partitions: pl.DataFrame) -> pl.DataFrame:
                rated = any(len(warehouse.read(name, columns=["model"], most=1)) for name in ("verdict", "human_label"))
                words = f"{SIGNATURE if panels else ''} {sorted(panels.items())}"
                return (partitions if rated else partitions.clear()).with_columns(settings=pl.lit(words))

            def compute(_: pl.DataFrame) -> Computed:
                return Computed(_signed(panels, rows(warehouse)) if by_panel else rows(warehouse))

            return refresh(
                context, warehouse, compute, settings, EXHIBITS, sparse=True, partial=True,
                draw=plots if drawn else lambda *_: {},
            )  # fmt: skip

        return of_ratings

    return decorate


@_of_ratings(
    [triage, verdict, human_label, judge_report, *SCORES], "error_category", "error_correlation", code_version="5"
)
def audit_outcome(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Error rates by severity and category, shared failures of models, correlation of errors with metrics.

    Error rates from a panel's verdicts are null unless most of its judges passed the examination or were not examined.
    Outputs without a measure have a band of their own, which is not part of the totals.
    """
    outputs, rows, standings = triage_of(warehouse), rated_of(warehouse), of_panels(warehouse)
    others = outcomes(triage_of(warehouse, measured=False), rated_of(warehouse, measured=False)).filter(band=BAND)
    found = pl.concat([outcomes(outputs, rows), others])
    return {
        "audit_outcome": with_standings(with_correction(found, panel_errors(warehouse)), standings),
        "error_category": categories(without_failed(rows, standings), categories_of(warehouse)),
        "error_correlation": correlations(rows, _scores(warehouse), metrics_of(warehouse)),
    }


@_of_ratings([triage, judge_vote, verdict, human_label], "judge_reliability", "rater_agreement", "rater_model")
def judge_calibration(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Reliability of judges, and of the panel without one of them: agreement with people and with each other."""
    outputs, rows = triage_of(warehouse), rated_of(warehouse)
    votes, labels = warehouse.read("judge_vote"), warehouse.read("human_label")
    return {
        "judge_calibration": calibration(rows, votes, counted(votes, warehouse)),
        "judge_reliability": reliability(rows, votes), "rater_agreement": agreement(outputs, votes, labels),
        "rater_model": rater_model(outputs, votes, labels),
    }  # fmt: skip


@_of_ratings(
    [triage, verdict, human_label, *SCORES], "anchored_estimate", "recall_cost", code_version="5",
    kinds=("duckdb", "scikitlearn"),
)  # fmt: skip
def error_estimate(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Error rates of all outputs, from people's labels alone or combined with verdicts; cost of finding errors."""
    outputs, rows, finals = triage_of(warehouse), rated_of(warehouse), warehouse.read("final_label")
    return {
        "error_estimate": estimates(outputs, rows, finals),
        "anchored_estimate": anchored_estimates(outputs, rows, warehouse.read("verdict"), finals),
        "recall_cost": recall_costs(outputs, rows, _scores(warehouse).drop("drift")),
    }


@_of_ratings(
    [triage, human_label, drift_score, lexical_score, comet_score, segment_metric], "metric_comparison",
    code_version="1", by_panel=False,
)  # fmt: skip
def metric_agreement(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Agreement of metrics with people (correlation, order of pairs, ranking of models); tests of pairs of metrics."""
    labels = rated(triage_of(warehouse), warehouse.empty("verdict"), warehouse.read("human_label"))
    scores, metrics = model_scores(warehouse).rename({"system": "model"}), metrics_of(warehouse)
    return {
        "metric_agreement": agreements(labels, scores, metrics),
        "metric_comparison": comparisons(labels, scores, metrics),
    }


@_of_ratings([triage, verdict, human_label], code_version="2", by_panel=False, drawn=False)
def worked_example(warehouse: Warehouse) -> Mapping[str, pl.DataFrame]:
    """Outputs that illustrate the audit, selected by rules; `variorum report --examples` writes them as a page."""
    outputs = with_people(triage_of(warehouse), warehouse.read("verdict"), warehouse.read("human_label"))
    return {"worked_example": examples(outputs)}


def _scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of all outputs: `model`, `passage`, `human_spread`, metrics and `DIAGNOSES`."""
    spreads = warehouse.read("reference_envelope", columns=["passage", "human_spread"])
    scores = model_scores(warehouse).rename({"system": "model"}).join(spreads, on="passage", how="left")
    names = [metric.name for metric in metrics_of(warehouse) if metric.name in scores.columns]
    return scores.select("model", "passage", "human_spread", *names, *DIAGNOSES)


def _panels(warehouse: Warehouse, provider: Provider) -> Mapping[str, str]:
    """For each corpus, a description of its panel, the panel's settings and the units of passages, for signatures.

    A judge that is no longer in the registry has None in place of the hash of its settings.
    """
    judges, units, named = provider.registry().judges, kinds(warehouse), taxonomies(warehouse)
    asked = {corpus: prompts.load(TAXONOMIES[name].prompt) for corpus, name in named.items()}
    hashes = {name: digest(*provider.model(name).determinants)[:8] for name in judges}
    return {
        corpus: f"threshold: {audit.by} > {audit.threshold}; judges: "
        f"{', '.join(f'{name} ({hashes.get(name)})' for name in sorted(audit.judges)) or 'none'}, scores "
        f"{'shown' if audit.show_scores else 'hidden'}; prompt: {asked[corpus].name} {asked[corpus].version} "
        f"({asked[corpus].digest()[:8]}); sample: seed {audit.seed}"
        f"{f'; judged below the threshold: {audit.below:g}' if audit.below else ''}"
        f"; units: {units.get(corpus, 'passages')}"
        for corpus, audit in audits(warehouse).items()
    }


def _signed(panels: Mapping[str, str], tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Append the description of the panel to each row's signature."""
    panel = pl.col("corpus").replace_strict(panels, default="", return_dtype=pl.String)
    return {name: rows.with_columns(signature=pl.format("{}; {}", "signature", panel)) for name, rows in tables.items()}
