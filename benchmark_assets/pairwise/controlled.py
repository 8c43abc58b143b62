"""LT at equal length: strengths from matches, without the effect of text length on the judge.

The effect of position is removed as well if each pair was judged in one order only; with both orders, it cancels. Here:
influences on a judge besides quality, estimated from the matches of anchors and from padded texts, and the LT that a
model or an anchor would have if all texts for an item had the same length. Not here: LT without control (scores),
padded texts (examination).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import LEVEL, Floats, Units, Z, by_unit
from benchmark_assets.metrics.measures import NONE, Estimate, numbered_units
from benchmark_assets.metrics.misclassification import widened
from benchmark_assets.pairwise.bradley_terry import fit, obstacle, solvable
from benchmark_assets.pairwise.scores import with_bounds

SIGNATURE = (
    "LT at equal length: Davidson's model with the log length ratio, and the position if each pair has one order; "
    "coefficients from anchors and padded texts, weighted by precision; intervals combined by MOVER"
)

COMPARABLE = 1.5
"""Maximum ratio of two texts' lengths for their match to be used for the length coefficient. With a larger ratio, one
of the texts omits or adds something."""

TEXTLESS = "the anchors have no match, or their texts are missing or equally long"
UNKNOWN = "the judge's length coefficient is unknown: {}, and there is no report card of the judge on padded texts"

_STEPS = 200
_CLOSE = 1e-9
_FAR = 50.0
"""If the absolute value of a parameter exceeds this limit, the likelihood counts as having no maximum."""


class Matches(NamedTuple):
    """Matches that have a winner, or whose winner changed with the order.

    Attributes
    ----------
    passages, units
        The item of each match and the index of the item's unit, shape (matches,).
    system, other
        Indices of the systems, shape (matches,).
    won
        1 if `system` won, 0 if `other` won, ½ if the winner changed with the order, shape (matches,).
    orders
        Number of orders with a winner, shape (matches,).
    covariates
        Shape (matches, 2): log of the ratio of `system`'s text length to `other`'s, and the mean position over orders,
        with 1 if `system` was shown as A and -1 otherwise. Both are 0 if one of the texts is blank, because no judge
        saw the pair.
    blank
        Whether one of the texts is blank, so that the match needed no judge, shape (matches,).
    """

    passages: NDArray[np.object_]
    units: Units
    system: NDArray[np.int64]
    other: NDArray[np.int64]
    won: Floats
    orders: Floats
    covariates: Floats
    blank: NDArray[np.bool_]

    def where(self, kept: NDArray[np.bool_]) -> "Matches":
        """The matches that are selected by the mask `kept`, shape (matches,)."""
        return Matches._make(values[kept] for values in self)


class JudgeEffects(NamedTuple):
    """Influences on the verdicts of a judge besides quality.

    `length` is in logits of a verdict per unit of log length ratio. `position` is the number of logits that a text
    gains if shown as A, and None if both orders were judged. `ties` is Davidson's parameter. It is 2 if the verdicts in
    the two orders of a pair disagree as often as independent verdicts would. It is lower if they agree more often, and
    higher if the judge chooses by position.
    """

    length: Estimate
    position: Estimate
    ties: Estimate


class Fit(NamedTuple):
    """A fit of Davidson's model.

    Attributes
    ----------
    values, without
        Parameters from all units, shape (p,), and with each unit left out (one Newton step), shape (units, p).
    covariance
        Covariance of the parameters if all verdicts are independent tosses, shape (p, p).
    response
        Decrease of each parameter per unit of each match's offset, shape (p, matches).
    """

    values: Floats
    without: Floats
    covariance: Floats
    response: Floats


def matches_of(judgments: pl.DataFrame, systems: Sequence[str], lengths: pl.DataFrame, items: pl.DataFrame) -> Matches:
    """Matches from `judgments` (columns of `anchor_judgment`). A system's number is its position in `systems`.

    `lengths` has the columns `system` (anchor or model), `passage` and `length`, in characters; 0 for a blank text.
    `items` has the columns `passage` and `unit`.
    """
    numbers = {name: at for at, name in enumerate(systems)}
    number = pl.col("first", "second").replace_strict(numbers)
    rows = judgments.drop_nulls("winner").join(items.select("passage", "unit"), on="passage")
    rows = rows.with_columns(first_won=pl.col("winner") == pl.col("first")).with_columns(number)
    ahead = pl.col("first") < pl.col("second")
    pairs = rows.group_by(
        "passage", "unit", system=pl.min_horizontal("first", "second"), other=pl.max_horizontal("first", "second"),
    ).agg(
        won=(pl.col("first_won") == ahead).mean(), orders=pl.len().cast(pl.Float64),
        position=(2 * ahead.cast(pl.Float64) - 1).mean(),
    ).sort("unit", "passage", "system", "other")  # fmt: skip
    sizes = lengths.filter(pl.col("length") > 0).with_columns(
        pl.col("system").replace_strict(numbers, default=None),
        pl.col("length").log(),
    )
    for side in ("system", "other"):
        own = sizes.select("passage", pl.col("system").alias(side), pl.col("length").alias(f"length_{side}"))
        pairs = pairs.join(own, on=["passage", side], how="left", maintain_order="left")
    empty = lengths.filter(length=0).select(
        "passage", pl.col("system").replace_strict(numbers, default=None), empty=True
    )
    for side in ("system", "other"):
        own = empty.rename({"system": side, "empty": f"empty_{side}"})
        pairs = pairs.join(own, on=["passage", side], how="left", maintain_order="left")
    blank = pairs.select(pl.any_horizontal("empty_system", "empty_other").fill_null(False)).to_series().to_numpy()
    ratio = pl.col("length_system") - pl.col("length_other")
    covariates = pairs.select(ratio.fill_null(0), pl.when(ratio.is_null()).then(0.0).otherwise("position").alias("p"))
    return Matches(
        pairs["passage"].to_numpy(), numbered_units(pairs["unit"]), pairs["system"].to_numpy(),
        pairs["other"].to_numpy(), pairs["won"].to_numpy(), pairs["orders"].to_numpy(), covariates.to_numpy(),
        blank,
    )  # fmt: skip


def judge_effects(
    matches: Matches, anchors: Sequence[str], padding: Sequence[Estimate]
) -> tuple[JudgeEffects, str | None]:
    """Estimate the influences on the judge of a base set from matches of the anchors and from padded texts.

    Parameters
    ----------
    matches
        Matches of the anchors on all items.
    padding
        Length coefficients of the judge from padded texts (`judge_report`); empty if the judge was not examined.

    Returns
    -------
    The influences, and the reason why the judge's length coefficient is unknown; None if the coefficient is known.

    Notes
    -----
    Davidson (1970): a match is won, tied or lost with odds exp(η) : ν : exp(-η). η is linear in the strengths and the
    covariates. The coefficient of length is therefore estimated from deviations of an anchor's lengths from the
    anchor's mean; an anchor whose texts are always longer contributes nothing. Matches with a length ratio above
    `COMPARABLE` are left out.

    The model also describes a judge who gives one verdict for each order of the two texts, independently, with log-odds
    d and a preference of γ logits for the text shown as A: then η = d and ν = 2 cosh γ. If ν is below 2, the verdicts
    in the two orders depend on each other, and the log-odds of a verdict between nearly equal texts are
    d = 4 η / (2 + ν). Coefficients are in units of d, so that they are comparable with the coefficients from padded
    texts.
    """
    one_order, varied = bool((matches.orders == 1).all()), (matches.covariates != 0).any(axis=0).tolist()
    comparable = matches.where(np.abs(matches.covariates[:, 0]) <= np.log(COMPARABLE))
    estimates, reason = _of_anchors(comparable, anchors, [at for at in range(1 + one_order) if varied[at]])
    length = pooled([estimates.get("length", NONE), *padding]) if varied[0] else NONE
    effects = JudgeEffects(length, estimates.get("position", NONE), estimates.get("ties", NONE))
    if length.value is None:
        return effects, UNKNOWN.format(reason) if varied[0] else TEXTLESS
    return effects, None


def _of_anchors(
    matches: Matches, anchors: Sequence[str], columns: Sequence[int]
) -> tuple[Mapping[str, Estimate], str]:  # fmt: skip
    """Estimates by name, from the matches of anchors; and the reason to report if the length coefficient is unknown.

    `columns` are the indices of the covariates to use.
    """
    if reason := obstacle(_wins(matches, len(anchors)), anchors):
        return {}, reason
    tied = matches.won == 0.5
    design = np.hstack([_contrasts(matches, len(anchors)), matches.covariates[:, columns]])
    if tied.all() or np.linalg.matrix_rank(design) < design.shape[1]:
        return {}, "every match of texts of similar length is a tie, or their lengths do not vary"
    found = davidson(design, matches, np.zeros(len(tied)), None if tied.any() else -np.inf)
    if found is None:
        return {}, "the lengths of the anchors' texts separate wins from losses"
    names = [("length", "position")[column] for column in columns] + ["ties"] * bool(tied.any())
    if not names:
        return {}, ""
    every = np.vstack([found.values, found.without])[:, len(anchors) - 1 :]
    scales = _scale(np.exp(every[:, -1:]) if tied.any() else np.zeros((len(every), 1)))
    every[:, : len(columns)] /= scales
    errors = np.sqrt(np.diag(found.covariance))[len(anchors) - 1 :]
    errors[: len(columns)] /= scales[0]
    counts = np.repeat(by_unit(np.ones((len(tied), 1)), matches.units), len(names), axis=1)
    estimates = dict(zip(names, with_bounds(every[0], every[1:], errors, counts), strict=True))
    if tied.any():
        estimates["ties"] = Estimate(*(None if each is None else float(np.exp(each)) for each in estimates["ties"]))
    return estimates, "the base set has too few units for an interval"


def at_equal_length(matches: Matches, systems: int, effects: JudgeEffects) -> list[Estimate]:
    """Log-strengths of the systems at equal length, with their intervals. The strengths have mean 0.

    All estimates are `NONE` if the strengths are not finite.

    Notes
    -----
    Strengths are fitted with the judge's coefficients held fixed. The strengths predict wins between equally long texts
    without an effect of position; `fit` is then applied to these wins. The result is therefore on the scale of LT,
    where a tie is half a win. It equals LT if the coefficients are 0, because the predicted totals of wins then equal
    the observed totals. The interval combines the interval of the strength with the intervals of the coefficients
    (MOVER; Zou and Donner 2008). The coefficients are independent of the strength if lengths do not depend on item
    effects.
    """
    wins, design = _wins(matches, systems), _contrasts(matches, systems)
    coefficients = [(effect.value, effect[1:]) for effect in effects[:2] if effect.value is not None]
    ties = effects.ties.value or 0.0
    shifts = _scale(np.array(ties)) * matches.covariates[:, : len(coefficients)]
    log_ties = float(np.log(ties)) if ties else -np.inf
    found = None
    if solvable(wins):
        found = davidson(design, matches, shifts @ np.array([value for value, _ in coefficients]), log_ties)
    if found is None:
        return [NONE] * systems
    moved = [
        found.values - found.response @ shift * (end - value)
        for (value, ends), shift in zip(coefficients, shifts.T, strict=True) for end in ends if end is not None
    ]  # fmt: skip
    every = np.pad(np.vstack([found.values, found.without, *moved]), ((0, 0), (1, 0)))
    win, tie, _ = _chances(every[:, :, None] - every[:, None, :], log_ties)
    strengths = fit((wins + wins.T) * (win + tie / 2))
    contrasts = (np.eye(systems) - 1 / systems)[:, 1:]
    errors = np.sqrt(np.einsum("ij,jk,ik->i", contrasts, found.covariance, contrasts)) * 4 / (2 + ties)
    counts = np.repeat(by_unit(np.ones((len(matches.won), 1)), matches.units), systems, axis=1)
    units = 1 + len(counts)
    own = with_bounds(strengths[0], strengths[1:units], errors, counts)
    if len(moved) < 2 * len(coefficients):
        return [Estimate(each.value, None, None) for each in own]
    changes = strengths[units:].reshape(-1, 2, systems) - strengths[0]
    below, above = changes.min(axis=1, initial=0), changes.max(axis=1, initial=0)
    return [widened(each, *ends) for each, *ends in zip(own, below.T, above.T, strict=True)]


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """The precision-weighted mean of independent estimates of one quantity, with its 95 % interval.

    `NONE` if no estimate has an interval.

    Notes
    -----
    Distances of the bounds from the estimates are combined by MOVER. If the estimates differ significantly (χ², 5 %),
    they do not measure the same quantity, and the distances are multiplied by the square root of χ² divided by its
    degrees of freedom (Birge 1932).
    """
    known = np.array([each for each in estimates if each.low is not None], dtype=np.float64)
    if not len(known):
        return NONE
    values, lows, highs = known.T
    precision = (2 * Z / (highs - lows)) ** 2
    weights = precision / precision.sum()
    value = float(weights @ values)
    heterogeneity, freedom = float(precision @ (values - value) ** 2), len(known) - 1
    stretch = (
        np.sqrt(heterogeneity / freedom)
        if freedom and scipy.special.chdtrc(freedom, heterogeneity) < 1 - LEVEL
        else 1.0
    )
    below, above = (float(stretch * np.linalg.norm(weights * end)) for end in (values - lows, highs - values))
    return Estimate(value, value - below, value + above)


def davidson(design: Floats, matches: Matches, offset: Floats, log_ties: float | None) -> Fit | None:
    """Fit Davidson's model by maximum likelihood.

    Parameters
    ----------
    design
        Shape (matches, p), of full rank.
    offset
        Added to the linear predictor, shape (matches,).
    log_ties
        Logarithm of the tie parameter; -inf if there are no ties. If None, the fit estimates it as its last parameter.

    Returns
    -------
    The fit; None if there is no finite maximum.

    Notes
    -----
    For a fixed tie parameter ν, the equations depend on matches only through `won`, whose mean is (exp(η) + ν / 2) /
    (exp(η) + ν + exp(-η)). A match with one refused order therefore counts as a win or a loss, as in LT.
    """
    size, free = design.shape[1], log_ties is None
    values = np.zeros(size + free)
    for _ in range(_STEPS):
        win, tie, loss = _chances(design @ values[:size] + offset, values[-1] if log_ties is None else log_ties)
        balance = win - loss
        slopes = [design * (2 * matches.won - 1 - balance)[:, None], ((matches.won == 0.5) - tie)[:, None]]
        gradients = np.hstack(slopes[: 1 + free])
        blocks = [win + loss - balance**2, -balance * tie, tie * (1 - tie)]
        information = _information(design, blocks, free)
        if np.linalg.cond(information) > 1e12:
            return None
        step = np.linalg.solve(information, gradients.sum(axis=0))
        change = float(np.abs(step).max())
        values = values + step * (np.log1p(change) / change if change > _CLOSE else 1)
        if change <= _CLOSE or np.abs(values).max() > _FAR:
            break
    if change > _CLOSE:
        return None
    without, inverse = [], np.linalg.inv(information)
    for unit in np.unique(matches.units):
        inside = matches.units == unit
        rest = information - _information(design[inside], [block[inside] for block in blocks], free)
        without.append(values - np.linalg.lstsq(rest, gradients[inside].sum(axis=0))[0])
    tosses = (1 - balance**2) / matches.orders
    bread = inverse[:, :size] @ design.T
    covariance = (bread * tosses) @ bread.T
    if free:
        covariance[-1, -1] = inverse[-1, -1]
    return Fit(values, np.array(without), covariance, bread * blocks[0])


def _scale(ties: Floats) -> Floats:
    """Increase of the linear predictor per unit of a verdict's log-odds, for tie parameters in an array."""
    scales: Floats = (2 + np.minimum(ties, 2)) / 4
    return scales


