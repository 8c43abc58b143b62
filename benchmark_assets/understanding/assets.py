"""Assets of understanding tasks: samples, answers of models and baselines, scores, tables. Not here: computation."""

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.partitions import BY_TASK, TASK, TASK_GRID, partitioned
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.understanding import (
    answers,
    baselines,
    board,
    encoder,
    leakage,
    stored,
    task_scores,
    tasks,
)
from benchmark_assets.understanding.exhibits import EXHIBITS, of_answers, of_board, of_leakage, of_scores
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

BOARD = f"{board.MEAN_SIGNATURE} {task_scores.NEIGHBOURS}"
"""Settings of the board, which includes the scores of trained baselines."""


@dg.asset(
    **partitioned(TASK), group_name="understanding", code_version="1", metadata={"tables": ["task_span"]},
    kinds={"duckdb"},
)  # fmt: skip
def task_sample(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Samples and gold spans of a task, from its files. Stale if the task's description or a file changes."""

    def compute(stale: pl.DataFrame) -> Computed:
        content, failures = tasks.read_samples(warehouse, stale["task"])
        return Computed({"task_sample": content.samples, "task_span": content.spans}, failures)

    return refresh(context, warehouse, compute, lambda partitions: tasks.versions(warehouse, partitions["task"]))


answer = study_asset(
    answers.TaskAnswers, TASK_GRID, "understanding", [dg.AssetDep(task_sample, partition_mapping=BY_TASK)],
    of_answers,
)  # fmt: skip


@dg.asset(
    **partitioned(TASK), group_name="understanding", code_version="1", kinds={"duckdb", "numpy"}, deps=[task_sample]
)
def task_leakage(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Overlap of each test sample with the train split: nearest train sample, shared n-grams, shared sources."""
    return refresh(
        context, warehouse,
        lambda stale: Computed({"task_leakage": leakage.leakage(warehouse.read("task_sample", stale))}),
        leakage.SIGNATURE, lambda: of_leakage(warehouse), sparse=True,
    )  # fmt: skip


@dg.asset(
    **partitioned(TASK), group_name="understanding", code_version="1", kinds={"duckdb", "scikitlearn"},
    deps=[task_sample],
)  # fmt: skip
def baseline_answer(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Answers of the linear classifier, which trains in seconds."""

    def compute(stale: pl.DataFrame) -> Computed:
        descriptions = tasks.tasks(warehouse, stale["task"].to_list())
        return baselines.answers(list(descriptions.values()), warehouse.read("task_sample", stale))

    return refresh(
        context, warehouse, compute,
        lambda partitions: tasks.settings(warehouse, partitions["task"], baselines.determinants), sparse=True,
    )  # fmt: skip


@dg.asset(
    **partitioned(TASK), group_name="understanding", code_version="1", kinds={"duckdb", "huggingface"},
    deps=[task_sample],
)  # fmt: skip
def encoder_answer(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider]
) -> dg.Output[None]:
    """Answers of the registry's encoders to a classification task. Results of earlier training runs are reused."""
    entries = provider.registry().encoders
    encoders = {name: encoder.Encoder(entry.checkpoint, entry.seeds) for name, entry in entries.items()}

    def compute(stale: pl.DataFrame) -> Computed:
        descriptions = tasks.tasks(warehouse, stale["task"].to_list())
        samples = warehouse.read("task_sample", stale)
        return encoder.answers(warehouse, list(descriptions.values()), samples, encoders, context.run.run_id)

    return refresh(
        context, warehouse, compute,
        lambda partitions: encoder.settings(warehouse, partitions["task"], encoders), sparse=True,
    )  # fmt: skip


@dg.asset(**partitioned(TASK), group_name="understanding", code_version="1", kinds={"duckdb"}, deps=[task_sample])
def task_chance(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Chance baselines of a task: uniform guessing, majority class, no spans."""

    def compute(stale: pl.DataFrame) -> Computed:
        rows = [pl.DataFrame(schema=task_scores.CHANCE)]
        for gold in stored.golds(warehouse, stale):
            train = stored.keys(gold).with_columns(split=pl.lit("train"))
            rows.append(task_scores.chances(gold, warehouse.read("task_sample", train)))
        return Computed({"task_chance": pl.concat(rows)})

    return refresh(
        context, warehouse, compute, lambda partitions: stored.settings(warehouse, partitions, ["task"]), sparse=True
    )


@dg.asset(
    **partitioned(TASK_GRID), group_name="understanding", code_version="3", kinds={"duckdb", "numpy"},
    deps=[answer, dg.AssetDep(task_sample, partition_mapping=BY_TASK)],
)  # fmt: skip
def task_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Score of a model on a task, with macro-F1 or pooled span scores."""

    def compute(stale: pl.DataFrame) -> Computed:
        rows = [pl.DataFrame(schema=task_scores.SCORE)]
        for whole in stored.golds(warehouse, stale):
            for gold, models in stored.evaluated(warehouse, whole, stale.filter(task=whole.task.task)["model"]):
                marks, spans, how = stored.marks_of_models(warehouse, gold, models)
                rows.append(task_scores.task_scores(gold, marks, spans, how)[0])
        return Computed({"task_score": pl.concat(rows)})

    return refresh(
        context, warehouse, compute, lambda partitions: stored.settings(warehouse, partitions, ["model", "task"]),
        lambda: of_scores(warehouse), sparse=True, draw=plots,
    )  # fmt: skip


@dg.asset(
    group_name="understanding", code_version="5", kinds={"duckdb", "numpy"},
    deps=[task_score, task_chance, task_leakage, answer, baseline_answer, encoder_answer, task_sample],
)  # fmt: skip
def understanding_board(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Scores of all systems on all tasks, and means by benchmark and language, as in DharmaBench's tables 4 and 5."""

    def compute(_: pl.DataFrame) -> Computed:
        rows = board.board(stored.all_scores(warehouse), stored.all_marks(warehouse), stored.groups(warehouse))
        return Computed({"understanding_board": rows})

    return refresh(
        context, warehouse, compute, lambda partitions: stored.of_all(warehouse, partitions, BOARD),
        lambda: of_board(warehouse), sparse=True, draw=plots,
    )  # fmt: skip


@dg.asset(
    group_name="understanding", code_version="3", kinds={"duckdb", "numpy"},
    deps=[task_score, answer, task_sample],
)  # fmt: skip
def understanding_comparison(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Pairwise comparisons of models, on each task and on the mean over the tasks of a benchmark in a language."""

    def compute(_: pl.DataFrame) -> Computed:
        rows = board.compare(stored.all_marks(warehouse), stored.groups(warehouse))
        return Computed({"understanding_comparison": rows})

    return refresh(
        context, warehouse, compute, lambda partitions: stored.of_all(warehouse, partitions, board.SIGNATURE),
        EXHIBITS, sparse=True, draw=plots,
    )  # fmt: skip
