"""Import of people's answers about the sample: readers of files, checks, and storage in the warehouse.

Here: the texts that an answer must be about, and the quarantine of answers that fail a check. Not here: what a form
allows (form), the layout of files (sheets, label_studio, pearmut), matching answers with current outputs (applicable).

A file that its reader cannot parse is refused as a whole. Invalid answers in a readable file are quarantined
individually.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.people import label_studio, pearmut, sheets
from benchmark_assets.people.closeness import near
from benchmark_assets.people.controls import SOUND, second_key
from benchmark_assets.people.form import CANDIDATE, Answer, Checked, Form, storable
from benchmark_assets.people.forms import FORMS
from benchmark_assets.people.items import SHOWN, SOURCES, is_reference, shown_texts
from benchmark_assets.people.names import first_spellings, known_names, same_name
from benchmark_assets.references.texts import complete_texts
from resources.digest import digest
from resources.errors import BadInput, one_of
from resources.harmless import guarded, unguarded
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse

UNKNOWN_ITEM = "no current output has this item; the output may have changed"
NO_ANNOTATOR = "the annotator is missing"
NO_TEXT = "the file lacks the text of the candidate, which shows that the label belongs to it; restore the column"
TWICE = "this annotator gives the item two different labels in this file"


class Candidate(NamedTuple):
    """A current output or a control item, with the source and the complete references of its passage.

    `source` is None if the passage is no longer in the files. `shown` tells whether an answer must come with the text
    of the candidate: files of corpora with sound checks show it, and answers without it may be sorted apart.
    """

    passage: str
    text: str
    source: str | None
    references: Collection[str]
    shown: bool = False


class Answers(NamedTuple):
    """The answers in a file to a form. `open` is the number of rows or tasks that are not yet answered."""

    form: Form
    answers: list[Answer]
    open: int


class Counts(NamedTuple):
    """Numbers of answers in an imported file.

    `taken` counts new answers, `unchanged` answers that were imported before, and `replaced` answers that replace an
    earlier one. `open` counts rows that are not yet filled in, `quarantined` rows that failed a check.

    `respelled` maps names to an earlier spelling that differs only in case or white space. Answers are stored under the
    earlier spelling.
    """

    taken: int
    unchanged: int
    replaced: int
    open: int
    quarantined: int
    respelled: Mapping[str, str] = MappingProxyType({})


def import_labels(
    warehouse: Warehouse, paths: Sequence[Path], annotator: str | None = None, ignore: Collection[str] = (),
    forms: Sequence[Form] = tuple(FORMS.values()),
) -> list[Counts]:  # fmt: skip
    """Import answers from files, in order. An answer replaces the same annotator's earlier answer about the item.

    Names of annotators are compared by `same_name`. All answers of a person are stored under the first spelling.

    Parameters
    ----------
    annotator
        The annotator to whom all answers are attributed, regardless of names in the files.
    ignore
        Columns, fields and controls that are not read.
    forms
        Forms that the files may answer. The columns or controls of a file tell which one.

    Returns
    -------
    Counts for each file. Answers that fail a check are stored in `label_quarantine` with the reason, until the file is
    imported again, or another file provides an answer about the item by the same annotator.

    Raises
    ------
    BadInput
        If a file is neither a sheet nor an export with answers to a form, has unknown columns, fields or controls, or
        has answers by several annotators although `annotator` is given. Nothing is stored then.
    """
    parsed = [_attributed(path, read(path, forms, ignore), annotator) for path in paths]
    with warehouse.exclusively():  # no output may change between the check and the write
        known = candidates(warehouse, {answer.item for answers in parsed for answer in answers.answers})
        return [_import(warehouse, path, *each, known) for path, each in zip(paths, parsed, strict=True)]


def read(path: Path, forms: Sequence[Form] = tuple(FORMS.values()), ignore: Collection[str] = ()) -> Answers:
    """The answers in a sheet (.csv, .xlsx), in an export of Label Studio or in a download from Pearmut (.json)."""
    ending = path.suffix.lower()
    if ending in sheets.ENDINGS:
        return read_sheet(path, forms, ignore)
    if ending != ".json":
        remedy = f"give a file that ends in {one_of([*sheets.ENDINGS, '.json'])}"
        raise BadInput(path, "", "has an unknown ending", remedy)
    content = label_studio.parsed_json(path)
    if isinstance(content, dict) and (with_parts := [form for form in forms if form.parts]):
        return Answers(with_parts[0], pearmut.submissions(path, content), 0)
    return read_label_studio(path, content, forms, ignore)


def read_sheet(path: Path, forms: Sequence[Form], ignore: Collection[str] = ()) -> Answers:
    """Read a sheet, with columns in any order."""
    answers = []
    ignored = {name.casefold() for name in ignore}
    form, rows = sheets.read(path, forms, ("annotator", *SHOWN), ignore, "annotate")
    for place, row, extra in rows:
        values, fault = form.of_cells(row)
        item, annotator = (unguarded(row.get(name, "")).strip() for name in ("item", "annotator"))
        answers.append(Answer(place, item, annotator, values, extra or fault, shown_texts(row, ignored)))
    given = [answer for answer in answers if not answer.empty]
    return Answers(form, given, len(answers) - len(given))


def read_label_studio(path: Path, content: object, forms: Sequence[Form], ignore: Collection[str] = ()) -> Answers:
    """Read an export of Label Studio, JSON or, if answers have no parts, JSON-MIN.

    Annotators are identified by the e-mail address or number of their account. If a file has a single account,
    identified only by a number, the annotator is the person for whom the tasks were exported, because the first account
    of every installation has the number 1.
    """
    tasks = label_studio.read(path, content)
    ours = [task for task in tasks if storable(task.fields.get("item")).strip()]  # others are of another project
    if not ours:
        raise BadInput(path, "", "has no task with an item", "give an export of tasks from `variorum annotate`")
    controls = {name for task in tasks for _, values in task.annotations for name in values}
    form = max(forms, key=lambda form: len(controls & {*form.controls}))
    if form.parts and (short := [task.place for task in tasks if task.short]):
        raise BadInput(path, f"task {short[0]}", "has no object `data`", "export it from Label Studio as JSON")
    label_studio.check_names(path, ours, is_reference, ("annotator", *SHOWN, *form.controls), ignore)
    answers: list[Answer] = []
    recipients: set[str] = set()
    unanswered = 0
    for task in tasks:
        item, recipient = (storable(task.fields.get(name)).strip() for name in ("item", "made_for"))
        shown = shown_texts(task.fields, ignore)
        named = ((label_studio.account_name(account), regions) for account, regions in task.annotations)
        found = (Answer(task.place, item, account, *form.of_regions(regions), shown) for account, regions in named)
        given = [answer for answer in found if not answer.empty]
        unanswered += not given
        recipients |= {recipient for _ in given}
        answers += given
    accounts = {answer.annotator for answer in answers}
    if len(accounts) == len(recipients) == 1 and not min(accounts).strip("0123456789"):
        answers = [answer._replace(annotator=min(recipients) or answer.annotator) for answer in answers]
    return Answers(form, answers, unanswered)


def candidates(warehouse: Warehouse, items: Collection[str]) -> dict[str, Candidate]:
    """The current outputs, in either pass, and control items that have these keys, by key."""
    controls = warehouse.read("control_item", pl.DataFrame({"item": [*items]}, schema={"item": pl.String}))
    balanced = warehouse.read("control_item", pl.DataFrame({"kind": [SOUND]}), ["passage"]).select(CORPUS)["corpus"]
    examined = {*balanced}  # files of earlier versions, without sound checks, may lack the texts
    texts = {item: (passage, text) for item, passage, text in controls.select("item", "passage", "text").iter_rows()}
    outputs = warehouse.read("model_output", columns=["model", "passage", "text"])
    for row in outputs.iter_rows():
        key = item_key(*row)
        texts |= {item: row[1:] for item in (key, second_key(key)) if item in items}
    passages = pl.DataFrame({"passage": [passage for passage, _ in texts.values()]}, schema={"passage": pl.String})
    sources = dict(warehouse.read("source_text", passages.unique(), ["passage", "text"]).iter_rows())
    references = complete_texts(warehouse, passages.unique())
    return {
        item: Candidate(
            passage,
            text,
            sources.get(passage),
            list(references.get(passage, {}).values()),
            passage.partition("/")[0] in examined,
        )
        for item, (passage, text) in texts.items()
    }


def altered(texts: Mapping[str, str], candidate: Candidate, others: Collection[Candidate] = ()) -> str:
    """The reason to quarantine an answer because a text in its file was altered; '' if all texts match the warehouse.

    Spreadsheets change line breaks, spaces, quotation marks and words that they take for misspelled. So texts need
    only be `near` those of the warehouse, and no nearer to those of the `others` to which the row might belong. A
    reference is compared with all references of the passage, because tasks have numbers in place of translators.
    """

    def texts_of(name: str, of: Candidate) -> list[str]:
        return [of.text] if name == CANDIDATE else [*of.references] if is_reference(name) else [of.source or ""]

    for name, text in texts.items():
        own = [storable(each) for each in texts_of(name, candidate)]
        rivals = (each for of in others for each in texts_of(name, of))
        if (name in SOURCES and candidate.source is None) or near(text, [*own, *map(guarded, own)], rivals):
            continue
        if name == CANDIDATE:
            return "the candidate was altered in the file; restore it"
        return (
            f"{name!r} was altered in the file, or has changed since the export; restore it or, if the label holds "
            f"for the current text, add --ignore {name!r}"
        )
    return ""


def _attributed(path: Path, parsed: Answers, annotator: str | None) -> Answers:
    """The answers, attributed to an annotator if one is given."""
    if annotator is None:
        return parsed
    names = {same_name(answer.annotator): answer.annotator for answer in parsed.answers if answer.annotator}
    if len(names) > 1:
        problem = f"has labels by several annotators: {', '.join(sorted(names.values()))}"
        raise BadInput(path, "", problem, "import it without naming an annotator")
    return parsed._replace(answers=[answer._replace(annotator=annotator.strip()) for answer in parsed.answers])


def _import(
    warehouse: Warehouse, path: Path, form: Form, answers: Sequence[Answer], unanswered: int,
    known: Mapping[str, Candidate],
) -> Counts:  # fmt: skip
    """Store the new and changed answers of a file, each under the first spelling of its annotator's name, and its
    quarantined answers."""
    spellings = first_spellings([answer.annotator for answer in answers if answer.annotator], known_names(warehouse))
    file = str(path.resolve())
    respelled = (answer._replace(annotator=spellings.get(answer.annotator, "")) for answer in answers)
    rows, parts, faults = _checked(form, respelled, known)
    table = pl.DataFrame([row | {"file": file} for row in rows], schema=warehouse.empty(form.stored).schema)
    keys = table.select("item", "annotator")
    person = pl.col("annotator").map_elements(same_name, return_dtype=pl.String)
    previous = warehouse.read(form.stored, keys.select("item"), ["item", "annotator", "fingerprint"])
    persons = keys.with_columns(person=person)
    previous = previous.with_columns(person=person).join(persons, on=["item", "person"], how="semi")
    unchanged = table.join(previous, on=["item", "annotator", "fingerprint"], how="semi")
    changed = table.join(unchanged, on=["item", "annotator"], how="anti")
    replaced = changed.with_columns(person=person).join(previous, on=["item", "person"], how="semi")
    outdated = previous.join(unchanged, on=["item", "annotator"], how="anti")  # also under other spellings
    outdated_keys = pl.concat([changed.select(keys.columns), outdated.select(keys.columns)]).unique()
    replacements = _quarantine(warehouse, file, faults, keys)
    if len(outdated_keys):
        replacements.append(Replacement(form.stored, changed, outdated_keys))
        if form.parts:
            details = pl.DataFrame(parts, schema=warehouse.empty(form.parts).schema)
            details = details.join(changed, on=keys.columns, how="semi")
            replacements.append(Replacement(form.parts, details, outdated_keys))
    if replacements:
        warehouse.write(replacements, run_id="import")
    names = {name: first for name, first in spellings.items() if name != first}
    return Counts(len(changed) - len(replaced), len(unchanged), len(replaced), unanswered, len(faults), names)


def _quarantine(
    warehouse: Warehouse, file: str, faults: Iterable[Mapping[str, Any]], answered: pl.DataFrame
) -> list[Replacement]:
    """Replacements in `label_quarantine`: the faults of a file replace its earlier ones, and those of other files whose
    items the same person has now `answered`."""
    schema = warehouse.empty("label_quarantine").schema
    quarantined = pl.DataFrame([{**fault, "file": file} for fault in faults], schema=schema).sort("place", "annotator")
    stored = warehouse.read("label_quarantine").select(quarantined.columns)
    settled = stored.filter(pl.col("file") != file).join(answered, on=answered.columns, how="semi")
    outdated = pl.concat([stored.filter(file=file), settled])
    if outdated.sort("file", "place", "annotator").equals(quarantined):
        return []
    partitions = pl.concat([outdated, quarantined]).select("file", "place", "annotator").unique()
    return [Replacement("label_quarantine", quarantined, partitions)]


def _checked(
    form: Form, answers: Iterable[Answer], known: Mapping[str, Candidate]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the form's table, of its table of parts, and of `label_quarantine`, without the column `file`."""
    results: list[tuple[Answer, Checked | str]] = []
    variants: dict[tuple[str, str], set[str]] = {}
    for answer in answers:
        try:
            result: Checked | str = checked(form, answer, known)
        except ValueError as fault:
            result = str(fault)
        results.append((answer, result))
        fingerprint = result if isinstance(result, str) else result.fingerprint
        variants.setdefault((answer.item, answer.annotator), set()).add(fingerprint)
    valid: dict[tuple[str, str], tuple[Answer, Checked]] = {}
    reasons: dict[tuple[int, str], dict[str, str]] = {}
    for answer, result in results:
        key = answer.item, answer.annotator
        if isinstance(result, Checked) and (form.last_counts or len(variants[key]) == 1):
            valid[key] = answer, result
        else:
            reason = result if isinstance(result, str) else TWICE
            reasons.setdefault((answer.place, answer.annotator), {}).setdefault(reason, answer.item)
    rows, parts, faults = [], [], []
    for (item, annotator), (answer, result) in valid.items():
        stamped = {"item": item, "annotator": annotator, "passage": known[item].passage}
        stamped["fingerprint"] = result.fingerprint
        rows.append({**stamped, "place": answer.place, **result.row})
        parts += [{**stamped, "place": n, **part} for n, part in enumerate(result.parts, start=1)]
    for (place, annotator), of_place in reasons.items():
        fault_row = {"item": next(iter(of_place.values())), "annotator": annotator, "reason": "; ".join(of_place)}
        faults.append({**fault_row, "place": place, "fingerprint": digest(*fault_row.values())})
    return rows, parts, faults


def checked(form: Form, answer: Answer, known: Mapping[str, Candidate]) -> Checked:
    """The valid content of an answer; raises ValueError with the reason for its quarantine."""
    candidate = known.get(answer.item)
    if candidate is None:
        raise ValueError(UNKNOWN_ITEM if answer.item else "the item is missing")
    if not answer.annotator:
        raise ValueError(NO_ANNOTATOR)
    if fault := answer.fault or altered(answer.texts, candidate, known.values()):
        raise ValueError(fault)
    exact = answer.texts.get(CANDIDATE) in (candidate.text, pearmut.as_text(candidate.text))
    result = form.checked(answer.values, candidate.text, exact)
    if candidate.shown and CANDIDATE not in answer.texts:
        raise ValueError(NO_TEXT)
    return result
