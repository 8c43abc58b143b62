"""Logistic regression on one quantity, with an interval by units. Not here: what the quantity is (its callers)."""

import numpy as np
from numpy.typing import NDArray
from scipy import special  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import Floats, Units, bounds, by_unit, influence, unit_sizes
from benchmark_assets.metrics.measures import NONE, Estimate

STEPS = 50
STEEP = 20.0
"""Logits per unit of the quantity above which the outcomes count as separated: the likelihood has no maximum."""


def fitted(design: Floats, outcome: Floats, offset: Floats | float = 0.0) -> Floats | None:
    """Coefficients of a logistic regression by maximum likelihood.

    Parameters
    ----------
    design, outcome
        Shape (rows, p), the first column an intercept; outcomes in [0, 1], shape (rows,).
    offset
        Logits that are added to each row.

    Returns
    -------
    Shape (p,). None if the likelihood has no maximum, or a coefficient other than the intercept is above `STEEP`.
    """
    odds = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chances = special.expit(design @ odds + offset)
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
    The slope in logits per unit of the quantity, by maximum likelihood, and its 95 % interval by the sign test of units
    (`intervals.bounds`). All three are None if the quantity is constant, or if a value of it separates the outcomes;
    the bounds are None with fewer than `FEWEST` units.
    """
    if len(quantity) == 0 or np.ptp(quantity) < 1e-9 or outcome.all() or not outcome.any():
        return NONE
    design = np.stack([np.ones(len(quantity)), quantity - quantity.mean()], axis=1)
    odds = fitted(design, outcome.astype(np.float64))
    if odds is None:
        return NONE
    chances = special.expit(design @ odds)
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
