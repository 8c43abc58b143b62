"""The choice of passages by a table, as a published benchmark lists its passages. Not here: filters by content."""

import csv
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import decode
from resources.errors import BadInput

logger = logging.getLogger("variorum.corpus")

COLUMN = "passage_id"


def only_listed(documents: Iterator[Document | BadInput], table: Path) -> Iterator[Document | BadInput]:
    """Yield the documents without passages that the table does not list; documents without passages are left out.

    Listed passages that no document has are logged.

    Raises
    ------
    BadInput
        If the table cannot be read, or has no column `passage_id`.
    """
    missing = _ids(table)
    listed = frozenset(missing)
    for document in documents:
        if isinstance(document, BadInput):
            yield document
            continue
        passages = tuple(passage for passage in document.passages if passage.id in listed)
        missing = missing - {passage.id for passage in passages}
        segments = {segment.id for passage in passages for segment in passage.segments}
        if passages:
            asides = tuple(aside for aside in document.asides if aside.segment in segments)
            yield replace(document, passages=passages, asides=asides)
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
