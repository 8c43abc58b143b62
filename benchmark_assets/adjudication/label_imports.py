"""Import of people's labels: readers of label files, checks, and storage in the warehouse.

Here: spreadsheets (CSV), exports of Label Studio (JSON, JSON-MIN), and the quarantine of rows that fail a check. Not
here: export of the sample (annotation), validation of a judgement (labels), matching labels with current outputs
(human_label).

A reader is a function from a path to answers, chosen by the file's ending. A file that its reader cannot parse is
refused as a whole. Invalid rows of a readable file are quarantined individually.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication.annotation import ABSENT, ANSWERS
from benchmark_assets.adjudication.annotators import first_spellings, same_name
from benchmark_assets.adjudication.labels import ERRORS, SEVERITIES, Judgement, read_judgement
from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.unknown_keys import IMPORTED, unknown_keys
from benchmark_assets.references.texts import complete_texts
from resources.digest import digest
from resources.errors import BadInput, one_of, raise_all
from resources.harmless import unguarded
from resources.warehouse import Replacement, Warehouse

UNKNOWN_ITEM = "no current output has this item; the output may have changed"
NO_ANNOTATOR = "the annotator is missing"
TWICE = "this annotator gives the item two different labels in this file"
NO_SPAN = "the error span is not in the candidate"
NO_HARM = SEVERITIES[0]
"""Severity of an output without an error."""

NEEDED = ("item", "label", "error_category", "severity")
"""Columns that every sheet of labels must have."""

SOURCES = ("source", "source_text")
"""Names of the field that contains the source. The first name is used in sheets, and in tasks of earlier versions; the
second one is used in current tasks."""

SHOWN = ("item", "made_for", "place", *SOURCES, "candidate")
"""Fields of an item, without its references. They are columns in a sheet, and fields of a task in Label Studio. `place`
is not read."""

STUDIO = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
"""Keys that Label Studio adds to each task in JSON-MIN. Only `annotator` is read."""

_REFERENCE = re.compile(r"reference[ _].*", re.DOTALL)
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


class Marked(NamedTuple):
    """An error span as exported by Label Studio: start, end, and text ('' if it is missing)."""

    start: object
    end: object
    text: str


class Answer(NamedTuple):
    """One annotator's answer about one item, as in the file; `annotator` is '' if the file does not name one.

    `place` is the number of the row (the header is row 1) or of the task (from 1). `fields` maps names in `ANSWERS` to
    values. `span` is a marked span, a phrase of the candidate, or '' if there is none. `fault` is the reason why the
    answer is unreadable, or ''. `texts` maps columns or fields to the texts in the file; blank and ignored texts are
    left out.
    """

    place: int
    item: str
    annotator: str
    fields: Mapping[str, str]
    span: str | Marked
    fault: str = ""
    texts: Mapping[str, str] = MappingProxyType({})


class Candidate(NamedTuple):
    """A current output or a control item, with the source and the complete references of its passage.

    `source` is None if the passage is no longer in the files.
    """

    passage: str
    text: str
    source: str | None
    references: Collection[str]


class Answers(NamedTuple):
    """The answers in a file. `open` is the number of rows or tasks that are not yet labeled."""

    answers: list[Answer]
    open: int


class LabelCounts(NamedTuple):
    """Numbers of labels and rows in an imported file.

    `taken` counts new labels, `unchanged` labels that were imported before, and `replaced` labels that replace an
    earlier one. `open` counts rows that are not yet labeled, `quarantined` rows that failed a check.

    `respelled` maps names to an earlier spelling that differs only in case or white space. Labels are stored under the
    earlier spelling.
    """

    taken: int
    unchanged: int
    replaced: int
    open: int
    quarantined: int
    respelled: Mapping[str, str] = MappingProxyType({})


def import_labels(
    warehouse: Warehouse, paths: Sequence[Path], annotator: str | None = None, ignore: Collection[str] = ()
) -> list[LabelCounts]:
    """Import labels from files, in order. A label replaces the same annotator's earlier label of the item.

    Names of annotators are compared by `same_name`. All labels of a person are stored under the first spelling.

    Parameters
    ----------
    annotator
        The annotator to whom all labels are attributed, regardless of names in the files.
    ignore
        Columns, fields and controls that are not read.

    Returns
    -------
    Counts for each file. Rows that fail a check are stored in `label_quarantine` with the reason, until the file is
    imported again, or another file provides a label of the item by the same annotator.

    Raises
    ------
    BadInput
        If a file is neither a sheet of labels nor an export of Label Studio, has unknown columns, fields or controls,
        or has labels by several annotators although `annotator` is given. Nothing is stored then.
    """
    parsed = [_parsed(path, annotator, ignore) for path in paths]
    with warehouse.exclusively():  # no output may change between the check and the write
        known = candidates(warehouse, {answer.item for answers in parsed for answer in answers.answers})
        return [_import(warehouse, path, answers, known) for path, answers in zip(paths, parsed, strict=True)]


def read_sheet(path: Path, ignore: Collection[str] = ()) -> Answers:
    """Read a spreadsheet: CSV in UTF-8, separated by commas, semicolons or tabs, with columns in any order."""
    answers, unlabeled = [], 0
    for place, row, fault in table_rows(path, ignore, NEEDED, ANSWERS):
        fields = {name: unguarded(row.get(name, "")).strip() for name in ANSWERS}
        if not fault and not any(fields.values()):
            unlabeled += 1
            continue
        item, annotator = (unguarded(row.get(name, "")).strip() for name in ("item", "annotator"))
        texts = shown_texts(row, {name.casefold() for name in ignore})
        answers.append(Answer(place, item, annotator, fields, fields["error_span"], fault, texts))
    return Answers(answers, unlabeled)


def read_label_studio(path: Path, ignore: Collection[str] = ()) -> Answers:
    """Read an export of Label Studio, JSON or JSON-MIN.

    In tasks with an item, the names of all fields and controls must be known. In JSON, Label Studio adds keys of its
    own around these fields and controls, and each of its versions adds further keys. Of the added keys, only `data`,
    `annotations`, `result`, `from_name`, `value`, `completed_by`, `was_cancelled` and `skipped` are read.

    Skipped and cancelled annotations, drafts and predictions are ignored. Annotators are identified by the e-mail
    address or number of their account. If a file has a single account, identified only by a number, the annotator is
    the person for whom the tasks were exported, because the first account of every installation has the number 1.
    """
    labeled: list[Answer] = []
    recipients: set[str] = set()
    names: dict[str, str] = {}
    unlabeled = 0
    content = parsed_json(path, "export it from Label Studio as JSON")
    for place, task in enumerate(studio_tasks(path, content), start=1):
        data = task.get("data", task)
        annotations = list(studio_annotations(task, path, place)) if "data" in task else [(task.get("annotator"), task)]
        if item := _text(data.get("item")).strip():  # tasks without one are of another project
            controls = [name for _, values in annotations for name in values if name]
            names = dict.fromkeys([*data, *controls], f"task {place}") | names
        texts = shown_texts(data, ignore)
        answers = [_answer(place, item, account, values, texts) for account, values in annotations]
        with_label = [answer for answer in answers if answer.fault or answer.span or any(answer.fields.values())]
        unlabeled += not with_label
        recipients |= {_text(data.get("made_for")).strip() for _ in with_label}
        labeled += with_label
    check_names(path, names, (*ignore, *STUDIO), ANSWERS)
    recipient = only_recipient({answer.annotator for answer in labeled}, recipients)
    if recipient:
        labeled = [answer._replace(annotator=recipient) for answer in labeled]
    return Answers(labeled, unlabeled)


def only_recipient(accounts: set[str], recipients: set[str]) -> str:
    """The person for whom all tasks were exported, if only one account answered and its name is a number; else ''."""
    if len(accounts) == len(recipients) == 1 and not min(accounts).strip("0123456789"):
        return min(recipients)
    return ""


READERS: Mapping[str, Callable[[Path, Collection[str]], Answers]] = {".csv": read_sheet, ".json": read_label_studio}


def phrase_span(phrase: str, candidate: str) -> tuple[int, int]:
    """Start and end, in characters, of the first occurrence of a phrase.

    Differences in case and white space are ignored only if there is no exact occurrence. Raises ValueError if there is
    no occurrence at all.
    """
    if (start := candidate.find(phrase)) >= 0:
        return start, start + len(phrase)
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    if match := re.search(words, candidate, re.IGNORECASE):
        return match.span()
    raise ValueError(NO_SPAN)


def marked_span(marked: Marked, candidate: str) -> tuple[int, int]:
    """Start and end, in characters, of a span marked in Label Studio.

    Notes
    -----
    Label Studio counts code points, as Python does. Its versions of 2021 counted UTF-16 code units, two for a character
    beyond U+FFFF (HumanSignal/label-studio, issues 1008 and 1347). The text of the span shows which unit applies; line
    breaks in it may be missing, or written as a backslash and an n. Without a text, code points are assumed, unless the
    span would extend beyond the candidate.

    Raises
    ------
    ValueError
        If the candidate's text at the span differs, or the span extends beyond the candidate.
    """
    start, end, text = marked
    if not isinstance(start, int) or not isinstance(end, int):
        raise ValueError("the error span has no position in the candidate")  # noqa: TRY004 - a fault of the file
    places = [(start, end), (characters(candidate, start), characters(candidate, end))]
    inside = [(first, last) for first, last in places if 0 <= first < last <= len(candidate)]
    for normalize in (str, _squeezed):
        for first, last in inside:
            if not text.strip() or normalize(candidate[first:last]) == normalize(text):
                return first, last
    raise ValueError(NO_SPAN)


def candidates(warehouse: Warehouse, items: Collection[str]) -> dict[str, Candidate]:
    """The current outputs and control items that have these keys, by key."""
    controls = warehouse.read("control_item", pl.DataFrame({"item": [*items]}, schema={"item": pl.String}))
    texts = {item: (passage, text) for item, passage, text in controls.select("item", "passage", "text").iter_rows()}
    outputs = warehouse.read("model_output", columns=["model", "passage", "text"])
    texts |= {item: row[1:] for row in outputs.iter_rows() if (item := item_key(*row)) in items}
    passages = pl.DataFrame({"passage": [passage for passage, _ in texts.values()]}, schema={"passage": pl.String})
    sources = dict(warehouse.read("source_text", passages.unique(), ["passage", "text"]).iter_rows())
    references = complete_texts(warehouse, passages.unique())
    return {
        item: Candidate(passage, text, sources.get(passage), list(references.get(passage, {}).values()))
        for item, (passage, text) in texts.items()
    }


def characters(text: str, units: int) -> int:
    """Convert an offset in UTF-16 code units to characters; -1 if it is outside the text."""
    encoded = text.encode("utf-16-le")
    if not 0 <= 2 * units <= len(encoded):
        return -1
    return len(encoded[: 2 * units].decode("utf-16-le", "replace"))


def _parsed(path: Path, annotator: str | None, ignore: Collection[str]) -> Answers:
    if path.suffix.lower() not in READERS:
        raise BadInput(path, "", "has an unknown ending", f"give a file that ends in {one_of(sorted(READERS))}")
    answers, unlabeled = READERS[path.suffix.lower()](path, ignore)
    if annotator is not None:
        names = {same_name(answer.annotator): answer.annotator for answer in answers if answer.annotator}
        if len(names) > 1:
            problem = f"has labels by several annotators: {', '.join(sorted(names.values()))}"
            raise BadInput(path, "", problem, "import it without naming an annotator")
        answers = [answer._replace(annotator=annotator.strip()) for answer in answers]
    return Answers(answers, unlabeled)


def _import(warehouse: Warehouse, path: Path, parsed: Answers, known: Mapping[str, Candidate]) -> LabelCounts:
    """Store the new and changed labels of a file, each under the first spelling of its annotator's name."""
    labeled = warehouse.read("imported_label", columns=["annotator", "updated_at"]).sort("updated_at", "annotator")
    names = [answer.annotator for answer in parsed.answers if answer.annotator]
    spellings = first_spellings(names, labeled["annotator"])
    answers = [answer._replace(annotator=spellings.get(answer.annotator, "")) for answer in parsed.answers]
    counts = _store(warehouse, path, parsed._replace(answers=answers), known)
    return counts._replace(respelled={name: first for name, first in spellings.items() if name != first})


