"""Scores of systems on a task: points of each answer, and the system's score from all its answers.

Here: rows of `task_score`, `class_score`, `confusion`, `baseline_score`, `encoder_score` and `task_chance`; precision,
recall and F1 of classes. Micro-F1 is the share of correct answers, since each sample has one gold class and one answer.
Not here: scores of spans (muc), means over tasks and comparisons (board).
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import SIGNATURE as INTERVALS
from benchmark_assets.metrics.intervals import Floats, mean_interval
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.understanding import leakage, muc
from benchmark_assets.understanding.description import TaskDescription
from resources.catalogue import schema

SIGNATURE = f"0 to 100; mean over seeds, sd with n - 1; {INTERVALS}"
NEIGHBOURS = f"a train sample of {leakage.NEAR:g} or more, {leakage.SIGNATURE}"

MARKS = pl.Schema({
    "system": pl.String(), "seed": pl.Int32(), "sample": pl.String(), "position": pl.Int32(), "unit": pl.String(),
    "usable": pl.Boolean(), "gold": pl.String(), "predicted": pl.String(), "score": pl.Float64(),
})  # fmt: skip
SCORE = schema("task_score")
CLASS_SCORE = schema("class_score")
CONFUSION = schema("confusion")
NO_SPANS = pl.DataFrame(schema={"system": pl.String(), **schema("answer_span", "model")})
BASELINE_SCORE = schema("baseline_score")

NO_CLASS = "(none)"
"""Predicted class in `confusion` for an unusable answer, if the task has no negative class."""


class Gold(NamedTuple):
    """Gold answers to a task. `samples` are the rows of `task_sample` of the test split, in the order of the file.
    `spans` are the rows of `task_span` with the gold spans of the evaluated types."""

    task: TaskDescription
    samples: pl.DataFrame
    spans: pl.DataFrame


def confusion(answers: pl.DataFrame) -> pl.DataFrame:
    """Confusion matrix in long form: columns `gold`, `predicted` and `samples`.

    It has a row for each pair of classes that occurs, sorted by class. `answers` has the columns `gold` and
    `predicted`, one row for each answer; `predicted` is null if the answer is not a class.
    """
    return answers.group_by("gold", "predicted").agg(samples=pl.len().cast(pl.Int32)).sort("gold", "predicted")


def class_scores(counts: pl.DataFrame, classes: list[str]) -> pl.DataFrame:
    """Precision, recall and F1 of each class.

    Parameters
    ----------
    counts
        As `confusion` returns them.
    classes
        All classes that occur, in the order of the rows to return. An answer that is not a class lowers the recall of
        the gold class, but does not affect the precision of any class.

    Returns
    -------
    Columns `class`; the counts `gold`, `predicted` and `correct`; and `precision`, `recall` and `f1` in [0, 1], which
    are 0 if the denominator is 0.
    """
    gold = counts.group_by(pl.col("gold").alias("class")).agg(pl.col("samples").sum().alias("gold"))
    predicted = counts.group_by(pl.col("predicted").alias("class")).agg(pl.col("samples").sum().alias("predicted"))
    diagonal = counts.filter(pl.col("gold") == pl.col("predicted"))
    correct = diagonal.select(pl.col("gold").alias("class"), correct="samples")
    table = pl.DataFrame({"class": classes}, schema={"class": pl.String})
    for column in (gold, predicted, correct):
        table = table.join(column, on="class", how="left", maintain_order="left")
    return rates(table.with_columns(pl.col("gold", "predicted", "correct").fill_null(0).cast(pl.Int32)))


def rates(table: pl.DataFrame) -> pl.DataFrame:
    """Add the columns `precision`, `recall` and `f1`, computed from the counts `gold`, `predicted` and `correct`.

    A rate is 0 if its denominator is 0.
    """

    def share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
        return pl.when(whole > 0).then(part / whole).otherwise(0.0)

    gold, predicted, correct = (pl.col(name) for name in ("gold", "predicted", "correct"))
    return table.with_columns(
        precision=share(correct, predicted), recall=share(correct, gold), f1=share(2 * correct, gold + predicted)
    )


def macro_f1(counts: pl.DataFrame) -> float:
    """Mean F1 over the classes that occur as gold or predicted class, 0 to 1; equals scikit-learn's 'macro'.

    `counts` are as `confusion` returns them. Answers that are not a class do not count as a further class.
    """
    occurring = pl.concat([counts["gold"], counts["predicted"]]).drop_nulls().unique().sort().to_list()
    return float(class_scores(counts, occurring)["f1"].to_numpy().mean())


def gold(task: TaskDescription, samples: pl.DataFrame, spans: pl.DataFrame) -> Gold:
    """Gold answers to a task, from rows of `task_sample` and `task_span`, which may include other tasks and splits."""
    test = samples.filter(task=task.task, split="test").sort("position")
    evaluated = pl.col("type").is_in(list(task.types))
    return Gold(task, test, spans.filter(evaluated, task=task.task, split="test").sort("sample", "number"))


def marked(truth: Gold, answers: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Points of each system's answers to the test samples.

    Parameters
    ----------
    answers
        Columns `system`, `seed`, `sample`, `label`, `usable`.
    spans
        Columns `system`, `seed`, `sample`, `number`, `type`, `text`; no rows for a classification task.

    Returns
    -------
    Columns of `MARKS`: a row for each system, seed and test sample, in the order of the file. `score` is from 0 to 1.
    `unit` is the work that the sample is from or, if the work is unknown, the sample. A missing answer counts as
    unusable. In a classification task, an unusable answer counts as the negative class; without a negative class, it is
    wrong and `predicted` is null. In a span task, an unusable answer counts as an answer without spans. The rows of a
    span task have null as `gold` and `predicted`. Answers to samples outside the test split are left out.
    """
    keys = ["system", "seed", "sample"]
    sample = pl.format("{} {}", pl.lit(truth.task.task), "sample")
    grid = answers.select("system", "seed").unique().join(
        truth.samples.select("sample", "position", unit=pl.coalesce("source", sample), gold="label"), how="cross"
    )  # fmt: skip
    rows = grid.join(answers.select(*keys, "label", "usable"), on=keys, how="left").sort("system", "seed", "position")
    rows = rows.with_columns(pl.col("usable").fill_null(False), pl.col("seed").cast(pl.Int32))
    if truth.task.kind == "classes":
        negative = pl.lit(truth.task.negative or None, pl.String)
        scored = rows.with_columns(predicted=pl.col("label").fill_null(negative)).with_columns(
            score=(pl.col("gold") == pl.col("predicted")).fill_null(value=False).cast(pl.Float64)
        )
        return scored.select(MARKS.names())
    pairs = truth.samples.select("sample", "texts").iter_rows()
    texts = {sample: json.loads(content)[truth.task.marked] for sample, content in pairs}
    expected, predicted = _strings(truth.spans, ["sample"]), _strings(spans, keys)
    points = [
        muc.type_f1(predicted.get(key, ()), expected.get(key[2], ()), texts[key[2]])
        for key in rows.select(keys).iter_rows()
    ]
    scored = rows.with_columns(score=pl.Series(points, dtype=pl.Float64), predicted=pl.lit(None, pl.String))
    return scored.select(MARKS.names())


