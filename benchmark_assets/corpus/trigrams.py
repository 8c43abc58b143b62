"""Similarity of two texts by their character trigrams.

Here: the set of a text's trigrams, and the similarity of two sets. Not here: comparing many texts with each other
(corpus.duplicates), consequences of a similarity (corpus.filters).
"""

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

WIDTH = 3
PADDING = "\0"  # not a word character, so it does not occur in normalized texts
NO_WORD = re.compile(r"\W+")
CODE_POINT = 21  # bits


def normalized(text: str) -> str:
    r"""The text in NFKC and lower case, with all characters removed except `\w`. Trigrams are taken from this form.

    Python's `\w` includes letters and digits of every script, but excludes marks that NFKC does not combine with a
    letter: vowel signs of Indic scripts and Hebrew points are ignored.

    Source: PaliBench, section 3.4. The paper does not mention `\w`; the rule follows from its list of duplicates.
    """
    return NO_WORD.sub("", unicodedata.normalize("NFKC", text).lower())


def trigrams(text: str) -> NDArray[np.int64]:
    """The set of character trigrams of a text.

    Returns
    -------
    Distinct trigrams in ascending order, each encoded as a number from its three code points, shape (trigrams,). A text
    of fewer than three characters after normalization is padded to one trigram. Two such texts have a similarity of 1
    if they are equal after normalization (both may be empty), else 0.
    """
    text = normalized(text).ljust(WIDTH, PADDING)
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    return np.unique(points[:-2] << 2 * CODE_POINT | points[1:-1] << CODE_POINT | points[2:])


def jaccard(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Jaccard similarity of two texts, in [0, 1]: the number of shared trigrams, divided by the number of distinct
    trigrams of both texts. The arguments are the `trigrams` of the texts."""
    shared = _shared(one, other)
    return shared / (len(one) + len(other) - shared)


def containment(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Share of the smaller set of trigrams that is also in the larger set, in [0, 1]. The arguments are the `trigrams`
    of two texts."""
    return _shared(one, other) / min(len(one), len(other))


def _shared(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    return len(np.intersect1d(one, other, assume_unique=True))
