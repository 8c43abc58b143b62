"""Anchors: places in a continuous translation where the text of a segment begins or ends, by its own numbers.

Here: which numbers of a translation are citations of the source. Not here: reading numbers (readers), alignment between
anchors.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice


def anchors(segments: Sequence[str], numbers: Iterable[tuple[int, str]]) -> dict[int, int]:
    """Offset at which the text of a segment begins, by the segment's index; both increase together.

    A number such as `1.3` is the citation of the first segment whose id is `doc:1.3`, or begins with `doc:1.3.`.
    Numbers out of order are ignored. Numbers of one level, such as `3`, may be of any numbering; they are citations
    only if they are the chapters of the source, in order and complete.

    Parameters
    ----------
    segments
        Ids of the document's segments, in order.
    numbers
        Offset and text of each number in the translation, in order.
    """
    found = list(numbers)
    first = _citations(segments, found)
    return _increasing([(place, first[number]) for place, number in found if number in first])


def stretches(segments: Sequence[str], numbers: Iterable[tuple[int, str]], end: int) -> dict[int, tuple[int, int]]:
    """Start and end of the text of each segment that has a number of its own, by the segment's index, in any order.

    The text ends at the next number, unless that number divides the segment further than the source does: then the text
    goes on.

    Parameters
    ----------
    segments, numbers
        As for `anchors`.
    end
        Length of the translation.
    """
    found = sorted(numbers)
    first = _citations(segments, found)
    deepest: dict[int, int] = {}
    for at, (_, number) in enumerate(found):
        index = first.get(number)
        if index is not None and (index not in deepest or number.count(".") > found[deepest[index]][1].count(".")):
            deepest[index] = at
    ends = {}
    for index, at in deepest.items():
        start, own = found[at]
        after = (
            place for place, number in islice(found, at + 1, None)
            if place > start and (not number.startswith(f"{own}.") or first.get(number, index) != index)
        )  # fmt: skip
        ends[index] = start, next(after, end)
    return ends


def _citations(segments: Sequence[str], found: Sequence[tuple[int, str]]) -> dict[str, int]:
    """Index of the first segment of each citation of the source; empty if the numbers are not its citations."""
    first: dict[str, int] = {}
    for index, segment in enumerate(segments):
        levels = segment.partition(":")[2].split(".")
        for depth in range(1, len(levels) + 1):
            first.setdefault(".".join(levels[:depth]), index)
    chapters = [citation for citation in first if "." not in citation]
    if not any("." in number for _, number in found) and [number for _, number in found] != chapters:
        return {}
    return first


def _increasing(places: Sequence[tuple[int, int]]) -> dict[int, int]:
    """The longest subsequence in which places and indices increase: places by index."""
    tails: list[int] = []
    chains: list[tuple[tuple[int, int], int | None]] = []
    ends: list[int] = []
    for number, (place, index) in enumerate(sorted(places, key=lambda pair: (pair[0], -pair[1]))):
        length = bisect_left(tails, index)
        chains.append(((place, index), ends[length - 1] if length else None))
        tails[length : length + 1], ends[length : length + 1] = [index], [number]
    increasing: dict[int, int] = {}
    at = ends[-1] if ends else None
    while at is not None:
        (place, index), at = chains[at]
        increasing[index] = place
    return dict(sorted(increasing.items()))
