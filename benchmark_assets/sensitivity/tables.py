"""Tables that display the results of the sensitivity suite with their intervals. Not here: the results (detection)."""

import polars as pl

from resources.tables import cells

BY = ["corpus", "kind", "severity"]


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
