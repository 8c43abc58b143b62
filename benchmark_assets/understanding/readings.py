"""Tables of understanding scores for display, in the form of DharmaBench's tables 4 and 5. Not here: the numbers."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.understanding import leakage, stored
from benchmark_assets.understanding.board import BASELINE, MODEL, RULE, TRAINED
from benchmark_assets.understanding.scores import BASELINE_SCORE, NEIGHBOURS
from resources.catalogue import declared
from resources.tables import cell, cells, computed, markdown, shown, with_signatures
from resources.warehouse import Warehouse

KINDS = [BASELINE, MODEL, TRAINED, RULE]


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
    in the train split. What is missing is null.
    """
    return {title: _board(own) for title, own in groups(rows).items()}


def _board(rows: pl.DataFrame) -> pl.DataFrame:
    columns = declared()["understanding_board"].columns
    score, sd, near, low, high = (
        cell(columns[name]._replace(interval=False))
        for name in ("score", "score_sd", "near", "score_low", "score_high")
    )
    of_mean = pl.col("task") == ""
    parts = [score, pl.format("±{}", sd), pl.format(" ({} % near)", near),
             pl.when(of_mean).then(pl.format(" [{}, {}]", low, high))]  # fmt: skip
    written = pl.when(pl.col("score").is_not_null()).then(pl.concat_str(parts, ignore_nulls=True))
    keys = ["kind", "system"]
    order = rows.group_by(keys).agg(
        score=pl.col("score").filter(of_mean).first(), tasks=(~of_mean).sum(),
    ).with_columns(
        place=pl.col("kind").replace_strict({kind: at for at, kind in enumerate(KINDS)})
    ).sort("place", "score", "tasks", "system", descending=[False, True, True, False], nulls_last=True)  # fmt: skip
    table = rows.with_columns(cell=written).pivot("task", index=keys, values="cell", sort_columns=True)
    table = order.select(keys).join(table, on=keys, how="left", maintain_order="left")
    tasks = [name for name in table.columns if name not in (*keys, "")]
    means = [pl.col("").alias(columns["task"].empty)] if "" in table.columns else []
    return table.select(*keys, *tasks, *means)


