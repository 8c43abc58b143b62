"""Scores of answers that are classes, from the confusion matrix.

Here: counts, F1 of each class, their mean. Not here: micro-F1, which is the share of right answers, since each sample
has one right class and one answer; how an unusable answer counts (scores); spans (muc).
"""

import polars as pl


def confusion(answers: pl.DataFrame) -> pl.DataFrame:
    """Confusion matrix in long form: how often each class was answered for each gold class.

    Parameters
    ----------
    answers
        Columns `gold` and `predicted`, one row for each answer; `predicted` is null if the answer is no class.

    Returns
    -------
    Columns `gold`, `predicted` and `samples`; only pairs that occur, in alphabetical order.
    """
    return answers.group_by("gold", "predicted").agg(samples=pl.len().cast(pl.Int32)).sort("gold", "predicted")


def class_scores(counts: pl.DataFrame, classes: list[str]) -> pl.DataFrame:
    """Precision, recall and F1 of each class.

    Parameters
    ----------
    counts
        As `confusion` returns them.
    classes
        Classes in the order of the rows; must contain all that occur. An answer that is no class counts as a miss of
        the gold class, and as a prediction of none.

    Returns
    -------
    Columns `class`, `gold`, `predicted`, `correct` (counts), `precision`, `recall`, `f1`: 0 to 1, and 0 where the
    denominator is 0.
    """
    gold = counts.group_by(pl.col("gold").alias("class")).agg(pl.col("samples").sum().alias("gold"))
    predicted = counts.group_by(pl.col("predicted").alias("class")).agg(pl.col("samples").sum().alias("predicted"))
    right = counts.filter(pl.col("gold") == pl.col("predicted")).select(
        pl.col("gold").alias("class"), correct="samples"
    )
    table = pl.DataFrame({"class": classes}, schema={"class": pl.String})
    for each in (gold, predicted, right):
        table = table.join(each, on="class", how="left", maintain_order="left")
    return rates(table.with_columns(pl.col("gold", "predicted", "correct").fill_null(0).cast(pl.Int32)))


def rates(table: pl.DataFrame) -> pl.DataFrame:
    """Add `precision`, `recall` and `f1` to counts `gold`, `predicted` and `correct`; 0 where the denominator is 0."""

    def share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
        return pl.when(whole > 0).then(part / whole).otherwise(0.0)

    gold, predicted, correct = (pl.col(name) for name in ("gold", "predicted", "correct"))
    return table.with_columns(
        precision=share(correct, predicted), recall=share(correct, gold), f1=share(2 * correct, gold + predicted)
    )


def macro_f1(counts: pl.DataFrame) -> float:
    """Mean of the F1 of all classes that occur, in gold or in answers: 0 to 1, as scikit-learn's 'macro'. Answers that
    are no class do not count as a class."""
    occurring = pl.concat([counts["gold"], counts["predicted"]]).drop_nulls().unique().sort().to_list()
    return float(class_scores(counts, occurring)["f1"].to_numpy().mean())
