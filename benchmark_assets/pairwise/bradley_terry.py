"""Strengths of systems from counts of wins: the Bradley–Terry model by maximum likelihood.

Here: the fit, with all systems free or with fixed anchors; the test of whether a fit exists; fits with one unit left
out; the scales LT and EN. Not here: counts of wins, slices, intervals (scores), the choice of pairs (adaptive).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import Floats

PENALTY = 1e-6
"""Penalty on the sum of squared strengths: the default `alpha` of choix's `opt_pairwise`, which JP-TL-Bench uses."""

SPAN = 10
"""The upper end of the scales LT and EN; the lower end is 0."""

_STEPS = 500
_CLOSE = 1e-7
"""Iteration stops after a step that changes no difference of strengths by more than this tolerance. Convergence is
quadratic, so the remaining error is about the square of the tolerance."""

Flags = NDArray[np.bool_]


def fit(wins: Floats) -> Floats:
    """Fit the log-strengths of systems to tables of wins by maximum likelihood.

    Parameters
    ----------
    wins
        Wins of the row's system against the column's system, shape (..., n, n). A tie counts as half a win for each
        system. The diagonal is ignored.

    Returns
    -------
    Log-strengths θ with mean 0, shape (..., n); NaN for all systems of a table whose likelihood has no finite maximum
    (see `solvable`).

    Raises
    ------
    ArithmeticError
        If Newton's method does not converge.

    Notes
    -----
    Maximizes Σ_ij w_ij ln σ(θ_i - θ_j) - α Σ_i θ_i², α = `PENALTY`: the objective of choix's `opt_pairwise`, and hence
    of JP-TL-Bench, section 4.4. It depends on the matches only through the sums w_ij, so there is no loop over matches.
    Newton steps are damped by ln(1 + d) / d, with d the largest change of a difference of strengths (Sun and Tran-Dinh
    2019). They converge from any start, and quadratically near the maximum.
    """
    size = wins.shape[-1]
    tables = wins.reshape(-1, size, size)
    exists = solvable(tables)
    result = np.full(tables.shape[:2], np.nan)
    tables = tables[exists]
    matches, won = tables + tables.swapaxes(1, 2), tables.sum(axis=2)

    def step(strengths: Floats) -> Floats:
        chances, information = _logistic(strengths[:, :, None] - strengths[:, None, :])
        slope = won - (matches * chances).sum(axis=2) - 2 * PENALTY * strengths
        curvature = _curvature(matches * information) + 2 * PENALTY * np.eye(size)
        # Adding a constant to all strengths changes only the penalty, and the slope has no component in that direction.
        # Adding 1 to the curvature therefore changes no step, and keeps the equations well conditioned.
        steps: Floats = np.linalg.solve(curvature + 1, slope[:, :, None])[:, :, 0]
        steps -= steps.mean(axis=1, keepdims=True)
        return steps

    lost = matches.sum(axis=2) - won
    start = np.log((won + 0.5) / (lost + 0.5))
    result[exists] = _newton(start - start.mean(axis=1, keepdims=True), step)
    return result.reshape(wins.shape[:-1])


def fit_fixed(anchors: Floats, wins: Floats, losses: Floats) -> Floats:
    """Fit the log-strength of one system against anchors with fixed strengths.

    Parameters
    ----------
    anchors
        Log-strengths of the anchors, shape (..., anchors).
    wins, losses
        Wins and losses of the system against each anchor, shape (..., anchors). A tie counts as half a win and half a
        loss.

    Returns
    -------
    Shape (...,), on the scale of the anchors. NaN if the system has no win or no loss, or if an anchor has no strength.

    Raises
    ------
    ArithmeticError
        If Newton's method does not converge.

    Notes
    -----
    Solves Σ_j (wins_j + losses_j) σ(θ - anchor_j) = Σ_j wins_j, without a penalty.
    """
    size = anchors.shape[-1]
    anchor_strengths, won, lost = (each.reshape(-1, size) for each in np.broadcast_arrays(anchors, wins, losses))
    exists = (won.sum(axis=1) > 0) & (lost.sum(axis=1) > 0) & np.isfinite(anchor_strengths).all(axis=1)
    anchor_strengths, won, matches = anchor_strengths[exists], won[exists].sum(axis=1), (won + lost)[exists]

    def step(strengths: Floats) -> Floats:
        chances, information = _logistic(strengths - anchor_strengths)
        slope = won - (matches * chances).sum(axis=1)
        steps: Floats = slope / (matches * information).sum(axis=1)
        return steps[:, None]

    result = np.full(len(exists), np.nan)
    middle = (matches * anchor_strengths).sum(axis=1) / matches.sum(axis=1)
    result[exists] = _newton((middle + np.log(won / (matches.sum(axis=1) - won)))[:, None], step)[:, 0]
    return result.reshape(np.broadcast_shapes(anchors.shape, wins.shape, losses.shape)[:-1])