def task_scores(
    truth: Gold, marks: pl.DataFrame, spans: pl.DataFrame, how: Mapping[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of `task_score` and `class_score`.

    Parameters
    ----------
    marks
        As `marked` returns them.
    spans
        Columns as for `marked`, and `first`, `last` and `located`.
    how
        For each system, the settings or the origin of its answers, as one line of text.

    Returns
    -------
    Columns of `SCORE` and `CLASS_SCORE`.
    """
    summaries, classes = [], []
    test_spans = spans.join(truth.samples, on="sample", how="semi")
    for (system,), of_system in marks.group_by(["system"], maintain_order=True):
        keys = pl.lit(system).alias("model"), pl.lit(truth.task.task).alias("task")
        text = f"{how[str(system)]}; {signature(truth.task)}"
        row = summary(of_system) | {"unusable": of_system.filter(~pl.col("usable")).height, "signature": text}
        if truth.task.kind == "classes":
            by_class = class_scores(confusion(of_system), list(truth.task.classes))
            row |= {"macro": _macro(of_system)}
        else:
            predicted = test_spans.filter(system=system)
            modes, by_class = _pooled(truth, of_system["seed"].unique().sort().to_list(), predicted)
            row |= modes | {"spans": predicted.height, "hallucinated": predicted.filter(located="absent").height}
        summaries.append({"model": system, "task": truth.task.task} | row)
        classes.append(by_class.select(*keys, pl.all()))
    return (
        pl.DataFrame(summaries, schema=SCORE, orient="row"),
        pl.concat([pl.DataFrame(schema=CLASS_SCORE), *(rows.select(CLASS_SCORE.names()) for rows in classes)]),
    )


def once(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans of answers, each once: without those that repeat the type and place of an earlier span of the answer,
    or type and words if the text lacks the words. Columns as for `task_scores`."""
    absent = pl.when(pl.col("first").is_null()).then("text")
    keys = ["system", "seed", "sample", "type", "first", "last", "absent"]
    return spans.with_columns(absent=absent).unique(keys, keep="first", maintain_order=True).drop("absent")


def confusions(truth: Gold, marks: pl.DataFrame) -> pl.DataFrame:
    """Rows of `confusion` for the systems in `marks` (see `marked`); none for a span task."""
    if truth.task.kind != "classes":
        return pl.DataFrame(schema=CONFUSION)
    counts = [
        confusion(rows).with_columns(pl.lit(system).alias("model"), pl.lit(truth.task.task).alias("task"))
        for (system,), rows in marks.group_by(["system"], maintain_order=True)
    ]
    rows = pl.concat(counts, how="diagonal") if counts else pl.DataFrame(schema=CONFUSION)
    return rows.with_columns(pl.col("predicted").fill_null(NO_CLASS)).select(CONFUSION.names())


def baseline_scores(
    truth: Gold, marks: pl.DataFrame, neighbours: pl.DataFrame, signatures: Mapping[str, str]
) -> pl.DataFrame:
    """Rows of `baseline_score` or `encoder_score`, in the columns of `BASELINE_SCORE`.

    Parameters
    ----------
    marks
        Points of the baselines' answers, as `marked` returns them.
    neighbours
        Rows of `task_leakage`.
    signatures
        Signature of each baseline, by name.
    """
    comparable = neighbours.filter(pl.col("nearest").is_not_null(), task=truth.task.task)
    near = comparable.filter(pl.col("similarity") >= leakage.NEAR).select("sample")
    rows = []
    for (baseline,), of_baseline in marks.group_by(["system"], maintain_order=True):
        row = {"task": truth.task.task, "baseline": baseline, "macro": _macro(of_baseline)} | summary(of_baseline)
        text = f"{signature(truth.task)}; {signatures[str(baseline)]}"
        if len(comparable):
            far = of_baseline.join(near, on="sample", how="anti")
            row |= {"near": len(near) / len(truth.samples)}
            row |= {"far_score": 100 * float(far["score"].to_numpy().mean()) if len(far) else None}
            text += f"; near: {NEIGHBOURS}"
        rows.append(row | {"signature": text})
    return pl.DataFrame(rows, schema=BASELINE_SCORE, orient="row")


def summary(marks: pl.DataFrame) -> dict[str, float | int | None]:
    """Score of one system on one task, from its points as `marked` returns them.

    Returns
    -------
    The numbers of `seeds` and `samples`; the `score`, its interval from `score_low` to `score_high`, and its standard
    deviation over seeds, `score_sd`. Scores are from 0 to 100. `score_sd` is None if there is a single seed. The
    interval is None if there are too few units.
    """
    table = by_seed(marks)
    values = 100 * table.mean(axis=0)
    units = numbered_units(marks.sort("seed", "position")["unit"].head(len(values)))
    low, high = mean_interval(values, units, 0, 100)
    seeds = 100 * table.mean(axis=1)
    sd = float(seeds.std(ddof=1)) if len(seeds) > 1 else None
    return {
        "seeds": len(seeds), "samples": len(values), "score": float(values.mean()), "score_low": low,
        "score_high": high, "score_sd": sd,
    }  # fmt: skip


def by_seed(marks: pl.DataFrame) -> Floats:
    """Points of one system on one task, 0 to 1, shape (seeds, samples). Samples are in the order of the file."""
    rows = marks.sort("seed", "position")
    table: Floats = rows["score"].to_numpy().reshape(marks["seed"].n_unique(), -1)
    return table


def signature(task: TaskDescription) -> str:
    """Signature of scores on a task. For a span task, it describes the pooled scores as well."""
    if task.kind == "classes":
        metric = f"micro-F1 over {len(task.classes)} classes; no usable answer counts as {task.negative or 'wrong'}"
    else:
        types = ", ".join(task.types)
        metric = f"{muc.SIGNATURE_TYPE}; types {types}; no usable answer counts as no span; {muc.SIGNATURE_POOLED}"
    return f"{metric}; {SIGNATURE}; units: {'works' if task.source else 'samples'}"


def _pooled(truth: Gold, seeds: list[int], spans: pl.DataFrame) -> tuple[dict[str, float], pl.DataFrame]:
    """Pooled span scores of one system.

    Returns
    -------
    For each mode of `muc.MODES`, F1 averaged over seeds, 0 to 100; and a frame with one row for each type. In this
    frame, `class` is the type, and the other columns are as `rates` returns them from counts summed over all
    seeds.
    """
    expected = _places(truth.spans)
    order = truth.samples["sample"].to_list()
    gold_spans = [expected.get(sample, []) for sample in order]
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
    """Macro-F1 of one system, averaged over seeds: 0 to 100."""
    return 100 * float(np.mean([macro_f1(confusion(run)) for _, run in marks.group_by("seed", maintain_order=True)]))


def _strings(spans: pl.DataFrame, keys: list[str]) -> dict[Any, list[Any]]:
    """Types and strings of the spans, in order, grouped by the values of the columns `keys`."""
    return spans.sort(*keys, "number").select(*keys, "type", "text").rows_by_key(keys)


def _places(spans: pl.DataFrame) -> dict[str, list[muc.ScoredSpan]]:
    """Types and places of the spans, in order, grouped by sample."""
    rows = spans.sort("sample", "number").select("sample", "type", "first", "last").rows_by_key("sample")
    return {sample: [muc.ScoredSpan(*row) for row in of_sample] for sample, of_sample in rows.items()}


CHANCE = schema("task_chance")


def chances(truth: Gold, train: pl.DataFrame) -> pl.DataFrame:
    """Scores of a task's chance baselines on its test split, 0 to 100, in the columns of `CHANCE`.

    A classification task has two baselines. 'chance' scores 100 / number of classes. 'majority' always answers the most
    frequent class of the train split or, without a train split, of the test split; if several are equally frequent, it
    answers the first of them in the description. A span task has the baseline 'empty', which predicts no spans. It
    also has the baseline 'chance', with the same score. `train` are the rows of `task_sample` of the train split.
    Source: DharmaBench, appendix B.
    """
    if truth.task.kind == "spans":
        score = _percentage(~truth.samples["sample"].is_in(truth.spans["sample"].implode()))
        text = "no span at all, scored as any answer: the share of samples without spans of " + ", ".join(
            truth.task.types
        )
        rows = [("chance", score, text), ("empty", score, text)]
    else:
        split, samples = ("train", train) if len(train) else ("test", truth.samples)
        count = dict(samples["label"].value_counts().iter_rows())
        majority = max(truth.task.classes, key=lambda name: count.get(name, 0))
        classes, words = len(truth.task.classes), f"always {majority}, the most frequent class of the {split} split"
        rows = [
            ("chance", 100 / classes, f"uniform guessing among {classes} classes, expected"),
            ("majority", _percentage(truth.samples["label"] == majority), words),
        ]
    return pl.DataFrame([(truth.task.task, *row) for row in rows], schema=CHANCE, orient="row")


def _percentage(hits: pl.Series) -> float:
    return 100 * float(hits.to_numpy().mean())
