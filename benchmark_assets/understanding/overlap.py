"""The overlap baseline: decides from shared n-grams whether two texts, such as a root text and a commentary, belong
together.

Here: features of a pair of texts, a logistic regression over these features, and features of the parts of one text
compared with another text. Not here: the choice of the pair (descriptions), spans (tagger).
"""

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.understanding.linear import two_or_more

LENGTHS = (2, 3, 4, 5, 6)
"""Lengths of the compared character n-grams in code points. White space and punctuation are left out."""

ITERATIONS = 1000
SIGNATURE = (
    f"logistic regression, L2 with C 1, {ITERATIONS} iterations at most, over standardized features of what two texts "
    f"share: character {LENGTHS[0]}- to {LENGTHS[-1]}-grams, their rarity, the longest common substring, lengths; "
    f"scikit-learn {version('scikit-learn')}"
)


class Pair(NamedTuple):
    """Two texts, usually the shorter text first: a root text and its possible commentary."""

    first: str
    second: str


def features(pairs: Sequence[Pair], rarity: "Rarity") -> NDArray[np.float64]:
    """Features of the overlap of pairs, shape (pairs, 3 * len(LENGTHS) + 4).

    Each n-gram length has three features: the number of shared n-grams as a share of the first text's n-grams, the same
    number as a share of the second text's n-grams, and the rarity of shared n-grams as a share of the rarity of the
    first text's n-grams. Four features of length in code points follow: log1p of the longest common substring, its
    share of the first text, and log1p of the length of each text.
    """
    rows = []
    for first, second in ((_letters(pair.first), _letters(pair.second)) for pair in pairs):
        row = []
        for length in LENGTHS:
            first_grams, second_grams = _grams(first, length), _grams(second, length)
            shared = first_grams & second_grams
            row += [len(shared) / max(1, len(first_grams)), len(shared) / max(1, len(second_grams))]
            row.append(rarity.of(shared) / max(1e-9, rarity.of(first_grams)))
        longest = SequenceMatcher(None, first, second, autojunk=False).find_longest_match().size
        row += [np.log1p(longest), longest / max(1, len(first)), np.log1p(len(first)), np.log1p(len(second))]
        rows.append(row)
    return np.array(rows).reshape(len(pairs), 3 * len(LENGTHS) + 4)


def along(other: str, parts: Sequence[str], rarity: "Rarity") -> NDArray[np.float64]:
    """Features of the parts of a text compared with another text, shape (parts, 9 * 3 * len(LENGTHS) + 3).

    Each part has three measures for each n-gram length: the number of n-grams that it shares with the other text, as a
    share of its own n-grams and as a share of the other text's n-grams; and the rarity of the shared n-grams. The
    features of a part are nine sets of these measures. Five sets are the measures of the part, of the two parts before
    it and of the two parts after it (0 beyond the ends of the text). The other sets are the maximum and the sum of each
    measure over all parts, its sum over the parts up to this part, and its sum over the parts from this part on; both
    partial sums include this part. Three features of position follow: the number of parts before this part, the number
    of parts from this part on, and the share of all parts that are before this part.
    """
    other_grams = {length: _grams(_letters(other), length) for length in LENGTHS}
    shares = np.zeros((len(parts), 3 * len(LENGTHS)))
    for place, letters in enumerate(map(_letters, parts)):
        row = []
        for length in LENGTHS:
            grams = _grams(letters, length)
            shared = other_grams[length] & grams
            row += [len(shared) / max(1, len(grams)), len(shared) / max(1, len(other_grams[length])), rarity.of(shared)]
        shares[place] = row
    count = len(parts)
    padded = np.pad(shares, ((2, 2), (0, 0)))
    running = shares.cumsum(axis=0)
    total = shares.sum(axis=0)
    places = np.arange(count)
    return np.hstack([
        *(padded[shift : shift + count] for shift in range(5)),
        np.tile(shares.max(axis=0, initial=0), (count, 1)), np.tile(total, (count, 1)), running,
        total - running + shares,
        np.stack([places, count - places, places / max(1, count)], axis=1),
    ])  # fmt: skip


class Rarity:
    """Inverse document frequency of character n-grams in `texts`. Duplicate texts count once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = len(set(texts))
        self.frequencies: dict[str, int] = {}
        for text in sorted(set(texts)):
            for gram in set[str]().union(*(_grams(_letters(text), length) for length in LENGTHS)):
                self.frequencies[gram] = self.frequencies.get(gram, 0) + 1

    def of(self, grams: set[str]) -> float:
        """Sum of log((texts + 1) / (texts that contain the n-gram + 1)) over n-grams."""
        counts = np.array([self.frequencies.get(gram, 0) for gram in grams], dtype=float)
        return float(np.log((self.texts + 1) / (counts + 1)).sum())


class Overlap:
    """A logistic regression over the features of pairs of texts. Raises ValueError for fewer than two classes."""

    def __init__(self, pairs: Sequence[Pair], labels: Sequence[str]) -> None:
        two_or_more(labels)
        self.rarity = Rarity([pair.second for pair in pairs])
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # takes a second
        from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
        from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

        self.classifier = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=ITERATIONS))
        self.classifier.fit(features(pairs, self.rarity), np.array(labels))

    def label(self, pairs: Sequence[Pair]) -> list[str]:
        """The class of each pair."""
        return [str(label) for label in self.classifier.predict(features(pairs, self.rarity))] if pairs else []


def _letters(text: str) -> str:
    """Letters and combining marks of a text, in lower case. White space, punctuation and digits are left out."""
    return "".join(sign for sign in text.lower() if unicodedata.category(sign)[0] in "LM")


def _grams(text: str, length: int) -> set[str]:
    return {text[first : first + length] for first in range(len(text) - length + 1)}
