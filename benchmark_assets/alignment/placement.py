"""Occurrences of segments in the prose, and the choice of one occurrence per segment so that segments are in order.

Not here: segments that do not occur in the prose (verification).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmark_assets.alignment.normalization import NormalForm, normal_form

SHORT_WORDS, SHORT_CHARACTERS = 3, 15
"""A segment with fewer words or characters may occur by chance, and counts only near its neighbors."""

NEAR = 5
"""Maximum number of words in the prose between a short segment and the nearest segment with a place. For each segment
between these two, the maximum increases by twice the number of the segment's words."""

_BREAK = re.compile(r"[.?!…;:]|\n\s*\n")


class ProsePlace(NamedTuple):
    """A place in the prose: half-open ranges of words (`first`, `last`) and of characters (`start`, `end`).

    `verbatim` is true if the text there equals the segment exactly.
    """

    first: int
    last: int
    start: int
    end: int
    verbatim: bool


class Attestation(NamedTuple):
    """A segment's text, stripped, and all its places in the prose, in order."""

    text: str
    form: NormalForm
    places: list[ProsePlace]

    @property
    def short(self) -> bool:
        """Whether the segment is so short that it may occur in the prose by chance."""
        return self.form.words < SHORT_WORDS or len(self.text) < SHORT_CHARACTERS


class Concordance:
    """Index of a continuous translation, used to look up segments."""

    def __init__(self, text: str) -> None:
        self.text, self.form = text, normal_form(text)
        self._starts, self._ends = [start for start, _ in self.form.spans], [end for _, end in self.form.spans]
        self._words = [span for span, word in zip(self.form.spans, self.form.is_word, strict=True) if word]

    def between(self, before: ProsePlace | None, after: ProsePlace | None) -> tuple[int, int]:
        """Range of characters between two places; None stands for the beginning or the end of the prose."""
        start = self._words[before.last - 1][1] if before else 0
        return start, self._words[after.first][0] if after else len(self.text)

    def beside(self, place: ProsePlace) -> tuple[str, str]:
        """The words directly before and after a place, in lower case; '' where a sentence begins or ends there."""
        return self._within_sentence(place.first - 1, place.first), self._within_sentence(place.last, place.last - 1)

    def _within_sentence(self, word: int, inner: int) -> str:
        if not 0 <= word < len(self._words):
            return ""
        (_, end), (start, _) = sorted((self._words[word], self._words[inner]))
        return "" if _BREAK.search(self.text, end, start) else self.text[slice(*self._words[word])].casefold()

    def look_up(self, text: str) -> Attestation:
        """Find a segment as whole words, exactly or with typographic differences only."""
        form = normal_form(text)
        places = {(place.first, place.last): place for place in self._normalized(form)}
        places |= {(place.first, place.last): place for place in self._verbatim(text)}
        return Attestation(text, form, sorted(places.values()))

    def _verbatim(self, text: str) -> Iterator[ProsePlace]:
        at = self.text.find(text)
        while at >= 0:
            end = at + len(text)
            first, last = bisect_left(self._starts, at), bisect_right(self._ends, end)
            divided = (first and self._ends[first - 1] > at) or (last < len(self._starts) and self._starts[last] < end)
            words = self.form.words_before
            if not divided and words[first] < words[last]:
                yield ProsePlace(words[first], words[last], at, end, True)
            at = self.text.find(text, at + 1)

    def _normalized(self, form: NormalForm) -> Iterator[ProsePlace]:
        words = self.form.words_before
        if form.words:
            for first, last in self.form.occurrences(form.core()):
                yield ProsePlace(
                    words[first], words[last], self.form.spans[first][0], self.form.spans[last - 1][1], False
                )


def settle(segments: Sequence[Attestation | None], prose: Concordance) -> list[ProsePlace | None]:
    """Choose one place for each segment of a document, in the order of the prose and without overlap.

    `segments` has all segments in the order of the source, None for a segment without text. The result is None for a
    segment without a place in this order, and for a short segment that is not near a neighbor.
    """
    weights = [1 if segment is None or segment.short else sum(map(len, segment.form.core())) for segment in segments]
    ordered = in_order([segment.places if segment else None for segment in segments], weights)
    settled = [None if segment and segment.short else place for segment, place in zip(segments, ordered, strict=True)]
    for at, (segment, place) in enumerate(zip(segments, ordered, strict=True)):
        if segment and segment.short and place:
            before, room_before = _neighbor(segments[:at][::-1], settled[:at][::-1])
            after, room_after = _neighbor(segments[at + 1 :], settled[at + 1 :])
            start, end = before.last if before else 0, after.first if after else prose.form.words
            if place.first - start <= room_before or end - place.last <= room_after:
                settled[at] = place
    return settled


def _neighbor(
    segments: Sequence[Attestation | None], settled: Sequence[ProsePlace | None]
) -> tuple[ProsePlace | None, int]:
    """The settled place nearest to a short segment, and the maximum number of words between the two.

    `segments` and `settled` list the segments on one side of the short segment and their places, nearest first.
    """
    room = NEAR
    for segment, place in zip(segments, settled, strict=True):
        if place:
            return place, room
        room += 2 * segment.form.words if segment else 0
    return None, room


class _Link(NamedTuple):
    """A segment at a place, as the end of a chain of earlier segments; `total` is the weight of the chain."""

    total: int
    segment: int
    place: ProsePlace
    before: "_Link | None"


def in_order(candidates: Sequence[Sequence[ProsePlace] | None], weights: Sequence[int]) -> list[ProsePlace | None]:
    """Choose places in the order of the prose, without overlap and with the greatest total weight.

    Among choices of equal weight, the one with the most segments directly after their predecessor wins. If two segments
    still compete for a place, the first one gets it.

    Parameters
    ----------
    candidates
        The possible places of each segment. None for a segment without text: the segments on either side of it then
        count as neighbors.
    weights
        Weight of each segment, positive, parallel to `candidates`.

    Returns
    -------
    The place of each segment, None if it gets none.
    """
    root = _Link(0, -1, ProsePlace(0, 0, 0, 0, False), None)
    ends, chains, previous = [0], [root], {0: root}
    scale = len(candidates) + 1  # so that all adjoining segments together do not outweigh one character
    for segment, places in enumerate(candidates):
        if places is None:
            continue
        links = []
        for place in places:
            before, total = chains[bisect_right(ends, place.first) - 1], 0
            adjoining = previous.get(place.first)
            if adjoining and adjoining.total + 1 > before.total:
                before, total = adjoining, 1
            links.append(_Link(total + before.total + weights[segment] * scale, segment, place, before))
        for link in links:
            _extend(ends, chains, link)
        previous = {link.place.last: link for link in links}
    chosen: list[ProsePlace | None] = [None] * len(candidates)
    last: _Link | None = chains[-1]
    while last and last.before:
        chosen[last.segment], last = last.place, last.before
    return chosen


def _extend(ends: list[int], chains: list[_Link], link: _Link) -> None:
    """Add a chain, unless another chain with the same or an earlier end weighs at least as much.

    Chains with the same or a later end are dropped if they weigh at most as much as the new one, so that ends and
    weights increase strictly.
    """
    at = bisect_right(ends, link.place.last)
    if chains[at - 1].total >= link.total:
        return
    low = at - (ends[at - 1] == link.place.last)
    while at < len(chains) and chains[at].total <= link.total:
        at += 1
    ends[low:at] = [link.place.last]
    chains[low:at] = [link]
