"""WMT's tables: MQM ratings with a row for each error, average segment scores, and ESA (TSV, CSV or JSON lines).

Forms: google/wmt-mqm-human-evaluation (`system doc doc_id seg_id rater source target category severity`, errors between
`<v>` and `</v>`; `system mqm_avg_score seg_id`), and WMT24's ESA (`system annotator doc_id line_id src tgt esa_score
esa_spans`, spans as JSON). Further columns are ignored. Not here: folders of texts by line (folders).
"""

import csv
import io
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.validation.gold import ESA, MQM, Error, Rating, Scale, severity
from resources.errors import BadInput

Rows = Sequence[tuple[int, Mapping[str, Any]]]
"""Numbers of lines, from 1, with their cells by column."""

_NAMES = {
    "system": ("system", "system_id", "model"),
    "document": ("doc", "doc_id", "document", "document_id"),
    "passage": ("globalsegid", "seg_id", "segment_id", "line_id", "segment"),
    "rater": ("rater", "annotator", "rater_id", "annotator_id", "user", "user_id"),
    "source": ("source", "src", "source_text"),
    "target": ("target", "tgt", "translation", "hyp", "target_text"),
    "category": ("category",),
    "severity": ("severity",),
    "points": ("mqm_avg_score",),
    "esa": ("esa_score",),
    "score": ("score",),
    "errors": ("esa_spans", "error_spans", "spans"),
    "pair": ("langs", "lp", "lang_pair", "language_pair"),
}
"""Columns of the tables, by what they hold."""

SCORES = ("points", "esa", "score")
"""What a column of scores holds: MQM, ESA, or scores of a scale that the column does not name."""

TEXTS = {"system", "passage", "rater", "source", "target"}
MQM_TABLE = TEXTS | {"category", "severity"}
AVERAGES = {"system", "passage"}
_FORMS = [MQM_TABLE, *(columns | {kind} for columns in (TEXTS, AVERAGES) for kind in SCORES)]

MOST_POINTS = 25.0
"""The largest average penalty of a segment: raters marked at most five errors, major ones cost 5, and a non-translation
costs 25 (Freitag et al. 2021). WMT20 published penalties, later years published scores up to 0."""

BETWEEN = "\0"
"""Between the document, or else the source, and the id in the keys of `RatedTexts.lines`: ids may restart."""

_NULLABLE = {"rater", "source", "category", *SCORES}

_MARK = re.compile(r"</?v>")


class GoldLine(NamedTuple):
    """A passage as a table shows it."""

    passage: str
    document: str
    source: str


class RatedTexts(NamedTuple):
    """Content of a table of ratings: passages by key (see `BETWEEN`) in their order, texts by system and key, ratings
    with keys as passages."""

    lines: dict[str, GoldLine]
    texts: dict[tuple[str, str], str]
    ratings: list[Rating]
    notes: list[str]


def table(path: Path) -> tuple[set[str], Rows]:
    """What the columns of a table hold, and its rows; a file of another form holds nothing.

    Raises BadInput for a row with another number of cells than the header.
    """
    text = decode(path)
    if path.suffix.lower() == ".jsonl":
        rows = list(_json_lines(path, text))
        return set[str]().union(*(row for _, row in rows)), rows
    lines = _cells(path, text)
    columns = _meanings(next(lines, (1, []))[1])
    found = {name for name in columns if name}
    if not any(form <= found for form in _FORMS):
        return set(), []
    result = []
    for number, cells in lines:
        if len(cells) != len(columns):
            problem = f"has {len(cells)} cells, but the header has {len(columns)}"
            raise BadInput(path, f"line {number}", problem, "separate cells by one tab each, or quote them in CSV")
        result.append((number, {name: cell for name, cell in zip(columns, cells, strict=True) if name}))
    return found, result


