"""Labels that people gave: readers of the files in which they come back, and their way into the warehouse.

Here: the spreadsheet (CSV) and Label Studio's exports (JSON, JSON-MIN), what of them fits, what is set aside and why.
Not here: how they go out (annotation), what makes a judgement whole (labels), to which outputs labels belong
(human_label).

A reader is one function from a path to answers, chosen by the file's ending. From a file that is none of these nothing
is taken; a row that does not fit is set aside alone.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication.annotation import ANSWERS, unguarded
from benchmark_assets.adjudication.labels import read_judgement
from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.corpus.readers.characters import decode
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

UNKNOWN_ITEM = "no output has this item now: it may have changed since"
NO_ANNOTATOR = "the annotator is missing"
TWICE = "this annotator labels the item twice in this file, and not alike"
NO_SPAN = "the error span does not stand in the candidate"

NEEDED = ("item", "label", "error_category", "severity")
"""Columns without which a table is no sheet of labels."""

_HALF = re.compile(r"[\ud800-\udfff]")


class Marked(NamedTuple):
    """An error span as Label Studio has it: where it begins and ends, and the words there, '' where it does not say."""

    start: object
    end: object
    text: str


class Answer(NamedTuple):
    """What one annotator says of one item, as the file has it; `annotator` '' where it does not say.

    `place` is the row of the table, its header being the first, or the task, counted from 1. `fields` has what it says
    by the names of ANSWERS; the span is a phrase of the candidate, '' for none, or marked. `fault` is what keeps it
    from being read, '' for nothing.
    """

    place: int
    item: str
    annotator: str
    fields: Mapping[str, str]
    span: str | Marked
    fault: str = ""


class Answers(NamedTuple):
    """What a file holds; `open` counts what nobody has labelled yet."""

    given: list[Answer]
    open: int


class LabelCounts(NamedTuple):
    """What became of a file: labels `taken` for the first time, `unchanged` and `replaced`; rows that are still `open`,
    and those that do not fit."""

    taken: int
    unchanged: int
    replaced: int
    open: int
    quarantined: int


def import_labels(warehouse: Warehouse, paths: Sequence[Path], annotator: str | None = None) -> list[LabelCounts]:
    """Take in the labels of files, one after the other: a label replaces what its annotator said of the item before.

    Parameters
    ----------
    annotator
        Who gave the labels, where the files do not say so, or under another name.

    Returns
    -------
    Counts of each file. What does not fit stands in `label_quarantine` with the reason, until the file is imported
    again, or another brings a label of the same annotator for the item.

    Raises
    ------
    BadInput
        For a file that is no sheet of labels and no export of Label Studio, or has several annotators where one is
        named: before anything is stored.
    """
    read = [_read(path, annotator) for path in paths]
    with warehouse.exclusively():  # no output changes between a look at it and the write
        outputs = warehouse.read("model_output", columns=["model", "passage", "text"])
        candidates = {item_key(*row): row[2] for row in outputs.iter_rows()}
        return [_store(warehouse, path, answers, candidates) for path, answers in zip(paths, read, strict=True)]


def read_sheet(path: Path) -> Answers:
    """The spreadsheet: CSV in UTF-8, columns separated by commas, semicolons or tabs, in any order."""
    given, waiting = [], 0
    for place, row, fault in _table(path):
        fields = {name: unguarded(row.get(name, "")).strip() for name in ANSWERS}
        if not fault and not any(fields.values()):
            waiting += 1
            continue
        item, annotator = (unguarded(row.get(name, "")).strip() for name in ("item", "annotator"))
        given.append(Answer(place, item, annotator, fields, fields["error_span"], fault))
    return Answers(given, waiting)


def read_label_studio(path: Path) -> Answers:
    """An export of Label Studio, JSON or JSON-MIN.

    What was skipped or cancelled, drafts and predictions count for nothing. An account is known by its e-mail address
    or number; one that is alone in the file and known by its number only, by the name that the tasks were made for,
    since the first account of every Label Studio is 1.
    """
    tasks = _tasks(path)
    given: list[Answer] = []
    made_for: set[str] = set()
    waiting = 0
    for place, task in enumerate(tasks, start=1):
        shown = task.get("data", task)
        annotations = _annotations(task, path, place) if "data" in task else [(task.get("annotator"), task)]
        found = [_answer(place, _text(shown.get("item")).strip(), account, said) for account, said in annotations]
        labelled = [answer for answer in found if answer.fault or answer.span or any(answer.fields.values())]
        waiting += not labelled
        made_for |= {_text(shown.get("made_for")).strip() for _ in labelled}
        given += labelled
    accounts = {answer.annotator for answer in given}
    if len(accounts) == len(made_for) == 1 and not accounts.pop().strip("0123456789"):
        (name,) = made_for
        given = [answer._replace(annotator=name or answer.annotator) for answer in given]
    return Answers(given, waiting)


READERS: Mapping[str, Callable[[Path], Answers]] = {".csv": read_sheet, ".json": read_label_studio}


def phrase_span(phrase: str, candidate: str) -> tuple[int, int]:
    """Where a copied phrase first stands in a text: as it is, else with other capitals or white space.

    Raises
    ------
    ValueError
        Where it does not.
    """
    if (start := candidate.find(phrase)) >= 0:
        return start, start + len(phrase)
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    if found := re.search(words, candidate, re.IGNORECASE):
        return found.span()
    raise ValueError(NO_SPAN)


def marked_span(marked: Marked, candidate: str) -> tuple[int, int]:
    """Where a span that was marked in Label Studio stands, in characters.

    Notes
    -----
    Label Studio counts code points, as Python does; its versions of 2021 counted UTF-16 code units, of which a
    character beyond U+FFFF has two (HumanSignal/label-studio, issues 1008 and 1347). The words tell which. In them a
    line break may be missing, or be a backslash and an n. Without words they are code points, if these lie inside.

    Raises
    ------
    ValueError
        Where other words stand there, or nothing.
    """
    start, end, text = marked
    if not isinstance(start, int) or not isinstance(end, int):
        raise ValueError("the error span has no place in the candidate")  # noqa: TRY004 - a fault of the file
    places = [(start, end), (_characters(candidate, start), _characters(candidate, end))]
    inside = [(first, last) for first, last in places if 0 <= first < last <= len(candidate)]
    for alike in (str, _squeezed):
        for first, last in inside:
            if not text.strip() or alike(candidate[first:last]) == alike(text):
                return first, last
    raise ValueError(NO_SPAN)


def _read(path: Path, annotator: str | None) -> Answers:
    if path.suffix.lower() not in READERS:
        raise BadInput(path, "", "has an unknown ending", f"give one of {sorted(READERS)}")
    given, waiting = READERS[path.suffix.lower()](path)
    if annotator is not None:
        if len(names := {answer.annotator for answer in given} - {""}) > 1:
            raise BadInput(
                path, "", f"has labels of {', '.join(sorted(names))}", "import it without a name of your own"
            )
        given = [answer._replace(annotator=annotator.strip()) for answer in given]
    return Answers(given, waiting)


def _store(warehouse: Warehouse, path: Path, answers: Answers, candidates: Mapping[str, str]) -> LabelCounts:
    """Write what is new of a file: labels, and what is set aside."""
    file = str(path.resolve())
    good, faults = _judged(answers.given, candidates)
    schema = warehouse.empty("imported_label").schema
    labels = pl.DataFrame([row | {"file": file} for row in good], schema=schema)
    keys = labels.select("item", "annotator")
    known = warehouse.read("imported_label", keys, ["item", "annotator", "fingerprint"])
    unchanged = labels.join(known, on=["item", "annotator", "fingerprint"], how="semi")
    changed = labels.join(unchanged, on=["item", "annotator"], how="anti")
    replaced = changed.join(known, on=["item", "annotator"], how="semi")

    schema = warehouse.empty("label_quarantine").schema
    aside = pl.DataFrame([row | {"file": file} for row in faults], schema=schema).sort("place", "annotator")
    stored = warehouse.read("label_quarantine").select(aside.columns)
    settled = stored.filter(pl.col("file") != file).join(keys, on=["item", "annotator"], how="semi")
    outdated = pl.concat([stored.filter(file=file), settled])
    replacements = []
    if len(changed):
        replacements.append(Replacement("imported_label", changed, changed.select("item", "annotator")))
    if not outdated.sort("file", "place", "annotator").equals(aside):
        partitions = pl.concat([outdated, aside]).select("file", "place", "annotator").unique()
        replacements.append(Replacement("label_quarantine", aside, partitions))
    if replacements:
        warehouse.write(replacements, run_id="import")
    return LabelCounts(len(changed) - len(replaced), len(unchanged), len(replaced), answers.open, len(faults))


def _judged(
    given: Iterable[Answer], candidates: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of `imported_label` and of `label_quarantine`, without their file."""
    read = [(answer, _label(answer, candidates)) for answer in given]
    said: dict[tuple[str, str], list[object]] = {}
    for answer, label in read:
        said.setdefault((answer.item, answer.annotator), []).append(label)
    labels: dict[tuple[str, str], dict[str, Any]] = {}
    reasons: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for answer, label in read:
        key = answer.item, answer.annotator
        if isinstance(label, dict) and all(other == label for other in said[key]):
            labels[key] = label
        else:
            reason = label if isinstance(label, str) else TWICE
            reasons.setdefault((answer.place, answer.annotator), []).append((answer.item, reason))
    faults = []
    for (place, annotator), own in reasons.items():
        reason = "; ".join(dict.fromkeys(each for _, each in own))
        item = own[0][0]
        faults.append(
            {"place": place, "item": item, "annotator": annotator, "reason": reason,
             "fingerprint": digest(item, annotator, reason)}
        )  # fmt: skip
    return list(labels.values()), faults


