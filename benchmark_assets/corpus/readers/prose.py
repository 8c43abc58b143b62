"""Continuous translations: the files of each document, and their texts.

Here: the registry of layouts for continuous translations, and rules common to all of these layouts. Not here: the
layouts themselves, the alignment of translations with the segments of the source.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.description import Description, Text
from benchmark_assets.corpus.model import Aside, Document, Prose
from benchmark_assets.corpus.readers import cited, html, tei, text
from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.files import translations
from benchmark_assets.corpus.readers.plain import plain_prose
from benchmark_assets.corpus.readers.running_text import without_numbers
from resources.errors import BadInput


class ProseReader(NamedTuple):
    """The ending of a layout's files, and the function from a file to its text and asides."""

    ending: str
    read: Callable[[Path], tuple[str, tuple[Aside, ...]]]


PROSE_READERS = {
    "dhammatalks-html": ProseReader(".html", html.dhammatalks),
    "suttacentral-html": ProseReader(".html", html.suttacentral),
    "tei": ProseReader(".xml", tei.running_text),
    "text": ProseReader(".txt", text.running_text),
    **{name: ProseReader(form.endings[0], partial(cited.running_text, name)) for name, form in cited.FORMS.items()},
}


def with_prose(description: Description, sources: Iterable[Document | BadInput]) -> Iterator[Document | BadInput]:
    """Add continuous translations to documents. A document with a faulty translation is replaced by its faults.

    A translation that a document already has, as a segmented reference or as prose, is not added. A document without a
    file of a translator has no translation by that translator. Files of unknown documents are ignored.

    Raises
    ------
    BadInput
        If no file matches the pattern of a translator, or the pattern names one file for several documents.
    """
    results = list(sources)
    read_already = cited.FORMS if description.layout in cited.FORMS else ()
    translations_apart = {
        name: reference for name, reference in description.continuous.items() if reference.layout not in read_already
    }
    documents = {document.id: document for document in results if isinstance(document, Document)}
    yield from (fault for fault in results if isinstance(fault, BadInput))
    files = {
        translator: translations(
            description,
            translator,
            PROSE_READERS[reference.layout].ending,
            documents,
            all_read=len(documents) == len(results),
        )
        for translator, reference in translations_apart.items()
    }
    for document in documents.values():
        prose = [*document.prose]
        faults: list[BadInput] = []
        segmented = {reference.translator for passage in document.passages for reference in passage.references}
        for translator, reference in translations_apart.items():
            if translator in segmented:
                continue
            try:
                prose += _prose(translator, reference, files[translator].get(document.id, []))
            except BadInput as fault:
                faults.append(fault)
        if faults:
            yield from faults
        else:
            yield replace(document, prose=tuple(prose))


def _prose(translator: str, reference: Text, files: list[Path]) -> Iterator[Prose]:
    """Yield the translation of a document, if it has a file. Raises BadInput if it has several files."""
    if len(files) > 1:
        problem = f"the document's translation is also in {files[0]}"
        raise BadInput(files[1], translator, problem, "keep one of the files, or correct `files`")
    for path in files:
        content, asides = without_numbers(*PROSE_READERS[reference.layout].read(path), reference.numbering)
        if not content:
            raise BadInput(path, "", "contains no text", "remove the file if there is no translation")
        yield plain_prose(Prose(translator, path, clean(content, path), asides))
