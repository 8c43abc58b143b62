"""The measures of tables: their statistics, their sums over passages, and the better direction.

Here: one entry a measure, and the arithmetic that all share: every measure is a score of statistics summed over
passages, so a mean, a corpus score, a resample and an exchange of two systems are one matrix product each. Not here:
intervals, comparisons of systems, scores of passages.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import percentile_interval, wilson
from benchmark_assets.metrics.lexical import corpus_bleu, corpus_chrf

OUTLIER = 2.0
"""Drift (cosine form) above which, strictly, an output counts as an outlier: PaliBench, section 3.5."""

Floats = NDArray[np.float64]


class Measure(NamedTuple):
    """A number by which systems are compared.

    Attributes
    ----------
    name
        Column in tables.
    better
        1 if more is better, -1 if less is better, 0 if neither.
    statistics
        Maps rows of scores to additive statistics, shape (rows, statistics). The first statistic is 1 where the row
        counts; all are 0 where it does not.
    score
        Maps sums of statistics, shape (n, statistics), each with at least one row that counts, to scores, shape (n,).
    proportion
        Whether the measure is a share of rows; the second statistic is then 1 in rows that have the property.
    """

    name: str
    better: int
    statistics: Callable[[pl.DataFrame], Floats]
    score: Callable[[Floats], Floats]
    proportion: bool = False

    def of(self, sums: Floats) -> Floats:
        """Scores of sums of statistics, shape (..., statistics) to (...); NaN where no row counts."""
        counted = sums[..., 0] > 0
        scores = np.full(counted.shape, np.nan)
        if counted.any():
            scores[counted] = self.score(sums[counted])
        return scores

    def interval(self, sums: Floats, resampled: Floats) -> tuple[float, float]:
        """The 95 % interval of the score of sums, shape (statistics,), with at least one row that counts.

        Parameters
        ----------
        resampled
            Scores of resamples, shape (resamples,). A proportion has Wilson's interval and ignores them.
        """
        return wilson(int(sums[1]), int(sums[0])) if self.proportion else percentile_interval(resampled)


class Panel(NamedTuple):
    """Scores of several systems on the passages of a corpus, as statistics.

    `systems` has `kind` ('model' or 'human'), `system` and `mean_references` (mean number per passage), in the order of
    the arrays; `statistics` has for each measure an array of shape (systems, passages, statistics), zero where a system
    lacks a passage.
    """

    systems: pl.DataFrame
    passages: Sequence[str]
    statistics: dict[str, Floats]


def panel(scores: pl.DataFrame, measures: Iterable[Measure]) -> Panel:
    """Arrange the scores of systems on one corpus in arrays.

    Parameters
    ----------
    scores
        Columns `kind`, `system`, `passage`, `references` and the columns of the measures, one row a scored output.
    """
    passages = scores["passage"].unique().sort()
    counts = scores.group_by("kind", "system").agg(mean_references=pl.col("references").mean())
    systems = counts.sort("kind", "system")
    numbered = systems.with_row_index("row").drop("mean_references")
    rows = scores.select("kind", "system").join(numbered, on=["kind", "system"], maintain_order="left")["row"]
    columns = passages.search_sorted(scores["passage"])
    arrays = {}
    for measure in measures:
        values = measure.statistics(scores)
        arrays[measure.name] = np.zeros((len(systems), len(passages), values.shape[1]))
        arrays[measure.name][rows.to_numpy(), columns.to_numpy()] = values
    return Panel(systems, passages.to_list(), arrays)


def summed(statistics: Floats, weights: Floats) -> Floats:
    """Statistics of shape (systems, passages, statistics), summed with each row of weights, shape (rows, passages).

    Returns
    -------
    Shape (rows, systems, statistics).
    """
    systems, passages, count = statistics.shape
    table = statistics.transpose(1, 0, 2).reshape(passages, systems * count)
    return (weights @ table).reshape(len(weights), systems, count)


def ratio(part: Floats, whole: Floats) -> Floats:
    """Part divided by whole, element by element; NaN where the whole is 0."""
    quotient: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
    return quotient


def _values(
    column: str, change: Callable[[Floats], NDArray[Any]] = lambda values: values
) -> Callable[[pl.DataFrame], Floats]:
    def statistics(scores: pl.DataFrame) -> Floats:
        values = scores[column].cast(pl.Float64).to_numpy()
        counts = np.isfinite(values)
        return np.stack([counts.astype(np.float64), np.where(counts, change(values), 0.0)], axis=1)

    return statistics


def _counts(column: str, width: int) -> Callable[[pl.DataFrame], Floats]:
    def statistics(scores: pl.DataFrame) -> Floats:
        counts = scores[column].is_not_null().to_numpy()
        table = np.zeros((len(scores), 1 + width))
        table[counts, 0] = 1
        table[counts, 1:] = scores[column].drop_nulls().list.to_array(width).to_numpy()
        return table

    return statistics


def _mean(sums: Floats) -> Floats:
    mean: Floats = sums[:, 1] / sums[:, 0]
    return mean


def _offset(sums: Floats) -> Floats:
    return np.abs(_mean(sums) - 1)


MEASURES = [
    Measure("sim_best", 1, _values("sim_best"), _mean),
    Measure("sim_centroid", 1, _values("sim_centroid"), _mean),
    Measure("drift", -1, _values("drift"), _mean),
    Measure("drift_euclidean", -1, _values("drift_euclidean"), _mean),
    Measure("outlier_rate", -1, _values("drift", lambda drift: drift > OUTLIER), _mean, proportion=True),
    Measure("chrf", 1, _counts("chrf_statistics", 24), lambda sums: corpus_chrf(sums[:, 1:])),
    Measure("bleu", 1, _counts("bleu_statistics", 10), lambda sums: corpus_bleu(sums[:, 1:])),
    Measure("chrf_mean", 1, _values("chrf"), _mean),
    Measure("bleu_mean", 1, _values("bleu"), _mean),
    Measure("comet_avg", 1, _values("comet_avg"), _mean),
    Measure("comet_best", 1, _values("comet_best"), _mean),
    Measure("length_ratio", 0, _values("length_ratio"), _mean),
    Measure("length_offset", -1, _values("length_ratio"), _offset),
    Measure("length_error", -1, _values("length_ratio", lambda ratio: np.abs(ratio - 1)), _mean),
]
"""Every measure. `chrf` and `bleu` are corpus scores, `chrf_mean` and `bleu_mean` means over passages. In
`length_offset`, |mean - 1|, outputs too long and too short cancel; in `length_error`, the mean of |ratio - 1|, they do
not."""

MEAN_RANK = "mean_rank"
"""Stands for the mean of the ranks in the measures of `RANKED` wherever a measure is named."""

RANKED = [
    measure
    for name in ("sim_best", "chrf", "bleu", "comet_avg", "length_offset", "outlier_rate")
    for measure in MEASURES
    if measure.name == name
]
"""The six measures of PaliBench's table 8, in its order, with corpus scores for chrF++ and BLEU as in its table 6. Only
these are tested for significance: further p-values invite choosing."""
