"""Readers: one module a layout, each a function from a description to documents.

A reader yields a Document, or a BadInput for each fault of a document that it therefore leaves out, so that faulty
documents do not keep others from loading. It raises BadInput only if nothing can be read at all. Continuous
translations have layouts of their own, each a function from one file to its text and asides (prose).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers import bilara, chunks, jsonl, table, tei
from benchmark_assets.corpus.readers.prose import with_prose
from resources.errors import BadInput

Reader = Callable[[Description], Iterator[Document | BadInput]]

READERS: dict[str, Reader] = {
    "bilara": bilara.documents,
    "chunks": chunks.documents,
    "jsonl": jsonl.documents,
    "table": table.documents,
    "tei": tei.documents,
}


def read(description: Description) -> Iterator[Document | BadInput]:
    """Read the documents of a corpus with the reader of its layout.

    A passage in a second document, or a document in a second file, is a fault.

    Raises
    ------
    BadInput
        If the layout has no reader, the root does not exist, or a continuous reference has no file.
    """
    if description.layout not in READERS:
        raise BadInput(
            description.name, "layout", f"no reader for {description.layout!r}", f"use one of {sorted(READERS)}"
        )
    if not description.root.exists():
        raise BadInput(
            description.root, "", "does not exist", f"correct `root` in the description of {description.name}"
        )
    documents = _distinct(READERS[description.layout](description))
    yield from with_prose(description, documents) if description.continuous else documents


def _distinct(documents: Iterator[Document | BadInput]) -> Iterator[Document | BadInput]:
    files: dict[str, Path] = {}
    seen: dict[str, Path] = {}
    for document in documents:
        if isinstance(document, BadInput):
            yield document
            continue
        if document.id in files:
            yield BadInput(
                document.file, document.id, f"the document is also in {files[document.id]}", "put it into one file"
            )
            continue
        twice = [passage.id for passage in document.passages if passage.id in seen]
        for passage_id in twice:
            yield BadInput(
                document.file, passage_id, f"the passage is also in {seen[passage_id]}", "rename one of them"
            )
        if not twice:
            files[document.id] = document.file
            seen.update((passage.id, document.file) for passage in document.passages)
            yield document
