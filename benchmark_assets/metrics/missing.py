"""Missing verdicts: scores with all of them lost and with all of them won, and intervals that cover both.

A verdict is missing if the judge refused it, if its reply is unreadable, or if the output was withheld; a label, if
people did not give it. Missing verdicts may depend on what they would have been, so no estimate can assume that the
others are like them (Manski 2003, Partial Identification of Probability Distributions, chapter 1). Here: bounds,
intervals, the words of `problem`. Not here: scores from verdicts (the rooms of studies).
"""

from collections.abc import Callable, Collection, Mapping

import polars as pl

from resources import catalogue
from resources.catalogue import schema

TOLERATED = 0.05
"""Largest share of missing verdicts that is no problem."""

WIDEST = 0.5
"""A score is null if its bounds are further apart than this share of its scale."""

Rows = Callable[[pl.DataFrame], pl.DataFrame]


def before(table: str, *without: str) -> pl.Schema:
    """Schema of a table's rows before `bounded` adds the bounds, and without the columns named in `without`."""
    bounds = (f"{each.name}_{end}" for each in catalogue.declared()[table].columns.values() if each.bounds
              for end in ("least", "most"))  # fmt: skip
    return schema(table, *bounds, *without)


def of_verdicts(
    table: str, verdicts: pl.DataFrame, lost: Mapping[str, object], won: Mapping[str, object], rows_of: Rows,
    kept: Collection[str] = (),
) -> pl.DataFrame:  # fmt: skip
    """Rows of `table` from verdicts, with bounds.

    Parameters
    ----------
    verdicts
        Their columns named in `lost` and `won` are null where a verdict is missing.
    lost, won
        The worst and the best values of these columns.
    rows_of
        The rows from verdicts, as for `bounded`.
    kept
        As for `bounded`.
    """
    rows = rows_of(verdicts)
    if not sum(verdicts[name].null_count() for name in lost):
        return bounded(table, rows, rows, rows, kept)
    least, most = (
        rows_of(verdicts.with_columns(pl.col(name).fill_null(pl.lit(value)) for name, value in values.items()))
        for values in (lost, won)
    )
    return bounded(table, rows, least, most, kept)


def bounded(
    table: str, rows: pl.DataFrame, least: pl.DataFrame, most: pl.DataFrame, kept: Collection[str] = (),
    verdicts: str = "verdicts",
) -> pl.DataFrame:  # fmt: skip
    """Add bounds to scores, widen their intervals, and remove scores that missing verdicts leave open.

    Parameters
    ----------
    table
        Name of the table.
    rows
        Its rows from the verdicts that exist, with the columns `missing_share` (share of missing verdicts, in [0, 1])
        and `problem`.
    least, most
        The same rows with each missing verdict at its lowest and at its highest value.
    kept
        Columns with an interval that are no scores.
    verdicts
        What is missing, in the plural.

    Returns
    -------
    The rows, sorted as before, with the columns of bounds. `<score>_least` and `<score>_most` are the scores of the
    other two frames, or the ends of the scale where these have none (a system that would lose every match). Where
    verdicts are missing, the interval reaches from the lower end in `least` to the upper end in `most`, so that it
    holds the score whatever is missing as often as intervals without missing verdicts do. A score is null if its bounds
    are further apart than half of its scale; so is a score without bounds (a log-strength, a mean number of errors) if
    more than 5 % are missing. `problem` gives the share if it is above 5 %, and names the scores that became null.
    """
    columns = catalogue.declared()[table].columns.values()
    scores = [each for each in columns if each.interval and each.name not in kept and each.name in rows.columns]
    key = list(catalogue.declared()[table].key)
    ends = [f"{each.name}{end}" for each in scores for end in ("", "_low", "_high")]
    joined = rows
    for other, suffix in ((least, ":least"), (most, ":most")):
        other = other.select(*key, pl.col(ends).name.suffix(suffix))
        joined = joined.join(other, on=key, how="left", maintain_order="left")
    partial, many = pl.col("missing_share") > 0, pl.col("missing_share") > TOLERATED
    changes: dict[str, pl.Expr] = {}
    open_scores = []
    for each in scores:
        name, low, high = each.name, f"{each.name}_low", f"{each.name}_high"
        below, above = (
            pl.when(pl.col(name).is_not_null() & partial).then(
                outer(name, pl.coalesce(f"{name}:{end}", pl.lit(limit, pl.Float64)))
            )
            for end, limit, outer in (
                ("least", each.least, pl.min_horizontal), ("most", each.most, pl.max_horizontal)
            )
        )  # fmt: skip
        if each.bounds:
            changes |= {f"{name}_least": below, f"{name}_most": above}
        if each.least is None or each.most is None:
            unbounded = partial & pl.any_horizontal(pl.col(f"{name}:least", f"{name}:most").is_null())
            is_open = pl.col(name).is_not_null() & (many | unbounded)
        else:
            is_open = (above - below > WIDEST * (each.most - each.least)).fill_null(False)
        open_scores.append(pl.when(is_open).then(pl.lit(each.label)))
        bottom = pl.min_horizontal(low, pl.coalesce(f"{low}:least", below))
        top = pl.max_horizontal(high, pl.coalesce(f"{high}:most", above))
        changes |= {
            name: pl.when(~is_open).then(name),
            low: pl.when(~is_open & pl.col(low).is_not_null()).then(pl.when(partial).then(bottom).otherwise(low)),
            high: pl.when(~is_open & pl.col(high).is_not_null()).then(pl.when(partial).then(top).otherwise(high)),
        }
    named = pl.concat_str(open_scores, separator=", ", ignore_nulls=True)
    words = pl.concat_str(
        pl.format("{} % of the {} are missing", (100 * pl.col("missing_share")).round(1), pl.lit(verdicts)),
        pl.when(named != "").then(pl.format("they leave open: {}", named)),
        separator="; ", ignore_nulls=True,
    )  # fmt: skip
    changes["problem"] = pl.concat_str(
        "problem", pl.when(many | (named != "")).then(words), separator="; ", ignore_nulls=True
    ).replace("", None)
    result = joined.with_columns(**changes)
    return result.select(name for name in schema(table) if name in result.columns)
