"""N-grams that candidates share with the references of their item, of many items at once.

Here: counting, in texts that are rows of numbers. Not here: what a token is, and what follows from the counts
(metrics.lexical).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SPARSE = 64  # how many times fewer values than room they may be for a table to be faster than sorting


class Layout(NamedTuple):
    """Whose the texts are that follow one another.

    `items` and `columns` have shape (texts,): the item that a text belongs to, counted from 0, ascending, and its place
    in the item: references are counted from 0, candidates from `references`, the number that no item exceeds.
    """

    items: NDArray[np.int64]
    columns: NDArray[np.int64]
    references: int


def matched_ngrams(
    tokens: NDArray[np.int64], lengths: NDArray[np.int64], layout: Layout, longest: int, pooled: bool
) -> Iterator[NDArray[np.int64]]:
    """Count the n-grams that a candidate and a reference have in common, for n from 1 to `longest`.

    Parameters
    ----------
    tokens
        The tokens of all texts, text after text: equal numbers for equal tokens, not negative.
    lengths
        How many of them each text has, shape (texts,).
    pooled
        Whether to compare with all references at once, an n-gram as often as the one has it that has it most often
        (as BLEU does), or with each (chrF).

    Yields
    ------
    Shape (candidates, references, items), or (candidates, 1, items) where pooled. An n-gram that both have several
    times counts as often as the one has it that has it less often.

    Notes
    -----
    An n-gram is the number of its first n - 1 tokens followed by a token; those in use are numbered anew for each n, so
    two n-grams are never taken for each other. What no reference or no candidate of an item has is dropped at
    once, for nothing longer that begins with it is shared.
    """
    kinds, tokens = _renumbered(tokens, int(tokens.max(initial=0)) + 1)
    texts = np.repeat(np.arange(len(lengths)), lengths)
    columns, at = layout.columns[texts], np.arange(len(tokens))
    rest = np.cumsum(lengths)[texts] - at
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
        keep = np.flatnonzero(shared[grams] & (rest[at] > n))
        at, grams = at[keep], (np.cumsum(shared) - 1)[grams[keep]]


def _renumbered(values: NDArray[np.int64], bound: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values in order, all below `bound`, and for each value which of them it is."""
    if bound > SPARSE * len(values):
        return np.unique(values, return_inverse=True)
    used = np.zeros(bound, dtype=np.bool_)
    used[values] = True
    distinct = np.flatnonzero(used)
    numbers = np.empty(bound, dtype=np.int64)
    numbers[distinct] = np.arange(len(distinct))
    return distinct, numbers[values]
