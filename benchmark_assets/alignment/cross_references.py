"""Cross-references from a translation to other texts: "[as in SN 12.2]", "see MN 10".

Here: finding cross-references, and checking whether the text that they name contains a segment. Not here:
abbreviations that stand for words of an earlier passage in the same translation (expansion).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from benchmark_assets.alignment.normalization import NormalForm, normal_form

NEAR = 80
"""Maximum number of characters between a gap and a cross-reference: the cross-reference may be in the text of a
neighboring segment."""

_NAME = r"\b(?:[A-Z][A-Za-z]{0,5}\.?\s?|[a-z]{1,6})\d+(?:[.:]\d+)*"
_BEGIN = r"\b(?:[Aa]s|[Ss]ee|[Cc]f\.?|[Cc]ompare|[Ss]ame|[Rr]epeat\w*|[Ii]n full)\b[^.;()\[\]]{0,40}?"
_DIRECTION = re.compile(rf"[\[(][^\[\]()]{{0,80}}?({_NAME})[^\[\]()]{{0,80}}[\])]|{_BEGIN}({_NAME})")


class CrossReference(NamedTuple):
    """A cross-reference: its half-open range of characters, and the name by which it refers to another text."""

    start: int
    end: int
    name: str


def names(prose: str) -> set[str]:
    """The names of other texts in the cross-references of a translation, in the form of `plain`."""
    return {plain(match[1] or match[2]) for match in _DIRECTION.finditer(prose)}


def plain(name: str) -> str:
    """Normalize a name or an id of a text, so that both can be compared; an id may have a prefix `corpus/`."""
    name = name.rpartition("/")[2]
    return re.sub(r"(?<=[^\W\d])[\s.]+(?=\d)", "", name).replace(":", ".").casefold()


class CrossReferences:
    """The cross-references in a translation, and the texts that they name.

    `others` has other texts by id. Names match ids regardless of case and spaces; an id may have a prefix `corpus/`.
    """

    def __init__(self, prose: str, others: Mapping[str, str]) -> None:
        self._texts: dict[str, list[str]] = {}
        for document, text in others.items():
            self._texts.setdefault(plain(document), []).append(text)
        self._directions = [CrossReference(*match.span(), match[1] or match[2]) for match in _DIRECTION.finditer(prose)]

    def find(self, segment: NormalForm, gap: tuple[int, int]) -> CrossReference | None:
        """The first cross-reference in or near `gap` that names a text containing the segment; None if there is none.

        `gap` is a range of characters. Typographic differences are ignored.
        """
        return next((direction for direction in self._near(gap) if self._contains(direction, segment)), None)

    def absent(self, gap: tuple[int, int]) -> CrossReference | None:
        """The first cross-reference in or near `gap` that names an unavailable text; None if there is none."""
        return next((direction for direction in self._near(gap) if plain(direction.name) not in self._texts), None)

    def _near(self, gap: tuple[int, int]) -> list[CrossReference]:
        low, high = gap[0] - NEAR, gap[1] + NEAR
        return [direction for direction in self._directions if low <= direction.end and direction.start <= high]

    def _contains(self, direction: CrossReference, segment: NormalForm) -> bool:
        texts = self._texts.get(plain(direction.name), [])
        return any(next(normal_form(text).occurrences(segment.core()), None) for text in texts)
