"""Export of the sample for blind annotation: Label Studio tasks and a spreadsheet for each annotator.

Here: the fields that annotators see, the order of items, the files. Not here: drawing the sample (triage), importing
labels (label_imports). Columns are listed explicitly, so that nothing about models or judges leaks into a file.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import polars as pl

from benchmark_assets.adjudication.annotators import same_name
from benchmark_assets.adjudication.controls import REPEATED, Control, Group, attention_checks, with_repeats
from benchmark_assets.adjudication.items import SheetItem
from benchmark_assets.adjudication.labels import CATEGORIES, CONFIDENCES, ERRORS, LABELS, SEVERITIES
from benchmark_assets.adjudication.triage import audits, item_key
from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.rights import disclosure, named
from benchmark_assets.references.texts import complete_texts
from resources.digest import digest
from resources.errors import BadInput
from resources.folders import PRIVATE, README, check_vacant, put, room
from resources.harmless import guarded
from resources.warehouse import Replacement, Warehouse

ANSWERS = ("label", "error_category", "severity", "confidence", "notes", "error_span")
"""Fields that annotators fill in: columns of the spreadsheet, controls in Label Studio."""

ABSENT = "—"
"""Shown in Label Studio in place of a missing or incomplete reference, because Label Studio requires a text."""

GUIDE = """\
Read the source first, then the references, then the candidate: one translation of the same passage by an unnamed
translator or model. The references show how far good translations differ. They are not a limit: a word that
no reference uses may be right.

| `label` | when |
|---|---|
| `VALID_VARIATION` | the source supports the candidate, however much it differs from the references |
| `MINOR_ERROR` | an editor would correct something, but the reader still learns who does what, what is affirmed or \
denied, and what follows |
| `MAJOR_ERROR` | a reader of the candidate alone would believe something that the source does not say, or miss \
something important |
| `REFERENCE_OR_ALIGNMENT_PROBLEM` | the source or the references are damaged or do not belong together, so that the \
candidate cannot be judged |
| `UNSURE_CONTEXT_NEEDED` | only the text around the passage could settle the question |

**Minor or major?** Try to write down what a reader would wrongly believe or miss. If you can, and it matters for the
passage, the error is major. If you cannot, or are in doubt, it is minor. If there are several errors, label the worst.

- `error_category`: for errors only, the main problem (below). Otherwise leave it empty.
- `severity`: {severities}. `none` if there is no error; for an error, how much harm it does.
- `confidence`: {confidences}. How sure you are of your label. Optional, but helpful.
- `notes`: anything that helps others understand your label. Optional.
- `error_span`: the words of the candidate that contain the error, if you can point at them.

| `error_category` | problem |
|---|---|
| `OMISSION_OR_TRUNCATION` | part of the source is missing, or the candidate breaks off |
| `ADDITION_OR_HALLUCINATION` | the candidate adds something that is not in the source |
| `NEGATION_OR_POLARITY_ERROR` | the candidate affirms what the source denies, or the reverse |
| `AGENT_OR_ROLE_ERROR` | the wrong person acts, speaks, or is acted upon |
| `DOCTRINAL_TERM_ERROR` | a doctrinal term is given another meaning |
| `LIST_OR_NUMBER_ERROR` | a number is wrong, or a member or the order of a list |
| `UNRESOLVED_SOURCE_ELLIPSIS` | an abbreviation of the source is left unexpanded or expanded wrongly, so that the \
sense is lost |
| `WRONG_RELATION_OR_LOGIC` | cause, condition, purpose, comparison or time is wrong |
| `OVERLY_FREE_PARAPHRASE` | the candidate departs from the wording farther than the sense allows |
| `GRAMMAR_OR_FLUENCY_PROBLEM` | the sense is right, the language is not |
| `OTHER` | anything else: explain it in `notes` |
"""

RETURN = """\
**In a spreadsheet.** Open `items.NAME.csv` with your name (in UTF-8, columns separated by commas). Fill in the last six
columns; for `error_span`, copy the words from the candidate. `MINOR_ERROR` and `minor error` mean the
same. Leave `item` and the other columns as they are; you may sort the rows. An apostrophe in front of a cell keeps
the spreadsheet from evaluating it, and is not part of the text. You can leave rows empty and fill them in later. Save
as CSV in UTF-8 and send the file back.

