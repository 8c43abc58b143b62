"""Sentences of a text in any language, by punctuation. Not here: chunks of text (chunks), clauses (alignment)."""

import re
from collections.abc import Iterable
from itertools import pairwise

LEAST_SENTENCE = 25
"""Minimum number of characters in a sentence; a shorter piece ('Why?', 'etc.') is joined to a neighbor."""

CLOSING = r"""["”’'»)\]]"""
END = rf"(?<=[.!?…;:。！？；：])|(?<=[.!?…;:]{CLOSING})"
UNBROKEN = re.compile(rf"(?:{END})\s+|(?<=[。！？；：])(?=\S)")
SENTENCE = re.compile(rf"{UNBROKEN.pattern}|\n+")
"""What separates sentences of a text without lines, and of one whose lines end sentences."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; a text without a boundary is one sentence."""
    return [text[start:end].strip() for start, end in spans_of(text, SENTENCE, LEAST_SENTENCE)]


def spans_of(text: str, pattern: re.Pattern[str], least: int, fixed: Iterable[int] = ()) -> list[tuple[int, int]]:
    """Spans of a text between the matches of a pattern and the `fixed` offsets, half-open, without gaps; what is blank
    or shorter than `least` is joined to a neighbor."""

    def is_blank(start: int, end: int) -> bool:
        return not text[start:end].strip()

    def is_short(start: int, end: int) -> bool:
        return end - start < least

    kept = {cut for cut in fixed if 0 < cut < len(text)}
    found = {cut for match in pattern.finditer(text) if 0 < (cut := match.end()) < len(text)}
    cuts = [0, *sorted(found | kept), len(text)]
    spans: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        blank = spans and (is_blank(start, end) or is_blank(*spans[-1]))
        short = spans and start not in kept and (is_short(start, end) or is_short(*spans[-1]))
        if blank or short:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans if text.strip() else []
