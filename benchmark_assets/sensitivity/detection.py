"""Detection of damaged translations by metrics: ROC AUC, paired win rates, thresholds and false alarms.

Here: the statistics, with intervals over units of passages. Not here: damage, scores, the choice of corpora.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics.entries import BY_NAME, MEASURES, OUTLIER
from benchmark_assets.metrics.further import SOUND
from benchmark_assets.metrics.intervals import (
    Floats,
    Units,
    bounded,
    effective_units,
    sample_and_resamples,
    unit_sizes,
)
from benchmark_assets.metrics.measures import ratio
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.sensitivity.damage import KINDS, SEVERITIES, UNIVERSAL
from benchmark_assets.sensitivity.languages import rules
from resources.catalogue import schema

ALL = "all"
"""Value of `kind` in rows that cover all kinds of damage. Rows that cover all severities have severity 0."""

RECALLS = (0.5, 0.8, 0.9, 0.95)
THRESHOLDS = (1.5, OUTLIER)
"""Drift thresholds of adjudication (From Outliers to Errors, section 3.3) and of outliers (PaliBench)."""

DETECTION = schema("sensitivity", "corpus", "signature")
THRESHOLD = schema("sensitivity_threshold", "corpus", "signature")

_AT_ONCE = 8_000_000
"""Maximum number of elements of an array with one row for each resample and one column for each text."""


class Pairs(NamedTuple):
    """Scores of damaged texts and of the sound texts that they were made from.

    `damaged` and `sound` are finite scores that rise with damage. `unit` has the index of each text's unit among the
    columns of `weights` in the functions below. All three arrays have shape (texts,).
    """

    damaged: Floats
    sound: Floats
    unit: Units

    @property
    def units(self) -> float:
        """Effective number of units."""
        return effective_units(unit_sizes(self.unit))


def detection(scores: pl.DataFrame, language: str, metrics: Sequence[Metric] = MEASURES) -> pl.DataFrame:
    """ROC AUC and paired win rate of each metric in distinguishing damaged from sound texts, by kind and severity.

    Parameters
    ----------
    scores
        Scores of the damaged and sound texts of one corpus: columns `passage`, `unit`, `translator`, `kind`,
        `severity`, `extent`, and metrics; sound texts have the kind `SOUND`. Metrics without a column are left out.
    language
        Code of the translations' language, for the note on kinds that have no rules in this language.
    metrics
        Those on the board `detection` are tested.

    Returns
    -------
    Columns of `DETECTION`, one row for each metric, kind and severity, even if no text was damaged.

    Notes
    -----
    The AUC compares all damaged texts of a row with all sound texts that they were made from, across passages: it is
    the probability that a damaged text scores worse than a sound text, with ties counted half. It is 0.5 for damage
    that changes no score, because both sets then have the same scores. The win rate compares each damaged text only
    with the sound text that it was made from.
    """
    rows: list[tuple[object, ...]] = []
    for metric in metrics:
        if "detection" not in metric.boards or metric.name not in scores.columns:
            continue
        paired, weights = _paired(scores, metric)
        for kind, severity, cell in _cells(paired):
            row = (metric.name, kind, severity, len(cell), cell["passage"].n_unique())
            if cell.is_empty():
                rows.append((*row, *(None,) * 7, _note(scores, metric, kind, language)))
                continue
            pairs = _pairs(cell)
            values = auc(pairs, weights), win_rate(pairs, weights)
            numbers = (number for resamples in values for number in bounded(resamples, pairs.units))
            rows.append((*row, cell["extent"].mean(), *numbers, None))
    return pl.DataFrame(rows, schema=DETECTION, orient="row")


def thresholds(scores: pl.DataFrame) -> pl.DataFrame:
    """Drift thresholds that reach each recall in RECALLS, and the recalls of the published thresholds.

    Parameters
    ----------
    scores
        As for `detection`, with the column `drift`.

    Returns
    -------
    Columns of `THRESHOLD`, one row for each kind, severity and rule. `rule` names the recall to reach (`recall 0.9`) or
    the published threshold (`drift > 1.5`). `recall` is the share of damaged texts above the threshold.
    `false_alarms` is the share of texts above the threshold among the sound texts that these damaged texts were made
    from.
    """
    paired, weights = _paired(scores, BY_NAME["drift"])
    rows = []
    for kind, severity, cell in _cells(paired):
        if cell.is_empty():
            continue
        pairs = _pairs(cell)
        limits = {f"recall {recall:g}": threshold_for(pairs, weights, recall) for recall in RECALLS}
        limits |= {f"drift > {limit:g}": np.full(len(weights), limit) for limit in THRESHOLDS}
        for rule, limit in limits.items():
            rates = (flagged(values, pairs.unit, weights, limit) for values in (pairs.damaged, pairs.sound))
            numbers = (number for resamples in (limit, *rates) for number in bounded(resamples, pairs.units))
            rows.append((kind, severity, rule, len(cell), *numbers))
    return pl.DataFrame(rows, schema=THRESHOLD, orient="row")


def auc(pairs: Pairs, weights: Floats) -> Floats:
    """Area under the ROC curve in each resample.

    Parameters
    ----------
    weights
        Count of each unit in each resample, shape (resamples, units).

    Returns
    -------
    Shape (resamples,), in [0, 1]; NaN for a resample without texts.

    Notes
    -----
    The Mann-Whitney statistic: P(damaged > sound) + P(damaged = sound) / 2, where each text has the weight of its unit.
    """
    order = np.argsort(pairs.sound, kind="stable")
    ascending = pairs.sound[order]
    left, right = (np.searchsorted(ascending, pairs.damaged, side) for side in ("left", "right"))
    areas = []
    for part in _slices(weights, len(order)):
        counts = part[:, pairs.unit]
        below = np.zeros((len(part), len(order) + 1))
        np.cumsum(counts[:, order], axis=1, out=below[:, 1:])
        hits = np.einsum("ij,ij->i", counts, below[:, left] + below[:, right]) / 2
        areas.append(ratio(hits, counts.sum(axis=1) ** 2))
    return np.concatenate(areas)


def win_rate(pairs: Pairs, weights: Floats) -> Floats:
    """For each resample, the share of damaged texts that score worse than the sound text that they were made from.

    Ties count half; the result has shape (resamples,).
    """
    wins = (pairs.damaged > pairs.sound) + (pairs.damaged == pairs.sound) / 2
    count = weights.shape[1]
    sums = np.bincount(pairs.unit, weights=wins, minlength=count)
    return ratio(weights @ sums, weights @ np.bincount(pairs.unit, minlength=count))


def threshold_for(pairs: Pairs, weights: Floats, recall: float) -> Floats:
    """For each resample, the largest threshold that leaves at least the share `recall` of the damaged texts strictly
    above it; shape (resamples,)."""
    order = np.argsort(-pairs.damaged, kind="stable")
    descending = np.nextafter(pairs.damaged[order], -np.inf)
    limits = []
    for part in _slices(weights, len(order)):
        counts = np.cumsum(part[:, pairs.unit[order]], axis=1)
        sufficient = counts >= np.ceil(recall * counts[:, -1:] - 1e-9)
        limits.append(np.where(counts[:, -1] > 0, descending[sufficient.argmax(axis=1)], np.nan))
    return np.concatenate(limits)


def flagged(values: Floats, unit: Units, weights: Floats, limits: Floats) -> Floats:
    """Share of the values, shape (texts,), that lie strictly above the limit of each resample; shape (resamples,)."""
    shares = [
        ratio(((values > limit[:, None]) * part[:, unit]).sum(axis=1), part[:, unit].sum(axis=1))
        for part, limit in zip(_slices(weights, len(values)), _slices(limits, len(values)), strict=True)
    ]
    return np.concatenate(shares)


def _paired(scores: pl.DataFrame, metric: Metric) -> tuple[pl.DataFrame, Floats]:
    """Damaged texts with scores, and the weights of units.

    Each damaged text has its own score (`score`), the score of the sound text that it was made from (`sound`), and the
    number of its unit (`place`). The first row of the weights is the sample, the other rows are its resamples; shape
    (1 + RESAMPLES, units).
    """
    rows = scores.with_columns(metric.damage.alias("score")).filter(pl.col("score").is_finite())
    sound = rows.filter(kind=SOUND).select("passage", "translator", sound="score")
    paired = rows.filter(pl.col("kind") != SOUND).join(sound, on=["passage", "translator"], maintain_order="left")
    places = scores.select("unit").unique().sort("unit").with_row_index("place")
    return paired.join(places, on="unit", maintain_order="left"), sample_and_resamples(len(places))


def _cells(paired: pl.DataFrame) -> Iterator[tuple[str, int, pl.DataFrame]]:
    """The damaged texts of each kind and severity, and of all kinds (ALL) and all severities (0)."""
    for kind in (ALL, *KINDS):
        texts = paired if kind == ALL else paired.filter(kind=kind)
        for severity in (0, *SEVERITIES):
            yield kind, severity, texts if severity == 0 else texts.filter(severity=severity)


def _pairs(cell: pl.DataFrame) -> Pairs:
    return Pairs(cell["score"].to_numpy(), cell["sound"].to_numpy(), cell["place"].to_numpy().astype(np.int64))


def _note(scores: pl.DataFrame, metric: Metric, kind: str, language: str) -> str:
    """The reason why the metric has no score for any text with this kind of damage."""
    if kind not in (ALL, *UNIVERSAL) and rules(language) is None:
        return f"no rules for {language!r}"
    if scores.filter(metric.damage.is_finite()).is_empty():
        return "no text has a score"
    return "applies to no text"


def _slices(rows: Floats, width: int) -> Sequence[Floats]:
    """Split an array along its rows into slices whose number of rows times `width` is at most _AT_ONCE."""
    step = max(1, _AT_ONCE // max(1, width))
    return [rows[start : start + step] for start in range(0, len(rows), step)]
