"""Proposals for prose: which files are the source, which are translations, and which belong to one document.

Here: plain text, Word, EPUB and HTML without numbers. Not here: reading them (readers.paragraphs, readers.prose),
prose beside tables, files whose lines are rows (proposals).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.languages import identified, plain
from benchmark_assets.corpus.proposed import ROWS, ProposedKeys, into
from benchmark_assets.corpus.readers.paragraphs import LAYOUTS
from benchmark_assets.corpus.readers.prose import PROSE_READERS
from benchmark_assets.corpus.roles import (
    ANCIENT,
    DISTANT,
    FOREIGN,
    GLOSSES,
    MAYBE_MODELS,
    MODELS,
    NOTES,
    SOURCES,
    TRANSLITERATED,
    UNKNOWN,
    FileQuestion,
    Stated,
    language_of,
    surnames,
)
from benchmark_assets.corpus.versions import NO_TEXT
from resources.errors import BadInput
from resources.keys import slug

BESIDE = NOTES | {"introduction", "intro", "preface", "foreword", "bibliography", "vorwort", "einleitung", "literatur"}
"""Words in names of files that are neither the source nor a translation."""

UNNAMED = "translation"
"""Name of a translator who is named nowhere."""

LEAST, LEAST_DENSE = 0.6, 1.2
"""Least length of a whole translation, as a part of the length of the source, in characters: from a script of letters,
and from Chinese, Japanese or Korean. Whole translations are 1.0 to 1.7 times as long, and 2 to 7 times."""

SAMPLE = 20_000
"""Number of characters from which a language is identified."""

HEADS, HEAD = 20, 500
"""Number of asides, and of characters, in which the translator is named."""

_BY = re.compile(
    r"(?:translat(?:ed|ion)|übersetzt|übersetzung|traduit|traduction)\s+(?:by|von|par)\s+([^\n,;(]{3,60}?)[.\s]*(?:[\n,;(]|$)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W\d_]+|\d+")


class ProseVersion(NamedTuple):
    """A version of a work: the pattern of its files, the files by document, language, length, and how it begins."""

    pattern: str
    files: Mapping[str, Path]
    language: str
    length: int
    beginning: str


def proposed_prose(root: Path, files: Sequence[Path], stated: Stated) -> ProposedKeys:
    """What files of prose seem to contain: of a folder, or one file.

    Raises
    ------
    BadInput
        If no file contains text.
    """
    contents: dict[str, str] = {}
    heads: dict[str, str] = {}
    unread: dict[str, str] = {}
    questions: list[FileQuestion] = []
    for file in files:
        name = file.relative_to(root).as_posix() if root.is_dir() else file.name
        role = stated.roles.get(name)
        if reason := "left out" if role == "none" else "" if role else _reason(name):
            unread[name] = reason
            if reason.startswith("perhaps"):
                asked = f"Is {name} a human translation, or {reason}? It is not read."
                questions.append(FileQuestion(asked, name, ("none", "translation")))
            continue
        try:
            contents[name], asides = PROSE_READERS[LAYOUTS[file.suffix]].read(file)
            heads[name] = "\n".join([*(aside.text for aside in asides[:HEADS]), contents[name][:HEAD]])
        except BadInput as fault:
            unread[name] = f"{fault.problem}; {fault.remedy}"
    texts = {name: content for name, content in contents.items() if any(map(str.isalpha, content))}
    unread |= dict.fromkeys(contents.keys() - texts.keys(), "no text")
    found = _versions(root, texts, heads)
    if not found:
        reasons = "; ".join(f"{name} is not read: {why}" for name, why in unread.items())
        raise BadInput(root, "", f"contains no text ({reasons})", "give the source and its translations")
    if len(found) == 1:
        check_languages(root, next(iter(texts.values())))
    source = _source(found, stated, questions)
    others = [each for each in found if each is not source]
    smallest = least(source.language) * source.length
    short = [each for each in others if each.length < smallest and each.pattern not in stated.roles]
    for each in short:
        questions.append(doubtful(each.pattern, "much shorter than the source", len(others) == 1))
    if len(others) > 1:
        unread |= {each.pattern: "much shorter than the source" for each in short}
        others = [each for each in others if each not in short]
    alike = [each for each in others if plain(each.language) == plain(source.language)]
    unread |= {each.pattern: f"in {each.language}, as the source" for each in alike}
    others = [each for each in others if plain(each.language) != plain(source.language)]
    target, further = into(Counter(each.language for each in others), stated.into)
    unread |= {each.pattern: f"{FOREIGN}{each.language}" for each in others if each.language != target}
    read = [each for each in others if each.language == target]
    names = translators(
        [each.pattern for each in found], [(each.pattern, each.language, each.beginning) for each in read]
    )
    references = {
        name: {"language": each.language, "layout": LAYOUTS[Path(each.pattern).suffix], "files": each.pattern}
        for name, each in zip(names, read, strict=True)
    }
    keys = {"language": source.language, **({"files": source.pattern} if root.is_dir() else {})}
    samples = {name: content.split("\n\n")[:ROWS] for name, content in contents.items()}
    return ProposedKeys("paragraphs", {}, keys, references, (), questions, further, unread, samples)


def least(language: str) -> float:
    """Least length of a whole translation from a language, as a part of the length of the source."""
    return LEAST_DENSE if plain(language) in ("zh", "lzh", "ja", "ko") else LEAST


def doubtful(place: str, doubt: str, is_only: bool) -> FileQuestion:
    """A question whether a file is a translation. The only one is read, and others are not, until it is answered."""
    choices = ("translation", "none") if is_only else ("none", "translation")
    asked = (
        f"{place} is {doubt}: is it a translation of the source, or of a part? It is {'' if is_only else 'not '}read."
    )
    return FileQuestion(asked, place, choices)


def check_languages(path: Path, text: str) -> None:
    """Raise BadInput if the only text has paragraphs in two languages, as where a translation stands below each."""
    seen = [identified(each) for each in re.split(r"\n+", text)[:200]]
    counts = Counter(each.tag for each in seen if each and each.reliable)
    common = [language for language, count in counts.most_common(2) if 4 * count >= counts.total() > 3]
    if len(common) > 1:
        problem = f"has paragraphs in {common[0]} and in {common[1]} in turn"
        raise BadInput(path, "", problem, "put source and translation into two files, or into columns of a table")


def _reason(name: str) -> str:
    """Why a file is not read, by its name; '' if it is."""
    words = re.sub(r"phi\d{4}|[_/]", " ", name.rpartition(".")[0].casefold())
    if MODELS.search(words):
        return "a model's outputs; `variorum import outputs` imports them"
    if MAYBE_MODELS.search(words):
        return "perhaps outputs of a model"
    if GLOSSES.search(words):
        return "perhaps a gloss"
    if NO_TEXT.search(words) or BESIDE.intersection(_TOKEN.findall(words)) or TRANSLITERATED.search(words):
        return "no text of the work, by its name"
    return ""


def _versions(root: Path, contents: Mapping[str, str], heads: Mapping[str, str]) -> list[ProseVersion]:
    """The versions of a work: of one document, with a file each, or of several, whose names a part of a name tells."""
    languages = {
        name: language_of([content[max(len(content) - SAMPLE, 0) // 4 :][:SAMPLE]], name)
        for name, content in contents.items()
    }
    best = {name: {"": name} for name in contents}
    for divided in _divisions(list(contents)):
        of = {pattern: {languages[name] for name in own.values()} for pattern, own in divided.items()}
        whole = max(divided.values(), key=len).keys()
        one_each = all(len(each) == 1 for each in of.values()) and len({*map(frozenset, of.values())}) > 1
        if one_each and len(whole) > 1 and all(own.keys() <= whole for own in divided.values()):
            best = divided
            break
    return [
        ProseVersion(
            pattern, {document: root / name for document, name in own.items()}, languages[next(iter(own.values()))],
            sum(len(contents[name]) for name in own.values()), heads[next(iter(own.values()))],
        )
        for pattern, own in best.items()
    ]  # fmt: skip


def _divisions(names: Sequence[str]) -> Iterator[dict[str, dict[str, str]]]:
    """Ways to divide paths by a part at their beginnings or ends into documents: paths by document, by pattern."""
    tokens = {name: list(_TOKEN.finditer(name.rpartition(".")[0])) for name in names}
    fewest = min(map(len, tokens.values()), default=0)
    for count in range(1, fewest):
        for spans in (
            {name: (found[-count].start(), found[-1].end()) for name, found in tokens.items()},
            {name: (found[0].start(), found[count - 1].end()) for name, found in tokens.items()},
        ):
            divided: dict[str, dict[str, str]] = {}
            for name, (start, end) in spans.items():
                if "/" not in name[start:end]:
                    divided.setdefault(f"{name[:start]}{{document}}{name[end:]}", {})[name[start:end]] = name
            if sum(map(len, divided.values())) == len(names):
                yield divided


def _source(found: Sequence[ProseVersion], stated: Stated, questions: list[FileQuestion]) -> ProseVersion:
    """The version that is the source: in an ancient language, or else in one that is rather translated from."""
    if chosen := [each for each in found if stated.roles.get(each.pattern) == "source"]:
        return chosen[0]

    def rank(version: ProseVersion) -> tuple[bool, ...]:
        named = SOURCES.intersection(_TOKEN.findall(version.pattern.casefold()))
        language = version.language
        is_modern = language not in DISTANT and language != UNKNOWN
        return language not in ANCIENT, is_modern, not named, language == "la", language == "en"  # some are into Latin

    source = min(found, key=rank)
    rivals = [each for each in found if each is not source and rank(each)[:3] == rank(source)[:3]]
    if rivals and len({plain(each.language) for each in found}) > 1:
        choices = ", ".join(f"{each.pattern} ({each.language})" for each in (source, *rivals))
        asked = f"Which file is the source? Possible are {choices}; {source.pattern} is read."
        questions.append(FileQuestion(asked, "source", tuple(each.pattern for each in (source, *rivals))))
    return source


def translators(paths: Sequence[str], read: Sequence[tuple[str, str, str]]) -> list[str]:
    """Keys of translators by the paths of their files, languages, and beginnings of their texts: what only one path of
    all has or, if that is no name, who is named at the beginning."""
    words = [{*_TOKEN.findall(each.rpartition(".")[0])} for each in paths]
    common = set.intersection(*words) if len(words) > 1 else set()
    names: list[str] = []
    for pattern, language, beginning in read:
        path = pattern.rpartition(".")[0].replace("{document}", " ")
        own = surnames(" ".join(word for word in _TOKEN.findall(path) if word not in common), language)
        signed = _BY.search(beginning)
        names.append(slug(" ".join(own) or (signed[1].split()[-1] if signed else UNNAMED)))
    return [name if names.count(name) == 1 else f"{name}-{at}" for at, name in enumerate(names, start=1)]
