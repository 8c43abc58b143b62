"""Whether two texts belong together, by what they share: for a root text and a commentary.

Here: features of a pair of texts, a logistic regression over them, features of the parts of a text beside another one.
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
"""Of the character n-grams that are compared, in code points; blanks and signs of punctuation are no part of them."""

ITERATIONS = 1000
SIGNATURE = (
    f"logistic regression, L2 with C 1, {ITERATIONS} iterations at most, over standardized features of what two texts "
    f"share: character {LENGTHS[0]}- to {LENGTHS[-1]}-grams, their rarity, the longest common substring, lengths; "
    f"scikit-learn {version('scikit-learn')}"
)


class Pair(NamedTuple):
    """Two texts, the shorter of which is usually the first: a root text and what may be its commentary."""

    one: str
    other: str


def features(pairs: Sequence[Pair], rarity: "Rarity") -> NDArray[np.float64]:
    """What pairs share, (pairs, 3 * len(LENGTHS) + 4).

    For each length the shares of n-grams of either text that the other has, and the share of the first text's rarity
    that lies in shared ones; length of the longest common substring, absolutely and by the first text; lengths of
    both. Lengths are logarithms of code points.
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
    """What each part of a text shares with another text, and where it lies, (parts, 9 * 3 * len(LENGTHS) + 3).

    For each length the shares of n-grams of the part and of the other text that both have, and the rarity of these: of
    the part, of the two before and the two after it (0 beyond the ends), the greatest of any part, the sum of all, and
    of all before and after the part, itself included. Then how many parts come before and after, and their share.
    """
    ours = {length: _grams(_letters(one), length) for length in LENGTHS}
    own = np.zeros((len(parts), 3 * len(LENGTHS)))
    for place, letters in enumerate(map(_letters, parts)):
        row = []
        for length in LENGTHS:
            theirs = _grams(letters, length)
            shared = ours[length] & theirs
            row += [len(shared) / max(1, len(theirs)), len(shared) / max(1, len(ours[length])), rarity.of(shared)]
        own[place] = row
    count = len(parts)
    padded = np.pad(own, ((2, 2), (0, 0)))
    before = own.cumsum(axis=0)
    whole = own.sum(axis=0)
    places = np.arange(count)
    return np.hstack([
        *(padded[shift : shift + count] for shift in range(5)),
        np.tile(own.max(axis=0, initial=0), (count, 1)), np.tile(whole, (count, 1)), before, whole - before + own,
        np.stack([places, count - places, places / max(1, count)], axis=1),
    ])  # fmt: skip


class Rarity:
    """How rare n-grams are: log of the number of texts by that of the texts which have one, at least 0."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.number = len(set(texts))
        self.having: dict[str, int] = {}
        for text in sorted(set(texts)):
            for gram in set[str]().union(*(_grams(_letters(text), length) for length in LENGTHS)):
                self.having[gram] = self.having.get(gram, 0) + 1

    def of(self, grams: set[str]) -> float:
        """Sum over n-grams; one that no text has counts as if one more had it."""
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
    """A text in lower case without blanks, signs and digits: its letters with their marks."""
    return "".join(sign for sign in text.lower() if unicodedata.category(sign)[0] in "LM")


def _grams(text: str, length: int) -> set[str]:
    return {text[first : first + length] for first in range(len(text) - length + 1)}
