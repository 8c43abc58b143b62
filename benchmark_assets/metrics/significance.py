"""Significance of differences between systems: paired bootstrap, approximate randomization, Holm's method, clusters.

Tests use the passages that both systems have. Not here: intervals of a single system (intervals), the list of measures
(measures), tables.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import RESAMPLES, SEED, percentile_interval, resampling_weights
from benchmark_assets.metrics.measures import Floats, summed

TRIALS = 10_000
LEVEL = 0.05

SIGNATURE = (
    f"differences: paired bootstrap, {RESAMPLES} resamples of the passages that both systems have, percentiles, seed "
    f"{SEED}; p_bootstrap: two-sided, resampled differences centred on their mean; p_randomization: approximate "
    f"randomization, two-sided, {TRIALS} trials (all exchanges where they are fewer), seed {SEED}; p = (hits + 1) / "
    f"(trials + 1); p_holm: p_randomization by Holm over the pairs of the same kinds of a corpus and measure"
)

DIFFERENCES = pl.Schema({
    "first": pl.Int64(), "second": pl.Int64(), "passages": pl.Int32(),
    "difference": pl.Float64(), "difference_low": pl.Float64(), "difference_high": pl.Float64(),
    "p_bootstrap": pl.Float64(), "p_randomization": pl.Float64(),
})  # fmt: skip


def differences(statistics: Floats, scores: Callable[[Floats], Floats]) -> pl.DataFrame:
    """Compare each pair of systems on the passages that both have.

    Parameters
    ----------
    statistics
        Shape (systems, passages, statistics), as in `measures.Panel`.
    scores
        Maps sums of statistics, shape (..., statistics), to scores, shape (...), as `Measure.of` does.

    Returns
    -------
    Columns of `DIFFERENCES`, one row per pair with a common passage; `first` and `second` are indices of systems.
    `difference` is the first system's score minus the second's.

    Notes
    -----
    The bootstrap test is sacrebleu's (Riezler and Maxwell 2005): p is the share of resamples whose difference deviates
    from the mean of all resamples by at least the observed difference. Approximate randomization (Noreen 1989)
    exchanges the outputs of the two systems in random passages: p is the share of trials with a difference of at least
    the observed size. For n passages there are 2**n - 1 exchanges besides the observed assignment; if these are at most
    `TRIALS`, each is tried once, and the test is exact. Both shares include the observed difference as one more trial,
    so that p is never 0. Ties count as hits, so equal systems have p = 1.
    """
    present = statistics[:, :, 0] > 0
    pairs_by_passages: dict[bytes, list[tuple[int, int]]] = {}
    for first, second in combinations(range(len(statistics)), 2):
        pairs_by_passages.setdefault((present[first] & present[second]).tobytes(), []).append((first, second))
    rows: list[tuple[object, ...]] = []
    for pattern, pairs in pairs_by_passages.items():
        common = np.frombuffer(pattern, dtype=bool)
        if not common.any():
            continue
        passages = int(common.sum())
        systems = sorted({system for pair in pairs for system in pair})
        place = {system: at for at, system in enumerate(systems)}
        shared = statistics[systems][:, common]
        resampled = scores(summed(shared, resampling_weights(passages)))
        totals, kept = shared.sum(axis=1), _kept(shared)
        observed_scores = scores(totals)
        for first, second in pairs:
            a, b = place[first], place[second]
            observed = float(observed_scores[a] - observed_scores[b])
            spread = resampled[:, a] - resampled[:, b]
            mixed = kept[:, a] + totals[b] - kept[:, b]
            exchanged = scores(mixed) - scores(totals[a] + totals[b] - mixed)
            rows.append((
                first, second, passages, observed, *percentile_interval(spread),
                _p(spread - spread.mean(), observed), _p(exchanged, observed),
            ))  # fmt: skip
    return pl.DataFrame(rows, schema=DIFFERENCES, orient="row").sort("first", "second")


@lru_cache(maxsize=2)
def exchanges(passages: int) -> NDArray[np.uint8]:
    """Whether two systems keep (1) or exchange (0) their outputs of each passage, shape (trials, passages).

    The trials are all patterns except the one that exchanges nothing or, if these are more than `TRIALS`, that many
    random patterns.
    """
    if 2**passages - 1 <= TRIALS:
        patterns = np.arange(2**passages - 1)
        return (patterns[:, None] >> np.arange(passages) & 1).astype(np.uint8)
    drawn = np.random.default_rng(SEED).integers(0, 256, size=(TRIALS, (passages + 7) // 8), dtype=np.uint8)
    return np.unpackbits(drawn, axis=1, count=passages)


def holm(p: Floats) -> Floats:
    """P-values corrected for multiple tests, shape (tests,) to (tests,).

    Notes
    -----
    Holm 1979: the smallest of n p-values is multiplied by n, the next one by n - 1, and so on; a corrected value is at
    least the previous one and at most 1.
    """
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return corrected


def clusters(ahead: NDArray[np.bool_]) -> list[int]:
    """Group ranked systems into clusters, as in WMT's findings.

    Parameters
    ----------
    ahead
        Whether the row's system is significantly better than the column's, shape (systems, systems), best system first.

    Returns
    -------
    The number of each system's cluster, from 1. By WMT's rule since 2017, a cluster ends after a system if
    this system and all systems above it are significantly better than all systems below it. Two systems in a cluster
    may differ significantly if systems ranked between them do not.
    """
    starts = [at > 0 and bool(ahead[:at, at:].all()) for at in range(len(ahead))]
    return [1 + sum(starts[: at + 1]) for at in range(len(starts))]


def _kept(statistics: Floats) -> Floats:
    """Sums of statistics over the outputs that each system keeps in a trial, shape (trials, systems, statistics)."""
    patterns = exchanges(statistics.shape[1])
    blocks = range(0, len(patterns), 1000)  # floats need eight times the memory of the patterns
    return np.concatenate([summed(statistics, patterns[at : at + 1000].astype(np.float64)) for at in blocks])


def _p(differences: Floats, observed: float) -> float:
    """Two-sided p-value; differences that are equal up to rounding count as ties."""
    hits = np.abs(differences) >= abs(observed) * (1 - 1e-9) - 1e-12
    return float((hits.sum() + 1) / (len(differences) + 1))
