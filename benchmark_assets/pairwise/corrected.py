"""LT that a judge without errors would give.

Here: the errors of a judge, from its verdicts in both orders and from sentinels, and strengths corrected for them. Not
here: win rates (metrics.misclassification), length and position (controlled), rows (adjusted), sentinels (examination).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import Floats, by_unit, wilson
from benchmark_assets.metrics.measures import NONE, Estimate, numbered_units
from benchmark_assets.metrics.misclassification import widened
from benchmark_assets.pairwise.controlled import Matches, pooled
from benchmark_assets.pairwise.scores import with_bounds

PRIOR = 20
"""Before any sentinel is seen, an error in both orders counts as likely as one in this number of pairs: the mean of the
prior, Beta(1, PRIOR - 1)."""

RIDGE = 0.01
"""Penalty on the sum of squared strengths. It keeps them finite where verdicts are more one-sided than the judge's
errors allow, and changes a strength of 2 by about 0.01 where a system has 300 matches."""

UNCLEAR = 0.35
"""Reliability below which the reason is the judge, and not the number of pairs."""

LEAST = 0.15
"""Reliability of a judge below which nothing is corrected: its verdicts are hardly better than coins."""

SIGNATURE = (
    "without the judge's errors: P = 1/2 + κ (1 - 2ε) (σ(strengths and length) - 1/2), κ² = 1 - 2c + d² from "
    "contradictions about anchors and about the model, by item, ε from sentinels with the prior "
    f"Beta(1, {PRIOR - 1}); ridge {RIDGE:g}; intervals combined by MOVER"
)

ONE_ORDER = "each pair was judged in one order, so that nothing shows how often the judge contradicts itself"
FEW = "too few pairs show how often the judge errs"
COIN = "the judge contradicts itself about as often as a coin, or errs too often about sentinels"

_STEPS = 100
_CLOSE = 1e-6
_NO_ERRORS = Estimate(0.0, 0.0, 0.0)


class SentinelCounts(NamedTuple):
    """Pairs of a sound and a damaged text in which a judge named the sound one in both orders (`right`), the damaged
    one (`misled`), or contradicted itself (`split`)."""

    right: int = 0
    misled: int = 0
    split: int = 0


class JudgeErrors(NamedTuple):
    """Errors of a judge.

    `steady` is κ, in [0, 1]: 1 if the two orders of a pair never disagree, 0 if its verdicts are coins. `misled` is ε,
    in [0, 0.5]: the share of pairs whose worse text the judge takes for the better one, in whatever order.
    """

    steady: Estimate
    misled: Estimate

    @property
    def reliability(self) -> Estimate:
        """κ (1 - 2ε): how far the judge's verdicts are from coins, as a share of how far those of a judge without
        errors are. Its interval combines both."""
        value = _product(self.steady.value, self.misled.value)
        of_steady = [_product(end, self.misled.value) - value for end in self.steady[1:]]
        of_misled = [_product(self.steady.value, end) - value for end in self.misled[:0:-1]]
        below, above = (math.hypot(*ends) for ends in zip(of_steady, of_misled, strict=True))
        return Estimate(value, max(value - below, 0.0), min(value + above, 1.0))


class FittedStrengths(NamedTuple):
    """Strengths with mean 0, shape (systems,); the same with each unit left out (one Newton step), shape
    (units, systems); and their covariance if all verdicts are independent tosses."""

    values: Floats
    without: Floats
    covariance: Floats


def errors_of(
    squares: Sequence[tuple[Estimate, str | None]], sentinels: SentinelCounts
) -> tuple[JudgeErrors | None, str | None]:
    """The errors of a judge, or None and the reason.

    Parameters
    ----------
    squares
        κ² for the pairs that are meant and for further pairs of the same judge, which count too unless they differ
        significantly; results of `agreement`.
    sentinels
        Sentinels of the judge's examination, and hidden ones.

    Notes
    -----
    If sentinels show that the judge is steadier where the answer is clear, the interval reaches up to the lower end of
    κ there: two equally good texts, between which every judge contradicts itself, count as errors otherwise. Errors
    that the judge makes in both orders leave no contradiction; sentinels show them (`misled_share`).
    """
    squared, reason = squares[0]
    if reason:
        return None, reason
    alike = [other for other, none in squares[1:] if none is None and _agree(squared, other)]
    if alike:
        squared = pooled([squared, *alike])
    steady = Estimate(*(math.sqrt(min(max(float(each or 0), 0.0), 1.0)) for each in squared))
    steady = steady._replace(high=max(float(steady.high or 0), _clear(sentinels)))
    errors = JudgeErrors(steady, misled_share(float(steady.value or 0), sentinels))
    if float(errors.reliability.low or 0) < LEAST:
        return None, COIN if float(errors.reliability.value or 0) < UNCLEAR else FEW
    return errors, None


def agreement(verdicts: pl.DataFrame, items: pl.DataFrame) -> tuple[Estimate, str | None]:
    """κ², with its interval, from the pairs of a judge's verdicts; or `NONE` and the reason.

    Parameters
    ----------
    verdicts
        Columns `passage`, `first`, `second` and `winner`, as in `anchor_judgment`, without pairs with a blank text.
    items
        Columns `passage` and `unit`.

    Notes
    -----
    A judge that is right in a share a of its verdicts, whatever the order, has κ = 2a - 1: its expected verdicts are
    1/2 + κ (p - 1/2), with p those of a judge without errors. If its errors in two orders are independent, the share c
    of pairs in which it contradicts itself, and the difference d between contradictions in favor of A and of B, give
    κ² = 1 - 2c + d²: for a + b if the better text is A, and a - b if it is B, c = 2a(1 - a) + 2b² and d = 2b. This is
    the mean of κ² over items; the variance of κ² among items, beyond that of chance, gives the square of the mean of κ
    to second order, at least the square of the mean of κ².
    """
    ahead, behind = pl.min_horizontal("first", "second"), pl.max_horizontal("first", "second")
    firsts = (pl.col("winner") == pl.col("first")).sum()
    groups = verdicts.drop_nulls("winner").group_by("passage", one=ahead, other=behind)
    pairs = groups.agg(orders=pl.len(), firsts=firsts).filter(orders=2)
    pairs = pairs.join(items.select("passage", "unit"), on="passage").sort("passage", "one", "other")
    if pairs.is_empty():
        return NONE, ONE_ORDER
    counts = pairs.select(pairs=pl.lit(1), a=pl.col("firsts") == 2, b=pl.col("firsts") == 0).cast(pl.Float64).to_numpy()
    of_items = by_unit(counts, numbered_units(pairs["passage"]))
    units = numbered_units(pairs.unique("passage", maintain_order=True)["unit"])
    of_units = by_unit(of_items, units)
    if len(of_units) < 2:
        return NONE, FEW
    total = of_units.sum(axis=0)
    contradictions = (total[1] + total[2] + 0.5) / (total[0] + 1)
    error = 2 * math.sqrt(contradictions * (1 - contradictions) / total[0])
    without = np.array([_mean_square(of_items[units != unit]) for unit in range(len(of_units))])
    value = np.array([_mean_square(of_items)])
    (squared,) = with_bounds(value, without[:, None], np.array([error]), of_units[:, :1])
    return (NONE, FEW) if squared.low is None else (squared, None)


def _agree(one: Estimate, other: Estimate) -> bool:
    """Whether two estimates do not differ significantly."""
    half = math.hypot(*((float(each.high or 0) - float(each.low or 0)) / 2 for each in (one, other)))
    return abs(float(one.value or 0) - float(other.value or 0)) <= half


def _mean_square(counts: Floats) -> float:
    """The square of the mean κ over items, from their numbers of pairs, of contradictions in favor of A, and of those
    in favor of B, shape (items, 3)."""
    total = counts.sum(axis=0)
    square = float(_squared(total))
    if square <= 0:
        return square
    number, contradictions = counts[:, 0], (total[1] + total[2]) / total[0]
    own = 1 - 2 * (counts[:, 1] + counts[:, 2]) / number
    chance = 4 * contradictions * (1 - contradictions) * len(counts) / total[0]
    variance = max(float(np.sum(number / total[0] * (own - 1 + 2 * contradictions) ** 2)) - chance, 0.0)
    mean: float = max(math.sqrt(square) * (1 - variance / (8 * square**2)), square)
    return mean**2


def _clear(sentinels: SentinelCounts) -> float:
    """Lower end of κ on sentinels: a judge that contradicts itself about equally good texts is steadier there."""
    number = sentinels.right + sentinels.misled + sentinels.split
    if not number:
        return 0.0
    return math.sqrt(max(1 - 2 * wilson(float(sentinels.split), float(number))[1], 0.0))


def _squared(counts: Floats) -> Floats:
    """κ² from the numbers of pairs, of contradictions in favor of A, and of those in favor of B, shape (..., 3)."""
    first, second = counts[..., 1] / counts[..., 0], counts[..., 2] / counts[..., 0]
    squared: Floats = 1 - 2 * (first + second) + (first - second) ** 2
    return squared


def misled_share(steady: float, sentinels: SentinelCounts) -> Estimate:
    """ε, with its 95 % credible interval, for a judge with the reliability `steady` between orders.

    Notes
    -----
    Among sentinels with the same verdict in both orders, a share ε + (1 - 2ε) q is wrong, with q = (1 - a)² /
    (a² + (1 - a)²) and a = (1 + κ) / 2: verdicts that are wrong twice by chance. The posterior's mean and quantiles are
    computed on a grid.
    """
    right = (1 + steady) / 2
    by_chance = (1 - right) ** 2 / (right**2 + (1 - right) ** 2)
    rates = np.linspace(0, 0.5, 501)
    wrong = rates + (1 - 2 * rates) * by_chance
    seen = scipy.special.xlogy(sentinels.misled, wrong) + scipy.special.xlog1py(sentinels.right, -wrong)
    logs = (PRIOR - 2) * np.log1p(-rates) + seen
    weights = np.exp(logs - logs.max())
    cumulated = weights.cumsum() / weights.sum()
    ends = (float(rates[np.searchsorted(cumulated, end)]) for end in (0.025, 0.975))
    return Estimate(float(weights @ rates / weights.sum()), *ends)


def strengths(
    matches: Matches, systems: int, length: Estimate, errors: JudgeErrors, of_anchors: JudgeErrors | None = None
) -> list[Estimate]:
    """Log-strengths of the systems for a judge without errors who ignores length, with their intervals.

    Parameters
    ----------
    matches
        Matches in both orders.
    length
        The judge's length coefficient, in logits of a verdict per unit of log length ratio; `NONE` if texts do not
        differ in length.
    errors, of_anchors
        The judge's errors about the last system, and about the others; None if they are the same.

    Notes
    -----
    Maximizes Σ won ln P + (1 - won) ln(1 - P) - RIDGE Σ θ², P as in `SIGNATURE`. Without errors, an effect of length
    and the ridge, the strengths are those of LT. Matches with a blank text have no error; they have the weight that
    they would have as verdicts.
    """
    others, last = of_anchors or errors, np.maximum(matches.system, matches.other) == systems - 1
    causes = length if length.value is not None else _NO_ERRORS, errors.steady, others.steady, errors.misled

    def of(*values: float | None) -> FittedStrengths:
        coefficient, steady, of_others, misled = (float(each or 0) for each in values)
        kept = np.where(last, steady, of_others if of_anchors else steady) * (1 - 2 * misled)
        return fit(matches, systems, coefficient * matches.covariates[:, 0], np.maximum(kept, LEAST / 4))

    centre = [cause.value for cause in causes]
    found = of(*centre)
    moved = [
        [of(*centre[:at], end, *centre[at + 1 :]).values - found.values for end in cause[1:]]
        for at, cause in enumerate(causes) if cause.low is not None and (of_anchors or at != 2)
    ]  # fmt: skip
    counts = np.repeat(by_unit(np.ones((len(matches.won), 1)), matches.units), systems, axis=1)
    own = with_bounds(found.values, found.without, np.sqrt(np.diag(found.covariance)), counts)
    changes = np.array(moved)
    below, above = changes.min(axis=1, initial=0), changes.max(axis=1, initial=0)
    return [widened(each, *sides) for each, *sides in zip(own, below.T, above.T, strict=True)]


def fit(matches: Matches, systems: int, offset: Floats, reliability: Floats) -> FittedStrengths:
    """Fit strengths by Fisher's scoring; `offset` is added to the difference of strengths; `reliability` is that of
    each match. Both have the shape (matches,)."""
    identity = np.eye(systems)
    won = np.where(matches.blank, matches.won, 0.5 + (matches.won - 0.5) / reliability)
    design = identity[matches.system] - identity[matches.other]
    values = np.zeros(systems)
    for _ in range(_STEPS):
        chances = scipy.special.expit(design @ values + offset)
        slopes, wins = chances * (1 - chances), 0.5 + reliability * (chances - 0.5)
        shares = reliability**2 * slopes / np.maximum(wins * (1 - wins), 1e-12)
        residuals, weights = shares * (won - chances), shares * slopes
        information = design.T @ (weights[:, None] * design) + 2 * RIDGE * identity
        step = np.linalg.solve(information, design.T @ residuals - 2 * RIDGE * values)
        change = float(np.ptp(step))
        values = values + step * (math.log1p(change) / change if change > _CLOSE else 1.0)
        if change <= _CLOSE:
            break
    without = []
    for unit in np.unique(matches.units):
        inside = matches.units == unit
        part = design[inside]
        rest = information - part.T @ (weights[inside, None] * part)
        without.append(values - np.linalg.solve(rest, part.T @ residuals[inside]))
    bread = np.linalg.solve(information, design.T)
    return FittedStrengths(values, np.array(without), (bread * (weights / matches.orders)) @ bread.T)


def _product(steady: float | None, misled: float | None) -> float:
    return float(steady or 0) * (1 - 2 * float(misled or 0))
