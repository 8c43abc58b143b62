"""Inputs of the understanding scores, read from the warehouse: gold answers, systems' answers, asset settings.

Not here: the scores themselves (task_scores, board), Dagster assets (assets).
"""

from collections.abc import Iterable, Iterator

import polars as pl

from benchmark_assets.understanding import board, task_scores, tasks
from benchmark_assets.understanding.description import TaskDescription
from resources.digest import digest
from resources.warehouse import Warehouse

AS_ANSWERED = pl.col("model").alias("system"), pl.col("seed", "sample", "label", "usable")
"""Columns of `answer`, with the names that `scores.marked` expects."""

_OF_BASELINES = pl.col("baseline").alias("system"), pl.col("seed", "sample", "label"), pl.lit(True).alias("usable")

ANSWERED = ("baseline_answer", "encoder_answer")
"""Tables with the answers of baselines."""

Marked = tuple[pl.DataFrame, pl.DataFrame, dict[str, str]]
"""Points of models' answers in the columns of `task_scores.marked`; their spans; by model, how it was asked."""


def keys(truth: task_scores.Gold) -> pl.DataFrame:
    """The partition key of a task, as a frame of one row."""
    return pl.DataFrame({"task": [truth.task.task]})


def golds(warehouse: Warehouse, partitions: pl.DataFrame) -> Iterator[task_scores.Gold]:
    """Yield the gold answers to each task named in the column `task` of the partitions. Tasks are in the order of their
    codes."""
    for code, task in sorted(tasks.tasks(warehouse, partitions["task"].unique().to_list()).items()):
        test = pl.DataFrame({"task": [code], "split": ["test"]})
        yield task_scores.gold(task, warehouse.read("task_sample", test), warehouse.read("task_span", test))


def evaluated(
    warehouse: Warehouse, truth: task_scores.Gold, models: Iterable[str]
) -> Iterator[tuple[task_scores.Gold, list[str]]]:
    """The models by the gold answers on which they are evaluated: all of `truth`, or those of a limited evaluation."""
    limits = warehouse.read("limited_item", keys(truth), ["model", "sample"])
    limited = [model for model in models if model in set(limits["model"])]
    yield truth, [model for model in models if model not in limited]
    for model in limited:
        chosen = limits.filter(model=model)["sample"].implode()
        samples, spans = (rows.filter(pl.col("sample").is_in(chosen)) for rows in (truth.samples, truth.spans))
        yield truth._replace(samples=samples, spans=spans), [model]


def _contract(task: TaskDescription) -> str:
    """Hash of the parts of a task description that determine the scoring of answers."""
    return digest(task_scores.signature(task), sorted(task.classes), task.marked)


def settings(warehouse: Warehouse, partitions: pl.DataFrame, dims: list[str], *more: object) -> pl.DataFrame:
    """Settings of an asset that scores tasks, one row per partition, in the columns `dims` and `settings`.

    `settings` is a hash of the task's scoring rules and of `more`; null if the task's description cannot be used.
    """
    by_task = tasks.settings(warehouse, partitions["task"], lambda task: digest(_contract(task), *more))
    return partitions.select(dims).join(by_task, on="task")


def of_all(warehouse: Warehouse, partitions: pl.DataFrame, signature: str) -> pl.DataFrame:
    """Settings of an unpartitioned asset that covers all tasks.

    If there are no tasks, the asset does not apply, and the result has no rows. If the description of a task cannot be
    read, the settings are null, and the asset keeps its stored rows.
    """
    contracts = {}
    for code, task in tasks.readable(warehouse).items():
        if task is None:
            return partitions.with_columns(settings=pl.lit(None, pl.String))
        contracts[code] = task.benchmark, task.language, _contract(task)
    applicable = partitions if contracts else partitions.clear()
    return applicable.with_columns(settings=pl.lit(digest(signature, sorted(contracts.items()))))


def groups(warehouse: Warehouse) -> dict[str, board.TaskGroup]:
    """The group of each task, by task code. Scores are averaged over the tasks of a group."""
    return {code: board.TaskGroup(task.benchmark, task.language) for code, task in tasks.tasks(warehouse).items()}


def baseline_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of all baselines except chance, in the columns of `task_scores.BASELINE_SCORE`."""
    return pl.concat(scored_baselines(warehouse, table) for table in ANSWERED).sort("task", "baseline")


def marks_of_models(warehouse: Warehouse, truth: task_scores.Gold, models: Iterable[str]) -> Marked:
    """Points of models' answers to a task, their spans, and how each was asked. The points are the paper's, in which a
    span counts as often as an answer gives it; the spans are given once."""
    models_and_task = keys(truth).join(pl.DataFrame({"model": models}, {"model": pl.String}), how="cross")
    spans = warehouse.read("answer_span", models_and_task).rename({"model": "system"})
    rows = warehouse.read("answer", models_and_task)
    return (
        task_scores.marked(truth, rows.select(*AS_ANSWERED), spans),
        task_scores.once(spans),
        dict(rows.select("model", "how").unique().rows()),
    )


def confusions(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `confusion` from the stored answers to all tasks whose descriptions can be read."""
    rows = [pl.DataFrame(schema=task_scores.CONFUSION)]
    marked = _marked(warehouse, "classes")
    return pl.concat([*rows, *(task_scores.confusions(truth, marks) for truth, (marks, *_) in marked)])


