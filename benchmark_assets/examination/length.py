"""A judge's fondness of length, from its choices between sound texts and padded ones.

Here: the coefficient and its interval. Not here: padding (sentinels), scores at equal length (pairwise.controlled,
literary.controlled).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import optimize, special  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import LEVEL, Floats

BOUND = 50.0
"""Largest absolute coefficient, and largest absolute bound of an interval, in logits."""


class Coefficient(NamedTuple):
    """A coefficient in logits per unit of log length ratio, with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


def length_coefficient(log_ratio: Floats, chosen: Floats) -> Coefficient:
    """Estimate how much the log odds of a text grow with the log of its length.

    Parameters
    ----------
    log_ratio
        Logarithm of the length of the padded text in lengths of the sound one, shape (pairs,), not 0.
    chosen
        Whether the padded text was chosen (1, ½ if the judge chose neither, 0), with the padded text as A and as B,
        shape (pairs, 2); or one outcome of both orders, shape (pairs, 1). At least one pair.

    Returns
    -------
    The coefficient, with the position as a second parameter if the orders are apart, and its interval, all within
    ±`BOUND`.

    Notes
    -----
    Logistic regression with the penalty of Firth (1993), which keeps estimates finite if the padded text was always or
    never chosen; bounds from the profile of the penalized likelihood (Heinze and Schemper 2002). The two orders of a
    pair are not independent: the log likelihood ratio is divided by the dispersion of the pairs, from 1 (independent)
    to 2 (the second order adds nothing).
    """
    pairs, orders = chosen.shape
    design = np.repeat(log_ratio, orders)[:, None]
    if orders == 2:
        design = np.hstack([design, np.tile([[0.5], [-0.5]], (pairs, 1))])
    outcome = chosen.ravel().astype(np.float64)

    def loss(parameters: Floats) -> float:
        logits = design @ parameters
        weights = special.expit(logits) * special.expit(-logits)
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
    limit = least + special.chdtri(1, 1 - LEVEL) / 2 * _dispersion(special.expit(design @ best.x), outcome, pairs)

    def bound(end: float) -> float:
        if profile(end) < limit:
            return end
        return float(optimize.brentq(lambda coefficient: profile(coefficient) - limit, value, end, xtol=1e-4))

    return Coefficient(value, bound(-BOUND), bound(BOUND))


def _dispersion(chances: Floats, outcome: Floats, pairs: int) -> float:
    """Variance of the pairs' choices relative to independent orders, from 1 to 2; 2 with fewer than two pairs."""
    if pairs < 2:
        return 2.0
    residuals = (outcome - chances).reshape(pairs, -1).sum(axis=1)
    variances = (chances * (1 - chances)).reshape(pairs, -1).sum(axis=1)
    return min(max(math.fsum(residuals**2 / variances) / (pairs - 1), 1.0), 2.0)
