"""Scores of understanding as people read them: tables in the form of DharmaBench's 4 and 5. Not here: the numbers."""

from collections.abc import Mapping

import dagster as dg
import polars as pl

from benchmark_assets.reporting.readings import shown
from benchmark_assets.reporting.tables import number
from benchmark_assets.understanding.board import BASELINE, MODEL, RULE, TRAINED
from resources.warehouse import Warehouse

KINDS = [BASELINE, MODEL, TRAINED, RULE]
NONE = "—"


def boards(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """A table for each language, from rows of `understanding_board`: systems down, tasks across, their mean last.

    Chance comes first, then models, what was trained, and rules, best mean first. A cell has the sd over seeds behind
    ±, the mean has its interval. What is missing is —.
    """
    sd = pl.when(pl.col("score_sd").is_not_null()).then(_fixed("score_sd", "±")).otherwise(pl.lit(""))
    of_task = pl.concat_str(_fixed("score"), sd)
    bounds = pl.when(pl.col("score_low").is_not_null()).then(
        pl.concat_str(_fixed("score_low", " ["), _fixed("score_high", ", "), pl.lit("]"))
    )
    mean = pl.concat_str(of_task, bounds.otherwise(pl.lit("")))
    cell = pl.when(pl.col("task") == "").then(mean).otherwise(of_task).fill_null(NONE)
    found = {}
    for (language,), own in rows.group_by(["language"], maintain_order=True):
        keys = ["kind", "system"]
        order = own.filter(task="").with_columns(
            place=pl.col("kind").replace_strict({kind: at for at, kind in enumerate(KINDS)})
        ).sort("place", "score", "tasks", "system", descending=[False, True, True, False], nulls_last=True)  # fmt: skip
        cells = own.with_columns(cell=cell).pivot("task", index=keys, values="cell", sort_columns=True)
        tasks = [name for name in cells.columns if name not in (*keys, "")]
        table = order.select(keys).join(cells, on=keys, how="left", maintain_order="left")
        found[str(language)] = table.select(*keys, pl.col(tasks).fill_null(NONE), pl.col("").alias("mean"))
    return found


def two_ways(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `task_score` of tasks of spans: the paper's score beside the pooled one of its mode."""
    own = rows.filter(pl.col("spans").is_not_null()).sort("task", "score", "model", descending=[False, True, False])
    return own.select(
        "task", "model", number("score", 1), pl.col("pooled_type").round(1),
        (pl.col("pooled_type") - pl.col("score")).round(1).alias("pooled less score"),
        pl.col("pooled_partial", "pooled_exact", "pooled_strict").round(1), "spans", "hallucinated", "unusable",
    )  # fmt: skip


def of_scores(warehouse: Warehouse) -> Mapping[str, dg.MetadataValue]:
    """Every model on every task, and scores of spans in two ways."""
    rows = warehouse.read("task_score").sort("task", "score", "model", descending=[False, True, False])
    table = rows.select(
        "task", "model", "seeds", "samples", "unusable", number("score", 2), pl.col("score_sd", "macro").round(2)
    )
    of_spans = rows.filter(pl.col("spans").is_not_null())
    return {"scores": shown(table, rows), "spans in two ways": shown(two_ways(rows), of_spans)}


def of_baselines(warehouse: Warehouse) -> Mapping[str, dg.MetadataValue]:
    """Trained baselines and rules, with how much of the test split is near the train split."""
    rows = warehouse.read("baseline_score").sort("task", "score", descending=[False, True])
    table = rows.select(
        "task", "baseline", "seeds", number("score", 2), pl.col("score_sd", "macro").round(2),
        (100 * pl.col("near")).round(1).alias("near, %"), pl.col("far_score").round(2),
    )  # fmt: skip
    return {"scores": shown(table, rows)}


def of_board(warehouse: Warehouse) -> Mapping[str, dg.MetadataValue]:
    """A table for each language."""
    rows = warehouse.read("understanding_board")
    return {language: shown(table, rows.filter(language=language)) for language, table in boards(rows).items()}


def of_comparisons(warehouse: Warehouse) -> Mapping[str, dg.MetadataValue]:
    """Each two models, means first."""
    rows = warehouse.read("understanding_comparison").sort("language", "task", "model", "other")
    scope = pl.when(pl.col("task") == "").then(pl.lit("mean")).otherwise("task").alias("task")
    table = rows.select(
        "language", scope, "model", "other", number("difference", 2), _fixed("p_randomization", digits=4),
        _fixed("p_holm", digits=4),
    )  # fmt: skip
    return {"differences": shown(table, rows)}


def _fixed(name: str, before: str = "", digits: int = 2) -> pl.Expr:
    """Numbers with a fixed number of digits, null where there is none."""
    return pl.col(name).map_elements(lambda value: f"{before}{value:.{digits}f}", return_dtype=pl.String).alias(name)
