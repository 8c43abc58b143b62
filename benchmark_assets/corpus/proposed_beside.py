"""Proposals for files that stand beside a source in another form: translations in prose, and files that are not read.

Here: prose beside tables, TEI and cited forms; reasons why other files are not read. Not here: files of the layout
itself (proposals), prose without such files (proposed_prose).
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from os.path import commonprefix
from pathlib import Path

from benchmark_assets.corpus.corrections import FILE
from benchmark_assets.corpus.languages import plain
from benchmark_assets.corpus.proposed import ProposedKeys, into
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
    files = [file for file in visible(folder) if file.is_file()]
    own = _own(files, found)
    others = [file for file in files if file not in own and _is_text(file) and not _is_named(file, folder, found)]
    prose = [file for file in others if file.suffix in PROSE and found.layout in ("table", "tei", *FORMS)]
    unread = {_place(file, folder): _reason(file) for file in others if file not in prose}
    found = found._replace(unread={**found.unread, **unread})
    return _with_prose(folder, found, prose, own, stated) if prose else found


def _is_text(file: Path) -> bool:
    """Whether a file may be a text: no lock file, no file of corrections, and nothing that only stands beside texts."""
    name, stem = file.name, file.stem.casefold()
    is_beside = name.startswith("~$") or name.endswith(FILE) or NO_TEXT.search(stem) is not None
    return not is_beside and file.suffix in (*OTHERS, *PROSE, *_APART, grid.WORD)


def _own(files: Sequence[Path], found: ProposedKeys) -> set[Path]:
    """The files of the form of a layout, which are read, or named among those that are not."""
    if found.layout == "table":
        apart = {file for file in files if file.suffix in _APART}
        return apart or {file for file in files if file.suffix == grid.WORD and has_table(file)}
    if found.layout in FORMS and found.layout not in BY_ENDING:
        return {file for file in files if form_of(file) == found.layout}
    return {file for file in files if file.suffix not in OTHERS and (found.layout != "tei" or file.suffix == ".xml")}


def _is_named(file: Path, folder: Path, found: ProposedKeys) -> bool:
    """Whether a proposal mentions a file."""
    named = {keys.get("files", "") for keys in (found.source, *found.references.values())} | found.unread.keys()
    place = _place(file, folder)
    return bool(named & {place, file.name}) or found.keys.get("root") == f"{folder.name}/{place}"


def _reason(file: Path) -> str:
    if file.suffix in OTHERS:
        return f"{file.suffix} files are not read; save it as .docx or .txt"
    return "a table cannot be read beside this form; save its text as .txt or .docx, or give all texts as tables"


def _with_prose(
    folder: Path, found: ProposedKeys, files: Sequence[Path], own: Collection[Path], stated: Stated
) -> ProposedKeys:
    """Add prose: translations that will be aligned. Of several documents, each file names one. `own` are the files of
    the layout."""
    references, unread, questions = dict(found.references), dict(found.unread), list(found.questions)
    read: dict[str, tuple[str, dict[str, str]]] = {}
    source = plain(found.source["language"])
    documents, length = _documents(folder, found, sorted(own))
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
        is_whole = len(documents) < 2
        layout = NUMBERED if is_whole and file.suffix == ".txt" and _is_numbered(file) else PROSE[file.suffix]
        ratio = len(content) / length if length and is_whole and layout != NUMBERED else LONGEST / 2
        reason = _unfit(language, source, documents, document)
        doubt = "" if stated.roles.get(place) == "translation" else _doubt(language, ratio, least(source))
        if doubt and not reason:
            is_only = not found.references and len(files) == 1 and language in MODERN
            questions.append(doubtful(place, doubt, is_only))
            reason = "" if is_only else doubt
        if reason or stated.roles.get(place) == "none":
            unread[place] = reason or "left out"
        else:
            read[place] = (document, {"language": language, "layout": layout, "files": pattern})
    known = references or {place: keys for place, (_, keys) in read.items()}
    target = plain(into(Counter(keys["language"] for keys in known.values()), stated.into)[0])
    further = [*found.further]
    for place, (document, keys) in read.items():
        if plain(language := keys["language"]) != target:
            unread[place] = f"{FOREIGN}{language}"
            further += [language] if language not in further else []
            continue
        key = rf"(?<![^\W_]){re.escape(document)}(?![^\W_])" if document else "$^"
        references.setdefault(translator_name(re.sub(key, " ", place.rpartition(".")[0])), keys)
    pattern = _pattern(folder, found, sorted(own)) if len(references) > len(found.references) else ""
    source_keys = {**found.source, **({"files": pattern} if pattern else {})}
    return found._replace(
        source=source_keys, references=references, unread=unread, questions=questions, further=further
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


def _pattern(folder: Path, found: ProposedKeys, own: Sequence[Path]) -> str:
    """A pattern of the source's files if they have none, and end as translations do: of plain text; else ''."""
    if "files" in found.source or found.layout not in FORMS or PROSE.keys().isdisjoint(FORMS[found.layout].endings):
        return ""
    places = [_place(file, folder) for file in own]
    return places[0] if len(places) == 1 else f"{commonprefix(places)}*{own[0].suffix}"  # noqa: RUF071


def _documents(folder: Path, found: ProposedKeys, own: Sequence[Path]) -> tuple[list[str], int]:
    """The documents of the source, and its length in characters; 0 if it is not known."""
    pattern = found.source.get("files", "")
    if found.layout in FORMS:
        files = [file for each in fitting(folder, pattern).values() for file in each] if pattern else own
        texts = {name: len(text.content) for file in files for name, text in FORMS[found.layout].read(file).items()}
        return list(texts), sum(texts.values())
    if "{document}" in pattern:
        return list(fitting(folder, pattern)), 0
    length = len(PROSE_READERS["tei"].read(own[0])[0]) if found.layout == "tei" and len(own) == 1 else found.length
    return [slug(file.stem) for file in own], length


def _place(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()
