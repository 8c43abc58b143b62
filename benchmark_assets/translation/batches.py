"""Cutting passages into requests.

Here: grouping passages. Not here: counting tokens (resources.provider.tokens), the text of a request (prompts).
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

Item = TypeVar("Item")


def batches(texts: Mapping[str, str], budget: int, count: Callable[[str], int]) -> list[list[str]]:
    """Cut passages, in order, into batches of at most `budget` source tokens, one passage at least.

    Parameters
    ----------
    texts
        Source texts by passage key, in the order of sending.
    budget
        Most source tokens of a batch, from 1. Keys and JSON around the texts are not counted.
    count
        Tokens of a text (resources.provider.tokens).

    Returns
    -------
    list
        Keys of each batch. Each takes as many passages as fit; a passage longer than the budget is a batch of its own.

    Raises
    ------
    ValueError
        For a budget below 1.

    Notes
    -----
    Source: PaliBench, appendix A; the audit, section 3.2 (about 3,000 source tokens a request).
    """
    if budget < 1:
        raise ValueError(f"a batch needs a budget of one token or more, got {budget}")
    cut: list[list[str]] = []
    size = 0
    for passage, text in texts.items():
        tokens = count(text)
        if not cut or size + tokens > budget:
            cut.append([])
            size = 0
        cut[-1].append(passage)
        size += tokens
    return cut


def halves(batch: Mapping[str, Item]) -> list[dict[str, Item]]:
    """Both halves of a batch, the second first, so that a stack returns the first half first."""
    items = list(batch.items())
    middle = len(items) // 2
    return [dict(items[middle:]), dict(items[:middle])]
