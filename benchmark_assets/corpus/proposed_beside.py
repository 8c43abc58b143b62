"""Proposals for files beside those of a layout: prose that translates them, and what cannot be read with them.

Here: prose beside tables, TEI and cited forms; reasons why other files are not read. Not here: files of the layout
itself (proposals), prose without such files (proposed_prose).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from os.path import commonprefix
from pathlib import Path

from benchmark_assets.corpus.corrections import FILE
from benchmark_assets.corpus.languages import plain
from benchmark_assets.corpus.proposed import ProposedKeys
from benchmark_assets.corpus.proposed_prose import check_languages, doubtful, least
from benchmark_assets.corpus.readers import grid, table
from benchmark_assets.corpus.readers.cited import FORMS
from benchmark_assets.corpus.readers.files import fitting, visible
from benchmark_assets.corpus.readers.prose import PROSE_READERS
from benchmark_assets.corpus.roles import (
    ANCIENT,
    DISTANT,
    FOREIGN,
    MODERN,
    Stated,
    language_of,
    translator_name,
)
from benchmark_assets.corpus.versions import BY_ENDING, NO_TEXT, form_of
from resources.errors import BadInput
from resources.keys import slug

PROSE = {PROSE_READERS[layout].ending: layout for layout in ("text", "docx", "epub")}
"""Layouts of prose that may stand beside a source in another form, by the endings of their files."""

NUMBERED = "numbered-text"

OTHERS = frozenset([".doc", ".md", ".odt", ".pages", ".pdf", ".rtf", ".tex"])
"""Endings of texts that are not read."""

_APART = {*table.ENDINGS, *grid.RECORDS} - {grid.WORD}

LONGEST = 12.0
"""Greatest length of a translation, as a part of the length of the source, in characters."""


def has_table(path: Path) -> bool:
    """Whether a plain text or a Word document is a table."""
    if path.suffix == ".txt":
        return grid.is_table(path)
    try:
        return path.suffix == grid.WORD and bool(grid.lines(path))
    except BadInput:  # the reader of prose reports what cannot be read
        return False


def with_others(folder: Path, found: ProposedKeys, stated: Stated) -> ProposedKeys:
    """Add the files in a folder that its layout does not read: prose that will be aligned, and reasons for the rest."""
    others = list(_others(folder, found))
    prose = [file for file in others if file.suffix in PROSE and found.layout in ("table", "tei", *FORMS)]
    unread = {_place(file, folder): _reason(file) for file in others if file not in prose}
    found = found._replace(unread={**found.unread, **unread})
    return _with_prose(folder, found, prose, stated) if prose else found


def _others(folder: Path, found: ProposedKeys) -> Iterator[Path]:
    """The files that neither the layout reads nor the proposal mentions."""
    named = {keys.get("files", "") for keys in (found.source, *found.references.values())} | found.unread.keys()
    root = found.keys.get("root")
    for file in visible(folder):
        if (
            not file.is_file()
            or file.name.startswith("~$")
            or file.name.endswith(FILE)
            or NO_TEXT.search(file.stem.casefold())
        ):
            continue
        place = _place(file, folder)
        is_named = bool(named & {place, file.name}) or root == f"{folder.name}/{place}"
        if file.suffix in (*OTHERS, *PROSE, *_APART, grid.WORD) and not is_named and not _is_own(file, folder, found):
            yield file


def _is_own(file: Path, folder: Path, found: ProposedKeys) -> bool:
    """Whether a file is of the form of a layout, so that it is read, or named among what is not."""
    if found.layout == "table":
        is_of_word = not any(each.suffix in _APART for each in visible(folder))
        return file.suffix in _APART or (file.suffix == grid.WORD and is_of_word and has_table(file))
    if found.layout in FORMS and found.layout not in BY_ENDING:
        return form_of(file) == found.layout
    return file.suffix not in OTHERS and (found.layout != "tei" or file.suffix == ".xml")


def _reason(file: Path) -> str:
    if file.suffix in OTHERS:
        return f"{file.suffix} files are not read; save it as .docx or .txt"
    return "a table cannot be read beside this form; save its text as .txt or .docx, or give all texts as tables"


def _with_prose(folder: Path, found: ProposedKeys, files: Sequence[Path], stated: Stated) -> ProposedKeys:
    """Add prose: translations that will be aligned. Of several documents, each file names one."""
    references, unread, questions = dict(found.references), dict(found.unread), list(found.questions)
    read: dict[str, tuple[str, str, str]] = {}
    source = plain(found.source["language"])
    documents, length = _documents(folder, found)
    for file in files:
        place = _place(file, folder)
        document = next((name for name in sorted(documents, key=len, reverse=True) if name in place), "")
        pattern = place.replace(document, "{document}") if document and len(documents) > 1 else place
        if has_table(file):
            unread[place] = "another table"
            continue
        try:
            content, _ = PROSE_READERS[PROSE[file.suffix]].read(file)
            check_languages(file, content)
        except BadInput as fault:
            unread[place] = f"{fault.problem}; {fault.remedy}"
            continue
        language = language_of([content])
        is_cited = file.suffix == ".txt" and _is_numbered(file)
        ratio = len(content) / length if length and len(documents) < 2 and not is_cited else LONGEST / 2
        reason = _unfit(language, source, documents, document)
        doubt = "" if stated.roles.get(place) == "translation" else _doubt(language, ratio, least(source))
        if doubt and not reason:
            is_only = not found.references and len(files) == 1 and language in MODERN
            questions.append(doubtful(place, doubt, is_only))
            reason = "" if is_only else doubt
        if reason or stated.roles.get(place) == "none":
            unread[place] = reason or "left out"
        else:
            read[place] = (document, language, pattern)
    known = [keys["language"] for keys in references.values()]
    counts = Counter(known or [language for _, language, _ in read.values()])
    target = plain(stated.into or max(counts, key=lambda each: (counts[each], each == "en"), default=""))
    further = [each for each in dict.fromkeys(language for _, language, _ in read.values()) if plain(each) != target]
    for place, (document, language, pattern) in read.items():
        if language in further:
            unread[place] = f"{FOREIGN}{language}"
            continue
        key = rf"(?<![^\W_]){re.escape(document)}(?![^\W_])" if document else "$^"
        name = translator_name(re.sub(key, " ", place.rpartition(".")[0]))
        layout = PROSE[Path(place).suffix]
        if layout == "text" and len(documents) < 2 and _is_numbered(folder / place):
            layout = NUMBERED
        references.setdefault(name, {"language": language, "layout": layout, "files": pattern})
    further = [each for each in further if each not in found.further]
    own = {} if "files" in found.source or len(references) == len(found.references) else _files(folder, found)
    return found._replace(
        source={**found.source, **own},
        references=references,
        unread=unread,
        questions=questions,
        further=[*found.further, *further],
    )


def _is_numbered(file: Path) -> bool:
    """Whether the paragraphs of a plain text begin with numbers, by which a translation is divided as its source is."""
    try:
        return any(text.edition.units for text in FORMS[NUMBERED].read(file).values())
    except BadInput:  # in another encoding, which is read as prose
        return False


def _unfit(language: str, source: str, documents: Sequence[str], document: str) -> str:
    """Why a text cannot be a translation of the source, by its language and the document that its name has."""
    if plain(language) == source:
        return f"in {language}, as the source"
    if language in ANCIENT or (language in DISTANT and source in MODERN):
        return f"in {language}, rather a source than a translation from {source}"
    if len(documents) > 1 and not document:
        return f"its name has none of the documents {', '.join(documents[:4])}{'…' * (len(documents) > 4)}"
    return ""


def _doubt(language: str, ratio: float, shortest: float) -> str:
    """Why a text may be no translation of the source, by its language and its length as a part of the source's."""
    if language not in MODERN:
        return f"in {language}, rather another source"
    if not shortest < ratio < LONGEST:
        return f"much {'longer' if ratio > LONGEST else 'shorter'} than the source"
    return ""


