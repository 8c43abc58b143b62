"""Contrasts of translators within passages: a value of each beside the mean of the others, with intervals over units.

Not here: what is measured of translations, verdicts on translators (reporting.translators, validation), differences of
systems (significance).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from benchmark_assets.metrics import significance
from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.metrics.measures import numbered_units
from resources.keys import CORPUS

SUMS = ("passages", "value", "other")
"""Sums of a contrast by unit: number of passages, and sums of the two values that are compared."""

CONTRAST = pl.Schema(
    dict.fromkeys(["view", "passage", "measure", "translator"], pl.String()) | dict.fromkeys(SUMS[1:], pl.Float64())
)
"""A contrast; `view` names what the translations are compared with."""

RESULTS = pl.Schema({
    "passages": pl.Int32(), "units": pl.Int32(), "value": pl.Float64(), "other": pl.Float64(),
    "difference": pl.Float64(), **significance.TESTED,
})  # fmt: skip


def contrasts(values: pl.DataFrame, fewest: int) -> pl.DataFrame:
    """Each translator's value beside the mean of the other translators' values for the same passage.

    Parameters
    ----------
    values
        Columns `passage`, `measure`, `translator` and `value`; null values are left out.
    fewest
        Passages with fewer values of a measure are left out.

    Returns
    -------
    The rows that remain, with the further column `other`.
    """
    present, over = values.drop_nulls("value"), ["passage", "measure"]
    others = (pl.col("value").sum().over(over) - pl.col("value")) / (pl.len().over(over) - 1)
    return present.filter(pl.len().over(over) >= fewest).with_columns(other=others)


def compared(sums: pl.DataFrame, keys: Sequence[str], alone: str) -> pl.DataFrame:
    """Means of two values and their difference, with 95 % interval, p-values and an answer.

    Parameters
    ----------
    sums
        Columns `keys`, `corpus`, `unit` and `SUMS`.
    keys
        Columns that identify a comparison within a corpus, among them `measure`.
    alone
        One of `keys`: comparisons that differ in this column only are a family of tests.

    Returns
    -------
    Columns `corpus`, `keys` and `RESULTS`. `difference` is value minus other; its tests are as in
    `significance.answered`, with the margin of the measure's metric.
    """
    by = ["corpus", *keys]
    totals = sums.group_by(*by, "unit").agg(pl.sum(*SUMS)).sort(*by, "unit")
    kinds = {name: sums.schema[name] for name in by} | dict(RESULTS)
    of_family = [name for name in by if name != alone]
    tested = [_tested(own, by) for _, own in totals.group_by(of_family, maintain_order=True)]
    parts = [part.select(pl.col(name).cast(kind) for name, kind in kinds.items()) for part in tested]
    return pl.concat([pl.DataFrame(schema=kinds), *parts])


def _tested(totals: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Comparisons of one family, from sums by unit."""
    count = pl.col("passages").sum()
    means = {name: pl.col(name).sum() / count for name in ("value", "other")}
    rows = totals.group_by(by, maintain_order=True).agg(passages=count, units=pl.len(), **means)
    rows = rows.with_columns(difference=pl.col("value") - pl.col("other"))
    at = totals.join(rows.with_row_index("row"), on=by, maintain_order="left")["row"].to_numpy()
    unit = numbered_units(totals["unit"])
    deviations, sizes = np.zeros((2, int(unit.max()) + 1, len(rows)))
    deviations[unit, at] = (totals["value"] - totals["other"]).to_numpy()
    sizes[unit, at] = totals["passages"].to_numpy()
    difference, shares = rows["difference"].to_numpy(), sizes / sizes.sum(axis=0)
    influences = deviations / sizes.sum(axis=0) - shares * difference
    rows = rows.with_columns(**significance.mean_tests(difference, influences, shares))
    metric = BY_NAME.get(totals["measure"][0])
    return significance.answered(rows, influences, metric.margin if metric else None)


def summed(parts: Mapping[str, pl.DataFrame], units: pl.DataFrame) -> pl.DataFrame:
    """Sums of contrasts by corpus, view, measure, translator and unit. `parts` has contrasts by view."""
    rows = [part.with_columns(view=pl.lit(view)).select(*CONTRAST) for view, part in parts.items()]
    by = ["corpus", "view", "measure", "translator", "unit"]
    together = pl.concat([pl.DataFrame(schema=CONTRAST), *rows]).join(units, on="passage").with_columns(CORPUS)
    # The order of addition differs from run to run.
    return together.group_by(by).agg(pl.sum("value", "other").round(9), passages=pl.len().cast(pl.Float64))
