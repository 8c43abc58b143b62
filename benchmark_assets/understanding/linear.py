"""The linear baseline: a support vector machine over character n-grams with TF-IDF weights. It trains in seconds.

Here: hashed n-grams, their weights, training, labeling. Not here: the tasks to which it applies (baselines), spans
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
"""Minimum number of train texts in which an n-gram of the vocabulary occurs. Most n-grams occur in a single text, and
cannot help to classify another text."""

PENALTY = 10.0
"""C of the support vector machine. `PENALTY`, `LONGEST` and `LEAST_TEXTS` are the same for all tasks. They had the best
mean score in five-fold cross-validation on the train splits of four tasks (docs/decisions/understanding.md)."""

TOLERANCE = 1e-2
"""Tolerance at which training stops. In cross-validation on the train splits, the default of 1e-4 took three times as
long and gave the same labels."""

SEED = 1
"""Seed of the order in which the classifier visits the texts."""

WEIGHTS = (
    f"TF-IDF with logarithmic counts of character {SHORTEST}- to {LONGEST}-grams in {LEAST_TEXTS} train texts or more"
)
LIBRARY = f"scikit-learn {version('scikit-learn')}"
SIGNATURE = f"{WEIGHTS}, linear support vector machine, C {PENALTY:g}, tolerance {TOLERANCE:g}, seed {SEED}, {LIBRARY}"

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Grams(NamedTuple):
    """N-grams of texts, identified by hashes.

    `keys[starts[i] : starts[i + 1]]` are the distinct n-grams of text i, ascending; the same slice of `counts` has
    their frequencies in the text. `starts` has one entry more than there are texts.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]


def ngrams(texts: Sequence[str], shortest: int = SHORTEST, longest: int = LONGEST) -> Grams:
    """Count the n-grams of each text, for lengths from `shortest` to `longest` code points.

    White space and punctuation count as characters. N-grams are identified by 64-bit hashes; among millions of n-grams,
    the probability of a collision is about 1 in 10^6.
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
    """Hashes of all n-grams of a text with repetitions, ordered by length and position."""
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


def counted(grams: Grams, vocabulary: NDArray[np.uint64]) -> csr_array:
    """Counts of a vocabulary's n-grams in texts, a sparse matrix of shape (texts, vocabulary).

    `vocabulary` has the hashes of distinct n-grams, ascending. N-grams outside the vocabulary are left out.
    """
    columns = np.searchsorted(vocabulary, grams.keys)
    present = columns < len(vocabulary)
    present[present] = vocabulary[columns[present]] == grams.keys[present]
    starts = np.concatenate([[0], np.cumsum(present)])[grams.starts].astype(np.int32)
    shape = (len(grams.starts) - 1, max(1, len(vocabulary)))
    return csr_array((grams.counts[present].astype(float), columns[present].astype(np.int32), starts), shape=shape)


class Terms:
    """The vocabulary (n-grams that occur in at least `LEAST_TEXTS` train texts) and its TF-IDF weights.

    `train` has the weights of the train texts, a sparse matrix of shape (texts, vocabulary). Raises ValueError if no
    two train texts share a character.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        grams = ngrams(texts)
        keys, texts_with = np.unique(grams.keys, return_counts=True)
        self.vocabulary = keys[texts_with >= LEAST_TEXTS]
        if not len(self.vocabulary):
            raise ValueError("no two texts of the train split share a character")
        from sklearn.feature_extraction.text import TfidfTransformer  # type: ignore[import-untyped]  # takes a second

        self.weights = TfidfTransformer(sublinear_tf=True)
        self.train: csr_array = self.weights.fit_transform(counted(grams, self.vocabulary))

    def weigh(self, texts: Sequence[str]) -> csr_array:
        """Weights of one or more texts, a sparse matrix of shape (texts, vocabulary)."""
        return self.weights.transform(counted(ngrams(texts), self.vocabulary))


def two_or_more(labels: Sequence[str]) -> list[str]:
    """The classes among labels, in alphabetical order. Raises ValueError if there are fewer than two classes."""
    classes = sorted(set(labels))
    if len(classes) < 2:
        raise ValueError(f"a classifier needs two classes, the train split has {len(classes)}")
    return classes


class Linear:
    """A linear classifier over the character n-grams of texts.

    Training raises ValueError if there are fewer than two classes, or no two train texts share a character.
    """

    def __init__(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        two_or_more(labels)
        self.terms = Terms(texts)
        from sklearn.svm import LinearSVC  # type: ignore[import-untyped]  # takes a second

        self.classifier = LinearSVC(C=PENALTY, tol=TOLERANCE, random_state=SEED)
        self.classifier.fit(self.terms.train, np.array(labels))

    def label(self, texts: Sequence[str]) -> list[str]:
        """The class of each text."""
        return [str(label) for label in self.classifier.predict(self.terms.weigh(texts))] if texts else []