def _label(answer: Answer, candidates: Mapping[str, str]) -> dict[str, Any] | str:
    """The row of an answer, or why it does not fit."""
    candidate = candidates.get(answer.item)
    if candidate is None:
        return UNKNOWN_ITEM if answer.item else "the item is missing"
    if not answer.annotator:
        return NO_ANNOTATOR
    if answer.fault:
        return answer.fault
    try:
        judgement = read_judgement(answer.fields, confidence_needed=False)
        start, end = _span(answer.span, candidate)
    except ValueError as fault:
        return str(fault)
    label = {
        **judgement._asdict(), "notes": answer.fields.get("notes", ""), "span_start": start, "span_end": end
    }  # fmt: skip
    return {"item": answer.item, "annotator": answer.annotator, **label, "fingerprint": digest(*label.values())}


def _span(span: str | Marked, candidate: str) -> tuple[int, int] | tuple[None, None]:
    if isinstance(span, Marked):
        return marked_span(span, candidate)
    return phrase_span(span, candidate) if span else (None, None)


def _table(path: Path) -> Iterable[tuple[int, dict[str, str], str]]:
    """Number, cells by the names in the header, and fault of each row of a CSV file that is not empty."""
    text = decode(path)
    try:
        rows = next((rows for mark in ",;\t" if (rows := _rows(text, mark)) is not None), None)
    except csv.Error as error:
        raise BadInput(path, "", f"is no CSV ({error})", "save it as CSV from the spreadsheet") from error
    if rows is None:
        raise BadInput(path, "row 1", f"does not name the columns {', '.join(NEEDED)}", "give a sheet of labels")
    header = _header(rows[0])
    for name in ("item", "annotator", *ANSWERS):
        if header.count(name) > 1:
            raise BadInput(path, "row 1", f"names the column {name} twice", "keep one of them")
    for place, row in enumerate(rows[1:], start=2):
        if any(cell.strip() for cell in row):
            beyond = "the row has more cells than the header" if any(row[len(header) :]) else ""
            yield place, dict(zip(header, row, strict=False)), beyond


