"""Works in cited forms: several versions of a work, each in files of its own, that share the work's citations.

A form is a function from a file to its texts by document. The documents of a corpus are those in the files of its
source; a translation in any of these forms is divided by the citations that it shares with the source (editions). If it
shares none, it is a continuous translation, whose numbers are asides. A translation in one file is that of a source in
one file, unless both state what they contain; other translations have the documents of the source by their ids.

Versions divide differently: one gives verses 2 and 3 as one (`2-3`), or a verse in two parts (`4a`, `4b`). Segments are
the smallest stretches that no version divides: `1.2-3`, `1.4`.

Here: forms, the files of each text, joined numbers. Not here: reading a form (usfm, osis, sefaria), dividing a document
into passages and segments (editions).
"""

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.description import Description, Text
from benchmark_assets.corpus.model import Aside, Document, Prose
from benchmark_assets.corpus.readers import kanripo, marked, osis, pages, sefaria, usfm
from benchmark_assets.corpus.readers.citations import Citation
from benchmark_assets.corpus.readers.citing import CitedText
from benchmark_assets.corpus.readers.editions import divided, some
from benchmark_assets.corpus.readers.files import check_sources_only, fitting, listed, visible
from benchmark_assets.corpus.readers.plain import plain_prose
from benchmark_assets.corpus.readers.tei import Edition
from resources.errors import BadInput, one_of, raise_all

logger = logging.getLogger("variorum.corpus")


class CitedForm(NamedTuple):
    """The endings of a form's files, a regular expression that matches in the beginning of such a file, and the
    function from a file to its texts by document."""

    endings: tuple[str, ...]
    sign: str
    read: Callable[[Path], dict[str, CitedText]]


FORMS = {
    "cbeta": CitedForm((".xml",), r"cbeta\.org/ns", partial(marked.read, "cbeta")),
    "docx": CitedForm((".docx",), "(?!)", pages.docx),
    "epub": CitedForm((".epub",), "(?!)", pages.epub),
    "html": CitedForm((".html", ".htm", ".xhtml"), "(?!)", pages.html),
    "kanripo": CitedForm((".txt",), r"mandoku-view|<pb:KR", kanripo.read),
    "numbered-text": CitedForm((".txt",), "(?!)", pages.numbered_text),
    "osis": CitedForm((".xml", ".osis"), r"<osis\b", osis.read),
    "sefaria": CitedForm((".json",), r'"(?:versionTitle|heTitle|sectionNames)"\s*:', sefaria.read),
    "tei-lines": CitedForm((".xml",), "(?!)", partial(marked.read, "tei-lines")),
    "tei-milestones": CitedForm((".xml",), r"84000", partial(marked.read, "tei-milestones")),
    "usfm": CitedForm((".usfm", ".sfm"), r"\\id\s", usfm.read),
}

_STATED = frozenset(["osis", "sefaria", "usfm"])
"""Forms whose files state which work or book they contain."""

_RANGE = re.compile(r"(\d+)[a-z]?(?:[-,](?:\d+[-,])*(\d+)[a-z]?)?")

Texts = dict[str, tuple[Path, CitedText]]
"""Texts with their files, by document."""


def documents(description: Description) -> Iterator[Document | BadInput]:
    """The documents in the files of the source, in order of occurrence.

    Raises
    ------
    BadInput
        If there is no file of the source or of a translation, or a reference has no layout of its own.
    """
    check_sources_only(description)
    faults: list[BadInput] = []
    sources = _texts(_source_files(description), FORMS[description.layout], faults)
    own = {path for path, _ in sources.values()}
    translations: dict[str, Texts] = {}
    for translator, text in description.continuous.items():
        if text.layout in FORMS:
            files = [path for path in _files(description, f"references.{translator}", text) if path not in own]
            if not files:
                remedy = "give the translation's `files` or `root`"
                raise BadInput(description.name, f"references.{translator}.files", "matches only the source", remedy)
            texts = _texts(files, FORMS[text.layout], faults)
            translations[translator] = _of_sources(description, translator, texts, sources, faults)
    yield from faults
    for name, (path, source) in sources.items():
        if not source.edition.units:
            yield BadInput(path, "", "contains no numbered segments", "number them, or give the text in a table")
            continue
        versions = {translator: texts[name] for translator, texts in translations.items() if name in texts}
        editions = joined(
            {"": _with_text(source.edition), **{key: text.edition for key, (_, text) in versions.items()}}
        )
        for result in divided(description, name, path, editions.pop(""), editions):
            if isinstance(result, Document):
                segmented = {each.translator for passage in result.passages for each in passage.references}
                prose = (
                    plain_prose(Prose(translator, file, text.content, text.asides))
                    for translator, (file, text) in versions.items()
                    if translator not in segmented and text.content
                )
                yield replace(result, prose=tuple(prose))
            else:
                yield result


