"""Outlier thresholds that a given share of human translations exceeds; share of each system's texts above a threshold.

Here: thresholds of the adjusted drift, by number of references. Not here: the published threshold (metrics.measures),
scores against the same references (left_out).
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.drift import adjusted_drift, cosine_drift
from benchmark_assets.metrics.entries import OUTLIER
from benchmark_assets.metrics.intervals import SEED, Bounds, Floats, rate_interval
from benchmark_assets.metrics.intervals import SIGNATURE as INTERVALS
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.references.rows import both_ways
from benchmark_assets.reporting.people import signatures
from resources.catalogue import schema
from resources.keys import CORPUS

SUBSETS = 100
"""Maximum number of subsets of k references against which a translation is scored."""

DRIFTS = pl.Schema({
    "corpus": pl.String(), "embedder": pl.String(), "references": pl.Int32(), "passage": pl.String(),
    "translator": pl.String(), "drift_adjusted": pl.List(pl.Float64), "drift": pl.List(pl.Float64),
})  # fmt: skip
THRESHOLD = schema("outlier_threshold", "signature")
RATE = schema("calibrated_outliers", "signature")

SIGNATURE = (
    "each human translation scored against every subset of k of the other translators' references (at most "
    f"{SUBSETS} random ones, seed {SEED}), weighted equally; threshold: the adjusted drift that the share "
    "`false_alarms` of them exceeds, and as interval those at the bounds of an interval of this share (Woodruff); "
    f"drift above {OUTLIER}: the published threshold; systems: scored without each translator's reference in turn; "
    f"shares: means over passages; {INTERVALS}"
)


def human_drifts(pairs: pl.DataFrame) -> pl.DataFrame:
    """Drift of each human translation against subsets of the other translators' references.

    Parameters
    ----------
    pairs
        Columns `passage`, `translator`, `other`, `similarity`, `embedder`: one row for each pair of references.

    Returns
    -------
    Columns of `DRIFTS`. `references` is k, from 2 to one less than the passage's number of references.
    `drift_adjusted` and `drift` have one value for each subset of k references.
    """
    texts = both_ways(pairs).sort("passage", "translator", "other").group_by(
        "passage", "embedder", "translator", maintain_order=True
    ).agg("similarity")  # fmt: skip
    passages = texts.group_by("passage", "embedder", maintain_order=True).agg(
        "translator", "similarity", count=pl.len()
    )
    parts = [pl.DataFrame(schema=DRIFTS)]
    for group in passages.partition_by("count"):
        names, similarities = (group[name].to_list() for name in ("translator", "similarity"))
        keys = group.select(CORPUS, "embedder", "passage")
        for place, count, adjusted, published in _against_subsets(np.array(similarities)):
            parts.append(keys.with_columns(
                references=pl.lit(count, pl.Int32), translator=pl.Series([each[place] for each in names]),
                drift_adjusted=pl.Series(adjusted).arr.to_list(), drift=pl.Series(published).arr.to_list(),
            ).select(DRIFTS.names()))  # fmt: skip
    return pl.concat(parts)


ROUNDING = 1e-9
"""Excess over a threshold that does not count. A threshold is the drift of a text. When systems are compared with the
threshold, the drift of this text is computed in another way, with other last digits."""


def thresholds(drifts: pl.DataFrame, units: pl.DataFrame, false_alarms: Mapping[str, float]) -> pl.DataFrame:
    """Adjusted drift that a given share of human translations exceeds, by corpus, embedder and number of references.

    Parameters
    ----------
    drifts
        As `human_drifts` returns them.
    units
        As `corpus.units.units` returns them.
    false_alarms
        The share of human translations above the threshold, in (0, 1), by corpus.

    Returns
    -------
    Columns of `THRESHOLD` and `signature`. `published_rate` is the share of human translations whose drift exceeds
    PaliBench's threshold.

    Notes
    -----
    The bounds of a threshold's interval are the thresholds at the bounds of an interval of the given share. The width
    of the share's interval follows from the units of the translations above the threshold (Woodruff 1952).
    """
    rows = []
    keyed = drifts.join(units, on="passage").sort("corpus", "embedder", "references")
    for (corpus, embedder, count), group in keyed.group_by(["corpus", "embedder", "references"], maintain_order=True):
        share, numbers = false_alarms[str(corpus)], numbered_units(group["unit"])
        sizes = group["drift_adjusted"].list.len().to_numpy()
        values, weights = group["drift_adjusted"].explode().to_numpy(), np.repeat(1 / sizes, sizes)
        threshold = exceeded_by(values, weights, share)
        least, most = rate_interval(_above(group["drift_adjusted"], threshold), numbers)
        ends: Bounds = None, None
        if least is not None and most is not None:
            ends = exceeded_by(values, weights, most), exceeded_by(values, weights, least)
        published = _above(group["drift"], OUTLIER)
        rows.append((
            corpus, embedder, count, group["passage"].n_unique(), int(numbers.max()) + 1, len(group), share,
            threshold, *ends, float(published.mean()), *rate_interval(published, numbers),
        ))  # fmt: skip
    table = pl.DataFrame(rows, schema=THRESHOLD, orient="row")
    return table.join(signatures(drifts, units, SIGNATURE), on="corpus", how="left", maintain_order="left")


def rates(scores: pl.DataFrame, thresholds: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Share of each system's texts above the threshold for their number of references.

    Parameters
    ----------
    scores
        As `left_out.left_out_scores` returns them.
    thresholds
        As the function `thresholds` returns them.
    units
        As `corpus.units.units` returns them.

    Returns
    -------
    Columns of `RATE` and `signature`. An output is scored once for each translator who is left out; its value in
    the mean is the share of these scores that are above the threshold.
    """
    keys = ["corpus", "embedder", "references"]
    scored = scores.drop_nulls("drift_adjusted").with_columns(pl.col("references").cast(pl.Int32))
    scored = scored.join(thresholds.select(*keys, "threshold"), on=keys).with_columns(
        above=(pl.col("drift_adjusted") > pl.col("threshold") + ROUNDING).cast(pl.Float64)
    )
    texts = scored.group_by("corpus", "kind", "system", "passage").agg(pl.col("above", "references").mean())
    rows = []
    systems = texts.join(units, on="passage").sort(
        "corpus", "kind", "system", "passage", descending=[False, True, False, False]
    )
    for key, group in systems.group_by(["corpus", "kind", "system"], maintain_order=True):
        shares, numbers = group["above"].to_numpy(), numbered_units(group["unit"])
        rows.append((
            *key, group["references"].mean(), len(group), int(numbers.max()) + 1, float(shares.mean()),
            *rate_interval(shares, numbers),
        ))  # fmt: skip
    table = pl.DataFrame(rows, schema=RATE, orient="row")
    return table.join(signatures(scores, units, SIGNATURE), on="corpus", how="left", maintain_order="left")


