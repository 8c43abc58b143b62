"""Exhibits of understanding: answers to tasks, and scores of systems. The tables of all systems resemble
tables 4 and 5 of DharmaBench.

Not here: computing the numbers (task_scores, board).
"""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.understanding import leakage, stored
from benchmark_assets.understanding.board import BASELINE, MODEL, TRAINED
from benchmark_assets.understanding.task_scores import BASELINE_SCORE, NEIGHBOURS
from resources.catalogue import declared
from resources.exhibits import Exhibit, Ranges, described
from resources.tables import cell, cells, computed, markdown, with_signatures
from resources.warehouse import Warehouse

KINDS = [BASELINE, MODEL, TRAINED]


SCORES = Exhibit(
    "task_score", "scores", "Scores by task", order="task -score model",
    full="task model seeds samples unusable score score_sd macro",
    chart=Ranges("score", panel="task", unit="score", width=170, domain=(0, 100), in_report=False),
)  # fmt: skip
MEANS = Exhibit(
    "understanding_board", "", "Mean scores",
    "Mean over the tasks of a benchmark in a language, from 0 to 100. A system has no mean if it has no score in a "
    "task in which some model has a score.",
    "benchmark -score system", "benchmark system kind tasks score missing",
    chart=Ranges("score", "system", "kind", "benchmark", "score", domain=(0, 100)),
    question="Which system understands the texts best?",
)  # fmt: skip
OF_TASKS = Exhibit("understanding_board", "", "Tasks of", "Score of every system on every task, from 0 to 100.")
TRAINED_ON = Exhibit(
    "understanding_board", "", "Trained on",
    "Systems trained on a task, and the share of its test split with a near neighbor in the train split.",
    columns="task system score near",
)  # fmt: skip
DIFFERENCES = Exhibit(
    "understanding_comparison", "differences", "Differences of means",
    "Mean score of the first model minus mean score of the other, on the samples that both models answered.",
    "benchmark language task -difference", "benchmark model other difference answer detectable",
    brief=lambda rows: rows.filter(task=""), chart=Ranges(
        "difference", pl.format("{} – {}", "model", "other"), "answer",
        pl.format("{} {}", "benchmark", "language"), "difference of mean score, points", columns=1, rule=0,
        in_report=False,
    ),
)  # fmt: skip
EXHIBITS = [
    SCORES, MEANS, DIFFERENCES,
    Exhibit("baseline_score", "trained baselines", order="task -score", read=stored.baseline_scores,
            sources="understanding_board"),
    Exhibit("class_score", "classes", order="task class model", read=stored.classes, sources="task_score",
            full="task model class gold predicted correct precision recall f1"),
]  # fmt: skip


