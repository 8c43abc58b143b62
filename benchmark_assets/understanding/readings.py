"""Scores of understanding as people read them: tables in the form of DharmaBench's 4 and 5. Not here: the numbers."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.understanding import leakage, stored
from benchmark_assets.understanding.board import BASELINE, MODEL, RULE, TRAINED
from benchmark_assets.understanding.scores import BASELINE_SCORE, NEIGHBOURS
from resources.tables import markdown, number, shown
from resources.warehouse import Warehouse

KINDS = [BASELINE, MODEL, TRAINED, RULE]
NONE = "—"


def groups(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of `understanding_board` by what a table shows: the tasks of a benchmark in a language, 'DharmaBench, sa',
    or those of a language that name no benchmark, 'sa'."""
    parts = rows.sort(pl.col("benchmark") == "", "benchmark", "language", maintain_order=True)
    return {
        ", ".join(each for each in (str(benchmark), str(language)) if each): own
        for (benchmark, language), own in parts.group_by(["benchmark", "language"], maintain_order=True)
    }


def boards(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """A table for each of the `groups` of `understanding_board`: systems down, tasks across, their mean last, which
    tasks without a benchmark do not have.

    Chance comes first, then models, what was trained, and rules, best mean first. A cell has the sd over seeds behind
    ±, the mean has its interval. Of what was trained a cell says, too, how much of the test split has a near neighbour
    in the train split. What is missing is —.
    """
    return {title: _board(own) for title, own in groups(rows).items()}


def _board(rows: pl.DataFrame) -> pl.DataFrame:
    sd = pl.when(pl.col("score_sd").is_not_null()).then(_fixed("score_sd", "±")).otherwise(pl.lit(""))
    near = pl.when(pl.col("near").is_not_null()).then(
        pl.concat_str(pl.lit(" ("), (100 * pl.col("near")).round().cast(pl.Int64), pl.lit(" % near)"))
    )
    of_task = pl.concat_str(_fixed("score"), sd, near.otherwise(pl.lit("")))
    bounds = pl.when(pl.col("score_low").is_not_null()).then(
        pl.concat_str(_fixed("score_low", " ["), _fixed("score_high", ", "), pl.lit("]"))
    )
    mean = pl.concat_str(of_task, bounds.otherwise(pl.lit("")))
    cell = pl.when(pl.col("task") == "").then(mean).otherwise(of_task).fill_null(NONE)
    keys, of_mean = ["kind", "system"], pl.col("task") == ""
    order = rows.group_by(keys).agg(
        score=pl.col("score").filter(of_mean).first(), tasks=(~of_mean).sum(),
    ).with_columns(
        place=pl.col("kind").replace_strict({kind: at for at, kind in enumerate(KINDS)})
    ).sort("place", "score", "tasks", "system", descending=[False, True, True, False], nulls_last=True)  # fmt: skip
    cells = rows.with_columns(cell=cell).pivot("task", index=keys, values="cell", sort_columns=True)
    tasks = [name for name in cells.columns if name not in (*keys, "")]
    table = order.select(keys).join(cells, on=keys, how="left", maintain_order="left")
    means = [pl.col("").alias("mean")] if "" in cells.columns else []
    return table.select(*keys, pl.col(tasks).fill_null(NONE), *means)


def neighbours(rows: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """How near the test splits are to the train splits, and what that is worth: a row for each task and baseline.

    Parameters
    ----------
    rows
        Of `task_leakage`; tasks without a train split are left out.
    scored
        Of `baseline_score` and `encoder_score`; rules are left out. A task without any has a row with —.

    Returns
    -------
    Test samples; in percent of them, copies of train samples, those with a near neighbour, those whose work train has
    (— where nobody says), those whose nearest neighbour has the same label (— for spans); how much of a sample's
    n-grams train has on average; score on all samples, and on those without a near neighbour.
    """
    known = rows.filter(pl.col("nearest").is_not_null())
    table = known.group_by("task").agg(
        pl.len().alias("samples"), _percent(pl.col("similarity") > leakage.COPY, "copies, %"),
        _percent(pl.col("similarity") >= leakage.NEAR, "near, %"),
        _percent(pl.col("same_source"), "same work, %").fill_null(NONE),
        _percent(pl.col("nearest_label"), "nearest has its label, %").fill_null(NONE),
        _percent(pl.col("contained"), "in train, %"),
    )  # fmt: skip
    trained = scored.filter(pl.col("near").is_not_null()).select(
        "task", "baseline", _fixed("score"), _fixed("far_score").alias("score without near")
    )
    cells = pl.col("baseline", "score", "score without near").fill_null(NONE)
    return table.join(trained, on="task", how="left").with_columns(cells).sort("task", "baseline")


def of_leakage(warehouse: Warehouse) -> Mapping[str, str]:
    """How near the test split of each task is to its train split; scores of baselines are no part of it."""
    table = neighbours(warehouse.read("task_leakage"), pl.DataFrame(schema=BASELINE_SCORE))
    table = table.drop("baseline", "score", "score without near")
    words = f"near: {NEIGHBOURS}; copies: more than {leakage.COPY:g}"
    return {"neighbours": f"{markdown(table)}\n\n{words}"}


def troubles(rows: pl.DataFrame) -> pl.DataFrame:
    """What had to be done to answers before they could be read, and why others are unusable: rows of `answer`.

    Returns
    -------
    A row for each model, step and problem: `answers` that have it, over all tasks and seeds, and their share, most
    frequent first.
    """
    whole = rows.group_by("model").agg(whole=pl.len())
    steps = rows.select("model", what=pl.lit("step"), name=pl.col("steps").str.split(" ")).explode("name")
    problems = rows.select("model", what=pl.lit("problem"), name=pl.col("problem"))
    found = pl.concat([steps, problems]).filter(pl.col("name").is_not_null() & (pl.col("name") != ""))
    counts = found.group_by("model", "what", "name").agg(answers=pl.len()).join(whole, on="model")
    share = (100 * pl.col("answers") / pl.col("whole")).round(2).alias("of its answers, %")
    return counts.select(
        "model", "what", "name", "answers", share
    ).sort("model", "what", "answers", "name", descending=[False, False, True, False])  # fmt: skip


def agreement(rows: pl.DataFrame) -> pl.DataFrame:
    """How many answers of each model to each task were usable, and, where several were drawn, how far the draws agree:
    rows of `answer`."""
    return rows.group_by("task", "model").agg(
        seeds=pl.col("seed").n_unique(), answers=pl.len(), unusable=(~pl.col("usable")).sum(),
        agreement=pl.col("agreement").mean().round(3),
    ).sort("task", "model").with_columns(pl.col("agreement").cast(pl.String).fill_null(NONE))  # fmt: skip


def of_answers(warehouse: Warehouse) -> Mapping[str, str]:
    """What became of the answers, by model and task, and what was wrong with them, by model."""
    rows = warehouse.read("answer", columns=["model", "task", "seed", "usable", "problem", "steps", "agreement"])
    return {
        "answers": markdown(agreement(rows)),
        "steps and problems": markdown(troubles(rows)),
    }


def classes(rows: pl.DataFrame) -> pl.DataFrame:
    """Precision, recall and F1 of each class or type of spans, in percent: rows of `class_score`."""
    rates = [(100 * pl.col(name)).round(1).alias(f"{name}, %") for name in ("precision", "recall", "f1")]
    return rows.select("task", "model", "class", "gold", "predicted", "correct", *rates).sort("task", "class", "model")


def confusions(rows: pl.DataFrame) -> pl.DataFrame:
    """What models took for what, most frequent first: rows of `confusion`, wrong answers only.

    Returns
    -------
    With `samples` over all seeds, and their share of the samples of the class that is right.
    """
    share = (100 * pl.col("samples") / pl.col("samples").sum().over("model", "task", "gold")).round(1)
    return rows.with_columns(share.alias("of the class, %")).filter(pl.col("gold") != pl.col("predicted")).select(
        "task", "model", "gold", "predicted", "samples", "of the class, %"
    ).sort("samples", "task", "model", "gold", "predicted", descending=[True, False, False, False, False])  # fmt: skip


def two_ways(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `task_score` of tasks of spans: the paper's score beside the pooled one of its mode."""
    own = rows.filter(pl.col("spans").is_not_null()).sort("task", "score", "model", descending=[False, True, False])
    return own.select(
        "task", "model", number("score", 1), pl.col("pooled_type").round(1),
        (pl.col("pooled_type") - pl.col("score")).round(1).alias("pooled less score"),
        pl.col("pooled_partial", "pooled_exact", "pooled_strict").round(1), "spans", "hallucinated", "unusable",
    )  # fmt: skip


def of_scores(warehouse: Warehouse) -> Mapping[str, str]:
    """Every model on every task, scores of spans in two ways, of single classes, and what was taken for what."""
    rows = warehouse.read("task_score").sort("task", "score", "model", descending=[False, True, False])
    table = rows.select(
        "task", "model", "seeds", "samples", "unusable", number("score", 2), pl.col("score_sd", "macro").round(2)
    )
    of_spans = rows.filter(pl.col("spans").is_not_null())
    return {
        "scores": shown(table, rows),
        "spans in two ways": shown(two_ways(rows), of_spans),
        "classes": markdown(classes(warehouse.read("class_score"))),
        "confusions": markdown(confusions(warehouse.read("confusion"))),
    }


def of_baselines(warehouse: Warehouse) -> Mapping[str, str]:
    """Trained baselines and rules, with how much of the test split is near the train split."""
    rows = stored.baseline_scores(warehouse).sort("task", "score", descending=[False, True])
    table = rows.select(
        "task", "baseline", "seeds", number("score", 2), pl.col("score_sd", "macro").round(2),
        (100 * pl.col("near")).round(1).alias("near, %"), pl.col("far_score").round(2),
    )  # fmt: skip
    return {"scores": shown(table, rows)}


def of_board(warehouse: Warehouse) -> Mapping[str, str]:
    """A table for each benchmark in a language."""
    found = groups(warehouse.read("understanding_board"))
    return {title: shown(_board(rows), rows) for title, rows in found.items()}


def of_comparisons(warehouse: Warehouse) -> Mapping[str, str]:
    """Each two models, means first."""
    rows = warehouse.read("understanding_comparison").sort("benchmark", "language", "task", "model", "other")
    scope = pl.when(pl.col("task") == "").then(pl.lit("mean")).otherwise("task").alias("task")
    table = rows.select(
        "benchmark", "language", scope, "model", "other", number("difference", 2), _fixed("p_randomization", digits=4),
        _fixed("p_holm", digits=4),
    )  # fmt: skip
    return {"differences": shown(table, rows)}


def _percent(share: pl.Expr, name: str) -> pl.Expr:
    """Mean of what is from 0 to 1, as percent with a digit; null where there is nothing to average."""
    return (100 * share.cast(pl.Float64)).mean().round(1).cast(pl.String).alias(name)


def _fixed(name: str, before: str = "", digits: int = 2) -> pl.Expr:
    """Numbers with a fixed number of digits, null where there is none."""
    return pl.col(name).map_elements(lambda value: f"{before}{value:.{digits}f}", return_dtype=pl.String).alias(name)
