"""Measures by which systems are compared: one entry per measure, and their common arithmetic.

Every measure is a function of statistics summed over passages, so that the influence of a unit on any score follows
from its sums. Not here: intervals from influences (intervals), comparisons of systems (significance), scores of
passages.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import Floats, Units, bounds, by_unit, influence, rate_bounds
from benchmark_assets.metrics.lexical import corpus_bleu, corpus_chrf

OUTLIER = 2.0
"""An output with a drift (cosine form) strictly above this is an outlier (PaliBench, section 3.5)."""


class Measure(NamedTuple):
    """A number by which systems are compared.

    Attributes
    ----------
    name
        Column in tables.
    better
        1 if higher is better, -1 if lower is better, 0 if neither.
    statistics
        Maps rows of scores to additive statistics, shape (rows, statistics). The first statistic is 1 for rows that
        have a score; all statistics are 0 for other rows.
    score
        Maps sums of statistics, shape (n, statistics), to scores, shape (n,). Each sum must include a scored row.
    least, most
        Range of the scores; intervals are clipped to it.
    proportion
        Whether the measure is a share of rows. The second statistic is then 1 for rows with the property.
    """

    name: str
    better: int
    statistics: Callable[[pl.DataFrame], Floats]
    score: Callable[[Floats], Floats]
    least: float
    most: float
    proportion: bool = False

    def of(self, sums: Floats) -> Floats:
        """Scores from sums of statistics, shape (..., statistics) to (...); NaN if no row has a score."""
        present = sums[..., 0] > 0
        scores = np.full(present.shape, np.nan)
        if present.any():
            scores[present] = self.score(sums[present])
        return scores


class Estimate(NamedTuple):
    """A score with its 95 % interval; all are None without a score, and the bounds are None with too few units."""

    value: float | None
    low: float | None
    high: float | None


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


def panel(scores: pl.DataFrame, measures: Iterable[Measure]) -> Panel:
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


def estimates(measures: Sequence[Measure], tables: Sequence[Floats], units: Units) -> list[Estimate]:
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
        _estimate(measure, float(value), total, int((share > 0).sum()), float(below), float(above))
        for measure, value, total, share, below, above in zip(
            measures, values, totals, shares.T, low, high, strict=True
        )
    ]


def _estimate(measure: Measure, value: float, totals: Floats, units: int, below: float, above: float) -> Estimate:
    if np.isnan(value):
        return NONE
    if np.isnan(below):
        return Estimate(value, None, None)
    if measure.proportion:
        return Estimate(value, *rate_bounds(value, int(totals[0]), units, below, above))
    low, high = np.clip([value - below, value + above], measure.least, measure.most).tolist()
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


def _values(
    column: str, transform: Callable[[Floats], NDArray[Any]] = lambda values: values
) -> Callable[[pl.DataFrame], Floats]:
    def statistics(scores: pl.DataFrame) -> Floats:
        values = scores[column].cast(pl.Float64).to_numpy()
        present = np.isfinite(values)
        return np.stack([present.astype(np.float64), np.where(present, transform(values), 0.0)], axis=1)

    return statistics


def _counts(column: str, width: int) -> Callable[[pl.DataFrame], Floats]:
    def statistics(scores: pl.DataFrame) -> Floats:
        present = scores[column].is_not_null().to_numpy()
        table = np.zeros((len(scores), 1 + width))
        table[present, 0] = 1
        table[present, 1:] = scores[column].drop_nulls().list.to_array(width).to_numpy()
        return table

    return statistics


def _mean(sums: Floats) -> Floats:
    mean: Floats = sums[:, 1] / sums[:, 0]
    return mean


def _offset(sums: Floats) -> Floats:
    return np.abs(_mean(sums) - 1)


MEASURES = [
    Measure("sim_best", 1, _values("sim_best"), _mean, -1, 1),
    Measure("sim_centroid", 1, _values("sim_centroid"), _mean, -1, 1),
    Measure("drift", -1, _values("drift"), _mean, 0, math.inf),
    Measure("drift_adjusted", -1, _values("drift_adjusted"), _mean, 0, math.inf),
    Measure("drift_euclidean", -1, _values("drift_euclidean"), _mean, 0, math.inf),
    Measure("outlier_rate", -1, _values("drift", lambda drift: drift > OUTLIER), _mean, 0, 1, proportion=True),
    Measure("chrf", 1, _counts("chrf_statistics", 24), lambda sums: corpus_chrf(sums[:, 1:]), 0, 100),
    Measure("bleu", 1, _counts("bleu_statistics", 10), lambda sums: corpus_bleu(sums[:, 1:]), 0, 100),
    Measure("chrf_mean", 1, _values("chrf"), _mean, 0, 100),
    Measure("bleu_mean", 1, _values("bleu"), _mean, 0, 100),
    Measure("comet_avg", 1, _values("comet_avg"), _mean, -math.inf, math.inf),
    Measure("comet_best", 1, _values("comet_best"), _mean, -math.inf, math.inf),
    Measure("length_ratio", 0, _values("length_ratio"), _mean, 0, math.inf),
    Measure("length_offset", -1, _values("length_ratio"), _offset, 0, math.inf),
    Measure("length_error", -1, _values("length_ratio", lambda ratio: np.abs(ratio - 1)), _mean, 0, math.inf),
]
"""All measures. `chrf` and `bleu` are corpus scores; `chrf_mean` and `bleu_mean` are means over passages.
Outputs that are too long and outputs that are too short cancel out in `length_offset`, which is |mean - 1|, but not in
`length_error`, which is the mean of |ratio - 1|."""

MEAN_RANK = "mean_rank"
"""Name of the mean rank over the measures of `RANKED`, used like the name of a measure."""

BY_NAME = {measure.name: measure for measure in MEASURES}

RANKED = [BY_NAME[name] for name in ("sim_best", "chrf", "bleu", "comet_avg", "length_offset", "outlier_rate")]
"""The six measures of PaliBench's table 8, in its order, with corpus scores for chrF++ and BLEU as in its table 6. Only
these are tested for significance, because more p-values would invite selective reporting."""
