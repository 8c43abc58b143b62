"""Adaptive judging: choose the next pairs and decide when to stop, so that fewer calls give the same LT or rank.

Here: the inputs of adaptive mode, the pairs of a round, and the interval of the strength that judging all pairs would
give. Not here: asking (matches), reported scores (scores).
"""

import math
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.base_sets import JUDGMENT, Ranks, Within
from benchmark_assets.pairwise.bradley_terry import fit, fit_fixed, on_scale
from benchmark_assets.pairwise.scores import anchor_wins, candidate_matches
from resources.warehouse import Warehouse

BATCH = 64
"""Number of pairs in a round: the default number of parallel calls to an endpoint. With smaller rounds, more time would
be spent waiting for the last call of each round. With larger rounds, more calls would turn out to be unnecessary."""

Z = 2.5
"""Half-width of the interval in standard errors, for 95 % coverage. It is larger than 1.96 for two reasons. The
interval is checked after each batch, and its width may fall below the limit by chance. The strengths of the anchors are
treated as known, although they have errors, too. The value was determined by simulation
(docs/decisions/pairwise.md)."""

_PAIR = ["passage", "anchor"]
_MATCH = pl.Schema({"passage": pl.String(), "anchor": pl.String(), "won": pl.Float64()})


class AdaptiveInputs(NamedTuple):
    """Inputs of adaptive mode for a model and a base set before the first round.

    `mode` is the precision at which the rounds stop (see `enough`); `strengths` are the log-strengths of the anchors,
    fitted without the model; `slices` maps each passage to its direction and difficulty; `stored` has the stored
    matches of outputs that are not stale (columns `passage`, `anchor` and `won`).
    """

    mode: Within | Ranks
    strengths: Mapping[str, float]
    slices: Mapping[str, str]
    stored: pl.DataFrame


def adaptive_inputs(
    warehouse: Warehouse, model: str, base_set: str, mode: Within | Ranks, stale: pl.Series
) -> AdaptiveInputs | None:
    """Read the inputs of adaptive mode. None if the anchors have no finite strengths: all pairs must then be judged.
    `stale` are the passages whose stored comparisons are out of date."""
    key = pl.DataFrame({"base_set": [base_set]})
    anchors = warehouse.read("anchor_output", key, ["anchor"])["anchor"].unique().sort().to_list()
    strengths = fit(anchor_wins(warehouse.read("anchor_judgment", key, JUDGMENT), anchors))
    if np.isnan(strengths).any():
        return None
    items = warehouse.read("base_set_item", key, ["passage", "direction", "difficulty"])
    slices = {passage: f"{direction} {difficulty}" for passage, direction, difficulty in items.iter_rows()}
    of_model = key.with_columns(model=pl.lit(model))
    stored = warehouse.read("comparison", of_model, ["model", *_PAIR, "winner"])
    current = _matches(stored.filter(~pl.col("passage").is_in(stale.implode())))
    return AdaptiveInputs(mode, dict(zip(anchors, strengths.tolist(), strict=True)), slices, current)


def round_pairs(
    inputs: AdaptiveInputs, judged: Iterable[tuple[str, str, str | None]], open_pairs: Iterable[tuple[str, str]]
) -> set[tuple[str, str]]:
    """The pairs (passage and anchor) of the next round; empty if the judged pairs suffice.

    Parameters
    ----------
    judged
        Passage, anchor and winner (as in the table `comparison`) of each order of a pair that was judged in this run.
    open_pairs
        Pairs (passage and anchor) not yet judged; duplicates are ignored.
    """
    winners = pl.DataFrame(judged, schema=dict.fromkeys([*_PAIR, "winner"], pl.String), orient="row")
    matches = pl.concat([inputs.stored, _matches(winners.with_columns(model=pl.lit("")))])
    rows = [(passage, anchor, inputs.slices[passage]) for passage, anchor in dict.fromkeys(open_pairs)]
    pairs = pl.DataFrame(rows, schema=dict.fromkeys([*_PAIR, "slice"], pl.String), orient="row")
    if enough(matches, pairs, inputs.strengths, inputs.mode):
        return set()
    return set(next_pairs(matches, pairs, inputs.strengths, BATCH).select(_PAIR).rows())