**In Label Studio.** Create a project, paste `labeling-config.xml` as the code of its labeling interface, and import
`tasks.NAME.json` with your name. To mark an error, choose "Error" and select the words. When you are done, export as
JSON (or JSON-MIN) and send the file back.
"""


class Form(NamedTuple):
    """The answers that annotators give about an item.

    `answers` are the spreadsheet columns that annotators fill in. `controls` is a function that adds the candidate and
    the answer fields to Label Studio's interface. `guide` and `returning` are sections of the instructions (Markdown).
    """

    answers: Sequence[str]
    controls: Callable[[Element], None]
    guide: str
    returning: str


class SentItem(NamedTuple):
    """Number of items in an export, names of its restricted texts (translators, or 'source'), and the largest number
    of control items in any annotator's list."""

    items: int
    restricted: list[str]
    controls: int = 0


def export_items(
    warehouse: Warehouse, folder: Path, corpus: str, annotators: Sequence[str], form: Form | None = None
) -> SentItem:
    """Write the sample of a corpus to a folder for annotators. Equal inputs give equal files, byte for byte.

    Control items are added to the lists and recorded in the table `control_item`, so that the import recognizes them.

    Parameters
    ----------
    folder
        Written completely or not at all. Restricted texts are included, because annotators need them. If there are
        restricted texts, all files with texts go into a subfolder with the name `resources.folders.PRIVATE`.
    annotators
        Names; each annotator gets all items, in an individual order.
    form
        What annotators answer; by default the labels of the audit.

    Raises
    ------
    BadInput
        If the corpus is unknown, unreadable or without a sample; if an output changed after it was drawn; if a name is
        empty, has several lines or occurs twice; or if the folder contains files or cannot be written.
    """
    form = form or LABEL_FORM
    folder = folder.resolve()
    names = checked_names(annotators)
    check_vacant(folder, "labels")
    with warehouse.consistently():
        current(warehouse, corpus)
        items = drawn_items(warehouse, corpus)
        translators = sorted({name for item in items for name in item.references})
        restricted = restricted_texts(warehouse, corpus, items)
        seed = audits(warehouse)[corpus].seed
        lists, controls = with_controls(items, names, seed)
    place = room(bool(restricted))
    files = {
        README: _readme(corpus, len(items), restricted, form).encode(),
        f"{place}labeling-config.xml": labeling_config(translators, form),
    }
    for name, groups in lists.items():
        ordered = [item for (item,) in groups]
        files[f"{place}tasks.{quote(name, safe='')}.json"] = tasks(ordered, translators, name)
        files[f"{place}items.{quote(name, safe='')}.csv"] = items_sheet(ordered, translators, name, form.answers)
    put(files, folder)
    record_controls(warehouse, corpus, controls)
    return SentItem(len(items), restricted, max(map(len, lists.values())) - len(items))


def restricted_texts(warehouse: Warehouse, corpus: str, items: Iterable[SheetItem]) -> list[str]:
    """The names of the restricted texts that the items show.

    If the items show no restricted text, but an output copies one, the result is a single phrase that says so.
    """
    shown = list(items)
    outputs = pl.DataFrame({"passage": [f"{corpus}/{item.place}" for item in shown]}, {"passage": pl.String})
    outputs = outputs.with_columns(text=pl.Series([item.candidate for item in shown], dtype=pl.String))
    texts = {"", *(name for item in shown for name in item.references)}
    terms = disclosure(warehouse, corpus, texts, private=False)
    names = named(sorted(texts & terms.hidden))
    return names or (["outputs that copy a restricted text"] if terms.withheld(outputs).count() else [])