def without_units(wins: Floats, strengths: Floats) -> tuple[Floats, Floats]:
    """Log-strengths with each unit left out in turn; covariance of the strengths if matches are independent tosses.

    Parameters
    ----------
    wins
        Wins of the row's system against the column's system in each unit, shape (units, n, n).
    strengths
        `fit(wins.sum(axis=0))`, shape (n,), finite.

    Returns
    -------
    without
        Log-strengths after one Newton step, shape (units, n). Unlike the maximum, they are finite even if all losses of
        a system are in the unit left out.
    covariance
        Shape (n, n): the inverse of the Fisher information of all matches, with the penalty of `fit`.
    """
    matches = wins + wins.swapaxes(1, 2)
    chances, information = _logistic(strengths[:, None] - strengths[None, :])
    slopes = (wins - matches * chances).sum(axis=2)
    curvatures = _curvature(matches * information)
    # Adding 1 keeps the equations well conditioned, as in `fit`. So does the penalty, if a system has few matches.
    size, total = len(strengths), curvatures.sum(axis=0)
    conditioned = total + 2 * PENALTY * np.eye(size) + 1
    steps = np.linalg.solve(conditioned - curvatures, slopes[:, :, None])[:, :, 0]
    covariance: Floats = np.linalg.inv(conditioned) - 1 / (size * (size + 2 * PENALTY))
    return strengths - steps, covariance


def without_units_fixed(anchors: Floats, wins: Floats, losses: Floats, strength: float) -> tuple[Floats, Floats, float]:
    """Log-strengths of one system against fixed anchors, each without one unit; derivatives and variance of `strength`.

    Parameters
    ----------
    anchors
        Log-strengths of the anchors, shape (anchors,).
    wins, losses
        Wins and losses of the system against each anchor in each unit, shape (units, anchors).
    strength
        `fit_fixed(anchors, wins.sum(axis=0), losses.sum(axis=0))`, finite.

    Returns
    -------
    without
        Log-strength with each unit left out, shape (units,). If all matches of the system are in one unit, the value
        without this unit is NaN.
    weights
        Derivatives of the strength with respect to the strengths of the anchors, shape (anchors,). Their sum is 1.
    variance
        Variance of the strength if all matches of the system are independent tosses.
    """
    chances, information = _logistic(strength - anchors)
    slopes = (wins - (wins + losses) * chances).sum(axis=1)
    weights = (wins + losses) * information
    rest = weights.sum() - weights.sum(axis=1)
    steps = np.divide(slopes, rest, out=np.full(len(rest), np.nan), where=rest > 0)
    return strength - steps, weights.sum(axis=0) / weights.sum(), 1 / float(weights.sum())


def solvable(wins: Floats) -> Flags:
    """Whether the likelihood of a table of wins has a finite maximum: shape (...,) for wins of shape (..., n, n).

    Notes
    -----
    It has a finite maximum if and only if a chain of wins leads from every system to every other system. Equivalently,
    the systems cannot be divided into two groups such that the first never won against the second (Ford 1957).
    """
    return np.asarray(_reach(wins).all(axis=(-2, -1)))


