"""Assets of error spans: the errors that judges mark in outputs, and the scores of models."""

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.assets import triage
from benchmark_assets.corpus.units import with_units
from benchmark_assets.error_spans.exhibits import EXHIBITS
from benchmark_assets.error_spans.judging import TABLE, SpanVotes
from benchmark_assets.error_spans.summary import BEST, WORST, rates, summarize
from benchmark_assets.examination.assets import judge_verdict
from benchmark_assets.examination.errors import of_single, with_corrected
from benchmark_assets.examination.flags import flagged, of_judges
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.metrics.assets import REFERENCE, SOURCE
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.metrics.missing import of_verdicts
from benchmark_assets.partitions import GRID, MODEL, by_model, partitioned
from benchmark_assets.people.agreement import METHOD, agreement, by_judges, by_people, human_rows, with_errors
from benchmark_assets.people.applicable import applicable, fingerprints
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from resources.digest import digest
from resources.warehouse import Warehouse

span_vote = study_asset(SpanVotes, GRID, "error_spans", [model_output, REFERENCE, SOURCE, judge_verdict])


@dg.asset(
    **partitioned(MODEL), group_name="error_spans", code_version="4", metadata={"tables": ["span_rate"]},
    kinds={"duckdb", "numpy"}, deps=[by_model(span_vote), judge_verdict, "sentinel"],
)  # fmt: skip
def span_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Mean scores of a model by corpus and judge, and its errors per output by category and severity.

    Scores and rates from a judge that failed its examination are null.
    """

    def compute(stale: pl.DataFrame) -> Computed:
        votes, spans = (warehouse.read(table, stale.select("model")) for table in ("span_vote", TABLE))
        votes = with_units(votes, warehouse)
        rows_of = {
            "span_summary": lambda given: summarize(given, SIGNATURE),
            "span_rate": lambda given: rates(given, spans, SIGNATURE),
        }
        return Computed({name: marked(of_verdicts(name, votes, WORST, BEST, of), name) for name, of in rows_of.items()})

    def marked(rows: pl.DataFrame, table: str) -> pl.DataFrame:
        standings = of_judges(warehouse, "span_vote", keys := list(rows.select("corpus", "judge").iter_rows()))
        if table == "span_summary":
            errors = of_single(warehouse, "span_vote")
            rows = with_corrected(rows, "any_rate", "any_corrected", [errors.get(key) for key in keys])
        return flagged(rows, table, [standings[key] for key in keys])

    return refresh(context, warehouse, compute, SIGNATURE, EXHIBITS, sparse=True, partial=True, draw=plots)


@dg.asset(
    **partitioned(GRID), group_name="error_spans", code_version="1", metadata={"tables": ["human_error_span"]},
    kinds={"duckdb"}, deps=[triage],
)  # fmt: skip
def human_span_vote(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """People's scores of an output's current text, and the errors that they mark in it."""

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        return fingerprints(applicable(warehouse, "imported_annotation", partitions))

    def compute(stale: pl.DataFrame) -> Computed:
        rows = applicable(warehouse, "imported_annotation", stale)
        votes, errors = human_rows(rows, warehouse.read("imported_span", rows.select("item", "annotator")))
        return Computed({"human_span_vote": votes, "human_error_span": errors})

    return refresh(context, warehouse, compute, settings, sparse=True)


@dg.asset(group_name="error_spans", code_version="2", kinds={"duckdb", "numpy"}, deps=[human_span_vote, span_vote])
def annotation_agreement(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Agreement of annotators on the errors and scores of outputs: with each other, with themselves and with judges."""

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        annotations = warehouse.read("imported_annotation", columns=["item", "annotator", "place", "fingerprint"])
        applicable = partitions if len(annotations) else partitions.clear()
        return applicable.with_columns(settings=pl.lit(digest(METHOD, SIGNATURE, *annotations.rows())))

    def compute(_: pl.DataFrame) -> Computed:
        annotations = with_units(warehouse.read("imported_annotation"), warehouse)
        annotations = with_errors(annotations, warehouse.read("imported_span"), warehouse.read("control_item"))
        people = by_people(annotations)
        outputs = warehouse.read("triage", annotations.select("item"), ["model", "passage", "item"])
        votes = with_units(warehouse.read("span_vote", outputs.drop("item")), warehouse)
        judges = by_judges(votes.join(outputs, on=["model", "passage"]), warehouse.read(TABLE, outputs.drop("item")))
        return Computed({"annotation_agreement": agreement(pl.concat([people, judges.select(people.columns)]))})

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True)