def _store(warehouse: Warehouse, path: Path, parsed: Answers, known: Mapping[str, Candidate]) -> LabelCounts:
    """Store the new and changed labels of a file, and its quarantined rows."""
    file = str(path.resolve())
    rows, faults = _checked(parsed.answers, known)
    schema = warehouse.empty("imported_label").schema
    labels = pl.DataFrame([row | {"file": file} for row in rows], schema=schema)
    keys = labels.select("item", "annotator")
    person = pl.col("annotator").map_elements(same_name, return_dtype=pl.String)
    previous = warehouse.read("imported_label", keys.select("item"), ["item", "annotator", "fingerprint"])
    previous = previous.with_columns(person=person).join(
        keys.with_columns(person=person), on=["item", "person"], how="semi"
    )
    unchanged = labels.join(previous, on=["item", "annotator", "fingerprint"], how="semi")
    changed = labels.join(unchanged, on=["item", "annotator"], how="anti")
    replaced = changed.with_columns(person=person).join(previous, on=["item", "person"], how="semi")
    earlier = previous.join(unchanged, on=["item", "annotator"], how="anti")  # also under other spellings
    outdated_keys = pl.concat([changed.select(keys.columns), earlier.select(keys.columns)]).unique()

    schema = warehouse.empty("label_quarantine").schema
    quarantined = pl.DataFrame([row | {"file": file} for row in faults], schema=schema).sort("place", "annotator")
    stored = warehouse.read("label_quarantine").select(quarantined.columns)
    settled = stored.filter(pl.col("file") != file).join(keys, on=["item", "annotator"], how="semi")
    outdated = pl.concat([stored.filter(file=file), settled])
    replacements = []
    if len(outdated_keys):
        replacements.append(Replacement("imported_label", changed, outdated_keys))
    if not outdated.sort("file", "place", "annotator").equals(quarantined):
        partitions = pl.concat([outdated, quarantined]).select("file", "place", "annotator").unique()
        replacements.append(Replacement("label_quarantine", quarantined, partitions))
    if replacements:
        warehouse.write(replacements, run_id="import")
    return LabelCounts(len(changed) - len(replaced), len(unchanged), len(replaced), parsed.open, len(faults))