def _files(folder: Path, found: ProposedKeys) -> dict[str, str]:
    """The pattern of the source's files if their form is that of plain text, which the translations are, too."""
    if found.layout not in FORMS or PROSE.keys().isdisjoint(FORMS[found.layout].endings):
        return {}
    places = [_place(file, folder) for file in visible(folder) if file.is_file() and form_of(file) == found.layout]
    return {"files": places[0] if len(places) == 1 else f"{commonprefix(places)}*{Path(places[0]).suffix}"}  # noqa: RUF071


def _documents(folder: Path, found: ProposedKeys) -> tuple[list[str], int]:
    """The documents of the source, and its length in characters; 0 if it is not known."""
    pattern = found.source.get("files", "")
    if found.layout in FORMS:
        own = [file for file in visible(folder) if file.is_file() and form_of(file) == found.layout]
        files = [each for own_files in fitting(folder, pattern).values() for each in own_files] if pattern else own
        texts = {name: len(text.content) for file in files for name, text in FORMS[found.layout].read(file).items()}
        return list(texts), sum(texts.values())
    if "{document}" in pattern:
        return list(fitting(folder, pattern)), 0
    endings = (".xml",) if found.layout == "tei" else (*table.ENDINGS, *grid.RECORDS)
    files = [file for file in visible(folder) if file.suffix in endings and _is_own(file, folder, found)]
    is_tei = found.layout == "tei" and len(files) == 1
    return [slug(file.stem) for file in files], len(PROSE_READERS["tei"].read(files[0])[0]) if is_tei else found.length


def _place(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()
