"""Similarity of stretches of a continuous translation to the segments of a guide, which is a segmented translation.

Here: similarities of units, and of stretches (sequences of units), to the segments. Not here: embedding, the best path
through these similarities (monotone).

The vector of a stretch is the sum of its units' vectors, computed from cumulative sums, so that only units are
embedded. Similarity is the mean of two measures: meaning (sentence embeddings) and wording (stems weighted by rarity),
because translations of the same text share names, numbers and images.
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
"""Maps texts to unit vectors, shape (texts, dimensions)."""

_WORD = re.compile(r"\w")
_WORDS = re.compile(r"\w+")
_ENDINGS = (
    "ingly", "edly", "ings", "ing", "ness", "ies", "ied", "eth", "est", "ers", "ed", "es", "er", "ly", "s", "e",
)  # fmt: skip
_SMALL = 1e-9


class Space(NamedTuple):
    """For a text of n units: dot products and norms that give the cosine of any stretch of units with any segment.

    Attributes
    ----------
    dots
        Dot product of the sum of the first i units with each segment's unit vector, shape (n + 1, segments).
    norms
        Norm of each stretch's vector, by number of units and end of the stretch, shape (longest + 1, n + 1);
        infinite for stretches that do not exist.
    """

    dots: Matrix
    norms: Matrix


class Guide(NamedTuple):
    """A segmented translation of the document, compared with the n units of a continuous one.

    `present` is true for segments that the translation has, shape (segments,). `near` is the similarity of each unit to
    the most similar sentence of each segment, shape (n, segments); 0 for segments that the translation lacks.
    """

    present: NDArray[np.bool_]
    meaning: Space
    wording: Space
    near: Matrix


def has_words(text: str | None) -> bool:
    """Whether a text has a letter or a digit."""
    return bool(text and _WORD.search(text))


def guide(prose: Units, segments: Sequence[str | None], longest: int, embed: Embed, foreign: bool = False) -> Guide:
    """Compare the units of a continuous translation with a segmented translation.

    Parameters
    ----------
    prose
        The continuous translation.
    segments
        Text of each source segment in the segmented translation, None if it has none.
    longest
        Maximum number of units that translate one segment.
    embed
        Maps texts to unit vectors, shape (texts, dimensions).
    foreign
        Whether `segments` are in another language. Meaning then counts alone, since the wordings cannot be compared.
    """
    present = np.array([has_words(segment) for segment in segments])
    pieces = [
        (index, text)
        for index, segment in enumerate(segments)
        if segment and present[index]
        for text in sentences(segment)
    ]
    owners, texts = np.array([index for index, _ in pieces], dtype=np.int_), [text for _, text in pieces]
    lengths = np.diff(prose.ends)
    vectors = np.asarray(embed([*prose.texts, *texts]), dtype=np.float64)
    unit_vectors, sentence_vectors = vectors[: len(prose.texts)], vectors[len(prose.texts) :]
    if foreign:
        unit_vectors, sentence_vectors = _centered(unit_vectors), _centered(sentence_vectors)
    # Weights are square roots of lengths: a long text has more content than a short one, but repeats part of it.
    unit_weights, sentence_weights = np.sqrt(lengths)[:, None], np.sqrt([len(text) for text in texts])[:, None]
    unit_words, sentence_words = (unit_vectors, sentence_vectors) if foreign else _wording(prose.texts, texts)
    count = len(segments)
    meaning = _space(unit_vectors * unit_weights, sentence_vectors * sentence_weights, owners, count, longest)
    wording = _space(unit_words, sentence_words, owners, count, longest)
    similarity = (unit_vectors @ sentence_vectors.T + _unit(unit_words) @ _unit(sentence_words).T) / 2
    near = np.zeros((len(prose.texts), count))
    for index in np.flatnonzero(present):
        near[:, index] = similarity[:, owners == index].max(axis=1)
    return Guide(present, meaning, wording, near)


def likeness(guides: Sequence[Guide], segment: int) -> Matrix:
    """Similarity of every stretch of units to a segment.

    Returns
    -------
    Mean of the similarities in meaning and in wording, over all guides that have the segment, in [-0.5, 1]. Shape
    (longest + 1, n + 1), by number of units and end of the stretch; 0 for stretches that do not exist.
    """
    with_segment = [guide for guide in guides if guide.present[segment]]
    spaces = [space for guide in with_segment for space in (guide.meaning, guide.wording)]
    total = sum(_over_stretches(space.dots[:, segment], len(space.norms)) / space.norms for space in spaces)
    return np.asarray(total, dtype=np.float64) / len(spaces)


def nearest(guides: Sequence[Guide]) -> Matrix:
    """Mean of `Guide.near` over the guides that have the segment, shape (n, segments); 0 if none has it."""
    counts = sum(guide.present.astype(np.float64) for guide in guides)
    return np.asarray(sum(guide.near for guide in guides) / np.maximum(counts, 1.0), dtype=np.float64)


def _space(units: Matrix, sentences: Matrix, owners: NDArray[np.int_], count: int, longest: int) -> Space:
    """Compare stretches with segments; `owners` has each sentence's segment, `count` is the number of segments."""
    summed = np.zeros((count, units.shape[1]))
    np.add.at(summed, owners, sentences)
    dots = np.vstack([np.zeros((1, count)), np.cumsum(units @ _unit(summed).T, axis=0)])
    # The squared length of a stretch's vector is the sum of a square block on the Gram matrix's diagonal.
    gram = np.zeros((len(units) + 1, len(units) + 1))
    gram[1:, 1:] = np.cumsum(np.cumsum(units @ units.T, axis=0), axis=1)
    norms = np.full((longest + 1, len(units) + 1), np.inf)
    diagonal = np.diagonal(gram)
    for size in range(1, longest + 1):
        squares = diagonal[size:] + diagonal[:-size] - 2 * np.diagonal(gram, size)
        norms[size, size:] = np.where(squares > _SMALL, np.sqrt(np.maximum(squares, _SMALL)), np.inf)
    return Space(dots, norms)


