"""Units: the pieces of a continuous text between possible boundaries. Not here: sentences
(corpus.sentences), choosing boundaries (monotone)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.corpus.sentences import CLOSING, END, LEAST_SENTENCE, SENTENCE, spans_of

LONG = 100.0
"""If the mean length of segments, in characters, exceeds this, units are whole sentences: long segments end with a
sentence, and further boundaries would only allow more errors."""

LEAST_CLAUSE = 8
"""Minimum number of characters in a clause."""

_CLAUSE = re.compile(
    rf"(?:{END}|(?<=[,—，、])|(?<=,{CLOSING}))\s+|(?<=[。！？；：，、—])(?=\S)|(?<=--)(?=\S)|\n+"
    r"|\s+(?=(?:and|but|or|when|then|as|who|which|that|with)\b)"
)
_FULL_STOP = re.compile(rf"[.!?…。！？]{CLOSING}*\s*$")


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
    pattern, least = (SENTENCE, LEAST_SENTENCE) if segment_length > LONG else (_CLAUSE, LEAST_CLAUSE)
    spans = spans_of(text, pattern, least, cuts)
    raw = [text[start:end] for start, end in spans]
    texts = [piece.strip() for piece in raw]
    lengths = [len(piece) + 1 for piece in texts]
    paragraphs = np.array([True, *("\n" in piece[len(piece.rstrip()) :] for piece in raw)])
    full_stops = np.array([True, *(bool(_FULL_STOP.search(piece)) for piece in raw)])
    paragraphs[-1] = full_stops[-1] = True
    ends = np.concatenate([[0.0], np.cumsum(lengths, dtype=np.float64)])
    return TextUnits(spans, texts, ends, paragraphs, full_stops)
