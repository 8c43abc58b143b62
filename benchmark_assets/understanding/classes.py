"""Scores of answers that are classes, from the confusion matrix.

Here: counts, precision, recall and F1 of each class, macro-F1. Not here: micro-F1 (task_scores), which is the share of
correct answers, since each sample has one gold class and one answer; unusable answers (task_scores); spans (muc).
"""

import polars as pl


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
