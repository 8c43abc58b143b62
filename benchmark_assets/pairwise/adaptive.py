"""Which pairs to ask a judge about next, and when to stop: the same LT, or the same place, for fewer calls.

Here: the order of pairs, and how far the strength by what was asked can be from that by all pairs. Not here: asking, or
what is reported in the end (scores).
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
"""Half-widths in standard errors, for 95 %. More than 1.96: who looks after each batch stops at a lucky moment, and the
anchors' strengths, which are taken as known, err too. Found by simulation (docs/decisions/pairwise.md)."""


def next_pairs(asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float], batch: int) -> pl.DataFrame:
    """The pairs that are to be asked about next.

    Parameters
    ----------
    asked
        Matches that there are: `passage`, `anchor` and `won`, as `scores.candidate_matches` gives them.
    left
        Pairs that have not been asked about: `passage`, `anchor` and `slice`, the passage's direction and difficulty.
    strengths
        Log-strengths of all anchors, as they are without the candidate.
    batch
        How many pairs are wanted.

    Returns
    -------
    Rows of `left`, at most `batch`, the most informative first.

    Notes
    -----
    A match against an anchor tells the more about the candidate the nearer their strengths: the Fisher information is
    σ(d) σ(-d), d being the difference. Each item gets its most informative pairs in turn, so that all items have been
    asked about equally often, give or take one: what is peculiar to an item then weighs as much as among all pairs.
    Within a turn, slices come by turns too. Equals are ordered by a hash.
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
    """Whether to stop: nothing is left, or what all pairs would give is known as well as `mode` wants it.

    Parameters
    ----------
    asked, left, strengths
        As for `next_pairs`.
    mode
        LT within so much, by `half_width`; or so many places among the anchors at most, by `places`.

    Notes
    -----
    Neither is ever so as long as the candidate is undefeated or winless, so that all pairs are asked.
    """
    if left.is_empty():
        return True
    if isinstance(mode, Within):
        return half_width(asked, left, strengths) <= mode.within
    return places(asked, left, strengths) <= mode.ranks


def half_width(asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    """How far the LT of `asked` (anchors fixed) can be from that of all pairs, see `interval`; infinite where `asked`
    gives no finite strength."""
    low, middle, high = on_scale(np.array(interval(asked, left, strengths)))
    return math.inf if math.isnan(middle) else float(max(high - middle, middle - low))


def places(asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    """How many places among the anchors the candidate may have by all pairs, see `interval`: one more than there are
    anchors whose strengths lie in it. Infinite where `asked` gives no finite strength."""
    low, middle, high = interval(asked, left, strengths)
    return math.inf if math.isnan(middle) else 1 + sum(low <= strength <= high for strength in strengths.values())


def interval(
    asked: pl.DataFrame, left: pl.DataFrame, strengths: Mapping[str, float]
) -> tuple[float, float, float]:  # fmt: skip
    """Where, at 95 %, the strength by `asked` and `left` together lies, the anchors' being held: its lower end, the
    strength by `asked`, its upper end. NaN where `asked` gives no finite strength.

    Notes
    -----
    Not the interval of LT over other items, which narrows no further than all pairs narrow it. With I(S) the sum of
    σ(d) σ(-d) over pairs S, the strengths of some and of all pairs differ by a variance of
    φ I(left) / (I(asked) I(all)) + τ² Σ_i (I_i(all) / I(all) - I_i(asked) / I(asked))². The sum is over items i and
    vanishes where each has given the same share of its information. From the residuals of `asked`: φ, how much verdicts
    vary beside single tosses of a coin (both orders of a pair are two tosses, about a half), and τ², how much the
    candidate's strength varies over items, by the method of moments.
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
    """The candidate's strength, drawn towards the anchors' mean by one match against it that ended in a tie."""
    held, won, lost = _counts(asked, strengths)
    mean = [sum(strengths.values()) / len(strengths)]
    half = [0.5]
    return float(fit_fixed(np.append(held, mean), np.append(won, half), np.append(lost, half)))


def _strength(asked: pl.DataFrame, strengths: Mapping[str, float]) -> float:
    return float(fit_fixed(*_counts(asked, strengths)))


def _counts(asked: pl.DataFrame, strengths: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
    """Strengths of the anchors, and the candidate's wins and losses against each."""
    known = asked.drop_nulls("won").group_by("anchor").agg(won=pl.col("won").sum(), lost=(1 - pl.col("won")).sum())
    found = {anchor: (won, lost) for anchor, won, lost in known.iter_rows()}
    rows = np.array([(strength, *found.get(anchor, (0.0, 0.0))) for anchor, strength in strengths.items()])
    return rows[:, 0], rows[:, 1], rows[:, 2]


def _told(difference: float) -> float:
    chance = 1 / (1 + math.exp(-abs(difference)))
    return chance * (1 - chance)


def _chance(passage: str, anchor: str) -> str:
    """A place in an order by chance that is the same in every process."""
    return blake2b(f"{passage}\0{anchor}".encode(), digest_size=8).hexdigest()