def groups(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Split rows of `understanding_board` into tables, by title: one table for each benchmark and language.

    A title is, for instance, 'DharmaBench, sa' or, for tasks without a benchmark, 'sa'.
    """
    ordered = rows.sort(pl.col("benchmark") == "", "benchmark", "language", maintain_order=True)
    return {
        ", ".join(filter(None, map(str, key))): group
        for key, group in ordered.group_by(["benchmark", "language"], maintain_order=True)
    }


def boards(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Make one table for each group of rows of `understanding_board`. The keys are the titles that `groups` gives.

    Each system has a row. The kinds of systems come in the order of `KINDS`; within a kind, the best mean comes first.
    Each task has a column. If the tasks have a benchmark, the last column is the mean over tasks. A cell shows the
    score and, after ±, the standard deviation over seeds. For a trained baseline, the cell also shows the percentage of
    test samples with a near neighbor in the train split. A mean is shown with its interval. Missing scores are null.
    """
    return {title: _board(group.with_columns(limited_name())) for title, group in groups(rows).items()}


LISTED = ("benchmark", "language", "kind", "system")
"""Columns that identify a row of a displayed table."""


def limited_name() -> pl.Expr:
    """The column `system` of `understanding_board`, with the size of limits: `NAME (20 of 400 samples)`. It counts all
    tasks of a benchmark in a language, so that a system has one row."""
    evaluated, available = (
        pl.col(name).filter(pl.col("task") != "").sum().over(*LISTED) for name in ("evaluated", "available")
    )
    size = pl.format("{} ({} of {} samples)", "system", evaluated, available)
    return pl.when(evaluated < available).then(size).otherwise("system").alias("system")


def _board(rows: pl.DataFrame) -> pl.DataFrame:
    columns = declared()["understanding_board"].columns
    score, sd, near, low, high = (
        cell(columns[name].but(interval=False)) for name in ("score", "score_sd", "near", "score_low", "score_high")
    )
    is_mean = pl.col("task") == ""
    parts = [score, pl.format("±{}", sd), pl.format(" ({} % near)", near),
             pl.when(is_mean).then(pl.format(" [{}, {}]", low, high))]  # fmt: skip
    text = pl.when(pl.col("score").is_not_null()).then(pl.concat_str(parts, ignore_nulls=True))
    keys = ["kind", "system"]
    order = rows.group_by(keys).agg(
        score=pl.col("score").filter(is_mean).first(), tasks=(~is_mean).sum(),
    ).with_columns(
        place=pl.col("kind").replace_strict({kind: place for place, kind in enumerate(KINDS)})
    ).sort("place", "score", "tasks", "system", descending=[False, True, True, False], nulls_last=True)  # fmt: skip
    table = rows.with_columns(cell=text).pivot("task", index=keys, values="cell", sort_columns=True)
    table = order.select(keys).join(table, on=keys, how="left", maintain_order="left")
    tasks = [name for name in table.columns if name not in (*keys, "")]
    means = [pl.col("").alias(columns["task"].empty)] if "" in table.columns else []
    return table.select(*keys, *tasks, *means)


def neighbours(rows: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """Similarity of test splits to train splits, and its effect on scores: one row for each task and trained baseline.

    Parameters
    ----------
    rows
        Rows of `task_leakage`. Tasks without a train split are left out.
    scored
        Rows of `baseline_score` and `encoder_score`. A task without scores gets a row with nulls.

    Returns
    -------
    The columns `task` and `baseline`, followed by:

    - number of test samples;
    - percentage of test samples that are copies of a train sample;
    - percentage of test samples with a near neighbor in the train split;
    - percentage of test samples from a work that is also in the train split, null if works are unknown;
    - percentage of test samples with the same label as their nearest train sample, null for span tasks;
    - mean percentage of a sample's n-grams that occur in the train split;
    - the baseline's score on all test samples, and on test samples without a near neighbor.
    """
    columns = declared()["task_leakage"].columns
    shares = {
        "copies": pl.col("similarity") > leakage.COPY, "near": pl.col("similarity") >= leakage.NEAR,
    }  # fmt: skip
    for name in ("same_source", "nearest_label", "contained"):
        shares[columns[name].label] = pl.col(name).cast(pl.Float64)
    by_task = rows.filter(pl.col("nearest").is_not_null()).group_by("task")
    table = by_task.agg(samples=pl.len(), **{name: share.mean() for name, share in shares.items()})
    table = table.select("task", "samples", *(computed(pl.col(name), "fraction", name) for name in shares))
    trained = scored.select("task", "baseline", *cells("baseline_score", "score", "far_score"))
    return table.join(trained, on="task", how="left").sort("task", "baseline")


def of_leakage(warehouse: Warehouse) -> Mapping[str, str]:
    """Metadata of `task_leakage`: similarity of each task's test split to its train split, without scores."""
    table = neighbours(warehouse.read("task_leakage"), pl.DataFrame(schema=BASELINE_SCORE))
    table = table.select(table.columns[:-3])
    legend = f"near: {NEIGHBOURS}; copies: more than {leakage.COPY:g}"
    return {"neighbours": f"{markdown(table)}\n\n{legend}"}


def troubles(rows: pl.DataFrame) -> pl.DataFrame:
    """Count the parsing steps that answers needed, and the problems of unusable answers. `rows` are rows of `answer`.

    For each model, the table has one row for each problem, then one row for each step, each group in descending order
    of frequency. A row has the number of `answers` with this problem or step, over all tasks and seeds, and their
    percentage of all answers of the model.
    """
    totals = rows.group_by("model").agg(total=pl.len())
    steps = rows.select("model", what=pl.lit("step"), name=pl.col("steps").str.split(" ")).explode("name")
    problems = rows.select("model", what=pl.lit("problem"), name=pl.col("problem"))
    named = pl.concat([steps, problems]).filter(pl.col("name").is_not_null() & (pl.col("name") != ""))
    counts = named.group_by("model", "what", "name").agg(answers=pl.len()).join(totals, on="model")
    table = counts.sort("model", "what", "answers", "name", descending=[False, False, True, False])
    share = computed(pl.col("answers") / pl.col("total"), "fraction", "of its answers")
    return table.select("model", "what", "name", "answers", share)


def agreement(rows: pl.DataFrame) -> pl.DataFrame:
    """For each task and model: the numbers of answers and of unusable answers, and the mean agreement of draws.

    `rows` are rows of `answer`.
    """
    table = rows.group_by("task", "model").agg(
        seeds=pl.col("seed").n_unique(), answers=pl.len(), unusable=(~pl.col("usable")).sum(),
        agreement=pl.col("agreement").mean(),
    )  # fmt: skip
    names = ("task", "model", "seeds", "answers", "unusable")
    return table.sort("task", "model").select(*names, *cells("answer", "agreement"))


def of_answers(warehouse: Warehouse) -> Mapping[str, str]:
    """Metadata of `answer`: a table of counts and agreement by task and model; a table of steps and problems."""
    rows = warehouse.read("answer", columns=["model", "task", "seed", "usable", "problem", "steps", "agreement"])
    return {"answers": markdown(agreement(rows)), "steps and problems": markdown(troubles(rows))}


def confusions(rows: pl.DataFrame) -> pl.DataFrame:
    """Wrong answers by gold class and predicted class, most frequent first, from rows of `confusion`.

    The table has the number of `samples` over all seeds, and their percentage of the samples of the gold class.
    """
    keys = ["task", "model", "gold", "predicted"]
    shares = rows.with_columns(share=pl.col("samples") / pl.col("samples").sum().over("model", "task", "gold"))
    errors = shares.filter(pl.col("gold") != pl.col("predicted"))
    errors = errors.sort("samples", *keys, descending=[True, *[False] * len(keys)])
    return errors.select(*cells("confusion", *keys, "samples"), computed(pl.col("share"), "fraction", "of the class"))


def two_ways(rows: pl.DataFrame) -> pl.DataFrame:
    """Scores on span tasks, from rows of `task_score`: the paper's score, and the pooled scores in all modes."""
    spans = rows.filter(pl.col("spans").is_not_null()).sort("task", "score", "model", descending=[False, True, False])
    return spans.select(
        *cells("task_score", "task", "model", "score", "pooled_type"),
        computed(pl.col("pooled_type") - pl.col("score"), "percentage", "pooled less score"),
        *cells("task_score", "pooled_partial", "pooled_exact", "pooled_strict", "spans", "hallucinated", "unusable"),
    )


def of_scores(warehouse: Warehouse) -> Mapping[str, str]:
    """Metadata of `task_score`: scores of all models on all tasks, both span scores, scores by class, confusions."""
    rows = SCORES.frame(warehouse)
    return {
        **described(warehouse, EXHIBITS, "task_score"),
        "spans in two ways": with_signatures(two_ways(rows), rows.filter(pl.col("spans").is_not_null())),
        "confusions": markdown(confusions(stored.confusions(warehouse))),
    }


def of_board(warehouse: Warehouse) -> Mapping[str, str]:
    """Metadata of `understanding_board`: one table for each benchmark and language, and the scores of trained baselines
    with the share of test samples near a train sample."""
    by_title = groups(warehouse.read("understanding_board"))
    tables = {title: with_signatures(_board(rows), rows) for title, rows in by_title.items()}
    return {**tables, **described(warehouse, EXHIBITS, "understanding_board")}
