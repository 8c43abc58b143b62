"""Similarity of stretches of a continuous translation to segments of the source, through segmented translations.

Here: similarities of units, and of all stretches of them, with the segments of a guide. Not here: embedding, the path
through these similarities (monotone).

A stretch is compared by the sum of its units' vectors, so that no stretch has to be embedded: sums of all stretches
come from cumulative sums. Two similarities are averaged: meaning (sentence embeddings) and wording (stems weighted by
rarity), because translations of one text share names, numbers and images.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.alignment.units import Units, sentences

Matrix = NDArray[np.float64]
Embed = Callable[[Sequence[str]], NDArray[np.floating]]
"""Texts to unit vectors, shape (texts, dimensions)."""

_WORD = re.compile(r"\w")
_WORDS = re.compile(r"\w+")
_ENDINGS = (
    "ingly", "edly", "ings", "ing", "ness", "ies", "ied", "eth", "est", "ers", "ed", "es", "er", "ly", "s", "e",
)  # fmt: skip
_SMALL = 1e-9


class Space(NamedTuple):
    """Units and segments in one vector space, for the similarity of each stretch to each segment.

    Attributes
    ----------
    dots
        Dot products of unit segment vectors with the sums of the first i units, shape (n + 1, segments).
    norms
        Length of the sum of each stretch, by its number of units and its end, shape (longest + 1, n + 1); infinite
        for stretches that do not exist.
    """

    dots: Matrix
    norms: Matrix


class Guide(NamedTuple):
    """One segmented translation of the document. `known` is true for the segments that it has, shape (segments,).

    `near` is the similarity of each unit to the most similar sentence of each segment, shape (n, segments); 0 for
    segments that it lacks.
    """

    known: NDArray[np.bool_]
    meaning: Space
    wording: Space
    near: Matrix


def has_words(text: str | None) -> bool:
    """Whether a text has a letter or digit that can be compared."""
    return bool(text and _WORD.search(text))


def guide(prose: Units, segments: Sequence[str | None], longest: int, embed: Embed) -> Guide:
    """Compare the units of a prose with a segmented translation.

    Parameters
    ----------
    segments
        The translation of each segment of the source, None if it has none.
    longest
        Units of the longest stretch that may belong to one segment.
    """
    known = np.array([has_words(segment) for segment in segments])
    pieces = [
        (index, text)
        for index, segment in enumerate(segments)
        if segment and known[index]
        for text in sentences(segment)
    ]
    owners, texts = np.array([index for index, _ in pieces], dtype=np.int_), [text for _, text in pieces]
    lengths = np.diff(prose.ends)
    vectors = np.asarray(embed([*prose.texts, *texts]), dtype=np.float64)
    own, theirs = vectors[: len(prose.texts)], vectors[len(prose.texts) :]
    # By the root of the length: a long text has more content than a short one, but repeats part of it.
    weights = np.sqrt([len(text) for text in texts])
    words, their_words = _wording(prose.texts, texts)
    count = len(segments)
    meaning = _space(own * np.sqrt(lengths)[:, None], theirs * weights[:, None], owners, count, longest)
    wording = _space(words, their_words, owners, count, longest)
    alike = (own @ theirs.T + _unit(words) @ _unit(their_words).T) / 2
    near = np.zeros((len(prose.texts), count))
    for index in np.flatnonzero(known):
        near[:, index] = alike[:, owners == index].max(axis=1)
    return Guide(known, meaning, wording, near)


def likeness(guides: Sequence[Guide], segment: int) -> Matrix:
    """Similarity of every stretch to a segment: mean over guides that have it of meaning and wording, in [-0.5, 1].

    Returns
    -------
    By the number of units in the stretch and its end, shape (longest + 1, n + 1); 0 for stretches that do not exist.
    """
    spaces = [space for each in guides if each.known[segment] for space in (each.meaning, each.wording)]
    total = sum(_over_stretches(space.dots[:, segment], len(space.norms)) / space.norms for space in spaces)
    return np.asarray(total, dtype=np.float64) / len(spaces)


def nearest(guides: Sequence[Guide]) -> Matrix:
    """Mean over guides of the units' similarity to the most similar sentence of each segment, shape (n, segments)."""
    known = sum(each.known.astype(np.float64) for each in guides)
    return np.asarray(sum(each.near for each in guides) / np.maximum(known, 1.0), dtype=np.float64)


def _space(own: Matrix, theirs: Matrix, owners: NDArray[np.int_], count: int, longest: int) -> Space:
    summed = np.zeros((count, own.shape[1]))
    np.add.at(summed, owners, theirs)
    dots = np.vstack([np.zeros((1, count)), np.cumsum(own @ _unit(summed).T, axis=0)])
    # Of the Gram matrix's sums over squares on its diagonal: |sum of a stretch|².
    gram = np.zeros((len(own) + 1, len(own) + 1))
    gram[1:, 1:] = np.cumsum(np.cumsum(own @ own.T, axis=0), axis=1)
    norms = np.full((longest + 1, len(own) + 1), np.inf)
    diagonal = np.diagonal(gram)
    for units in range(1, longest + 1):
        squares = diagonal[units:] + diagonal[:-units] - 2 * np.diagonal(gram, units)
        norms[units, units:] = np.where(squares > _SMALL, np.sqrt(np.maximum(squares, _SMALL)), np.inf)
    return Space(dots, norms)


def _over_stretches(cumulative: NDArray[np.float64], rows: int) -> Matrix:
    """Sums over all stretches, by their number of units and end, from sums over the first units."""
    ends = np.arange(len(cumulative))
    starts = np.maximum(ends[None, :] - np.arange(rows)[:, None], 0)
    return np.asarray(cumulative[None, :] - cumulative[starts], dtype=np.float64)


def _wording(one: Sequence[str], other: Sequence[str]) -> tuple[Matrix, Matrix]:
    """Counts of stems in two lists of texts, each weighted by the logarithm of its rarity in both."""
    stems = [Counter(map(_stem, _WORDS.findall(text.lower()))) for text in (*one, *other)]
    frequencies = Counter(stem for each in stems for stem in each)
    columns = {stem: column for column, stem in enumerate(frequencies)}
    weights = {stem: np.log1p(len(stems) / count) for stem, count in frequencies.items()}
    counts = np.zeros((len(stems), len(columns)))
    for row, each in enumerate(stems):
        for stem, count in each.items():
            counts[row, columns[stem]] = count * weights[stem]
    return counts[: len(one)], counts[len(one) :]


def _stem(word: str) -> str:
    """An English word without its commonest endings; in other languages, mostly the word itself."""
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= 3), "")
    return word.removesuffix(ending)


def _unit(vectors: Matrix) -> Matrix:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _SMALL), dtype=np.float64)
