"""Scores of all systems on all tasks, means over the tasks of a benchmark in a language, significance of differences.

DharmaBench's score is the mean over its tasks in a language (section 5, tables 4 and 5). Means over different sets of
tasks cannot be compared. A system therefore has no mean if it lacks a score on a task for which any system has one,
and a mean never covers tasks of several benchmarks. Tasks without a benchmark have no mean.

Here: rows of `understanding_board` and `understanding_comparison`. Not here: scores on single tasks (task_scores),
tables for display (exhibits).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics import intervals, significance
from benchmark_assets.metrics.intervals import Bounds, Floats, Units, bounds, by_unit
from benchmark_assets.metrics.measures import numbered_units
from resources.catalogue import schema

MODEL, TRAINED, BASELINE = "model", "trained", "baseline"

UNITS = "units: works, of several tasks together; samples of unknown works"
MEAN_SIGNATURE = (
    "mean over the tasks of the benchmark in the language; sd: that of a mean of independent tasks; "
    f"{intervals.SIGNATURE}, within each task; {UNITS}"
)
SIGNATURE = (
    f"points of 100, means over seeds; {intervals.SIGNATURE}; {significance.SIGNATURE}; family: the pairs of models of "
    f"the mean or task; {UNITS}"
)

SCORES = pl.Schema({
    "kind": pl.String(), "system": pl.String(), "task": pl.String(), "score": pl.Float64(), "score_low": pl.Float64(),
    "score_high": pl.Float64(), "score_sd": pl.Float64(), "near": pl.Float64(), "signature": pl.String(),
    "evaluated": pl.Int32(), "available": pl.Int32(),
})  # fmt: skip
ALL_MARKS = pl.Schema({
    "kind": pl.String(), "system": pl.String(), "task": pl.String(), "seed": pl.Int32(), "position": pl.Int32(),
    "unit": pl.String(), "score": pl.Float64(),
})  # fmt: skip
BOARD = schema("understanding_board")
COMPARISON = schema("understanding_comparison")


class TaskGroup(NamedTuple):
    """Benchmark and language of the tasks that are averaged together. If `benchmark` is '', there is no mean."""

    benchmark: str
    language: str


Marks = dict[tuple[str, str], dict[str, Floats]]
"""Points of each test sample (0 to 100, means over seeds), in the order of the file. The outer keys are (kind, system),
the inner keys are tasks."""

UnitNames = Mapping[str, pl.Series]
"""For each task: the unit of each test sample, in the order of the file."""


def board(scores: pl.DataFrame, marks: pl.DataFrame, groups: Mapping[str, TaskGroup]) -> pl.DataFrame:
    """Rows of `understanding_board`.

    Parameters
    ----------
    scores
        Columns of `SCORES`, one row for each system on each task that it answered. A limited evaluation has fewer
        `evaluated` than `available` samples.
    marks
        Columns of `ALL_MARKS`, one row for each system, sample and seed. A mean has no interval if a task lacks marks.
    groups
        Group of each task, by code.

    Returns
    -------
    Columns of `BOARD`: a row for each score, and a row with task '' for each mean. A mean covers the tasks of the group
    that any system answered, trivial baselines included. If a system did not answer all of these tasks, its mean is
    null, and `missing` lists the tasks that it did not answer.
    """
    points, units = _points(marks), _units(marks)
    rows: list[tuple[object, ...]] = []
    for group, tasks in _by_group(groups):
        of_group = scores.filter(pl.col("task").is_in(tasks)).sort("system", "kind", "task")
        covered = _covered(of_group)
        for (system, kind), of_system in of_group.group_by(["system", "kind"], maintain_order=True):
            rows += [
                (system, kind, *group, task, 1, *values[6:], *values[:5], "", values[5])
                for task, *values in of_system.select(SCORES.names()[2:]).iter_rows()
            ]
            if not group.benchmark:
                continue
            averaged = of_system.filter(pl.col("task").is_in(covered))
            missing = [task for task in covered if task not in set(averaged["task"])]
            mean: tuple[float | None, ...] = (None, None, None, None)
            if averaged.height and not missing:
                mean = _mean(averaged, points.get((str(kind), str(system)), {}), units)
            text = f"{MEAN_SIGNATURE}: {' '.join(covered)}"
            sizes = averaged.select(pl.col("evaluated", "available").sum()).row(0)
            rows.append((system, kind, *group, "", averaged.height, *sizes, *mean, None, " ".join(missing), text))
    return pl.DataFrame(rows, schema=BOARD, orient="row")


def compare(marks: pl.DataFrame, groups: Mapping[str, TaskGroup]) -> pl.DataFrame:
    """Rows of `understanding_comparison`: each pair of models on each task, and on the mean over the tasks of a group.

    Parameters
    ----------
    marks
        Columns of `ALL_MARKS`. Systems that are not models are left out.
    groups
        Group of each task, by code.

    Returns
    -------
    Columns of `COMPARISON`. `difference` is the score of `model` minus the score of `other`. A row with task ''
    compares means. Means cover the tasks of a group that at least one model answered; models that did not answer all
    these tasks are left out. Means are not compared if the tasks have no benchmark, or if there is only one task.

    Notes
    -----
    A mean over tasks is a sum over their samples, each weighted by 1 / (samples of its task × tasks). One test
    of units therefore compares two models in all tasks at once.
    """
    units = _units(marks)
    points = {system: by_task for (kind, system), by_task in _points(marks).items() if kind == MODEL}
    parts = [pl.DataFrame(schema=COMPARISON)]
    for group, tasks in _by_group(groups):
        answered = [task for task in tasks if any(task in by_task for by_task in points.values())]
        scopes = [(task, [task]) for task in answered]
        if group.benchmark and len(answered) > 1:
            scopes.append(("", answered))
        for name, scope in scopes:
            of_scope = {
                model: points[model] for model in sorted(points) if all(task in points[model] for task in scope)
            }
            if len(of_scope) > 1:
                keys = {**group._asdict(), "task": name, "signature": SIGNATURE}
                rows = _differences(of_scope, scope, units).with_columns(
                    **{key: pl.lit(text) for key, text in keys.items()}
                )
                parts.append(rows.select(COMPARISON.names()))
    return pl.concat(parts)


def _differences(
    points: Mapping[str, Mapping[str, Floats]], scope: Sequence[str], units: UnitNames
) -> pl.DataFrame:  # fmt: skip
    """Difference between each pair of models on the mean over the tasks in `scope`, with interval and p-values.

    `points` maps models to their points by task.
    """
    weights, numbers = _weighted(scope, units)
    values = np.stack([np.concatenate([by_task[task] for task in scope]) for by_task in points.values()], axis=1)
    shares, sums = by_unit(weights, numbers)[:, None], by_unit(weights[:, None] * values, numbers)
    pairs = list(combinations(range(len(points)), 2))
    one, other = np.array(pairs).T
    sums_of_pairs = sums[:, one] - sums[:, other]
    difference = sums_of_pairs.sum(axis=0)
    names = list(combinations(points, 2))
    influences = sums_of_pairs - shares * difference
    rows = pl.DataFrame({
        "model": [first for first, _ in names], "other": [second for _, second in names], "difference": difference,
        **significance.mean_tests(difference, influences, np.broadcast_to(shares, influences.shape)),
    })  # fmt: skip
    clipped = pl.col("difference_low", "difference_high").clip(-100, 100)
    return significance.answered(rows, influences).with_columns(clipped)


def _mean(scores: pl.DataFrame, points: Mapping[str, Floats], units: UnitNames) -> tuple[float | None, ...]:
    """Mean of one system's scores on several tasks, lower and upper bound of its interval, and sd; 0 to 100.

    The bounds are null if a task has no points, or if there are too few units. The sd is null if a score has no sd.
    """
    tasks = scores["task"].to_list()
    value = float(scores["score"].to_numpy().mean())
    sd = None if scores["score_sd"].has_nulls() else float(np.linalg.norm(scores["score_sd"].to_numpy()) / len(tasks))
    interval = _interval(points, tasks, units) if all(task in points for task in tasks) else (None, None)
    return value, *interval, sd


def _interval(points: Mapping[str, Floats], tasks: Sequence[str], units: UnitNames) -> Bounds:
    """Interval of the mean over tasks, from the deviations of samples from the mean of their task."""
    weights, numbers = _weighted(tasks, units)
    deviations = np.concatenate([points[task] - points[task].mean() for task in tasks])
    influences, shares = by_unit(weights * deviations, numbers), by_unit(weights, numbers)
    (low,), (high,) = bounds(influences[:, None], shares[:, None])
    mean = float(np.mean([points[task].mean() for task in tasks]))
    return (None, None) if np.isnan(low) else (max(mean - float(low), 0), min(mean + float(high), 100))


def _weighted(tasks: Sequence[str], units: UnitNames) -> tuple[Floats, Units]:
    """Weights of samples in the mean over tasks, which sum to 1, and the unit of each sample as a number."""
    sizes = np.array([len(units[task]) for task in tasks])
    return np.repeat(1 / (sizes * len(sizes)), sizes), numbered_units(pl.concat([units[task] for task in tasks]))


def _units(marks: pl.DataFrame) -> dict[str, pl.Series]:
    rows = marks.unique(["task", "position"]).sort("task", "position")
    return {str(task): of_task["unit"] for (task,), of_task in rows.group_by(["task"], maintain_order=True)}


def _points(marks: pl.DataFrame) -> Marks:
    keys = ["kind", "system", "task"]
    rows = marks.group_by(*keys, "position").agg(pl.col("score").mean() * 100).sort(*keys, "position")
    points: Marks = {}
    for (kind, system, task), of_task in rows.group_by(keys, maintain_order=True):
        points.setdefault((str(kind), str(system)), {})[str(task)] = of_task["score"].to_numpy()
    return points


def _covered(scores: pl.DataFrame) -> list[str]:
    """Tasks that a mean covers: all tasks of a group with a score. No model changes another system's mean."""
    return scores["task"].unique().sort().to_list()


def _by_group(groups: Mapping[str, TaskGroup]) -> list[tuple[TaskGroup, list[str]]]:
    pairs = sorted((group, task) for task, group in groups.items())
    return [(group, [task for _, task in grouped]) for group, grouped in groupby(pairs, lambda pair: pair[0])]
