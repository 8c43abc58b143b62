"""A first description for files that have none: layout, names and languages are guessed, for a person to correct.

Here: looking at files, and the description as commented YAML. Not here: reading the files (readers), checking
descriptions (description).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from statistics import pstdev
from typing import NamedTuple

import yaml
from babel import Locale

from benchmark_assets.corpus.description import ROW
from benchmark_assets.corpus.heads import FoundHeads, heads
from benchmark_assets.corpus.languages import identified, plain
from benchmark_assets.corpus.long_form import is_constant, long_form
from benchmark_assets.corpus.proposed import ROWS, UNSTATED, ProposedKeys, into
from benchmark_assets.corpus.proposed_beside import has_table, with_others
from benchmark_assets.corpus.proposed_prose import proposed_prose, translators
from benchmark_assets.corpus.readers import grid, jsonl, table, tmx
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.files import visible as visible_files
from benchmark_assets.corpus.readers.paragraphs import LAYOUTS
from benchmark_assets.corpus.readers.strict_json import parse
from benchmark_assets.corpus.readers.table import found_heads
from benchmark_assets.corpus.roles import (
    ANCIENT,
    DISTANT,
    FOREIGN,
    IS_ID,
    MODELS,
    MODERN,
    NOTHING,
    UNKNOWN,
    CellColumn,
    FileQuestion,
    Roles,
    Stated,
    are_numbers,
    are_texts,
    follows,
    is_head,
    language_of,
    repeated,
    roles,
)
from benchmark_assets.corpus.versions import BY_ENDING, NO_TEXT, FoundVersion, versions
from resources.errors import BadInput, meant
from resources.harmless import visible
from resources.keys import slug

THREE_LETTERS = {
    "ara": "ar", "chi": "lzh", "eng": "en", "fre": "fr", "ger": "de", "gk": "grc", "grc": "grc",
    "greek": "grc", "ita": "it", "lat": "la", "san": "sa",
}  # fmt: skip
"""Tags of languages by the codes in the names of TEI files (`phi0914.phi00121.perseus-lat2.xml`)."""

LEAST_AGREED, MOST_SPREAD = 0.7, 0.25
"""Least correlation of the lengths of rows that correspond, and greatest deviation of the logarithms of their ratios:
for lines of translations, about 0.9 and 0.2; for paragraphs at other places, below 0.5 and above 0.4."""


def propose(path: Path, name: str) -> dict[str, str]:
    """Descriptions of corpora with the files at `path`, as commented YAML, by name: of the corpus `name`, and of one
    more for each further language of translations.

    Raises
    ------
    BadInput
        If no layout fits the files, with the forms that can be read.
    """
    found = look(path)
    further = {f"{slug(name)}-{language}": look(path, Stated(language)) for language in found.further}
    return {name: described(path, name, keys) for name, keys in {slug(name): found, **further}.items()}


def described(path: Path, name: str, found: ProposedKeys, planted: bool = True) -> str:
    """The description of a corpus with the files at `path`, as commented YAML. `planted` says whether errors are
    planted in passages, which takes longer than the rest of an import."""
    lines = [
        f"# A proposal for {path.name}: check every line, then run `variorum check corpus` on this file.",
        *(f"# {visible(remark)}" for remark in found.remarks),
        *(f"# {visible(text)} is not read: {why}" for text, why in found.unread.items()),
        *_yaml({"name": name, "layout": found.layout, "root": path.name, **found.keys}),
    ]
    if found.questions:
        lines.append("questions:  # answer each one by correcting this file, then delete it")
        lines += [
            f"  {line}"
            for line in yaml.safe_dump(
                [each.text for each in found.questions], allow_unicode=True, width=1000
            ).splitlines()
        ]
    lines += ["source:", *_text(found.source, "  ")]
    if found.references:
        lines.append("references:  # human translations; `ignore: [COLUMN]` instead leaves a column out")
        for translator, keys in found.references.items():
            lines += [f"  {yaml.safe_dump(translator).splitlines()[0]}:", *_text(keys, "    ")]
        if planted and len(found.references) > 1:
            lines.append("sensitivity: {passages: 12}  # errors planted in these show what scores find in this corpus")
    else:
        target = UNKNOWN if plain(found.source.get("language", UNKNOWN)) == "en" else "en"
        lines.append(f"target: {target}  # no translation was found: write the language into which models translate")
    return "\n".join(lines) + "\n"


def _yaml(content: Mapping[str, object], margin: str = "") -> list[str]:
    dumped = yaml.safe_dump(dict(content), allow_unicode=True, sort_keys=False) if content else ""
    return [f"{margin}{line}" for line in dumped.splitlines()]


def _text(keys: Mapping[str, str], margin: str) -> list[str]:
    """The keys of a text. Its licence is unknown, which `variorum check corpus` reports."""
    language = keys.get("language", UNKNOWN)
    note = "  # could not be guessed: write the language's ISO 639 code" if language == UNKNOWN else ""
    rest = {name: value for name, value in keys.items() if name != "language"}
    return [
        f"{margin}language: {language}{note}",
        *_yaml(rest, margin),
        f"{margin}licence: {UNSTATED}  # such as CC0-1.0",
    ]


def look(path: Path, stated: Stated = NOTHING) -> ProposedKeys:
    """What a file or folder seems to contain. Raises BadInput if no layout fits it."""
    if not path.exists():
        if path.is_symlink():
            raise BadInput(path, "", "is a link to a file that does not exist", "correct the link, or restore the file")
        raise BadInput(path, "", f"does not exist{meant(path)}", "check the path")
    several = versions(path)
    if path.is_dir():
        return with_others(path, _versions(several, stated) if several else _folder(path, stated), stated)
    if several:
        return _versions(several, stated)
    ending = path.suffix.casefold()
    if ending != path.suffix:
        raise BadInput(path, "", f"ends in {path.suffix!r}", f"rename it, so that it ends in {ending!r}")
    if ending == ".jsonl" and (found := _records(path)):
        return found
    if ending in table.SINGLE and (ending not in LAYOUTS or has_table(path)):
        return _table(path, stated)
    if ending == ".xml":
        return ProposedKeys("tei", {}, {"language": _tei_language(path)}, {})
    if ending == ".tmx":
        return _memory(path)
    if ending == ".conllu":
        return _sentences(path, stated)
    if ending in LAYOUTS:
        return proposed_prose(path, [path], stated)
    raise BadInput(
        path, "", f"no layout reads a single file that ends in {ending!r}",
        "write one segment a row in a table (.csv, .xlsx) with the source and its translations, or give a folder with "
        "the source and each translation as a file (.txt, .docx, .epub)",
    )  # fmt: skip


def _folder(path: Path, stated: Stated) -> ProposedKeys:
    """What a folder seems to contain."""
    if (path / "root").is_dir() and (path / "translation").is_dir():
        return _bilara(path, stated)
    files = [file for file in visible_files(path) if file.is_file() and not file.name.startswith("~$")]
    by_ending: dict[str, list[Path]] = {}
    for file in files:
        by_ending.setdefault(file.suffix, []).append(file)
    if ".xml" in by_ending:
        return _editions(path, by_ending[".xml"], stated)
    words = [file for file in by_ending.get(grid.WORD, []) if has_table(file)]
    of_tables = [file for file in files if file.suffix in table.ENDINGS and file.suffix != grid.WORD]
    if tables := of_tables or words:
        found = _tables(path, tables, stated)
        prose = [file for file in files if file.suffix in LAYOUTS and file not in tables]
        if found.references or not prose or found.source["language"] not in MODERN:
            return found
        found = proposed_prose(path, prose, stated)
        why = "a table with a translation alone; save it as .txt, or write the source beside it"
        return found._replace(unread={**found.unread, **{file.relative_to(path).as_posix(): why for file in tables}})
    for ending in grid.RECORDS:
        if not (records := by_ending.get(ending)) or (ending == ".jsonl" and _records(records[0])):
            continue
        found = _tables(path, records, stated)
        is_placed = "files" in found.source or "root" in found.keys
        return found if is_placed else found._replace(source={**found.source, "files": f"**/*{ending}"})
    for ending in (".jsonl", ".tmx", ".conllu"):
        if ending in by_ending:
            return look(by_ending[ending][0], stated)
    texts = [file for file in by_ending.get(".txt", []) if not NO_TEXT.search(file.stem.casefold())]
    if texts and (rows := _plain_tables(path, texts, stated)):
        return rows
    if lines := _line_by_line(files, stated):
        return lines
    if prose := [file for file in files if file.suffix in LAYOUTS]:
        found = proposed_prose(path, prose, stated)
        is_cjk = plain(found.source["language"]) in ("zh", "lzh", "ja", "ko") and prose == texts
        return found if found.references or not is_cjk else ProposedKeys("chunks", {}, found.source, {})
    problem = f"has files that end in {', '.join(sorted(by_ending))}" if by_ending else "contains no file"
    raise BadInput(
        path,
        "",
        problem,
        f"give files that end in {', '.join((*table.ENDINGS, '.txt', '.epub', '.jsonl', '.xml', '.tmx'))}",
    )


def _plain_tables(folder: Path, paths: Sequence[Path], stated: Stated) -> ProposedKeys | None:
    """Plain text files whose lines are rows: a table, or texts in one folder line by line; None if they are prose."""
    sheets = {path: _sheet(path) for path in paths if any(map(str.isalpha, decode(path, grid.encoding_of(path))))}
    texts = [text.cells for sheet in sheets.values() if (text := _text_of(sheet))]
    if len({path.parent for path in sheets}) == 1 and len(texts) == len(sheets) and _correspond(texts):
        found = _parallel(folder, sheets, stated)
        if found and not any(each.about == "source" for each in found.questions):
            return found
    for path, sheet in sheets.items():
        if sum(are_texts(cells) for cells in _cells(sheet)) > 1:
            found = _proposed(path, roles(sheet.columns, stated), sheet)
            return found._replace(keys={"root": _below(folder, path), **found.keys})
    return None


def _correspond(texts: Sequence[Sequence[str]]) -> bool:
    """Whether the lengths of texts follow each other row by row, so that rows are no paragraphs that are equally many
    by chance: their logarithms are correlated or, of a few rows or rows of equal length, have about one ratio."""
    first, *others = [[len(cell) for cell in cells] for cells in texts]
    for lengths in others:
        if len(lengths) != len(first):
            return False
        agreed = follows(first, lengths)
        ratios = [log(other / one) for one, other in zip(first, lengths, strict=True) if one and other]
        if agreed < LEAST_AGREED if agreed is not None else len(ratios) < 2 or pstdev(ratios) > MOST_SPREAD:
            return False
    return bool(others)


def _below(folder: Path, file: Path) -> str:
    """The path of a file from the folder that has the description."""
    return f"{folder.name}/{file.relative_to(folder).as_posix()}"


def _versions(found: Sequence[FoundVersion], stated: Stated) -> ProposedKeys:
    """Versions of works in one cited form; the first is the source. References are in one language, as in tables."""
    source = next((each for each in found if stated.roles.get(each.files) == "source"), found[0])
    others = [each for each in found if each is not source and stated.roles.get(each.files) != "none"]
    languages = Counter(each.language for each in others if plain(each.language) != plain(source.language))
    target, further = into(languages, stated.into)
    read = [each for each in others if each.language == target]
    named = [slug(each.name) for each in read]
    if source.form in BY_ENDING:
        named = translators([each.files for each in found], [(each.files, each.language, "") for each in read])
    texts = {
        name: {"language": each.language or UNKNOWN, "layout": each.form, "files": each.files}
        for name, each in zip(named, read, strict=True)
    }
    unread = {each.files: f"in {each.language or UNKNOWN}" for each in others if each.language != target}
    names = (source.files, *(each.files for each in others))
    asked = FileQuestion(
        f"All versions are in {source.language}: which is the source? {source.files} is read.", "source", names
    )
    questions = [asked] if others and not languages else []
    if languages and source.form in ("docx", "epub", "html", "usfm"):
        alike = [each for each in others if plain(each.language) == plain(source.language)]
        if alike or source.language not in {*ANCIENT, *DISTANT}:
            possible = ", ".join(f"{each.files} ({each.language or UNKNOWN})" for each in others)
            asked = FileQuestion(
                f"Is {source.files} ({source.language}) the source? Possible are also {possible}.", "source", names
            )
            questions = [asked] if "source" not in stated.roles.values() else []
    keys = {"language": source.language or UNKNOWN, **({"files": source.files} if others else {})}
    return ProposedKeys(source.form, {}, keys, texts, (), questions, further, unread)


def _sentences(path: Path, stated: Stated) -> ProposedKeys:
    """CoNLL-U, whose comments name the translations: `text_en`, `text_en_vale`."""
    found = re.findall(r"^# *text(?:_([a-z]{2,3})(?:_(\S+))?)? *= *(.+)", decode(path), re.MULTILINE)
    texts: dict[tuple[str, str], list[str]] = {}
    for language, name, text in found:
        texts.setdefault((language, name), []).append(text)
    words = re.findall(r"^\d+\t(\S+)", decode(path), re.MULTILINE)
    source = language_of(texts.pop(("", ""), [" ".join(words)]))
    return _by_languages("conllu", source, [*texts], stated)


def _by_languages(layout: str, source: str, texts: Sequence[tuple[str, str]], stated: Stated) -> ProposedKeys:
    """Translations by language and name, in a layout that finds them by these."""
    target, further = into(Counter(language for language, _ in texts), stated.into)
    names = [name for language, name in texts if language == target]
    references = {
        slug(name) if name else "translation": {"language": target} for name in names if name or len(names) == 1
    }
    return ProposedKeys(layout, {}, {"language": source}, references, further=further)


def _line_by_line(files: Sequence[Path], stated: Stated) -> ProposedKeys | None:
    """Files of Moses, whose endings are languages; None if there are others."""
    files = [file for file in files if not NO_TEXT.search(file.stem.casefold())]
    languages = list(dict.fromkeys(file.suffix[1:] for file in files))
    known = Locale("en").languages
    if len(languages) < 2 or not all(language in known for language in languages):
        return None
    source = min(languages, key=lambda each: (each not in ANCIENT, each not in DISTANT, each == "en"))
    documents = {file.stem for file in files if file.suffix[1:] == source}
    texts = [
        (file.suffix[1:], file.stem.removeprefix(document).lstrip("."))
        for file in files if file.suffix[1:] != source
        for document in documents if file.stem == document or file.stem.startswith(f"{document}.")
    ]  # fmt: skip
    found = _by_languages("moses", source, [*dict.fromkeys(texts)], stated)
    asked = f"Is the source in {source}? The files are in {', '.join(languages)}."
    return found if source in {*ANCIENT, *DISTANT} else found._replace(questions=[FileQuestion(asked)])


def _memory(path: Path) -> ProposedKeys:
    """A translation memory, whose languages and variants are in its first units."""
    source, translations = tmx.proposed(path)
    references = {
        slug(name): {"language": language, **({"edition": edition} if edition else {})}
        for name, (language, edition) in translations.items()
    }
    return ProposedKeys("tmx", {}, {"language": source.partition("-")[0] or UNKNOWN}, references)


def _bilara(path: Path, stated: Stated) -> ProposedKeys:
    """The layout of SuttaCentral: languages, editions and translators are names of folders."""
    language = _subfolders(path / "root")[0]
    sizes = {
        each: len(list((path / "translation" / each).rglob("*.json"))) for each in _subfolders(path / "translation")
    }
    target, further = into(sizes, stated.into)
    source = {"language": language, "edition": _subfolders(path / "root" / language)[0]}
    translations = {name: {"language": target} for name in _subfolders(path / "translation" / target)}
    return ProposedKeys("bilara", {}, source, translations, further=further)


def _subfolders(folder: Path) -> list[str]:
    """Names of the subfolders, at least one."""
    names = sorted(child.name for child in folder.iterdir() if child.is_dir())
    if not names:
        raise BadInput(folder, "", "has no subfolder", "give a folder in the layout of SuttaCentral's bilara-data")
    return names


class _Sheet(NamedTuple):
    """A table as it was looked at: the rows, where the text begins, the columns, and settings of the description."""

    rows: list[grid.Line]
    found: FoundHeads
    columns: list[CellColumn]
    settings: dict[str, object]
    remarks: list[str]
    questions: Sequence[FileQuestion] = ()
    unread: Sequence[str] = ()


def _table(path: Path, stated: Stated) -> ProposedKeys:
    """A table, by what its cells hold."""
    sheet = _sheet(path)
    return _proposed(path, roles(sheet.columns, stated), sheet)


def _sheet(path: Path) -> _Sheet:
    """A table, or the sheet of a workbook that has the most text, with others that have the same heads."""
    encoding = grid.encoding_of(path)
    by_sheet = {sheet: grid.lines(path, (), encoding, sheet) for sheet in grid.sheets(path)}
    sizes = {sheet: sum(len(cell) for _, cells in rows for cell in cells) for sheet, rows in by_sheet.items()}
    if not any(sizes.values()):
        raise BadInput(path, "", "contains no text", "write its segments")
    first = max(sizes, key=sizes.__getitem__)
    rows = by_sheet[first]
    if rows[0][1][:1] == [grid.KEY]:
        found = FoundHeads((1,), True, rows[1:])
    else:
        above = rows[:1] if is_head("".join(rows[0][1])) else []
        alone = FoundHeads(tuple(number for number, _ in above), True, rows[len(above) :])
        found = heads(rows) if any(len(cells) > 1 for _, cells in rows) else alone
    similar = [
        sheet for sheet, other in by_sheet.items()
        if sheet == first or (found.heads and found.heads == heads(other).heads and other[0] == rows[0])
    ]  # fmt: skip
    settings: dict[str, object] = {"encoding": encoding} if encoding else {}
    settings |= {"sheets": similar} if first else {}
    remarks = [f"encoding {encoding}: {_example(path, encoding)}"] if encoding else []
    remarks += [f"the sheet {sheet!r} is not read" for sheet in by_sheet if sheet not in similar]
    return _wide(path, _Sheet(rows, found, _columns(path, rows, found, first), settings, remarks))


def _wide(path: Path, sheet: _Sheet) -> _Sheet:
    """A table with a row for each text, as one with a row for each segment. Another table is not changed."""
    form = long_form(sheet.columns)
    if form is None:
        return sheet
    heads_of = {each.name: each.head or each.name for each in sheet.columns}
    if not form.ids:
        asked = (
            f"{heads_of[form.by]!r} says whose text a row of {heads_of[form.text]!r} is, and no column tells which "
            "rows belong together: add one with an id for each segment, or give each translation a column."
        )
        return sheet._replace(questions=[FileQuestion(asked)])
    names, place, _ = table.found_heads(sheet.rows, (), sheet.found.heads)
    of_texts = [
        (number, [*cells, *[""] * (len(names) - len(cells))])
        for number, cells in sheet.found.rows
        if sum(bool(cell.strip()) for cell in cells) > 1
    ]
    whole = table.wide(path, table.Heads(names, place, of_texts), form.ids, form.by, form.text)
    keys = [*zip(*(repeated(each.cells) for each in sheet.columns if each.name in form.ids), strict=True)]
    unread = [
        each.name for each in sheet.columns
        if each.name not in (*form.ids, form.by, form.text) and not is_constant(each.cells, keys)
    ]  # fmt: skip
    columns = [
        CellColumn(name, heads_of.get(name, name), [cells[at] for _, cells in whole.rows])
        for at, name in enumerate(whole.names) if name not in unread
    ]  # fmt: skip
    settings = {**sheet.settings, "pivot": [form.by, form.text]}
    remark = f"{len(sheet.found.rows)} rows, each with a text of {heads_of[form.by]!r}, are {len(whole.rows)} segments"
    return sheet._replace(columns=columns, settings=settings, remarks=[*sheet.remarks, remark], unread=unread)


def _tables(folder: Path, paths: Sequence[Path], stated: Stated) -> ProposedKeys:
    """Tables in a folder: of one form; or each with one text, and the same ids; or one that is the text."""
    sheets = {path: _sheet(path) for path in paths}
    bare = [path for path, sheet in sheets.items() if not any(are_texts(each.cells) for each in sheet.columns)]
    if 0 < len(bare) < len(paths):
        rest = [path for path in paths if path not in bare]
        found = _tables(folder, rest, stated)
        if len(rest) == 1:
            found = found._replace(keys={"root": _below(folder, rest[0]), **found.keys})
        return found._replace(unread={**found.unread, **{path.name: "no text" for path in bare}})
    if together := _parallel(folder, sheets, stated):
        return together
    texts = {path: [each for each in sheet.columns if are_texts(each.cells)] for path, sheet in sheets.items()}
    largest = max(paths, key=lambda path: sum(len(cell) for each in texts[path] for cell in each.cells))
    first = sheets[largest]
    if all([each.name for each in sheet.columns] == [each.name for each in first.columns] for sheet in sheets.values()):
        cells = [
            [cell for sheet in sheets.values() for cell in sheet.columns[at].cells] for at in range(len(first.columns))
        ]
        whole = [each._replace(cells=own) for each, own in zip(first.columns, cells, strict=True)]
        of_all, ids = roles(whole, stated), roles(first.columns, stated).ids  # unique in each file
        asides, unread = ({k: v for k, v in d.items() if k not in ids} for d in (of_all.asides, of_all.unread))
        questions = [each for each in of_all.questions if not (ids and IS_ID in each.text)]
        return _proposed(largest, of_all._replace(ids=ids, asides=asides, unread=unread, questions=questions), first)
    found = _proposed(largest, roles(first.columns, stated), first)
    others = {path.name: "another table" for path in paths if path != largest}
    root = {"root": _below(folder, largest)}
    return found._replace(keys={**root, **found.keys}, unread={**found.unread, **others})


def _parallel(folder: Path, sheets: Mapping[Path, _Sheet], stated: Stated) -> ProposedKeys | None:
    """Tables that have one text each, and the same ids or, without ids, as many rows; None if they have not."""
    read = {path.relative_to(folder).as_posix(): (_text_of(sheet), sheet) for path, sheet in sheets.items()}
    found = {name: (text, sheet) for name, (text, sheet) in read.items() if text}
    ids = {name: roles(sheet.columns, stated).ids for name, (_, sheet) in found.items()}
    encodings = {str(sheet.settings.get("encoding")) for sheet in sheets.values()}
    if len(found) < 2 or len(found) < len(read) or len({*ids.values()}) != 1 or len(encodings) > 1:
        return None
    texts: dict[str, dict[tuple[str, ...], str]] = {}
    for name, (text, sheet) in found.items():
        levels = [each.cells for each in sheet.columns if each.name in ids[name]] or [
            [*map(str, range(len(text.cells)))]
        ]
        texts[name] = dict(zip(zip(*levels, strict=True), text.cells, strict=True))
    every = list(dict.fromkeys(key for own in texts.values() for key in own))
    is_numbered = not next(iter(ids.values()))
    if any(len(own) < len(every) if is_numbered else 2 * len(own) < len(every) for own in texts.values()):
        return None
    stems = [Path(name).stem for name in texts]
    heads_of = {name: Path(name).stem if len({*stems}) == len(stems) else Path(name).parent.name for name in texts}
    words = {name: re.findall(r"[^\W_]+", head) for name, head in heads_of.items()}
    common = set.intersection(*map(set, words.values()))
    heads_of = {name: " ".join(each for each in own if each not in common) or heads_of[name]
                for name, own in words.items()}  # fmt: skip
    columns = [CellColumn(name, heads_of[name], [own.get(key, "") for key in every]) for name, own in texts.items()]
    whole = roles(columns, stated)
    if whole.source is None or not whole.translations:
        return None
    text, first = found[whole.source[0]]
    named = {translator: found[name][0].name for translator, (name, _) in whole.translations.items()}
    alone = Roles(ids[whole.source[0]], (text.name, whole.source[1]), {}, {}, {}, whole.questions)
    keys = _proposed(Path(whole.source[0]), alone, first).keys
    used = {*alone.ids, *(own.name for own, _ in found.values())}
    unread = list(
        dict.fromkeys(each.name for _, sheet in found.values() for each in sheet.columns if each.name not in used)
    )
    return ProposedKeys(
        "table",
        keys | {"columns": {**_mapping(keys["columns"]), **named}} | ({"ignore": unread} if unread else {}),
        {"language": whole.source[1], "files": whole.source[0]},
        {translator: {"language": tag, "files": name} for translator, (name, tag) in whole.translations.items()},
        first.remarks,
        whole.questions,
        list(dict.fromkeys(_languages_of(whole))),
        whole.unread,
        _samples(columns),
    )


def _samples(columns: Sequence[CellColumn]) -> dict[str, list[str]]:
    """The first texts of columns."""
    return {each.name: [cell for cell in each.cells if cell.strip()][:ROWS] for each in columns}


def _text_of(sheet: _Sheet) -> CellColumn | None:
    """The only column of a table that has texts; None if there are none, or several."""
    texts = [each for each in sheet.columns if are_texts(each.cells)]
    return texts[0] if len(texts) == 1 else None


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, dict) else {}


def _languages_of(read: Roles) -> Iterator[str]:
    """Languages of translations that are not read."""
    yield from (why.removeprefix(FOREIGN) for why in read.unread.values() if why.startswith(FOREIGN))


def _cells(sheet: _Sheet) -> list[Sequence[str]]:
    return [each.cells for each in sheet.columns]


def _proposed(path: Path, read: Roles, sheet: _Sheet) -> ProposedKeys:
    """The keys for a table whose columns have these roles."""
    if read.source is None:
        names = ", ".join(column.head or column.name for column in sheet.columns)
        raise BadInput(path, "", f"has no column with a text (columns: {names})", "give a table with the source")
    source, language = read.source
    identity: str | list[str] = read.ids[0] if len(read.ids) == 1 else list(read.ids) or ""
    named: dict[str, str | list[str]] = {"segment_id": identity, "source": source}
    of_documents = read.ids[0] if len(read.ids) > 1 else ""
    if of_documents and not are_numbers(next(each.cells for each in sheet.columns if each.name == of_documents)):
        named = {"document": of_documents, **named, "segment_id": list(read.ids[1:])}
    named |= {translator: column for translator, (column, _) in read.translations.items()}
    expected = [column for each in named.values() for column in ([each] if isinstance(each, str) else each) if column]
    keys: dict[str, object] = {"columns": {name: column for name, column in named.items() if name != column}}
    if "pivot" in sheet.settings or tuple(sheet.found.heads) != _default_heads(sheet.rows, expected):
        keys["heads"] = list(sheet.found.heads)
    keys |= {**sheet.settings, "passage": ROW}
    if read.asides:
        keys["asides"] = read.asides
    if unread := [*read.unread, *sheet.unread]:
        keys["ignore"] = unread
    asked = f"Is row {sheet.found.heads[0]} the row of heads? It is not read as text." if not sheet.found.sure else ""
    sure = [FileQuestion(asked)] if asked else []
    return ProposedKeys(
        "table", keys, {"language": language},
        {translator: {"language": tag} for translator, (_, tag) in read.translations.items()},
        sheet.remarks, [*sure, *sheet.questions, *read.questions], list(dict.fromkeys(_languages_of(read))),
        {**read.unread, **dict.fromkeys(sheet.unread, "varies with the translator")}, _samples(sheet.columns),
        sum(len(cell) for each in sheet.columns if each.name == source for cell in each.cells),
    )  # fmt: skip


def _columns(path: Path, rows: Sequence[grid.Line], found: FoundHeads, sheet: str) -> list[CellColumn]:
    """The columns below the heads, under the names that the reader gives them."""
    names = found_heads(rows, (), found.heads).names
    whole = [cells + [""] * (len(names) - len(cells)) for _, cells in found.rows]
    whole = [cells for cells in whole if sum(bool(cell.strip()) for cell in cells) > 1] or whole
    hidden = grid.hidden(path, sheet)
    return [
        CellColumn(
            name if name and names.count(name) == 1 else f"column {at + 1}", name, [cells[at] for cells in whole],
            at in hidden,
        )
        for at, name in enumerate(names)
    ]  # fmt: skip


def _default_heads(rows: Sequence[grid.Line], expected: Sequence[str]) -> tuple[int, ...]:
    """The row in which the reader looks for the heads by itself."""
    below = found_heads(rows, expected).rows
    above = [number for number, _ in rows if not below or number < below[0][0]]
    return tuple(above[-1:])


def _example(path: Path, encoding: str) -> str:
    """A word with letters outside ASCII, by which a person can see whether an encoding is right."""
    words = {word for word in re.findall(r"[^\s\d,;]+", decode(path, encoding)) if not word.isascii()}
    return f"check that these words are right: {', '.join(sorted(words, key=str.isalpha)[-5:])}"


def _records(path: Path) -> ProposedKeys | None:
    """JSON lines in the general layout; None if they have other keys, or outputs of models among the references."""
    lines = [parse(line, path, at) for at, line in enumerate(decode(path).split("\n"), start=1) if line.strip()]
    texts: dict[str, list[str]] = {}
    for record in lines:
        references = record.get("references", {})
        if not {"passage_id", "source"} <= record.keys() <= jsonl.KEYS or not isinstance(references, dict):
            return None
        for name, text in {"": record["source"], **references}.items():
            texts.setdefault(name, []).append(str(text))
    if not texts or any(MODELS.search(name.casefold()) for name in texts):
        return None
    stated = str(lines[0].get("lang", ""))
    languages = {name: language_of(cells, name) for name, cells in texts.items()}
    translations = {name: {"language": language} for name, language in languages.items() if name}
    return ProposedKeys("jsonl", {}, {"language": stated or languages[""]}, translations)


def _editions(folder: Path, files: Sequence[Path], stated: Stated) -> ProposedKeys:
    """TEI files of one work: the first in an ancient language, or else not in English, is the source; the others are
    translations, if they are in another language."""
    languages = {file: _tei_language(file) for file in files}
    source = min(
        files,
        key=lambda file: (
            languages[file] not in ANCIENT, languages[file] == "en", _stated(file) not in (UNKNOWN, languages[file])
        ),
    )  # fmt: skip
    documents = (source.name.partition(".")[0], re.split(r"[._-]", source.name)[0])
    document = next((each for each in documents if sum(file.name.startswith(each) for file in files) > 1), "")
    if not document and len(files) > 1:
        return _apart(folder, source, files, languages, stated)
    document = document or documents[0]
    patterns = {
        file: str(file.relative_to(folder).parent / file.name.replace(document, "{document}", 1))
        for file in files if file.name.startswith(document)
    }  # fmt: skip
    others = [file for file in patterns if languages[file] != languages[source]]
    target, further = into(Counter(languages[file] for file in others), stated.into)
    persons = Counter(_tei_translator(file) for file in others if languages[file] == target)
    references = {
        (person if persons[person := _tei_translator(file)] == 1 and person else slug(file.stem.rpartition(".")[2])): {
            "language": languages[file], "layout": "tei", "files": patterns[file]
        }
        for file in others if languages[file] == target
    }  # fmt: skip
    unread = {
        patterns[file]: f"in {languages[file]}" for file in patterns if file != source and languages[file] != target
    }
    keys = {"language": languages[source], **({"files": patterns[source]} if references else {})}
    return ProposedKeys("tei", {}, keys, references, further=further, unread=unread)


def _apart(
    folder: Path, source: Path, files: Sequence[Path], languages: Mapping[Path, str], stated: Stated
) -> ProposedKeys:
    """TEI files whose names have nothing in common: one document."""
    others = {file: languages[file] for file in files if languages[file] not in (languages[source], UNKNOWN)}
    target, further = into(Counter(others.values()), stated.into)
    references = {
        _tei_translator(file) or slug(file.stem): {
            "language": language, "layout": "tei", "root": folder.name, "files": file.relative_to(folder).as_posix()
        }
        for file, language in others.items() if language == target
    }  # fmt: skip
    unread = {file.name: f"in {languages[file]}" for file in files if file != source and languages[file] != target}
    return ProposedKeys(
        "tei", {"root": _below(folder, source)}, {"language": languages[source]}, references,
        further=further, unread=unread,
    )  # fmt: skip


def _tei_translator(path: Path) -> str:
    """The surname of the translator in the header of a TEI file, as a key; '' if there is none."""
    header = path.read_text("utf-8", errors="replace")[:20_000]
    named = re.search(r"<editor\b[^>]*role=[\"']translat\w+[\"'][^>]*>(.*?)</editor>", header, re.DOTALL)
    words = re.sub(r"<[^>]*>", " ", named[1]).partition(",")[0].split() if named else []
    return slug(words[-1]) if words else ""


def _stated(path: Path) -> str:
    """The language of a TEI file by its name or its first `xml:lang`."""
    text = path.read_text("utf-8", errors="replace")
    named = re.search(rf"[-_]({'|'.join(THREE_LETTERS)})\d*\.xml$", path.name)
    stated = re.search(r"<(?:text|body|div)\b[^>]*lang=[\"'](\w+)", text)
    code = named[1] if named else stated[1] if stated else UNKNOWN
    return THREE_LETTERS.get(code, code)


def _tei_language(path: Path) -> str:
    """The language of a TEI file as it is stated, or by its words, if they are in another language of Latin script."""
    text, code = path.read_text("utf-8", errors="replace"), _stated(path)
    seen = identified(re.sub(r"<[^>]*>|&\w+;", " ", text.partition("<body")[2][:50_000]))
    differs = seen and seen.reliable and seen.share > 0.8 and code in (UNKNOWN, "la", *MODERN)
    return seen.tag if seen and differs else code
