"""Assets of understanding: samples of tasks, answers of models and baselines, and what these are worth."""

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.partitions import BY_TASK, SINGLE_RUN, TASK, TASK_GRID
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.understanding import (
    answers,
    baselines,
    board,
    chance,
    encoder_fits,
    leakage,
    readings,
    scores,
    stored,
    tasks,
)
from benchmark_assets.understanding.encoder import Encoder
from resources.provider.provider import Provider
from resources.warehouse import Warehouse


@dg.asset(
    partitions_def=TASK, backfill_policy=SINGLE_RUN, group_name="understanding", code_version="1",
    metadata={"tables": ["task_span"]}, kinds={"duckdb"},
)  # fmt: skip
def task_sample(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Samples of a task and its gold spans, as its files have them: due where its description or a file changed."""

    def compute(due: pl.DataFrame) -> Computed:
        found, failures = tasks.read_samples(warehouse, due["task"])
        return Computed({"task_sample": found.samples, "task_span": found.spans}, failures)

    return refresh(context, warehouse, compute, lambda asked: tasks.versions(warehouse, asked))


answer = study_asset(
    answers.TaskAnswers, TASK_GRID, "understanding", [dg.AssetDep(task_sample, partition_mapping=BY_TASK)],
    readings.of_answers,
)  # fmt: skip


@dg.asset(
    partitions_def=TASK, backfill_policy=SINGLE_RUN, group_name="understanding", code_version="1",
    kinds={"duckdb", "numpy"}, deps=[task_sample],
)  # fmt: skip
def task_leakage(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """The train sample that each test sample is most like, what the train split has of it, and of its source."""

    def compute(due: pl.DataFrame) -> Computed:
        return Computed({"task_leakage": leakage.leakage(warehouse.read("task_sample", due))})

    return refresh(context, warehouse, compute, leakage.SIGNATURE, lambda: readings.of_leakage(warehouse), sparse=True)


@dg.asset(
    partitions_def=TASK, backfill_policy=SINGLE_RUN, group_name="understanding", code_version="1",
    metadata={"tables": ["baseline_span"]}, kinds={"duckdb", "scikitlearn"}, deps=[task_sample],
)  # fmt: skip
def baseline_answer(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """What baselines that cost seconds answer to a task: a linear classifier or tagger, overlap, a rule."""

    def compute(due: pl.DataFrame) -> Computed:
        known = tasks.tasks(warehouse, due["task"].to_list())
        samples, spans = warehouse.read("task_sample", due), warehouse.read("task_span", due)
        return baselines.answers(list(known.values()), samples, spans)

    return refresh(
        context, warehouse, compute, lambda asked: baselines.settings(warehouse, asked), 
        sparse=True,
    )  # fmt: skip


@dg.asset(
    partitions_def=TASK, backfill_policy=SINGLE_RUN, group_name="understanding", code_version="1",
    kinds={"duckdb", "huggingface"}, deps=[task_sample],
)  # fmt: skip
def encoder_answer(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider]
) -> dg.Output[None]:
    """What encoders of the registry answer to a task of classes; what was trained once is not trained again."""
    named = provider.registry().encoders
    encoders = {name: Encoder(entry.checkpoint, entry.seeds) for name, entry in named.items()}

    def compute(due: pl.DataFrame) -> Computed:
        known = tasks.tasks(warehouse, due["task"].to_list())
        samples = warehouse.read("task_sample", due)
        return encoder_fits.answers(warehouse, list(known.values()), samples, encoders, context.run.run_id)

    return refresh(
        context, warehouse, compute, lambda asked: encoder_fits.settings(warehouse, asked, encoders), sparse=True
    )


@dg.asset(
    partitions_def=TASK, backfill_policy=SINGLE_RUN, group_name="understanding", code_version="1", kinds={"duckdb"},
    deps=[task_sample],
)  # fmt: skip
def task_chance(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """What scores on a task who knows nothing: by guessing, by the most frequent class, by finding no span."""

    def compute(due: pl.DataFrame) -> Computed:
        rows = [pl.DataFrame(schema=chance.CHANCE)]
        for own in stored.golds(warehouse, due):
            rows.append(
                chance.chances(own, warehouse.read("task_sample", stored.keys(own).with_columns(split=pl.lit("train"))))
            )
        return Computed({"task_chance": pl.concat(rows)})

    return refresh(context, warehouse, compute, lambda asked: stored.settings(warehouse, asked, ["task"]), sparse=True)


@dg.asset(
    partitions_def=TASK_GRID, backfill_policy=SINGLE_RUN, group_name="understanding", code_version="1",
    metadata={"tables": ["class_score", "confusion"]},
    kinds={"duckdb", "numpy"}, deps=[answer, dg.AssetDep(task_sample, partition_mapping=BY_TASK)],
)  # fmt: skip
def task_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """A model's score on a task, with macro-F1 or the pooled scores of spans, single classes and confusions."""

    def compute(due: pl.DataFrame) -> Computed:
        parts = [tuple(pl.DataFrame(schema=each) for each in (scores.SCORE, scores.CLASS_SCORE, scores.CONFUSION))]
        for own in stored.golds(warehouse, due):
            keys = due.filter(task=own.task.task)
            spans = warehouse.read("answer_span", keys).rename({"model": "system"})
            given = warehouse.read("answer", keys)
            marks = scores.marked(own, given.select(*stored.AS_ANSWERED), spans)
            how = dict(given.select("model", "how").unique().iter_rows())
            parts.append(scores.task_scores(own, marks, spans, how))
        names = ("task_score", "class_score", "confusion")
        return Computed({name: pl.concat(each) for name, each in zip(names, zip(*parts, strict=True), strict=True)})

    return refresh(
        context, warehouse, compute, lambda asked: stored.settings(warehouse, asked, ["model", "task"]),
        lambda: readings.of_scores(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip


@dg.asset(
    partitions_def=TASK, backfill_policy=SINGLE_RUN, group_name="understanding", code_version="1",
    kinds={"duckdb", "numpy"}, deps=[baseline_answer, task_sample, task_leakage],
)  # fmt: skip
def baseline_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Scores of baselines that cost seconds, with the share of the test split that has a near neighbour in train."""
    return refresh(
        context, warehouse,
        lambda due: Computed({"baseline_score": stored.scored_baselines(warehouse, due, "baseline_answer")}),
        lambda asked: stored.settings(warehouse, asked, ["task"], scores.NEIGHBOURS),
        lambda: readings.of_baselines(warehouse), sparse=True, draw=plots,
    )  # fmt: skip


@dg.asset(
    partitions_def=TASK, backfill_policy=SINGLE_RUN, group_name="understanding", code_version="1",
    kinds={"duckdb", "numpy"}, deps=[encoder_answer, task_sample, task_leakage],
)  # fmt: skip
def encoder_score(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """The same of encoders: apart, so that one that cannot be had hides no other baseline."""
    return refresh(
        context, warehouse,
        lambda due: Computed({"encoder_score": stored.scored_baselines(warehouse, due, "encoder_answer")}),
        lambda asked: stored.settings(warehouse, asked, ["task"], scores.NEIGHBOURS),
        lambda: readings.of_baselines(warehouse), sparse=True,
    )  # fmt: skip


@dg.asset(
    group_name="understanding", code_version="1", kinds={"duckdb", "numpy"},
    deps=[
        task_score, baseline_score, encoder_score, task_chance, answer, baseline_answer, encoder_answer, task_sample,
    ],
)  # fmt: skip
def understanding_board(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Every system on every task, and means over the tasks of a benchmark in a language: DharmaBench's tables 4
    and 5."""

    def compute(_: pl.DataFrame) -> Computed:
        rows = board.board(stored.all_scores(warehouse), stored.all_marks(warehouse), stored.groups(warehouse))
        return Computed({"understanding_board": rows})

    return refresh(
        context, warehouse, compute, lambda asked: stored.of_all(warehouse, asked, board.MEAN_SIGNATURE),
        lambda: readings.of_board(warehouse), sparse=True, draw=plots,
    )  # fmt: skip


@dg.asset(
    group_name="understanding", code_version="1", kinds={"duckdb", "numpy"},
    deps=[task_score, answer, task_sample],
)  # fmt: skip
def understanding_comparison(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Each two models on each task and on the mean over the tasks of a benchmark in a language."""

    def compute(_: pl.DataFrame) -> Computed:
        return Computed(
            {"understanding_comparison": board.compare(stored.all_marks(warehouse), stored.groups(warehouse))}
        )

    return refresh(
        context, warehouse, compute, lambda asked: stored.of_all(warehouse, asked, board.SIGNATURE),
        lambda: readings.of_comparisons(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip
