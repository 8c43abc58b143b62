"""How well a metric tells damaged translations from sound ones: ROC AUC, paired wins, false alarms of thresholds.

Here: the statistics, with intervals over passages. Not here: damage, scores, the choice of corpora.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import bounded, sample_and_resamples
from benchmark_assets.metrics.measures import OUTLIER, Floats, ratio
from benchmark_assets.sensitivity.damage import KINDS, SEVERITIES, STRETCHES
from benchmark_assets.sensitivity.languages import rules
from benchmark_assets.sensitivity.sample import SOUND
from resources.catalogue import schema

ALL = "all"
"""Kind of the rows over all kinds; severity 0 is over all severities."""

WORSE: Mapping[str, pl.Expr] = {
    "drift": pl.col("drift"),
    "drift_euclidean": pl.col("drift_euclidean"),
    "sim_best": -pl.col("sim_best"),
    "sim_centroid": -pl.col("sim_centroid"),
    "bleu": -pl.col("bleu"),
    "chrf": -pl.col("chrf"),
    "length_ratio": pl.col("length_ratio").log().abs(),
}
"""Metrics as scores that rise with damage; for a ratio of lengths the distance from 1, equal in both directions."""

RECALLS = (0.5, 0.8, 0.9, 0.95)
THRESHOLDS = (1.5, OUTLIER)
"""Drift thresholds of adjudication (From Outliers to Errors, section 3.3) and of outliers (PaliBench)."""

DETECTION = schema("sensitivity", "corpus", "signature")
THRESHOLD = schema("sensitivity_threshold", "corpus", "signature")

_AT_ONCE = 8_000_000  # numbers of a resampling in memory

Counts = NDArray[np.int64]


class Pairs(NamedTuple):
    """Scores of damaged texts and of the sound texts that they were made from.

    Attributes
    ----------
    damaged, sound
        Scores that rise with damage, shape (texts,), finite.
    passage
        Row of the text's passage in the weights of a resampling, shape (texts,).
    """

    damaged: Floats
    sound: Floats
    passage: Counts


def detection(scores: pl.DataFrame, language: str) -> pl.DataFrame:
    """How well each metric tells damaged from sound, by kind and severity.

    Parameters
    ----------
    scores
        Variants of one corpus: columns `passage`, `translator`, `kind`, `severity`, `extent`, and metrics; sound
        variants are of kind `SOUND`. Metrics without a column are left out.
    language
        Code of the translations' language, for the note on kinds without rules in it.

    Returns
    -------
    Columns `DETECTION`, a row for each metric, kind and severity, also where no text was damaged.

    Notes
    -----
    The AUC compares all damaged texts of the row with all their sound texts, across passages: the chance that a damaged
    text scores worse than a sound one, ties counted half. It is 0.5 for damage without effect, because the two sets are
    then the same texts. The win rate compares a damaged text with its own sound one.
    """
    rows: list[tuple[object, ...]] = []
    for metric in WORSE:
        if metric not in scores.columns:
            continue
        paired, weights = _paired(scores, metric)
        for kind, severity, cell in _cells(paired):
            row = (metric, kind, severity, len(cell), cell["passage"].n_unique())
            if cell.is_empty():
                rows.append((*row, *(None,) * 7, _why_none(scores, metric, kind, language)))
                continue
            pairs = _pairs(cell)
            values = auc(pairs, weights), win_rate(pairs, weights)
            numbers = (number for resamples in values for number in bounded(resamples))
            rows.append((*row, cell["extent"].mean(), *numbers, None))
    return pl.DataFrame(rows, schema=DETECTION, orient="row")


def thresholds(scores: pl.DataFrame) -> pl.DataFrame:
    """Drift thresholds that reach wanted recalls of damaged texts, and the recall of the published thresholds.

    Parameters
    ----------
    scores
        As for `detection`, with `drift`.

    Returns
    -------
    Columns `THRESHOLD`. `rule` names the wanted recall or the given threshold: `recall 0.9` or `drift > 1.5`.
    `false_alarms` is the share above the threshold of the sound texts that the row's damaged texts were made from.
    """
    paired, weights = _paired(scores, "drift")
    rows = []
    for kind, severity, cell in _cells(paired):
        if cell.is_empty():
            continue
        pairs = _pairs(cell)
        limits = {f"recall {wanted:g}": threshold_for(pairs, weights, wanted) for wanted in RECALLS}
        limits |= {f"drift > {limit:g}": np.full(len(weights), limit) for limit in THRESHOLDS}
        for rule, limit in limits.items():
            rates = (flagged(scores, pairs.passage, weights, limit) for scores in (pairs.damaged, pairs.sound))
            numbers = (number for values in (limit, *rates) for number in bounded(values))
            rows.append((kind, severity, rule, len(cell), *numbers))
    return pl.DataFrame(rows, schema=THRESHOLD, orient="row")


def auc(pairs: Pairs, weights: Floats) -> Floats:
    """Area under the ROC curve of each resample.

    Parameters
    ----------
    weights
        Count of each passage in each resample, shape (resamples, passages).

    Returns
    -------
    Shape (resamples,), in [0, 1]; NaN for a resample without a text.

    Notes
    -----
    The Mann-Whitney statistic: P(damaged > sound) + P(damaged = sound) / 2, each text weighted by its passage.
    """
    order = np.argsort(pairs.sound, kind="stable")
    ascending = pairs.sound[order]
    left, right = (np.searchsorted(ascending, pairs.damaged, side) for side in ("left", "right"))
    areas = []
    for some in _slices(weights, len(order)):
        counts = some[:, pairs.passage]
        below = np.zeros((len(some), len(order) + 1))
        np.cumsum(counts[:, order], axis=1, out=below[:, 1:])
        hits = np.einsum("ij,ij->i", counts, below[:, left] + below[:, right]) / 2
        areas.append(ratio(hits, counts.sum(axis=1) ** 2))
    return np.concatenate(areas)


def win_rate(pairs: Pairs, weights: Floats) -> Floats:
    """Share of damaged texts that score worse than their own sound one, ties counted half; shape (resamples,)."""
    wins = (pairs.damaged > pairs.sound) + (pairs.damaged == pairs.sound) / 2
    return _share(wins, pairs.passage, weights)


def threshold_for(pairs: Pairs, weights: Floats, recall: float) -> Floats:
    """The largest threshold with a wanted share of the damaged texts strictly above it; shape (resamples,)."""
    order = np.argsort(-pairs.damaged, kind="stable")
    descending = np.nextafter(pairs.damaged[order], -np.inf)
    limits = []
    for some in _slices(weights, len(order)):
        reached = np.cumsum(some[:, pairs.passage[order]], axis=1)
        enough = reached >= np.ceil(recall * reached[:, -1:] - 1e-9)
        limits.append(np.where(reached[:, -1] > 0, descending[enough.argmax(axis=1)], np.nan))
    return np.concatenate(limits)


def flagged(values: Floats, passage: Counts, weights: Floats, limits: Floats) -> Floats:
    """Share of values strictly above each resample's limit; shape (resamples,)."""
    shares = [
        ratio(((values > limit[:, None]) * some[:, passage]).sum(axis=1), some[:, passage].sum(axis=1))
        for some, limit in zip(_slices(weights, len(values)), _slices(limits, len(values)), strict=True)
    ]
    return np.concatenate(shares)


