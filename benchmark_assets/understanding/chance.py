"""Chance baselines of a task: uniform guessing, majority class, empty prediction.

Here: rows of `task_chance`. Not here: trained baselines (baselines, encoder_fits).
"""

import polars as pl

from benchmark_assets.understanding.task_scores import Gold
from resources.catalogue import schema

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
