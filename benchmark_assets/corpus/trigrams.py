"""How alike two texts are by their character trigrams.

Here: the set of a text's trigrams, and the similarity of two sets. Not here: many texts against each other
(corpus.duplicates), what a similarity leads to (corpus.filters).
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
    r"""What trigrams are taken from: the text in NFKC and lower case, everything but `\w` removed.

    Python's `\w` takes in letters and digits of every writing, and leaves out marks that NFKC does not join to a
    letter: vowel signs of Indic scripts and points of Hebrew are not compared.

    Source: PaliBench, section 3.4, which does not say that only `\w` counts; its record of duplicates bears that out.
    """
    return NO_WORD.sub("", unicodedata.normalize("NFKC", text).lower())


def trigrams(text: str) -> NDArray[np.int64]:
    """The set of character trigrams of a text.

    Returns
    -------
    Distinct trigrams, each as the number that its three code points make, ascending, at least one: a text of fewer than
    three characters after normalization is filled up, so that it is like a text with the same characters and like no
    other. That makes two texts without a single trigram similar by 1 where they are equal (both may be empty), else 0.
    """
    text = normalized(text).ljust(WIDTH, PADDING)
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    return np.unique(points[:-2] << 2 * CODE_POINT | points[1:-1] << CODE_POINT | points[2:])


def jaccard(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Shared trigrams by all trigrams of two texts, in [0, 1]; both as `trigrams` returns them."""
    shared = _shared(one, other)
    return shared / (len(one) + len(other) - shared)


def containment(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Shared trigrams by those of the text that has fewer, in [0, 1]: 1 where it stands in the other."""
    return _shared(one, other) / min(len(one), len(other))


def _shared(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    return len(np.intersect1d(one, other, assume_unique=True))
