"""What several raters say together: the panel's verdict, and the consensus of the people who labelled an output.

Here: the rule of the audit paper's table E1 for any number of raters. Not here: how votes are had (judging, panel) or
labels (label_imports), what comes of them over a corpus (audit).
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
"""Columns of the table `verdict` that count votes, and the label that each counts."""

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
    Columns of `VERDICT`, by model and passage. `judges` counts every row, `abstained` those without a label. `split`:
    valid, minor and major each have a vote, and none has a majority.

    Notes
    -----
    A majority is more than half of the seats, and whoever abstains keeps the seat. The verdict is MAJOR_ERROR with a
    majority for it; else MINOR_ERROR with a majority for either error; else VALID_VARIATION with a majority for it;
    else UNCERTAIN. Three raters thus follow table E1, and valid, minor and major beside each other are MINOR_ERROR. Two
    must both see an error, or both none; one decides alone, if by one of these three labels. The category of an error
    is that which most raters give who see any error; of equal ones that with more votes from raters who gave the
    verdict's own label; of those the first in the order of table 5.
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
    each = pl.min_horizontal(major, minor, valid) > 0
    rows = counts.with_columns(
        label=label, split=each & (2 * pl.max_horizontal(major, minor, valid) <= seats)
    ).join(_categories(votes, counts.select(*KEY, label=label)), on=KEY, how="left")  # fmt: skip
    rows = rows.with_columns(pl.col("error_category").fill_null(NO_CATEGORY)).sort(KEY)
    return rows.select(pl.col(name).cast(kind) for name, kind in VERDICT.items())


def _categories(votes: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The category of each output whose label is an error."""
    errors = labels.filter(pl.col("label").is_in(ERRORS)).rename({"label": "verdict"})
    seen = votes.filter(pl.col("label").is_in(ERRORS)).join(errors, on=KEY)
    counts = seen.group_by(*KEY, "error_category").agg(
        votes=pl.len(), own=(pl.col("label") == pl.col("verdict")).sum()
    ).with_columns(order=pl.col("error_category").replace_strict(_ORDER, return_dtype=pl.Int32))  # fmt: skip
    ranked = counts.sort("votes", "own", "order", descending=[True, True, False])
    return ranked.group_by(KEY, maintain_order=True).agg(pl.col("error_category").first())


_ORDER = {category: place for place, category in enumerate(CATEGORIES)}
