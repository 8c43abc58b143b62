"""What scores of understanding are made from, out of the warehouse: gold, answers of all systems, what is scored how.

Not here: the scores themselves (scores, board), what Dagster is told (assets).
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
"""Columns of `answer` as `scores.marked` takes them."""

_OF_BASELINES = pl.col("baseline").alias("system"), pl.col("seed", "sample", "label"), pl.lit(True).alias("usable")

ANSWERED = ("baseline_answer", "encoder_answer")


def keys(own: scores.Gold) -> pl.DataFrame:
    """The partition of a task."""
    return pl.DataFrame({"task": [own.task.task]})


def golds(warehouse: Warehouse, due: pl.DataFrame) -> Iterator[scores.Gold]:
    """What is right in each task of these partitions."""
    for code, task in sorted(tasks(warehouse, due["task"].unique().to_list()).items()):
        own = pl.DataFrame({"task": [code], "split": ["test"]})
        yield scores.gold(task, warehouse.read("task_sample", own), warehouse.read("task_span", own))


def _contract(task: TaskDescription) -> str:
    """What of a description says how its answers are scored."""
    return digest(scores.signature(task), sorted(task.classes), task.marked)


def settings(warehouse: Warehouse, asked: pl.DataFrame, dims: list[str], *more: object) -> pl.DataFrame:
    """Scores stay as they are while a description is unusable; `task_sample` says what is wrong with it."""
    known = readable(warehouse, set(asked["task"]))
    words = {code: digest(_contract(task), *more) if task else None for code, task in known.items()}
    own = pl.DataFrame(list(words.items()), schema={"task": pl.String, "settings": pl.String}, orient="row")
    return asked.select(dims).join(own, on="task")


def of_all(warehouse: Warehouse, asked: pl.DataFrame, words: str) -> pl.DataFrame:
    """Of an asset without partitions, which applies where there is a task; stays while a description is unusable."""
    contracts = {}
    for code, task in readable(warehouse).items():
        if task is None:
            return asked.with_columns(settings=pl.lit(None, pl.String))
        contracts[code] = task.benchmark, task.language, _contract(task)
    own = asked if contracts else asked.clear()
    return own.with_columns(settings=pl.lit(digest(words, sorted(contracts.items()))))


def groups(warehouse: Warehouse) -> dict[str, board.TaskGroup]:
    """Which mean each task has a part in."""
    return {code: board.TaskGroup(task.benchmark, task.language) for code, task in tasks(warehouse).items()}


def baseline_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of all baselines that are trained or follow a rule, in the columns of `scores.BASELINE_SCORE`."""
    rows = [
        warehouse.read(table, columns=scores.BASELINE_SCORE.names()) for table in ("baseline_score", "encoder_score")
    ]
    return pl.concat(rows).sort("task", "baseline")


def baseline_marks(warehouse: Warehouse, own: scores.Gold, table: str) -> pl.DataFrame:
    """What answers of baselines to a task are worth, one of the tables `ANSWERED`: as `scores.marked` returns them."""
    spans = warehouse.read("baseline_span", keys(own)).rename({"baseline": "system"})
    return scores.marked(own, warehouse.read(table, keys(own)).select(*_OF_BASELINES), spans)


def scored_baselines(warehouse: Warehouse, due: pl.DataFrame, table: str) -> pl.DataFrame:
    """Scores of the answers to these tasks in one of the tables `ANSWERED`, in columns of `scores.BASELINE_SCORE`."""
    rows = [pl.DataFrame(schema=scores.BASELINE_SCORE)]
    for own in golds(warehouse, due):
        made = dict(warehouse.read(table, keys(own), ["baseline", "signature"]).iter_rows())
        neighbours = warehouse.read("task_leakage", keys(own))
        rows.append(scores.baseline_scores(own, baseline_marks(warehouse, own, table), neighbours, made))
    return pl.concat(rows)


def all_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of models, baselines and of who knows nothing, in the columns of `board.SCORES`."""
    nothing = pl.lit(None, pl.Float64)
    of_models = warehouse.read("task_score").with_columns(kind=pl.lit(board.MODEL), system="model", near=nothing)
    kind = pl.when(pl.col("baseline").is_in(UNTRAINED)).then(pl.lit(board.RULE)).otherwise(pl.lit(board.TRAINED))
    trained = baseline_scores(warehouse).with_columns(kind=kind, system="baseline")
    guessed = warehouse.read("task_chance").with_columns(
        kind=pl.lit(board.BASELINE), system="baseline", score_low=nothing, score_high=nothing, score_sd=nothing,
        near=nothing,
    )  # fmt: skip
    return pl.concat([each.select(board.SCORES.names()) for each in (of_models, trained, guessed)])


def all_marks(warehouse: Warehouse) -> pl.DataFrame:
    """What each answer is worth, in the columns of `board.ALL_MARKS`."""
    parts = [pl.DataFrame(schema=board.ALL_MARKS)]
    kind = pl.when(pl.col("system").is_in(UNTRAINED)).then(pl.lit(board.RULE)).otherwise(pl.lit(board.TRAINED))
    for own in golds(warehouse, warehouse.read("task", columns=["task"])):
        spans = warehouse.read("answer_span", keys(own)).rename({"model": "system"})
        of_models = scores.marked(own, warehouse.read("answer", keys(own)).select(*AS_ANSWERED), spans)
        parts.append(_marks_of(of_models, own, pl.lit(board.MODEL)))
        parts += [_marks_of(baseline_marks(warehouse, own, table), own, kind) for table in ANSWERED]
    return pl.concat(parts)


def _marks_of(marks: pl.DataFrame, own: scores.Gold, kind: pl.Expr) -> pl.DataFrame:
    return marks.with_columns(kind=kind, task=pl.lit(own.task.task)).select(board.ALL_MARKS.names())
