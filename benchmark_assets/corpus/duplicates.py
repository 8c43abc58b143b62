"""Near-duplicates among passages, and the passages to keep, so that no text counts many times.

Here: the walk over the passages and the comparison of many sets. Not here: trigrams (corpus.trigrams), the passages to
compare and the threshold of similarity (corpus.filters).
"""

from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.corpus.trigrams import trigrams
from resources.catalogue import schema

WORDS = 32
"""64-bit words of a signature: 2,048 bits distinguish texts of up to some 5,000 distinct trigrams. The comparison of
longer texts is exact, too, but slower."""

DISCERNING = 4
"""Bits of a signature for each trigram by which near-duplicates may differ. Signatures of unrelated texts differ in
half of their bits: twice as many."""

STALE = 0.25
"""Share of closed passages from which they are removed from the arrays. A smaller share copies too often."""

BLOCK = 1024
"""Sets handled at once; bounds memory for any number of passages."""

SLACK = 1e-9  # keeps rounding from excluding a pair that the exact comparison accepts

PAIR = schema("near_duplicate", "corpus")


class _Sets(NamedTuple):
    """Sets of trigrams, none empty: set i is `tokens[starts[i] : starts[i] + sizes[i]]`, tokens in 0 … vocabulary-1."""

    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    vocabulary: int

    @classmethod
    def of(cls, texts: pl.Series) -> Self:
        codes = [trigrams(text) for text in texts]
        blocks = [np.concatenate(codes[at : at + BLOCK]) for at in range(0, len(codes), BLOCK)]
        vocabulary = np.unique(np.concatenate([np.unique(block) for block in blocks]))
        tokens = np.concatenate([np.searchsorted(vocabulary, block).astype(np.int32) for block in blocks])
        sizes = np.array([len(trigram_codes) for trigram_codes in codes], dtype=np.int64)
        return cls(tokens, np.cumsum(sizes) - sizes, sizes, len(vocabulary))

    def members(self, sets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Tokens of some sets, one set after the other, and the offset of each set in them."""
        sizes = self.sizes[sets]
        begins = np.cumsum(sizes) - sizes
        return self.tokens[np.arange(sizes.sum()) + np.repeat(self.starts[sets] - begins, sizes)], begins

    def similarities(self, one: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Jaccard similarity of a set to others."""
        if not len(others):
            return np.zeros(0)
        member = np.zeros(self.vocabulary, dtype=bool)
        member[self.tokens[self.starts[one] :][: self.sizes[one]]] = True
        shared = np.zeros(len(others), dtype=np.int64)
        for at in range(0, len(others), BLOCK):
            tokens, begins = self.members(others[at : at + BLOCK])
            shared[at : at + BLOCK] = np.add.reduceat(member[tokens], begins, dtype=np.int64)
        similarities: NDArray[np.float64] = shared / (self.sizes[one] + self.sizes[others] - shared)
        return similarities

    def signatures(self) -> NDArray[np.uint64]:
        """Parities of each set's tokens in 64 * WORDS groups, as bits; shape (sets, WORDS).

        A token that two sets do not share flips one bit: two sets differ in at least as many tokens as their signatures
        differ in bits.
        """
        bits = 64 * WORDS
        made = np.empty((len(self.sizes), WORDS), dtype=np.uint64)
        for at in range(0, len(made), BLOCK):
            block = np.arange(at, min(at + BLOCK, len(made)))
            tokens, _ = self.members(block)
            cells = np.repeat((block - at) * bits, self.sizes[block]) + tokens % bits
            odd = np.bincount(cells, minlength=len(block) * bits).astype(np.uint8) & 1
            made[block] = np.packbits(odd).view(np.uint64).reshape(-1, WORDS)
        return made


class _Remaining:
    """Passages that may still turn out to be near-duplicates, by size.

    Passages are numbers, in the order of the walk. Two sets with a similarity of t or more have sizes with a ratio of t
    or more, and differ in (1 - t) / (1 + t) of the sum of their sizes or less. Sizes are looked up. The difference of
    the signatures is a lower bound of the difference: first of shorter signatures made by folding, then of whole ones.
    """

    def __init__(self, sets: _Sets, threshold: float) -> None:
        self.sets, self.threshold = sets, threshold
        self.signatures = sets.signatures()
        self.open = np.ones(len(sets.sizes), dtype=bool)
        self.passages = np.argsort(sets.sizes, kind="stable")
        folded = [np.ascontiguousarray(self.signatures[self.passages].T)]
        while len(folded[-1]) > 1:
            half = len(folded[-1]) // 2
            folded.append(folded[-1][:half] ^ folded[-1][half:])
        self.folded = folded[:0:-1]
        self._sizes_changed()

    def _sizes_changed(self) -> None:
        self.ascending = self.sets.sizes[self.passages]
        self.left = len(self.passages)

    def close(self, passages: NDArray[np.int64] | int) -> None:
        """Exclude passages from further comparisons."""
        self.left -= np.size(passages)
        self.open[passages] = False
        if self.left < (1 - STALE) * len(self.passages):
            staying = self.open[self.passages]
            self.passages = self.passages[staying]
            # np.compress keeps rows contiguous; an index by `staying` would not, and comparing takes six times as long.
            self.folded = [np.compress(staying, words, axis=1) for words in self.folded]
            self._sizes_changed()

    def like(self, passage: int) -> NDArray[np.int64]:
        """Candidates for near-duplicates of a passage: all passages at the threshold or above, and some below."""
        size = int(self.sets.sizes[passage])
        ratio = self.threshold * (1 - SLACK)
        low, high = np.searchsorted(self.ascending, [size * ratio, size / ratio], side="left")
        if low == high:
            return self.passages[:0]
        share = (1 - ratio) / (1 + ratio)
        most = int(share * (size + self.ascending[high - 1]))
        fitting = (words for words in self.folded if 64 * len(words) >= DISCERNING * most)
        words = next(fitting, self.folded[-1])[:, low:high]
        folded = np.bitwise_xor.reduce(self.signatures[passage].reshape(-1, len(words)), axis=0)
        candidates = self.passages[low:high][_differing(words, folded[:, None], 0) <= most]
        candidates = candidates[self.open[candidates]]
        differing = _differing(self.signatures[candidates], self.signatures[passage], 1)
        return candidates[differing <= share * (size + self.sets.sizes[candidates])]


def _differing(words: NDArray[np.uint64], other: NDArray[np.uint64], axis: int) -> NDArray[np.uint16]:
    counts: NDArray[np.uint16] = np.bitwise_count(words ^ other).sum(axis=axis, dtype=np.uint16)
    return counts


def near_duplicates(passages: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Passages that nearly repeat another passage.

    Passages are visited in order of their ids (by code point: 'mn10:1' before 'mn9:1'). A passage whose similarity to
    any passage kept so far is at the threshold or above is dropped. Its partner is the first such passage in that
    order, not the most similar one: this rule gives all 174 pairs of PaliBench's record, the other rule 172.

    Parameters
    ----------
    passages
        Columns `passage`, each once, and `text`.
    threshold
        Jaccard similarity of trigram sets (corpus.trigrams), in (0, 1]. Near the published 0.85 some 100,000 passages
        take seconds; time and candidates grow as it falls.

    Returns
    -------
    Columns `passage`, `kept` (its partner) and `similarity` (Float64, of the two), one row a dropped passage, in order
    of ids. The result is exact, as if all pairs were compared.

    Raises
    ------
    ValueError
        With a threshold outside (0, 1], or a passage that occurs twice.

    Notes
    -----
    Source: PaliBench, section 3.4.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"a similarity is in (0, 1], got the threshold {threshold}")
    if passages["passage"].is_duplicated().any():
        raise ValueError("a passage occurs twice")
    if passages.is_empty():
        return PAIR.to_frame()
    ordered = passages.sort("passage")
    dropped, partners, similarity = _walk(_Sets.of(ordered["text"]), threshold)
    names = ordered["passage"]
    return pl.DataFrame({"passage": names[dropped], "kept": names[partners], "similarity": similarity}, schema=PAIR)


def _walk(sets: _Sets, threshold: float) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Dropped sets, ascending, with the first kept set that is similar to each, and their similarity.

    Each kept set drops later ones, so that dropped sets are not compared again, and the first partner is found first.
    """
    partners = np.full(len(sets.sizes), -1, dtype=np.int64)
    similarity = np.zeros(len(sets.sizes))
    remaining = _Remaining(sets, threshold)
    for one in range(len(sets.sizes)):
        if remaining.open[one]:
            remaining.close(one)
            others = remaining.like(one)
            alike = sets.similarities(one, others)
            duplicates = others[alike >= threshold]
            partners[duplicates], similarity[duplicates] = one, alike[alike >= threshold]
            remaining.close(duplicates)
    dropped = np.flatnonzero(partners >= 0)
    return dropped, partners[dropped], similarity[dropped]
