"""Counts of n-grams that candidates share with the references of their item, for many items at once.

Not here: tokenization (metrics.tokens), scores from the counts (metrics.lexical).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SPARSE = 64  # up to this ratio of possible to actual values, a lookup table is faster than sorting


class Layout(NamedTuple):
    """The item and place of each text in a sequence of texts.

    `items` is the index of each text's item, ascending from 0; `columns` is the text's place within the item; both have
    shape (texts,). `references` is the largest number of references of any item. In every item, the references have
    places from 0, and the candidates have places from `references`.
    """

    items: NDArray[np.int64]
    columns: NDArray[np.int64]
    references: int


def matched_ngrams(
    tokens: NDArray[np.int64], lengths: NDArray[np.int64], layout: Layout, longest: int, pooled: bool
) -> Iterator[NDArray[np.int64]]:
    """Count the n-grams that candidates share with references, for n from 1 to `longest`.

    Parameters
    ----------
    tokens
        Token numbers of all texts, concatenated. Equal tokens have equal numbers; numbers are not negative.
    lengths
        Number of tokens of each text, shape (texts,).
    pooled
        Whether candidates are compared with all references at once, using the maximum count of each n-gram over the
        references (as in BLEU), or with each reference separately (as in chrF).

    Yields
    ------
    For each n, numbers of shared n-grams, shape (candidates, references, items), or (candidates, 1, items) if pooled.
    Each shared n-gram contributes the smaller of its two counts.

    Notes
    -----
    An n-gram is identified by the number of the (n - 1)-gram at its beginning and by its last token. N-grams are
    renumbered for each n, so that numbers stay small and unique. An n-gram that occurs in no reference of an item, or
    in no candidate, is dropped, because the item's candidates and references cannot share any extension of it.
    """
    kinds, tokens = _renumbered(tokens, int(tokens.max(initial=0)) + 1)
    texts = np.repeat(np.arange(len(lengths)), lengths)
    columns, at = layout.columns[texts], np.arange(len(tokens))
    remaining = np.cumsum(lengths)[texts] - at  # tokens from each token to the end of its text
    width, items = layout.columns.max() + 1, layout.items[-1] + 1
    grams, owners = layout.items[texts], np.arange(items)
    for n in range(1, longest + 1):
        distinct, grams = _renumbered(grams * len(kinds) + tokens[at + n - 1], len(owners) * len(kinds))
        owners = owners[distinct // len(kinds)]
        cells = columns[at] * len(distinct) + grams
        counts = np.bincount(cells, minlength=width * len(distinct)).reshape(width, len(distinct))
        references, candidates = np.split(counts, [layout.references])
        most = references.max(axis=0)
        limits = most[np.newaxis] if pooled else references
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        sums = np.zeros((len(candidates), len(limits), items), dtype=np.int64)
        for number, limit in enumerate(limits):
            sums[:, number, owners[first]] = np.add.reduceat(np.minimum(candidates, limit), first, axis=1)
        yield sums
        shared = (most > 0) & candidates.any(axis=0)
        owners = owners[shared]
        keep = np.flatnonzero(shared[grams] & (remaining[at] > n))
        at, grams = at[keep], (np.cumsum(shared) - 1)[grams[keep]]


def _renumbered(values: NDArray[np.int64], bound: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values in ascending order, and the index of each value among them. All values are below `bound`."""
    if bound > SPARSE * len(values):
        return np.unique(values, return_inverse=True)
    used = np.zeros(bound, dtype=np.bool_)
    used[values] = True
    distinct = np.flatnonzero(used)
    numbers = np.empty(bound, dtype=np.int64)
    numbers[distinct] = np.arange(len(distinct))
    return distinct, numbers[values]
