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
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
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
    given = [*given_places, *[(0, 0)] * (len(spans) - len(given_places))]
    kept = [
        SpanPlace(first, last, "given", 1) if 0 <= first < last and text[first:last] == span else None
        for span, (first, last) in zip(spans, given, strict=True)
    ]
    occupied = {place[:2] for place in kept if place}
    located: list[SpanPlace] = []
    for span, (near, _), place in zip(spans, given, kept, strict=True):
        located.append(place or _search(text, span, occupied, near))
        occupied.add(located[-1][:2])
    return located


def _exact(text: str, span: str) -> list[tuple[int, int]]:
    """Places of the exact occurrences of a span."""
    return _whole(text, ((start, start + len(span)) for start in _occurrences(text, span)))


def _alike(text: str, span: str) -> list[tuple[int, int]]:
    """Places in a text of all occurrences of the normalized span in the normalized text."""
    words, (normalized, starts, ends) = _normalize(span.strip()).text, _normalize(text)
    matches = ((start, start + len(words)) for start in _occurrences(normalized, words))
    return _whole(text, ((starts[start], ends[end]) for start, end in matches if start in starts and end in ends))


def _whole(text: str, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Drop places that separate a letter from its marks, and places that overlap an earlier place."""
    valid: list[tuple[int, int]] = []
    for place in places:
        splits_letter = any(end < len(text) and unicodedata.category(text[end])[0] == "M" for end in place)
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


def _search(text: str, span: str, occupied: Collection[tuple[int | None, int | None]], near: int) -> SpanPlace:
    """The occurrence of a span that begins nearest to the offset `near`. Unoccupied occurrences are preferred."""
    if not span.strip():
        return ABSENT
    exact = _exact(text, span)
    places = exact or _alike(text, span)
    if not places:
        return ABSENT
    candidates = [place for place in places if place not in occupied] or places
    first, last = min(candidates, key=lambda place: (abs(place[0] - near), place[0]))
    return SpanPlace(first, last, "exact" if exact else "normalized", len(places))


def _occurrences(text: str, words: str) -> list[int]:
    """Offsets at which the string `words` occurs in a text, including overlapping occurrences."""
    return [match.start() for match in re.finditer(f"(?={re.escape(words)})", text)]


@lru_cache(maxsize=100)
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
