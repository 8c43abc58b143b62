"""Adaptive choice of pairs and of when to stop: the same LT, or the same place, for fewer calls.

Here: the order of pairs, and the distance between the strength from the judged pairs and from all pairs. Not here:
asking, reported scores (scores).
"""

import math
from collections.abc import Mapping
from hashlib import blake2b

import numpy as np
import polars as pl

from benchmark_assets.metrics.measures import Floats
from benchmark_assets.pairwise.base_sets import Ranks, Within
from benchmark_assets.pairwise.bradley_terry import fit_fixed, on_scale

Z = 2.5
"""Half-widths in standard errors, for 95 %. More than 1.96, because a check after each batch tends to stop at a lucky
moment, and the anchors' strengths, taken as known, have errors too. Determined by simulation
(docs/decisions/pairwise.md)."""


def next_pairs(asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float], batch: int) -> pl.DataFrame:
    """Choose the pairs to ask about next.

    Parameters
    ----------
    asked
        Existing matches: `passage`, `anchor` and `won`, as `scores.candidate_matches` returns them.
    left
        Pairs not asked about yet: `passage`, `anchor` and `slice` (direction and difficulty of the passage).
    strengths
        Log-strengths of all anchors, fitted without the candidate.
    batch
        Number of pairs wanted.

    Returns
    -------
    At most `batch` rows of `left`, in the order in which to ask.

    Notes
    -----
    A match is more informative the closer the strengths of candidate and anchor are: its Fisher information is σ(d)
    σ(-d), with d the difference of the strengths. Items take turns, each with its most informative pair. The numbers of
    pairs of two items therefore differ by at most one, and the effect of an item has the same weight as among all
    pairs. Within a turn, slices alternate. Ties are broken by a hash.
    """
    estimate = _estimate(asked, strengths)
    often = asked.group_by("passage").agg(often=pl.len().cast(pl.Int64))
    told = {anchor: _told(estimate - strength) for anchor, strength in strengths.items()}
    pairs = left.with_columns(
        told=pl.col("anchor").replace_strict(told, return_dtype=pl.Float64),
        chance=pl.Series([_chance(*row) for row in left.select("passage", "anchor").iter_rows()], dtype=pl.String),
    ).sort("told", "chance", descending=[True, False])  # fmt: skip
    pairs = pairs.join(often, on="passage", how="left", maintain_order="left").with_columns(
        turn=pl.col("often").fill_null(0) + pl.int_range(pl.len()).over("passage")
    )
    mixed = pairs.sort("turn", "chance").with_columns(
        place=(pl.int_range(pl.len()).over("turn", "slice") + 0.5) / pl.len().over("turn", "slice")
    )
    return mixed.sort("turn", "place", "chance").head(batch).select(left.columns)


def enough(
    asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float], mode: Within | Ranks
) -> bool:  # fmt: skip
    """Whether to stop: no pair is left, or the result of all pairs is known as precisely as `mode` requires.

    Parameters
    ----------
    asked, left, strengths
        As for `next_pairs`.
    mode
        The largest half-width of LT (see `half_width`), or the largest number of places among the anchors (see
        `places`).

    Notes
    -----
    An undefeated or winless candidate never meets either criterion, so all its pairs are asked.
    """
    if left.is_empty():
        return True
    if isinstance(mode, Within):
        return half_width(asked, left, strengths) <= mode.within
    return places(asked, left, strengths) <= mode.ranks


