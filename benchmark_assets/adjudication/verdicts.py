"""One verdict on an output from the votes of several raters (judges or people).

The rule is the one in table E1 of the audit paper, for any number of raters.

Not here: votes (judging, panel), labels (people), statistics over a corpus (audit).
"""

import polars as pl

from benchmark_assets.adjudication.labels import (
    CATEGORIES,
    ERRORS,
    MAJOR,
    MINOR,
    NO_CATEGORY,
    REFERENCE,
    UNCERTAIN,
    UNSURE,
    VALID,
)
from resources.catalogue import schema

KEY = ["model", "passage"]

COUNTED = {"major": MAJOR, "minor": MINOR, "valid": VALID, "reference": REFERENCE, "unsure": UNSURE}
"""Labels by the column of the table `verdict` that counts their votes."""

VERDICT = schema("verdict")


def verdicts(votes: pl.DataFrame) -> pl.DataFrame:
    """One verdict per output with at least one vote.

    Parameters
    ----------
    votes
        Columns `model`, `passage`, `label` and `error_category`, one row per output and rater. The label is null if the
        rater abstained.

    Returns
    -------
    Columns of `VERDICT`, sorted by model and passage.

    Notes
    -----
    A majority is more than half of all raters, including raters who abstain. The verdict is MAJOR_ERROR if that label
    has a majority; else MINOR_ERROR if minor and major errors together have a majority; else VALID_VARIATION if that
    label has a majority; else UNCERTAIN. With three raters this is table E1: one vote each for valid, minor and major
    gives MINOR_ERROR. The error category is the most frequent category among raters with an error label. Ties go to the
    category with more votes from raters who gave the verdict's label, then to the first one in table 5.
    """
    counts = votes.group_by(KEY).agg(
        *((pl.col("label") == label).sum().alias(name) for name, label in COUNTED.items()),
        judges=pl.len(),
        abstained=pl.col("label").is_null().sum(),
    )
    raters, major, minor, valid = (pl.col(name) for name in ("judges", "major", "minor", "valid"))
    label = (
        pl.when(2 * major > raters).then(pl.lit(MAJOR))
        .when(2 * (major + minor) > raters).then(pl.lit(MINOR))
        .when(2 * valid > raters).then(pl.lit(VALID))
        .otherwise(pl.lit(UNCERTAIN))
    )  # fmt: skip
    all_three = pl.min_horizontal(major, minor, valid) > 0
    rows = counts.with_columns(
        label=label, split=all_three & (2 * pl.max_horizontal(major, minor, valid) <= raters)
    ).join(_categories(votes, counts.select(*KEY, label=label)), on=KEY, how="left")  # fmt: skip
    rows = rows.with_columns(pl.col("error_category").fill_null(NO_CATEGORY)).sort(KEY)
    return rows.select(pl.col(name).cast(kind) for name, kind in VERDICT.items())


def _categories(votes: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The error category of each output whose verdict is an error."""
    errors = labels.filter(pl.col("label").is_in(ERRORS)).rename({"label": "verdict"})
    error_votes = votes.filter(pl.col("label").is_in(ERRORS)).join(errors, on=KEY)
    counts = error_votes.group_by(*KEY, "error_category").agg(
        votes=pl.len(), same_label=(pl.col("label") == pl.col("verdict")).sum()
    ).with_columns(order=pl.col("error_category").replace_strict(_ORDER, return_dtype=pl.Int32))  # fmt: skip
    ranked = counts.sort("votes", "same_label", "order", descending=[True, True, False])
    return ranked.group_by(KEY, maintain_order=True).agg(pl.col("error_category").first())


_ORDER = {category: place for place, category in enumerate(CATEGORIES)}
