"""Where in a text a span lies.

Here: given places, which are checked; exact search; search in normalized texts. Not here: where spans come from, what a
place is worth (metrics).

Two spellings are the same where nothing but these differs: canonically equivalent characters (Unicode's NFC and NFD);
white space, of which a run is one blank; white space after a tsheg, which Tibetan does not have and where files have a
line break of their printed page; the tsheg U+0F0C, in Unicode's words the U+0F0B that no line is broken after. Shads,
case and punctuation count.
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
    """Characters `first` up to `last` of a text, half-open; None where the span is absent.

    `located` says how it was found, `occurrences` how often the text has the span, spelled in that way: above 1, which
    one is meant was chosen. For a given place it is 1.
    """

    first: int | None
    last: int | None
    located: Way
    occurrences: int


ABSENT = SpanPlace(None, None, "absent", 0)


def locate(text: str, spans: Sequence[str], given: Sequence[tuple[int, int]] = ()) -> list[SpanPlace]:
    """Find each span in a text.

    Spans that are the same get one occurrence after the other, in their order. A span takes the first occurrence that
    none has; or, where a place was given but holds other words, the one that begins nearest to it. Where all
    are taken, it shares one.

    Parameters
    ----------
    given
        Place of each span, or nothing.

    Returns
    -------
    A place for each span. No occurrence parts a letter from the marks on it, unless it was given.
    """
    searched = _Text(text)
    taken: set[tuple[int, int]] = set()
    places: list[SpanPlace | None] = [None] * len(spans)
    for number, (span, (first, last)) in enumerate(zip(spans, given, strict=False)):
        if 0 <= first < last and text[first:last] == span:
            places[number] = SpanPlace(first, last, "given", 1)
            taken.add((first, last))
    found: list[SpanPlace] = []
    for number, span in enumerate(spans):
        place = places[number] or _search(searched, span, taken, given[number][0] if given else 0)
        if place.first is not None and place.last is not None:
            taken.add((place.first, place.last))
        found.append(place)
    return found


class _Text:
    """A text, and its normalized form once that is wanted."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def normalized(self) -> "_Normalized":
        return _normalize(self.text)

    def exact(self, span: str) -> list[tuple[int, int]]:
        """Where the span stands as it is."""
        return self._whole((at, at + len(span)) for at in _occurrences(self.text, span))

    def alike(self, span: str) -> list[tuple[int, int]]:
        """Where it stands in another spelling, or the same."""
        words = _normalize(span.strip()).text
        starts, ends = self.normalized.starts, self.normalized.ends
        found = ((at, at + len(words)) for at in _occurrences(self.normalized.text, words))
        return self._whole((starts[at], ends[end]) for at, end in found if at in starts and end in ends)

    def _whole(self, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Those of which neither end lies before a mark, which belongs to the letter before it; none in another."""
        kept: list[tuple[int, int]] = []
        for place in places:
            parted = any(at < len(self.text) and unicodedata.category(self.text[at])[0] == "M" for at in place)
            if not parted and (not kept or place[0] >= kept[-1][1]):
                kept.append(place)
        return kept


class _Normalized(NamedTuple):
    """A normalized text. `starts` leads from where something begins in it to where that begins in the text, `ends` from
    where it ends."""

    text: str
    starts: dict[int, int]
    ends: dict[int, int]


def _search(searched: _Text, span: str, taken: set[tuple[int, int]], near: int) -> SpanPlace:
    if not span.strip():
        return ABSENT
    found, way = searched.exact(span), "exact"
    if not found:
        found, way = searched.alike(span), "normalized"
    if not found:
        return ABSENT
    free = [place for place in found if place not in taken] or found
    first, last = min(free, key=lambda place: (abs(place[0] - near), place[0]))
    return SpanPlace(first, last, "exact" if way == "exact" else "normalized", len(found))


def _occurrences(text: str, words: str) -> list[int]:
    """Where words begin, also one occurrence in another."""
    return [found.start() for found in re.finditer(f"(?={re.escape(words)})", text)]


def _normalize(text: str) -> _Normalized:
    # NFD, for it is made letter by letter; texts have the same one if and only if they have the same NFC.
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
    """Where a letter with its marks begins, or a run of white space."""
    return [
        at for at, letter in enumerate(text)
        if not at or not (unicodedata.combining(letter) or (letter.isspace() and text[at - 1].isspace()))
    ]  # fmt: skip
