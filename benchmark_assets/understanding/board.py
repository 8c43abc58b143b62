"""All systems on all tasks, means over the tasks of a benchmark in a language, and significance of differences.

DharmaBench's score is the mean over its tasks of a language (section 5, tables 4 and 5). A mean over other tasks would
be another number. So a system that lacks a task that some model has gets no mean, tasks of other benchmarks do not
count, and tasks that name no benchmark have no mean.

Here: rows of `understanding_board` and `understanding_comparison`. Not here: scores on single tasks (scores), tables
for display (readings).
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics import significance
from benchmark_assets.metrics.intervals import RESAMPLES, SEED, percentile_interval, resampling_weights
from benchmark_assets.metrics.measures import Floats, Measure
from benchmark_assets.understanding.scores import INTERVALS
from resources.catalogue import schema

MODEL, TRAINED, RULE, BASELINE = "model", "trained", "rule", "baseline"

MEAN_SIGNATURE = (
    "mean over the tasks of the benchmark in the language; sd: that of a mean of independent tasks; "
    f"{INTERVALS}, within each task"
)
SIGNATURE = (
    f"points of 100, means over seeds; {INTERVALS}, the same for both models, within each task; p_randomization: "
    f"approximate randomization of samples, two-sided, {significance.TRIALS} trials (all exchanges where they are "
    "fewer), p = (hits + 1) / (trials + 1); p_holm: by Holm over the pairs of models of the mean or task"
)

SCORES = pl.Schema({
    "kind": pl.String(), "system": pl.String(), "task": pl.String(), "score": pl.Float64(), "score_low": pl.Float64(),
    "score_high": pl.Float64(), "score_sd": pl.Float64(), "near": pl.Float64(), "signature": pl.String(),
})  # fmt: skip
ALL_MARKS = pl.Schema({
    "kind": pl.String(), "system": pl.String(), "task": pl.String(), "seed": pl.Int32(), "position": pl.Int32(),
    "score": pl.Float64(),
})  # fmt: skip
BOARD = schema("understanding_board")
COMPARISON = schema("understanding_comparison")


class TaskGroup(NamedTuple):
    """The tasks that a mean is over: those of a benchmark in a language. No mean where `benchmark` is ''."""

    benchmark: str
    language: str


Marks = dict[tuple[str, str], dict[str, Floats]]
"""Points of each sample by kind and system, then by task: 0 to 100, mean over seeds, in the order of the file."""


def board(scores: pl.DataFrame, marks: pl.DataFrame, groups: Mapping[str, TaskGroup]) -> pl.DataFrame:
    """Rows of `understanding_board`.

    Parameters
    ----------
    scores
        Columns of `SCORES`, one row for each system on each task that it answered.
    marks
        Columns of `ALL_MARKS`, one row for each sample and seed; scores without marks have no interval.
    groups
        Group of each task.

    Returns
    -------
    Columns of `BOARD`. The mean is over the tasks of the group that some model has or, if no model has any, that some
    other system has. It is null if the system lacks one of these tasks; `missing` names them. Tasks without a benchmark
    have no row of means.
    """
    points = _points(marks)
    rows: list[tuple[object, ...]] = []
    for group, tasks in _by_group(groups):
        own = scores.filter(pl.col("task").is_in(tasks)).sort("system", "kind", "task")
        needed = _needed(own)
        for (system, kind), mine in own.group_by(["system", "kind"], maintain_order=True):
            rows += [
                (system, kind, *group, task, 1, *values[:5], "", values[5])
                for task, *values in mine.select(SCORES.names()[2:]).iter_rows()
            ]
            if not group.benchmark:
                continue
            held = mine.filter(pl.col("task").is_in(needed))
            missing = [task for task in needed if task not in set(held["task"])]
            mean: tuple[float | None, ...] = (None, None, None, None)
            if held.height and not missing:
                mean = _mean(held, points.get((str(kind), str(system)), {}))
            text = f"{MEAN_SIGNATURE}: {' '.join(needed)}"
            rows.append((system, kind, *group, "", held.height, *mean, None, " ".join(missing), text))
    return pl.DataFrame(rows, schema=BOARD, orient="row")


def compare(marks: pl.DataFrame, groups: Mapping[str, TaskGroup]) -> pl.DataFrame:
    """Rows of `understanding_comparison`: each pair of models on each task, and on the mean over the tasks of a group.

    Parameters
    ----------
    marks
        Columns of `ALL_MARKS`; only models are compared.
    groups
        Group of each task.

    Returns
    -------
    Columns of `COMPARISON`. Means are compared between models that have all tasks of the group that any model has, if
    these are two or more tasks of a benchmark. `difference` is the score of `model` minus that of `other`.

    Notes
    -----
    A mean of means over tasks is a sum over samples, each weighted by 1 / (samples of its task × tasks): samples are
    exchanged between two models in all tasks at once.
    """
    points = {system: own for (kind, system), own in _points(marks).items() if kind == MODEL}
    parts = [pl.DataFrame(schema=COMPARISON)]
    for group, tasks in _by_group(groups):
        needed = [task for task in tasks if any(task in own for own in points.values())]
        scopes = [(task, [task]) for task in needed]
        if group.benchmark and len(needed) > 1:
            scopes.append(("", needed))
        for name, scope in scopes:
            models = sorted(model for model, own in points.items() if all(task in own for task in scope))
            if len(models) > 1:
                found = _differences([points[model] for model in models], models, scope)
                parts.append(
                    found.with_columns(
                        benchmark=pl.lit(group.benchmark),
                        language=pl.lit(group.language),
                        task=pl.lit(name),
                        signature=pl.lit(SIGNATURE),
                    ).select(COMPARISON.names())
                )
    return pl.concat(parts)


def _differences(points: Sequence[Mapping[str, Floats]], models: list[str], scope: list[str]) -> pl.DataFrame:
    weighted = np.stack([np.concatenate([own[task] / len(own[task]) for task in scope]) / len(scope) for own in points])
    statistics = np.stack([np.ones_like(weighted), weighted], axis=2)
    found = significance.differences(statistics, _SUM)
    resampled = np.stack([_resampled_mean(own, scope) for own in points])
    spread = [
        percentile_interval(resampled[first] - resampled[second])
        for first, second in found.select("first", "second").rows()
    ]
    names = dict(enumerate(models))
    return found.with_columns(
        model=pl.col("first").replace_strict(names, return_dtype=pl.String),
        other=pl.col("second").replace_strict(names, return_dtype=pl.String),
        difference_low=pl.Series([low for low, _ in spread], dtype=pl.Float64),
        difference_high=pl.Series([high for _, high in spread], dtype=pl.Float64),
        p_holm=pl.Series(significance.holm(found["p_randomization"].to_numpy())),
    )


def _sums(rows: pl.DataFrame) -> Floats:
    return np.stack([np.ones(len(rows)), rows["score"].to_numpy()], axis=1)


_SUM = Measure("score", 1, _sums, lambda sums: sums[:, 1])


def _mean(scores: pl.DataFrame, points: Mapping[str, Floats]) -> tuple[float | None, ...]:
    """Mean of the scores of one system on several tasks, with interval and sd."""
    tasks = scores["task"].to_list()
    value = float(scores["score"].to_numpy().mean())
    sd = None if scores["score_sd"].has_nulls() else float(np.linalg.norm(scores["score_sd"].to_numpy()) / len(tasks))
    if not all(task in points for task in tasks):
        return value, None, None, sd
    return value, *percentile_interval(_resampled_mean(points, tasks)), sd


def _resampled_mean(points: Mapping[str, Floats], tasks: Sequence[str]) -> Floats:
    """Means over tasks of the resampled means of each task, shape (RESAMPLES,).

    Tasks with equally many samples have the same resamples. Each task uses them in an order of its own; otherwise their
    errors would be correlated, as if the n-th samples of two tasks were related.
    """
    total = np.zeros(RESAMPLES)
    for task in tasks:
        means = resampling_weights(len(points[task])) @ points[task] / len(points[task])
        total += means[np.random.default_rng([SEED, *task.encode()]).permutation(RESAMPLES)]
    return total / len(tasks)


def _points(marks: pl.DataFrame) -> Marks:
    keys = ["kind", "system", "task"]
    rows = marks.group_by(*keys, "position").agg(pl.col("score").mean() * 100).sort(*keys, "position")
    points: Marks = {}
    for (kind, system, task), own in rows.group_by(keys, maintain_order=True):
        points.setdefault((str(kind), str(system)), {})[str(task)] = own["score"].to_numpy()
    return points


def _needed(scores: pl.DataFrame) -> list[str]:
    """Tasks that a mean is over."""
    of_models = scores.filter(kind=MODEL)
    return (of_models if len(of_models) else scores)["task"].unique().sort().to_list()


def _by_group(groups: Mapping[str, TaskGroup]) -> list[tuple[TaskGroup, list[str]]]:
    pairs = sorted((group, task) for task, group in groups.items())
    return [(group, [task for _, task in own]) for group, own in groupby(pairs, lambda pair: pair[0])]