def half_width(asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    """Largest distance between the LT from `asked` (anchors fixed) and the LT from all pairs, see `interval`; infinite
    if `asked` gives no finite strength."""
    low, middle, high = on_scale(np.array(interval(asked, left, strengths)))
    return math.inf if math.isnan(middle) else float(max(high - middle, middle - low))


def places(asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    """Number of places among the anchors that the candidate may have by all pairs, see `interval`: one more than the
    number of anchors with strengths in the interval. Infinite if `asked` gives no finite strength."""
    low, middle, high = interval(asked, left, strengths)
    return math.inf if math.isnan(middle) else 1 + sum(low <= strength <= high for strength in strengths.values())


def interval(
    asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float]
) -> tuple[float, float, float]:  # fmt: skip
    """95 % interval of the strength from `asked` and `left` together, with fixed anchors: lower end, strength from
    `asked`, upper end. NaN if `asked` gives no finite strength.

    Notes
    -----
    This is not the interval of LT over other items, which all pairs together still leave open. With I(S) the sum of
    σ(d) σ(-d) over pairs S, the strengths from some and from all pairs differ by a variance of
    φ I(left) / (I(asked) I(all)) + τ² Σ_i (I_i(all) / I(all) - I_i(asked) / I(asked))². The sum is over items i and
    vanishes if each item has given the same share of its information. Both parameters are estimated from the residuals
    of `asked`: φ is the variance of verdicts relative to single coin tosses (about a half where both orders of a pair
    are two tosses); τ² is the variance of the candidate's strength over items, by the method of moments.
    """
    strength = _strength(asked, strengths)
    if math.isnan(strength):
        return strength, strength, strength
    known = asked.drop_nulls("won").with_columns(pl.lit(True).alias("known"))
    pairs = ["passage", "anchor"]
    rows = pl.concat([known.select(*pairs, "won", "known"), left.select(pairs)], how="diagonal")
    differences = strength - rows["anchor"].replace_strict(strengths, return_dtype=pl.Float64).to_numpy()
    expected = on_scale(differences) / 10
    told = expected * (1 - expected)
    by_item = (
        rows.with_columns(told=pl.Series(told), residual=pl.col("won") - pl.Series(expected))
        .group_by("passage", maintain_order=True)
        .agg(
            all=pl.col("told").sum(),
            asked=pl.col("told").filter(pl.col("known")).sum(),
            residual=pl.col("residual").sum(),
            squared=(pl.col("residual") ** 2).sum(),
        )
    )
    every, asked_of, residual, squared = (by_item[name].to_numpy() for name in ("all", "asked", "residual", "squared"))
    total, of_asked = every.sum(), asked_of.sum()
    spread = squared.sum() / of_asked
    varies = max(0.0, float(((residual**2).sum() - squared.sum()) / (asked_of**2).sum()))
    uneven = ((every / total - asked_of / of_asked) ** 2).sum()
    error = math.sqrt(spread * max(0.0, 1 / of_asked - 1 / total) + varies * uneven)
    return strength - Z * error, strength, strength + Z * error


def _estimate(asked: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    """The candidate's strength, shrunk towards the anchors' mean by one tied match against that mean."""
    held, won, lost = _counts(asked, strengths)
    mean = [sum(strengths.values()) / len(strengths)]
    half = [0.5]
    return float(fit_fixed(np.append(held, mean), np.append(won, half), np.append(lost, half)))


def _strength(asked: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    return float(fit_fixed(*_counts(asked, strengths)))


def _counts(asked: pl.DataFrame, strengths: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
    """Strengths of the anchors, and the candidate's wins and losses against each."""
    decided = asked.drop_nulls("won").group_by("anchor").agg(won=pl.col("won").sum(), lost=(1 - pl.col("won")).sum())
    counts = {anchor: (won, lost) for anchor, won, lost in decided.iter_rows()}
    rows = np.array([(strength, *counts.get(anchor, (0.0, 0.0))) for anchor, strength in strengths.items()])
    return rows[:, 0], rows[:, 1], rows[:, 2]


def _told(difference: float) -> float:
    chance = 1 / (1 + math.exp(-abs(difference)))
    return chance * (1 - chance)


def _chance(passage: str, anchor: str) -> str:
    """Key of a random order that is the same in every process."""
    return blake2b(f"{passage}\0{anchor}".encode(), digest_size=8).hexdigest()