def _information(design: Floats, blocks: Sequence[Floats], free: bool) -> Floats:
    """Fisher information of the parameters. `blocks` has the terms of each match for (η, η), (η, log ν) and
    (log ν, log ν)."""
    information: Floats = design.T @ (blocks[0][:, None] * design)
    if not free:
        return information
    cross = design.T @ blocks[1]
    return np.block([[information, cross[:, None]], [cross[None, :], blocks[2].sum()]])


def _chances(eta: Floats, log_ties: float) -> tuple[Floats, Floats, Floats]:
    """Probabilities of a win, a tie and a loss, from linear predictors of any shape."""
    odds = np.exp(-np.abs(eta))
    tie = np.exp(log_ties) * odds
    total = 1 + tie + odds**2
    return np.where(eta > 0, 1, odds**2) / total, tie / total, np.where(eta > 0, odds**2, 1) / total


def _contrasts(matches: Matches, systems: int) -> Floats:
    """Design matrix for the strengths of all systems except the first (fixed at 0); shape (matches, systems - 1)."""
    identity = np.eye(systems)[:, 1:]
    return identity[matches.system] - identity[matches.other]


def _wins(matches: Matches, systems: int) -> Floats:
    """Wins of the row's system against the column's, shape (systems, systems)."""
    wins = np.zeros((systems, systems))
    np.add.at(wins, (matches.system, matches.other), matches.won)
    np.add.at(wins, (matches.other, matches.system), 1 - matches.won)
    return wins
