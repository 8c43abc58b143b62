"""Confidence intervals from units: groups of passages, such as documents, whose scores are not independent.

Here: intervals of means by a sign test of units, or by Student's t if there are five units; intervals of other
statistics by a bootstrap of units; and Wilson intervals of proportions. Not here: which passages form a unit
(corpus.units), comparisons of systems (significance).
"""

import math
from functools import lru_cache

import numpy as np
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmark_assets.corpus.units import FEWEST

LEVEL = 0.95
RESAMPLES = 1000
TRIALS = 10_000
SEED = 20260101
BLOCK = 250
"""Patterns of signs that are multiplied at once, as floats: more do not fit into the processor's cache."""
Z = 1.959963984540054
"""Quantile of the normal distribution at 97.5 %."""

BOOTSTRAP = (
    f"{RESAMPLES} bootstrap resamples of units, seed {SEED}, percentiles widened for few units, none with fewer than "
    f"{FEWEST}"
)
SIGNATURE = (
    f"95 % intervals: inverted sign test of units, all signs or {TRIALS} random ones, seed {SEED} (t with {FEWEST} "
    f"units, none with fewer); rates: these or Wilson's with a corresponding sample size, whichever is wider; other "
    f"statistics: {BOOTSTRAP}"
)

Floats = NDArray[np.float64]
Units = NDArray[np.int64]
"""Number of the unit that each row belongs to, from 0, shape (rows,). Numbers without a row are ignored."""

Bounds = tuple[float | None, float | None]
"""Lower and upper bound of an interval; None with too few units."""


def by_unit(values: Floats, units: Units) -> Floats:
    """Sums over the rows of each unit: from shape (rows, ...) to (units, ...)."""
    if not len(units):
        return np.zeros((0, *values.shape[1:]))
    order = np.argsort(units, kind="stable")
    sums: Floats = np.add.reduceat(values[order], np.flatnonzero(np.diff(units[order], prepend=-1)), axis=0)
    return sums


def unit_sizes(units: Units) -> Floats:
    """Number of rows of each unit, in the order of `by_unit`, shape (units,). Units without rows are left out."""
    sizes = np.bincount(units)
    return sizes[sizes > 0].astype(np.float64)


def effective_units(sizes: Floats) -> float:
    """Effective number of units: the number of equally large units that would determine a mean with the same precision.

    It is (Σ size)² / Σ size². `sizes` has the shape (units,).
    """
    return float(sizes.sum() ** 2 / (sizes**2).sum())


@lru_cache(maxsize=2)
def signs(units: int) -> NDArray[np.int8]:
    """Patterns of the units' signs, 1 or -1, shape (patterns, units), read-only. In the first pattern, all signs are 1.

    Two patterns that differ in all signs count as one. If there are at most `TRIALS` patterns, the result has all of
    them; otherwise, it has `TRIALS` random patterns.
    """
    if 2 ** (units - 1) <= TRIALS:
        exchanged = np.arange(2 ** (units - 1))[:, None] >> np.arange(units) & 1
        patterns: NDArray[np.int8] = 1 - 2 * exchanged.astype(np.int8)
    else:
        patterns = random_signs(units)
        patterns[0] = 1
    patterns.flags.writeable = False
    return patterns


