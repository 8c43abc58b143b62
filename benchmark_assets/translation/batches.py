"""Batches of passages that are sent in one request.

Here: grouping passages by length. Not here: counting tokens (resources.provider.estimate), the content of a request
(translation.requests).
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

Item = TypeVar("Item")


def batches(texts: Mapping[str, str], budget: int, count: Callable[[str], int]) -> list[list[str]]:
    """Group passages, in order, into batches of at most `budget` source tokens.

    Parameters
    ----------
    texts
        Source texts by passage key, in the order of sending.
    budget
        Largest number of source tokens in a batch, at least 1. Keys and JSON around the texts are not counted.
    count
        Function from a text to its number of tokens (resources.provider.estimate).

    Returns
    -------
    list
        The keys of each batch. A passage longer than the budget is a batch by itself.

    Raises
    ------
    ValueError
        If the budget is below 1.

    Notes
    -----
    Source: PaliBench, appendix A; the audit, section 3.2 (about 3,000 source tokens per request).
    """
    if budget < 1:
        raise ValueError(f"the budget of a batch must be at least one token, got {budget}")
    groups: list[list[str]] = []
    size = 0
    for passage, text in texts.items():
        tokens = count(text)
        if not groups or size + tokens > budget:
            groups.append([])
            size = 0
        groups[-1].append(passage)
        size += tokens
    return groups


def halves(batch: Mapping[str, Item]) -> list[dict[str, Item]]:
    """The two halves of a batch in reverse order, so that a stack returns the first half first."""
    items = list(batch.items())
    middle = len(items) // 2
    return [dict(items[middle:]), dict(items[:middle])]
