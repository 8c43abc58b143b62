"""What scores of understanding are made from, out of the warehouse: gold, answers of all systems, what is scored how.

Not here: the scores themselves (scores, board), what Dagster is told (assets).
"""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.lineage.standing import digest
from benchmark_assets.understanding import board, scores
from benchmark_assets.understanding.baselines import UNTRAINED
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.tasks import tasks
from resources.errors import BadInput
from resources.warehouse import Warehouse

ANSWER = pl.col("model").alias("system"), pl.col("seed", "sample", "label", "usable")
BASELINE_ANSWER = pl.col("baseline").alias("system"), pl.col("seed", "sample", "label"), pl.lit(True).alias("usable")


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
    words: dict[str, str | None] = {}
    for code in set(asked["task"]) & set(warehouse.read("task", columns=["task"])["task"]):
        try:
            words[code] = digest(_contract(tasks(warehouse, [code])[code]), *more)
        except BadInput:
            words[code] = None
    own = pl.DataFrame(list(words.items()), schema={"task": pl.String, "settings": pl.String}, orient="row")
    return asked.select(dims).join(own, on="task")


def of_all(warehouse: Warehouse, asked: pl.DataFrame, words: str) -> pl.DataFrame:
    """Of an asset without partitions, which applies where there is a task; stays while a description is unusable."""
    try:
        contracts = {code: (task.language, _contract(task)) for code, task in tasks(warehouse).items()}
    except BadInput:
        return asked.with_columns(settings=pl.lit(None, pl.String))
    own = asked if contracts else asked.clear()
    return own.with_columns(settings=pl.lit(digest(words, sorted(contracts.items()))))


def languages(warehouse: Warehouse) -> dict[str, str]:
    """Language of each task."""
    return {code: task.language for code, task in tasks(warehouse).items()}


def all_scores(warehouse: Warehouse) -> pl.DataFrame:
    """Scores of models, baselines and of who knows nothing, in the columns of `board.SCORES`."""
    of_models = warehouse.read("task_score").with_columns(kind=pl.lit(board.MODEL), system="model")
    kind = pl.when(pl.col("baseline").is_in(UNTRAINED)).then(pl.lit(board.RULE)).otherwise(pl.lit(board.TRAINED))
    trained = warehouse.read("baseline_score").with_columns(kind=kind, system="baseline")
    nothing = pl.lit(None, pl.Float64)
    guessed = warehouse.read("task_chance").with_columns(
        kind=pl.lit(board.BASELINE), system="baseline", score_low=nothing, score_high=nothing, score_sd=nothing
    )
    return pl.concat([each.select(board.SCORES.names()) for each in (of_models, trained, guessed)])


def all_marks(warehouse: Warehouse) -> pl.DataFrame:
    """What each answer is worth, in the columns of `board.MARKS`."""
    parts = [pl.DataFrame(schema=board.MARKS)]
    kind = pl.when(pl.col("system").is_in(UNTRAINED)).then(pl.lit(board.RULE)).otherwise(pl.lit(board.TRAINED))
    for own in golds(warehouse, warehouse.read("task", columns=["task"])):
        spans = warehouse.read("answer_span", keys(own)).rename({"model": "system"})
        of_models = scores.marked(own, warehouse.read("answer", keys(own)).select(*ANSWER), spans)
        parts.append(_marks_of(of_models, own, pl.lit(board.MODEL)))
        trained = warehouse.read("baseline_answer", keys(own)).select(*BASELINE_ANSWER)
        parts.append(_marks_of(scores.marked(own, trained, spans.clear()), own, kind))
    return pl.concat(parts)


def _marks_of(marks: pl.DataFrame, own: scores.Gold, kind: pl.Expr) -> pl.DataFrame:
    return marks.with_columns(kind=kind, task=pl.lit(own.task.task)).select(board.MARKS.names())