def next_pairs(
    matches: pl.DataFrame, open_pairs: pl.DataFrame, strengths: Mapping[str, float], batch: int
) -> pl.DataFrame:
    """Choose the pairs about which to ask next.

    Parameters
    ----------
    matches
        Judged pairs: `passage`, `anchor` and `won`, as `scores.candidate_matches` returns them.
    open_pairs
        Pairs not yet judged: `passage`, `anchor` and `slice` (direction and difficulty of the passage).
    strengths
        Log-strengths of all anchors, fitted without the candidate.
    batch
        Maximum number of pairs to choose.

    Returns
    -------
    At most `batch` rows of `open_pairs`, in the order of asking.

    Notes
    -----
    A match is more informative the closer the strengths of candidate and anchor are: its Fisher information is σ(d)
    σ(-d), with d the difference of the strengths. Items take turns, each with its most informative pair. The numbers of
    judged pairs of two items therefore differ by at most one, and each item keeps the weight that it has among all
    pairs. Within a turn, slices alternate. Ties are broken by a hash.
    """
    estimate = _estimate(matches, strengths)
    counts = matches.group_by("passage").agg(judged=pl.len().cast(pl.Int64))
    information = {anchor: _information(estimate - strength) for anchor, strength in strengths.items()}
    keys = [_random_key(*row) for row in open_pairs.select("passage", "anchor").iter_rows()]
    pairs = open_pairs.with_columns(
        information=pl.col("anchor").replace_strict(information, return_dtype=pl.Float64),
        key=pl.Series(keys, dtype=pl.String),
    ).sort("information", "key", descending=[True, False])  # fmt: skip
    pairs = pairs.join(counts, on="passage", how="left", maintain_order="left").with_columns(
        turn=pl.col("judged").fill_null(0) + pl.int_range(pl.len()).over("passage")
    )
    pairs = pairs.sort("turn", "key").with_columns(
        place=(pl.int_range(pl.len()).over("turn", "slice") + 0.5) / pl.len().over("turn", "slice")
    )
    return pairs.sort("turn", "place", "key").head(batch).select(open_pairs.columns)


def enough(
    matches: pl.DataFrame, open_pairs: pl.DataFrame, strengths: Mapping[str, float], mode: Within | Ranks
) -> bool:  # fmt: skip
    """Whether to stop: no pair is open, or the result from all pairs is known as precisely as `mode` requires.

    Parameters
    ----------
    matches, open_pairs, strengths
        As for `next_pairs`.
    mode
        The criterion: a maximum half-width of LT (see `half_width`), or a maximum number of places among the anchors
        (see `places`).

    Notes
    -----
    A candidate without a loss or without a win never meets either criterion, so all its pairs are judged.
    """
    if open_pairs.is_empty():
        return True
    if isinstance(mode, Within):
        return half_width(matches, open_pairs, strengths) <= mode.within
    return places(matches, open_pairs, strengths) <= mode.ranks


