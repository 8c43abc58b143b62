"""Tables as people read them in Dagster's UI: rounded, with the signature of their numbers below.

Here: Markdown. Not here: the numbers; the columns of the leaderboard, which the command line prints too (leaderboard).
"""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics.measures import MEAN_RANK, RANKED
from resources.tables import number, shown


def across(rows: pl.DataFrame, by: str, cell: pl.Expr, keys: Sequence[str]) -> pl.DataFrame:
    """A row for each combination of keys, a column for each value of `by`, by name, in which its cell stands."""
    return rows.with_columns(cell=cell).pivot(by, index=list(keys), values="cell", sort_columns=True)


def ranked(rows: pl.DataFrame, rank: pl.Expr, keys: Sequence[str]) -> pl.DataFrame:
    """Rows of `metric_rank`, best mean rank first: for each measure a column with `rank`, for their mean its value."""
    overall = pl.col("measure") == MEAN_RANK
    cells = across(rows, "measure", pl.when(overall).then(number("value", 2)).otherwise(rank), keys)
    by = [*(key for key in keys if key == "corpus"), "value", "system"]
    order = rows.filter(overall).sort(by).select(keys)
    names = [name for name in (*(each.name for each in RANKED), MEAN_RANK) if name in cells.columns]
    return order.join(cells, on=list(keys), maintain_order="left").select(*keys, *names)


def agreement(rows: pl.DataFrame) -> str:
    """Rows of `translator_agreement`."""
    table = rows.select(
        "corpus", "measure", "translator", "other", "passages", number("value", 3), pl.col("sd").round(3)
    )
    return shown(table, rows)


def shares(rows: pl.DataFrame) -> str:
    """Rows of `closest_share`, a column for each translator; '' where a system is not compared with one."""
    table = across(rows, "translator", number("share", 1, 100), ["corpus", "kind", "system"])
    return shown(table.with_columns(pl.col(pl.String).fill_null("")), rows)


def differences(rows: pl.DataFrame) -> str:
    """Rows of `system_comparison`, pairs of models first."""
    models = (pl.col("kind") == "model") & (pl.col("other_kind") == "model")
    table = rows.sort(models, descending=True, maintain_order=True).select(
        "corpus", "measure", "system", "other", "passages", number("difference", 4),
        *(pl.col(name).map_elements(lambda p: f"{p:.4f}", return_dtype=pl.String)
          for name in ("p_bootstrap", "p_randomization", "p_holm")),
    )  # fmt: skip
    return shown(table, rows)


def ranks(rows: pl.DataFrame) -> str:
    """Rows of `metric_rank`, best mean rank first: ranks with intervals, and the cluster of a model in parentheses."""
    cluster = pl.when(pl.col("cluster").is_not_null()).then(pl.format(" ({})", "cluster")).otherwise(pl.lit(""))
    keys = ["corpus", "kind", "system", "mean_references"]
    table = ranked(rows.with_columns(_references()), number("rank", 1) + cluster, keys)
    return shown(table.with_columns(pl.exclude(keys).fill_null("-")), rows)


def concordance(rows: pl.DataFrame) -> str:
    """Rows of `metric_concordance`."""
    return shown(rows.select("corpus", "statistic", "measure", "other", "models", number("value", 3)), rows)


def slices(rows: pl.DataFrame) -> str:
    """Rows of `slice_summary`, best first in each slice."""
    keys = ["corpus", "dimension", "least", "slice"]
    table = rows.sort(*keys, "sim_best", descending=[False] * 4 + [True], nulls_last=True).select(
        "corpus", "dimension", "slice", pl.col("least").round(3), pl.col("most").round(3), "kind", "system", "passages",
        _references(), number("sim_best", 3), number("drift", 2), number("outlier_rate", 1, 100), number("chrf", 1),
        number("bleu", 1), number("comet_avg", 3), number("length_ratio", 2),
    )  # fmt: skip
    return shown(table, rows)


def _references() -> pl.Expr:
    return pl.col("mean_references").round(2)
