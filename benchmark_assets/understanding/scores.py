"""Scores of systems on a task: points of each answer, and the score of all answers of a system.

Here: rows of `task_score`, `class_score`, `confusion`, `baseline_score` and `encoder_score`. Not here: the metrics
(classes, muc), chance baselines (chance), means over tasks and comparisons (board).
"""

import json
from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import LEVEL, RESAMPLES, SEED, mean_interval, resampling_weights
from benchmark_assets.metrics.measures import Floats
from benchmark_assets.understanding import leakage, muc
from benchmark_assets.understanding.baselines import UNTRAINED
from benchmark_assets.understanding.classes import class_scores, confusion, macro_f1, rates
from benchmark_assets.understanding.description import TaskDescription
from resources.catalogue import schema

INTERVALS = f"{LEVEL:.0%} intervals: {RESAMPLES} bootstrap resamples of the samples, percentiles, seed {SEED}"
SIGNATURE = f"0 to 100; mean over seeds, sd with n - 1; {INTERVALS}, the same for all systems of a task"
NEIGHBOURS = f"a train sample of {leakage.NEAR:g} or more, {leakage.SIGNATURE}"

MARKS = pl.Schema({
    "system": pl.String(), "seed": pl.Int32(), "sample": pl.String(), "position": pl.Int32(), "usable": pl.Boolean(),
    "gold": pl.String(), "predicted": pl.String(), "score": pl.Float64(),
})  # fmt: skip
SCORE = schema("task_score")
CLASS_SCORE = schema("class_score")
CONFUSION = schema("confusion")
BASELINE_SCORE = schema("baseline_score")


NO_CLASS = "(none)"
"""The prediction of an unusable answer in `confusion`, for a task without a negative class."""


class Gold(NamedTuple):
    """Gold answers: a task, its test split in the order of the file, and the gold spans of the evaluated types."""

    task: TaskDescription
    samples: pl.DataFrame
    spans: pl.DataFrame


def gold(task: TaskDescription, samples: pl.DataFrame, spans: pl.DataFrame) -> Gold:
    """Gold answers to the test split of a task, from rows of `task_sample` and `task_span`, also of other tasks."""
    test = samples.filter(task=task.task, split="test").sort("position")
    evaluated = pl.col("type").is_in(list(task.types))
    return Gold(task, test, spans.filter(evaluated, task=task.task, split="test").sort("sample", "number"))


