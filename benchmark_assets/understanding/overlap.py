"""Text overlap as a baseline: whether two texts, such as a root text and a commentary, belong together.

Here: features of a pair of texts, a logistic regression over them, features of the parts of a text against another one.
Not here: which texts make a pair (descriptions), spans (tagger).
"""

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LENGTHS = (2, 3, 4, 5, 6)
"""Lengths of the compared character n-grams in code points, without blanks and punctuation."""

ITERATIONS = 1000
SIGNATURE = (
    f"logistic regression, L2 with C 1, {ITERATIONS} iterations at most, over standardized features of what two texts "
    f"share: character {LENGTHS[0]}- to {LENGTHS[-1]}-grams, their rarity, the longest common substring, lengths; "
    f"scikit-learn {version('scikit-learn')}"
)


class Pair(NamedTuple):
    """Two texts, usually the shorter one first: a root text and its possible commentary."""

    one: str
    other: str


def features(pairs: Sequence[Pair], rarity: "Rarity") -> NDArray[np.float64]:
    """Features of the overlap of pairs, shape (pairs, 3 * len(LENGTHS) + 4).

    For each length: the share of either text's n-grams that the other text has, and the share of the first text's
    rarity in shared n-grams. Then the longest common substring, as a length and as a share of the first text; lengths
    of both texts. Lengths are logarithms of code points.
    """
    rows = []
    for one, other in ((_letters(pair.one), _letters(pair.other)) for pair in pairs):
        row = []
        for length in LENGTHS:
            ours, theirs = _grams(one, length), _grams(other, length)
            shared = ours & theirs
            row += [len(shared) / max(1, len(ours)), len(shared) / max(1, len(theirs))]
            row.append(rarity.of(shared) / max(1e-9, rarity.of(ours)))
        longest = SequenceMatcher(None, one, other, autojunk=False).find_longest_match().size
        row += [np.log1p(longest), longest / max(1, len(one)), np.log1p(len(one)), np.log1p(len(other))]
        rows.append(row)
    return np.array(rows).reshape(len(pairs), 3 * len(LENGTHS) + 4)


def along(one: str, parts: Sequence[str], rarity: "Rarity") -> NDArray[np.float64]:
    """Overlap of each part of a text with another text, and its place, shape (parts, 9 * 3 * len(LENGTHS) + 3).

    For each length: the shares of the part's and of the other text's n-grams that both have, and the rarity of the
    shared n-grams. These are given for the part itself, the two parts before and the two after it (0 beyond the ends),
    as the maximum and the sum over all parts, and as sums up to and from the part, inclusive. Then the numbers of parts
    before and from the part, and the share of parts before it.
    """
    ours = {length: _grams(_letters(one), length) for length in LENGTHS}
    shares = np.zeros((len(parts), 3 * len(LENGTHS)))
    for place, letters in enumerate(map(_letters, parts)):
        row = []
        for length in LENGTHS:
            theirs = _grams(letters, length)
            shared = ours[length] & theirs
            row += [len(shared) / max(1, len(theirs)), len(shared) / max(1, len(ours[length])), rarity.of(shared)]
        shares[place] = row
    count = len(parts)
    padded = np.pad(shares, ((2, 2), (0, 0)))
    before = shares.cumsum(axis=0)
    whole = shares.sum(axis=0)
    places = np.arange(count)
    return np.hstack([
        *(padded[shift : shift + count] for shift in range(5)),
        np.tile(shares.max(axis=0, initial=0), (count, 1)), np.tile(whole, (count, 1)), before,
        whole - before + shares,
        np.stack([places, count - places, places / max(1, count)], axis=1),
    ])  # fmt: skip


class Rarity:
    """Inverse document frequency of n-grams: log(texts / texts that contain the n-gram), at least 0."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.number = len(set(texts))
        self.having: dict[str, int] = {}
        for text in sorted(set(texts)):
            for gram in set[str]().union(*(_grams(_letters(text), length) for length in LENGTHS)):
                self.having[gram] = self.having.get(gram, 0) + 1

    def of(self, grams: set[str]) -> float:
        """Sum over n-grams of log((texts + 1) / (texts that contain the n-gram + 1))."""
        counts = np.array([self.having.get(gram, 0) for gram in grams], dtype=float)
        return float(np.log((self.number + 1) / (counts + 1)).sum())


class Overlap:
    """A logistic regression over the overlap of pairs.

    Raises
    ------
    ValueError
        With fewer than two classes.
    """

    def __init__(self, pairs: Sequence[Pair], labels: Sequence[str]) -> None:
        if len(set(labels)) < 2:
            raise ValueError(f"its train split has {len(set(labels))} classes, a classifier needs two")
        self.rarity = Rarity([pair.other for pair in pairs])
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # takes a second
        from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
        from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

        self.classifier = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=ITERATIONS))
        self.classifier.fit(features(pairs, self.rarity), np.array(labels))

    def label(self, pairs: Sequence[Pair]) -> list[str]:
        """The class of each pair."""
        return [str(label) for label in self.classifier.predict(features(pairs, self.rarity))] if pairs else []


def _letters(text: str) -> str:
    """The letters of a text with their marks, in lower case; no blanks, punctuation and digits."""
    return "".join(sign for sign in text.lower() if unicodedata.category(sign)[0] in "LM")


def _grams(text: str, length: int) -> set[str]:
    return {text[first : first + length] for first in range(len(text) - length + 1)}
