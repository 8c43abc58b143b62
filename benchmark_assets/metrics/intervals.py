"""Confidence intervals from units: groups of passages, such as documents, whose scores are not independent.

Here: intervals and tests of means by a studentized statistic of units, corrected for skewness; score intervals of
rates; intervals of other statistics by a bootstrap of units. Not here: which passages form a unit (corpus.units),
comparisons of systems (significance).
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmark_assets.corpus.units import FEWEST

LEVEL = 0.95
RESAMPLES = 1000
SEED = 20260101
ROUNDING = 1e-12
"""Estimates and influences below this size count as 0."""

LEAST_P = 1e-300
SKEWED = 0.7
"""Factor of degrees of freedom, because scores may be skewed."""

PRIOR_UNITS, PRIOR_EFFECT = 2, 1.2
"""What is assumed of the design effect of a rate before any unit is seen: its value, and how many units it counts."""

Z = 1.959963984540054
"""Quantile of the normal distribution at 97.5 %."""

BOOTSTRAP = (
    f"{RESAMPLES} bootstrap resamples of units, seed {SEED}, percentiles widened for few units, none with fewer than "
    f"{FEWEST}"
)
SIGNATURE = (
    f"95 % intervals: means of units over their jackknife error, with Hall's correction of skewness, against Student's "
    f"t (none with fewer than {FEWEST} units); rates: Wilson's with the trials over a design effect that is shrunken "
    f"towards {PRIOR_EFFECT}; other statistics: {BOOTSTRAP}"
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


class Studentized(NamedTuple):
    """What the interval and the test of an estimate are made of, each of shape (estimates,); NaN with too few units.

    `error` is the jackknife's standard error over units, `skew` the skewness of the estimate, and `freedom` the degrees
    of freedom of the error.
    """

    error: Floats
    skew: Floats
    freedom: Floats


def studentized(influences: Floats, shares: Floats) -> Studentized:
    """Error, skewness and degrees of freedom of estimates.

    Parameters
    ----------
    influences
        As `influence` returns them, shape (units, estimates).
    shares
        Each unit's share of the passages, shape (units, estimates). A unit with the share 0 does not count.

    Notes
    -----
    Skewness is Σ influence³ / (Σ influence²)^1.5, the third cumulant of the estimate over the cube of its error.
    Influences below `ROUNDING` count as 0.
    """
    influences = np.where(np.abs(influences) < ROUNDING, 0.0, influences)
    units = (shares > 0).sum(axis=0)
    squares = (influences**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = ((influences / (1 - shares)) ** 2).sum(axis=0) * (units - 1) / units
        skew = np.where(squares > 0, (influences**3).sum(axis=0) / squares**1.5, 0.0)
    enough = units >= FEWEST
    return Studentized(*(np.where(enough, each, np.nan) for each in (np.sqrt(variance), skew, freedom(shares))))


def freedom(shares: Floats) -> Floats:
    """Degrees of freedom of errors of estimates, at least 1; from shape (units, estimates) to (estimates,).

    Notes
    -----
    `SKEWED` (e - 1), where e is the smaller one of two effective numbers of units (`effective_units`): that of the
    shares, each counted as at most 0.3, and 1 plus that of all shares but the largest, to the power of 1.75. The first
    one applies if a single unit is large, the second one if some units are. With n equal units, e is n. The constants
    were fitted to simulated normal and lognormal scores in 5 to 50 units of six distributions of sizes, with
    correlations of 0 to .3 within units.
    """
    shares = np.where(shares > 0, shares, 0.0)
    others = np.sort(shares, axis=0)[:-1] ** 1.75
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.minimum(_effective(np.minimum(shares, 0.3)), 1 + _effective(others))
    degrees: Floats = np.maximum(SKEWED * (effective - 1), 1)
    return degrees


def _effective(sizes: Floats) -> Floats:
    effective: Floats = sizes.sum(axis=0) ** 2 / (sizes**2).sum(axis=0)
    return effective


def bounds(influences: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Distances of the lower and upper bounds of 95 % intervals from the estimates.

    Arguments are as in `studentized`. Returns two arrays of shape (estimates,); NaN with fewer than `FEWEST` units.

    Notes
    -----
    An interval contains the values that `p_values` does not reject at 5 %: those whose studentized distance t from the
    estimate has |g(t)| <= q, where g is Hall's transformation and q the quantile of Student's t. g increases everywhere
    and has the inverse t = 3 (∛(1 + s (g - s / 6)) - 1) / s for the skewness s.
    """
    error, skew, degrees = studentized(influences, shares)
    quantile = scipy.special.stdtrit(degrees, (1 + LEVEL) / 2)
    curved = np.where(np.abs(skew) < 1e-6, 1e-6, skew)

    def inverse(transformed: Floats) -> Floats:
        t: Floats = 3 * (np.cbrt(1 + curved * (transformed - curved / 6)) - 1) / curved
        return np.where(np.abs(skew) < 1e-6, transformed, t)

    return error * inverse(quantile), -error * inverse(-quantile)


