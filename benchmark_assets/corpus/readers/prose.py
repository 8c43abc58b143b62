"""Continuous translations: the files of each document, and their texts.

Here: the registry of their layouts, and rules common to all of them. Not here: the layouts themselves, the alignment of
the texts with the segments of the source.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from benchmark_assets.corpus.description import Description, Text
from benchmark_assets.corpus.model import Aside, Document, Prose
from benchmark_assets.corpus.readers import html, tei, text
from benchmark_assets.corpus.readers.characters import check_letters
from benchmark_assets.corpus.readers.files import fitting
from benchmark_assets.corpus.readers.running_text import without_numbers
from resources.errors import BadInput

ProseReader = Callable[[Path], tuple[str, tuple[Aside, ...]]]

PROSE_READERS: dict[str, ProseReader] = {
    "dhammatalks-html": html.dhammatalks,
    "suttacentral-html": html.suttacentral,
    "tei": tei.running_text,
    "text": text.running_text,
}
ENDINGS = {"dhammatalks-html": ".html", "suttacentral-html": ".html", "tei": ".xml", "text": ".txt"}


def with_prose(description: Description, found: Iterable[Document | BadInput]) -> Iterator[Document | BadInput]:
    """Documents with their continuous translations; documents with a faulty translation are left out.

    A document without a file of a translator has no translation by them. Files that match no document are ignored.

    Raises
    ------
    BadInput
        For a reference with an unknown layout, with a pattern that no file fits, or with a pattern that names a single
        file for several documents.
    """
    for translator, reference in description.continuous.items():
        if reference.layout not in PROSE_READERS:
            raise BadInput(
                description.name, f"references.{translator}.layout",
                f"no reader for continuous translations in {reference.layout!r}", f"use one of {sorted(PROSE_READERS)}",
            )  # fmt: skip
    read = list(found)
    documents = {document.id: document for document in read if isinstance(document, Document)}
    yield from (fault for fault in read if isinstance(fault, BadInput))
    files = {
        translator: _files(description, translator, documents, all_read=len(documents) == len(read))
        for translator in description.continuous
    }
    for document in documents.values():
        prose: list[Prose] = []
        faults: list[BadInput] = []
        for translator, reference in description.continuous.items():
            try:
                prose += _prose(translator, reference, files[translator].get(document.id, []))
            except BadInput as fault:
                faults.append(fault)
        if faults:
            yield from faults
        else:
            yield replace(document, prose=tuple(prose))


def _files(
    description: Description, translator: str, documents: Collection[str], all_read: bool
) -> dict[str, list[Path]]:
    """Files of a translator by document. If some documents could not be read, the others may have no file."""
    if not documents:
        return {}
    reference, key = description.continuous[translator], f"references.{translator}"
    root = reference.root or description.root
    folder = root.parent if root.is_file() else root
    if not folder.exists():
        raise BadInput(folder, key, "does not exist", "correct the reference's `root`")
    pattern = reference.files or f"**/{{document}}{ENDINGS[reference.layout]}"
    if "{document}" not in pattern and len(documents) > 1:
        raise BadInput(
            description.name, f"{key}.files", f"{pattern!r} is one file, but the corpus has {len(documents)} documents",
            "put {document} at the place of the document's id in the files' names",
        )  # fmt: skip
    files = fitting(folder, pattern, documents)
    if "" in files:  # a pattern without {document} is for the only document
        return dict.fromkeys(documents, files[""])
    if files:
        return files
    if not fitting(folder, pattern):
        raise BadInput(
            folder, key, f"no file fits {pattern!r}", "correct `files` or `root` of the reference, or drop it"
        )
    if all_read:
        example = pattern.replace("{document}", min(documents))
        raise BadInput(
            folder, key, f"no file that fits {pattern!r} belongs to a document", f"name it by its id: {example!r}"
        )
    return {}


def _prose(translator: str, reference: Text, files: list[Path]) -> Iterator[Prose]:
    if len(files) > 1:
        raise BadInput(
            files[1], translator, f"the document's translation is also in {files[0]}", "keep one, or correct `files`"
        )
    for path in files:
        content, asides = without_numbers(*PROSE_READERS[reference.layout](path), reference.numbering)
        if not content:
            raise BadInput(path, "", "holds no text", "remove the file if there is no translation")
        yield Prose(translator, path, check_letters(content, path), asides)
