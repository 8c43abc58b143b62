"""Units: the pieces of a continuous text between possible boundaries. Not here: choosing boundaries (monotone)."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LONG = 100.0
"""If the mean length of segments, in characters, exceeds this, units are whole sentences: long segments end with a
sentence, and further boundaries would only allow more errors."""

LEAST_SENTENCE, LEAST_CLAUSE = 25, 8
"""Minimum number of characters in a unit; a shorter piece ('Why?', 'etc.') is joined to a neighbor."""

_CLOSING = r"""["”’'»)\]]"""
_END = rf"(?<=[.!?…;:。！？；：])|(?<=[.!?…;:]{_CLOSING})"
_SENTENCE = re.compile(rf"(?:{_END})\s+|(?<=[。！？；：])(?=\S)|\n+")
_CLAUSE = re.compile(
    rf"(?:{_END}|(?<=[,—，、])|(?<=,{_CLOSING}))\s+|(?<=[。！？；：，、—])(?=\S)|(?<=--)(?=\S)|\n+"
    r"|\s+(?=(?:and|but|or|when|then|as|who|which|that|with)\b)"
)
_FULL_STOP = re.compile(rf"[.!?…。！？]{_CLOSING}*\s*$")


Span = tuple[int, int]


class TextUnits(NamedTuple):
    """A text divided into n units.

    Attributes
    ----------
    spans
        Range of characters of each unit, half-open, without gaps between units.
    texts
        The units, stripped.
    ends
        Number of characters up to each boundary, shape (n + 1,). Each unit counts without surrounding white space, but
        with one space after it.
    paragraphs, sentences
        Whether each boundary is between paragraphs or lines, and whether it is between sentences, shape (n + 1,).
    """

    spans: list[tuple[int, int]]
    texts: list[str]
    ends: NDArray[np.float64]
    paragraphs: NDArray[np.bool_]
    sentences: NDArray[np.bool_]


def units(text: str, segment_length: float, cuts: Iterable[int] = ()) -> TextUnits:
    """Divide a text into sentences, or into clauses if the segments are short.

    Texts are divided at punctuation; clauses also begin with English conjunctions. `segment_length` is the mean length
    of the segments to which the text is aligned, in characters. `cuts` are offsets of further boundaries.
    """
    pattern, least = (_SENTENCE, LEAST_SENTENCE) if segment_length > LONG else (_CLAUSE, LEAST_CLAUSE)
    spans = _spans(text, pattern, least, cuts)
    raw = [text[start:end] for start, end in spans]
    texts = [piece.strip() for piece in raw]
    lengths = [len(piece) + 1 for piece in texts]
    paragraphs = np.array([True, *("\n" in piece[len(piece.rstrip()) :] for piece in raw)])
    full_stops = np.array([True, *(bool(_FULL_STOP.search(piece)) for piece in raw)])
    paragraphs[-1] = full_stops[-1] = True
    ends = np.concatenate([[0.0], np.cumsum(lengths, dtype=np.float64)])
    return TextUnits(spans, texts, ends, paragraphs, full_stops)


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; a text without a boundary is one sentence."""
    return [text[start:end].strip() for start, end in _spans(text, _SENTENCE, LEAST_SENTENCE)]


def _spans(text: str, pattern: re.Pattern[str], least: int, fixed: Iterable[int] = ()) -> list[tuple[int, int]]:
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