def _rows(text: str, mark: str) -> list[list[str]] | None:
    """Rows of a table whose cells are separated by `mark`; None where its header is none of ours."""
    header = next(csv.reader(io.StringIO(text), delimiter=mark), [])
    if not set(NEEDED) <= set(_header(header)):
        return None
    return list(csv.reader(io.StringIO(text), delimiter=mark, strict=True))


def _header(row: Iterable[str]) -> list[str]:
    return [unguarded(cell).strip().casefold() for cell in row]


def _tasks(path: Path) -> list[dict[str, Any]]:
    """Tasks of an export, of which at least one has an item."""
    try:
        content = json.loads(decode(path))
    except (ValueError, RecursionError) as error:
        raise BadInput(path, "", f"is no JSON ({error})", "export it from Label Studio as JSON") from error
    if not isinstance(content, list) or not all(isinstance(task, dict) for task in content):
        raise BadInput(path, "", "is no list of tasks", "export it from Label Studio as JSON or JSON-MIN")
    if not any(_text(each.get("item")).strip() for task in content if isinstance(each := task.get("data", task), dict)):
        raise BadInput(path, "", "has no task with an item", "give an export of the tasks of `variorum annotate`")
    for place, task in enumerate(content, start=1):
        if not isinstance(task.get("data", {}), dict):
            raise BadInput(path, f"task {place}", "has no object `data`", "export it from Label Studio as JSON")
    return content


