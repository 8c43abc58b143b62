"""Logistic regression on one quantity: for many rows, with an interval clustered by unit; and for few pairs.

Not here: the meaning of the quantity (its callers).
"""

import math

import numpy as np
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import LEVEL, Floats, Units, bounds, by_unit, influence, unit_sizes
from benchmark_assets.metrics.measures import NONE, Estimate

STEPS = 50
STEEP = 20.0
"""Maximum absolute coefficient, in logits per unit of the quantity. If a coefficient is larger, the outcomes are
considered to be separated, and the likelihood to have no maximum."""

BOUND = 50.0
"""Limit of `penalized_slope`: the maximum absolute value of the slope and of the bounds of its interval, in logits."""


def fitted(design: Floats, outcome: Floats, offset: Floats | float = 0.0) -> Floats | None:
    """Coefficients of a logistic regression by maximum likelihood.

    Parameters
    ----------
    design, outcome
        `design` has the shape (rows, p); its first column is the intercept. `outcome` has the shape (rows,), with
        values in [0, 1].
    offset
        Logits that are added to each row.

    Returns
    -------
    Shape (p,). None if the likelihood has no maximum, or if the absolute value of a coefficient other than the
    intercept is above `STEEP`.
    """
    odds = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chances = scipy.special.expit(design @ odds + offset)
        curvature = design.T @ (design * (chances * (1 - chances))[:, None])
        if np.linalg.cond(curvature) > 1e12:
            return None
        step = np.linalg.solve(curvature, design.T @ (outcome - chances))
        odds = odds + step / max(1.0, float(np.abs(step).max()))
        if (np.abs(odds[1:]) > STEEP).any():
            return None
        if np.abs(step).max() < 1e-9:
            break
    return odds


def slope(quantity: Floats, outcome: NDArray[np.bool_], units: Units) -> Estimate:
    """Change of the log-odds of an outcome with a quantity: the slope of a logistic regression with an intercept.

    Parameters
    ----------
    quantity, outcome, units
        By row, shape (rows,): the quantity, whether the outcome occurred, and the number of the row's unit.

    Returns
    -------
    The slope in logits per unit of the quantity, by maximum likelihood, and its 95 % interval by the test of units
    (`intervals.bounds`). All three are None if the quantity is constant, or if a threshold separates the outcomes;
    the bounds are None with fewer than `FEWEST` units.
    """
    if len(quantity) == 0 or np.ptp(quantity) < 1e-9 or outcome.all() or not outcome.any():
        return NONE
    design = np.stack([np.ones(len(quantity)), quantity - quantity.mean()], axis=1)
    odds = fitted(design, outcome.astype(np.float64))
    if odds is None:
        return NONE
    chances = scipy.special.expit(design @ odds)
    curvature = design.T @ (design * (chances * (1 - chances))[:, None])
    sizes = unit_sizes(units)
    slopes = by_unit(design * (outcome - chances)[:, None], units)
    curvatures = by_unit((design * (chances * (1 - chances))[:, None])[:, :, None] * design[:, None, :], units)
    shares = (sizes / sizes.sum())[:, None]
    rest = curvature - curvatures
    if len(sizes) < 2 or np.linalg.cond(rest).max() > 1e12:
        return Estimate(float(odds[1]), None, None)
    without = odds[1] - np.linalg.solve(rest, slopes[:, :, None])[:, 1]
    (below,), (above,) = bounds(influence(odds[1:], without, shares), shares)
    if np.isnan(below):
        return Estimate(float(odds[1]), None, None)
    return Estimate(float(odds[1]), float(odds[1] - below), float(odds[1] + above))


def penalized_slope(quantity: Floats, outcomes: Floats) -> Estimate:
    """Change of the log-odds of an outcome with a quantity. The model has even odds at the quantity 0.

    Parameters
    ----------
    quantity
        Quantity of each pair, shape (pairs,), not 0: for example, the log of the ratio of the padded text's length to
        the sound text's length.
    outcomes
        Outcomes in [0, 1], ½ if undecided: one for each order of a pair, shape (pairs, 2), or one for each pair, shape
        (pairs, 1). At least one pair.

    Returns
    -------
    The slope and its interval, all within ±`BOUND`. If both orders have outcomes, the position is a second parameter.

    Notes
    -----
    Logistic regression with the penalty of Firth (1993), which keeps estimates finite if the outcomes are all alike.
    The bounds come from the profile of the penalized likelihood (Heinze and Schemper 2002). This works with fewer
    pairs than `slope` needs. The two orders of a pair are not independent: the log likelihood ratio is divided by the
    dispersion of the pairs, from 1 (independent) to 2 (the second order adds nothing).
    """
    from scipy import optimize  # takes 0.2 s to import

    pairs, orders = outcomes.shape
    design = np.repeat(quantity, orders)[:, None]
    if orders == 2:
        design = np.hstack([design, np.tile([[0.5], [-0.5]], (pairs, 1))])
    outcome = outcomes.ravel().astype(np.float64)

    def loss(parameters: Floats) -> float:
        logits = design @ parameters
        weights = scipy.special.expit(logits) * scipy.special.expit(-logits)
        _, log_determinant = np.linalg.slogdet(design.T @ (weights[:, None] * design))
        return float(np.logaddexp(0, logits).sum() - outcome @ logits - log_determinant / 2)

    def profile(coefficient: float) -> float:
        if orders == 1:
            return loss(np.array([coefficient]))
        result = optimize.minimize_scalar(
            lambda position: loss(np.array([coefficient, position])), bounds=(-BOUND, BOUND), method="bounded"
        )
        return float(result.fun)

    best = optimize.minimize(loss, np.zeros(orders), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    value, least = float(np.clip(best.x[0], -BOUND, BOUND)), float(best.fun)
    limit = least + scipy.special.chdtri(1, 1 - LEVEL) / 2 * _dispersion(
        scipy.special.expit(design @ best.x), outcome, pairs
    )

    def bound(end: float) -> float:
        if profile(end) < limit:
            return end
        return float(optimize.brentq(lambda coefficient: profile(coefficient) - limit, value, end, xtol=1e-4))

    return Estimate(value, bound(-BOUND), bound(BOUND))


def _dispersion(chances: Floats, outcome: Floats, pairs: int) -> float:
    """Variance of the pairs' outcomes, divided by the variance that they would have if the two orders of a pair were
    independent. The result is clipped to the range from 1 to 2; it is 2 if there are fewer than two pairs."""
    if pairs < 2:
        return 2.0
    residuals = (outcome - chances).reshape(pairs, -1).sum(axis=1)
    variances = (chances * (1 - chances)).reshape(pairs, -1).sum(axis=1)
    return min(max(math.fsum(residuals**2 / variances) / (pairs - 1), 1.0), 2.0)
