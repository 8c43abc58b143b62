"""Strengths of systems from counts of wins: the Bradley–Terry model by maximum likelihood.

Here: the fit, with all systems free or with fixed anchors, when it exists, and the scales LT and EN. Not here: counting
wins, slices, intervals (scores), the choice of pairs (adaptive).
"""

from collections.abc import Callable, Sequence

import numpy as np

from benchmark_assets.metrics.measures import Floats

PENALTY = 1e-6
"""Penalty on the sum of squared strengths: the default `alpha` of choix's `opt_pairwise`, which JP-TL-Bench uses."""

SPAN = 10
"""LT lies between 0 and this."""

_STEPS = 500
_CLOSE = 1e-7
"""Stop after a step that changes no difference by more: convergence is quadratic, so the remaining error is the square
of this."""


def fit(wins: Floats) -> Floats:
    """Log-strengths under which the wins are most likely.

    Parameters
    ----------
    wins
        Wins of the row's system against the column's, shape (..., n, n); fractions are allowed, a tie being half a win
        for each. The diagonal is ignored.

    Returns
    -------
    Log-strengths θ with mean 0, shape (..., n); NaN for all systems of a table whose likelihood has no finite maximum
    (see `solvable`).

    Raises
    ------
    ArithmeticError
        Where Newton's method does not settle.

    Notes
    -----
    Maximizes Σ_ij w_ij ln σ(θ_i - θ_j) - α Σ_i θ_i², α = `PENALTY`: the objective of choix's `opt_pairwise`, and so of
    JP-TL-Bench, section 4.4. Only sums of w_ij count, so there is no loop over matches. Newton steps are damped by
    ln(1 + d) / d, with d the largest change of a difference (Sun and Tran-Dinh 2019). They converge from any start, and
    quadratically in the end.
    """
    size = wins.shape[-1]
    tables = wins.reshape(-1, size, size)
    exists = solvable(tables)
    found = np.full(tables.shape[:2], np.nan)
    chosen = tables[exists]
    matches, won = chosen + chosen.swapaxes(1, 2), chosen.sum(axis=2)
    diagonal = np.arange(size)

    def step(strengths: Floats) -> Floats:
        chances, information = _logistic(strengths[:, :, None] - strengths[:, None, :])
        slope = won - (matches * chances).sum(axis=2) - 2 * PENALTY * strengths
        curvature = -matches * information
        curvature[:, diagonal, diagonal] = 0
        curvature[:, diagonal, diagonal] = 2 * PENALTY - curvature.sum(axis=2)
        # Adding a constant to all strengths changes only the penalty. The slope has no part in that direction, so
        # adding to the curvature there changes no step, and keeps the equations well conditioned.
        steps: Floats = np.linalg.solve(curvature + 1, slope[:, :, None])[:, :, 0]
        steps -= steps.mean(axis=1, keepdims=True)
        return steps

    lost = matches.sum(axis=2) - won
    begin = np.log((won + 0.5) / (lost + 0.5))
    found[exists] = _newton(begin - begin.mean(axis=1, keepdims=True), step)
    return found.reshape(wins.shape[:-1])


def fit_fixed(anchors: Floats, wins: Floats, losses: Floats) -> Floats:
    """The log-strength of one system against anchors with fixed strengths.

    Parameters
    ----------
    anchors
        Log-strengths, shape (..., anchors).
    wins, losses
        Wins and losses of the system against each anchor, the same shape; a tie is half of each.

    Returns
    -------
    Shape (...,), on the scale of the anchors. NaN where the system has no win, no loss, or anchors without strengths.

    Raises
    ------
    ArithmeticError
        Where Newton's method does not settle.

    Notes
    -----
    Solves Σ_j (wins_j + losses_j) σ(θ - anchor_j) = Σ_j wins_j, without a penalty.
    """
    size = anchors.shape[-1]
    held, won, lost = (each.reshape(-1, size) for each in np.broadcast_arrays(anchors, wins, losses))
    exists = (won.sum(axis=1) > 0) & (lost.sum(axis=1) > 0) & np.isfinite(held).all(axis=1)
    held, won, matches = held[exists], won[exists].sum(axis=1), (won + lost)[exists]

    def step(strengths: Floats) -> Floats:
        chances, information = _logistic(strengths - held)
        slope = won - (matches * chances).sum(axis=1)
        steps: Floats = slope / (matches * information).sum(axis=1)
        return steps[:, None]

    found = np.full(len(exists), np.nan)
    middle = (matches * held).sum(axis=1) / matches.sum(axis=1)
    found[exists] = _newton((middle + np.log(won / (matches.sum(axis=1) - won)))[:, None], step)[:, 0]
    return found.reshape(np.broadcast_shapes(anchors.shape, wins.shape, losses.shape)[:-1])


