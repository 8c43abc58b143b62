"""Exhibits that compare models with human translators: verdicts, differences from each translator, outliers.

Not here: other exhibits, and the order of all exhibits (content).
"""

import polars as pl

from benchmark_assets.metrics.entries import OUTLIER
from benchmark_assets.reporting.report import charts
from benchmark_assets.reporting.report.exhibits import Exhibit, Home, closed, columns, named, plotted
from resources.tables import cells


def human_range(home: Home, corpus: str) -> list[Exhibit]:
    """Verdict on each model, and differences between each model and each translator."""
    verdicts = home.read("human_range", corpus).sort("measure", "model", descending=[True, False])
    if verdicts.is_empty():
        return []
    rows = home.read("human_difference", corpus)
    order = pl.col("difference").mean().over("measure", "model")
    rows = rows.sort("measure", order, "model", "translator", descending=[True, True, False, False])
    (measure,) = cells("human_difference", "measure")
    pair = pl.format("{} – {}", "model", "translator")
    plot_rows = closed(plotted(rows, "human_difference", "difference", pair, pl.lit("model"), measure))
    chart = charts.ranges(plot_rows, f"model – translator, {charts.INTERVAL}", width=250, rule=0)
    words = (
        "Whether a model is better than, among or worse than the human translators. A model and a translator are "
        "compared on the same passages, and both are scored against the references of the other translators. A model "
        "is better or worse if it differs significantly from every translator (5 % level, corrected for the number of "
        "translators). Higher similarity and lower drift are better."
    )
    details = "Mean scores of each model and each translator, scored against the references of the other translators."
    return [
        home.exhibit(corpus, "Models among people", words, columns(verdicts, "human_range"), verdicts, chart,
                     "human_range", "drift_score", "reference_envelope"),
        home.exhibit(corpus, "Models and each translator", details, columns(rows, "human_difference"), rows, None,
                     "human_range"),
    ]  # fmt: skip


def outliers(home: Home, corpus: str) -> list[Exhibit]:
    """Thresholds of outliers by number of references, and the share of each system's texts above them."""
    thresholds = home.read("outlier_threshold", corpus).sort("embedder", "references")
    if thresholds.is_empty():
        return []
    words = (
        "Adjusted drift that the given share of human translations exceeds, by number of references. The last "
        "column has the share of human translations that are outliers by the published threshold, a drift above "
        f"{OUTLIER}."
    )
    exhibits = [home.exhibit(
        corpus, "Thresholds of outliers", words, columns(thresholds, "outlier_threshold"), thresholds, None,
        "human_range", "reference_envelope",
    )]  # fmt: skip
    rows = home.read("calibrated_outliers", corpus).sort("share", "kind", "system")
    plot_rows = closed(plotted(rows, "calibrated_outliers", "share", named("system", "kind"), "kind"))
    chart = charts.ranges(plot_rows, f"% of texts above the threshold, {charts.INTERVAL}")
    words = (
        "Share of each system's texts above the threshold. Every text is scored against the references of all "
        "translators except one, so that models and translators have the same number of references."
    )
    table = columns(rows, "calibrated_outliers")
    exhibits.append(home.exhibit(corpus, "Calibrated outliers", words, table, rows, chart, "human_range"))
    return exhibits
