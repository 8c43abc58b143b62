"""Versions of works in cited forms: the files of each version, for proposed descriptions.

A version is a file (OSIS), all files of a folder (USFM), or all files of a name and language (Sefaria). Pages, books,
Word documents and USFM are versions by folder if there are several folders, and else by file.

Here: looking at files. Not here: reading them (readers.cited), the description (proposals).
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.languages import identified, plain
from benchmark_assets.corpus.readers.cited import FORMS
from benchmark_assets.corpus.readers.files import visible
from benchmark_assets.corpus.readers.pages import rows, word
from resources.errors import BadInput

HEAD = 4000
"""Number of characters at the beginning of a file by which its form is recognized."""

ANCIENT = frozenset(["ar", "arc", "bo", "cop", "fa", "gez", "got", "grc", "he", "la", "lzh", "pi", "sa", "syr", "ta"])
"""If a version is in one of these languages, it is the original rather than a translation."""


class FoundVersion(NamedTuple):
    """A version: its form, a name, the pattern of its files' paths, its language ('' if unknown), and whether the files
    state that it is the original."""

    form: str
    name: str
    files: str
    language: str
    is_source: bool


BESIDE = frozenset([".css", ".gif", ".ico", ".jpeg", ".jpg", ".js", ".md", ".png", ".svg"])
"""Endings of files beside pages that are no texts."""

NO_TEXT = re.compile(r"readme|licen[cs]e|copying|changelog")
"""Names of files beside texts that are no texts."""

OF_FORMS = {"cbeta": "lzh", "kanripo": "lzh", "tei-milestones": ""}
"""Languages of forms that state none, or another one: 84000's translations have titles in Tibetan. '' if unknown."""

BY_ENDING = ("docx", "epub", "html", "numbered-text")
"""Forms without a sign, whose files are of the form if they have numbers, and no other texts lie beside them."""


def form_of(path: Path) -> str | None:
    """The cited form of a file; None if it has none."""
    forms = [name for name, form in FORMS.items() if path.suffix in form.endings]
    if not forms:
        return None
    beginning = _beginning(path)
    return next((name for name in forms if re.search(FORMS[name].sign, beginning)), None)


def versions(path: Path) -> list[FoundVersion]:
    """The versions in a file or folder, the source first. Empty if the files have no cited form, or several.

    The source is the version that its files call the original, else the first in one of the ANCIENT languages, else the
    first that is not in English, else the first. Merged files of Sefaria are left out beside files of single versions
    in their language.
    """
    forms = {file: form_of(file) for file in visible(path) if file.is_file() and not file.name.startswith("~$")}
    if not any(forms.values()):
        endings = {file.suffix for file in forms} - BESIDE
        by_ending = [
            form for form in BY_ENDING
            if endings and endings <= {*FORMS[form].endings} and (form != "docx" or path.is_dir())
        ]  # fmt: skip
        texts = [file for file in forms if file.suffix in endings and not NO_TEXT.search(file.stem.casefold())]
        forms = {file: form for form in by_ending for file in texts if _is_cited(file, form)}
        if len(forms) < len(texts) and "html" not in by_ending:  # prose beside numbered prose
            return []
    if len(found := {form for form in forms.values() if form}) != 1:
        return []
    (form,) = found
    groups: dict[tuple[str, str], list[Path]] = defaultdict(list)
    files = [file for file in forms if forms[file]]
    apart = len({file.parent for file in files}) == 1 if form in BY_ENDING else _repeats(files, form)
    for file in files:
        groups[(file.stem, file.name) if apart and file.parent == path else _group(file, path, form)].append(file)
    single = {pattern.rpartition("/")[0] for name, pattern in groups if name != "merged"}
    own = [
        _version(form, name, pattern, files) for (name, pattern), files in groups.items()
        if name != "merged" or pattern.rpartition("/")[0] not in single
    ]  # fmt: skip
    source = min(own, key=lambda each: (not each.is_source, each.language not in ANCIENT, each.language == "en"))
    return [source, *(each for each in own if each is not source)]


def _group(file: Path, root: Path, form: str) -> tuple[str, str]:
    """The name of a file's version, and the pattern of the version's files below the root."""
    if file == root:
        return file.stem, file.name
    relative = file.relative_to(root)
    if form == "sefaria":
        return file.stem, f"**/{relative.parent.name}/{file.name}" if relative.parent.name else file.name
    if form == "osis":
        return file.name.partition(".")[0], relative.as_posix()
    return file.parent.name, (relative.parent / f"*{file.suffix}").as_posix()


def _is_cited(file: Path, form: str) -> bool:
    """Whether a file has numbered segments, and is no table: neither has it one, nor translations below each of its
    numbered paragraphs."""
    try:
        if form == "docx":
            wide = [sum(bool(cell.strip()) for cell in cells) > 2 for _, cells in rows(file)[1:]]
            if next(word(file).iter("table"), None) is not None or 2 * sum(wide) > len(wide):
                return False
        return any(text.edition.units for text in FORMS[form].read(file).values())
    except BadInput:
        return False


def _repeats(files: Sequence[Path], form: str) -> bool:
    """Whether files of USFM in one folder are versions of one book."""
    books = [re.search(r"\\id\s+(\w+)", _beginning(file)) for file in files] if form == "usfm" else []
    named = [book[1] for book in books if book]
    return len({file.parent for file in files}) == 1 and len({*named}) < len(named)


def _version(form: str, name: str, pattern: str, files: Sequence[Path]) -> FoundVersion:
    stated = re.search(r'"actualLanguage": *"(\w+)"|xml:lang="(\w+)"', _beginning(files[0]))
    language = OF_FORMS.get(form, plain(stated[1] or stated[2]) if stated else "")
    sample = ""
    for file in files[:3]:
        try:
            sample += " ".join(text.content[:HEAD] for text in FORMS[form].read(file).values())[:HEAD]
        except BadInput:  # the reader reports it
            continue
    if language in ("", "und"):
        seen = identified(sample)
        language = seen.tag if seen else ""
    is_source = bool(re.search(r'"is(?:Source|BaseText)": *true', _beginning(files[0])))
    return FoundVersion(form, name, pattern, language, is_source)


def _beginning(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(HEAD)