def neighbours(rows: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """Similarity of test splits to train splits, and its effect on scores: one row for each task and baseline.

    Parameters
    ----------
    rows
        Of `task_leakage`; tasks without a train split are left out.
    scored
        Of `baseline_score` and `encoder_score`; rules are left out. A task without any has a row with nulls.

    Returns
    -------
    Test samples; in percent of them, copies of train samples, those with a near neighbour, those whose work train has
    (null where nobody says), those whose nearest neighbour has the same label (null for spans); how much of a sample's
    n-grams train has on average; score on all samples, and on those without a near neighbour.
    """
    columns = declared()["task_leakage"].columns
    shares = {
        "copies": pl.col("similarity") > leakage.COPY, "near": pl.col("similarity") >= leakage.NEAR,
    }  # fmt: skip
    for name in ("same_source", "nearest_label", "contained"):
        shares[columns[name].label] = pl.col(name).cast(pl.Float64)
    known = rows.filter(pl.col("nearest").is_not_null()).group_by("task")
    table = known.agg(samples=pl.len(), **{name: share.mean() for name, share in shares.items()})
    table = table.select("task", "samples", *(computed(pl.col(name), "fraction", name) for name in shares))
    trained = scored.filter(pl.col("near").is_not_null())
    trained = trained.select("task", "baseline", *cells("baseline_score", "score", "far_score"))
    return table.join(trained, on="task", how="left").sort("task", "baseline")


def of_leakage(warehouse: Warehouse) -> Mapping[str, str]:
    """Similarity of each task's test split to its train split, without scores of baselines."""
    table = neighbours(warehouse.read("task_leakage"), pl.DataFrame(schema=BASELINE_SCORE))
    table = table.select(table.columns[:-3])
    words = f"near: {NEIGHBOURS}; copies: more than {leakage.COPY:g}"
    return {"neighbours": f"{markdown(table)}\n\n{words}"}


def troubles(rows: pl.DataFrame) -> pl.DataFrame:
    """Parsing steps that answers needed, and problems of unusable answers, from rows of `answer`.

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
    table = counts.sort("model", "what", "answers", "name", descending=[False, False, True, False])
    share = computed(pl.col("answers") / pl.col("whole"), "fraction", "of its answers")
    return table.select("model", "what", "name", "answers", share)


def agreement(rows: pl.DataFrame) -> pl.DataFrame:
    """Numbers of answers and unusable answers of each model to each task, and agreement of several draws, from rows of
    `answer`."""
    table = rows.group_by("task", "model").agg(
        seeds=pl.col("seed").n_unique(), answers=pl.len(), unusable=(~pl.col("usable")).sum(),
        agreement=pl.col("agreement").mean(),
    )  # fmt: skip
    names = ("task", "model", "seeds", "answers", "unusable")
    return table.sort("task", "model").select(*names, *cells("answer", "agreement"))


def of_answers(warehouse: Warehouse) -> Mapping[str, str]:
    """Usable answers by model and task, and their steps and problems by model."""
    rows = warehouse.read("answer", columns=["model", "task", "seed", "usable", "problem", "steps", "agreement"])
    return {
        "answers": markdown(agreement(rows)),
        "steps and problems": markdown(troubles(rows)),
    }


def classes(rows: pl.DataFrame) -> pl.DataFrame:
    """Precision, recall and F1 of each class or type of spans: rows of `class_score`."""
    names = ("task", "model", "class", "gold", "predicted", "correct", "precision", "recall", "f1")
    return rows.sort("task", "class", "model").select(cells("class_score", *names))


def confusions(rows: pl.DataFrame) -> pl.DataFrame:
    """Confusions, most frequent first: rows of `confusion`, wrong answers only.

    Returns
    -------
    With `samples` over all seeds, and their share of the samples of the class that is right.
    """
    keys = ["task", "model", "gold", "predicted"]
    whole = rows.with_columns(share=pl.col("samples") / pl.col("samples").sum().over("model", "task", "gold"))
    wrong = whole.filter(pl.col("gold") != pl.col("predicted"))
    wrong = wrong.sort("samples", *keys, descending=[True, *[False] * len(keys)])
    return wrong.select(*cells("confusion", *keys, "samples"), computed(pl.col("share"), "fraction", "of the class"))


def two_ways(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `task_score` for tasks of spans: the paper's score next to the pooled score of its mode."""
    own = rows.filter(pl.col("spans").is_not_null()).sort("task", "score", "model", descending=[False, True, False])
    return own.select(
        *cells("task_score", "task", "model", "score", "pooled_type"),
        computed(pl.col("pooled_type") - pl.col("score"), "percentage", "pooled less score"),
        *cells("task_score", "pooled_partial", "pooled_exact", "pooled_strict", "spans", "hallucinated", "unusable"),
    )


def of_scores(warehouse: Warehouse) -> Mapping[str, str]:
    """Scores of all models on all tasks, span scores in two ways, scores by class, confusions."""
    rows = warehouse.read("task_score").sort("task", "score", "model", descending=[False, True, False])
    names = ("task", "model", "seeds", "samples", "unusable", "score", "score_sd", "macro")
    return {
        "scores": shown(rows, "task_score", *names),
        "spans in two ways": with_signatures(two_ways(rows), rows.filter(pl.col("spans").is_not_null())),
        "classes": markdown(classes(warehouse.read("class_score"))),
        "confusions": markdown(confusions(warehouse.read("confusion"))),
    }


def of_baselines(warehouse: Warehouse) -> Mapping[str, str]:
    """Scores of trained baselines and rules, with the share of the test split that is near the train split."""
    rows = stored.baseline_scores(warehouse).sort("task", "score", descending=[False, True])
    return {"scores": shown(rows, "baseline_score")}


def of_board(warehouse: Warehouse) -> Mapping[str, str]:
    """A table for each benchmark in a language."""
    found = groups(warehouse.read("understanding_board"))
    return {title: with_signatures(_board(rows), rows) for title, rows in found.items()}


def of_comparisons(warehouse: Warehouse) -> Mapping[str, str]:
    """Pairwise differences of models, means first."""
    rows = warehouse.read("understanding_comparison").sort("benchmark", "language", "task", "model", "other")
    return {"differences": shown(rows, "understanding_comparison")}
