"""The local reference envelope: where several translations of a passage lie, and how far apart.

Here: geometry of reference embeddings. Not here: embedding (resources.embedders), scoring candidates against the
envelope (metrics.drift), storage.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PRECISION = 1e-6
"""Length below which a mean or a distance of float32 unit vectors is rounding and batch noise, not geometry."""


class Envelope(NamedTuple):
    """The envelopes of passages. Leading axes (...) are those of the references, without their last two.

    Attributes
    ----------
    centroid
        Mean of the unit reference vectors, shape (..., dimensions). Not normalized: the spread is 1 minus its length m.
    spread
        Mean over references of 1 - cos(reference, centroid), shape (...), in [0, 1). Equal to 1 - m.
    euclidean_spread
        Mean over references of their Euclidean distance to the mean, shape (...), in [0, 1).
    similarities
        Cosines of all pairs of references, shape (..., references, references).
    """

    centroid: NDArray[np.float64]
    spread: NDArray[np.float64]
    euclidean_spread: NDArray[np.float64]
    similarities: NDArray[np.float64]


def envelope(references: NDArray[np.floating]) -> Envelope:
    """Centroid and spread of the references of each passage.

    Parameters
    ----------
    references
        Unit vectors, shape (..., references, dimensions), at least two references.

    Raises
    ------
    ValueError
        With fewer than two references, or if the references of a passage cancel out (mean of length 0) and leave no
        direction.

    Notes
    -----
    With m the length of the mean reference, spread = 1 - m. Source: PaliBench, section 3.5; the Euclidean spread: From
    Outliers to Errors, section 3.3.
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