def exceeded_by(values: Floats, weights: Floats, share: float) -> float:
    """The smallest value above which at most the fraction `share` of the total weight lies.

    `values` and `weights` have the same shape, (values,).
    """
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    place = min(int(np.searchsorted(reached, 1 - share - 1e-9)), len(values) - 1)
    return float(values[order[place]])


def _above(lists: pl.Series, threshold: float) -> Floats:
    """Share of each list's values that exceed a threshold, shape (lists,)."""
    shares: Floats = lists.list.eval((pl.element() > threshold).cast(pl.Float64)).list.mean().to_numpy()
    return shares


def _against_subsets(similarities: Floats) -> Iterator[tuple[int, int, Floats, Floats]]:
    """Drift of each of n texts against subsets of the other texts.

    `similarities` has the shape (passages, n, n - 1): cosines of each text with the others, in order. Yields for each
    text and each k from 2: the index of the text, k, the adjusted drift and the published drift, both of shape
    (passages, subsets).
    """
    passages, texts, _ = similarities.shape
    square = np.zeros((passages, texts, texts))
    square[:, ~np.eye(texts, dtype=bool)] = similarities.reshape(passages, -1)
    for place in range(texts):
        others = np.delete(np.arange(texts), place)
        for count in range(2, texts):
            members = np.zeros((min(comb(texts - 1, count), SUBSETS), texts))
            np.put_along_axis(members, others[_subsets(texts - 1, count)], 1, axis=1)
            similarity = square[:, place] @ members.T / count
            within = np.einsum("bn,pnb->pb", members, square @ members.T)
            agreement = within / (count * (count - 1))
            length = np.sqrt((1 + (count - 1) * agreement) / count)
            yield place, count, adjusted_drift(similarity, agreement), cosine_drift(similarity / length, 1 - length)


def _subsets(texts: int, count: int) -> NDArray[np.int64]:
    """All subsets of `count` numbers below `texts`, or `SUBSETS` random subsets if there are more.

    The result has shape (subsets, count).
    """
    if comb(texts, count) <= SUBSETS:
        return np.array(list(combinations(range(texts), count)))
    draws = np.random.default_rng(SEED).random((SUBSETS, texts))
    return np.argsort(draws, axis=1)[:, :count]
