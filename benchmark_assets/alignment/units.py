"""Units: the pieces of a continuous text between which a boundary may lie. Not here: where it does lie (monotone)."""

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LONG = 100.0
"""Characters of a segment from which on its boundaries are looked for between sentences only. Chapters and verses end
with a sentence; the clauses of a sentence are only as many chances to err."""

LEAST_SENTENCE, LEAST_CLAUSE = 25, 8
"""Characters: a shorter piece is joined to the one before ('Why?', 'etc.')."""

_CLOSING = r"""["”’'»)\]]"""
_END = rf"(?<=[.!?…;:。！？；：])|(?<=[.!?…;:]{_CLOSING})"
_SENTENCE = re.compile(rf"(?:{_END})\s+|(?<=[。！？；：])(?=\S)|\n+")
_CLAUSE = re.compile(
    rf"(?:{_END}|(?<=[,—，、])|(?<=,{_CLOSING}))\s+|(?<=[。！？；：，、—])(?=\S)|(?<=--)(?=\S)|\n+"
    r"|\s+(?=(?:and|but|or|when|then|as|who|which|that|with)\b)"
)
_FULL_STOP = re.compile(rf"[.!?…。！？]{_CLOSING}*\s*$")


class Units(NamedTuple):
    """A text in its units.

    Attributes
    ----------
    spans
        Places of the n units in the text, half-open, without gaps between them.
    texts
        The units, stripped.
    ends
        Characters up to each of the n + 1 boundaries, counting each unit with one space, shape (n + 1,).
    paragraphs, sentences
        Whether a boundary is that of a paragraph or line, and that of a sentence, shape (n + 1,).
    """

    spans: list[tuple[int, int]]
    texts: list[str]
    ends: NDArray[np.float64]
    paragraphs: NDArray[np.bool_]
    sentences: NDArray[np.bool_]


def units(text: str, segment_length: float) -> Units:
    """Cut a text into sentences, or into clauses where the segments that it is to be aligned to are short.

    Parameters
    ----------
    segment_length
        Mean length of those segments, in characters. The conjunctions before which a clause may begin are English;
        texts in other languages are cut at their punctuation.
    """
    pattern, least = (_SENTENCE, LEAST_SENTENCE) if segment_length > LONG else (_CLAUSE, LEAST_CLAUSE)
    spans = _spans(text, pattern, least)
    raw = [text[start:end] for start, end in spans]
    texts = [each.strip() for each in raw]
    lengths = [len(each) + 1 for each in texts]
    paragraphs = np.array([True, *("\n" in each[len(each.rstrip()) :] for each in raw)])
    full_stops = np.array([True, *(bool(_FULL_STOP.search(each)) for each in raw)])
    paragraphs[-1] = full_stops[-1] = True
    ends = np.concatenate([[0.0], np.cumsum(lengths, dtype=np.float64)])
    return Units(spans, texts, ends, paragraphs, full_stops)


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; a text without a boundary is one."""
    return [text[start:end].strip() for start, end in _spans(text, _SENTENCE, LEAST_SENTENCE)]


def _spans(text: str, pattern: re.Pattern[str], least: int) -> list[tuple[int, int]]:
    def is_short(start: int, end: int) -> bool:
        return end - start < least or not text[start:end].strip()

    cuts = [0, *(cut for match in pattern.finditer(text) if 0 < (cut := match.end()) < len(text)), len(text)]
    spans: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        if spans and (is_short(start, end) or is_short(*spans[-1])):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans if text.strip() else []