def obstacle(wins: Floats, names: Sequence[str]) -> str | None:
    """The reason why the systems have no finite strengths, in one sentence; None if their strengths are finite.

    Parameters
    ----------
    wins
        Table of wins as for `fit`, shape (n, n).
    names
        Names of the systems, shape (n,).
    """
    reach = _reach(wins)
    if reach.all():
        return None
    played = wins * (1 - np.eye(len(wins)))
    won, lost = played.sum(axis=1) > 0, played.sum(axis=0) > 0
    reasons = []
    for group, words in (
        (~won & ~lost, "no match that counts"), (won & ~lost, "lost no match"), (~won & lost, "won no match")
    ):  # fmt: skip
        if group.any():
            reasons.append(f"{_listed(names, group)} {'have' if group.sum() > 1 else 'has'} {words}")
    if not reasons:
        connected = _reach(wins + wins.T)[0]
        first = reach.sum(axis=1).argmax()
        top = reach[first] & reach[:, first]  # systems that reach the one with the largest reach
        group, words = (top, "never lost to") if connected.all() else (connected, "never met")
        reasons.append(f"{_listed(names, group)} {words} {_listed(names, ~group)}")
    return "no finite strengths exist: " + "; ".join(reasons)


def on_scale(log_odds: Floats) -> Floats:
    """10 σ(x) of each element, in [0, 10]: maps log-strengths with mean 0 to LT, and `log_shares` to EN."""
    return SPAN * _logistic(log_odds)[0]


def log_shares(strengths: Floats) -> tuple[Floats, Floats]:
    """Log-odds of each system's share of the total odds, from the log-strengths of one fit, shape (n,).

    `on_scale` maps them to EN = 10 exp(θ_i) / Σ_j exp(θ_j): the column `EN` of JP-TL-Bench's score files.

    Returns
    -------
    Log-odds, shape (n,), and their derivatives with respect to the strengths, shape (n, n). Both are NaN if the
    strengths are NaN.
    """
    size = len(strengths)
    others = np.where(np.eye(size, dtype=np.bool_), -np.inf, strengths)
    peaks = others.max(axis=1, keepdims=True)
    odds = np.exp(others - peaks)
    totals = odds.sum(axis=1, keepdims=True)
    return strengths - (peaks + np.log(totals))[:, 0], np.eye(size) - odds / totals


def _curvature(information: Floats) -> Floats:
    """Negative Hessian of the log-likelihood, from the Fisher information of each pair, shape (..., n, n)."""
    diagonal = np.eye(information.shape[-1])
    apart = information * (1 - diagonal)
    curvature: Floats = apart.sum(axis=-1, keepdims=True) * diagonal - apart
    return curvature


def _newton(strengths: Floats, step: Callable[[Floats], Floats]) -> Floats:
    """Take damped Newton steps from log-strengths, shape (tables, n), until convergence.

    The steps have converged if no difference between two strengths changes by more than `_CLOSE`. If there is only one
    system, its strength must not change by more than `_CLOSE`.
    """
    alone = strengths.shape[1] == 1
    for _ in range(_STEPS if strengths.size else 0):
        steps = step(strengths)
        change = np.abs(steps[:, 0]) if alone else np.ptp(steps, axis=1)
        damping = np.log1p(change) / np.maximum(change, np.finfo(np.float64).tiny)
        strengths = strengths + steps * np.where(change > _CLOSE, damping, 1)[:, None]
        if (change <= _CLOSE).all():
            return strengths
    if strengths.size:
        raise ArithmeticError(f"the strengths did not converge in {_STEPS} steps")
    return strengths


def _reach(wins: Floats) -> Flags:
    """Whether a chain of wins leads from the row's system to the column's system; shape (..., n, n)."""
    size = wins.shape[-1]
    paths = (wins > 0) | np.eye(size, dtype=np.bool_)
    length = 1
    while length < size:
        steps = paths.astype(np.float32)
        paths, length = steps @ steps > 0, 2 * length
    return paths


def _logistic(x: Floats) -> tuple[Floats, Floats]:
    """σ(x) and its derivative σ(x) σ(-x), the Fisher information of a match. Both are accurate even far from 0."""
    far = np.exp(-np.abs(x))
    return np.where(x < 0, far, 1.0) / (1 + far), far / (1 + far) ** 2


def _listed(names: Sequence[str], group: Flags) -> str:
    *others, last = (name for name, member in zip(names, group, strict=True) if member)
    return f"{', '.join(others)} and {last}" if others else last
