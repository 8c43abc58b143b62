"""Confidence intervals: bootstrap over passages, Wilson for proportions. Not here: comparing systems (significance)."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
RESAMPLES = 1000
SEED = 20260101

SIGNATURE = f"95 % intervals: {RESAMPLES} bootstrap resamples of passages, percentiles, seed {SEED}; rates: Wilson"


@lru_cache(maxsize=4)
def resampling_weights(passages: int) -> NDArray[np.float64]:
    """Count of each passage in each bootstrap resample, shape (RESAMPLES, passages), read-only.

    Deterministic: systems with the same passages in the same order get the same resamples, so that their resampled
    scores are paired.
    """
    draws = np.random.default_rng(SEED).integers(0, passages, size=(RESAMPLES, passages))
    numbered = draws + passages * np.arange(RESAMPLES)[:, None]
    weights = np.bincount(numbered.ravel(), minlength=RESAMPLES * passages).reshape(RESAMPLES, passages)
    weights_as_floats = weights.astype(np.float64)
    weights_as_floats.flags.writeable = False
    return weights_as_floats


def sample_and_resamples(passages: int) -> NDArray[np.float64]:
    """Weights of the sample (each passage once), followed by its resamples; shape (1 + RESAMPLES, passages)."""
    return np.vstack([np.ones((1, passages)), resampling_weights(passages)])


def bounded(values: NDArray[np.float64]) -> tuple[float | None, float | None, float | None]:
    """Value and percentile interval of a statistic, from its values in the sample (first) and in the resamples.

    All three are None if the value in the sample is NaN.
    """
    if np.isnan(values[0]):
        return None, None, None
    return float(values[0]), *percentile_interval(values[1:])


def mean_interval(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Percentile interval of the mean of values, shape (passages,), resampled by weights, shape (resamples, passages).

    Passages with the value NaN are ignored.
    """
    present = np.isfinite(values)
    counts = weights[:, present].sum(axis=1)
    sums = weights[:, present] @ values[present]
    return percentile_interval(sums[counts > 0] / counts[counts > 0])


def percentile_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """95 % percentile interval of resampled values, shape (resamples,); NaN is ignored."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values[np.isfinite(values)], [tail, 1 - tail])
    return float(low), float(high)


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """Wilson score interval of a proportion at 95 %, within [0, 1].

    `trials` is the sample size, or an effective sample size that need not be whole; not 0.

    Notes
    -----
    Wilson 1927: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n), z = 1.959964.
    """
    z = 1.959963984540054
    p = successes / trials
    middle = p + z * z / (2 * trials)
    half = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = (middle - half) / scale if successes else 0.0
    high = (middle + half) / scale if successes < trials else 1.0
    return low, high
