"""Tables for Dagster's UI: Markdown with rounded numbers, followed by the signatures.

Not here: the numbers; the leaderboard, which the command line also prints (leaderboard).
"""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics.entries import MEAN_RANK, METRICS
from benchmark_assets.reporting.leaderboard import COVERAGE, headline
from resources import catalogue
from resources.tables import cells, shown, with_signatures


def across(rows: pl.DataFrame, table: str, keys: Sequence[str], by: str, cell: pl.Expr | str) -> pl.DataFrame:
    """Pivot rows of a table: one row per combination of keys, one column per value of `by`, sorted by name.

    `cell`, an expression or the name of a column, is the content of the cells. Values and the names of the key columns
    are formatted as the catalogue declares.
    """
    value = cells(table, cell)[0] if isinstance(cell, str) else cell
    headings = [catalogue.column(table, key).heading for key in keys]
    long = rows.select(*cells(table, *keys), across=cells(table, by)[0], cell=value)
    return long.pivot("across", index=headings, values="cell", sort_columns=True)


def ranked(rows: pl.DataFrame, rank: pl.Expr, keys: Sequence[str]) -> pl.DataFrame:
    """Rows of `metric_rank` pivoted to one row for each combination of keys, best mean rank of comparable rows first.

    Columns of measures show the expression `rank`; the column of the mean rank shows the mean rank itself.
    """
    overall = pl.col("measure") == MEAN_RANK
    by = [*(key for key in keys if key == "corpus"), "apart", "value", "system"]
    order = rows.filter(overall).sort(by).select(cells("metric_rank", *keys))
    value, *_ = cells("metric_rank", "value")
    table = across(rows, "metric_rank", keys, "measure", pl.when(overall).then(value).otherwise(rank))
    names = [catalogue.label(name) for name in measures(rows)]
    return order.join(table, on=order.columns, maintain_order="left", nulls_equal=True).select(*order.columns, *names)


def measures(rows: pl.DataFrame) -> list[str]:
    """Names of the metrics in rows of `metric_rank`, in the order of the entries; the mean rank is the last."""
    known = [metric.name for metric in METRICS]
    present = set(rows["measure"])
    named = sorted(present - {*known, MEAN_RANK})
    return [name for name in (*known, *named, MEAN_RANK) if name in present]


def published(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of `published_summary` about systems and their measures, by heading: those of a corpus with the same basis.

    A heading says why the values are not comparable with the leaderboard.
    """
    of_systems = rows.filter(pl.col("system") != "", translator="")
    parts = of_systems.group_by("benchmark", "corpus", "basis", "embedder", maintain_order=True)
    words = "Not comparable with our scores: published with {}, of {}, {}, similarity by {}"
    return {
        words.format(benchmark, corpus, _BASIS[str(basis)], embedder): part
        for (benchmark, corpus, basis, embedder), part in parts
    }


_BASIS = {"all passages": "over all passages", "passages": "computed from published scores of passages"}


def published_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows that `published` returns under a heading, most similar system first, one column per measure."""
    order = rows.filter(measure="sim_best").sort("value", descending=True).select("system")
    return order.join(across(rows, "published_summary", ["system"], "measure", "value"), on="system")


def shares(rows: pl.DataFrame) -> str:
    """Rows of `closest_share`, one column per translator; null if the system was not compared with that translator."""
    return with_signatures(across(rows, "closest_share", ["corpus", "kind", "system"], "translator", "share"), rows)


def differences(rows: pl.DataFrame) -> str:
    """Rows of `system_comparison`, pairs of models first."""
    models = (pl.col("kind") == "model") & (pl.col("other_kind") == "model")
    return shown(
        rows.sort(models, descending=True, maintain_order=True), "system_comparison", "corpus", "measure", "system",
        "other", "passages", "units", "difference", "p", "p_holm",
    )  # fmt: skip


def ranks(rows: pl.DataFrame) -> str:
    """Rows of `metric_rank` of ranked models, best mean rank first: ranks with bounds, and clusters in parentheses."""
    rank, *_ = cells("metric_rank", "rank")
    with_cluster = pl.concat_str(rank, pl.format(" ({})", "cluster"), ignore_nulls=True)
    keys = ["corpus", "kind", "system", "mean_references", *separating(rows)]
    return with_signatures(ranked(rows, with_cluster, keys), rows)


def separating(rows: pl.DataFrame) -> list[str]:
    """The column `apart` if it distinguishes any rows."""
    return ["apart"] if (rows["apart"] != "").any() else []


def slices(rows: pl.DataFrame) -> str:
    """Rows of `slice_summary`, best system first within each slice."""
    keys = ["corpus", "dimension", "least", "slice"]
    return shown(
        rows.sort(*keys, "sim_best", descending=[False] * 4 + [True], nulls_last=True), "slice_summary", "corpus",
        "dimension", "slice", "least", "most", "kind", "system", *COVERAGE, *headline(rows),
    )  # fmt: skip