def marked(truth: Gold, answers: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Points of each answer to each sample.

    Parameters
    ----------
    answers
        Columns `system`, `seed`, `sample`, `label`, `usable`.
    spans
        Columns `system`, `seed`, `sample`, `number`, `type`, `text`; no rows for a task of classes.

    Returns
    -------
    Columns of `MARKS`: every sample for every seed of a system, in the order of the file. `score` is from 0 to 1. A
    sample without an answer counts like an unusable answer. For classes that is the negative class; without one the
    answer is wrong and `predicted` null. For spans it is no span; `gold` and `predicted` are always null. Answers to
    samples outside the test split are left out.
    """
    keys = ["system", "seed", "sample"]
    grid = answers.select("system", "seed").unique().join(
        truth.samples.select("sample", "position", gold="label"), how="cross"
    )  # fmt: skip
    rows = grid.join(answers.select(*keys, "label", "usable"), on=keys, how="left").sort("system", "seed", "position")
    rows = rows.with_columns(pl.col("usable").fill_null(False), pl.col("seed").cast(pl.Int32))
    if truth.task.kind == "classes":
        silent = pl.lit(truth.task.negative or None, pl.String)
        scored = rows.with_columns(predicted=pl.col("label").fill_null(silent)).with_columns(
            score=(pl.col("gold") == pl.col("predicted")).fill_null(value=False).cast(pl.Float64)
        )
        return scored.select(MARKS.names())
    texts = _texts(truth)
    right, predicted = _strings(truth.spans, ["sample"]), _strings(spans, keys)
    points = [
        muc.type_f1(predicted.get(key, ()), right.get(key[2:], ()), texts[key[2]])
        for key in rows.select(keys).iter_rows()
    ]
    scored = rows.with_columns(score=pl.Series(points, dtype=pl.Float64), predicted=pl.lit(None, pl.String))
    return scored.select(MARKS.names())


def task_scores(
    truth: Gold, marks: pl.DataFrame, spans: pl.DataFrame, how: Mapping[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Rows of `task_score`, `class_score` and `confusion`.

    Parameters
    ----------
    marks
        As `marked` returns them.
    spans
        As for `marked`, with `first`, `last` and `located`.
    how
        How the answers of each system were obtained, in a line.

    Returns
    -------
    Columns of `SCORE`, `CLASS_SCORE` and `CONFUSION`; the last has no rows for a task of spans.
    """
    summaries, classes, tables = [], [], []
    known = spans.join(truth.samples, on="sample", how="semi")
    for (system,), mine in marks.group_by(["system"], maintain_order=True):
        of_mine = known.filter(system=system)
        words = f"{how[str(system)]}; {signature(truth.task)}"
        row = summary(mine) | {"unusable": mine.filter(~pl.col("usable")).height, "signature": words}
        if truth.task.kind == "classes":
            counts = confusion(mine)
            rates_by_class = class_scores(counts, list(truth.task.classes))
            keys = pl.lit(system).alias("model"), pl.lit(truth.task.task).alias("task")
            tables.append(counts.select(*keys, "gold", pl.col("predicted").fill_null(NO_CLASS), "samples"))
            row |= {"macro": _macro(mine)}
        else:
            modes, rates_by_class = _pooled(truth, mine["seed"].unique().sort().to_list(), of_mine)
            row |= modes | {"spans": of_mine.height, "hallucinated": of_mine.filter(located="absent").height}
        summaries.append({"model": system, "task": truth.task.task} | row)
        keys = pl.lit(system).alias("model"), pl.lit(truth.task.task).alias("task")
        classes.append(rates_by_class.select(*keys, pl.all()))
    return (
        pl.DataFrame(summaries, schema=SCORE, orient="row"),
        pl.concat([pl.DataFrame(schema=CLASS_SCORE), *(rows.select(CLASS_SCORE.names()) for rows in classes)]),
        pl.concat([pl.DataFrame(schema=CONFUSION), *tables]),
    )


def baseline_scores(
    truth: Gold, marks: pl.DataFrame, neighbours: pl.DataFrame, signatures: Mapping[str, str]
) -> pl.DataFrame:
    """Rows of `baseline_score`, and of `encoder_score`, with columns of `BASELINE_SCORE`.

    Parameters
    ----------
    marks
        Points of baselines, as `marked` returns them.
    neighbours
        Rows of `task_leakage`.
    signatures
        Signature of each baseline.
    """
    trainable = neighbours.filter(pl.col("nearest").is_not_null(), task=truth.task.task)
    close = trainable.filter(pl.col("similarity") >= leakage.NEAR).select("sample")
    rows = []
    for (baseline,), mine in marks.group_by(["system"], maintain_order=True):
        macro = _macro(mine) if truth.task.kind == "classes" else None
        row = {"task": truth.task.task, "baseline": baseline, "macro": macro} | summary(mine)
        text = f"{signature(truth.task, pooled=False)}; {signatures[str(baseline)]}"
        if baseline not in UNTRAINED and len(trainable):
            far = mine.join(close, on="sample", how="anti")
            row |= {"near": len(close) / len(truth.samples)}
            row |= {"far_score": 100 * float(far["score"].to_numpy().mean()) if len(far) else None}
            text += f"; near: {NEIGHBOURS}"
        rows.append(row | {"signature": text})
    return pl.DataFrame(rows, schema=BASELINE_SCORE, orient="row")


def summary(marks: pl.DataFrame) -> dict[str, float | int | None]:
    """Score of one system from its points: `seeds`, `samples`, `score` with its interval, and `score_sd`."""
    table = by_seed(marks)
    values = 100 * table.mean(axis=0)
    low, high = mean_interval(values, resampling_weights(len(values)))
    seeds = 100 * table.mean(axis=1)
    sd = float(seeds.std(ddof=1)) if len(seeds) > 1 else None
    return {
        "seeds": len(seeds), "samples": len(values), "score": float(values.mean()), "score_low": low,
        "score_high": high, "score_sd": sd,
    }  # fmt: skip


def by_seed(marks: pl.DataFrame) -> Floats:
    """Points of one system on one task, shape (seeds, samples), 0 to 1, samples in the order of the file."""
    rows = marks.sort("seed", "position")
    table: Floats = rows["score"].to_numpy().reshape(marks["seed"].n_unique(), -1)
    return table


def signature(task: TaskDescription, pooled: bool = True) -> str:
    """Signature of a score on a task; for spans with the signature of the pooled scores, unless `pooled` is False."""
    if task.kind == "classes":
        metric = f"micro-F1 over {len(task.classes)} classes; no usable answer counts as {task.negative or 'wrong'}"
    else:
        types = ", ".join(task.types)
        metric = f"{muc.SIGNATURE_TYPE}; types {types}; no usable answer counts as no span"
        metric += f"; {muc.SIGNATURE_POOLED}" if pooled else ""
    return f"{metric}; {SIGNATURE}"


def _pooled(truth: Gold, seeds: list[int], spans: pl.DataFrame) -> tuple[dict[str, float], pl.DataFrame]:
    """Means over seeds of the pooled scores, 0 to 100, and counts by type, summed over seeds, with their rates."""
    right = _places(truth.spans)
    order = truth.samples["sample"].to_list()
    gold_spans = [right.get(sample, []) for sample in order]
    runs = []
    for seed in seeds:
        places = _places(spans.filter(seed=seed))
        runs.append(muc.pooled([places.get(sample, []) for sample in order], gold_spans))
    modes = {name: 100 * float(np.mean([run.f1[name] for run in runs])) for name in muc.MODES}
    types = list(dict.fromkeys([*truth.task.types, *sorted({name for run in runs for name in run.types})]))
    counts = [[sum(run.types.get(name, (0, 0, 0))[i] for run in runs) for i in range(3)] for name in types]
    rows = [(name, *count) for name, count in zip(types, counts, strict=True)]
    schema = {name: kind for name, kind in CLASS_SCORE.items() if name in ("class", "gold", "predicted", "correct")}
    return modes, rates(pl.DataFrame(rows, schema=schema, orient="row"))


def _macro(marks: pl.DataFrame) -> float:
    """Macro-F1, mean over seeds, 0 to 100."""
    return 100 * float(np.mean([macro_f1(confusion(run)) for _, run in marks.group_by("seed", maintain_order=True)]))


def _texts(truth: Gold) -> dict[str, str]:
    """The text with the spans, by sample."""
    return {
        sample: json.loads(texts)[truth.task.marked] for sample, texts in truth.samples.select("sample", "texts").rows()
    }


def _strings(spans: pl.DataFrame, keys: list[str]) -> dict[tuple[object, ...], list[tuple[str, str]]]:
    """Type and string of the spans of each sample, in their order."""
    rows = spans.sort(*keys, "number").select(*keys, "type", "text").iter_rows()
    width = len(keys)
    return {key: [(row[-2], row[-1]) for row in group] for key, group in groupby(rows, lambda row: row[:width])}


def _places(spans: pl.DataFrame) -> dict[str, list[muc.ScoredSpan]]:
    """Spans of each sample by place, in their order."""
    rows = spans.sort("sample", "number").select("sample", "type", "first", "last").iter_rows()
    return {sample: [muc.ScoredSpan(*row[1:]) for row in group] for sample, group in groupby(rows, lambda row: row[0])}