def classes(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `class_score` from the stored answers to all tasks whose descriptions can be read."""
    rows = [pl.DataFrame(schema=task_scores.CLASS_SCORE)]
    marked = _marked(warehouse)
    return pl.concat([*rows, *(task_scores.task_scores(truth, *of_all)[1] for truth, of_all in marked)])


def _marked(warehouse: Warehouse, kind: str = "") -> Iterator[tuple[task_scores.Gold, Marked]]:
    """The gold answers to each readable task, of one kind or of all, with `marks_of_models` of its scored models."""
    for whole in golds(warehouse, _described(warehouse, kind)):
        models = warehouse.read("task_score", keys(whole), ["model"])["model"]
        for truth, some in evaluated(warehouse, whole, models):
            yield truth, marks_of_models(warehouse, truth, some)


def _described(warehouse: Warehouse, kind: str = "") -> pl.DataFrame:
    """The tasks of one kind, or of all, whose descriptions can be read, in the column `task`."""
    codes = [code for code, task in tasks.readable(warehouse).items() if task and kind in ("", task.kind)]
    return pl.DataFrame({"task": codes}, {"task": pl.String})


def baseline_marks(warehouse: Warehouse, truth: task_scores.Gold, table: str) -> pl.DataFrame:
    """Points of the baselines' answers to a task, in the columns of `task_scores.marked`. `table`, one of `ANSWERED`,
    has the answers."""
    return task_scores.marked(truth, warehouse.read(table, keys(truth)).select(*_OF_BASELINES), task_scores.NO_SPANS)


def scored_baselines(warehouse: Warehouse, table: str) -> pl.DataFrame:
    """Scores of the baselines whose answers are in `table`, one of `ANSWERED`, on all tasks whose descriptions can be
    read. The columns are `task_scores.BASELINE_SCORE`."""
    rows = [pl.DataFrame(schema=task_scores.BASELINE_SCORE)]
    for truth in golds(warehouse, _described(warehouse)):
        signatures = dict(warehouse.read(table, keys(truth), ["baseline", "signature"]).iter_rows())
        neighbours = warehouse.read("task_leakage", keys(truth))
        rows.append(task_scores.baseline_scores(truth, baseline_marks(warehouse, truth, table), neighbours, signatures))
    return pl.concat(rows)


def all_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of models, trained baselines and chance, in the columns of `board.SCORES`."""
    null = pl.lit(None, pl.Float64)
    of_models = warehouse.read("task_score").with_columns(kind=pl.lit(board.MODEL), system="model", near=null)
    of_models = of_models.with_columns(evaluated="samples")
    of_baselines = baseline_scores(warehouse).with_columns(kind=pl.lit(board.TRAINED), system="baseline")
    of_chance = warehouse.read("task_chance").with_columns(
        kind=pl.lit(board.BASELINE), system="baseline", score_low=null, score_high=null, score_sd=null, near=null
    )
    tests = warehouse.read("task_sample", pl.DataFrame({"split": ["test"]}), ["task"])
    sizes = tests.group_by("task").agg(available=pl.len().cast(pl.Int32))
    rows = pl.concat([of_models, of_baselines, of_chance], how="diagonal").join(sizes, on="task", how="left")
    rows = rows.with_columns(pl.coalesce("evaluated", "available").alias("evaluated"))
    return rows.select(board.SCORES.names())


def all_marks(warehouse: Warehouse) -> pl.DataFrame:
    """Points of all answers by models and baselines, in the columns of `board.ALL_MARKS`.

    Limited evaluations are left out: their samples are not those of the other systems.
    """
    limited = warehouse.read("limited_item", columns=["model", "task"]).unique()
    parts = [pl.DataFrame(schema=board.ALL_MARKS)]
    for truth in golds(warehouse, warehouse.read("task", columns=["task"])):
        spans = warehouse.read("answer_span", keys(truth)).rename({"model": "system"})
        answers = warehouse.read("answer", keys(truth)).join(limited, on=["model", "task"], how="anti")
        of_models = task_scores.marked(truth, answers.select(*AS_ANSWERED), spans)
        parts.append(_marks_of(of_models, truth, board.MODEL))
        parts += [_marks_of(baseline_marks(warehouse, truth, table), truth, board.TRAINED) for table in ANSWERED]
    return pl.concat(parts)


def _marks_of(marks: pl.DataFrame, truth: task_scores.Gold, kind: str) -> pl.DataFrame:
    return marks.with_columns(kind=pl.lit(kind), task=pl.lit(truth.task.task)).select(board.ALL_MARKS.names())
