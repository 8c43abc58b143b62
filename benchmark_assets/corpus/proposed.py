"""What is proposed for files: keys of a description, and what is not sure. Not here: looking at files (proposals)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmark_assets.corpus.roles import FileQuestion

UNSTATED = "unknown"
"""Licence of a text in a proposal."""

ROWS = 5
"""Number of texts in a sample."""


class ProposedKeys(NamedTuple):
    """What files seem to contain: keys of the description, of its source, and of each reference; remarks; questions
    where two readings are possible; further languages of translations; columns and files that are not read, with the
    reason; some texts of columns and files; and the number of characters of the source, 0 if it was not counted."""

    layout: str
    keys: dict[str, object]
    source: dict[str, str]
    references: dict[str, dict[str, str]]
    remarks: Sequence[str] = ()
    questions: Sequence[FileQuestion] = ()
    further: Sequence[str] = ()
    unread: Mapping[str, str] = {}
    samples: Mapping[str, Sequence[str]] = {}
    length: int = 0


def into(counts: Mapping[str, int], stated: str) -> tuple[str, list[str]]:
    """The language whose translations are read, and the others, by numbers of translations: the one that is stated,
    else the commonest, and English among equals; '' if there are none."""
    ordered = sorted(counts, key=lambda each: (-counts[each], each != "en"))
    target = stated or next(iter(ordered), "")
    return target, [each for each in ordered if each != target]