def p_values(estimates: Floats, influences: Floats, shares: Floats) -> Floats:
    """Two-sided p-values for the hypotheses that estimates are 0.

    `estimates` has the shape (estimates,); the others are as in `studentized`. Returns shape (estimates,), above 0 and
    at most 1; NaN with fewer than `FEWEST` units.

    Notes
    -----
    The estimate over its error, t, is transformed to g = t + s t² / 3 + s² t³ / 27 + s / 6, in which the skewness s of
    the estimate cancels to the second order (Hall 1992), and compared with Student's t. An estimate without deviations
    is 0, with p = 1, or not, with the smallest p.
    """
    error, skew, degrees = studentized(influences, shares)
    zero = np.abs(estimates) < ROUNDING
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(zero, 0.0, estimates / error)
        g = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
        p = 2 * scipy.special.stdtr(degrees, -np.abs(np.where(np.isinf(t), np.inf, g)))
    return np.where(zero & (error == 0), 1.0, np.maximum(p, LEAST_P))


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
    The bounds of each rate, never of width 0; None with fewer than `FEWEST` units.

    Notes
    -----
    Wilson's score interval with an effective number of trials, the number over the `design_effect`. Below 3 hits its
    lower bound is too high for rare rates: it is at most the exact bound of a Poisson count at 5 % (Brown, Cai and
    DasGupta 2001). The same applies to misses. Units of a single trial have Wilson's interval itself, as published
    rates have.
    """
    totals, units = trials.sum(axis=0), (trials > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates, shares = hits.sum(axis=0) / totals, trials / totals
    rarer = np.where(rates <= 0.5, (hits > 0).sum(axis=0), (hits < trials).sum(axis=0))
    variances = rates * (1 - rates) / totals
    effects, quantiles, _ = design_effect(
        hits / np.maximum(totals, 1) - shares * rates, shares, variances, rarer, trials
    )
    columns = zip(rates, totals, effects, quantiles, units, trials.max(axis=0, initial=0), strict=True)
    return [
        (None, None) if count < FEWEST
        else wilson(float(rate * total), float(total)) if most <= 1
        else _rate_bounds(float(rate), float(total / effect), float(quantile))
        for rate, total, effect, quantile, count, most in columns
    ]  # fmt: skip


def _rate_bounds(rate: float, trials: float, z: float) -> tuple[float, float]:
    hits, misses = rate * trials, (1 - rate) * trials
    low, high = wilson(hits, trials, z)
    if 0 < hits < 3:
        low = min(low, float(scipy.special.gammaincinv(hits, 1 - LEVEL)) / trials)
    if 0 < misses < 3:
        high = max(high, 1 - float(scipy.special.gammaincinv(misses, 1 - LEVEL)) / trials)
    return low, high


def design_effect(
    influences: Floats, shares: Floats, variances: Floats, informative: NDArray[np.int64], trials: Floats,
    skewed: float = 1,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Design effects of rates or of differences of rates, at least 1, with the quantiles and the degrees of freedom of
    Student's t that go with them; the latter are huge where t is normal.

    Parameters
    ----------
    influences, shares
        As in `studentized`.
    variances
        Variances of the estimates if all trials were independent, shape (estimates,).
    informative
        Numbers of units with an outcome of the rarer kind, shape (estimates,).
    trials
        Numbers by unit, shape (units, estimates).
    skewed
        `SKEWED` for differences, which are less skewed than scores: the degrees of freedom are without this factor.

    Notes
    -----
    The measured effect is the squared jackknife error over the variance of independent trials. It counts as many
    observations as there are informative units, and is averaged with `PRIOR_UNITS` observations of `PRIOR_EFFECT`. The
    variance of this mean determines the degrees of freedom: without an informative unit, the quantile is normal. If
    each unit has a single trial, trials are independent.
    """
    error, _, degrees = studentized(influences, shares)
    measured = np.divide(error**2, variances, out=np.zeros_like(error), where=variances > 0)
    observations = informative + PRIOR_UNITS
    effects = np.maximum((informative * measured + PRIOR_UNITS * PRIOR_EFFECT) / observations, 1)
    degrees = np.minimum(degrees / skewed * (observations / np.maximum(informative, 1e-3)) ** 2, 1e9)
    independent = trials.max(axis=0) <= 1
    degrees = np.where(independent & ~np.isnan(degrees), 1e9, degrees)
    return np.where(independent, 1.0, effects), scipy.special.stdtrit(degrees, (1 + LEVEL) / 2), degrees


def wilson(successes: float, trials: float, z: float = Z) -> tuple[float, float]:
    """Wilson score interval of a proportion of independent trials, by default at 95 %, within [0, 1].

    `trials` is the sample size, or an effective sample size that need not be whole. It must not be 0.

    Notes
    -----
    Wilson 1927: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    """
    p = successes / trials
    middle = p + z * z / (2 * trials)
    half = z * math.sqrt(max(p * (1 - p), 0) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = (middle - half) / scale if successes else 0.0
    high = (middle + half) / scale if p < 1 else 1.0
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
