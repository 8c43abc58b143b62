"""Significance of differences between systems: a sign test on units, Holm's correction, and clusters of systems.

Tests use the passages that both systems have. Not here: intervals of a single system (intervals), the list of measures
(measures), tables.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

import numpy as np
import polars as pl
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.metrics.intervals import (
    Floats,
    Units,
    bounds,
    by_unit,
    influence,
    signed_sums,
    student,
    unit_sizes,
)

LEVEL = 0.05

SIGNATURE = (
    f"differences: on the passages that both systems have; p: two-sided sign test of the units' influences on the "
    f"difference (t with {FEWEST} units, none with fewer); p_holm: p by Holm over the pairs of the same kinds that "
    f"include a system, the larger value of the two systems"
)

DIFFERENCES = pl.Schema({
    "first": pl.Int64(), "second": pl.Int64(), "passages": pl.Int32(), "units": pl.Int32(),
    "difference": pl.Float64(), "difference_low": pl.Float64(), "difference_high": pl.Float64(), "p": pl.Float64(),
})  # fmt: skip


def differences(
    statistics: Floats,
    units: Units,
    scores: Callable[[Floats], Floats],
    compared: Iterable[tuple[int, int]] | None = None,
) -> pl.DataFrame:
    """Compare pairs of systems on the passages that both have.

    Parameters
    ----------
    statistics
        Shape (systems, passages, statistics), as in `measures.Panel`.
    units
        Index of each passage's unit, shape (passages,).
    scores
        Maps sums of statistics, shape (..., statistics), to scores, shape (...), as `Measure.of` does.
    compared
        Indices of the systems of each pair, the smaller one first; by default, of all pairs.

    Returns
    -------
    Columns of `DIFFERENCES`, one row per pair with a common passage; `first` and `second` are indices of systems.
    `difference` is the first system's score minus the second's. The interval and `p` are null with too few units.

    Notes
    -----
    A unit's influence on a difference is the difference of its influences on the scores. The interval contains the
    values that the sign test does not reject at 5 %, so that it excludes 0 if and only if `p` is at most 0.05. For
    measures that are means, exchanging signs means exchanging the outputs of the two systems in whole units
    (approximate randomization, Noreen 1989).
    """
    present = statistics[:, :, 0] > 0
    pairs_by_passages: dict[bytes, list[tuple[int, int]]] = {}
    every = combinations(range(len(statistics)), 2)
    for first, second in every if compared is None else compared:
        pairs_by_passages.setdefault((present[first] & present[second]).tobytes(), []).append((first, second))
    parts = [pl.DataFrame(schema=DIFFERENCES)]
    for pattern, pairs in pairs_by_passages.items():
        common = np.frombuffer(pattern, dtype=bool)
        if not common.any():
            continue
        _, common_units = np.unique(units[common], return_inverse=True)
        sums = by_unit(statistics[:, common].transpose(1, 0, 2), common_units)
        totals, sizes = sums.sum(axis=0), unit_sizes(common_units)
        shares = (sizes / sizes.sum())[:, None]
        influences = influence(scores(totals), scores(totals - sums), shares)
        one, other = np.array(pairs).T
        difference = scores(totals)[one] - scores(totals)[other]
        parts.append(pl.DataFrame({
            "first": one, "second": other, "passages": int(common.sum()), "units": len(sizes), "difference": difference,
            **tested(difference, influences[:, one] - influences[:, other], shares),
        }, schema_overrides=DIFFERENCES))  # fmt: skip
    return pl.concat(parts).sort("first", "second")


def tested(difference: Floats, influences: Floats, shares: Floats) -> Mapping[str, pl.Series]:
    """Columns `difference_low`, `difference_high` and `p` of differences; null with too few units.

    Arguments as in `sign_test`; `shares` may have the shape (units, 1).
    """
    shares = np.broadcast_to(shares, influences.shape)
    low, high = bounds(influences, shares)
    numbers = {
        "difference_low": difference - low, "difference_high": difference + high,
        "p": sign_test(difference, influences, shares),
    }  # fmt: skip
    return {name: pl.Series(name, values, dtype=pl.Float64).fill_nan(None) for name, values in numbers.items()}


def sign_test(differences: Floats, influences: Floats, shares: Floats) -> Floats:
    """Two-sided p-values of differences, for the hypothesis that they are 0.

    Parameters
    ----------
    differences
        Shape (pairs,).
    influences, shares
        As in `intervals.bounds`, with a column for each pair.

    Returns
    -------
    Shape (pairs,), in (0, 1]; NaN with fewer than `FEWEST` units. With n units, p is at least 2^(1-n).

    Notes
    -----
    p is the share of all patterns of signs, the observed pattern included, whose sum is at least as far from 0 as the
    difference. Sums that are equal up to rounding count as ties, so that equal systems have p = 1.
    """
    counts = (shares > 0).sum(axis=0)
    few, many = counts == FEWEST, counts > FEWEST
    p = np.full(len(differences), np.nan)
    if few.any():
        freedom, error = student(influences[:, few], shares[:, few])
        size = np.abs(differences[few])
        t = np.divide(size, error, out=np.where(size > 0, np.inf, 0.0), where=error > 0)
        p[few] = 2 * scipy.special.stdtr(freedom, -t)
    if many.any():
        sums = signed_sums(influences[:, many] + shares[:, many] * differences[many])
        p[many] = (np.abs(sums) >= np.abs(differences[many]) * (1 - 1e-9) - 1e-12).mean(axis=0)
    return p


def holm_by_system(pairs: Iterable[tuple[str, str]], p: Floats) -> Floats:
    """P-values of pairs of systems, shape (pairs,), corrected for all pairs that include one of the two systems.

    Notes
    -----
    Holm's method is applied to the pairs of each system. A pair thus gets two corrected values and keeps the larger
    one. The factor of a p-value does not count pairs with smaller p-values. A system that is clearly better or worse
    than two other systems therefore does not affect the comparison of the two. It would if Holm's method were
    applied to all pairs at once.
    NaN stays NaN.
    """
    pairs = list(pairs)
    corrected = np.zeros_like(p)
    for system in {name for pair in pairs for name in pair}:
        rows = np.array([at for at, pair in enumerate(pairs) if system in pair], dtype=np.int64)
        corrected[rows] = np.maximum(corrected[rows], holm(p[rows]))
    return corrected


def holm(p: Floats) -> Floats:
    """P-values corrected for multiple tests, shape (tests,) to (tests,). NaN does not count as a test, and stays NaN.

    Notes
    -----
    Holm 1979: the smallest of n p-values is multiplied by n, the next one by n - 1, and so on; a corrected value is at
    least the previous one and at most 1.
    """
    tests = np.flatnonzero(~np.isnan(p))
    order = tests[np.argsort(p[tests], kind="stable")]
    corrected = np.full_like(p, np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
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


def rank_sets(ahead: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and the last rank that each system may have (Mogstad, Romano, Shaikh and Wilhelm 2024).

    The first rank is 1 plus the number of significantly better systems. The last rank is the number of systems minus
    the number of significantly worse systems. `ahead` is as in `clusters`, but with the systems in any order. All ranks
    of a cluster are better than all ranks of the next cluster.
    """
    better, worse = ahead.sum(axis=0), ahead.sum(axis=1)
    return [(1 + int(above), len(ahead) - int(below)) for above, below in zip(better, worse, strict=True)]


def significant() -> pl.Expr:
    """Kind of a difference in a chart: whether its corrected p-value (`p_holm`) is significant."""
    words = pl.lit(f"p < {LEVEL:g}, corrected"), pl.lit("not significant")
    return pl.when(pl.col("p_holm") <= LEVEL).then(words[0]).otherwise(words[1])