def solvable(wins: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether the likelihood has a finite maximum, shape (...,) for wins of shape (..., n, n).

    Notes
    -----
    It has one if and only if the systems cannot be divided into two groups such that one never won against the other
    (Ford 1957): every system reaches every other along wins.
    """
    return np.asarray(_reach(wins).all(axis=(-2, -1)))


def obstacle(wins: Floats, names: Sequence[str]) -> str | None:
    """Why the systems have no finite strengths, in a sentence; None if they have.

    Parameters
    ----------
    wins
        As for `fit`, shape (n, n).
    names
        Names of the systems, shape (n,).
    """
    reach = _reach(wins)
    if reach.all():
        return None
    played = wins * (1 - np.eye(len(wins)))
    won, lost = played.sum(axis=1) > 0, played.sum(axis=0) > 0
    reasons = []
    for who, words in ((~won & ~lost, "no match that counts"), (won & ~lost, "lost none"), (~won & lost, "won none")):
        if who.any():
            reasons.append(f"{_listed(names, who)} {'have' if who.sum() > 1 else 'has'} {words}")
    if not reasons:
        met = _reach(wins + wins.T)[0]
        first = reach.sum(axis=1).argmax()
        top = reach[first] & reach[:, first]  # a system that reaches most is reached by its group only
        group, words = (top, "never lost to") if met.all() else (met, "never met")
        reasons.append(f"{_listed(names, group)} {words} {_listed(names, ~group)}")
    return "no finite strengths exist: " + "; ".join(reasons)


def lt(strengths: Floats) -> Floats:
    """LT = 10 σ(θ_i - mean θ), in [0, 10], shape (..., n) like the strengths of one fit: JP-TL-Bench, section 4.4."""
    return on_scale(strengths - strengths.mean(axis=-1, keepdims=True))


def on_scale(strengths: Floats) -> Floats:
    """10 σ(θ), element by element, in [0, 10]: LT of centered strengths."""
    return SPAN * _logistic(strengths)[0]


def en(strengths: Floats) -> Floats:
    """EN = 10 exp(θ_i) / Σ_j exp(θ_j), in [0, 10], shape (..., n): the column `EN` of JP-TL-Bench's score files,
    a system's share in the odds of all; NaN as the strengths are."""
    shares = np.exp(strengths - strengths.max(axis=-1, keepdims=True))
    found: Floats = SPAN * shares / shares.sum(axis=-1, keepdims=True)
    return found


def _newton(strengths: Floats, step: Callable[[Floats], Floats]) -> Floats:
    """Take steps from strengths, shape (tables, n), until no step changes a difference by more than `_CLOSE`."""
    alone = strengths.shape[1] == 1
    for _ in range(_STEPS if strengths.size else 0):
        steps = step(strengths)
        change = np.abs(steps[:, 0]) if alone else np.ptp(steps, axis=1)
        shorter = np.log1p(change) / np.maximum(change, np.finfo(np.float64).tiny)
        strengths = strengths + steps * np.where(change > _CLOSE, shorter, 1)[:, None]
        if (change <= _CLOSE).all():
            return strengths
    if strengths.size:
        raise ArithmeticError(f"no strengths after {_STEPS} steps")
    return strengths


def _reach(wins: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether wins lead from the row's system to the column's, directly or over other systems."""
    size = wins.shape[-1]
    paths = (wins > 0) | np.eye(size, dtype=np.bool_)
    length = 1
    while length < size:
        steps = paths.astype(np.float32)
        paths, length = steps @ steps > 0, 2 * length
    return paths


def _logistic(x: Floats) -> tuple[Floats, Floats]:
    """σ(x), and σ(x) σ(-x), its slope and the information of a match about x; both exact far from 0."""
    far = np.exp(-np.abs(x))
    return np.where(x < 0, far, 1.0) / (1 + far), far / (1 + far) ** 2


def _listed(names: Sequence[str], who: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    chosen = [name for name, wanted in zip(names, who, strict=True) if wanted]
    return chosen[0] if len(chosen) == 1 else f"{', '.join(chosen[:-1])} and {chosen[-1]}"