def with_controls(
    items: Sequence[SheetItem], annotators: Sequence[str], seed: int, together: bool = False
) -> tuple[dict[str, list[Group]], list[Control]]:
    """The list of each annotator, by name, and the control items of all lists.

    Each list has all items in an individual order, and control items among them. If `together`, the items of a passage
    form one group; otherwise each item is a group of its own.
    """
    controls = attention_checks(items, seed)
    groups: dict[str, list[SheetItem]] = {}
    for item in (*items, *(check.shown for check in controls)):
        groups.setdefault(item.place if together else item.item, []).append(item)
    lists = {}
    for name in annotators:
        lists[name], repeats = with_repeats(in_order(groups.values(), name, seed), seed, name)
        controls += repeats
    return lists, controls


def record_controls(warehouse: Warehouse, corpus: str, controls: Iterable[Control]) -> None:
    """Store control items, so that answers to them are recognized."""
    rows = [
        {"item": shown.item, "kind": kind, "original": original, "passage": f"{corpus}/{shown.place}",
         "text": shown.candidate, "fingerprint": digest(kind, original, shown.candidate)}
        for kind, original, shown in controls
    ]  # fmt: skip
    stored = pl.DataFrame(rows, schema=warehouse.empty("control_item").schema).unique("item", maintain_order=True)
    if len(stored):
        warehouse.write([Replacement("control_item", stored, stored.select("item"))], run_id="export")


def in_order(groups: Iterable[Group], annotator: str, seed: int) -> list[Group]:
    """Order items for an annotator by a hash, so that the order reveals nothing and differs between annotators."""

    def place(item: SheetItem) -> str:
        return item_key(str(seed), annotator, item.item)

    ordered = [sorted(group, key=place) for group in groups]
    return sorted(ordered, key=lambda group: place(group[0]))


def tasks(items: Iterable[SheetItem], translators: Sequence[str], annotator: str) -> bytes:
    """Items in Label Studio's import format (JSON). `made_for` is the annotator's name.

    No field is named `source`: Label Studio would show the whole task in place of that field.
    """
    content = [
        {
            "data": {
                "item": item.item, "made_for": annotator, "place": item.place, "source_text": item.source,
                **{f"reference_{n}": item.references.get(name, ABSENT) for n, name in enumerate(translators, start=1)},
                "candidate": item.candidate,
            }
        }
        for item in items
    ]  # fmt: skip
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def labeling_config(translators: Sequence[str], form: Form) -> bytes:
    """Label Studio's labeling interface (XML): the texts, then the controls of a form."""
    view = Element("View")
    add_text(view, "Place", "place")
    add_text(view, "Source", "source_text")
    for n, name in enumerate(translators, start=1):
        add_text(view, f"Reference: {name}", f"reference_{n}")
    form.controls(view)
    indent(view)
    config: str = tostring(view, encoding="unicode")
    return f"{config}\n".encode()


def add_text(view: Element, title: str, name: str) -> None:
    """Add a field of the task to the labeling interface, under a title."""
    SubElement(view, "Header", value=title)
    SubElement(view, "Text", name=name, value=f"${name}")


