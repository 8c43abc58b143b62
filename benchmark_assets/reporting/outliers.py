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
from benchmark_assets.metrics.intervals import SEED, Bounds, Floats, rate_interval, rate_intervals
from benchmark_assets.metrics.intervals import SIGNATURE as INTERVALS
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.references.rows import both_ways
from benchmark_assets.reporting.people import signatures
from benchmark_assets.reporting.unit_sums import KEYS
from resources.catalogue import schema
from resources.keys import CORPUS

SUBSETS = 100
"""Maximum number of subsets of k references against which a translation is scored."""

DRIFTS = pl.Schema({
    "corpus": pl.String(), "embedder": pl.String(), "references": pl.Int32(), "passage": pl.String(),
    "translator": pl.String(), "drift_adjusted": pl.List(pl.Float64), "drift": pl.List(pl.Float64),
})  # fmt: skip
CUTS = ("threshold", "threshold_low", "threshold_high")
_GROUP = ["corpus", "embedder", "references"]
_SYSTEMS = {"model": "model", "translator": "human"}
THRESHOLD = schema("outlier_threshold", "signature")
QUANTILES = pl.Schema({name: kind for name, kind in THRESHOLD.items() if name in (*_GROUP, *CUTS)})
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

LAST_DIGITS = 1e-12
"""Difference between drifts of a text that were computed among other texts."""

SUMS = ("passages", "texts", "published", "above", *(f"{side}_{cut}" for cut in CUTS for side in ("below", "upto")))
"""Sums of human translations by unit: `published` and `above` are shares of a text's drifts that exceed the published
threshold and the threshold, `below_<cut>` and `upto_<cut>` shares that lie below a cut, and at most at it."""


def quantiles(drifts: pl.DataFrame, units: pl.DataFrame, false_alarms: Mapping[str, float]) -> pl.DataFrame:
    """Adjusted drift that a given share of human translations exceeds, by corpus, embedder and number of references.

    Parameters
    ----------
    drifts
        As `human_drifts` returns them.
    units
        As `corpus.units.units_of` returns them.
    false_alarms
        The share of human translations above the threshold, in (0, 1), by corpus.

    Returns
    -------
    Columns `corpus`, `embedder`, `references` and `CUTS`.

    Notes
    -----
    The bounds of a threshold's interval are the thresholds at the bounds of an interval of the given share. The width
    of the share's interval follows from the units of the translations above the threshold (Woodruff 1952).
    """
    rows = []
    keyed = drifts.join(units.drop("corpus"), on="passage").sort(*_GROUP)
    for (corpus, embedder, count), group in keyed.group_by(_GROUP, maintain_order=True):
        share, numbers = false_alarms[str(corpus)], numbered_units(group["unit"])
        sizes = group["drift_adjusted"].list.len().to_numpy()
        values, weights = group["drift_adjusted"].explode().to_numpy(), np.repeat(1 / sizes, sizes)
        threshold = exceeded_by(values, weights, share)
        above = _share(group["drift_adjusted"], pl.element() > threshold + LAST_DIGITS)
        least, most = rate_interval(above, numbers)
        ends: Bounds = None, None
        if least is not None and most is not None:
            ends = exceeded_by(values, weights, most), exceeded_by(values, weights, least)
        rows.append((corpus, embedder, count, threshold, *ends))
    return pl.DataFrame(rows, schema=QUANTILES, orient="row")


def counted(drifts: pl.DataFrame, units: pl.DataFrame, cuts: pl.DataFrame) -> pl.DataFrame:
    """Sums of human translations around the thresholds: columns of `unit_sums.KEYS`, where `item` is the number of
    references, and of `SUMS`.

    `drifts` and `units` are as in `quantiles`, `cuts` as it returns them.
    """
    keyed = drifts.join(units.drop("corpus"), on="passage").join(cuts, on=_GROUP, how="left")
    kept = [*_GROUP, "document", "unit", "passage"]
    parts = [keyed.clear().select(*kept, *(pl.lit(0.0).alias(name) for name in SUMS[1:]))]
    for _, group in keyed.group_by([*_GROUP, *CUTS]):
        adjusted, shares = group["drift_adjusted"], {"published": _share(group["drift"], pl.element() > OUTLIER)}
        limits = {cut: pl.lit(group[cut][0], pl.Float64) for cut in CUTS}
        shares["above"] = _share(adjusted, pl.element() > limits["threshold"] + LAST_DIGITS)
        for cut, limit in limits.items():
            shares[f"below_{cut}"] = _share(adjusted, pl.element() < limit - LAST_DIGITS)
            shares[f"upto_{cut}"] = _share(adjusted, pl.element() <= limit + LAST_DIGITS)
        parts.append(group.select(*kept, texts=1.0, **{
            name: pl.Series(values) for name, values in shares.items()
        }))  # fmt: skip
    rows = pl.concat(parts, how="diagonal")
    none = dict.fromkeys(["model", "translator"], pl.lit(""))
    return rows.with_columns(item=pl.col("references").cast(pl.String), **none).group_by(KEYS).agg(
        pl.col("passage").n_unique().alias("passages"), pl.sum(*SUMS[1:])
    )  # fmt: skip


