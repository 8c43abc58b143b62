"""Semantic scores of candidates against the references and their envelope: similarity, and drift in three forms.

Not here: the envelope itself (references.envelope), thresholds and rates (metrics.summary), embedding.
"""

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.references.envelope import PRECISION

SCORE = ["sim_best", "closest_reference", "sim_centroid", "drift", "drift_adjusted", "drift_euclidean", "cut"]
SMOOTHING = 0.01  # added to the denominator of the cosine form, as in the published scores of PaliBench

_AT_ONCE = 1 << 19  # double-precision numbers per block: blocks larger than the processor's cache are no faster


def cosine_drift(sim_centroid: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drift in PaliBench's form: (1 - cos(candidate, centroid)) / (spread + 0.01).

    Parameters
    ----------
    sim_centroid
        Cosine of candidate and centroid, shape (items,).
    spread
        Mean over references of 1 - cos(reference, centroid), shape (items,).

    Returns
    -------
    Shape (items,), 0 or more.

    Notes
    -----
    At a drift of 1, a candidate is about as far from the centroid as the references are on average; PaliBench calls an
    output with a drift above 2 an outlier. This form reproduces PaliBench's published scores of passages; section 3.5
    omits the 0.01.
    """
    drift: NDArray[np.float64] = (1 - sim_centroid) / (spread + SMOOTHING)
    return drift


def adjusted_drift(similarity: NDArray[np.float64], agreement: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drift that does not depend on the number of references.

    It is the candidate's distance from the references, divided by the distance of the references from each other.

    Parameters
    ----------
    similarity
        Mean cosine of the candidate and the references, shape (items,).
    agreement
        Mean cosine of all pairs of the references, shape (items,).

    Returns
    -------
    (1 - similarity + 0.02) / (1 - agreement + 0.02), shape (items,), in (0, 101]. Near 1 for a candidate that is as far
    from the references as they are from each other.

    Notes
    -----
    References are part of their own centroid, and therefore closer to it than a new translation of the same kind. Let δ
    be the expected distance 1 - cos of two exchangeable translations. With k references, the spread is about
    δ (k - 1) / 2k, the distance of a new translation from the centroid about δ (k + 1) / 2k, and `cosine_drift` about
    (k + 1) / (k - 1). The two mean distances used here have the expectation δ for every k, without approximation
    (U-statistics, Hoeffding 1948). With m = 1 - spread, these distances are 1 - m sim_centroid and
    k (1 - m²) / (k - 1). The candidates of an item are therefore in the same order as with `cosine_drift`.

    A factor (k - 1) / (k + 1) on `cosine_drift` would be right for exchangeable translations only. Here, a candidate
    that is d times as far from the true center as translations are on average has a drift of about (1 + d) / 2 for any
    k.

    The smoothing term is twice that of `cosine_drift`, because the mean distance between many references is twice their
    spread. It is added to numerator and denominator: in the denominator alone, it would lower the drift if references
    agree. The remaining bias is the bias of a ratio: it is about the squared coefficient of variation of the distance
    between the references (docs/measurements.md).
    """
    drift: NDArray[np.float64] = (1 - similarity + 2 * SMOOTHING) / (1 - agreement + 2 * SMOOTHING)
    return drift


def euclidean_drift(distances: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drift as a ratio of Euclidean distances, as described in "From Outliers to Errors", section 3.3.

    Parameters
    ----------
    distances
        Euclidean distance of each candidate's unit vector from the mean of its references' vectors, shape (items,).
    spread
        Mean Euclidean distance of the references from their mean, shape (items,).

    Returns
    -------
    Shape (items,); NaN where the references coincide, that is, where the spread is 0 to float32 precision.
    """
    apart = spread > PRECISION
    drift: NDArray[np.float64] = np.divide(distances, spread, out=np.full_like(distances, np.nan), where=apart)
    return drift


def worst_drift(envelopes: pl.DataFrame) -> pl.DataFrame:
    """Drift, in all forms, of an output whose similarity to each reference is 0.

    Parameters
    ----------
    envelopes
        Columns `human_spread`, `euclidean_spread` and `mean_similarity`; null without an envelope.

    Returns
    -------
    Columns `drift`, `drift_adjusted` and `drift_euclidean`. The mean of the references has the length 1 - spread. The
    distance of this mean from an orthogonal unit vector is therefore √(1 + (1 - spread)²).
    """
    columns = ("human_spread", "euclidean_spread", "mean_similarity")
    spread, euclidean_spread, agreement = (envelopes[name].cast(pl.Float64).to_numpy() for name in columns)
    nothing = np.zeros(len(envelopes))
    forms = {
        "drift": cosine_drift(nothing, spread),
        "drift_adjusted": adjusted_drift(nothing, agreement),
        "drift_euclidean": euclidean_drift(np.sqrt(1 + (1 - spread) ** 2), euclidean_spread),
    }
    return pl.DataFrame({name: pl.Series(values, dtype=pl.Float64).fill_nan(None) for name, values in forms.items()})


def semantic_scores(
    candidates: pl.DataFrame, references: pl.DataFrame, envelopes: pl.DataFrame, on: list[str], within: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score candidates against the references and the envelope of their item.

    Parameters
    ----------
    candidates
        Columns `on` (no two rows have the same values), `vector` (array of float32, unit length) and `cut`.
    references
        Columns `within`, `translator`, `vector`: complete references.
    envelopes
        Columns `within`, `centroid`, `human_spread`, `euclidean_spread`, `mean_similarity`; null for an item without an
        envelope.
    on, within
        Columns that identify a candidate, and the subset of these columns that identifies its item.

    Returns
    -------
    scores
        Columns `on` and `SCORE`, one row per candidate; null for items without references or without an envelope.
    similarities
        Columns `on`, `translator`, `similarity`: cosine of each candidate with each reference of its item.

    Notes
    -----
    Joins use row numbers, so that vectors are not copied per pair; products are computed in blocks of pairs.
    """
    named = candidates.select(*on, candidate=pl.int_range(pl.len()))
    vectors = _matrix(candidates["vector"])

    numbered = references.select(*within, "translator", reference=pl.int_range(pl.len()))
    pairs = named.join(numbered, on=within, maintain_order="left_right")
    cosines = _over_pairs(
        _inner_products, vectors, _matrix(references["vector"]), pairs["candidate"], pairs["reference"]
    )
    similarities = pairs.select(*on, "translator", similarity=pl.Series(cosines, dtype=pl.Float64))
    best = similarities.group_by(on).agg(
        pl.col("similarity").max().alias("sim_best"),
        pl.col("similarity").mean().alias("sim_mean"),
        pl.col("translator")
        .sort_by("similarity", "translator", descending=[True, False])
        .first()
        .alias("closest_reference"),
    )

    enveloped = envelopes.drop_nulls("centroid")
    centroids = _matrix(enveloped["centroid"])
    numbered_envelopes = enveloped.select(
        *within, "human_spread", "euclidean_spread", "mean_similarity", centroid=pl.int_range(pl.len())
    )
    placed = named.join(numbered_envelopes, on=within, maintain_order="left")
    placed = placed.join(best.select(*on, "sim_mean"), on=on, how="left", maintain_order="left")
    lengths = np.sqrt(np.einsum("ij,ij->i", centroids, centroids, dtype=np.float64))
    products = _over_pairs(_inner_products, vectors, centroids, placed["candidate"], placed["centroid"])
    sim_centroid = products / lengths[placed["centroid"].to_numpy()]
    distances = _over_pairs(_distances, vectors, centroids, placed["candidate"], placed["centroid"])
    drift = cosine_drift(sim_centroid, placed["human_spread"].to_numpy())
    adjusted = adjusted_drift(placed["sim_mean"].to_numpy(), placed["mean_similarity"].to_numpy())
    euclidean = euclidean_drift(distances, placed["euclidean_spread"].to_numpy())
    drifts = placed.select(
        *on,
        sim_centroid=pl.Series(sim_centroid, dtype=pl.Float64),
        drift=pl.Series(drift, dtype=pl.Float64),
        drift_adjusted=pl.Series(adjusted, dtype=pl.Float64),
        drift_euclidean=pl.Series(euclidean, dtype=pl.Float64).fill_nan(None),
    )
    scores = candidates.select(*on, "cut").join(best, on=on, how="left", maintain_order="left")
    return scores.join(drifts, on=on, how="left", maintain_order="left").select(*on, *SCORE), similarities


def _inner_products(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    products: NDArray[np.float64] = np.einsum("ij,ij->i", left, right)
    return products


def _distances(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    distances: NDArray[np.float64] = np.linalg.norm(left - right, axis=1)
    return distances


def _over_pairs(
    measure: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    vectors: NDArray[np.float32], others: NDArray[np.float32], rows: pl.Series, other_rows: pl.Series,
) -> NDArray[np.float64]:  # fmt: skip
    """Apply a measure to pairs of vectors, given by their row numbers, in blocks and in double precision."""
    values = np.empty(len(rows))
    size = max(1, _AT_ONCE // vectors.shape[1])
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        left, right = vectors[rows[block].to_numpy()], others[other_rows[block].to_numpy()]
        values[block] = measure(left.astype(np.float64), right.astype(np.float64))
    return values


def _matrix(vectors: pl.Series) -> NDArray[np.float32]:
    """Vectors as rows, shape (vectors, dimensions); not copied if they are contiguous."""
    if vectors.is_empty():
        return np.empty((0, 1), np.float32)
    if isinstance(vectors.dtype, pl.List):
        vectors = vectors.list.to_array(len(vectors[0]))
    return vectors.to_numpy()
