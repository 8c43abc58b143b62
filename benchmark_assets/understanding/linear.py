"""The linear baseline: character n-grams weighted by TF-IDF, and a support vector machine. Trains in seconds.

Here: hashed n-grams, their weights, training, labeling. Not here: which tasks it applies to (baselines), spans
(tagger), similarity of texts (leakage).
"""

from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array  # type: ignore[import-untyped]

SHORTEST, LONGEST = 1, 5
"""Lengths of the n-grams in code points."""

LEAST_TEXTS = 2
"""Train texts that an n-gram must occur in. Most n-grams occur in a single text, and say nothing about others."""

PENALTY = 10.0
"""C of the support vector machine. `PENALTY`, `LONGEST` and `LEAST_TEXTS` did best on average in five-fold
cross-validation on the train splits of VPCT, AACT, SCCT and THCT (docs/decisions/leakage.md); all tasks share them."""

TOLERANCE = 1e-2
"""Tolerance at which training stops. In cross-validation on the train splits the labels equal those of the default,
1e-4, in a third of the time."""

SEED = 1
"""Seed of the order in which the classifier visits the texts."""

WEIGHTS = (
    f"TF-IDF with logarithmic counts of character {SHORTEST}- to {LONGEST}-grams in {LEAST_TEXTS} train texts or more"
)
LIBRARY = f"scikit-learn {version('scikit-learn')}"
SIGNATURE = f"{WEIGHTS}, linear support vector machine, C {PENALTY:g}, tolerance {TOLERANCE:g}, seed {SEED}, {LIBRARY}"

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Grams(NamedTuple):
    """N-grams of texts: text i has `keys[starts[i] : starts[i + 1]]`, ascending, each as often as `counts` has it."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]


def ngrams(texts: Sequence[str], shortest: int = SHORTEST, longest: int = LONGEST) -> Grams:
    """All n-grams of each text from the shortest to the longest length, blanks and punctuation included.

    N-grams are identified by 64-bit hashes. Among millions, the chance of a collision is about 1 in 10^6.
    """
    keys, counts = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    starts = np.zeros(len(texts) + 1, dtype=np.int64)
    for number, text in enumerate(texts):
        hashes, frequencies = np.unique(_hashes(text, shortest, longest), return_counts=True)
        keys.append(hashes)
        counts.append(frequencies)
        starts[number + 1] = starts[number] + len(hashes)
    return Grams(np.concatenate(keys), np.concatenate(counts), starts)


def _hashes(text: str, shortest: int, longest: int) -> NDArray[np.uint64]:
    """Hashes of all n-grams of a text, ordered by length."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64) + np.uint64(1)
    current = np.zeros(len(points) + 1, dtype=np.uint64)
    hashes = []
    for length in range(1, longest + 1):
        if length > len(points):
            break
        current = (current[: len(points) - length + 1] ^ points[length - 1 :]) * _FACTOR
        current ^= current >> np.uint64(29)
        if length >= shortest:
            hashes.append(current)
    return np.concatenate(hashes) if hashes else np.zeros(0, np.uint64)


class Terms:
    """Vocabulary of the n-grams that several train texts share, and TF-IDF weights with logarithmic counts.

    Attributes
    ----------
    train
        Weights of the train texts, a sparse matrix of shape (texts, n-grams).

    Raises
    ------
    ValueError
        If no two train texts share a character.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        grams = ngrams(texts)
        keys, texts_with = np.unique(grams.keys, return_counts=True)
        self.vocabulary = keys[texts_with >= LEAST_TEXTS]
        if not len(self.vocabulary):
            raise ValueError("no two texts of its train split share a character")
        from sklearn.feature_extraction.text import TfidfTransformer  # type: ignore[import-untyped]  # takes a second

        self.weights = TfidfTransformer(sublinear_tf=True)
        self.train: csr_array = self.weights.fit_transform(self._matrix(grams))

    def weigh(self, texts: Sequence[str]) -> csr_array:
        """Weights of one text or more."""
        return self.weights.transform(self._matrix(ngrams(texts)))

    def _matrix(self, grams: Grams) -> csr_array:
        """Counts of the n-grams of the vocabulary, shape (texts, vocabulary)."""
        columns = np.minimum(np.searchsorted(self.vocabulary, grams.keys), len(self.vocabulary) - 1)
        known = self.vocabulary[columns] == grams.keys
        starts = np.concatenate([[0], np.cumsum(known)])[grams.starts].astype(np.int32)
        shape = (len(grams.starts) - 1, len(self.vocabulary))
        return csr_array((grams.counts[known].astype(float), columns[known].astype(np.int32), starts), shape=shape)


class Linear:
    """A linear classifier over the character n-grams of texts.

    Raises
    ------
    ValueError
        With fewer than two classes, or if no two train texts share a character.
    """

    def __init__(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        if len(set(labels)) < 2:
            raise ValueError(f"its train split has {len(set(labels))} classes, a classifier needs two")
        self.terms = Terms(texts)
        from sklearn.svm import LinearSVC  # type: ignore[import-untyped]  # takes a second

        self.classifier = LinearSVC(C=PENALTY, tol=TOLERANCE, random_state=SEED)
        self.classifier.fit(self.terms.train, np.array(labels))

    def label(self, texts: Sequence[str]) -> list[str]:
        """The class of each text."""
        return [str(label) for label in self.classifier.predict(self.terms.weigh(texts))] if texts else []
