"""Semantic scores of candidates against the references and their envelope.

Here: similarities, drift in both forms. Not here: the envelope itself (references.envelope), thresholds and rates
(metrics.summary), embedding.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.references.envelope import PRECISION

SCORE = ["sim_best", "closest_reference", "sim_centroid", "drift", "drift_euclidean", "cut"]
SMOOTHING = 0.01  # in the denominator of the cosine form, as PaliBench publishes it

_AT_ONCE = 1 << 19  # numbers in double precision: a block beyond the processor's cache is no faster, only larger


def cosine_drift(sim_centroid: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drift in PaliBench's form: (1 - cos(candidate, centroid)) / (spread + 0.01).

    Parameters
    ----------
    sim_centroid
        Cosine of candidate and centroid, shape (items,).
    spread
        Mean over references of 1 - cos(reference, centroid), shape (items,).

    Notes
    -----
    A drift of 1 is the mean distance of the references; above 2 PaliBench calls the output an outlier. Source: the
    published per-passage scores of PaliBench, which this form reproduces; section 3.5 gives it without the 0.01.
    """
    drift: NDArray[np.float64] = (1 - sim_centroid) / (spread + SMOOTHING)
    return drift


def euclidean_drift(distances: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drift in the form that From Outliers to Errors describes (section 3.3): distances, not normalized, no constant.

    Parameters
    ----------
    distances
        Euclidean distance of each candidate's unit vector from the mean of its references' vectors, shape (items,).
    spread
        Mean Euclidean distance of the references from their mean, shape (items,). Where it is 0, to the precision of
        float32 vectors, the references coincide and the drift is NaN.
    """
    apart = spread > PRECISION
    drift: NDArray[np.float64] = np.divide(distances, spread, out=np.full_like(distances, np.nan), where=apart)
    return drift


def semantic_scores(
    candidates: pl.DataFrame, references: pl.DataFrame, envelopes: pl.DataFrame, on: list[str], within: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score candidates against the references and the envelope of their item.

    Parameters
    ----------
    candidates
        Columns `on` (each combination once), `vector` (array of float32, unit length) and `cut`.
    references
        Columns `within`, `translator`, `vector`: complete references.
    envelopes
        Columns `within`, `centroid`, `human_spread`, `euclidean_spread`; null where there is no envelope.
    on, within
        Columns that name a candidate, and the subset of them that names the item that references belong to.

    Returns
    -------
    scores
        Columns `on` and `SCORE`, one row a candidate, null without references or without envelope.
    similarities
        Columns `on`, `translator`, `similarity`: cosine of each candidate and each reference of its item.

    Notes
    -----
    Only row numbers are joined; the vectors stay where they are, and are multiplied a block of pairs at a time.
    """
    named = candidates.select(*on, candidate=pl.int_range(pl.len()))  # may have a translator of its own
    vectors = _matrix(candidates["vector"])

    numbered = references.select(*within, "translator", reference=pl.int_range(pl.len()))
    pairs = named.join(numbered, on=within, maintain_order="left_right")
    cosines = _inner_products(vectors, _matrix(references["vector"]), pairs["candidate"], pairs["reference"])
    similarities = pairs.select(*on, "translator", similarity=pl.Series(cosines, dtype=pl.Float64))
    best = similarities.group_by(on).agg(
        pl.col("similarity").max().alias("sim_best"),
        pl.col("translator")
        .sort_by("similarity", "translator", descending=[True, False])
        .first()
        .alias("closest_reference"),
    )

    enveloped = envelopes.drop_nulls("centroid")
    centroids = _matrix(enveloped["centroid"])
    places = enveloped.select(*within, "human_spread", "euclidean_spread", centroid=pl.int_range(pl.len()))
    placed = named.join(places, on=within, maintain_order="left")
    lengths = np.sqrt(np.einsum("ij,ij->i", centroids, centroids, dtype=np.float64))
    products = _inner_products(vectors, centroids, placed["candidate"], placed["centroid"])
    sim_centroid = products / lengths[placed["centroid"].to_numpy()]
    distances = _distances(vectors, centroids, placed["candidate"], placed["centroid"])
    drift = cosine_drift(sim_centroid, placed["human_spread"].to_numpy())
    euclidean = euclidean_drift(distances, placed["euclidean_spread"].to_numpy())
    drifts = placed.select(
        *on,
        sim_centroid=pl.Series(sim_centroid, dtype=pl.Float64),
        drift=pl.Series(drift, dtype=pl.Float64),
        drift_euclidean=pl.Series(euclidean, dtype=pl.Float64).fill_nan(None),
    )
    scores = candidates.select(*on, "cut").join(best, on=on, how="left", maintain_order="left")
    return scores.join(drifts, on=on, how="left", maintain_order="left").select(*on, *SCORE), similarities


def _inner_products(
    ones: NDArray[np.float32], others: NDArray[np.float32], one: pl.Series, other: pl.Series
) -> NDArray[np.float64]:
    products = np.empty(len(one))
    for block, left, right in _pairs(ones, others, one, other):
        products[block] = np.einsum("ij,ij->i", left, right)
    return products


def _distances(
    ones: NDArray[np.float32], others: NDArray[np.float32], one: pl.Series, other: pl.Series
) -> NDArray[np.float64]:
    distances = np.empty(len(one))
    for block, left, right in _pairs(ones, others, one, other):
        distances[block] = np.linalg.norm(left - right, axis=1)
    return distances


def _pairs(
    ones: NDArray[np.float32], others: NDArray[np.float32], one: pl.Series, other: pl.Series
) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.float64]]]:
    """Pairs of vectors, given by their row numbers, block by block and in double precision."""
    rows = max(1, _AT_ONCE // ones.shape[1])
    for start in range(0, len(one), rows):
        block = slice(start, start + rows)
        yield block, ones[one[block].to_numpy()].astype(np.float64), others[other[block].to_numpy()].astype(np.float64)


def _matrix(vectors: pl.Series) -> NDArray[np.float32]:
    """Vectors as rows; contiguous vectors are not copied."""
    if vectors.is_empty():
        return np.empty((0, 1), np.float32)
    if isinstance(vectors.dtype, pl.List):
        vectors = vectors.list.to_array(len(vectors[0]))
    return vectors.to_numpy()
