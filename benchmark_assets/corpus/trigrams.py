"""Similarity of two texts by their character trigrams.

Here: the set of a text's trigrams, and the similarity of two sets. Not here: many texts against each other
(corpus.duplicates), consequences of a similarity (corpus.filters).
"""

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

WIDTH = 3
PADDING = "\0"  # is no word character, so no normalized text has it
NO_WORD = re.compile(r"\W+")
CODE_POINT = 21  # bits


def normalized(text: str) -> str:
    r"""The text in NFKC and lower case with everything but `\w` removed; trigrams are taken from it.

    Python's `\w` includes letters and digits of every script, but no marks that NFKC does not join to a letter: vowel
    signs of Indic scripts and points of Hebrew are not compared.

    Source: PaliBench, section 3.4. The section does not mention that only `\w` counts; its record of duplicates shows
    it.
    """
    return NO_WORD.sub("", unicodedata.normalize("NFKC", text).lower())


def trigrams(text: str) -> NDArray[np.int64]:
    """The set of character trigrams of a text.

    Returns
    -------
    Distinct trigrams, each as a number made of its three code points, ascending, at least one: a text of fewer than
    three characters after normalization is padded, so that it is similar only to a text with the same characters. Two
    texts without a trigram thus have a similarity of 1 if they are equal (both may be empty), else 0.
    """
    text = normalized(text).ljust(WIDTH, PADDING)
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    return np.unique(points[:-2] << 2 * CODE_POINT | points[1:-1] << CODE_POINT | points[2:])


def jaccard(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Shared trigrams over all trigrams of two texts, in [0, 1]; both as `trigrams` returns them."""
    shared = _shared(one, other)
    return shared / (len(one) + len(other) - shared)


def containment(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Shared trigrams over the trigrams of the text with fewer, in [0, 1]: 1 if the other text contains it."""
    return _shared(one, other) / min(len(one), len(other))


def _shared(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    return len(np.intersect1d(one, other, assume_unique=True))
