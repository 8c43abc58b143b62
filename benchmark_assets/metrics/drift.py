"""Semantic scores of candidates against the references and their envelope.

Here: similarities, drift in both forms. Not here: the envelope itself (references.envelope), thresholds and rates
(metrics.summary), embedding.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.references.envelope import PRECISION

SCORE = ["sim_best", "closest_reference", "sim_centroid", "drift", "drift_euclidean", "cut"]
SMOOTHING = 0.01  # in the denominator of the cosine form, as PaliBench publishes it


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
    1 is the distance at which the references lie on average; above 2 PaliBench calls the output an outlier. Source:
    the published per-passage scores of PaliBench, which this form reproduces; section 3.5 has it without the 0.01.
    """
    drift: NDArray[np.float64] = (1 - sim_centroid) / (spread + SMOOTHING)
    return drift


def euclidean_drift(
    candidates: NDArray[np.float64], means: NDArray[np.float64], spread: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Drift in the form that From Outliers to Errors describes (section 3.3): distances, not normalized, no constant.

    Parameters
    ----------
    candidates, means
        Unit vectors of the candidates and means of the vectors of their references, shape (items, dimensions).
    spread
        Mean Euclidean distance of the references to their mean, shape (items,). Where it is 0, to the precision of
        float32 vectors, the references coincide and the drift is NaN.
    """
    distances = np.linalg.norm(candidates - means, axis=1)
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
        Columns that name a candidate, and those among them that name the item to which references belong.

    Returns
    -------
    scores
        Columns `on` and `SCORE`, one row a candidate, null without references or without envelope.
    similarities
        Columns `on`, `translator`, `similarity`: cosine of each candidate and each reference of its item.
    """
    candidates = candidates.select(*on, "vector", "cut")  # a candidate may have a translator of its own
    pairs = candidates.join(references, on=within, suffix="_reference", maintain_order="left")
    cosines = np.einsum("ij,ij->i", _matrix(pairs["vector"]), _matrix(pairs["vector_reference"]))
    similarities = pairs.select(*on, "translator").with_columns(similarity=pl.Series(cosines, dtype=pl.Float64))
    best = similarities.group_by(on, maintain_order=True).agg(
        pl.col("similarity").max().alias("sim_best"),
        pl.col("translator")
        .sort_by("similarity", "translator", descending=[True, False])
        .first()
        .alias("closest_reference"),
    )
    placed = candidates.join(envelopes.drop_nulls("centroid"), on=within, maintain_order="left")
    vectors, means = _matrix(placed["vector"]), _matrix(placed["centroid"])
    unit = means / np.linalg.norm(means, axis=1, keepdims=True)
    sim_centroid = np.einsum("ij,ij->i", vectors, unit)
    drifts = placed.select(on).with_columns(
        pl.Series("sim_centroid", sim_centroid, dtype=pl.Float64),
        pl.Series("drift", cosine_drift(sim_centroid, placed["human_spread"].to_numpy()), dtype=pl.Float64),
        pl.Series(
            "drift_euclidean", euclidean_drift(vectors, means, placed["euclidean_spread"].to_numpy()), dtype=pl.Float64
        ).fill_nan(None),
    )
    scores = candidates.select(*on, "cut").join(best, on=on, how="left", maintain_order="left")
    return scores.join(drifts, on=on, how="left", maintain_order="left").select(*on, *SCORE), similarities


def _matrix(vectors: pl.Series) -> NDArray[np.float64]:
    width = vectors.list.len().max() if isinstance(vectors.dtype, pl.List) else vectors.dtype.shape[0]  # type: ignore[attr-defined]
    if vectors.is_empty():
        return np.empty((0, 1))
    return vectors.cast(pl.Array(pl.Float64, int(width))).to_numpy()  # type: ignore[arg-type]