def _paired(scores: pl.DataFrame, metric: str) -> tuple[pl.DataFrame, Floats]:
    """Damaged texts with their sound score, and weights: first of the sample itself, then of its resamples."""
    rows = scores.with_columns(WORSE[metric].alias("score")).filter(pl.col("score").is_finite())
    sound = rows.filter(kind=SOUND).select("passage", "translator", sound="score")
    paired = rows.filter(pl.col("kind") != SOUND).join(sound, on=["passage", "translator"], maintain_order="left")
    names = scores["passage"].unique().sort()
    places = pl.DataFrame({"passage": names, "place": np.arange(len(names))})
    return paired.join(places, on="passage", maintain_order="left"), sample_and_resamples(len(names))


def _cells(paired: pl.DataFrame) -> Iterator[tuple[str, int, pl.DataFrame]]:
    for kind in (ALL, *KINDS):
        texts = paired if kind == ALL else paired.filter(kind=kind)
        for severity in (0, *SEVERITIES):
            yield kind, severity, texts if severity == 0 else texts.filter(severity=severity)


def _pairs(cell: pl.DataFrame) -> Pairs:
    return Pairs(*(cell[name].to_numpy() for name in ("score", "sound", "place")))


def _why_none(scores: pl.DataFrame, metric: str, kind: str, language: str) -> str:
    if kind not in (ALL, *STRETCHES) and rules(language) is None:
        return f"no rules for {language!r}"
    if scores.filter(WORSE[metric].is_finite()).is_empty():
        return "no text has a score"
    return "applies to no text"


def _share(values: Floats, passage: Counts, weights: Floats) -> Floats:
    passages = weights.shape[1]
    sums = np.bincount(passage, weights=values, minlength=passages)
    return ratio(weights @ sums, weights @ np.bincount(passage, minlength=passages))


def _slices(rows: Floats, width: int) -> Sequence[Floats]:
    """Slices of a few rows, so that arrays of rows × `width` fit into memory."""
    step = max(1, _AT_ONCE // max(1, width))
    return [rows[start : start + step] for start in range(0, len(rows), step)]
