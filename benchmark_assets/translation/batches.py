"""Cutting passages into requests.

Here: which passages go together. Not here: counting tokens (resources.provider.tokens), what a request says (prompts).
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

Item = TypeVar("Item")


def batches(texts: Mapping[str, str], budget: int, count: Callable[[str], int]) -> list[list[str]]:
    """Cut passages, in order, into batches of at most `budget` source tokens, one passage at least.

    Parameters
    ----------
    texts
        Source texts by passage key, in the order in which they are to be sent.
    budget
        Most source tokens of a batch, from 1. Keys and JSON around the texts are not counted.
    count
        Tokens of a text (resources.provider.tokens).

    Returns
    -------
    list
        Keys of each batch. Each takes as many passages as fit; one that is longer than the budget is alone.

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
    """Both halves of a batch, the latter first: from a stack, the former comes off first."""
    items = list(batch.items())
    middle = len(items) // 2
    return [dict(items[middle:]), dict(items[:middle])]
