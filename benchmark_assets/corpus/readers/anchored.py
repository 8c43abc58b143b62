"""Items of JP-TL-Bench: a file of JSON lines as its repository has it for each system, with the sources of all items.

A line has the keys `name`, `source_text`, `english` (whether the source is English), `difficulty` and `translation`,
and further keys, which are not read. The corpus has the items whose source is in its language: English, or the other
language of the benchmark. An item is a passage of one segment, in a document of its own; its id is its name, in which
everything but letters, digits and `._` is replaced by dashes. A name may occur twice: the last line counts, as in the
pairs that the benchmark publishes.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, Passage, Segment
from benchmark_assets.corpus.readers import strict_json
from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.files import check_sources_only
from resources.errors import BadInput

ENGLISH = "en"

_KINDS = {"name": str, "source_text": str, "english": bool, "difficulty": str, "translation": str}
"""Type of each key that is read."""


class AnchoredItem(NamedTuple):
    """An item with its translation by one system. `id` is unique among the items of the same source language."""

    id: str
    source: str
    english: bool
    difficulty: str
    translation: str


def documents(description: Description) -> Iterator[Document | BadInput]:
    """A document for each item whose source is in the corpus's language, in order of their ids.

    Raises
    ------
    BadInput
        If the file cannot be read or has a fault, or a reference has no layout of its own.
    """
    check_sources_only(description)
    language = description.source.language
    for item in items(description.root):
        if item.english == (language == ENGLISH):
            passage = Passage(item.id, language, (Segment(item.id, item.source),), ())
            yield Document(item.id, description.root, (passage,))


def items(path: Path) -> list[AnchoredItem]:
    """The items of a file, sorted by their ids.

    Raises
    ------
    BadInput
        If the file cannot be read, a line lacks a key or has a value of another type, or two names have the same id.
    """
    by_name: dict[str, AnchoredItem] = {}
    for number, record in strict_json.lines(path):
        for key, kind in _KINDS.items():
            if not isinstance(record.get(key), kind):
                raise BadInput(path, f"line {number} {key}", f"is not {kind.__name__}", "restore the published file")
        name, source = record["name"], clean(record["source_text"], path, f"line {number}").strip()
        if not source:
            raise BadInput(path, f"line {number} source_text", "is empty", "restore the published file")
        by_name[name] = AnchoredItem(
            identity(name), source, record["english"], record["difficulty"], record["translation"]
        )
    names: dict[tuple[str, bool], str] = {}
    for name, item in by_name.items():
        if (first := names.setdefault((item.id, item.english), name)) != name:
            problem = f"the names {first!r} and {name!r} have the same id"
            raise BadInput(path, item.id, problem, "rename one of the items")
    return sorted(by_name.values())


def identity(name: str) -> str:
    """The id of an item: its name as part of a partition key."""
    return re.sub(r"[^A-Za-z0-9_.]+|\.{2,}", "-", name).strip("-") or "-"