def _cells(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Numbers and cells of the lines of a table: CSV, separated by tabs, or by spaces."""
    header = text.partition("\n")[0]
    if path.suffix.lower() == ".csv" and "\t" not in header:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;", key=header.count))
        try:
            yield from ((reader.line_num, cells) for cells in reader if cells)
        except csv.Error as error:
            raise BadInput(path, f"line {reader.line_num}", f"is not valid CSV ({error})", "save it as CSV") from error
        return
    spaces = len(header.split()) - 1
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            line = line.strip("\r")
            yield number, line.split("\t") if "\t" in header else line.rsplit(None, spaces)


def complete(path: Path, rows: Rows, columns: Collection[str]) -> Rows:
    """Rows with a value in each of some columns, as text except for scores and spans; null becomes ''.

    Raises BadInput for a row without one: JSON lines may lack keys. Raters, sources, categories and scores may be null.
    """
    for number, row in rows:
        for name in sorted(columns):
            if row.get(name) is None and not (name in row and name in _NULLABLE):
                problem = f"has no {' or '.join(_NAMES[name])}"
                raise BadInput(path, f"line {number}", problem, "give each row the same columns")
    kept = (*SCORES, "errors")
    return [
        (number, {name: each if name in kept else "" if each is None else str(each) for name, each in row.items()})
        for number, row in rows
    ]  # fmt: skip


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            named = zip(_meanings(list(row)), row.values(), strict=True)
            yield number, {name: value for name, value in named if name}
        except (ValueError, AttributeError) as error:
            raise BadInput(path, f"line {number}", f"is no JSON object ({error})", "write one object a line") from error


def _meanings(columns: Sequence[str]) -> list[str]:
    """What each column holds, or ''. If several hold the same, the one that `_NAMES` lists first counts."""
    names = [name.strip().casefold() for name in columns]
    chosen = {meaning: next((name for name in known if name in names), None) for meaning, known in _NAMES.items()}
    return [next((meaning for meaning, name in chosen.items() if name == each), "") for each in names]


def mqm(path: Path, rows: Rows) -> RatedTexts:
    """The ratings of a table with a row for each error, or a row `No-error`. As in WMT's scores, a row that repeats
    another one counts."""
    rated, errors, others = RatedTexts({}, {}, [], []), dict[tuple[str, str, str], list[Error]](), 0
    for number, row in rows:
        key = _key(row, rated)
        same = _text(row, key, rated)[1]
        others += not same
        word = row["severity"]
        found = errors.setdefault((row["system"], key, row["rater"]), [])
        if not word.casefold().startswith("hotw"):  # a planted error, by which WMT checks raters
            place = _span(row["target"]) if same else (None, None)
            found.append(Error(severity(word, path, f"line {number}"), row["category"].casefold(), *place))
    rated.ratings.extend(Rating(*key, found) for key, found in errors.items())
    rated.notes.extend(_differing(path, others))
    columns = sorted(MQM_TABLE | {"document"})
    if repeated := len(rows) - len({tuple(row.get(name) for name in columns) for _, row in rows}):
        rated.notes.append(f"{path.name}: {repeated} rows repeat an earlier row, and count again")
    return rated


def scored(path: Path, rows: Rows, kind: str) -> RatedTexts:
    """The ratings of a table with a row for each rated output; `kind` is the column of `SCORES`."""
    rated, others = RatedTexts({}, {}, [], []), 0
    for number, row in rows:
        if row[kind] in (None, "", "None"):
            continue
        key, where = _key(row, rated), f"line {number}"
        text, same = _text(row, key, rated)
        others += not same
        errors = spans(row["errors"], text, path, where) if row.get("errors") is not None else None
        score = number_in(row[kind], path, where, esa=kind != "points")
        rated.ratings.append(Rating(row["system"], key, row["rater"], errors, score))
    if kind == "score" and rated.ratings and max(rating.score or 0 for rating in rated.ratings) <= MOST_POINTS:
        problem = f"may be ESA, or penalties of MQM: no score is above {MOST_POINTS:g}"
        raise BadInput(path, "column score", problem, "name it esa_score or mqm_avg_score")
    if kind == "points":
        rated = rated._replace(ratings=signed(path, rated.ratings))
    rated.notes.extend(_differing(path, others))
    return rated


class Averages(NamedTuple):
    """A table of average segment scores: its file, the column of `SCORES` that it has, and its scores."""

    path: Path
    kind: str
    ratings: list[Rating]

    def scaled(self) -> tuple[Scale, list[Rating]]:
        """The scale, and the scores on it. Raises BadInput if neither the column nor the scores show the scale."""
        scores = [rating.score for rating in self.ratings if rating.score is not None]
        if self.kind == "score" and scores and (min(scores) < 0 < max(scores) or max(scores) > MOST_POINTS):
            problem = f"has scores from {min(scores):g} to {max(scores):g}, so it is not MQM"
            raise BadInput(self.path, "column score", problem, "name it esa_score or mqm_avg_score if it is")
        return (ESA, self.ratings) if self.kind == "esa" else (MQM, signed(self.path, self.ratings))


def averages(path: Path, found: Collection[str], rows: Rows) -> Averages | None:
    """The scores of a table of average segment scores, in which `None` is no score; None for another table."""
    kind = next((kind for kind in SCORES if kind in found), "")
    if "target" in found or not kind or not {*found} >= AVERAGES:
        return None
    return Averages(path, kind, [
        Rating(row["system"], row["passage"], "", None, number_in(row[kind], path, f"line {number}", kind == "esa"))
        for number, row in complete(path, rows, AVERAGES | {kind})
        if row[kind] not in (None, "", "None")
    ])  # fmt: skip


def signed(path: Path, ratings: Sequence[Rating]) -> list[Rating]:
    """MQM scores from scores up to 0, or from penalties. Raises BadInput if both signs occur."""
    scores = [rating.score or 0 for rating in ratings]
    if ratings and max(scores) > 0 > min(scores):
        problem = f"has MQM scores of both signs, from {min(scores):g} to {max(scores):g}"
        raise BadInput(path, "", problem, "give scores up to 0, or penalties from 0 on")
    positive = max(scores, default=0) > 0
    return [rating._replace(score=-rating.score) if positive and rating.score else rating for rating in ratings]


def spans(value: object, text: str, where: Path, key: str) -> list[Error]:
    """Errors of ESA as WMT and Pearmut write them: objects with `start_i`, `end_i` (inclusive) and `severity`, as JSON
    or parsed. `missing`, or a start after the text, is an omission."""
    try:
        found: Any = json.loads(value) if isinstance(value, str) else value
        errors = []
        for span in found or []:
            start, end = span["start_i"], span["end_i"]
            inside = isinstance(start, int) and isinstance(end, int) and start < len(text)
            category = str(span.get("category") or span.get("error_type") or "").casefold()
            place = (start, end + 1) if inside else (None, None)
            errors.append(Error(severity(str(span["severity"] or "undecided"), where, key), category, *place))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        problem = f"has spans that cannot be read ({error!r})"
        raise BadInput(where, key, problem, "give a list of objects with start_i, end_i and severity") from error
    return errors


def number_in(value: object, where: Path, key: str, esa: bool = False) -> float:
    """A score. Raises BadInput unless it is a finite number and, for ESA, from 0 to 100."""
    try:
        score = float(str(value))
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise BadInput(where, key, f"has the score {value!r}", "give a number, or None")
    if esa and not 0 <= score <= 100:
        remedy = "give ESA from 0 to 100; name a column of MQM mqm_avg_score"
        raise BadInput(where, key, f"has the ESA score {value}", remedy)
    return score


def _key(row: Mapping[str, Any], rated: RatedTexts) -> str:
    document, source = row.get("document") or "", _MARK.sub("", row["source"])
    key = f"{document or source.strip()}{BETWEEN}{row['passage']}"
    rated.lines.setdefault(key, GoldLine(row["passage"], document, source))
    return key


def _text(row: Mapping[str, Any], key: str, rated: RatedTexts) -> tuple[str, bool]:
    """The output of a row without marks, and whether earlier rows show it the same; the first one stands."""
    text = _MARK.sub("", row["target"])
    return text, rated.texts.setdefault((row["system"], key), text) == text


def _differing(path: Path, rows: int) -> list[str]:
    return [f"{path.name}: {rows} rows show another text than an earlier row of the same output"] if rows else []


def _span(marked: str) -> tuple[int | None, int | None]:
    """Start and end of the marked words in the text without marks; None without a mark."""
    start = marked.find("<v>")
    if start < 0:
        return None, None
    end = marked.find("</v>", start)
    return start, (end if end >= 0 else len(marked)) - len("<v>")
