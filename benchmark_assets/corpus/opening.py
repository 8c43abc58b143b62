"""Opening a file or folder without a description: what it was taken for, what is asked, and why it cannot be evaluated.

Here: works of a collection, questions with defaults, and the descriptions that follow from answers. Not here: looking
at files (proposals), importing and showing (cli.opening).
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import commonpath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl
from babel import Locale

from benchmark_assets.corpus.description import Description, load
from benchmark_assets.corpus.proposals import described, look
from benchmark_assets.corpus.proposed import ROWS, ProposedKeys
from benchmark_assets.corpus.proposed_beside import has_table
from benchmark_assets.corpus.readers import table
from benchmark_assets.corpus.readers.files import visible
from benchmark_assets.corpus.readers.grid import RECORDS, WORD
from benchmark_assets.corpus.readers.paragraphs import LAYOUTS
from benchmark_assets.corpus.roles import MODERN, UNKNOWN, Stated, surnames
from benchmark_assets.corpus.scan import Scan, scan
from benchmark_assets.corpus.versions import versions
from resources.errors import BadInput
from resources.keys import slug

MOST = 3
"""Maximum number of questions."""

ALL = "all"
"""Answer with which all works of a collection are opened."""

ROLES = {"none": "nothing that is read", "note": "notes", "translation": "a human translation"}
"""Roles of a column or file that may be asked for."""

REMEDY = "add a column or a file with a human translation of the source into another language"
WITHOUT = "`variorum new corpus` describes a source without translations"

_TABLES = frozenset([*table.ENDINGS, *RECORDS]) - {WORD}
"""Endings of tables that may be works of their own."""


class Taken(NamedTuple):
    """What a column or file was taken for: `source`, a translator, or '' if it is not read, with the reason; its
    language, its number of segments or paragraphs, and the first of them."""

    name: str
    role: str
    language: str = ""
    number: int = 0
    texts: Sequence[str] = ()
    reason: str = ""


class Asked(NamedTuple):
    """A question by its key: `work`, `source`, `into`, `language`, `role NAME` or `translator NAME`. Choices are
    answers with their words; without choices, the answer is any word."""

    key: str
    text: str
    default: str
    choices: Mapping[str, str] = {}


class Opening(NamedTuple):
    """A corpus that can be opened: its name and description, what was taken for what, and numbers of its segments and
    passages; questions, by their answers; remarks; and further works that the answers choose, with their descriptions.
    """

    name: str
    description: str
    taken: Sequence[Taken]
    segments: int
    passages: int
    asked: Sequence[Asked]
    remarks: Sequence[str]
    works: Sequence[str]
    descriptions: Mapping[str, str]


def opened(place: Path, answers: Mapping[str, str]) -> Opening:
    """What a file or folder contains, with answers to some of its questions.

    Raises
    ------
    BadInput
        If no layout fits, or if there is nothing to evaluate: no text, no source, no translation.
    """
    with _once_each():
        return _whole(place, answers)


@contextmanager
def _once_each() -> Iterator[None]:
    """Show each warning of the readers once, though a file is looked at several times."""
    logger, shown = logging.getLogger("variorum.corpus"), set[str]()

    def is_new(record: logging.LogRecord) -> bool:
        is_shown = record.getMessage() in shown
        shown.add(record.getMessage())
        return not is_shown

    logger.addFilter(is_new)
    try:
        yield
    finally:
        logger.removeFilter(is_new)


def _whole(place: Path, answers: Mapping[str, str]) -> Opening:
    found = works(place)
    if not found:
        return _opened(place, place, slug(place.stem if place.is_file() else place.name), answers, MOST)
    names = {work: slug(f"{place.name}-{work.replace('/', '.')}") for work in found}
    asked = Asked("work", f"{place.name} has {len(found)} works: which one?", next(iter(found)),
                  {**{work: work for work in found}, ALL: "all of them"})  # fmt: skip
    chosen = answers.get("work", asked.default)
    first = _opened(place, *_chosen(found, names, asked.default if chosen == ALL else chosen), answers, MOST - 1)
    others = [work for work in found if chosen == ALL and work != asked.default]
    further = {names[work]: _opened(place, found[work], names[work], {}, 0).description for work in others}
    return first._replace(
        asked=[asked, *first.asked], works=list(found), descriptions={**first.descriptions, **further}
    )


def _chosen(found: Mapping[str, Path], names: Mapping[str, str], work: str) -> tuple[Path, str]:
    if work not in found:
        raise BadInput(work, "", "no such work", f"choose one of {', '.join(found)}, or {ALL}")
    return found[work], names[work]


def works(place: Path) -> dict[str, Path]:
    """The works in a folder, by name: subfolders that have a source and translations each, or tables that do and have
    different columns. Empty if there is one work."""
    if not place.is_dir() or (place / "root").is_dir() or versions(place):
        return {}
    files = [file for file in visible(place) if file.is_file()]
    texts = {file for file in files if file.suffix in {".xml", *_TABLES, *LAYOUTS} and "__" not in file.name}
    tables = sorted(file for file in texts if file.parent == place and (file.suffix in _TABLES or _is_table(file)))
    folders = sorted({file.parent for file in texts if file.parent != place})
    languages = {path: language for path in (tables if len(tables) > 1 else folders) if (language := _language(path))}
    if len(languages) < max(2, len(tables)):
        return {}
    are_alike = len({file.suffix == WORD for file in tables}) == len({*languages.values()}) == 1
    if are_alike and "root" not in look(place).keys:  # they are read together
        return {}
    whole = list(languages)
    common = Path(commonpath(whole))
    common = common.parent if common in whole else common  # a work may have another in a subfolder
    return {path.relative_to(common).with_suffix("" if path.is_file() else path.suffix).as_posix(): path
            for path in whole}  # fmt: skip


def _is_table(file: Path) -> bool:
    return file.suffix == WORD and has_table(file)


def _language(path: Path) -> str:
    """The language of the source in a file or folder that has translations, too; '' if it is no whole work."""
    try:
        found = look(path)
    except BadInput:
        return ""
    return found.source["language"].replace(UNKNOWN, "") if found.references else ""


def _opened(place: Path, work: Path, name: str, answers: Mapping[str, str], most: int) -> Opening:
    """One work of a place."""
    base = look(work)
    questions = list(_questions(base))
    roles = {key.partition(" ")[2]: answer for key, answer in answers.items() if key.startswith("role ")}
    roles |= {answers["source"]: "source"} if answers.get("source") else {}
    stated = Stated(answers.get("into", ""), roles)
    found = _named(look(work, stated) if stated != Stated() else base, answers)
    _refuse(work, found)
    above = work.parent.relative_to(place.parent)
    root = (above / str(found.keys.get("root", work.name))).as_posix()
    roots = {name: {"root": (above / keys["root"]).as_posix()} if "root" in keys else {}
             for name, keys in found.references.items()}  # fmt: skip
    found = found._replace(references={name: {**keys, **roots[name]} for name, keys in found.references.items()})
    keys = {**found.keys, "root": root, "corrections": f"{name}.corrections.jsonl"}
    left = [each.text for each in base.questions if not each.choices] + [each.text for each in questions[most:]]
    remarks = [*found.remarks, *(f"not asked: {text}" for text in left)]
    text = described(place, name, found._replace(keys=keys, questions=(), remarks=remarks), planted=False)
    description, scanned = _scanned(place, name, text)
    faults = [str(fault) for fault in scanned.faults]
    if scanned.source.is_empty() or not (len(scanned.reference) or len(scanned.prose)):
        raise BadInput(
            work, "", f"cannot be read: {'; '.join(faults) or 'no segment is translated'}", "correct the files"
        )
    if (written := place.parent / f"{name}.yaml").exists():
        remarks.append(f"{written} exists, and is used as it is; rename it to open {place.name} anew")
        most = 0
    segments = int(scanned.source["segments"].list.len().sum())
    return Opening(
        name, text, list(_taken(found, description, scanned)), segments, len(scanned.source), questions[:most],
        [*remarks, *faults], [], {name: text},
    )  # fmt: skip


def _named(found: ProposedKeys, answers: Mapping[str, str]) -> ProposedKeys:
    """A proposal with the languages and names that were answered."""
    source = {**found.source, **({"language": answers["language"]} if answers.get("language") else {})}
    named = {key.partition(" ")[2]: slug(value) for key, value in answers.items() if key.startswith("translator ")}
    references = {named.get(name, name): keys for name, keys in found.references.items()}
    if len(references) < len(found.references):
        raise BadInput("translators", "", "two have one name", "give each translator a name of his own")
    columns = found.keys.get("columns")
    if found.layout != "table" or not isinstance(columns, dict):
        return found._replace(source=source, references=references)
    own = [name for name, keys in found.references.items() if "layout" not in keys]
    renamed = {named.get(name, name): columns.get(name, name) for name in own}
    rest = {name: column for name, column in columns.items() if name not in own}
    shown = {name: column for name, column in renamed.items() if name != column}
    return found._replace(source=source, references=references, keys={**found.keys, "columns": {**rest, **shown}})


def _refuse(work: Path, found: ProposedKeys) -> None:
    """Raise BadInput if there is no translation, or no source in another language."""
    if found.references:
        return
    language = found.source.get("language", UNKNOWN)
    left = "; ".join(f"{name} is not read: {why}" for name, why in found.unread.items())
    alike = [name for name, why in found.unread.items() if why.endswith("as the source")]
    if alike or language in MODERN:
        problem = f"has texts only in {language}, so that either the source or its translations are missing"
        remedy = "add the text in the other language, as a column or a file"
        raise BadInput(work, "", f"{problem}{f' ({left})' if left else ''}", remedy)
    problem = f"has a source in {language} and no translation{f' ({left})' if left else ''}"
    raise BadInput(work, "", problem, f"{REMEDY}; {WITHOUT}")


def _questions(found: ProposedKeys) -> Iterator[Asked]:
    """The questions about a work, the most important first."""
    about: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for each in found.questions:
        if each.choices:
            is_first = each.about not in texts
            texts[each.about] = each.text if is_first else "Which column or file is the source?"
            about.setdefault(each.about, []).extend(each.choices)
    if names := about.pop("source", []):
        yield Asked("source", texts["source"], names[0], {name: _quoted(name, found) for name in dict.fromkeys(names)})
    if found.further:
        languages = [next(iter(found.references.values()))["language"], *found.further]
        yield Asked("into", "There are translations into several languages: which are read?", languages[0],
                    {language: Locale('en').languages.get(language, language) for language in languages})  # fmt: skip
    for name, choices in about.items():
        yield Asked(f"role {name}", texts[name], choices[0], {choice: ROLES[choice] for choice in choices})
    if found.source.get("language", UNKNOWN) == UNKNOWN:
        yield Asked("language", "In which language is the source? Its ISO 639 code, such as la or grc.", UNKNOWN)
    if found.layout in ("table", "paragraphs"):
        for name, keys in found.references.items():
            if not surnames(re.sub(r"[\W\d_]+", " ", name), keys["language"]):
                columns = found.keys.get("columns")
                where = keys.get("files") or (columns.get(name) if isinstance(columns, dict) else "") or name
                yield Asked(f"translator {name}", f"Who translated {where}?", name)


def _quoted(name: str, found: ProposedKeys) -> str:
    """A column or file with the beginning of its text."""
    text = next(iter(found.samples.get(name, ())), "")
    return f"{name}: {text[:60]}{'…' * (len(text) > 60)}" if text else name


def _scanned(place: Path, name: str, text: str) -> tuple[Description, Scan]:
    """Read a corpus by a description that is not written yet: it lies beside a link to the place."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.yaml"
        (Path(folder) / place.name).symlink_to(place.resolve())
        path.write_text(text, encoding="utf-8")
        (Path(folder) / f"{name}.corrections.jsonl").touch()
        description = load(path)
        return description, scan([description])


