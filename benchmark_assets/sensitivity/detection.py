"""How well a metric tells damaged translations from sound ones: ROC AUC, paired wins, and what a threshold costs.

Here: the statistics, with intervals over passages. Not here: damage, scores, which corpora.
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
"""Kind of the rows that take all kinds together; severity 0 takes all severities together."""

WORSE: Mapping[str, pl.Expr] = {
    "drift": pl.col("drift"),
    "drift_euclidean": pl.col("drift_euclidean"),
    "sim_best": -pl.col("sim_best"),
    "sim_centroid": -pl.col("sim_centroid"),
    "bleu": -pl.col("bleu"),
    "chrf": -pl.col("chrf"),
    "length_ratio": pl.col("length_ratio").log().abs(),
}
"""Metrics as scores that rise with damage; of a ratio of lengths the distance from 1, alike in both directions."""

RECALLS = (0.5, 0.8, 0.9, 0.95)
THRESHOLDS = (1.5, OUTLIER)
"""Drift that leads to adjudication (From Outliers to Errors, section 3.3), and that makes an outlier (PaliBench)."""

DETECTION = schema("sensitivity", "corpus", "signature")
THRESHOLD = schema("sensitivity_threshold", "corpus", "signature")

_AT_ONCE = 8_000_000  # numbers of a resampling in memory

Counts = NDArray[np.int64]


class Pairs(NamedTuple):
    """Damaged texts and the sound ones that they were made from, one an item.

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
        Variants of one corpus: columns `passage`, `translator`, `kind`, `severity`, `extent`, and metrics; sound ones
        are of kind `SOUND`. Metrics that have no column are left out.
    language
        Code of the translations' language, for the note on kinds that have no rules in it.

    Returns
    -------
    Columns `DETECTION`, a row for each metric, kind and severity, also those that were applied to no text.

    Notes
    -----
    The AUC is that of all damaged texts of the row against all sound ones that they were made from, whatever their
    passage: the chance that a damaged text scores worse than a sound one, ties counted half. It is 0.5 for damage that
    does nothing, for the two sets are the same texts. The win rate compares a damaged text with its own sound one.
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
            rows.append((*row, cell["extent"].mean(), *(number for each in values for number in bounded(each)), None))
    return pl.DataFrame(rows, schema=DETECTION, orient="row")


def thresholds(scores: pl.DataFrame) -> pl.DataFrame:
    """Drift thresholds that wanted recalls of damaged texts take, and what recall the published ones have.

    Parameters
    ----------
    scores
        As for `detection`, with `drift`.

    Returns
    -------
    Columns `THRESHOLD`. `rule` is what was set: `recall 0.9` or `drift > 1.5`. `false_alarms` is the share of sound
    texts above the threshold: of those that the row's damaged texts were made from.
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
            rates = (flagged(each, pairs.passage, weights, limit) for each in (pairs.damaged, pairs.sound))
            rows.append((kind, severity, rule, len(cell), *(n for each in (limit, *rates) for n in bounded(each))))
    return pl.DataFrame(rows, schema=THRESHOLD, orient="row")


def auc(pairs: Pairs, weights: Floats) -> Floats:
    """Area under the ROC curve of each resample.

    Parameters
    ----------
    weights
        How often each passage counts, shape (resamples, passages).

    Returns
    -------
    Shape (resamples,), in [0, 1]; NaN where nothing was drawn.

    Notes
    -----
    The Mann-Whitney statistic: P(damaged > sound) + P(damaged = sound) / 2, each text counted as often as its passage.
    """
    order = np.argsort(pairs.sound, kind="stable")
    ascending = pairs.sound[order]
    left, right = (np.searchsorted(ascending, pairs.damaged, side) for side in ("left", "right"))
    found = []
    for some in _slices(weights, len(order)):
        own = some[:, pairs.passage]
        below = np.zeros((len(some), len(order) + 1))
        np.cumsum(own[:, order], axis=1, out=below[:, 1:])
        hits = np.einsum("ij,ij->i", own, below[:, left] + below[:, right]) / 2
        found.append(ratio(hits, own.sum(axis=1) ** 2))
    return np.concatenate(found)


def win_rate(pairs: Pairs, weights: Floats) -> Floats:
    """Share of damaged texts that score worse than their own sound one, ties counted half; shape (resamples,)."""
    wins = (pairs.damaged > pairs.sound) + (pairs.damaged == pairs.sound) / 2
    return _share(wins, pairs.passage, weights)


def threshold_for(pairs: Pairs, weights: Floats, recall: float) -> Floats:
    """The largest threshold above which, strictly, a wanted share of the damaged texts lies; shape (resamples,)."""
    order = np.argsort(-pairs.damaged, kind="stable")
    descending = np.nextafter(pairs.damaged[order], -np.inf)
    found = []
    for some in _slices(weights, len(order)):
        reached = np.cumsum(some[:, pairs.passage[order]], axis=1)
        enough = reached >= np.ceil(recall * reached[:, -1:] - 1e-9)
        found.append(np.where(reached[:, -1] > 0, descending[enough.argmax(axis=1)], np.nan))
    return np.concatenate(found)


def flagged(values: Floats, passage: Counts, weights: Floats, limits: Floats) -> Floats:
    """Share of values strictly above each resample's limit; shape (resamples,)."""
    found = [
        ratio(((values > limit[:, None]) * some[:, passage]).sum(axis=1), some[:, passage].sum(axis=1))
        for some, limit in zip(_slices(weights, len(values)), _slices(limits, len(values)), strict=True)
    ]
    return np.concatenate(found)


def _paired(scores: pl.DataFrame, metric: str) -> tuple[pl.DataFrame, Floats]:
    """Damaged texts with their sound score, and weights: those of the sample itself, then those of its resamples."""
    rows = scores.with_columns(WORSE[metric].alias("score")).filter(pl.col("score").is_finite())
    sound = rows.filter(kind=SOUND).select("passage", "translator", sound="score")
    paired = rows.filter(pl.col("kind") != SOUND).join(sound, on=["passage", "translator"], maintain_order="left")
    names = scores["passage"].unique().sort()
    places = pl.DataFrame({"passage": names, "place": np.arange(len(names))})
    return paired.join(places, on="passage", maintain_order="left"), sample_and_resamples(len(names))


def _cells(paired: pl.DataFrame) -> Iterator[tuple[str, int, pl.DataFrame]]:
    for kind in (ALL, *KINDS):
        own = paired if kind == ALL else paired.filter(kind=kind)
        for severity in (0, *SEVERITIES):
            yield kind, severity, own if severity == 0 else own.filter(severity=severity)


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
    """A few rows at a time, so that a few times `width` numbers each fit into memory."""
    step = max(1, _AT_ONCE // max(1, width))
    return [rows[start : start + step] for start in range(0, len(rows), step)]
