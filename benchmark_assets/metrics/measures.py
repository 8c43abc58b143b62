"""Arithmetic of the numbers by which systems are compared: scores and intervals of systems, from scores of passages.

Every such number is a function of statistics summed over passages, so that the influence of a unit on any score follows
from its sums. Not here: intervals from influences (intervals), comparisons of systems (significance), scores of
passages, metrics (entries).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import Floats, Units, bounds, by_unit, influence, rate_intervals
from benchmark_assets.metrics.metric import Metric


class Estimate(NamedTuple):
    """A score with its 95 % interval; all are None without a score, and the bounds are None with too few units."""

    value: float | None
    low: float | None
    high: float | None

    def columns(self, name: str) -> dict[str, float | None]:
        """The three numbers, by the names of their columns."""
        return dict(zip((name, f"{name}_low", f"{name}_high"), self, strict=True))


NONE = Estimate(None, None, None)


class Panel(NamedTuple):
    """The statistics from which the scores of several systems on a corpus are computed.

    `systems` has columns `kind` ('model' or 'human'), `system` and `mean_references` (mean number of references per
    passage), one row per system. `units` has the number of each passage's unit. `statistics` has the additive
    statistics of each measure, by its name: an array of shape (systems, passages, statistics), with zeros for passages
    that a system lacks.
    """

    systems: pl.DataFrame
    passages: Sequence[str]
    units: Units
    statistics: dict[str, Floats]


def panel(scores: pl.DataFrame, measures: Iterable[Metric]) -> Panel:
    """Arrange the scores of systems on one corpus in arrays.

    `scores` has the columns `kind`, `system`, `passage`, `unit`, `references`, `ranked`, and the columns of the
    measures, one row per system and passage.
    """
    unit_of = scores.select("passage", "unit").unique("passage").sort("passage")
    passages = unit_of["passage"]
    counts = scores.group_by("kind", "system").agg(
        mean_references=pl.col("references").mean(), ranked=pl.col("ranked").first()
    )
    systems = counts.sort("kind", "system")
    numbered = systems.select("kind", "system").with_row_index("row")
    rows = scores.select("kind", "system").join(numbered, on=["kind", "system"], maintain_order="left")["row"]
    columns = passages.search_sorted(scores["passage"])
    arrays = {}
    for measure in measures:
        values = measure.statistics(scores)
        arrays[measure.name] = np.zeros((len(systems), len(passages), values.shape[1]))
        arrays[measure.name][rows.to_numpy(), columns.to_numpy()] = values
    return Panel(systems, passages.to_list(), numbered_units(unit_of["unit"]), arrays)


def numbered_units(units: pl.Series) -> Units:
    """Number of each row's unit, given its name. Units are numbered from 0 in the order of their names."""
    return units.rank("dense").to_numpy().astype(np.int64) - 1


def estimates(measures: Sequence[Metric], tables: Sequence[Floats], units: Units) -> list[Estimate]:
    """Scores with intervals.

    Parameters
    ----------
    measures, tables
        Each measure with the statistics of one system, shape (passages, statistics).
    units
        Index of each passage's unit, shape (passages,).
    """
    sums = [by_unit(table, units) for table in tables]
    totals = [table.sum(axis=0) for table in sums]
    shares = np.stack([table[:, 0] / max(total[0], 1) for table, total in zip(sums, totals, strict=True)], axis=1)
    rows = list(zip(measures, sums, totals, strict=True))
    values = np.array([float(measure.of(total)) for measure, _, total in rows])
    without = np.stack([measure.of(total - table) for measure, table, total in rows], axis=1)
    influences = np.where(np.isnan(without) | (shares == 0), 0.0, influence(values, without, shares))
    low, high = bounds(influences, shares)
    return [
        _rate(table, float(value))
        if measure.proportion
        else _estimate(measure, float(value), float(below), float(above))
        for (measure, table, _), value, below, above in zip(rows, values, low, high, strict=True)
    ]


def _rate(sums: Floats, value: float) -> Estimate:
    """A rate with its interval, from numbers of passages and hits by unit."""
    return NONE if np.isnan(value) else Estimate(value, *rate_intervals(sums[:, 1:2], sums[:, :1])[0])


def _estimate(measure: Metric, value: float, below: float, above: float) -> Estimate:
    if np.isnan(value):
        return NONE
    if np.isnan(below):
        return Estimate(value, None, None)
    low, high = np.clip([value - below, value + above], measure.shown.least, measure.shown.most).tolist()
    return Estimate(value, low, high)


def summed(statistics: Floats, weights: Floats) -> Floats:
    """Weighted sums of statistics over passages, one for each row of weights.

    From shapes (systems, passages, statistics) and (rows, passages) to (rows, systems, statistics).
    """
    systems, passages, count = statistics.shape
    table = statistics.transpose(1, 0, 2).reshape(passages, systems * count)
    return (weights @ table).reshape(len(weights), systems, count)


def ratio(part: Floats, whole: Floats) -> Floats:
    """Elementwise part / whole; NaN where the whole is not positive."""
    quotient: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
    return quotient
