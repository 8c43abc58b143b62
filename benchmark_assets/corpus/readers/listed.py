"""The choice of passages by a table, as a published benchmark lists its passages. Not here: filters by content."""

import csv
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import decode
from resources.errors import BadInput
from resources.keys import unescaped

logger = logging.getLogger("variorum.corpus")

COLUMN = "passage_id"


def only_listed(documents: Iterator[Document | BadInput], table: Path) -> Iterator[Document | BadInput]:
    """Yield the documents that have a passage in the table, with their other passages marked as not listed.

    Documents stay whole, because continuous translations are aligned with whole documents. Listed passages that no
    document has are logged.

    Raises
    ------
    BadInput
        If the table cannot be read, or has no column `passage_id`.
    """
    missing = {unescaped(passage) for passage in _ids(table)}
    listed = frozenset(missing)
    for document in documents:
        if isinstance(document, BadInput):
            yield document
            continue
        found = {unescaped(passage.id) for passage in document.passages} & listed
        missing = missing - found
        if found:
            passages = tuple(replace(passage, listed=unescaped(passage.id) in found) for passage in document.passages)
            yield replace(document, passages=passages)
    if missing:
        logger.warning("%s: no file has %d listed passages: %s", table, len(missing), ", ".join(sorted(missing)))


def _ids(table: Path) -> set[str]:
    """The passages that the table lists."""
    if not table.is_file():
        raise BadInput(table, "", "no such file", "correct `only` in the description of the corpus")
    rows = csv.DictReader(decode(table).splitlines())
    if COLUMN not in (rows.fieldnames or ()):
        raise BadInput(table, "line 1", f"has no column `{COLUMN}`", "name the column of passage ids so")
    return {row[COLUMN] for row in rows}
