"""Chance baselines, computed from a task's truth samples: uniform guessing, majority class, empty prediction.

Here: rows of `task_chance`. Not here: baselines that are trained or follow a rule (baselines).
"""

import polars as pl

from benchmark_assets.understanding.scores import Gold, marked
from resources.catalogue import schema

CHANCE = schema("task_chance")


def chances(truth: Gold, train: pl.DataFrame) -> pl.DataFrame:
    """Scores, on the test split, of answers that ignore the texts.

    Parameters
    ----------
    train
        Rows of `task_sample` of the train split; may be empty.

    Returns
    -------
    Columns of `CHANCE`. Tasks of classes have 'chance', which is 100 / the number of classes, and 'majority', which
    always answers the most frequent class of the train split, or of the test split without a train split; of equally
    frequent classes, the first in the description. Tasks of spans have 'empty', which never finds a span, and the same
    as 'chance'. Source: DharmaBench, appendix B.
    """
    if truth.task.kind == "spans":
        silent = _answers(truth, None)
        score = 100 * float(marked(truth, silent, _NO_SPANS)["score"].to_numpy().mean())
        text = "no span at all, scored as any answer: the share of samples without spans of " + ", ".join(
            truth.task.types
        )
        rows = [("chance", score, text), ("empty", score, text)]
    else:
        split, seen = ("train", train) if len(train) else ("test", truth.samples)
        count = dict(seen["label"].value_counts().iter_rows())
        most = max(truth.task.classes, key=lambda name: count.get(name, 0))
        score = 100 * float(marked(truth, _answers(truth, most), _NO_SPANS)["score"].to_numpy().mean())
        classes = len(truth.task.classes)
        rows = [
            ("chance", 100 / classes, f"uniform guessing among {classes} classes, expected"),
            ("majority", score, f"always {most}, the most frequent class of the {split} split"),
        ]
    return pl.DataFrame([(truth.task.task, *row) for row in rows], schema=CHANCE, orient="row")


_NO_SPANS = pl.DataFrame(
    schema={
        "system": pl.String, "seed": pl.Int32, "sample": pl.String, "number": pl.Int32, "type": pl.String,
        "text": pl.String,
    }
)  # fmt: skip


def _answers(truth: Gold, label: str | None) -> pl.DataFrame:
    """The same answer to every sample."""
    return truth.samples.select(
        "sample", system=pl.lit(""), seed=pl.lit(1, pl.Int32), label=pl.lit(label, pl.String), usable=pl.lit(True)
    )
