"""The verdict of several raters: of the panel, or of the people who labelled an output.

Here: the rule of the audit paper's table E1 for any number of raters. Not here: votes (judging, panel), labels
(label_imports), statistics over a corpus (audit).
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
"""Columns of the table `verdict` that count votes, with the label that each counts."""

VERDICT = schema("verdict")


def verdicts(votes: pl.DataFrame) -> pl.DataFrame:
    """One verdict for each output that has a vote.

    Parameters
    ----------
    votes
        Columns `model`, `passage`, `label` and `error_category`, one row for each rater of an output. A rater who
        abstained has a row without a label.

    Returns
    -------
    Columns of `VERDICT`, by model and passage. `judges` counts all rows, `abstained` rows without a label. `split`:
    valid, minor and major each have a vote, and none has a majority.

    Notes
    -----
    A majority is more than half of the seats; a rater who abstains still counts as a seat. The verdict is MAJOR_ERROR
    with a majority for it; else MINOR_ERROR with a majority for either error; else VALID_VARIATION with a majority for
    it; else UNCERTAIN. With three raters this is table E1, and one vote each for valid, minor and major gives
    MINOR_ERROR. Two raters must agree on whether there is an error. A single rater decides alone with one of these
    three labels. The error category is the most frequent one among raters who see any error. Ties go to the category
    with more votes from raters who gave the verdict's label, then to the first in the order of table 5.
    """
    counts = votes.group_by(KEY).agg(
        *((pl.col("label") == label).sum().alias(name) for name, label in COUNTED.items()),
        judges=pl.len(),
        abstained=pl.col("label").is_null().sum(),
    )
    seats, major, minor, valid = (pl.col(name) for name in ("judges", "major", "minor", "valid"))
    label = (
        pl.when(2 * major > seats).then(pl.lit(MAJOR))
        .when(2 * (major + minor) > seats).then(pl.lit(MINOR))
        .when(2 * valid > seats).then(pl.lit(VALID))
        .otherwise(pl.lit(UNCERTAIN))
    )  # fmt: skip
    all_three = pl.min_horizontal(major, minor, valid) > 0
    rows = counts.with_columns(
        label=label, split=all_three & (2 * pl.max_horizontal(major, minor, valid) <= seats)
    ).join(_categories(votes, counts.select(*KEY, label=label)), on=KEY, how="left")  # fmt: skip
    rows = rows.with_columns(pl.col("error_category").fill_null(NO_CATEGORY)).sort(KEY)
    return rows.select(pl.col(name).cast(kind) for name, kind in VERDICT.items())


def _categories(votes: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The category of each output whose label is an error."""
    errors = labels.filter(pl.col("label").is_in(ERRORS)).rename({"label": "verdict"})
    seen = votes.filter(pl.col("label").is_in(ERRORS)).join(errors, on=KEY)
    counts = seen.group_by(*KEY, "error_category").agg(
        votes=pl.len(), same_label=(pl.col("label") == pl.col("verdict")).sum()
    ).with_columns(order=pl.col("error_category").replace_strict(_ORDER, return_dtype=pl.Int32))  # fmt: skip
    ranked = counts.sort("votes", "same_label", "order", descending=[True, True, False])
    return ranked.group_by(KEY, maintain_order=True).agg(pl.col("error_category").first())


_ORDER = {category: place for place, category in enumerate(CATEGORIES)}
