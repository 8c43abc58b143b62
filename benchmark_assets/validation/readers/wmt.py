"""WMT's tables: MQM ratings with a row for each error, average segment scores, and ESA (TSV or JSON lines).

Forms: google/wmt-mqm-human-evaluation (`system doc doc_id seg_id rater source target category severity`, errors between
`<v>` and `</v>`; `system mqm_avg_score seg_id`), and WMT24's ESA (`system annotator doc_id line_id src tgt esa_score
esa_spans`, spans as JSON). Further columns are ignored. Not here: folders of texts by line (folders).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.validation.gold import Error, Rating, severity
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
    "score": ("mqm_avg_score", "esa_score", "score"),
    "errors": ("esa_spans", "error_spans", "spans"),
    "pair": ("langs", "lp", "lang_pair", "language_pair"),
}
"""Columns of the tables, by what they hold."""

MQM_TABLE = {"system", "passage", "rater", "source", "target", "category", "severity"}
ESA_TABLE = {"system", "passage", "rater", "source", "target", "score"}
AVERAGES = {"system", "passage", "score"}

_MARK = re.compile(r"</?v>")


class GoldLine(NamedTuple):
    """A passage as a table shows it."""

    passage: str
    document: str
    source: str


class RatedTexts(NamedTuple):
    """Content of a table of ratings: passages in their order, texts by system and passage, ratings."""

    lines: dict[str, GoldLine]
    texts: dict[tuple[str, str], str]
    ratings: list[Rating]
    notes: list[str]


def table(path: Path) -> tuple[set[str], Rows]:
    """What the columns of a table hold, and its rows; a file of another form holds nothing.

    Raises BadInput for a row with another number of cells than the header.
    """
    text = decode(path)
    if text.lstrip().startswith("{"):
        rows = list(_json_lines(path, text))
        return set().union(*(row.keys() for _, row in rows)), rows
    header, *lines = text.split("\n")
    separator = "\t" if "\t" in header else None
    columns = _meanings(header.strip("\r").split(separator))
    found = {name for name in columns if name}
    if not any(form <= found for form in (MQM_TABLE, ESA_TABLE, AVERAGES)):
        return set(), []
    result = []
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        line = line.strip("\r")
        cells = line.split(separator) if separator else line.rsplit(None, len(columns) - 1)
        if len(cells) != len(columns):
            problem = f"has {len(cells)} cells, but the header has {len(columns)}"
            raise BadInput(path, f"line {number}", problem, "separate cells by one tab each")
        result.append((number, {name: cell for name, cell in zip(columns, cells, strict=True) if name}))
    return found, result


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
    """The ratings of a table with a row for each error, or a row `No-error`."""
    rated, errors, others = RatedTexts({}, {}, [], []), dict[tuple[str, str, str], list[Error]](), 0
    for number, row in rows:
        system, passage = _place(row, rated)
        text, same = _text(row, rated)
        others += not same
        start, end = _span(row["target"]) if same else (None, None)
        word = row["severity"]
        found = errors.setdefault((system, passage, row["rater"]), [])
        if not word.casefold().startswith("hotw"):  # a planted error, by which WMT checks raters
            place = (start, end) if end is not None and end <= len(text) else (None, None)
            found.append(Error(severity(word, path, f"line {number}"), row["category"].casefold(), *place))
    rated.ratings.extend(Rating(*key, found) for key, found in errors.items())
    rated.notes.extend(_differing(path, others))
    return rated


def esa(path: Path, rows: Rows) -> RatedTexts:
    """The ratings of a table with a row for each rated output."""
    rated, others = RatedTexts({}, {}, [], []), 0
    for number, row in rows:
        if row["score"] in (None, "", "None"):
            continue
        system, passage = _place(row, rated)
        (text, same), key = _text(row, rated), f"line {number}"
        others += not same
        errors = spans(row["errors"], text, path, key) if row.get("errors") is not None else None
        rated.ratings.append(Rating(system, passage, str(row["rater"]), errors, number_in(row["score"], path, key)))
    rated.notes.extend(_differing(path, others))
    return rated


def averages(path: Path, rows: Rows) -> list[Rating]:
    """The scores of a table of average segment scores; `None` is no score."""
    return [
        Rating(row["system"], row["passage"], "", None, number_in(row["score"], path, f"line {number}"))
        for number, row in rows
        if row["score"] != "None"
    ]


def spans(value: object, text: str, where: Path, key: str) -> list[Error]:
    """Errors of ESA as WMT and Pearmut write them: objects with `start_i`, `end_i` (inclusive) and `severity`, as JSON
    or parsed. `missing`, or a place after the text, is an omission."""
    try:
        found: Any = json.loads(value) if isinstance(value, str) else value
        errors = []
        for span in found or []:
            start, end = span["start_i"], span["end_i"]
            inside = isinstance(start, int) and isinstance(end, int) and 0 <= start <= end and start < len(text)
            place = (start, min(end + 1, len(text))) if inside else (None, None)
            category = str(span.get("category") or span.get("error_type") or "").casefold()
            errors.append(Error(severity(str(span["severity"] or "undecided"), where, key), category, *place))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        problem = f"has spans that cannot be read ({error!r})"
        raise BadInput(where, key, problem, "give a list of objects with start_i, end_i and severity") from error
    return errors


def number_in(value: object, where: Path, key: str) -> float:
    """A score. Raises BadInput unless it is a number."""
    try:
        return float(str(value))
    except ValueError:
        raise BadInput(where, key, f"has the score {value!r}", "give a number, or None") from None


def _place(row: Mapping[str, Any], rated: RatedTexts) -> tuple[str, str]:
    passage = str(row["passage"])
    rated.lines.setdefault(passage, GoldLine(passage, str(row.get("document") or ""), _MARK.sub("", row["source"])))
    return str(row["system"]), passage


def _text(row: Mapping[str, Any], rated: RatedTexts) -> tuple[str, bool]:
    """The output of a row without marks, and whether earlier rows show it the same; the first one stands."""
    text = _MARK.sub("", row["target"])
    return text, rated.texts.setdefault((str(row["system"]), str(row["passage"])), text) == text


def _differing(path: Path, rows: int) -> list[str]:
    return [f"{path.name}: {rows} rows show another text than an earlier row of the same output"] if rows else []


def _span(marked: str) -> tuple[int | None, int | None]:
    """Start and end of the marked words in the text without marks; None without a mark."""
    start = marked.find("<v>")
    if start < 0:
        return None, None
    end = marked.find("</v>", start)
    return start, (end if end >= 0 else len(marked)) - len("<v>")
