"""Near-duplicates among passages: which of them are kept, so that no text counts many times.

Here: the walk over the passages and the comparison of many sets. Not here: what a trigram is (corpus.trigrams), which
passages are compared and how alike is too alike (corpus.filters).
"""

from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.corpus.trigrams import trigrams
from resources.catalogue import schema

WORDS = 32
"""64-bit words of a signature: 2,048 bits tell texts of up to some 5,000 distinct trigrams apart. Longer ones are
compared as exactly, and more slowly."""

DISCERNING = 4
"""Bits of a signature for each trigram in which near-duplicates may differ. Signatures of unrelated texts differ in
half of their bits: twice as many."""

STALE = 0.25
"""Share of passages that need no comparison any more from which on they are cleared away. Less copies too often."""

BLOCK = 1024
"""Sets handled at once; bounds memory whatever there is to compare."""

SLACK = 1e-9  # so that no rounding leaves out what the exact comparison would let in

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
        sizes = np.array([len(each) for each in codes], dtype=np.int64)
        return cls(tokens, np.cumsum(sizes) - sizes, sizes, len(vocabulary))

    def members(self, sets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Tokens of some sets, one set after the other, and where in them each set begins."""
        sizes = self.sizes[sets]
        begins = np.cumsum(sizes) - sizes
        return self.tokens[np.arange(sizes.sum()) + np.repeat(self.starts[sets] - begins, sizes)], begins

    def similarities(self, one: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Jaccard similarity of a set to others."""
        if not len(others):
            return np.zeros(0)
        own = np.zeros(self.vocabulary, dtype=bool)
        own[self.tokens[self.starts[one] :][: self.sizes[one]]] = True
        shared = np.zeros(len(others), dtype=np.int64)
        for at in range(0, len(others), BLOCK):
            tokens, begins = self.members(others[at : at + BLOCK])
            shared[at : at + BLOCK] = np.add.reduceat(own[tokens], begins, dtype=np.int64)
        similarities: NDArray[np.float64] = shared / (self.sizes[one] + self.sizes[others] - shared)
        return similarities

    def signatures(self) -> NDArray[np.uint64]:
        """For each set, of each of 64 * WORDS groups of tokens, whether it holds an odd number; (sets, WORDS).

        A token that two sets do not share turns one bit: they differ in at least as many tokens as their signatures
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
    or more, and differ in (1 - t) / (1 + t) of the sum of their sizes or less. Sizes are looked up, the difference is
    bounded from below by that of the signatures: of shorter ones made by folding, and of those left, of the whole.
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
        """Leave out what needs no comparison any more."""
        self.left -= np.size(passages)
        self.open[passages] = False
        if self.left < (1 - STALE) * len(self.passages):
            staying = self.open[self.passages]
            self.passages = self.passages[staying]
            # np.compress keeps rows contiguous; an index by `staying` would not, and comparing takes six times as long.
            self.folded = [np.compress(staying, words, axis=1) for words in self.folded]
            self._sizes_changed()

    def like(self, passage: int) -> NDArray[np.int64]:
        """Those that may be as similar to a passage as the threshold asks: all that are, and some that are not."""
        size = int(self.sets.sizes[passage])
        ratio = self.threshold * (1 - SLACK)
        low, high = np.searchsorted(self.ascending, [size * ratio, size / ratio], side="left")
        if low == high:
            return self.passages[:0]
        share = (1 - ratio) / (1 + ratio)
        most = int(share * (size + self.ascending[high - 1]))
        fitting = (words for words in self.folded if 64 * len(words) >= DISCERNING * most)
        words = next(fitting, self.folded[-1])[:, low:high]
        own = np.bitwise_xor.reduce(self.signatures[passage].reshape(-1, len(words)), axis=0)
        found = self.passages[low:high][_differing(words, own[:, None], 0) <= most]
        found = found[self.open[found]]
        differing = _differing(self.signatures[found], self.signatures[passage], 1)
        return found[differing <= share * (size + self.sets.sizes[found])]


def _differing(words: NDArray[np.uint64], own: NDArray[np.uint64], axis: int) -> NDArray[np.uint16]:
    counts: NDArray[np.uint16] = np.bitwise_count(words ^ own).sum(axis=axis, dtype=np.uint16)
    return counts


def near_duplicates(passages: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Passages that say what another says already.

    Passages are walked through in order of their ids (by code point: 'mn10:1' before 'mn9:1'). One whose similarity to
    any passage kept so far is at the threshold or above is dropped; its partner is the first such passage in that
    order, not the most similar one: that rule gives all 174 pairs of PaliBench's record, the other 172.

    Parameters
    ----------
    passages
        Columns `passage`, each once, and `text`.
    threshold
        Jaccard similarity of trigram sets (corpus.trigrams), in (0, 1]. Near the published 0.85 some 100,000 passages
        take seconds; time and candidates grow as it falls.

    Returns
    -------
    Columns `passage`, `kept` (its partner) and `similarity` (Float64, of the two), a row for each dropped passage, in
    order of ids. The result is exact: that of comparing all pairs.

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
    """Sets that are dropped, ascending, with the first kept one that each is like, and their similarity.

    Each kept set drops those after it, so that none is compared that is dropped already, and the first partner is found
    first.
    """
    partners = np.full(len(sets.sizes), -1, dtype=np.int64)
    similarity = np.zeros(len(sets.sizes))
    remaining = _Remaining(sets, threshold)
    for one in range(len(sets.sizes)):
        if remaining.open[one]:
            remaining.close(one)
            others = remaining.like(one)
            alike = sets.similarities(one, others)
            found = others[alike >= threshold]
            partners[found], similarity[found] = one, alike[alike >= threshold]
            remaining.close(found)
    dropped = np.flatnonzero(partners >= 0)
    return dropped, partners[dropped], similarity[dropped]
