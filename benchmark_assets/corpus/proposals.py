"""A first description for files that have none: layout, names and languages are guessed, for a person to correct.

Here: looking at files, and the description as commented YAML. Not here: reading the files (readers), checking
descriptions (description).
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from benchmark_assets.corpus.readers import table, tmx
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.strict_json import parse
from benchmark_assets.corpus.versions import Version, versions
from resources.errors import BadInput, meant
from resources.keys import slug

IDS = (
    "segment_id", "passage_id", "id", "segment", "passage", "number", "no", "nr", "n", "ref", "line", "verse",
    "section",
)  # fmt: skip
"""Names of columns that are taken for ids, in lower case and without punctuation."""

SOURCES = ("source", "original", "text", "src")
"""Names of columns that are taken for the source, besides names of languages."""

LANGUAGES = {
    "arabic": "ar", "chinese": "lzh", "coptic": "cop", "english": "en", "french": "fr", "german": "de", "greek": "grc",
    "hebrew": "he", "italian": "it", "japanese": "ja", "korean": "ko", "latin": "la", "pali": "pli", "persian": "fa",
    "sanskrit": "sa", "syriac": "syr", "tamil": "ta", "tibetan": "bo",
}  # fmt: skip
"""Tags of languages by their English names. A source in Chinese or Greek is taken for the classical language."""

SCRIPTS = {
    r"[\u3040-\u30ff]": "ja", r"[\uac00-\ud7af]": "ko", r"[\u4e00-\u9fff]": "lzh",
    r"[\u0370-\u03ff\u1f00-\u1fff]": "grc",
    r"[\u0f00-\u0fff]": "bo", r"[\u0900-\u097f]": "sa", r"[\u0590-\u05ff]": "he", r"[\u0600-\u06ff]": "ar",
    r"[\u0700-\u074f]": "syr", r"[\u0b80-\u0bff]": "ta",
}  # fmt: skip
"""A language for each script whose letters the expression matches; the first script that occurs decides."""

UNKNOWN = "und"
"""Tag of an undetermined language (ISO 639-2)."""

THREE_LETTERS = {
    "ara": "ar", "chi": "lzh", "eng": "en", "fre": "fr", "ger": "de", "ita": "it", "lat": "la", "san": "sa",
}  # fmt: skip
"""Tags of languages by the codes in the names of TEI files (`phi0914.phi00121.perseus-lat2.xml`)."""

UNSTATED = "unknown"
"""Licence of a text in a proposal."""


class ProposedKeys(NamedTuple):
    """What files seem to contain: keys of the description, of its source, and of each reference."""

    layout: str
    keys: dict[str, object]
    source: dict[str, str]
    references: dict[str, dict[str, str]]


def propose(path: Path, name: str) -> str:
    """A description of the corpus `name` with the files at `path`, as commented YAML.

    Raises
    ------
    BadInput
        If no layout fits the files, with the forms that can be read.
    """
    found = _look(path)
    lines = [
        f"# A proposal for {path.name}: check every line, then run `variorum check corpus` on this file.",
        *_yaml({"name": slug(name), "layout": found.layout, "root": path.name, **found.keys}),
        "source:",
        *_text(found.source, "  "),
    ]
    if found.references:
        lines.append("references:  # human translations; `ignore: [COLUMN]` instead leaves a column out")
        for translator, keys in found.references.items():
            lines += [f"  {yaml.safe_dump(translator).splitlines()[0]}:", *_text(keys, "    ")]
    else:
        lines.append("target: en  # no translation was found: models translate into this language")
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


def _language(sample: str, latin: str = UNKNOWN) -> str:
    """The language of a text by its script; `latin` for Latin script."""
    return next((language for letters, language in SCRIPTS.items() if re.search(letters, sample)), latin)


def _look(path: Path) -> ProposedKeys:
    """What a file or folder seems to contain."""
    if not path.exists():
        raise BadInput(path, "", f"does not exist{meant(path)}", "check the path")
    if found := versions(path):
        return _versions(found)
    if path.is_dir():
        return _folder(path)
    ending = path.suffix.casefold()
    if ending != path.suffix:
        raise BadInput(path, "", f"ends in {path.suffix!r}", f"rename it, so that it ends in {ending!r}")
    if ending in table.ENDINGS:
        return _table(path)
    if ending == ".jsonl":
        return _records(path)
    if ending == ".xml":
        return ProposedKeys("tei", {}, {"language": _tei_language(path)}, {})
    if ending == ".tmx":
        return _memory(path)
    raise BadInput(
        path, "", f"no layout reads a single file that ends in {ending!r}",
        "write one segment a row in a table (.csv, .xlsx) with the source and its translations; a folder of .txt files "
        "is read as running text in Chinese, Japanese or Korean",
    )  # fmt: skip


def _folder(path: Path) -> ProposedKeys:
    """What a folder seems to contain."""
    if (path / "root").is_dir() and (path / "translation").is_dir():
        return _bilara(path)
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    by_ending = {file.suffix: file for file in reversed(files)}
    if ".xml" in by_ending:
        return _editions(path, [file for file in files if file.suffix == ".xml"])
    for ending in (*table.ENDINGS, ".jsonl", ".tmx"):
        if ending in by_ending:
            return _look(by_ending[ending])
    if ".txt" in by_ending:
        return ProposedKeys("chunks", {}, {"language": _language(decode(by_ending[".txt"]))}, {})
    problem = f"has files that end in {', '.join(sorted(by_ending))}" if by_ending else "contains no file"
    raise BadInput(path, "", problem, f"give files that end in {', '.join((*table.ENDINGS, '.jsonl', '.xml', '.tmx'))}")


def _versions(found: Sequence[Version]) -> ProposedKeys:
    """Versions of works in one cited form; the first one is the source. References are in one language: English, if a
    version is, else the language of most versions that are not in the language of the source."""
    source, *others = found
    languages = Counter(each.language for each in others if each.language != source.language)
    if languages:
        target = "en" if "en" in languages else languages.most_common(1)[0][0]
        others = [each for each in others if each.language == target]
    texts = {
        slug(each.name): {"language": each.language or UNKNOWN, "layout": each.form, "files": each.files}
        for each in others
    }
    keys = {"language": source.language or UNKNOWN, **({"files": source.files} if others else {})}
    return ProposedKeys(source.form, {}, keys, texts)


def _memory(path: Path) -> ProposedKeys:
    """A translation memory, whose languages and variants are in its first units."""
    source, translations = tmx.proposed(path)
    references = {
        slug(name): {"language": language, **({"edition": edition} if edition else {})}
        for name, (language, edition) in translations.items()
    }
    return ProposedKeys("tmx", {}, {"language": source.partition("-")[0] or UNKNOWN}, references)


def _bilara(path: Path) -> ProposedKeys:
    """The layout of SuttaCentral: languages, editions and translators are names of folders."""
    language, target = _subfolders(path / "root")[0], _subfolders(path / "translation")[0]
    source = {"language": language, "edition": _subfolders(path / "root" / language)[0]}
    translators = _subfolders(path / "translation" / target)
    return ProposedKeys("bilara", {}, source, {translator: {"language": target} for translator in translators})


def _subfolders(folder: Path) -> list[str]:
    """Names of the subfolders, at least one."""
    names = sorted(child.name for child in folder.iterdir() if child.is_dir())
    if not names:
        raise BadInput(folder, "", "has no subfolder", "give a folder in the layout of SuttaCentral's bilara-data")
    return names


def _table(path: Path) -> ProposedKeys:
    """A table whose first line names columns."""
    rows = table.lines(path, (*IDS, *SOURCES, *LANGUAGES))
    header = [name.strip() for name in rows[0][1]] if rows else []
    sample = {name: " ".join(cells[at] for _, cells in rows[1:6] if at < len(cells)) for at, name in enumerate(header)}
    names = [name for name in header if name]
    source = _chosen(names, (*SOURCES, *LANGUAGES))
    numbers = (name for name in names if sample[name] and not any(map(str.isalpha, sample[name])))
    identity = _chosen(names, IDS) or next(numbers, None)
    rest = [name for name in names if name not in (identity, source)]
    if source is None and rest:
        source = rest.pop(0)
    if source is None:
        raise BadInput(path, "line 1", "names no column with a source", "name a column `source`")
    translators = {slug(name): name for name in rest}
    columns = {"segment_id": identity or "", "source": source, **translators}
    columns = {name: column for name, column in columns.items() if name != column}
    return ProposedKeys(
        "table",
        {"columns": columns} if columns else {},
        {"language": LANGUAGES.get(source.casefold(), _language(sample[source]))},
        {translator: {"language": _language(sample[name], "en")} for translator, name in translators.items()},
    )


def _chosen(names: Sequence[str], known: Sequence[str]) -> str | None:
    """The name that comes first in `known`, in any case and with any punctuation around it; None if there is none."""
    by_case = {name.strip(string.punctuation + " ").casefold(): name for name in reversed(names)}
    return next((by_case[name] for name in known if name in by_case), None)


def _records(path: Path) -> ProposedKeys:
    """JSON lines, by their first line."""
    first = next((line for line in decode(path).split("\n") if line.strip()), "{}")
    record = parse(first, path, 1)
    references = record.get("references")
    texts = references if isinstance(references, dict) else {}
    language = str(record.get("lang") or _language(str(record.get("source", ""))))
    translations = {str(name): {"language": _language(str(text), "en")} for name, text in texts.items()}
    return ProposedKeys("jsonl", {}, {"language": language}, translations)


def _editions(folder: Path, files: Sequence[Path]) -> ProposedKeys:
    """TEI files of one work: the first one that is not in English is the source, the others are translations."""
    languages = {file: _tei_language(file) for file in files}
    source = next((file for file in files if languages[file] != "en"), files[0])
    document = source.name.partition(".")[0]
    patterns = {
        file: str(file.relative_to(folder).parent / file.name.replace(document, "{document}", 1))
        for file in files if file.name.startswith(document)
    }  # fmt: skip
    references = {
        slug(file.stem.rpartition(".")[2] or file.stem): {
            "language": languages[file], "layout": "tei", "files": pattern
        }
        for file, pattern in patterns.items() if languages[file] != languages[source]
    }  # fmt: skip
    keys = {"language": languages[source], **({"files": patterns[source]} if references else {})}
    return ProposedKeys("tei", {}, keys, references)


def _tei_language(path: Path) -> str:
    """The language of a TEI file, by its name or its first `xml:lang`."""
    named = re.search(r"-([a-z]{3})\d*\.xml$", path.name)
    stated = re.search(r"<(?:text|body|div)\b[^>]*xml:lang=[\"'](\w+)", path.read_text("utf-8", errors="replace"))
    code = named[1] if named else stated[1] if stated else UNKNOWN
    return THREE_LETTERS.get(code, code)
