"""The suite's tables as people read them: intervals beside their numbers. Not here: the numbers (detection)."""

import polars as pl

from resources.tables import number

BY = ["corpus", "kind", "severity"]


def readable_detection(rows: pl.DataFrame) -> pl.DataFrame:
    """AUC of each metric, a column each; '-' where a kind was applied to no text, with the reason.

    Parameters
    ----------
    rows
        Of the table `sensitivity`, of any corpora.
    """
    written = rows.with_columns(number("auc", 2)).sort("texts", descending=True)
    columns = written.pivot("metric", index=BY, values="auc", maintain_order=True)
    metrics = list(rows["metric"].unique(maintain_order=True))
    counts = written.group_by(BY).agg(
        pl.col("texts", "passages").max(),
        pl.col("extent").max().map_elements(lambda extent: f"{extent:.0%}", return_dtype=pl.String).fill_null("-"),
        pl.col("note").sort().first().fill_null(""),
    )
    return counts.join(columns, on=BY).select(*BY, "texts", "passages", "extent", *metrics, "note").sort(BY)


def readable_thresholds(rows: pl.DataFrame) -> pl.DataFrame:
    """Thresholds, recalls and false alarms, in per cent where they are shares.

    Parameters
    ----------
    rows
        Of the table `sensitivity_threshold`, of any corpora.
    """
    return rows.select(
        *BY, "rule", "texts", number("threshold", 2),
        number("recall", 0, 100).alias("recall %"), number("false_alarms", 0, 100).alias("false alarms %"),
    ).sort(*BY, "rule")  # fmt: skip