def _taken(found: ProposedKeys, description: Description, scanned: Scan) -> Iterator[Taken]:
    """What the columns and files were taken for, with texts as they were read."""
    columns = found.keys.get("columns")
    names = columns if isinstance(columns, dict) else {}
    segments = [text for row in scanned.source["segments"] for text in row]
    source = str(found.source.get("files") or names.get("source") or "source")
    yield Taken(source, "source", description.source.language, len(segments), segments[:ROWS])
    for translator, text in description.references.items():
        rows = scanned.reference.filter(pl.col("translator") == translator)["segments"]
        texts = [each for row in rows for each in row if each]
        if not texts:
            prose = scanned.prose.filter(pl.col("translator") == translator)["text"]
            texts = [paragraph for each in prose for paragraph in each.split("\n\n")]
        where = str(found.references[translator].get("files") or names.get(translator) or translator)
        yield Taken(where, translator, text.language, len(texts), texts[:ROWS])
    asides = found.keys.get("asides")
    for name, kind in (asides if isinstance(asides, dict) else {}).items():
        yield Taken(name, "", texts=found.samples.get(name, ()), reason=f"kept beside the text, as {kind}")
    for name, why in found.unread.items():
        yield Taken(name, "", texts=found.samples.get(name, ()), reason=why)
