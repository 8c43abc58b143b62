"""Anchors: places in a continuous translation where a segment begins or ends, as shown by numbers in the translation.

Here: deciding which of these numbers are citations of the source. Not here: finding the numbers in a file (readers),
alignment of the text between anchors.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice


def anchors(segments: Sequence[str], numbers: Iterable[tuple[int, str]]) -> dict[int, int]:
    """Offset at which the text of each anchored segment begins, by the segment's index. Offsets increase with indices.

    A number such as `1.3` is the citation of the first segment whose id is `doc:1.3`, or begins with `doc:1.3.`.
    Numbers out of order are ignored. If all numbers have a single level, such as `3`, they may not refer to the
    source's chapters. They then count as citations only if they are exactly the source's chapter numbers, in order.

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
    """Start and end of the text of each segment that has its own number, by the segment's index.

    The numbers can be in any order. The text of a segment ends at the next number, unless that number only subdivides
    the segment and the source has no such subdivision.

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
    """Index of the first segment of each citation of the source; empty if the numbers in `found` do not cite the
    source."""
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
    """The places in the longest subsequence of `places` in which place and index both increase, by index."""
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
