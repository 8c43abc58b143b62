"""Exhibits of the sensitivity suite. Not here: the results (detection)."""

import polars as pl

from benchmark_assets.sensitivity.detection import ALL
from resources.exhibits import Exhibit, Ranges, ordered
from resources.tables import cells

BY = ["corpus", "kind", "severity"]


def _by_detection(rows: pl.DataFrame) -> pl.DataFrame:
    """AUC of drift by severity; the kinds of damage that it detects best come first."""
    rows = rows.filter(pl.col("metric") == "drift", pl.col("severity") > 0)
    means = rows.group_by("kind").agg(mean=pl.col("auc").mean())
    return ordered(rows.join(means, on="kind"), "severity -mean kind")


SENSITIVITY = Exhibit(
    "sensitivity", "", "Sensitivity to damage (AUC)",
    "Probability that a damaged translation scores worse than a sound one, by metric. 0.5 is chance.",
    "kind severity metric", brief=lambda rows: rows.drop_nulls("auc"),
    chart=Ranges("auc", "kind", panel=pl.format("severity {}", "severity"), unit="AUC of drift", width=145, columns=3,
                 rule=0.5, domain=(0, 1), rows=_by_detection, in_report=False),
)  # fmt: skip
THRESHOLDS = Exhibit(
    "sensitivity_threshold", "", "Recall and false alarms of thresholds", order="kind severity rule",
    sources="sensitivity",
    chart=Ranges("recall false_alarms", "rule", "", pl.format("severity {}", "severity"), "%", width=145, columns=3,
                 domain=(0, 100), rows=lambda rows: rows.filter(pl.col("severity") > 0, kind=ALL), in_report=False),
)  # fmt: skip


def readable_detection(rows: pl.DataFrame) -> pl.DataFrame:
    """AUC by corpus, kind and severity, with one column for each metric, from rows of `sensitivity`. The AUC is null
    where a kind of damage applies to no text; the last column gives the reason."""
    metric, auc = cells("sensitivity", "metric", "auc")
    long = rows.sort("texts", descending=True).select(*cells("sensitivity", *BY), metric=metric, auc=auc)
    keys = long.columns[: len(BY)]
    wide = long.pivot("metric", index=keys, values="auc")
    counts = rows.group_by(BY).agg(pl.col("texts", "passages", "extent").max(), pl.col("note").sort().first())
    table = counts.sort(BY).select(cells("sensitivity", *BY, "texts", "passages", "extent", "note"))
    metrics = rows.select(metric).to_series().unique(maintain_order=True)
    return table.join(wide, on=keys, maintain_order="left").select(*table.columns[:-1], *metrics, table.columns[-1])


def readable_thresholds(rows: pl.DataFrame) -> pl.DataFrame:
    """Thresholds with their recalls and false alarm rates, by corpus, kind, severity and rule, from rows of
    `sensitivity_threshold`."""
    names = (*BY, "rule", "texts", "threshold", "recall", "false_alarms")
    return rows.sort(*BY, "rule").select(cells("sensitivity_threshold", *names))
