"""Exhibits of the audit: outcomes, agreement of judges and people, estimates, metrics. Not here: computing the
numbers."""

from collections.abc import Callable

import polars as pl

from benchmark_assets.audit.calibration import confusions_of_judges
from benchmark_assets.audit.overlap import overlaps
from benchmark_assets.audit.rated import PANEL, anonymous, names_of_people, without_names
from resources.exhibits import Exhibit, Ranges
from resources.warehouse import Warehouse


def _unnamed(table: str) -> Callable[[Warehouse], pl.DataFrame]:
    """Make a function that reads a table about raters, with numbers in place of people's names."""

    def read(warehouse: Warehouse) -> pl.DataFrame:
        about_raters = {name: warehouse.read(name) for name in ("rater_agreement", "rater_model")}
        numbers = anonymous([name for rows in about_raters.values() for name in names_of_people(rows)])
        return without_names(about_raters[table], numbers)

    return read


OUTCOMES = Exhibit(
    "audit_outcome", "outcomes", order="raters model band", columns="raters outputs judged valid minor major uncertain "
    "major_rate any_rate any_corrected judge_standing problem", brief=lambda rows: rows.filter(pl.col("judged") > 0),
    words="Errors found by the panel in outputs with high drift, and by people in a sample of all outputs.",
    sources="audit_outcome triage", question="How many of the judged outputs are wrong?",
)  # fmt: skip
CATEGORIES = Exhibit(
    "error_category", "categories", "Errors by category",
    "Number of errors of each category, as found by the panel and by people.", "raters -major -minor error_category",
    "raters error_category minor minor_share major major_share",
    rows=lambda rows: rows.filter(pl.col("minor") + pl.col("major") > 0, model=""), sources="audit_outcome",
    question="Which kinds of errors are there?",
)  # fmt: skip
CALIBRATION = Exhibit(
    "judge_calibration", "calibration", "Calibration of the judges",
    "How far each judge, the panel, and the panel without one of its judges agree with people's labels.",
    "-kappa judge", "judge outputs exact major_precision major_recall major_f1 any_f1 kappa",
    chart=Ranges(
        "exact major_f1 any_f1 kappa", "judge",
        pl.when(pl.col("judge").str.starts_with("panel")).then(pl.lit("panel")).otherwise(pl.lit("judge")),
    ),
    question="How far do the judges agree with people?",
)  # fmt: skip
RELIABILITY = Exhibit(
    "judge_reliability", "confidence", "Confidence of the judges",
    "How often each judge agrees with people, by the confidence that the judge states.", "judge confidence",
    sources="judge_calibration", question="Are the judges right when they are sure?",
)  # fmt: skip
ESTIMATES = Exhibit(
    "error_estimate", "errors", "Errors of all outputs", order="model region",
    columns="model outputs labelled covered missing_share minor_rate major_rate major_rate_least major_rate_most "
    "any_rate problem",
    brief=lambda rows: rows.filter(region="all").sort("any_rate", "model"),
    chart=Ranges("minor_rate major_rate any_rate", kind=pl.lit("people"), unit="% of the covered outputs",
                 width=220, columns=3),
    question="How many of all outputs are wrong?",
)  # fmt: skip
ANCHORED = Exhibit(
    "anchored_estimate", "errors, with verdicts", "Error rates from labels and verdicts",
    "Error rates of all outputs, estimated from people's labels with the panel's verdicts as predictions. The "
    "intervals are valid however the panel errs. The more the panel agrees with people, the narrower the intervals.",
    "level model region", "level model labelled judged missing_share rate rate_least rate_most tuning narrower problem",
    brief=lambda rows: rows.filter(region="all"), sources="error_estimate",
)  # fmt: skip
RECALL = Exhibit(
    "recall_cost", "cost of recall", "Cost of recall",
    "Number of outputs to judge, in the order of each ranking, until a given share of the major errors is found.",
    "ranking recall", sources="error_estimate",
)  # fmt: skip
METRICS = Exhibit(
    "metric_agreement", "agreement", "Agreement of metrics with people",
    "Agreement of metrics with people's labels of the sample; 1 is full agreement. Metrics are oriented so that "
    "higher is better, and sorted by their mean agreement. Soft pairwise accuracy measures whether a metric ranks "
    "models as people do; acc-eq within passages measures whether it ranks outputs of the same passage as people do. "
    "The share of outputs with high drift is larger in the sample than in the corpus.",
    "statistic grouping metric", brief=lambda rows: rows.drop_nulls("value"),
    question="Which metrics agree with people?",
)  # fmt: skip
TESTS = Exhibit(
    "metric_comparison", "tests", "Tests of metrics",
    "Agreement of the first metric minus agreement of the other, on the outputs that both metrics score.",
    "statistic -difference metric other", brief=lambda rows: rows.drop_nulls("difference"), sources="metric_agreement",
)  # fmt: skip
EXHIBITS = [
    OUTCOMES, CATEGORIES, Exhibit("failure_overlap", "overlap", order="level models", read=overlaps,
                                  sources="audit_outcome"),
    Exhibit("error_correlation", "correlations", order="level metric", sources="audit_outcome"), CALIBRATION,
    Exhibit("judge_confusion", "confusion of the panel", order="people judged", full="corpus people judged outputs",
            rows=lambda rows: rows.filter(judge=PANEL), read=confusions_of_judges, sources="judge_calibration"),
    Exhibit("rater_agreement", "agreement", order="scope kind first second", read=_unnamed("rater_agreement"),
            sources="judge_calibration"),
    Exhibit("rater_model", "model of raters", order="kind rater", read=_unnamed("rater_model"),
            sources="judge_calibration"),
    RELIABILITY, ESTIMATES, ANCHORED, RECALL, METRICS, TESTS,
    Exhibit("worked_example", "examples", order="rule place model"),
]  # fmt: skip
