"""The local reference envelope: the centroid and spread of several translations of a passage.

Here: geometry of reference embeddings. Not here: embedding (resources.embedders), scoring candidates against the
envelope (metrics.drift), storage.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PRECISION = 1e-6
"""Length below which a mean or a difference of float32 unit vectors is only rounding error and batch noise."""


class Envelope(NamedTuple):
    """The envelopes of passages. The leading axes (...) are all axes of the array of references except the last two.

    Attributes
    ----------
    centroid
        Mean of the unit reference vectors, shape (..., dimensions), not normalized; its length m is in (0, 1].
    spread
        Mean over references of 1 - cos(reference, centroid), shape (...), in [0, 1). Equal to 1 - m.
    euclidean_spread
        Mean Euclidean distance of the references to their mean, shape (...), in [0, 1).
    similarities
        Cosine similarities of all pairs of references, shape (..., references, references), in [-1, 1].
    """

    centroid: NDArray[np.float64]
    spread: NDArray[np.float64]
    euclidean_spread: NDArray[np.float64]
    similarities: NDArray[np.float64]


def envelope(references: NDArray[np.floating]) -> Envelope:
    """Centroid and spread of each passage's references.

    Parameters
    ----------
    references
        Unit vectors, shape (..., references, dimensions), at least two references.

    Raises
    ------
    ValueError
        With fewer than two references, or if the references of a passage cancel out, so that their mean has length 0.

    Notes
    -----
    Sources: PaliBench, section 3.5; for the Euclidean spread, "From Outliers to Errors", section 3.3.
    """
    count = references.shape[-2]
    if count < 2:
        raise ValueError(f"an envelope needs two references or more, got {count}")
    exact = references.astype(np.float64)
    mean = exact.mean(axis=-2)
    length = np.linalg.norm(mean, axis=-1)
    if (length < PRECISION).any():
        raise ValueError("the references cancel out: their mean has no direction")
    distances = np.linalg.norm(exact - mean[..., None, :], axis=-1)
    spread = 1 - (exact @ mean[..., None])[..., 0].mean(axis=-1) / length
    return Envelope(mean, np.maximum(spread, 0), distances.mean(axis=-1), exact @ exact.swapaxes(-1, -2))
