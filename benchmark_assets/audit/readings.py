"""The audit's tables as Markdown for Dagster's UI. Not here: computing the numbers."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.audit.calibration import confusions_of_judges
from benchmark_assets.audit.overlap import overlaps
from benchmark_assets.audit.rated import PANEL, anonymous, names_of_people, without_names
from resources.tables import cells, markdown, shown
from resources.warehouse import Warehouse


def of_outcomes(warehouse: Warehouse) -> Mapping[str, str]:
    """Outcomes by model and band, error categories, shared failures, and correlations with metrics."""
    outcomes = warehouse.read("audit_outcome").sort("corpus", "raters", "model", "band")
    categories = (
        warehouse.read("error_category")
        .filter(pl.col("minor") + pl.col("major") > 0, model="")
        .sort("corpus", "raters", "major", "minor", descending=[False, False, True, True])
    )
    overlap = overlaps(warehouse).sort("corpus", "level", "models")
    correlation = warehouse.read("error_correlation").sort("corpus", "level", "metric")
    return {
        "outcomes": shown(
            outcomes, "audit_outcome", "corpus", "raters", "model", "band", "outputs", "judged", "valid", "minor",
            "major", "uncertain", "splits", "major_rate", "any_rate", "major_found",
        ),
        "categories": shown(
            categories, "error_category", "corpus", "raters", "error_category", "minor", "major", "minor_share",
            "major_share",
        ),
        "overlap": shown(overlap, "failure_overlap"),
        "correlations": shown(correlation, "error_correlation"),
    }  # fmt: skip


def of_judges(warehouse: Warehouse) -> Mapping[str, str]:
    """Agreement of judges with people and with each other. People's names are replaced by pseudonyms."""
    calibration = warehouse.read("judge_calibration").sort("corpus", "judge")
    confusion = confusions_of_judges(warehouse).filter(judge="panel").sort("corpus", "people", "judged")
    raters = warehouse.read("rater_agreement").sort("corpus", "scope", "kind", "first", "second")
    model = warehouse.read("rater_model").sort("corpus", "kind", "rater")
    pseudonyms = anonymous([*names_of_people(raters), *names_of_people(model)])
    raters, model = (without_names(rows, pseudonyms) for rows in (raters, model))
    confidence = warehouse.read("judge_reliability").sort("corpus", "judge", "confidence")
    return {
        "calibration": shown(calibration, "judge_calibration"),
        "confusion of the panel": markdown(
            confusion.select(cells("judge_confusion", "corpus", "people", "judged", "outputs"))
        ),
        "agreement": shown(raters, "rater_agreement"),
        "model of raters": shown(model, "rater_model"),
        "confidence": shown(confidence, "judge_reliability"),
    }


def of_estimates(warehouse: Warehouse) -> Mapping[str, str]:
    """Estimated error rates of all outputs, and the cost of finding major errors."""
    errors = warehouse.read("error_estimate").sort("corpus", "model", "region")
    anchored = warehouse.read("anchored_estimate").sort("corpus", "model", "region", "level")
    costs = warehouse.read("recall_cost").sort("corpus", "ranking", "recall")
    return {
        "errors": shown(errors, "error_estimate"),
        "errors, with verdicts": shown(anchored, "anchored_estimate"),
        "cost of recall": shown(costs, "recall_cost"),
    }


def of_metrics(warehouse: Warehouse) -> Mapping[str, str]:
    """Agreement of metrics with people, and tests of pairs of metrics."""
    agreement = warehouse.read("metric_agreement").sort("corpus", "statistic", "grouping", "metric")
    pairs = warehouse.read("metric_comparison").sort("corpus", "statistic", "metric", "other")
    return {"agreement": shown(agreement, "metric_agreement"), "tests": shown(pairs, "metric_comparison")}


def of_examples(warehouse: Warehouse) -> Mapping[str, str]:
    """The worked examples without texts; `variorum report --examples` writes a page that includes the texts."""
    rows = warehouse.read("worked_example").sort("corpus", "rule", "place", "model")
    return {"examples": markdown(rows.select(cells("worked_example")))}


def overview(outcomes: pl.DataFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """The panel's counts for each model, and the major error rate estimated from people's labels, for display.

    Combines rows of `audit_outcome` and `error_estimate` into one row of text per corpus and model, with intervals.
    """
    panel = outcomes.filter(pl.col("model") != "", raters=PANEL, band="").select(
        cells("audit_outcome", "corpus", "model", "outputs", "judged", "valid", "minor", "major", "major_found")
    )
    people = estimates.filter(pl.col("model") != "", region="all")
    rates = people.select(cells("error_estimate", "corpus", "model", "major_rate"))
    return panel.join(rates, on=["corpus", "model"], how="left").sort("corpus", "model")
