"""Locate spans in a text.

Here: checks of given places, exact search, search in normalized texts. Not here: reading spans (samples, parsing),
scores (muc).

Normalization removes four differences: between canonically equivalent characters (Unicode's NFC and NFD); between a run
of white space and a single space; between a tsheg (the dot after a Tibetan syllable) with and without white space after
it, because files keep the line breaks of the printed page; and between the tshegs U+0F0B and U+0F0C, which differ only
in whether a line may break after them. Differences in case and punctuation, such as shads, remain.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

TSHEG, BOUND_TSHEG = "\u0f0b", "\u0f0c"

Way = Literal["given", "exact", "normalized", "absent"]
"""How a span was located: at the given place, by exact search, or by search in the normalized text; `absent` if the
text lacks the span."""


class SpanPlace(NamedTuple):
    """Place of a span in a text: character offsets, end exclusive; both None if the text lacks the span.

    `occurrences` is the number of occurrences that the search found, including this place; 1 for a given place.
    """

    first: int | None
    last: int | None
    located: Way
    occurrences: int


ABSENT = SpanPlace(None, None, "absent", 0)


def locate(text: str, spans: Sequence[str], given_places: Sequence[tuple[int, int]] = ()) -> list[SpanPlace]:
    """Locate each span in a text.

    A span gets its given place if the text at this place equals the span. Otherwise the text is searched for the span,
    and the span gets an occurrence that no other span has yet: the one nearest to its given place, or the first one if
    no places are given. Equal spans therefore get successive occurrences. They share occurrences only if the text has
    too few of them. A place found by search never separates a letter from its combining marks.

    `given_places` is empty, or has one place for each span: character offsets, end exclusive.
    """
    searched = _Text(text)
    occupied: set[tuple[int, int]] = set()
    places: list[SpanPlace | None] = [None] * len(spans)
    for number, (span, (first, last)) in enumerate(zip(spans, given_places, strict=False)):
        if 0 <= first < last and text[first:last] == span:
            places[number] = SpanPlace(first, last, "given", 1)
            occupied.add((first, last))
    located: list[SpanPlace] = []
    for number, span in enumerate(spans):
        place = places[number] or _search(searched, span, occupied, given_places[number][0] if given_places else 0)
        if place.first is not None and place.last is not None:
            occupied.add((place.first, place.last))
        located.append(place)
    return located


class _Text:
    """A text to search, and its normalized form, which is computed on first use."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def normalized(self) -> "_Normalized":
        return _normalize(self.text)

    def exact(self, span: str) -> list[tuple[int, int]]:
        """Places of the exact occurrences of a span."""
        return self._whole((start, start + len(span)) for start in _occurrences(self.text, span))

    def alike(self, span: str) -> list[tuple[int, int]]:
        """Places in the original text of all occurrences of the normalized span in the normalized text."""
        words = _normalize(span.strip()).text
        starts, ends = self.normalized.starts, self.normalized.ends
        matches = ((start, start + len(words)) for start in _occurrences(self.normalized.text, words))
        return self._whole((starts[start], ends[end]) for start, end in matches if start in starts and end in ends)

    def _whole(self, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Drop places that separate a letter from its marks, and places that overlap an earlier place."""
        valid: list[tuple[int, int]] = []
        for place in places:
            splits_letter = any(
                end < len(self.text) and unicodedata.category(self.text[end])[0] == "M" for end in place
            )
            if not splits_letter and (not valid or place[0] >= valid[-1][1]):
                valid.append(place)
        return valid


class _Normalized(NamedTuple):
    """A normalized text, with maps from its offsets to offsets in the original text.

    `starts` has an entry for the start of each letter. `ends` has an entry for the end of each letter, after its
    combining marks.
    """

    text: str
    starts: dict[int, int]
    ends: dict[int, int]


def _search(searched: _Text, span: str, occupied: set[tuple[int, int]], near: int) -> SpanPlace:
    """The occurrence of a span that begins nearest to the offset `near`. Unoccupied occurrences are preferred."""
    if not span.strip():
        return ABSENT
    exact = searched.exact(span)
    places = exact or searched.alike(span)
    if not places:
        return ABSENT
    candidates = [place for place in places if place not in occupied] or places
    first, last = min(candidates, key=lambda place: (abs(place[0] - near), place[0]))
    return SpanPlace(first, last, "exact" if exact else "normalized", len(places))


def _occurrences(text: str, words: str) -> list[int]:
    """Offsets at which the string `words` occurs in a text, including overlapping occurrences."""
    return [match.start() for match in re.finditer(f"(?={re.escape(words)})", text)]


def _normalize(text: str) -> _Normalized:
    # Two texts have equal NFD forms if and only if their NFC forms are equal; NFD can be computed letter by letter.
    parts: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    length = 0
    for first, last in pairwise([*_cuts(text), len(text)]):
        part = unicodedata.normalize("NFD", text[first:last]).replace(BOUND_TSHEG, TSHEG)
        if part.isspace():
            part = "" if parts and parts[-1].endswith(TSHEG) else " "
        if part:
            parts.append(part)
            starts[length] = first
            length += len(part)
            ends[length] = last
    return _Normalized("".join(parts), starts, ends)


def _cuts(text: str) -> list[int]:
    """Offsets at which a letter with its marks, or a run of white space, begins."""
    return [
        place for place, letter in enumerate(text)
        if not place or not (unicodedata.combining(letter) or (letter.isspace() and text[place - 1].isspace()))
    ]  # fmt: skip