def half_width(matches: pl.DataFrame, open_pairs: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    """Half-width of `interval` on the scale of LT: the larger of the distances from the estimate to the two ends.
    Infinite if the candidate's strength is not finite."""
    low, middle, high = on_scale(np.array(interval(matches, open_pairs, strengths)))
    return math.inf if math.isnan(middle) else float(max(high - middle, middle - low))


def places(matches: pl.DataFrame, open_pairs: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    """Number of places among the anchors that the candidate may have according to `interval`.

    It is one more than the number of anchors whose strengths lie in the interval, and infinite if the candidate's
    strength is not finite.
    """
    low, middle, high = interval(matches, open_pairs, strengths)
    return math.inf if math.isnan(middle) else 1 + sum(low <= strength <= high for strength in strengths.values())


def interval(
    matches: pl.DataFrame, open_pairs: pl.DataFrame, strengths: Mapping[str, float]
) -> tuple[float, float, float]:  # fmt: skip
    """95 % prediction interval of the log-strength that the candidate will have once all pairs are judged.

    Returns
    -------
    Lower end, strength from `matches`, upper end; all are NaN if `matches` gives no finite strength.

    Notes
    -----
    The strengths of the anchors are fixed. The interval is narrower than the interval of the reported LT, which refers
    to a population of items. Let I(S) be the sum of σ(d) σ(-d) over the pairs S. The difference between the strength
    from the judged pairs and the strength from all pairs then has the variance
    φ I(open) / (I(judged) I(all)) + τ² Σ_i (I_i(all) / I(all) - I_i(judged) / I(judged))².
    The sum is over items i. The sum vanishes if the judged pairs contain the same share of every item's information.
    Both φ and τ² are estimated from the residuals of `matches`. φ is the variance of match results, divided by the
    variance of single coin tosses (about one half if the two orders of a pair are independent tosses). τ² is the
    variance of the candidate's strength over items, by the method of moments.
    """
    strength = float(fit_fixed(*_counts(matches, strengths)))
    if math.isnan(strength):
        return strength, strength, strength
    decided_matches = matches.drop_nulls("won").with_columns(pl.lit(True).alias("decided"))
    rows = pl.concat([decided_matches.select(*_PAIR, "won", "decided"), open_pairs.select(_PAIR)], how="diagonal")
    differences = strength - rows["anchor"].replace_strict(strengths, return_dtype=pl.Float64).to_numpy()
    expected = on_scale(differences) / 10
    terms = rows.with_columns(
        information=pl.Series(expected * (1 - expected)), residual=pl.col("won") - pl.Series(expected)
    )
    by_item = terms.group_by("passage", maintain_order=True).agg(
        all=pl.col("information").sum(), judged=pl.col("information").filter(pl.col("decided")).sum(),
        residual=pl.col("residual").sum(), squared=(pl.col("residual") ** 2).sum(),
    )  # fmt: skip
    of_all, of_judged, residual, squared = (column.to_numpy() for column in by_item.drop("passage"))
    total, total_judged = of_all.sum(), of_judged.sum()
    dispersion = squared.sum() / total_judged
    item_variance = max(0.0, float(((residual**2).sum() - squared.sum()) / (of_judged**2).sum()))
    imbalance = ((of_all / total - of_judged / total_judged) ** 2).sum()
    error = math.sqrt(dispersion * max(0.0, 1 / total_judged - 1 / total) + item_variance * imbalance)
    return strength - Z * error, strength, strength + Z * error


def _matches(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Matches of one model with the columns `passage`, `anchor` and `won`."""
    return candidate_matches(comparisons).select(_MATCH.names()).cast(_MATCH)


def _estimate(matches: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    """The candidate's log-strength if one tie is added, against a system whose strength is the mean of the anchors'.

    The tie shrinks the estimate towards this mean, and keeps the estimate finite.
    """
    mean = sum(strengths.values()) / len(strengths)
    with_tie = map(np.append, _counts(matches, strengths), (mean, 0.5, 0.5))
    return float(fit_fixed(*with_tie))


def _counts(matches: pl.DataFrame, strengths: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
    """Strengths of the anchors, and the candidate's wins and losses against each anchor: arrays of shape (anchors,)."""
    totals = matches.drop_nulls("won").group_by("anchor").agg(won=pl.col("won").sum(), lost=(1 - pl.col("won")).sum())
    counts = {anchor: (won, lost) for anchor, won, lost in totals.iter_rows()}
    rows = np.array([(strength, *counts.get(anchor, (0.0, 0.0))) for anchor, strength in strengths.items()])
    return rows[:, 0], rows[:, 1], rows[:, 2]


def _information(difference: float) -> float:
    """Fisher information of a match between two systems, from the difference of their log-strengths; in (0, 0.25]."""
    chance = 1 / (1 + math.exp(-abs(difference)))
    return chance * (1 - chance)


def _random_key(passage: str, anchor: str) -> str:
    """Key that sorts pairs in a pseudorandom order, the same in every process."""
    return blake2b(f"{passage}\0{anchor}".encode(), digest_size=8).hexdigest()
