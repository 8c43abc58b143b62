"""Places of words in a text, as people and programs give them: phrases, offsets in characters or in UTF-16 code units.

Here: conversion to offsets in characters. Not here: how words are found (resources.quotations), words that a judge
quotes (error_spans.location).
"""

import re
from typing import NamedTuple

from benchmark_assets.people.closeness import likeness
from resources.quotations import places

NO_SPAN = "the error span is not in the candidate"

LIKE_PHRASE = 0.5
"""Lowest likeness of a phrase to the words of the candidate that are taken for it."""


class Marked(NamedTuple):
    """A span as exported by Label Studio: start, end, and text ('' if it is missing)."""

    start: object
    end: object
    text: str


class Units(NamedTuple):
    """Start and inclusive end of a span in UTF-16 code units, as Pearmut counts."""

    start: object
    end: object


def phrase_span(phrase: str, candidate: str) -> tuple[int, int]:
    """Start and end, in characters, of the first occurrence of a phrase.

    Only if there is no exact occurrence, case, punctuation, white space and the form of letters are ignored. Only if
    there is still none, the words that are most like the phrase are taken, because programs correct what people type.
    Raises ValueError if no words are alike.
    """
    if found := places(phrase, candidate):
        return found[0]
    words, size = list(re.finditer(r"\S+", candidate)), len(phrase.split())
    spans = [
        (words[first].start(), words[first + count - 1].end())
        for count in (size, size + 1, size - 1)
        for first in range(len(words) - count + 1)
        if count
    ]
    best = max(spans, key=lambda span: likeness(phrase, candidate[slice(*span)]), default=(0, 0))
    if likeness(phrase, candidate[slice(*best)]) < LIKE_PHRASE:
        raise ValueError(NO_SPAN)
    return best


def marked_span(marked: Marked, candidate: str) -> tuple[int, int]:
    """Start and end, in characters, of a span marked in Label Studio.

    Notes
    -----
    Label Studio counts code points, as Python does. Its versions of 2021 counted UTF-16 code units, two for a character
    beyond U+FFFF (HumanSignal/label-studio, issues 1008 and 1347). The text of the span shows which unit applies; line
    breaks in it may be missing, or written as a backslash and an n. Without a text, code points are assumed, unless the
    span would extend beyond the candidate.

    Raises
    ------
    ValueError
        If the candidate's text at the span differs, or the span extends beyond the candidate.
    """
    start, end, text = marked
    if not isinstance(start, int) or not isinstance(end, int):
        raise ValueError("the error span has no position in the candidate")  # noqa: TRY004 - a fault of the file
    places = [(start, end), (characters(candidate, start), characters(candidate, end))]
    inside = [(first, last) for first, last in places if 0 <= first < last <= len(candidate)]
    for normalize in (str, _squeezed):
        for first, last in inside:
            if not text.strip() or normalize(candidate[first:last]) == normalize(text):
                return first, last
    raise ValueError(NO_SPAN)


def units_span(units: Units, candidate: str, exact: bool) -> tuple[int, int] | None:
    """Start and end, in characters, of a span marked in Pearmut; None if it is after the candidate.

    Raises ValueError if the span has no position, or extends beyond the candidate; also unless the file shows the
    candidate `exact`.
    """
    start, end = units
    if not exact or not isinstance(start, int) or not isinstance(end, int) or not 0 <= start <= end:
        raise ValueError("an error has no position in the candidate")
    if start >= utf16(candidate, len(candidate)):
        return None
    first, last = characters(candidate, start), characters(candidate, end + 1)
    if not 0 <= first < last <= len(candidate):
        raise ValueError("an error extends beyond the candidate")
    return first, last


def characters(text: str, units: int) -> int:
    """Convert an offset in UTF-16 code units to characters; -1 if it is outside the text."""
    encoded = text.encode("utf-16-le")
    if not 0 <= 2 * units <= len(encoded):
        return -1
    return len(encoded[: 2 * units].decode("utf-16-le", "replace"))


def utf16(text: str, place: int) -> int:
    """Convert an offset in characters to UTF-16 code units."""
    return len(text[:place].encode("utf-16-le")) // 2


def _squeezed(text: str) -> str:
    """The text without white space and without line breaks that are written as a backslash and an n."""
    return "".join(text.replace("\\n", "").split())
