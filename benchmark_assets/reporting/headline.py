"""By what the models of a corpus may be ordered: people's labels, else a measure with a certificate, else nothing.

Here: the choice, its words, and what measures are worth in words. Not here: what was measured on labels (validation),
the rows of boards (leaderboard).
"""

import math
from collections.abc import Collection, Mapping

import polars as pl

from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.validation.boards import certificates
from resources import catalogue
from resources.tables import ENDS
from resources.warehouse import Warehouse

RATE = "major_rate"
"""The share of outputs with a major error, as estimated from people's labels."""

NAMED = 6
"""Largest number of pairs of models that a sentence names."""

ERRORS = pl.Schema(
    {name: pl.String() for name in ("corpus", "system")} | {f"{RATE}{end}": pl.Float64() for end in ENDS}
)


def errors(warehouse: Warehouse) -> pl.DataFrame:
    """Rates of major errors of models, from people's labels: columns of `ERRORS`."""
    rows = warehouse.read("error_estimate", pl.DataFrame({"region": ["all"]}))
    return rows.rename({"model": "system"}).filter(pl.col("system") != "").select(ERRORS.names())


def ordered(systems: pl.DataFrame, certified: Mapping[str, str]) -> pl.DataFrame:
    """Add the columns `ordered_by` and `good` to rows of systems.

    Parameters
    ----------
    systems
        Columns `corpus`, `kind`, `apart`, `coverage`, `RATE`, and the measures in `certified`.
    certified
        For each corpus with a measure that may order systems, the name of the measure.

    Returns
    -------
    `ordered_by` names what orders the models of the same corpus and `apart`: `RATE` if one of them has a rate, else the
    corpus's certified measure, else ''. A translator has ''. `good` is the value, negated if lower is better; null
    without a value. In a rate, passages without a usable output count as major errors, so that failing gains nothing.
    """
    is_model, group = pl.col("kind") == "model", ["corpus", "apart"]
    measure = pl.col("corpus").replace_strict(certified, default="", return_dtype=pl.String)
    by = pl.when((pl.col(RATE).is_not_null() & is_model).any().over(group)).then(pl.lit(RATE)).otherwise(measure)
    rows = systems.with_columns(ordered_by=pl.when(is_model).then(by).otherwise(pl.lit("")))
    good = pl.coalesce(
        pl.when(ordered_by=RATE).then(pl.col("coverage") * (1 - pl.col(RATE))),
        *(pl.when(ordered_by=name).then(BY_NAME[name].better * pl.col(name)) for name in set(certified.values())),
    )
    return rows.with_columns(good=good)


def words(ordered_by: str) -> str:
    """By what a table of models is ordered, as a sentence."""
    if ordered_by == RATE:
        return "Ordered by major errors, as people's labels estimate them; a missing output counts as one."
    if ordered_by:
        label = catalogue.label(ordered_by)
        return f"Ordered by {label}, whose certificate says where it agrees with people on the order of systems."
    return "Distances, not quality: no measure is known to order systems here, so models are listed by name."


def told_apart(rows: pl.DataFrame) -> str:
    """Which models the intervals of their error rates tell apart, as a sentence; '' if fewer than two have a rate."""
    rates = rows.drop_nulls(f"{RATE}_high").select("system", f"{RATE}_low", f"{RATE}_high").rows()
    pairs = [f"{better} from {worse}" for worse, low, _ in rates for better, _, high in rates if high < low]
    count = math.comb(len(rates), 2)
    if not count:
        return ""
    if not pairs:
        return "All their intervals overlap, so the order may be chance."
    names = f": {', '.join(pairs)}" if len(pairs) <= NAMED else ""
    return f"Intervals that do not overlap tell {len(pairs)} of {count} pairs apart{names}."


def worth(warehouse: Warehouse, corpora: Collection[str] | None = None) -> list[str]:
    """What the measures on the boards of corpora (of all by default) are worth, a line for each."""
    rows = certificates(warehouse, corpora)
    measures = rows.group_by("metric", "worth", maintain_order=True).agg("corpus")
    every = rows["corpus"].n_unique()
    return [
        catalogue.label(metric) + (f" ({', '.join(own)})" if len(own) < every else "") + f": {words}"
        for metric, words, own in measures.rows()
    ]