def _over_stretches(cumulative: NDArray[np.float64], rows: int) -> Matrix:
    """Sums over all stretches, by number of units and end, shape (rows, n + 1), from cumulative sums over units."""
    ends = np.arange(len(cumulative))
    starts = np.maximum(ends[None, :] - np.arange(rows)[:, None], 0)
    return np.asarray(cumulative[None, :] - cumulative[starts], dtype=np.float64)


def _wording(one: Sequence[str], other: Sequence[str]) -> tuple[Matrix, Matrix]:
    """Counts of stems in two lists of texts, one row per text, weighted by log(1 + texts / texts with the stem)."""
    stems = [Counter(map(stemmed, _WORDS.findall(text.lower()))) for text in (*one, *other)]
    frequencies = Counter(stem for counter in stems for stem in counter)
    columns = {stem: column for column, stem in enumerate(frequencies)}
    weights = {stem: np.log1p(len(stems) / count) for stem, count in frequencies.items()}
    counts = np.zeros((len(stems), len(columns)))
    for row, counter in enumerate(stems):
        for stem, count in counter.items():
            counts[row, columns[stem]] = count * weights[stem]
    return counts[: len(one)], counts[len(one) :]


def stemmed(word: str) -> str:
    """A word without common English endings; words of other languages mostly stay whole."""
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    return word.removesuffix(ending)


def _centered(vectors: Matrix) -> Matrix:
    """Unit vectors of a document's texts without what they have in common.

    Multilingual embedders keep languages apart, and many give any two texts a similarity above 0.7. Slightly less than
    the mean is subtracted, so that a single text keeps its direction.
    """
    return _unit(vectors - vectors.sum(axis=0) / (len(vectors) + 1))


def _unit(vectors: Matrix) -> Matrix:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _SMALL), dtype=np.float64)
