"""Similarity of stretches of a continuous translation to the segments of its guides, which are segmented translations.

Here: similarities of units, and of stretches (sequences of units), to the segments. Not here: embedding, the best path
through these similarities (monotone).

The vector of a stretch is the sum of its units' vectors, computed from cumulative sums, so that only units are
embedded. Similarity is the mean of two measures: meaning (sentence embeddings) and wording (stems weighted by rarity),
because translations of the same text share names, numbers and images.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.alignment.units import TextUnits
from benchmark_assets.corpus.sentences import sentences

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
    """Dot products and norms of a text of n units, from which the cosine of any stretch with any segment follows.

    Attributes
    ----------
    dots
        Dot product of the sum of the first i units with each segment's unit vector, averaged over the guides that have
        the segment, shape (n + 1, segments).
    scales
        Inverse norm of each stretch's vector, shape (longest + 1, n + 1). The first index is the stretch's number of
        units, the second one its end. The value is 0 for stretches that do not exist.
    """

    dots: Matrix
    scales: Matrix


class GuideLikeness(NamedTuple):
    """The n units of a continuous translation, compared with the segments of its guides.

    Attributes
    ----------
    spaces
        One for each measure of similarity; similarities are their means.
    near
        Similarity of each unit to the most similar sentence of each segment, averaged over the guides that have the
        segment, shape (n, segments); 0 for segments that no guide has.
    similarity
        Similarity of each unit to each sentence of all guides, shape (n, sentences).
    owners
        The segment of each sentence, shape (sentences,).
    shares
        Number of characters of each sentence, divided by the number of characters of its segment in all guides
        together, shape (sentences,).
    """

    spaces: tuple[Space, ...]
    near: Matrix
    similarity: NDArray[np.float32]
    owners: NDArray[np.int_]
    shares: Matrix


def has_words(text: str | None) -> bool:
    """Whether a text has a letter or a digit."""
    return bool(text and _WORD.search(text))


def compare(
    prose: TextUnits, guides: Sequence[Sequence[str | None]], longest: int, embed: Embed, foreign: bool = False
) -> GuideLikeness:
    """Compare the units of a continuous translation with segmented translations.

    Parameters
    ----------
    prose
        The continuous translation.
    guides
        Segmented translations. Each has one text per source segment, or None for a segment that it lacks.
    longest
        Maximum number of units that translate one segment.
    embed
        Maps texts to unit vectors, shape (texts, dimensions).
    foreign
        Whether the guide is in another language than the prose. If so, only meaning is compared, because words differ.
    """
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    pieces = [
        (number, index, text)
        for number, segments in enumerate(guides)
        for index, segment in enumerate(segments)
        if segment and has_words(segment)
        for text in sentences(segment)
    ]
    texts = [text for *_, text in pieces]
    # The sentences of one segment in one guide are consecutive: a group.
    places = np.array([place for *place, _ in pieces], dtype=np.int_)
    firsts = np.flatnonzero(np.any(np.diff(places, axis=0, prepend=-1), axis=1))
    groups = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(places)))
    owners, count = places[firsts, 1], len(guides[0])
    presence = np.bincount(owners, minlength=count)
    shares = csr_array((1 / presence[owners], (owners, np.arange(len(owners)))), (count, len(owners)))
    summed = csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), (len(firsts), len(groups)))
    vectors = np.asarray(embed([*prose.texts, *texts]), dtype=np.float64)
    unit_vectors, sentence_vectors = vectors[: len(prose.texts)], vectors[len(prose.texts) :]
    if foreign:
        unit_vectors, sentence_vectors = _centered(unit_vectors), _centered(sentence_vectors)
    # Weights are square roots of lengths: a long text has more content than a short one, but repeats part of it.
    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    unit_weights, sentence_weights = np.sqrt(np.diff(prose.ends))[:, None], np.sqrt(lengths)[:, None]
    words = csr_array(np.vstack([unit_vectors, sentence_vectors])) if foreign else _wording([*prose.texts, *texts])
    unit_words, sentence_words = words[: len(prose.texts)], words[len(prose.texts) :]
    weighted = unit_vectors * unit_weights
    guided = shares @ _unit(summed @ (sentence_vectors * sentence_weights))
    meaning = _space(weighted @ guided.T, weighted @ weighted.T, longest)
    guided_words = (unit_words @ (shares @ _unit_rows(summed @ sentence_words)).T).toarray()
    wording = _space(guided_words, (unit_words @ unit_words.T).toarray(), longest)
    similarity = unit_vectors @ sentence_vectors.T
    similarity = (similarity + (_unit_rows(unit_words) @ _unit_rows(sentence_words).T).toarray()) / 2
    near = np.asarray((shares @ np.maximum.reduceat(similarity, firsts, axis=1).T).T, dtype=np.float64)
    segments = owners[groups]
    shares_of_segments = lengths / np.bincount(segments, lengths)[segments]
    return GuideLikeness((meaning, wording), near, similarity.astype(np.float32), segments, shares_of_segments)


def together(guided: GuideLikeness, foreign: GuideLikeness) -> GuideLikeness:
    """Comparisons of the same units with guides and with the source, averaged for segments that a guide has; for the
    others, the comparison with the source."""
    with_guide = np.bincount(guided.owners, minlength=guided.near.shape[1]) > 0
    weight = np.where(with_guide, 0.5, 1.0)
    spaces = [(space, 2 * (1 - weight)) for space in guided.spaces] + [(space, 2 * weight) for space in foreign.spaces]
    return GuideLikeness(
        tuple(Space(space.dots * factor, space.scales) for space, factor in spaces),
        guided.near * (1 - weight) + foreign.near * weight,
        np.hstack([guided.similarity, foreign.similarity]),
        np.concatenate([guided.owners, foreign.owners]),
        np.concatenate([guided.shares * (1 - weight[guided.owners]), foreign.shares * weight[foreign.owners]]),
    )


def likeness(compared: GuideLikeness, segments: int | NDArray[np.int_], longest: int | None = None) -> Matrix:
    """Similarity of every stretch of units to a segment, or the sum of its similarities to several segments.

    Stretches have at most `longest` units; None includes all stretches that were compared.

    Returns
    -------
    Mean of the similarities in meaning and in wording, over all guides that have the segment, in [-0.5, 1]. The shape
    is (longest + 1, n + 1), with indices as in `Space.scales`; 0 for stretches that do not exist.
    """
    rows = len(compared.spaces[0].scales) if longest is None else longest + 1
    similarities = [
        _over_stretches(space.dots[:, np.atleast_1d(segments)].sum(axis=1), rows) * space.scales[:rows]
        for space in compared.spaces
    ]
    return np.asarray(sum(similarities) / len(similarities), dtype=np.float64)


def stretch_likeness(compared: GuideLikeness, firsts: NDArray[np.int_], lasts: NDArray[np.int_]) -> Matrix:
    """Similarity of stretches (units first to last - 1) to all segments, shape (stretches, segments)."""
    similarities = [
        (space.dots[lasts] - space.dots[firsts]) * space.scales[lasts - firsts, lasts][:, None]
        for space in compared.spaces
    ]
    return np.asarray(sum(similarities) / len(similarities), dtype=np.float64)


def matched(compared: GuideLikeness, windows: Sequence[tuple[int, int]]) -> Matrix:
    """For each unit and segment: the share of the segment's guide sentences whose best match is this unit.

    Sentences are weighted by length. `windows` has a half-open range of units for each segment, possibly empty: the
    segment is compared only with these units. Returns shape (n, segments); the shares of a segment sum to 1, or to 0 if
    its window is empty.
    """
    matches = np.zeros_like(compared.near)
    for segment, (first, last) in enumerate(windows):
        sentences = np.flatnonzero(compared.owners == segment)
        if last > first and len(sentences):
            units = first + compared.similarity[first:last, sentences].argmax(axis=0)
            np.add.at(matches[:, segment], units, compared.shares[sentences])
    return matches


def _space(dots: Matrix, products: Matrix, longest: int) -> Space:
    """Sum dot products over stretches: `dots` of units with segments, `products` of units with one another."""
    count = len(products)
    # The squared length of a stretch's vector is the sum of a square block on the diagonal of `products`.
    gram = np.zeros((count + 1, count + 1))
    gram[1:, 1:] = np.cumsum(np.cumsum(products, axis=0), axis=1)
    scales = np.zeros((longest + 1, count + 1))
    diagonal = np.diagonal(gram)
    for size in range(1, longest + 1):
        squares = diagonal[size:] + diagonal[:-size] - 2 * np.diagonal(gram, size)
        scales[size, size:] = np.where(squares > _SMALL, 1 / np.sqrt(np.maximum(squares, _SMALL)), 0)
    return Space(np.vstack([np.zeros((1, dots.shape[1])), np.cumsum(dots, axis=0)]), scales)


def _over_stretches(cumulative: NDArray[np.float64], rows: int) -> Matrix:
    """Sums over all stretches, computed from cumulative sums over units.

    Returns shape (rows, n + 1), with indices as in `Space.scales`.
    """
    ends = np.arange(len(cumulative))
    starts = np.maximum(ends[None, :] - np.arange(rows)[:, None], 0)
    return np.asarray(cumulative[None, :] - cumulative[starts], dtype=np.float64)


def _wording(texts: Sequence[str]) -> Any:
    """Counts of stems, one row per text, weighted by log(1 + texts / texts with the stem)."""
    from scipy.sparse import csr_array

    stems = [Counter(map(stemmed, _WORDS.findall(text.lower()))) for text in texts]
    frequencies = Counter(stem for counter in stems for stem in counter)
    columns = {stem: column for column, stem in enumerate(frequencies)}
    weights = {stem: np.log1p(len(stems) / count) for stem, count in frequencies.items()}
    entries = [
        (row, columns[stem], count * weights[stem])
        for row, counter in enumerate(stems)
        for stem, count in counter.items()
    ]
    rows, stem_columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    return csr_array((np.array(values, dtype=np.float64), (rows, stem_columns)), (len(stems), len(columns)))


@lru_cache(100_000)
def stemmed(word: str) -> str:
    """A word without common English endings; words of other languages mostly stay whole."""
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    return word.removesuffix(ending)


def _centered(vectors: Matrix) -> Matrix:
    """Unit vectors of a document's texts, after subtracting most of the direction that they have in common.

    Multilingual embedders keep languages apart, and many give any two texts a similarity above 0.7. Slightly less than
    the mean is subtracted, so that a single text keeps its direction.
    """
    return _unit(vectors - vectors.sum(axis=0) / (len(vectors) + 1))


def _unit(vectors: Matrix) -> Matrix:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _SMALL), dtype=np.float64)


def _unit_rows(rows: Any) -> Any:
    norms = np.sqrt(rows.multiply(rows).sum(axis=1))
    return rows.multiply(1 / np.maximum(norms, _SMALL)[:, None]).tocsr()