def add_choice(
    view: Element,
    title: str,
    name: str,
    words: Sequence[str],
    required: bool = True,
    conditions: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add a single-choice question to the labeling interface. `conditions` are attributes that control its display."""
    further = dict(conditions)
    block = SubElement(view, "View", further)
    SubElement(block, "Header", value=title)
    needed = {"required": "true"} if required else {}
    choices = SubElement(
        block, "Choices", {"name": name, "toName": "candidate", "choice": "single", **needed, **further}
    )
    for word in words:
        SubElement(choices, "Choice", value=spoken(word))


def _add_labels(view: Element) -> None:
    """Add the candidate and the form controls with which an annotator enters a label for the audit."""
    spans = SubElement(view, "Labels", name="error_span", toName="candidate")
    SubElement(spans, "Label", value="Error", maxUsages="1")
    add_text(view, "Candidate", "candidate")
    add_choice(view, "Label", "label", LABELS)
    errors = {
        "visibleWhen": "choice-selected",
        "whenTagName": "label",
        "whenChoiceValue": ",".join(map(spoken, ERRORS)),
    }
    add_choice(view, "Error category", "error_category", CATEGORIES, conditions=errors)
    add_choice(view, "Severity", "severity", SEVERITIES)
    add_choice(view, "Confidence", "confidence", CONFIDENCES, required=False)
    SubElement(view, "Header", value="Notes")
    SubElement(view, "TextArea", name="notes", toName="candidate", rows="3", maxSubmissions="1", editable="true")


def items_sheet(
    items: Iterable[SheetItem], translators: Sequence[str], annotator: str, answers: Sequence[str]
) -> bytes:
    """Items as a spreadsheet (CSV) with empty columns for the answers; missing references are empty cells."""
    columns = ["item", "annotator", "place", "source", *(f"reference {name}" for name in translators), "candidate"]
    rows = (
        [item.item, annotator, item.place, item.source, *(item.references.get(name, "") for name in translators),
         item.candidate]
        for item in items
    )  # fmt: skip
    return sheet([*columns, *answers], ([*row, *("" for _ in answers)] for row in rows))


def sheet(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Write a table as CSV that no spreadsheet program alters: UTF-8 with a byte order mark, each cell `guarded`. NUL,
    which no text file may have, becomes U+FFFD."""
    file = io.StringIO()
    csv.writer(file).writerows([guarded(cell.replace("\0", "\ufffd")) for cell in row] for row in (columns, *rows))
    return file.getvalue().encode("utf-8-sig")


def drawn_items(warehouse: Warehouse, corpus: str) -> list[SheetItem]:
    """The sampled outputs of a corpus. Raises BadInput if there are none, or if one changed after it was drawn."""
    sources = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage", "passage_id", "text"])
    drawn = warehouse.read("triage", sources.select("passage"), ["model", "passage", "sampled", "item"])
    drawn = drawn.filter("sampled").drop("sampled")
    if drawn.is_empty():
        raise BadInput(
            corpus, "", "has no output in the sample for annotation",
            "run `variorum evaluate MODEL` first; `audit.sample` in the corpus description sets the size of the sample",
        )  # fmt: skip
    keys = drawn.select("model", "passage")
    outputs = warehouse.read("model_output", keys, ["model", "passage", "text"]).rename({"text": "candidate"})
    references = complete_texts(warehouse, keys)
    rows = drawn.join(outputs, on=["model", "passage"], how="left").join(sources, on="passage")
    items = []
    for row in rows.iter_rows(named=True):
        model, passage, candidate = row["model"], row["passage"], row["candidate"]
        if candidate is None or item_key(model, passage, candidate) != row["item"]:
            raise BadInput(
                corpus, f"{model}|{passage}", "changed after it was drawn for the sample", "run `variorum update`"
            )
        items.append(SheetItem(row["item"], row["passage_id"], row["text"], references.get(passage, {}), candidate))
    return items


def checked_names(annotators: Sequence[str]) -> list[str]:
    """Names of annotators without surrounding blanks.

    Raises BadInput if a name is empty, has several lines, or occurs twice regardless of case and white space.
    """
    names = [name.strip() for name in annotators]
    for name in names:
        if not name or not name.isprintable():
            raise BadInput("annotator", repr(name), "is not a name", "give a name on one line")
        if [same_name(other) for other in names].count(same_name(name)) > 1:
            raise BadInput("annotator", name, "is given twice", "give names that differ by more than case")
    return names


def spoken(name: str) -> str:
    """A term of the vocabulary for display, such as 'Minor error'."""
    return name.replace("_", " ").capitalize()


def guide() -> str:
    """Instructions for annotators about the fields, in Markdown."""
    return GUIDE.format(severities=_listed(SEVERITIES), confidences=_listed(CONFIDENCES))


def _readme(corpus: str, count: int, restricted: Sequence[str], form: Form) -> str:
    title, warning = "# Items to label: ", ""
    extra = ", plus repeated items and attention checks" if count >= REPEATED else ""
    if restricted:
        title = "# Items to label, private, do not pass on: "
        warning = f"`{PRIVATE}` contains texts that may not be passed on: {', '.join(restricted)}.\n\n"
    return (
        f"{title}{corpus}\n\n{warning}{count} items{extra}.\n\n"
        f"## What to look at\n\n{form.guide}\n## How to send it back\n\n{form.returning}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


LABEL_FORM = Form(ANSWERS, _add_labels, guide(), RETURN)
"""The labels of the audit."""