def _annotations(task: Mapping[str, Any], path: Path, place: int) -> Iterable[tuple[object, dict[str, list[Any]]]]:
    """Who annotated a task, and the values by control, as JSON-MIN has them."""
    for annotation in task.get("annotations") or []:
        try:
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                continue
            said: dict[str, list[Any]] = {}
            for part in annotation["result"]:
                said.setdefault(part.get("from_name", ""), []).append(part.get("value"))
            yield annotation.get("completed_by"), said
        except (AttributeError, KeyError, TypeError) as error:
            raise BadInput(
                path, f"task {place}", "has an annotation of another form", "export it from Label Studio as JSON"
            ) from error


def _answer(place: int, item: str, account: object, said: Mapping[str, Any]) -> Answer:
    """An annotation as an answer; `account` is a number, an e-mail address, or an object that has one."""
    if isinstance(account, dict):
        account = account.get("email") or account.get("username") or account.get("id")
    fields, faults = {}, []
    for name in ANSWERS[:4]:
        chosen = _texts(said.get(name), "choices")
        fields[name] = chosen[0] if chosen else ""
        if len(chosen) > 1:
            faults.append(f"{name} has {len(chosen)} values")
    fields["notes"] = "\n".join(_texts(said.get("notes"), "text"))
    spans = [part for part in _parts(said.get("error_span")) if isinstance(part, dict)]
    if len(spans) > 1:
        faults.append("more than one error span is marked")
    span = Marked(spans[0].get("start"), spans[0].get("end"), _text(spans[0].get("text"))) if spans else ""
    name = str(account) if isinstance(account, str | int) else ""
    return Answer(place, item, _whole(name).strip(), fields, span, "; ".join(faults))


def _texts(said: object, key: str) -> list[str]:
    """Texts that a control gave: one, several, or objects that hold them under a key."""
    found = [each for part in _parts(said) for each in _parts(part.get(key) if isinstance(part, dict) else part)]
    return [_whole(each).strip() for each in found if isinstance(each, str) and each.strip()]


def _parts(said: object) -> list[Any]:
    return said if isinstance(said, list) else [said]


def _text(value: object) -> str:
    return _whole(value) if isinstance(value, str) else ""


def _whole(text: str) -> str:
    """A text without halves of characters (surrogates), which a browser can leave and no table can hold."""
    return _HALF.sub("\ufffd", text)


def _characters(text: str, units: int) -> int:
    """How many characters so many UTF-16 code units of a text are; what lies outside of it stays outside."""
    whole = text.encode("utf-16-le")
    if not 0 <= 2 * units <= len(whole):
        return -1
    return len(whole[: 2 * units].decode("utf-16-le", "replace"))


def _squeezed(text: str) -> str:
    return "".join(text.replace("\\n", "").split())
