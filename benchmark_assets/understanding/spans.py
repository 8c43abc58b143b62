"""Locate spans in a text.

Here: check of given places; exact search; search in normalized texts. Not here: the source of spans, scores (muc).

Normalization makes these equal: canonically equivalent characters (Unicode's NFC and NFD); runs of white space and one
blank; a tsheg with and without white space after it (Tibetan has none there; files have line breaks of the printed
page); the tshegs U+0F0C and U+0F0B, since U+0F0C only forbids a line break after it. Shads, case and punctuation count.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

TSHEG, BOUND_TSHEG = "\u0f0b", "\u0f0c"

Way = Literal["given", "exact", "normalized", "absent"]


class SpanPlace(NamedTuple):
    """Characters `first` up to `last` of a text, half-open; None if the span is absent.

    `located` is how it was found. `occurrences` is the number of occurrences found in that way; above 1, the place is a
    choice among them. It is 1 for a given place.
    """

    first: int | None
    last: int | None
    located: Way
    occurrences: int


ABSENT = SpanPlace(None, None, "absent", 0)


def locate(text: str, spans: Sequence[str], given: Sequence[tuple[int, int]] = ()) -> list[SpanPlace]:
    """Find each span in a text.

    Equal spans get successive occurrences, in their order. A span takes the first free occurrence; if a place was given
    but holds other words, the free occurrence that begins nearest to it. If no occurrence is free, it shares one.

    Parameters
    ----------
    given
        Place of each span; empty if there are none.

    Returns
    -------
    A place for each span. No place that was searched separates a letter from its marks.
    """
    searched = _Text(text)
    taken: set[tuple[int, int]] = set()
    places: list[SpanPlace | None] = [None] * len(spans)
    for number, (span, (first, last)) in enumerate(zip(spans, given, strict=False)):
        if 0 <= first < last and text[first:last] == span:
            places[number] = SpanPlace(first, last, "given", 1)
            taken.add((first, last))
    located: list[SpanPlace] = []
    for number, span in enumerate(spans):
        place = places[number] or _search(searched, span, taken, given[number][0] if given else 0)
        if place.first is not None and place.last is not None:
            taken.add((place.first, place.last))
        located.append(place)
    return located


class _Text:
    """A text, and its normalized form, computed on first use."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def normalized(self) -> "_Normalized":
        return _normalize(self.text)

    def exact(self, span: str) -> list[tuple[int, int]]:
        """Exact occurrences of a span."""
        return self._whole((at, at + len(span)) for at in _occurrences(self.text, span))

    def alike(self, span: str) -> list[tuple[int, int]]:
        """Occurrences of a span in the normalized text, as places of the text."""
        words = _normalize(span.strip()).text
        starts, ends = self.normalized.starts, self.normalized.ends
        matches = ((at, at + len(words)) for at in _occurrences(self.normalized.text, words))
        return self._whole((starts[at], ends[end]) for at, end in matches if at in starts and end in ends)

    def _whole(self, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Drop places that separate a letter from its marks at either end, and places that overlap an earlier one."""
        kept: list[tuple[int, int]] = []
        for place in places:
            parted = any(at < len(self.text) and unicodedata.category(self.text[at])[0] == "M" for at in place)
            if not parted and (not kept or place[0] >= kept[-1][1]):
                kept.append(place)
        return kept


class _Normalized(NamedTuple):
    """A normalized text. `starts` maps offsets where a character begins to offsets in the text, `ends` offsets where
    one ends."""

    text: str
    starts: dict[int, int]
    ends: dict[int, int]


def _search(searched: _Text, span: str, taken: set[tuple[int, int]], near: int) -> SpanPlace:
    if not span.strip():
        return ABSENT
    places, way = searched.exact(span), "exact"
    if not places:
        places, way = searched.alike(span), "normalized"
    if not places:
        return ABSENT
    free = [place for place in places if place not in taken] or places
    first, last = min(free, key=lambda place: (abs(place[0] - near), place[0]))
    return SpanPlace(first, last, "exact" if way == "exact" else "normalized", len(places))


def _occurrences(text: str, words: str) -> list[int]:
    """Where words begin, overlapping occurrences included."""
    return [match.start() for match in re.finditer(f"(?={re.escape(words)})", text)]


def _normalize(text: str) -> _Normalized:
    # NFD works letter by letter; two texts have the same NFD if and only if they have the same NFC.
    parts: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    at = 0
    for first, last in pairwise([*_cuts(text), len(text)]):
        part = unicodedata.normalize("NFD", text[first:last]).replace(BOUND_TSHEG, TSHEG)
        if part.isspace():
            part = "" if parts and parts[-1].endswith(TSHEG) else " "
        if part:
            parts.append(part)
            starts[at] = first
            at += len(part)
            ends[at] = last
    return _Normalized("".join(parts), starts, ends)


def _cuts(text: str) -> list[int]:
    """Where letters with their marks and runs of white space begin."""
    return [
        at for at, letter in enumerate(text)
        if not at or not (unicodedata.combining(letter) or (letter.isspace() and text[at - 1].isspace()))
    ]  # fmt: skip