def thresholds(
    sums: pl.DataFrame, cuts: pl.DataFrame, false_alarms: Mapping[str, float], kinds: pl.DataFrame
) -> pl.DataFrame | None:
    """Thresholds of the drift of human translations, from sums.

    Parameters
    ----------
    sums
        As `counted` returns them, for `cuts`.
    cuts
        Thresholds as `quantiles` returns them, perhaps of former drifts.
    false_alarms
        As in `quantiles`.
    kinds
        Columns `corpus` and `unit_kind`.

    Returns
    -------
    Columns of `THRESHOLD` and `signature`; None if `cuts` are not the thresholds of these drifts. `published_rate` is
    the share of human translations whose drift exceeds PaliBench's threshold.
    """
    rows: list[tuple[object, ...]] = []
    known = {tuple(row[:3]): row[3:] for row in cuts.select(*_GROUP, *CUTS).iter_rows()}
    units = sums.with_columns(references=pl.col("item").cast(pl.Int32)).group_by(*_GROUP, "unit").agg(pl.sum(*SUMS))
    for group, own in units.sort(*_GROUP, "unit").group_by(_GROUP, maintain_order=True):
        share, total, values = false_alarms[str(group[0])], own.sum(), known.get(group, (None, None, None))
        trials = own["texts"].to_numpy()
        (above, published) = rate_intervals(own.select("above", "published").to_numpy(), np.stack([trials] * 2, axis=1))
        least, most = above
        for cut, value, exceeding in zip(CUTS, values, (share, most, least), strict=True):
            below, upto = (total[f"{side}_{cut}"][0] / total["texts"][0] for side in ("below", "upto"))
            reached = None if exceeding is None else 1 - exceeding - 1e-9
            if (value is None) != (reached is None):
                return None
            if reached is not None and not (upto >= reached and (below < reached or below == 0)):
                return None
        texts = int(total["texts"][0])
        rows.append((
            *group, int(total["passages"][0]), len(own), texts, share, *values, total["published"][0] / texts,
            *published,
        ))  # fmt: skip
    if len(rows) < len(known):
        return None
    table = pl.DataFrame(rows, schema=THRESHOLD, orient="row")
    return table.join(signatures(sums, kinds, SIGNATURE), on="corpus", how="left", maintain_order="left")


def above(scores: pl.DataFrame, thresholds: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Sums over each system's texts: how many there are, and their shares above the threshold for their number of
    references.

    Parameters
    ----------
    scores
        As `left_out.left_out_scores` returns them.
    thresholds
        As the function `thresholds` returns them.
    units
        As `corpus.units.units_of` returns them.

    Returns
    -------
    Columns of `unit_sums.KEYS` and `people.SUMS`; `item` is '', and so is `model` for a translator, `translator` for a
    model. An output is scored once for each translator who is left out; its value is the share of these scores that
    are above the threshold. `passages` is the number of texts with such a score.
    """
    limits = thresholds.select(*_GROUP, "threshold")
    scored = scores.with_columns(pl.col("references").cast(pl.Int32)).join(limits, on=_GROUP, how="left")
    counted = pl.col("drift_adjusted").is_not_null() & pl.col("threshold").is_not_null()
    flag = (pl.col("drift_adjusted") > pl.col("threshold") + ROUNDING).cast(pl.Float64)
    texts = scored.group_by("embedder", "kind", "system", "passage").agg(
        passages=counted.any().cast(pl.Int64), above=flag.filter(counted).mean().fill_null(0.0),
        references=pl.col("references").filter(counted).mean().fill_null(0.0),
    )  # fmt: skip
    system = {name: pl.when(kind=kind).then("system").otherwise(pl.lit("")) for name, kind in _SYSTEMS.items()}
    rows = texts.join(units, on="passage").with_columns(item=pl.lit(""), **system)
    sums = rows.group_by(KEYS).agg(pl.sum("passages", "references", "above"))
    return sums.with_columns(pl.lit(0.0).alias(name) for name in ("value", "human_value", "difference"))


def rates(sums: pl.DataFrame, signatures: pl.DataFrame) -> pl.DataFrame:
    """Share of each system's texts above the threshold for their number of references.

    `sums` is as `above` returns it. `signatures` has the columns `corpus` and `signature`. Returns columns of `RATE`
    and `signature`.
    """
    kind = pl.when(pl.col("model") == "").then(pl.lit("human")).otherwise(pl.lit("model"))
    system = pl.when(pl.col("model") == "").then("translator").otherwise("model")
    keys = ["corpus", "kind", "system"]
    units = sums.with_columns(kind=kind, system=system).group_by(*keys, "unit").agg(
        pl.sum("passages", "references", "above")
    ).filter(pl.col("passages") > 0).sort(*keys, "unit", descending=[False, True, False, False])  # fmt: skip
    rows = []
    for key, group in units.group_by(keys, maintain_order=True):
        hits, trials = (group[name].to_numpy()[:, None] for name in ("above", "passages"))
        texts = int(group["passages"].sum())
        (interval,) = rate_intervals(hits, trials.astype(np.float64))
        rows.append((
            *key, group["references"].sum() / texts, texts, len(group), group["above"].sum() / texts, *interval
        ))  # fmt: skip
    table = pl.DataFrame(rows, schema=RATE, orient="row")
    return table.join(signatures, on="corpus", how="left", maintain_order="left")


def exceeded_by(values: Floats, weights: Floats, share: float) -> float:
    """The smallest value above which at most the fraction `share` of the total weight lies.

    `values` and `weights` have the same shape, (values,).
    """
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    place = min(int(np.searchsorted(reached, 1 - share - 1e-9)), len(values) - 1)
    return float(values[order[place]])


def _share(lists: pl.Series, condition: pl.Expr) -> Floats:
    """Share of each list's values that fulfil a condition, shape (lists,); 0 if it is null."""
    shares: Floats = lists.list.eval(condition.fill_null(value=False).cast(pl.Float64)).list.mean().to_numpy()
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
            # By einsum, because the last digits of a product of matrices depend on the number of passages.
            similarity = np.einsum("pn,bn->pb", square[:, place], members) / count
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
