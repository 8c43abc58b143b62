"""Directions in a prose to other texts: "[as in SN 12.2]", "see MN 10".

Here: the directions, and whether a text that they name contains a segment. Not here: directions to another place of
the same prose, which abbreviate it (expansion).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from benchmark_assets.alignment.normalization import NormalForm, normal_form

NEAR = 80
"""Characters by which a direction may reach into the neighboring segments, whose texts may include it."""

_NAME = r"\b(?:[A-Z][A-Za-z]{0,5}\.?\s?|[a-z]{1,6})\d+(?:[.:]\d+)*"
_BEGIN = r"\b(?:[Aa]s|[Ss]ee|[Cc]f\.?|[Cc]ompare|[Ss]ame|[Rr]epeat\w*|[Ii]n full)\b[^.;()\[\]]{0,40}?"
_DIRECTION = re.compile(rf"[\[(][^\[\]()]{{0,80}}?({_NAME})[^\[\]()]{{0,80}}[\])]|{_BEGIN}({_NAME})")


class Direction(NamedTuple):
    """A direction to another text: its place in the prose, in characters, and the text's name as spelled there."""

    start: int
    end: int
    name: str


class CrossReferences:
    """The directions of a prose, and the texts that they name.

    Parameters
    ----------
    prose
        The prose.
    others
        Texts by id. Names match ids regardless of case and spaces; a corpus and a slash may precede an id.
    """

    def __init__(self, prose: str, others: Mapping[str, str]) -> None:
        self._texts: dict[str, list[str]] = {}
        for document, text in others.items():
            self._texts.setdefault(_plain(document.rpartition("/")[2]), []).append(text)
        self._directions = [Direction(*match.span(), match[1] or match[2]) for match in _DIRECTION.finditer(prose)]

    def find(self, segment: NormalForm, gap: tuple[int, int]) -> Direction | None:
        """The direction near a gap (in characters) to a text that contains the segment, apart from typography."""
        return next((each for each in self._near(gap) if self._holds(each, segment)), None)

    def absent(self, gap: tuple[int, int]) -> Direction | None:
        """The first direction near the gap to a text that is not among the others."""
        return next((each for each in self._near(gap) if _plain(each.name) not in self._texts), None)

    def _near(self, gap: tuple[int, int]) -> list[Direction]:
        return [each for each in self._directions if gap[0] - NEAR <= each.end and each.start <= gap[1] + NEAR]

    def _holds(self, direction: Direction, segment: NormalForm) -> bool:
        texts = self._texts.get(_plain(direction.name), [])
        return any(next(normal_form(text).occurrences(segment.core()), None) for text in texts)


def _plain(name: str) -> str:
    return re.sub(r"(?<=[^\W\d])[\s.]+(?=\d)", "", name).replace(":", ".").casefold()