def _checked(
    answers: Iterable[Answer], known: Mapping[str, Candidate]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of `imported_label` and of `label_quarantine`, without the column `file`."""
    results = [(answer, _label(answer, known)) for answer in answers]
    variants: dict[tuple[str, str], set[str]] = {}
    for answer, label in results:
        variant = label if isinstance(label, str) else label["fingerprint"]
        variants.setdefault((answer.item, answer.annotator), set()).add(variant)
    labels: dict[tuple[str, str], dict[str, Any]] = {}
    reasons: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for answer, label in results:
        key = answer.item, answer.annotator
        if isinstance(label, dict) and len(variants[key]) == 1:
            labels[key] = label
        else:
            reason = label if isinstance(label, str) else TWICE
            reasons.setdefault((answer.place, answer.annotator), []).append((answer.item, reason))
    faults = []
    for (place, annotator), pairs in reasons.items():
        reason = "; ".join(dict.fromkeys(text for _, text in pairs))
        item = pairs[0][0]
        faults.append(
            {"place": place, "item": item, "annotator": annotator, "reason": reason,
             "fingerprint": digest(item, annotator, reason)}
        )  # fmt: skip
    return list(labels.values()), faults


def _label(answer: Answer, known: Mapping[str, Candidate]) -> dict[str, Any] | str:
    """The row of an answer in `imported_label`, or the reason for its quarantine."""
    candidate = known.get(answer.item)
    if candidate is None:
        return UNKNOWN_ITEM if answer.item else "the item is missing"
    if not answer.annotator:
        return NO_ANNOTATOR
    if answer.fault:
        return answer.fault
    if fault := altered(answer.texts, candidate):
        return fault
    try:
        judgement = read_judgement(answer.fields, confidence_needed=False)
        _check_severity(judgement)
        start, end = _span(answer.span, candidate.text)
    except ValueError as fault:
        return str(fault)
    notes = answer.fields.get("notes", "")
    label = {**judgement._asdict(), "notes": notes, "span_start": start, "span_end": end}
    fingerprint = digest(*label.values())
    key = {"item": answer.item, "annotator": answer.annotator, "passage": candidate.passage, "place": answer.place}
    return {**key, **label, "fingerprint": fingerprint}


def _check_severity(judgement: Judgement) -> None:
    """Raise ValueError unless labels of errors have a severity other than `none`, and all other labels have `none`."""
    if (judgement.label in ERRORS) == (judgement.severity == NO_HARM):
        raise ValueError(f"severity {judgement.severity} is not allowed with label {judgement.label}")


def altered(texts: Mapping[str, str], candidate: Candidate) -> str:
    """The reason to quarantine an answer because a text in its file was altered; '' if all texts match the warehouse.

    Spreadsheets change line breaks and add or remove spaces; such differences are ignored. A reference is compared with
    all references of the passage, because tasks have numbers in place of translators.
    """
    if "candidate" in texts and not _alike(texts["candidate"], candidate.text):
        return "the candidate was altered in the file; restore it"
    for name, text in texts.items():
        current = candidate.references if _REFERENCE.fullmatch(name) else [candidate.source or text]
        if name != "candidate" and not any(_alike(text, other) for other in current):
            return (
                f"{name!r} was altered in the file, or has changed since the export; restore it or, if the label holds "
                f"for the current text, add --ignore {name!r}"
            )
    return ""


def _alike(shown: str, text: str) -> bool:
    """Whether the text `shown` in a file equals `text`, apart from white space and a guard (see harmless.guarded)."""
    squeezed = "".join(unicodedata.normalize("NFC", _storable(text)).split())
    return squeezed in ("".join(unicodedata.normalize("NFC", form).split()) for form in (shown, unguarded(shown)))


def shown_texts(fields: Mapping[str, Any], ignore: Collection[str]) -> dict[str, str]:
    """The texts of an item in a row or a task, by column or field."""
    texts = {name: _text(value).strip() for name, value in fields.items() if name not in ignore}
    return {
        name: text for name, text in texts.items()
        if (name in ("candidate", *SOURCES) or _REFERENCE.fullmatch(name)) and text not in ("", ABSENT)
    }  # fmt: skip


def _span(span: str | Marked, candidate: str) -> tuple[int, int] | tuple[None, None]:
    if isinstance(span, Marked):
        return marked_span(span, candidate)
    return phrase_span(span, candidate) if span else (None, None)


def check_names(
    path: Path, places: Mapping[str, str], ignore: Collection[str], answers: Sequence[str], kind: str = "key"
) -> None:
    """Raise BadInput for unknown columns, fields and controls.

    `places` maps names to their places in the file; `answers` are the names that annotators fill in.
    """
    ours = {_storable(name): place for name, place in places.items() if not _REFERENCE.fullmatch(name)}
    raise_all(unknown_keys(path, ours, ("annotator", *SHOWN, *answers), IMPORTED, ignore, kind))


def table_rows(
    path: Path, ignore: Collection[str], needed: Sequence[str], answers: Sequence[str]
) -> Iterable[tuple[int, dict[str, str], str]]:
    """Each non-empty row of a CSV file: row number, cells by column name, and fault ('' if none).

    Parameters
    ----------
    ignore
        Columns that are not read.
    needed
        Columns that the file must have.
    answers
        Columns that annotators fill in.

    Raises
    ------
    BadInput
        If the file is not CSV, lacks a needed column, has an unknown column, or has a column twice.
    """
    text = decode(path)
    try:
        rows = next((rows for separator in ",;\t" if (rows := _rows(text, separator, needed)) is not None), None)
    except csv.Error as error:
        raise BadInput(path, "", f"is not valid CSV ({error})", "save the spreadsheet as CSV") from error
    if rows is None:
        problem = f"lacks the columns {', '.join(needed)}"
        raise BadInput(path, "row 1", problem, "give a sheet from `variorum annotate`")
    header = _header(rows[0])
    for name in ("item", "annotator", *answers):
        if header.count(name) > 1:
            raise BadInput(path, "row 1", f"has the column {name} twice", "delete one of them")
    names = {name: "row 1" for name in header if name}
    check_names(path, names, [name.casefold() for name in ignore], answers, "column")
    for place, row in enumerate(rows[1:], start=2):
        if any(cell.strip() for cell in row):
            fault = "the row has more cells than the header" if any(row[len(header) :]) else ""
            yield place, dict(zip(header, row, strict=False)), fault


def _rows(text: str, separator: str, needed: Sequence[str]) -> list[list[str]] | None:
    """The rows of a CSV text; None if a needed column is missing from the header when it is split at `separator`."""
    header = next(csv.reader(io.StringIO(text), delimiter=separator), [])
    if not set(needed) <= set(_header(header)):
        return None
    return list(csv.reader(io.StringIO(text), delimiter=separator, strict=True))


def _header(row: Iterable[str]) -> list[str]:
    return [unguarded(cell).strip().casefold() for cell in row]


def parsed_json(path: Path, remedy: str) -> Any:
    """The content of a JSON file. Raises BadInput with a remedy if it is not valid."""
    try:
        return json.loads(decode(path))
    except (ValueError, RecursionError) as error:
        raise BadInput(path, "", f"is not valid JSON ({error})", remedy) from error


def studio_tasks(path: Path, content: Any) -> list[dict[str, Any]]:
    """The tasks in the content of an export. Raises BadInput if no task has an item."""
    if not isinstance(content, list) or not all(isinstance(task, dict) for task in content):
        raise BadInput(path, "", "is not a list of tasks", "export it from Label Studio as JSON or JSON-MIN")
    data = [task.get("data", task) for task in content]
    if not any(_text(fields.get("item")).strip() for fields in data if isinstance(fields, dict)):
        raise BadInput(path, "", "has no task with an item", "give an export of tasks from `variorum annotate`")
    for place, task in enumerate(content, start=1):
        if not isinstance(task.get("data", {}), dict):
            raise BadInput(path, f"task {place}", "has no object `data`", "export it from Label Studio as JSON")
    return content


def studio_annotations(
    task: Mapping[str, Any], path: Path, place: int
) -> Iterable[tuple[object, dict[str, list[Any]]]]:
    """Yield the account and the values of each annotation of a task; values are keyed by control, as in JSON-MIN."""
    for annotation in task.get("annotations") or []:
        try:
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                continue
            values: dict[str, list[Any]] = {}
            for part in annotation["result"]:
                values.setdefault(part.get("from_name", ""), []).append(part.get("value"))
            yield annotation.get("completed_by"), values
        except (AttributeError, KeyError, TypeError) as error:
            raise BadInput(
                path, f"task {place}", "has an unknown kind of annotation", "export it from Label Studio as JSON"
            ) from error


def _answer(place: int, item: str, account: object, values: Mapping[str, Any], texts: Mapping[str, str]) -> Answer:
    """Convert an annotation to an answer."""
    fields, faults = {}, []
    for name in ANSWERS[:4]:
        choices = _texts(values.get(name), "choices")
        fields[name] = choices[0] if choices else ""
        if len(choices) > 1:
            faults.append(f"{name} has {len(choices)} values")
    fields["notes"] = "\n".join(_texts(values.get("notes"), "text"))
    spans = [part for part in _parts(values.get("error_span")) if isinstance(part, dict)]
    if len(spans) > 1:
        faults.append("more than one error span is marked")
    span = Marked(spans[0].get("start"), spans[0].get("end"), _text(spans[0].get("text"))) if spans else ""
    return Answer(place, item, account_name(account), fields, span, "; ".join(faults), texts)


def account_name(account: object) -> str:
    """Name of an account in an export: an e-mail address or a number, which may be in an object; '' if unknown."""
    if isinstance(account, dict):
        account = account.get("email") or account.get("username") or account.get("id")
    return _storable(str(account)).strip() if isinstance(account, str | int) else ""


def _texts(value: object, key: str) -> list[str]:
    """The texts in a control's value, which is a text, a list of texts, or a list of objects with texts under `key`."""
    parts = [text for part in _parts(value) for text in _parts(part.get(key) if isinstance(part, dict) else part)]
    return [_storable(text).strip() for text in parts if isinstance(text, str) and text.strip()]


def _parts(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: object) -> str:
    return _storable(value) if isinstance(value, str) else ""


def _storable(text: str) -> str:
    """Replace lone surrogates, which browsers may leave in a text and tables cannot store, and NUL, as sheets do."""
    return _UNSTORABLE.sub("\ufffd", text)


def _squeezed(text: str) -> str:
    """The text without white space and without line breaks that are written as a backslash and an n."""
    return "".join(text.replace("\\n", "").split())
