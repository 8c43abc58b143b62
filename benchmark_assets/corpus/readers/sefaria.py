"""Sefaria's JSON: one version of a work in a file, as nested lists of texts.

The document's id is the title of the work. `sectionNames` names the levels (`Chapter`, `Verse`), and the places in the
lists are the numbers; folios of a Talmud (`Daf`) are `2a`, `2b`. A work of several parts has an object of parts, whose
names are the highest level. An empty text is untranslated, and in a source no segment. Texts are HTML (readers.plain).
Merged files, which join several versions, are read in the same way.

Here: the text of a file. Not here: which works a corpus has, and how they are divided (cited).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.citations import Citation
from benchmark_assets.corpus.readers.citing import CitedText, Citing
from benchmark_assets.corpus.readers.running_text import LINE, PARAGRAPH
from benchmark_assets.corpus.readers.strict_json import parse
from resources.errors import BadInput
from resources.keys import slug

_FOLIOS = ("daf", "folio", "amud")


def read(path: Path) -> dict[str, CitedText]:
    """The work in a file, by its title as a key.

    Raises
    ------
    BadInput
        If the file is not a JSON object with `title` and `text`, its texts have different depths, it contains no text,
        or it lost letters in conversion.
    """
    record = parse(decode(path), path)
    title, text = record.get("title"), record.get("text")
    if not isinstance(title, str) or not isinstance(text, list | dict):
        problem = "is not a version of Sefaria: it lacks `title` or `text`"
        raise BadInput(path, "", problem, "correct `layout` or `files`, or export the version again")
    texts = list(_texts(text, (), path))
    depth = max((len(citation) for citation, _ in texts), default=0)
    names = [str(name).casefold() for name in record.get("sectionNames") or ()]
    parts = [f"level {number}" for number in range(1, depth - len(names) + 1)]
    levels = [*parts, *names][:depth]
    if not any(text for _, text in texts):
        raise BadInput(path, "text", "contains no text", "export the version again, or remove the file")
    found = Citing(*levels)
    for citation, content in texts:
        number = found.cite(_named(citation, levels), 1)
        found.text.separate(PARAGRAPH if citation[-1] == "1" else LINE)
        found.text.cite(number)
        found.text.add(content)
    cited = found.finish()
    clean(cited.content, path)
    return {slug(title): cited}


def _texts(content: Any, above: Citation, path: Path) -> Iterator[tuple[Citation, str]]:
    """Each text with its citation; parts of a work have their name in it, other places their number from 1."""
    if isinstance(content, str):
        yield above or ("1",), content.strip()
    elif isinstance(content, dict):
        for name, part in content.items():
            yield from _texts(part, (*above, slug(name) if name.strip() else "text"), path)
    elif isinstance(content, list):
        for number, part in enumerate(content, start=1):
            yield from _texts(part, (*above, str(number)), path)
    elif content:  # 0 and null stand for an empty text in some exports
        problem = f"has {type(content).__name__} in place of a text"
        raise BadInput(path, f"text {'.'.join(above)}", problem, "export the version again")


def _named(citation: Citation, levels: list[str]) -> Citation:
    """The citation with names of folios: 3 is `2a`, 4 is `2b`."""
    return tuple(
        f"{(int(number) + 1) // 2}{'ab'[(int(number) + 1) % 2]}" if level in _FOLIOS and number.isdecimal() else number
        for number, level in zip(citation, levels, strict=False)
    )
