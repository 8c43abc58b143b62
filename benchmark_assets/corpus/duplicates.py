"""Near-duplicates among passages, so that a repeated text counts only once.

Here: visiting the passages, and comparing many sets of trigrams. Not here: trigrams (corpus.trigrams), the passages to
compare (selection), the threshold of similarity (corpus.filters).
"""

from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.corpus.trigrams import trigrams
from resources.catalogue import schema

WORDS = 32
"""64-bit words of a signature: 2,048 bits distinguish texts of up to about 5,000 distinct trigrams. The comparison of
longer texts is exact, too, but slower."""

DISCERNING = 4
"""Minimum number of bits in a signature for each trigram in which near-duplicates may differ. Signatures of
near-duplicates then differ in at most a quarter of their bits, signatures of unrelated texts in about half."""

STALE = 0.25
"""If more than this share of passages is closed (excluded from further comparisons), the arrays are copied without the
closed passages. With a smaller share, the arrays would be copied too often."""

BLOCK = 1024
"""Number of sets that are processed at once, to limit memory use."""

SLACK = 1e-9  # keeps rounding from excluding a pair that the exact comparison accepts

PAIR = schema("near_duplicate", "corpus")


class _Sets(NamedTuple):
    """Non-empty sets of trigrams, which are numbered as tokens from 0 to vocabulary - 1.

    Set i is `tokens[starts[i] : starts[i] + sizes[i]]`; `tokens` has shape (sum of sizes,), `starts` and `sizes` have
    shape (sets,).
    """

    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    vocabulary: int

    @classmethod
    def of(cls, texts: pl.Series) -> Self:
        """The sets of trigrams of these texts, in order."""
        codes = [trigrams(text) for text in texts]
        blocks = [np.concatenate(codes[at : at + BLOCK]) for at in range(0, len(codes), BLOCK)]
        vocabulary = np.unique(np.concatenate([np.unique(block) for block in blocks]))
        tokens = np.concatenate([np.searchsorted(vocabulary, block).astype(np.int32) for block in blocks])
        sizes = np.array([len(trigram_codes) for trigram_codes in codes], dtype=np.int64)
        return cls(tokens, np.cumsum(sizes) - sizes, sizes, len(vocabulary))

    def members(self, sets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Tokens of the sets with these numbers, concatenated, and the offset of each set in the result."""
        sizes = self.sizes[sets]
        begins = np.cumsum(sizes) - sizes
        return self.tokens[np.arange(sizes.sum()) + np.repeat(self.starts[sets] - begins, sizes)], begins

    def similarities(self, one: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Jaccard similarity of a set to each of `others`, shape (others,), in [0, 1]."""
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
        """Bit signatures of the sets, shape (sets, WORDS): the parity of a set's tokens in each of 64 * WORDS groups.

        A token that only one of two sets contains flips one bit. So two sets differ in at least as many tokens as their
        signatures differ in bits.
        """
        bits = 64 * WORDS
        words = np.empty((len(self.sizes), WORDS), dtype=np.uint64)
        for at in range(0, len(words), BLOCK):
            block = np.arange(at, min(at + BLOCK, len(words)))
            tokens, _ = self.members(block)
            cells = np.repeat((block - at) * bits, self.sizes[block]) + tokens % bits
            odd = np.bincount(cells, minlength=len(block) * bits).astype(np.uint8) & 1
            words[block] = np.packbits(odd).view(np.uint64).reshape(-1, WORDS)
        return words


class _Remaining:
    """Passages that may still turn out to be near-duplicates, in order of their sizes.

    Passages are numbered in the order in which they are visited. If two sets have a similarity of at least t, the ratio
    of their sizes is at least t, and the number of tokens in which they differ is at most (1 - t) / (1 + t) times the
    sum of their sizes. Two tests exclude most pairs before an exact comparison: a binary search over sizes, and a
    comparison of bit signatures, first short (folded) ones, then whole ones. The number of differing bits is a lower
    bound on the number of differing tokens.
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
        self.open_count = len(self.passages)

    def close(self, passages: NDArray[np.int64] | int) -> None:
        """Exclude passages from all further comparisons."""
        self.open_count -= np.size(passages)
        self.open[passages] = False
        if self.open_count < (1 - STALE) * len(self.passages):
            is_open = self.open[self.passages]
            self.passages = self.passages[is_open]
            # np.compress keeps rows contiguous. Indexing does not, and comparisons would take six times as long.
            self.folded = [np.compress(is_open, words, axis=1) for words in self.folded]
            self._sizes_changed()

    def like(self, passage: int) -> NDArray[np.int64]:
        """Candidates for near-duplicates of a passage: all open passages whose similarity reaches the threshold, and
        possibly others."""
        size = int(self.sets.sizes[passage])
        ratio = self.threshold * (1 - SLACK)
        low, high = np.searchsorted(self.ascending, [size * ratio, size / ratio], side="left")
        if low == high:
            return self.passages[:0]
        share = (1 - ratio) / (1 + ratio)
        most = int(share * (size + self.ascending[high - 1]))
        long_enough = (words for words in self.folded if 64 * len(words) >= DISCERNING * most)
        words = next(long_enough, self.folded[-1])[:, low:high]
        folded = np.bitwise_xor.reduce(self.signatures[passage].reshape(-1, len(words)), axis=0)
        candidates = self.passages[low:high][_differing(words, folded[:, None], 0) <= most]
        candidates = candidates[self.open[candidates]]
        differing = _differing(self.signatures[candidates], self.signatures[passage], 1)
        return candidates[differing <= share * (size + self.sets.sizes[candidates])]


def _differing(words: NDArray[np.uint64], other: NDArray[np.uint64], axis: int) -> NDArray[np.uint16]:
    """Number of bits in which signatures differ; `axis` is the axis of the signatures' words."""
    counts: NDArray[np.uint16] = np.bitwise_count(words ^ other).sum(axis=axis, dtype=np.uint16)
    return counts


def near_duplicates(passages: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Passages that nearly repeat an earlier passage.

    Passages are visited in order of their ids (by code point: 'mn10:1' before 'mn9:1'). A passage is dropped if its
    similarity to a passage kept so far is at or above the threshold. Its partner is the first such passage in that
    order, not the most similar one. This rule reproduces all 174 pairs in PaliBench's record; with the most similar
    passage, 172 pairs are reproduced.

    Parameters
    ----------
    passages
        Columns `passage` (without repetitions) and `text`.
    threshold
        Jaccard similarity of trigram sets (corpus.trigrams), in (0, 1]. Near the published 0.85, about 100,000 passages
        take seconds; lower thresholds take longer.

    Returns
    -------
    One row per dropped passage, in order of ids: `passage`, `kept` (its partner) and `similarity` to the partner. The
    result is exact, as if all pairs were compared.

    Raises
    ------
    ValueError
        For a threshold outside (0, 1], or if a passage occurs twice.

    Notes
    -----
    Source: PaliBench, section 3.4.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"the threshold must be in (0, 1], got {threshold}")
    if passages["passage"].is_duplicated().any():
        raise ValueError("a passage occurs twice")
    if passages.is_empty():
        return PAIR.to_frame()
    ordered = passages.sort("passage")
    dropped, partners, similarity = _walk(_Sets.of(ordered["text"]), threshold)
    names = ordered["passage"]
    return pl.DataFrame({"passage": names[dropped], "kept": names[partners], "similarity": similarity}, schema=PAIR)


def _walk(sets: _Sets, threshold: float) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of the dropped sets, ascending; the number of each dropped set's partner; and their
    similarity.

    Each kept set is compared with all later sets that are still open. A set is closed once it is dropped, so its
    partner is the first kept set that is similar to it.
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
