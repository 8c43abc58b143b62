"""The audit's tables as people read them in Dagster's UI. Not here: the numbers."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.audit.rated import PANEL, anonymous, without_names
from resources.tables import markdown, number, shown
from resources.warehouse import Warehouse

COUNTS = ["outputs", "judged", "valid", "minor", "major", "uncertain"]


def of_outcomes(warehouse: Warehouse) -> Mapping[str, str]:
    """What the panel and people found, by model, band and category; where models fail together."""
    rows = warehouse.read("audit_outcome").sort("corpus", "raters", "model", "band")
    names = ("major_rate", "any_rate", "major_found")
    rates = [number(name, 1, 100) for name in names]
    table = rows.select("corpus", "raters", _all("model"), _all("band"), *COUNTS, "splits", *rates)
    categories = warehouse.read("error_category").filter(pl.col("minor") + pl.col("major") > 0, model="")
    shares = [number("minor_share", 1, 100), number("major_share", 1, 100)]
    overlap = warehouse.read("failure_overlap").sort("corpus", "level", "models")
    correlation = warehouse.read("error_correlation").sort("corpus", "level", "metric")
    return {
        "outcomes": shown(table, rows),
        "categories": shown(
            categories.sort("corpus", "raters", "major", "minor", descending=[False, False, True, True]).select(
                "corpus", "raters", "error_category", "minor", "major", *shares
            ),
            categories,
        ),
        "overlap": shown(
            overlap.select("corpus", "level", "models", "passages", number("share", 1, 100), "judged", "possible"),
            overlap,
        ),
        "correlations": shown(
            correlation.select("corpus", "level", "metric", "outputs", number("correlation", 3)), correlation
        ),
    }


def of_judges(warehouse: Warehouse) -> Mapping[str, str]:
    """Judges against people and each other."""
    rows = warehouse.read("judge_calibration").sort("corpus", "judge")
    percent = [number(name, 1, 100) for name in ("exact", *(f"{level}_{share}" for level in ("major", "any")
                                                            for share in ("precision", "recall", "f1")))]  # fmt: skip
    kappas = [number(name, 3) for name in ("kappa", "kappa_major", "kappa_any")]
    raters = warehouse.read("rater_agreement").sort("corpus", "scope", "kind", "first", "second")
    people = raters.filter(kind="people")
    raters = without_names(raters, anonymous([*people["first"], *people["second"]]))
    sure = warehouse.read("judge_reliability").sort("corpus", "judge", "confidence")
    without = warehouse.read("panel_without").sort("corpus", "judge")
    confusion = warehouse.read("judge_confusion").filter(judge="panel").sort("corpus", "people", "judged")
    return {
        "calibration": shown(rows.select("corpus", "judge", "outputs", *percent, *kappas), rows),
        "confusion of the panel": markdown(confusion.select("corpus", "people", "judged", "outputs")),
        "agreement": shown(
            raters.select(
                "corpus", "scope", "kind", "first", "second", "outputs", number("exact", 1, 100), number("kappa", 3)
            ),
            raters,
        ),
        "confidence": shown(sure.select("corpus", "judge", "confidence", "outputs", number("agreement", 1, 100)), sure),
        "without a judge": shown(
            without.select("corpus", "judge", *COUNTS[:1], "changed", *COUNTS[2:], number("major_rate", 1, 100)),
            without,
        ),
    }


def of_estimates(warehouse: Warehouse) -> Mapping[str, str]:
    """Errors of all outputs, and what finding them costs."""
    rows = warehouse.read("error_estimate").sort("corpus", "model", "region")
    rates = [number(f"{name}_rate", 1, 100) for name in ("minor", "major", "any")]
    costs = warehouse.read("recall_cost").sort("corpus", "ranking", "recall")
    return {
        "errors": shown(
            rows.select("corpus", _all("model"), "region", "outputs", "labelled", pl.col("covered").round(3), *rates),
            rows,
        ),
        "cost of recall": shown(
            costs.select(
                "corpus", "ranking", "recall", pl.col("threshold").round(3), "outputs", number("share", 1, 100),
                number("precision", 1, 100),
            ),
            costs,
        ),
    }  # fmt: skip


def of_examples(warehouse: Warehouse) -> Mapping[str, str]:
    """Outputs worth reading; their texts are on the page that `variorum examples` writes."""
    rows = warehouse.read("worked_example").sort("corpus", "rule", "place", "model")
    return {"examples": markdown(rows.select("corpus", "rule", "place", "model", "passage", "why"))}


def overview(outcomes: pl.DataFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """What the panel found of each model beside what people's sample says of all outputs, percentages with intervals.

    Parameters
    ----------
    outcomes, estimates
        Rows of `audit_outcome` and `error_estimate`.
    """
    panel = outcomes.filter(pl.col("model") != "", raters=PANEL, band="").select(
        "corpus", "model", "outputs", "judged", "valid", "minor", "major", number("major_found", 1, 100)
    )
    people = estimates.filter(region="all").select("corpus", "model", number("major_rate", 1, 100))
    named = {"major_found": "major found, % of outputs", "major_rate": "major by people's sample, %"}
    rows = panel.join(people, on=["corpus", "model"], how="left").with_columns(pl.col("major_rate").fill_null("-"))
    return rows.sort("corpus", "model").rename(named)


def _all(name: str) -> pl.Expr:
    return pl.when(pl.col(name) == "").then(pl.lit("all")).otherwise(pl.col(name)).alias(name)