def running_text(form: str, path: Path) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of a translation in a cited form, for a source in another layout.

    Raises
    ------
    BadInput
        If the file cannot be read, or contains several documents.
    """
    texts = FORMS[form].read(path)
    if len(texts) != 1:
        problem = f"contains {len(texts)} documents ({', '.join(texts)})" if texts else "contains no text"
        raise BadInput(path, "", problem, f"divide it, or give the source in one of the forms {one_of(sorted(FORMS))}")
    (text,) = texts.values()
    return text.content, text.asides


def _source_files(description: Description) -> list[Path]:
    if not description.source.files:
        return listed(description, *FORMS[description.layout].endings)
    return _files(description, "source", description.source)


def _files(description: Description, key: str, text: Text) -> list[Path]:
    """The files of a text, by its pattern or by the endings of its form."""
    root = text.root or description.root
    folder, endings = root.parent if root.is_file() else root, FORMS[text.layout or description.layout].endings
    if text.files:
        files = [path for paths in fitting(folder, text.files).values() for path in paths]
    else:
        files = [path for path in visible(root) if path.suffix in endings]
    if not files:
        problem = f"no file matches {text.files or f'*{endings[0]}'!r}"
        raise BadInput(folder, key, problem, "correct `files` or `root`")
    return files


def _texts(files: list[Path], form: CitedForm, faults: list[BadInput]) -> Texts:
    """The texts in files. A file that cannot be read, or has a document of an earlier file, is a fault."""
    texts: Texts = {}
    for path in files:
        try:
            for name, text in form.read(path).items():
                if name in texts:
                    raise BadInput(
                        path, name, f"the document is also in {texts[name][0]}", "give `files` of one of them"
                    )
                texts[name] = path, text
        except BadInput as fault:
            faults += fault.faults
    if not texts:
        raise_all(
            faults or [BadInput(files[0], "", "contains no text", "correct `files` or `root`, or fetch it again")]
        )
    return texts


def _of_sources(
    description: Description, translator: str, texts: Texts, sources: Texts, faults: list[BadInput]
) -> Texts:
    """The texts of a translation by the document of the source. If no id is the same, a single text is that of a single
    source, unless both files state what they contain; otherwise, the translation is a fault."""
    if others := texts.keys() - sources.keys():
        layouts = (description.layout, description.references[translator].layout)
        names, expected = (some(sorted(each)) for each in (others, sources))
        if len(texts) == len(sources) == 1 and not _STATED.issuperset(layouts):
            return dict(zip(sources, texts.values(), strict=True))
        if len(others) == len(texts):
            ((path, _), *_) = texts.values()
            remedy = "give both the same file names, or correct `files` of the translation"
            if _STATED.issuperset(layouts):
                remedy = "correct `files` of the translation, or the id or title in its files"
            faults.append(BadInput(path, translator, f"has {names}, but the source has {expected}", remedy))
        else:
            logger.warning("%s: %s is not read, because the source has no such document", translator, names)
    return texts


def _with_text(source: Edition) -> Edition:
    """A source without numbers that have no text. Notes on these are on the number before."""
    filled = {citation[:length] for citation, _ in source.pieces for length in range(1, len(citation) + 1)}
    places: dict[Citation, Citation] = {}
    latest: Citation = ()
    for unit in source.units:
        latest = unit if unit in filled else latest
        places[unit] = latest
    return source._replace(
        units={unit: line for unit, line in source.units.items() if unit in filled},
        notes=[(places.get(citation, citation), note) for citation, note in source.notes],
    )


def joined(editions: Mapping[str, Edition]) -> dict[str, Edition]:
    """The editions, numbered at the lowest level by the smallest stretches of text that none of them divides."""
    numbers: dict[Citation, dict[str, list[tuple[int, int, str]]]] = defaultdict(lambda: defaultdict(list))
    for translator, edition in editions.items():
        for citation in edition.units:
            if len(citation) == len(edition.levels) and (span := _span(citation[-1])):
                numbers[citation[:-1]][translator].append((*span, citation[-1]))
    names = {(*above, own): name for above, by_edition in numbers.items() for own, name in _names(by_edition).items()}

    def renamed(citation: Citation) -> Citation:
        return (*citation[:-1], names[citation]) if citation in names else citation

    return {
        translator: edition._replace(
            units={renamed(citation): line for citation, line in edition.units.items()},
            pieces=[(renamed(citation), text) for citation, text in edition.pieces],
            notes=[(renamed(citation), text) for citation, text in edition.notes],
            odd=[(renamed(citation), sentence) for citation, sentence in edition.odd],
        )
        for translator, edition in editions.items()
    }


def _names(numbers: Mapping[str, list[tuple[int, int, str]]]) -> dict[str, str]:
    """New names of the numbers in one chapter, which are given by edition: first and last integer, and number."""
    merged: list[tuple[int, int]] = []
    for first, last, _ in sorted(each for own in numbers.values() for each in own):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    blocks = {number: block for block in merged for number in range(block[0], block[1] + 1)}
    divisions: dict[tuple[int, int], set[tuple[str, ...]]] = defaultdict(set)
    for own in numbers.values():
        by_block: dict[tuple[int, int], list[str]] = defaultdict(list)
        for first, _, number in own:
            by_block[blocks[first]].append(number)
        for block, parts in by_block.items():
            divisions[block].add(tuple(sorted(parts)))
    return {
        number: str(block[0]) if block[0] == block[1] else f"{block[0]}-{block[1]}"
        for block, ways in divisions.items() if len(ways) > 1
        for way in ways for number in way
    }  # fmt: skip


def _span(number: str) -> tuple[int, int] | None:
    """First and last integer of `3`, `2-3`, `4a` or `2-4,6`; None for other numbers."""
    match = _RANGE.fullmatch(number)
    return (int(match[1]), max(int(match[1]), int(match[2] or match[1]))) if match else None
