"""Read the inputs of understanding scores from the warehouse: gold answers, answers of all systems, scoring settings.

Not here: the scores themselves (scores, board), Dagster assets (assets).
"""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.understanding import board, scores
from benchmark_assets.understanding.baselines import UNTRAINED
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.tasks import readable, tasks
from resources.digest import digest
from resources.warehouse import Warehouse

AS_ANSWERED = pl.col("model").alias("system"), pl.col("seed", "sample", "label", "usable")
"""Columns of `answer` in the form that `scores.marked` takes."""

_OF_BASELINES = pl.col("baseline").alias("system"), pl.col("seed", "sample", "label"), pl.lit(True).alias("usable")

ANSWERED = ("baseline_answer", "encoder_answer")


def keys(truth: scores.Gold) -> pl.DataFrame:
    """The partition of a task."""
    return pl.DataFrame({"task": [truth.task.task]})


def golds(warehouse: Warehouse, due: pl.DataFrame) -> Iterator[scores.Gold]:
    """Gold answers to each task of these partitions."""
    for code, task in sorted(tasks(warehouse, due["task"].unique().to_list()).items()):
        test = pl.DataFrame({"task": [code], "split": ["test"]})
        yield scores.gold(task, warehouse.read("task_sample", test), warehouse.read("task_span", test))


def _contract(task: TaskDescription) -> str:
    """Hash of the parts of a description that determine how answers are scored."""
    return digest(scores.signature(task), sorted(task.classes), task.marked)


def settings(warehouse: Warehouse, asked: pl.DataFrame, dims: list[str], *more: object) -> pl.DataFrame:
    """Settings of scores by task. Scores stay as they are while a description is unusable; `task_sample` names the
    fault."""
    descriptions = readable(warehouse, set(asked["task"]))
    contracts = {code: digest(_contract(task), *more) if task else None for code, task in descriptions.items()}
    by_task = pl.DataFrame(list(contracts.items()), schema={"task": pl.String, "settings": pl.String}, orient="row")
    return asked.select(dims).join(by_task, on="task")


def of_all(warehouse: Warehouse, asked: pl.DataFrame, words: str) -> pl.DataFrame:
    """Settings of an asset without partitions. It applies if there is a task, and stays as it is while a description is
    unusable."""
    contracts = {}
    for code, task in readable(warehouse).items():
        if task is None:
            return asked.with_columns(settings=pl.lit(None, pl.String))
        contracts[code] = task.benchmark, task.language, _contract(task)
    applicable = asked if contracts else asked.clear()
    return applicable.with_columns(settings=pl.lit(digest(words, sorted(contracts.items()))))


def groups(warehouse: Warehouse) -> dict[str, board.TaskGroup]:
    """The group of each task, whose mean it counts in."""
    return {code: board.TaskGroup(task.benchmark, task.language) for code, task in tasks(warehouse).items()}


def baseline_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of all baselines that are trained or follow a rule, in the columns of `scores.BASELINE_SCORE`."""
    rows = [
        warehouse.read(table, columns=scores.BASELINE_SCORE.names()) for table in ("baseline_score", "encoder_score")
    ]
    return pl.concat(rows).sort("task", "baseline")


def baseline_marks(warehouse: Warehouse, truth: scores.Gold, table: str) -> pl.DataFrame:
    """Points of the baselines' answers to a task in a table of `ANSWERED`, as `scores.marked` returns them."""
    spans = warehouse.read("baseline_span", keys(truth)).rename({"baseline": "system"})
    return scores.marked(truth, warehouse.read(table, keys(truth)).select(*_OF_BASELINES), spans)


def scored_baselines(warehouse: Warehouse, due: pl.DataFrame, table: str) -> pl.DataFrame:
    """Scores of the answers to these tasks in a table of `ANSWERED`, in the columns of `scores.BASELINE_SCORE`."""
    rows = [pl.DataFrame(schema=scores.BASELINE_SCORE)]
    for truth in golds(warehouse, due):
        made = dict(warehouse.read(table, keys(truth), ["baseline", "signature"]).iter_rows())
        neighbours = warehouse.read("task_leakage", keys(truth))
        rows.append(scores.baseline_scores(truth, baseline_marks(warehouse, truth, table), neighbours, made))
    return pl.concat(rows)


def all_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of models, trained baselines, rules and chance, in the columns of `board.SCORES`."""
    nothing = pl.lit(None, pl.Float64)
    of_models = warehouse.read("task_score").with_columns(kind=pl.lit(board.MODEL), system="model", near=nothing)
    kind = pl.when(pl.col("baseline").is_in(UNTRAINED)).then(pl.lit(board.RULE)).otherwise(pl.lit(board.TRAINED))
    trained = baseline_scores(warehouse).with_columns(kind=kind, system="baseline")
    guessed = warehouse.read("task_chance").with_columns(
        kind=pl.lit(board.BASELINE), system="baseline", score_low=nothing, score_high=nothing, score_sd=nothing,
        near=nothing,
    )  # fmt: skip
    return pl.concat([rows.select(board.SCORES.names()) for rows in (of_models, trained, guessed)])


def all_marks(warehouse: Warehouse) -> pl.DataFrame:
    """Points of each answer, in the columns of `board.ALL_MARKS`."""
    parts = [pl.DataFrame(schema=board.ALL_MARKS)]
    kind = pl.when(pl.col("system").is_in(UNTRAINED)).then(pl.lit(board.RULE)).otherwise(pl.lit(board.TRAINED))
    for truth in golds(warehouse, warehouse.read("task", columns=["task"])):
        spans = warehouse.read("answer_span", keys(truth)).rename({"model": "system"})
        of_models = scores.marked(truth, warehouse.read("answer", keys(truth)).select(*AS_ANSWERED), spans)
        parts.append(_marks_of(of_models, truth, pl.lit(board.MODEL)))
        parts += [_marks_of(baseline_marks(warehouse, truth, table), truth, kind) for table in ANSWERED]
    return pl.concat(parts)


def _marks_of(marks: pl.DataFrame, truth: scores.Gold, kind: pl.Expr) -> pl.DataFrame:
    return marks.with_columns(kind=kind, task=pl.lit(truth.task.task)).select(board.ALL_MARKS.names())
