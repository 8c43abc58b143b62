"""Assembling running text piece by piece, with its asides separate.

Here: white space, the offsets of asides, NFC. Not here: distinguishing text from asides (the layouts).
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from benchmark_assets.corpus.model import Aside

SPACE, LINE, PARAGRAPH = " ", "\n", "\n\n"
_STRENGTH = ("", SPACE, LINE, PARAGRAPH).index


class RunningText:
    """A text under construction.

    A run of white space becomes one space. If there are several separators between two pieces of text, the strongest
    one is kept. There is no separator at the beginning or the end.

    `notes` has the notes and footnotes so far, each with the citation of its place. A place that only a division cites
    is that of the text before a footnote or after another note, if this text is in the division.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._separator = ""
        self._asides: list[Aside] = []
        self._pending: list[tuple[str, str, str]] = []
        self._citation = self._placed = ""
        self.notes: list[tuple[str, str]] = []

    def add(self, piece: str) -> None:
        """Append a piece of text."""
        if piece[:1].isspace():
            self.separate(SPACE)
        words = " ".join(piece.split())
        if words:
            if self._pieces:
                self._append(self._separator)
            if self._citation != self._placed:
                self._pending.append(("number", self._citation, ""))
            self._place()
            self._placed = self._citation
            self._append(unicodedata.normalize("NFC", words))
            self._separator = SPACE if piece[-1].isspace() else ""

    def separate(self, separator: str) -> None:
        """Separate the text so far from the following text by SPACE, LINE or PARAGRAPH."""
        self._separator = max(self._separator, separator, key=_STRENGTH)

    def before(self, kind: str, text: str) -> None:
        """Add an aside before the following text, such as a heading or a number; '' is ignored."""
        if text:
            self._pending.append((kind, text, self._citation))

    def cite(self, citation: str) -> None:
        """Set the citation of the following text, '' for none. A changed citation becomes an aside of kind 'number'."""
        self._citation = citation

    def after(self, kind: str, text: str) -> None:
        """Add an aside after the text so far, such as a footnote; '' is ignored."""
        if text:
            self._asides.append(Aside(kind, self._length, text))
            self._note(kind, text, self._citation, self._placed)

    def finish(self) -> tuple[str, tuple[Aside, ...]]:
        """The text in NFC, and the asides in order of their offsets."""
        self._place()
        raw = "".join(self._pieces)
        text = unicodedata.normalize("NFC", raw)
        asides = sorted(self._asides, key=lambda aside: aside.at)
        if text != raw:  # a combining accent was in another piece than its letter
            asides = [replace(aside, at=len(unicodedata.normalize("NFC", raw[: aside.at]))) for aside in asides]
        return text, tuple(asides)

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _place(self) -> None:
        """Place the pending asides at the end of the text so far."""
        for kind, text, citation in self._pending:
            self._asides.append(Aside(kind, self._length, text))
            self._note(kind, text, citation, self._citation, self._placed)
        self._pending.clear()

    def _note(self, kind: str, text: str, citation: str, *near: str) -> None:
        """Add a note with its own citation, or the first one in the same division of the texts that are near."""
        if kind in ("note", "footnote"):
            inside = (each for each in near if each and f"{each}.".startswith(f"{citation}." if citation else ""))
            self.notes.append((next(inside, citation), text))


def without(
    text: str, asides: Sequence[Aside], cuts: Sequence[tuple[int, int]], removed: Sequence[Aside] = ()
) -> tuple[str, tuple[Aside, ...]]:
    """Cut ranges out of a text, and move its asides.

    Parameters
    ----------
    cuts
        Half-open ranges of offsets, in order and disjoint.
    removed
        Asides that say what was cut, with their offsets in `text`.

    Returns
    -------
    The text without the ranges, and all asides in order of their offsets.
    """
    starts, ends = [cut[0] for cut in cuts], [cut[1] for cut in cuts]
    shortened = "".join(text[end:start] for end, start in zip([0, *ends], [*starts, len(text)], strict=True)).rstrip()
    lengths = [0, *accumulate(end - start for start, end in cuts)]

    def new_offset(at: int) -> int:
        before = bisect_right(starts, at)
        inside = max(0, ends[before - 1] - at) if before else 0
        return min(at - lengths[before] + inside, len(shortened))

    moved = [replace(aside, at=new_offset(aside.at)) for aside in (*asides, *removed)]
    return shortened, tuple(sorted(moved, key=lambda aside: aside.at))


def without_numbers(text: str, asides: Sequence[Aside], expression: str) -> tuple[str, tuple[Aside, ...]]:
    """Move the numbers of paragraphs from a text to its asides.

    Parameters
    ----------
    expression
        Regular expression for a number, matched at the beginning of each paragraph. An empty match is not a number.

    Returns
    -------
    The text without numbers, and all asides, including the numbers, in order of their offsets.
    """
    cuts: list[tuple[int, int]] = []
    numbers: list[Aside] = []
    start = 0
    for paragraph in text.split(PARAGRAPH):
        match = re.match(expression, paragraph)
        if match and (number := match.group().strip()):
            cuts.append((start, _blanks_end(text, start + match.end())))
            numbers.append(Aside("number", start, number))
        start += len(paragraph) + len(PARAGRAPH)
    return without(text, asides, cuts, numbers)


def _blanks_end(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
