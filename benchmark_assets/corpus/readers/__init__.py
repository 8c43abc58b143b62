"""Readers: one module per layout, each with a function from a description to documents.

A reader yields the documents that it can read. For a document that it leaves out, it yields a BadInput for each fault,
so that a faulty document does not prevent others from loading. It raises BadInput only if nothing can be read at all.
Continuous translations have their own layouts, each with a function from one file to its text and asides (prose).
"""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers import (
    anchored,
    bilara,
    chunks,
    cited,
    conllu,
    editions,
    jsonl,
    moses,
    offsets,
    paragraphs,
    table,
    tmx,
)
from benchmark_assets.corpus.readers.listed import only_listed
from benchmark_assets.corpus.readers.plain import plain
from benchmark_assets.corpus.readers.prose import PROSE_READERS, with_prose
from resources.errors import BadInput, meant, one_of, raise_all
from resources.keys import unescaped

Reader = Callable[[Description], Iterator[Document | BadInput]]

LONGEST = 120
"""Maximum number of characters of a passage's id; a longer one is a text."""

READERS: dict[str, Reader] = {
    "bilara": bilara.documents,
    "chunks": chunks.documents,
    "conllu": conllu.documents,
    "jp-tl-bench": anchored.documents,
    "jsonl": jsonl.documents,
    "moses": moses.documents,
    "offsets": offsets.documents,
    "paragraphs": paragraphs.documents,
    "table": table.documents,
    "tei": editions.documents,
    "tmx": tmx.documents,
    **dict.fromkeys(cited.FORMS, cited.documents),
}


def read(description: Description) -> Iterator[Document | BadInput]:
    """Read the documents of a corpus with the reader of its layout.

    A passage that occurs in two documents, or a document that occurs in two files, is a fault.

    Raises
    ------
    BadInput
        If a layout has no reader, the root does not exist, a continuous translation has no file, or the table of
        passages cannot be read.
    """
    raise_all(list(layout_faults(description, description.name)))
    if not description.root.exists():
        problem = f"does not exist{meant(description.root)}"
        raise BadInput(description.root, "", problem, f"correct `root` in the description of {description.name}")
    documents = _distinct(_plain(READERS[description.layout](description), description))
    if description.only:
        documents = only_listed(documents, description.only)
    yield from with_prose(description, documents) if description.continuous else documents


def _plain(documents: Iterator[Document | BadInput], description: Description) -> Iterator[Document | BadInput]:
    """Make the texts of documents plain, whatever their layout. A document without text is replaced by a fault."""
    for document in documents:
        try:
            yield plain(document, description) if isinstance(document, Document) else document
        except BadInput as fault:
            yield fault


def layout_faults(description: Description, where: object) -> Iterator[BadInput]:
    """Yield a fault for each layout in the description that has no reader.

    `where` is the place that the faults name.
    """
    layouts: list[tuple[str, str, Collection[str]]] = [("layout", description.layout, READERS)]
    for translator, text in description.continuous.items():
        layouts.append((f"references.{translator}.layout", text.layout, PROSE_READERS))
    for key, layout, readers in layouts:
        if layout not in readers:
            yield BadInput(where, key, f"no reader for {layout!r}", f"use {one_of(sorted(readers))}")


def _distinct(documents: Iterator[Document | BadInput]) -> Iterator[Document | BadInput]:
    """Replace a document with faults if its id or one of its passages occurs in an earlier document, a passage has a
    text as its id, or ids of two passages differ by case alone, which some file systems ignore."""
    files: dict[str, Path] = {}
    passages: dict[str, tuple[str, Path]] = {}
    remedy = "give it a short id; a text belongs in another column or key"
    for document in documents:
        if isinstance(document, BadInput):
            yield document
            continue
        if faults := [
            BadInput(document.file, unescaped(each.id), f"the id is longer than {LONGEST} characters", remedy)
            for each in document.passages if len(each.id) > LONGEST
        ]:  # fmt: skip
            yield from faults
            continue
        if document.id in files:
            problem = f"the document is also in {files[document.id]}"
            yield BadInput(document.file, document.id, problem, "put the document into one file")
            continue
        own: dict[str, tuple[str, Path]] = {}
        repeated = False
        for passage in document.passages:
            folded = passage.id.lower()
            if other := own.get(folded) or passages.get(folded):
                differs = f"differs by capitals alone from {other[0]} in" if other[0] != passage.id else ""
                problem = f"{differs or 'the passage is also in'} {other[1]}"
                yield BadInput(document.file, passage.id, problem, "rename one of them")
                repeated = True
            own[folded] = (passage.id, document.file)
        if not repeated:
            files[document.id] = document.file
            passages |= own
            yield document
