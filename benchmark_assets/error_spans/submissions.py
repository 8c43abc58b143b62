"""Readers of files with errors that people marked: downloads from Pearmut, spreadsheets, exports of Label Studio.

Here: the content of a file, item by item. Not here: checks and storage (human_spans). A file that its reader cannot
parse is refused as a whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmark_assets.adjudication.label_imports import (
    Marked,
    account_name,
    only_recipient,
    parsed_json,
    shown_texts,
    studio_annotations,
    studio_tasks,
    table_rows,
)
from benchmark_assets.error_spans.campaigns import MISSING
from benchmark_assets.error_spans.forms import ANSWERS
from resources.errors import BadInput
from resources.harmless import unguarded

RESET = "__RESET__"
"""Pearmut's marker that a user's earlier annotations are void."""

NEEDED = ("item", "annotator", "candidate", *ANSWERS)
"""Columns that a spreadsheet must have."""

_LINE = re.compile(r"\s*(?P<severity>\w+)(?:\s+(?P<category>[\w/]+))?\s*:\s*(?P<words>.+?)\s*")
_REMEDY = "download the annotations from Pearmut's dashboard"


class Units(NamedTuple):
    """Start and inclusive end of a span in UTF-16 code units, as Pearmut counts."""

    start: object
    end: object


class Mark(NamedTuple):
    """An error as it is in the file. `at` is the position of the erroneous words, or the words themselves, or MISSING
    if the error is an omission."""

    severity: object
    category: object
    at: str | Marked | Units


class Submitted(NamedTuple):
    """An annotator's errors and score for an item, as in the file.

    `place` is the number of the submission, row (the header is row 1) or task, counted from 1. `texts` maps columns or
    fields to the texts in the file. `prefilled` is the judge whose errors were prefilled, or None. `fault` is the
    reason why the submission is unreadable, or ''.
    """

    place: int
    item: str
    annotator: str
    texts: Mapping[str, str]
    score: object
    errors: Sequence[Mark]
    prefilled: str | None = None
    fault: str = ""


def read(path: Path) -> list[Submitted]:
    """The last submission of each annotator for each item.

    Raises
    ------
    BadInput
        If no reader can parse the file.
    """
    if path.suffix.lower() == ".csv":
        return list(read_sheet(path))
    content = parsed_json(path, _REMEDY)
    return list((read_label_studio if isinstance(content, list) else read_pearmut)(path, content))


def read_pearmut(path: Path, content: object) -> Iterator[Submitted]:
    """Submissions in a download from Pearmut's dashboard, which has a list for each campaign.

    A submission with Pearmut's reset marker voids the user's earlier submissions. Tutorials, forms and skipped items
    have no `item_id` or no annotation, and are left out.
    """
    if not isinstance(content, dict) or not all(isinstance(entries, list) for entries in content.values()):
        raise BadInput(path, "", "is not an object with a list for each campaign", _REMEDY)
    last: dict[tuple[str, str], Submitted] = {}
    place = 0
    for campaign, entries in content.items():
        of_campaign: dict[tuple[str, str], Submitted] = {}
        for entry in entries:
            place += 1
            try:
                user = str(entry["user_id"])
                if entry["annotation"] == RESET:
                    of_campaign = {key: value for key, value in of_campaign.items() if key[0] != user}
                    continue
                for shown, answer in zip(entry["item"], entry["annotation"], strict=True):
                    if "item_id" in shown and isinstance(answer, dict):
                        of_campaign |= {(user, each.item): each for each in _outputs(place, user, shown, answer)}
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                problem = "is not an annotation from a campaign of `variorum campaign`"
                raise BadInput(path, f"{campaign} {place}", problem, _REMEDY) from error
        last |= of_campaign
    yield from sorted(last.values(), key=lambda submitted: (submitted.place, submitted.item))


def read_sheet(path: Path) -> Iterator[Submitted]:
    """The rows of a spreadsheet that have an answer."""
    for place, row, fault in table_rows(path, (), NEEDED, ANSWERS):
        cells = {name: unguarded(cell).strip() for name, cell in row.items()}
        marks = [_LINE.fullmatch(line) for line in cells.get("errors", "").splitlines() if line.strip()]
        if not fault and not marks and not cells.get("score"):
            continue
        if not all(marks):
            fault = fault or "a line of `errors` is not like `major: words of the candidate`"
        found = [(mark["severity"], mark["category"], mark["words"]) for mark in marks if mark]
        errors = [Mark(severity, category and category.lower(), words) for severity, category, words in found]
        yield Submitted(
            place, cells.get("item", ""), cells.get("annotator", ""), shown_texts(row, ()),
            _number(cells.get("score", "")), errors, fault=fault,
        )  # fmt: skip


def read_label_studio(path: Path, content: object) -> Iterator[Submitted]:
    """Annotations in an export of Label Studio (JSON)."""
    found: list[Submitted] = []
    recipients: set[str] = set()
    for place, task in enumerate(studio_tasks(path, content), start=1):
        if "data" not in task:
            raise BadInput(path, f"task {place}", "has no object `data`", "export it from Label Studio as JSON")
        data = task["data"]
        for account, values in studio_annotations(task, path, place):
            recipients.add(str(data.get("made_for", "")).strip())
            score = next((part.get("number") for part in values.get("score", []) if isinstance(part, dict)), None)
            found.append(
                Submitted(
                    place, str(data.get("item", "")).strip(), account_name(account), shown_texts(data, ()), score,
                    _regions(values),
                )
            )  # fmt: skip
    recipient = only_recipient({each.annotator for each in found}, recipients)
    yield from (each._replace(annotator=recipient or each.annotator) for each in found)


def _outputs(place: int, user: str, shown: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[Submitted]:
    """Split a submission of Pearmut into one for each output that was shown."""
    for name, item in shown["outputs"].items():
        if name not in answer:
            continue  # dynamic campaigns show some of the outputs
        spans = answer[name].get("error_spans")
        fault = "" if isinstance(spans, list) else "error_spans is not a list"
        errors = [_pearmut_mark(span) for span in spans] if isinstance(spans, list) else []
        texts = {"candidate": shown["tgt"][name]}
        score = answer[name].get("score")
        yield Submitted(place, str(item), user, texts, score, errors, shown.get("prefilled"), fault)


def _pearmut_mark(span: Any) -> Mark:
    fields = span if isinstance(span, dict) else {}
    category = fields.get("category")
    main, _, sub = str(category).partition("/")
    category = main if sub == main else category  # Pearmut repeats a category without subcategories
    return Mark(fields.get("severity"), category, Units(fields.get("start_i"), fields.get("end_i")))


def _regions(values: Mapping[str, list[Any]]) -> list[Mark]:
    """Errors of an annotation in Label Studio: regions with a severity and optional category, and omissions."""
    parts = {name: [part for part in own if isinstance(part, dict)] for name, own in values.items()}
    categories = {(part.get("start"), part.get("end")): _first(part, "choices") for part in parts.get("category", [])}
    errors = [
        Mark(
            _first(part, "labels"), categories.get((part.get("start"), part.get("end"))),
            Marked(part.get("start"), part.get("end"), str(part.get("text") or "")),
        )
        for part in parts.get("severity", [])
    ]  # fmt: skip
    return errors + [Mark(_first(part, "choices"), None, MISSING) for part in parts.get("omission", [])]


def _first(part: Mapping[str, Any], name: str) -> str | None:
    """The first word of a choice, in lower case."""
    words = part.get(name)
    return str(words[0]).lower() if isinstance(words, list) and words else None


def _number(cell: str) -> object:
    """The number in a cell, with a decimal point or comma; the cell itself if it is not a number."""
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return cell