def random_signs(places: int) -> NDArray[np.int8]:
    """Random signs, 1 or -1, shape (TRIALS, places)."""
    bits = np.random.default_rng(SEED).integers(0, 256, size=(TRIALS, (places + 7) // 8), dtype=np.uint8)
    drawn: NDArray[np.int8] = 1 - 2 * np.unpackbits(bits, axis=1, count=places).astype(np.int8)
    return drawn


def signed_sums(table: Floats, patterns: NDArray[np.int8] | None = None) -> Floats:
    """For each pattern of signs, the signed sums over places: from shape (places, columns) to (patterns, columns).

    `patterns` has the shape (patterns, places). The default is the result of `signs`; the places are then units.
    """
    patterns = signs(len(table)) if patterns is None else patterns
    blocks = range(0, len(patterns), BLOCK)
    return np.concatenate([patterns[at : at + BLOCK].astype(np.float64) @ table for at in blocks])


def influence(scores: Floats, without: Floats, shares: Floats) -> Floats:
    """Influence of each unit on scores.

    Parameters
    ----------
    scores
        Scores from all units, shape (...).
    without
        For each unit, the scores computed without this unit, shape (units, ...).
    shares
        Each unit's share of the passages, below 1, shape (units, ...).

    Returns
    -------
    Shape (units, ...), with a sum of about 0. For a mean, a unit's influence is its share times the difference between
    its mean and the overall mean; for other functions of sums, it is the jackknife's influence (Efron and Tibshirani
    1993, chapter 11).
    """
    return (1 - shares) * (scores - without)


def bounds(influences: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Distances of the lower and upper bounds of 95 % intervals from the estimates.

    Parameters
    ----------
    influences
        As `influence` returns them, shape (units, estimates).
    shares
        Each unit's share of the passages, shape (units, estimates). A unit with the share 0 does not count.

    Returns
    -------
    Two arrays of shape (estimates,); NaN with fewer than `FEWEST` units.

    Notes
    -----
    An interval contains the values that the randomization test of the units' signs does not reject at 5 %. If the
    distance of a value from the estimate is d, unit i deviates from the value by influence + share x d, and the sign of
    this deviation is arbitrary under the hypothesis. The test is exact for symmetric deviations, whatever the sizes,
    variances and correlations within units (Canay, Romano and Shaikh 2017). For a pattern s of signs, let
    a = Σ s·influence and b = Σ s·share. The pattern is a hit at a distance d > 0 if
    d <= max(a / (1 - b), -a / (1 + b)), so that the bound is a quantile over the patterns. Five units have only 16
    patterns, too few for 5 %; their bound comes from `student`.
    """
    counts = (shares > 0).sum(axis=0)
    low, high = np.full((2, len(counts)), np.nan)
    few, many = counts == FEWEST, counts > FEWEST
    if few.any():
        freedom, error = student(influences[:, few], shares[:, few])
        low[few] = high[few] = scipy.special.stdtrit(freedom, (1 + LEVEL) / 2) * error
    if many.any():
        distinct, places = np.unique(shares[:, many], axis=1, return_inverse=True)  # most estimates share theirs
        sums = np.ascontiguousarray(signed_sums(np.hstack([influences[:, many], distinct])).T)
        shared = sums[-len(distinct.T) :]
        for at, a, place in zip(np.flatnonzero(many), sums, places.ravel(), strict=False):
            low[at], high[at] = _distances(a, shared[place])
    return low, high


def _distances(a: Floats, b: Floats) -> tuple[float, float]:
    """Distances of the lower and the upper bound of one interval, from `a` and `b` of `bounds` by pattern.

    One interval at a time, because its arrays then stay in the processor's cache."""
    allowed = math.floor((1 - LEVEL) * len(a) + 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        forward, backward = a / (1 - b), a / (1 + b)
    # Limits are negated: numpy finds a place near the end of many equal numbers ten times as slowly.
    limits = np.stack([np.minimum(-forward, backward), np.minimum(forward, -backward)])
    limits[:, np.abs(b) > 1 - 1e-12] = -np.inf  # a pattern that exchanges no unit, or all, is a hit at any distance
    limits.partition(allowed, axis=1)
    return -float(limits[0, allowed]), -float(limits[1, allowed])


def student(influences: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Degrees of freedom and standard error of estimates, for Student's t; arguments as in `bounds`.

    The standard error is the jackknife's, over units; the degrees of freedom are `effective_units` - 1, at least 1.
    """
    units = (shares > 0).sum(axis=0)
    deviations = influences / (1 - shares)
    freedom = np.maximum(shares.sum(axis=0) ** 2 / (shares**2).sum(axis=0) - 1, 1)
    return freedom, np.sqrt((deviations**2).sum(axis=0) * (units - 1) / units)


def mean_interval(values: Floats, units: Units, least: float = -math.inf, most: float = math.inf) -> Bounds:
    """95 % interval of the mean of values, shape (rows,), clustered by unit; NaN is ignored.

    The interval is clipped to the range of the values, `least` to `most`.
    """
    present = np.isfinite(values)
    _, kept = np.unique(units[present], return_inverse=True)
    sizes, sums = unit_sizes(kept), by_unit(values[present], kept)
    if len(sizes) < FEWEST:
        return None, None
    shares, mean = sizes / sizes.sum(), sums.sum() / sizes.sum()
    low, high = bounds((sums / sizes.sum() - shares * mean)[:, None], shares[:, None])
    return max(float(mean - low[0]), least), min(float(mean + high[0]), most)


def rate_interval(hits: NDArray[np.bool_] | Floats, units: Units) -> Bounds:
    """95 % interval of the share of hits among rows, shape (rows,), clustered by unit; see `rate_intervals`.

    A row that represents several trials may be a fraction of a hit.
    """
    return rate_intervals(by_unit(hits.astype(np.float64), units)[:, None], unit_sizes(units)[:, None])[0]


def rate_intervals(hits: Floats, trials: Floats) -> list[Bounds]:
    """95 % intervals of rates, each the share of trials that are hits.

    Parameters
    ----------
    hits, trials
        Numbers by unit, shape (units, rates). A unit without trials does not count.

    Returns
    -------
    The bounds of each rate, as in `rate_bounds`; None with fewer than `FEWEST` units.
    """
    intervals: list[Bounds] = [(None, None)] * trials.shape[1]
    rates_by_units: dict[bytes, list[int]] = {}
    for rate, present in enumerate((trials > 0).T):
        rates_by_units.setdefault(present.tobytes(), []).append(rate)
    for pattern, rates in rates_by_units.items():  # separately: an interval depends only on the units of its rate
        present = np.frombuffer(pattern, dtype=bool)
        units = int(present.sum())
        if units < FEWEST:
            continue
        part_hits, part_trials = hits[present][:, rates], trials[present][:, rates]
        totals = part_trials.sum(axis=0)
        values, shares = part_hits.sum(axis=0) / totals, part_trials / totals
        low, high = bounds(part_hits / totals - shares * values, shares)
        for rate, value, total, below, above in zip(rates, values, totals, low, high, strict=True):
            intervals[rate] = rate_bounds(float(value), float(total), units, float(below), float(above))
    return intervals


def rate_bounds(rate: float, rows: float, units: int, below: float, above: float) -> tuple[float, float]:
    """95 % interval of a rate. `below` and `above` are the distances that `bounds` returns for the rate as a mean.

    Notes
    -----
    Each bound is the more distant one of two bounds: the bound of the mean, and Wilson's bound. Wilson's bound uses the
    sample size at which the normal bound would be as distant as the bound of the mean, but at most the number of rows.
    Wilson's bounds suit rare hits, the bounds of the mean suit units that differ in size: together they contain the
    true rate in at least 93 % of simulated corpora. If all rows are hits, or no row is a hit, the rows do not show
    their correlation, and every unit counts as one row. If every unit has one row, rows are independent, and the bounds
    are Wilson's.
    """
    if units >= rows:
        return wilson(rate * rows, rows)
    if rate in (0, 1):
        return wilson(rate * units, units)
    variance = Z**2 * rate * (1 - rate)
    sizes = (min(max(variance / max(end, 1e-9) ** 2, 1), rows) for end in (below, above))
    (low, _), (_, high) = (wilson(rate * size, size) for size in sizes)
    return min(low, max(rate - below, 0)), max(high, min(rate + above, 1))


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """Wilson score interval of a proportion of independent trials at 95 %, within [0, 1].

    `trials` is the sample size, or an effective sample size that need not be whole. It must not be 0.

    Notes
    -----
    Wilson 1927: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n), z = 1.959964.
    """
    p = successes / trials
    middle = p + Z * Z / (2 * trials)
    half = Z * math.sqrt(p * (1 - p) / trials + Z * Z / (4 * trials * trials))
    scale = 1 + Z * Z / trials
    low = (middle - half) / scale if successes else 0.0
    high = (middle + half) / scale if successes < trials else 1.0
    return low, high


@lru_cache(maxsize=4)
def resampling_weights(units: int) -> Floats:
    """Count of each unit in each bootstrap resample, shape (RESAMPLES, units), read-only.

    Deterministic: statistics of the same units in the same order get the same resamples, and are thus paired.
    """
    draws = np.random.default_rng(SEED).integers(0, units, size=(RESAMPLES, units))
    numbered = draws + units * np.arange(RESAMPLES)[:, None]
    weights = np.bincount(numbered.ravel(), minlength=RESAMPLES * units).reshape(RESAMPLES, units)
    weights_as_floats = weights.astype(np.float64)
    weights_as_floats.flags.writeable = False
    return weights_as_floats


def sample_and_resamples(units: int) -> Floats:
    """Weights of the sample (each unit once), followed by its resamples; shape (1 + RESAMPLES, units)."""
    return np.vstack([np.ones((1, units)), resampling_weights(units)])


def bounded(values: Floats, units: float) -> tuple[float | None, float | None, float | None]:
    """Value, lower bound and upper bound of a statistic, from its values in the sample (first) and in the resamples.

    `units` is the number of units that were resampled or, if the units differ in size, their effective number. All
    three results are None if the value in the sample is NaN; the bounds are None with fewer than `FEWEST` units.
    """
    if np.isnan(values[0]):
        return None, None, None
    return float(values[0]), *percentile_interval(values[1:], units)


def percentile_interval(values: Floats, units: float) -> Bounds:
    """95 % percentile interval of resampled values, shape (resamples,); NaN is ignored. `units` as in `bounded`.

    Notes
    -----
    Expanded percentiles (Hesterberg 2015, section 3.3): percentile intervals of a small sample are too narrow, like a
    normal interval without n / (n - 1) and without Student's t. So the percentiles are at the level
    Φ(-t √(n / (n - 1))) for n units.
    """
    finite = values[np.isfinite(values)]
    if units < FEWEST or finite.size == 0:
        return None, None
    quantile = scipy.special.stdtrit(units - 1, (1 + LEVEL) / 2) * math.sqrt(units / (units - 1))
    tail = float(scipy.special.ndtr(-quantile))
    low, high = np.quantile(finite, [tail, 1 - tail])
    return float(low), float(high)
