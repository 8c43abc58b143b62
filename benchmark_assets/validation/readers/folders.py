"""Folders of texts by line: sources, references, outputs of systems, and scores or ratings of their lines.

Forms: mt-metrics-eval (`sources/SRC-TGT.txt`, `references/SRC-TGT.NAME.txt`, `system-outputs/SRC-TGT/NAME.txt`,
`documents/SRC-TGT.docs`, `human-scores/SRC-TGT.NAME.seg.score` and `.seg.rating`), and WMT's news systems
(`TEST.SRC-TGT.hyp.NAME.TGT`) with a table of average scores and `documents.tsv` (`document`, `first_segment`,
`last_segment`). Not here: tables with texts (wmt).
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import polars as pl

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.validation.gold import ESA, MQM, Error, Rating, Scale, severity
from benchmark_assets.validation.readers.wmt import GoldLine, RatedTexts, number_in, signed
from resources.errors import BadInput

SOURCES, REFERENCES, OUTPUTS, SCORES, DOCUMENTS = (
    "sources", "references", "system-outputs", "human-scores", "documents",
)  # fmt: skip

RANGES = "documents.tsv"

_PAIR = re.compile(r"(?<![A-Za-z])([a-z]{2,3}(?:_[A-Za-z]{2,4})?)-([a-z]{2,3}(?:_[A-Za-z]{2,4})?)(?![A-Za-z])")
_ROLES = ("hyp", "ref", "src")

Texts = Mapping[str, Sequence[str]]
"""Lines of each text, by name."""


class LanguagePair(NamedTuple):
    """The texts of a language pair: `pair` is '' if file names show none."""

    pair: str
    source: Sequence[str]
    documents: Sequence[str]
    references: Texts
    outputs: Texts


def pairs(folder: Path) -> list[LanguagePair]:
    """The texts of each language pair in a folder.

    Raises BadInput if a text has another number of lines than its source.
    """
    return [_pair(folder, path) for path in _files(folder / SOURCES)]


def _pair(folder: Path, source: Path) -> LanguagePair:
    found = _PAIR.search(source.name)
    pair = found[0] if found else ""
    lines = _lines(source)
    alone = len(_files(folder / SOURCES)) == 1

    def texts(kind: str) -> Texts:
        own = folder / kind / pair
        paths = _files(own) if pair and own.is_dir() else [
            path for path in _files(folder / kind) if alone or pair in _PAIR.findall(path.name) or pair in path.name
        ]  # fmt: skip
        named = {_name(path, pair): _lines(path) for path in paths}
        for path, name in zip(paths, named, strict=True):
            if len(named[name]) != len(lines):
                problem = f"has {len(named[name])} lines, but {source.name} has {len(lines)}"
                raise BadInput(path, "", problem, "give each segment one line")
        return named

    return LanguagePair(pair, lines, _documents(folder, pair, len(lines)), texts(REFERENCES), texts(OUTPUTS))


def _documents(folder: Path, pair: str, count: int) -> list[str]:
    """The document of each line; '' if unknown."""
    by_pair, by_range = folder / DOCUMENTS / f"{pair}.docs", folder / RANGES
    if by_pair.is_file():
        names = [line.split()[-1] if line.split() else "" for line in _lines(by_pair)]
        if len(names) != count:
            raise BadInput(by_pair, "", f"has {len(names)} lines, but the source has {count}", "give a line a segment")
        return names
    names = [""] * count
    if by_range.is_file():
        rows = [line.split("\t") for line in _lines(by_range)]
        try:
            at = [rows[0].index(name) for name in ("document", "first_segment", "last_segment")]
            for row in rows[1:]:
                name, first, last = (row[place] for place in at)
                names[int(first) - 1 : int(last)] = [name] * (int(last) - int(first) + 1)
        except (ValueError, IndexError) as error:
            remedy = "give the columns document, first_segment and last_segment, with numbers of lines"
            raise BadInput(by_range, "", f"cannot be read ({error})", remedy) from error
    return names[:count]


def rated(folder: Path, lines: LanguagePair) -> tuple[Scale, list[Rating]] | None:
    """The scale and the ratings in `human-scores`, those with errors first; None if there are none.

    Raises BadInput if a file does not have one row for each system and line.
    """
    for ending in ("seg.rating", "seg.score"):
        for protocol in get_args(Scale):
            paths = [
                path for path in _files(folder / SCORES)
                if path.name.startswith(f"{lines.pair}.") and path.name.endswith(ending)
                and re.match(rf"{protocol}(?![a-z])", path.name[len(lines.pair) + 1 :].casefold())
            ]  # fmt: skip
            exact = [path for path in paths if path.name.casefold() == f"{lines.pair}.{protocol}.{ending}".casefold()]
            if paths:  # a file beside the exact one is a part or a later round of it
                ratings = [each for path in exact or paths for each in _ratings(path, lines, ending, protocol == ESA)]
                return protocol, signed(paths[0], ratings) if protocol == MQM else ratings
    return None


def _ratings(path: Path, lines: LanguagePair, ending: str, esa: bool) -> list[Rating]:
    seen, result = dict[str, int](), []
    for number, line in enumerate(_lines(path), start=1):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) not in (2, 3):
            raise BadInput(path, f"line {number}", f"has {len(cells)} cells", "give a system and a value a line")
        system, value, *rater = cells
        seen[system] = place = seen.get(system, 0) + 1
        if value == "None":
            continue
        who = rater[0] if rater else path.name if ending == "seg.rating" else ""
        if ending == "seg.score":
            score = number_in(value, path, f"line {number}", esa)
            result.append(Rating(system, str(place), "", None, score))
        else:
            result.append(Rating(system, str(place), who, _errors(value, path, number)))
    if wrong := {system: count for system, count in seen.items() if count != len(lines.source)}:
        system, count = next(iter(wrong.items()))
        problem = f"has {count} rows of {system}, but the source has {len(lines.source)} lines"
        raise BadInput(path, system, problem, "give a row for each line, None without a rating")
    return result


def _errors(value: str, path: Path, number: int) -> list[Error]:
    """The errors of a rating in mt-metrics-eval's JSON: `errors`, with `start`, `end` (exclusive), `category`,
    `severity` and `is_source_error`."""
    try:
        return [
            Error(
                severity(error["severity"] or "undecided", path, f"line {number}"),
                (error["category"] or "").casefold(),
                *_place(error),
            )
            for error in json.loads(value)["errors"]
        ]  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        problem = f"has a rating that cannot be read ({error!r})"
        raise BadInput(path, f"line {number}", problem, "give mt-metrics-eval's JSON") from error


def _place(error: Mapping[str, Any]) -> tuple[int | None, int | None]:
    if error.get("is_source_error") or error["start"] is None:
        return None, None
    return int(error["start"]), int(error["end"])


def of_lines(lines: LanguagePair) -> RatedTexts:
    """The texts of a language pair by numbers of lines, from 1, without ratings."""
    numbered = [
        GoldLine(str(number), document, source)
        for number, (document, source) in enumerate(zip(lines.documents, lines.source, strict=True), start=1)
    ]
    texts = {
        (name, str(number)): text
        for name, written in lines.outputs.items() for number, text in enumerate(written, start=1)
    }  # fmt: skip
    return RatedTexts({line.passage: line for line in numbered}, texts, [], [])


def references(lines: LanguagePair) -> pl.DataFrame:
    """The references of a language pair: columns `passage`, `translator`, `text`; blank lines are left out."""
    rows = [
        (str(number), name, text)
        for name, written in lines.references.items() for number, text in enumerate(written, start=1) if text.strip()
    ]  # fmt: skip
    return pl.DataFrame(rows, dict.fromkeys(("passage", "translator", "text"), pl.String), orient="row")


def matched(names: Sequence[str], known: Sequence[str], where: object) -> dict[str, str]:
    """Map names in scores to names of texts: equal ones first, then those equal but for case and punctuation (`ref-A`,
    `refA`), then the only text left whose name contains the name (`Nemo`, `NVIDIA-NeMo`; `refA` may be `ref`). Names
    without a text are left out.

    Raises BadInput if a name is equal to several others but for case and punctuation.
    """
    found = {name: name for name in names if name in known}
    plain = {name: re.sub(r"[\W_]", "", name.casefold()) for name in (*names, *known)}
    rest = [name for name in names if name not in found]
    for name in rest:
        texts = [text for text in known if plain[text] == plain[name]]
        rivals = {name, *texts, *(other for other in names if plain[other] == plain[name])}
        if texts and (len(rivals) > 2 or texts[0] in found.values()):
            problem = f"has {' and '.join(sorted(rivals))}, which differ only in case and punctuation"
            raise BadInput(where, name, problem, "write names in scores as in texts")
        if texts:
            found[name] = texts[0]
    for name in rest:
        key, free = plain[name], [text for text in known if text not in found.values()]
        texts = [
            each for each in free if (len(key) > 3 and key in plain[each]) or (key, plain[each]) == ("refa", "ref")
        ]
        if name not in found and len(texts) == 1:
            found[name] = texts[0]
    return found


def _name(path: Path, pair: str) -> str:
    """Name of a system or reference from its file: `SRC-TGT.NAME.txt`, `NAME.txt`, `TEST.SRC-TGT.ref.NAME.TGT`."""
    parts = path.name.split(".")
    role = next((at for at, part in enumerate(parts) if part in _ROLES), None)
    if role is not None and len(parts) > role + 2:
        return ("ref-" if parts[role] == "ref" else "") + ".".join(parts[role + 1 : -1])
    return ".".join(parts[:-1]).removeprefix(f"{pair}.") if len(parts) > 1 else path.name


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def _lines(path: Path) -> list[str]:
    """The lines of a file, divided at line feeds only: texts contain other separators of lines."""
    lines = decode(path).split("\n")
    return [line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
