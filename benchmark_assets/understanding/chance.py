"""What scores who knows nothing, computed from a task's own samples.

Here: rows of `task_chance`. Not here: baselines that are trained or follow a rule (baselines).
"""

import polars as pl

from benchmark_assets.understanding.scores import Gold, marked
from resources.catalogue import schema

CHANCE = schema("task_chance")


def chances(own: Gold, train: pl.DataFrame) -> pl.DataFrame:
    """Scores of answers that look at no text, on the test split.

    Parameters
    ----------
    train
        Rows of `task_sample` of the train split, maybe none.

    Returns
    -------
    Columns of `CHANCE`. Of classes: 'chance', 100 / the number of classes, and 'majority', always the most frequent
    class of the train split, or of the test split where there is no other (of equally frequent ones the first in the
    description). Of spans: 'empty', never a span, which is 'chance', too: DharmaBench, appendix B.
    """
    if own.task.kind == "spans":
        silent = _answers(own, None)
        score = 100 * float(marked(own, silent, _NO_SPANS)["score"].to_numpy().mean())
        text = "no span at all, scored as any answer: the share of samples without spans of " + ", ".join(
            own.task.types
        )
        rows = [("chance", score, text), ("empty", score, text)]
    else:
        split, seen = ("train", train) if len(train) else ("test", own.samples)
        count = dict(seen["label"].value_counts().iter_rows())
        most = max(own.task.classes, key=lambda name: count.get(name, 0))
        score = 100 * float(marked(own, _answers(own, most), _NO_SPANS)["score"].to_numpy().mean())
        classes = len(own.task.classes)
        rows = [
            ("chance", 100 / classes, f"uniform guessing among {classes} classes, expected"),
            ("majority", score, f"always {most}, the most frequent class of the {split} split"),
        ]
    return pl.DataFrame([(own.task.task, *row) for row in rows], schema=CHANCE, orient="row")


_NO_SPANS = pl.DataFrame(
    schema={
        "system": pl.String, "seed": pl.Int32, "sample": pl.String, "number": pl.Int32, "type": pl.String,
        "text": pl.String,
    }
)  # fmt: skip


def _answers(own: Gold, label: str | None) -> pl.DataFrame:
    """The same answer to every sample."""
    return own.samples.select(
        "sample", system=pl.lit(""), seed=pl.lit(1, pl.Int32), label=pl.lit(label, pl.String), usable=pl.lit(True)
    )
