"""Export the sample for blind annotation: Label Studio tasks and a spreadsheet for each annotator.

Here: the fields of an output that a person sees, the order of items, the files. Not here: drawing the sample (triage),
importing labels (label_imports). Columns are listed explicitly, so that nothing about the model or the judges leaks
into a file.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, CONFIDENCES, ERRORS, LABELS, SEVERITIES
from benchmark_assets.adjudication.triage import audits, item_key
from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.rights import named, rights_of
from benchmark_assets.references.texts import complete_texts
from resources.errors import BadInput
from resources.folders import PRIVATE, README, check_vacant, put
from resources.warehouse import Warehouse

ANSWERS = ("label", "error_category", "severity", "confidence", "notes", "error_span")
"""Fields that an annotator fills in: columns of the spreadsheet, and controls in Label Studio."""

ABSENT = "—"
"""Shown in Label Studio where a translator has no complete reference of the passage: Label Studio requires a text."""

# A spreadsheet would evaluate these cells, or round a key of digits as a number. One more apostrophe in front turns the
# cell into text. `unguarded` restores any cell.
_GUARDED = re.compile(r"'*(?:[=+\-@＝＋－＠\t\r\n]|[\d.,:/eE -]+\Z)")

GUIDE = """\
Read the source first, then the references, then the candidate: one translation of the same passage by an unnamed
translator or model. The references show how far good translations lie apart. They are no limit, and a word that none of
them has may be right.

| `label` | when |
|---|---|
| `VALID_VARIATION` | the source supports the candidate, however unlike the references it is |
| `MINOR_ERROR` | an editor would correct something, yet the reader still learns who does what, what is affirmed and \
denied, and what follows |
| `MAJOR_ERROR` | a reader of the candidate alone would believe something that the source does not say, or miss \
something important |
| `REFERENCE_OR_ALIGNMENT_PROBLEM` | the source or the references are damaged or do not belong together, so that the \
candidate cannot be judged |
| `UNSURE_CONTEXT_NEEDED` | only the text around the passage could decide it |

**Minor or major?** Try to write down what a reader would wrongly believe or miss. If you can, and it matters for the
passage, the error is major. If you cannot, or are in doubt, it is minor. If there are several errors, label the worst.

- `error_category`: for errors only, the main problem (below). Otherwise leave it empty.
- `severity`: {severities}. `none` where there is no error; for an error, how much harm it does.
- `confidence`: {confidences}. How sure you are. Optional, but helpful.
- `notes`: anything that helps others to understand your label. Optional.
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
columns; for `error_span`, copy the words from the candidate. Case does not matter: `MINOR_ERROR` and `minor error` are
the same. Leave `item` and the other columns as they are; you may sort the rows. An apostrophe in front of a cell keeps
the spreadsheet from evaluating it, and is not part of the text. You can leave rows empty and fill them in later. Save
as CSV in UTF-8 and send the file back.

**In Label Studio.** Create a project, paste `labeling-config.xml` as the code of its labeling interface, and import
`tasks.NAME.json` with your name. To mark an error, choose "Error" and select the words. When you are done, export as
JSON (or JSON-MIN) and send the file back.
"""


class SheetItem(NamedTuple):
    """One output as an annotator sees it. `references` are texts by translator; `place` is the passage's id."""

    item: str
    place: str
    source: str
    references: Mapping[str, str]
    candidate: str


class SentItem(NamedTuple):
    """Number of items in an exported folder, and its restricted texts: translators, and 'source'."""

    items: int
    restricted: list[str]


def export_items(warehouse: Warehouse, folder: Path, corpus: str, annotators: Sequence[str]) -> SentItem:
    """Write the sample of a corpus for annotators; the same warehouse and names give the same bytes.

    Parameters
    ----------
    folder
        Written whole or not at all. Restricted texts are included, because annotators need them to judge. If there are
        any, all files that quote a text go to a subfolder, named as in a private export.
    annotators
        Each gets all items, in a separate order.

    Raises
    ------
    BadInput
        For a corpus that is unknown, cannot be read, or has no sample; an output that changed since it was drawn; a
        name that is empty, has several lines or occurs twice; a folder that holds files or cannot be written.
    """
    folder = folder.resolve()
    names = checked_names(annotators)
    check_vacant(folder, "labels")
    with warehouse.exclusively():  # all tables in one consistent state
        current(warehouse, corpus)
        items = drawn_items(warehouse, corpus)
        translators = sorted({name for item in items for name in item.references})
        shown = ["", *translators]
        rights = rights_of(warehouse, corpus, translators)
        seed = audits(warehouse)[corpus].seed
    restricted = named(rights.filter(pl.col("restricted") & pl.col("translator").is_in(shown))["translator"])
    room = f"{PRIVATE}/" if restricted else ""
    files = {
        README: _readme(corpus, len(items), restricted).encode(),
        f"{room}labeling-config.xml": labeling_config(translators),
    }
    for name in names:
        ordered = in_order(items, name, seed)
        files[f"{room}tasks.{quote(name, safe='')}.json"] = tasks(ordered, translators, name)
        files[f"{room}items.{quote(name, safe='')}.csv"] = items_sheet(ordered, translators, name)
    put(files, folder)
    return SentItem(len(items), restricted)


def in_order(items: Iterable[SheetItem], annotator: str, seed: int) -> list[SheetItem]:
    """Order items for an annotator by a hash: the order reveals nothing, and differs between annotators."""
    return sorted(items, key=lambda item: item_key(str(seed), annotator, item.item))


def tasks(items: Iterable[SheetItem], translators: Sequence[str], annotator: str) -> bytes:
    """Items as Label Studio imports them; `made_for` is the annotator, whom Label Studio may know only by a number."""
    content = [
        {
            "data": {
                "item": item.item, "made_for": annotator, "place": item.place, "source": item.source,
                **{f"reference_{n}": item.references.get(name, ABSENT) for n, name in enumerate(translators, start=1)},
                "candidate": item.candidate,
            }
        }
        for item in items
    ]  # fmt: skip
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def labeling_config(translators: Sequence[str]) -> bytes:
    """Label Studio's interface for these tasks. Its choices are the words that `read_judgement` accepts."""
    view = Element("View")

    def shown(title: str, name: str) -> None:
        SubElement(view, "Header", value=title)
        SubElement(view, "Text", name=name, value=f"${name}")

    def choice(title: str, name: str, words: Sequence[str], **further: str) -> None:
        block = SubElement(view, "View", further)
        SubElement(block, "Header", value=title)
        optional = {} if name == "confidence" else {"required": "true"}
        choices = SubElement(
            block, "Choices", {"name": name, "toName": "candidate", "choice": "single", **optional, **further}
        )
        for word in words:
            SubElement(choices, "Choice", value=_spoken(word))

    shown("Place", "place")
    shown("Source", "source")
    for n, name in enumerate(translators, start=1):
        shown(f"Reference: {name}", f"reference_{n}")
    spans = SubElement(view, "Labels", name="error_span", toName="candidate")
    SubElement(spans, "Label", value="Error", maxUsages="1")
    shown("Candidate", "candidate")
    choice("Label", "label", LABELS)
    errors = {
        "visibleWhen": "choice-selected",
        "whenTagName": "label",
        "whenChoiceValue": ",".join(map(_spoken, ERRORS)),
    }
    choice("Error category", "error_category", CATEGORIES, **errors)
    choice("Severity", "severity", SEVERITIES)
    choice("Confidence", "confidence", CONFIDENCES)
    SubElement(view, "Header", value="Notes")
    SubElement(view, "TextArea", name="notes", toName="candidate", rows="3", maxSubmissions="1", editable="true")
    indent(view)
    config: str = tostring(view, encoding="unicode")
    return f"{config}\n".encode()


def items_sheet(items: Iterable[SheetItem], translators: Sequence[str], annotator: str) -> bytes:
    """Items as a spreadsheet with empty columns for the answers; a missing reference is an empty cell."""
    columns = ["item", "annotator", "place", "source", *(f"reference {name}" for name in translators), "candidate"]
    rows = (
        [item.item, annotator, item.place, item.source, *(item.references.get(name, "") for name in translators),
         item.candidate]
        for item in items
    )  # fmt: skip
    return sheet([*columns, *ANSWERS], ([*row, *("" for _ in ANSWERS)] for row in rows))


def sheet(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """A table as CSV that spreadsheets open unchanged: UTF-8 with a byte order mark, each cell guarded."""
    file = io.StringIO()
    csv.writer(file).writerows([guarded(cell) for cell in row] for row in (columns, *rows))
    return file.getvalue().encode("utf-8-sig")


def guarded(cell: str) -> str:
    """Escape a cell, so that no spreadsheet reads it as a formula, a number or a date."""
    return f"'{cell}" if _GUARDED.match(cell) else cell


def unguarded(cell: str) -> str:
    """Undo `guarded`; a cell that was never guarded stays as it is, including its own apostrophe."""
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell


def drawn_items(warehouse: Warehouse, corpus: str) -> list[SheetItem]:
    """The sampled outputs of a corpus, with their texts.

    Raises
    ------
    BadInput
        Where nothing is drawn, or an output changed since it was drawn.
    """
    sources = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage", "passage_id", "text"])
    drawn = warehouse.read("triage", sources.select("passage"), ["model", "passage", "sampled", "item"])
    drawn = drawn.filter("sampled").drop("sampled")
    if drawn.is_empty():
        raise BadInput(
            corpus, "", "has no output that was drawn for annotation",
            "run `variorum evaluate MODEL` first; `audit.sample` in the corpus description sets how many are drawn",
        )  # fmt: skip
    keys = drawn.select("model", "passage")
    outputs = warehouse.read("model_output", keys, ["model", "passage", "text"]).rename({"text": "candidate"})
    references = complete_texts(warehouse, keys)
    rows = drawn.join(outputs, on=["model", "passage"], how="left").join(sources, on="passage")
    items = []
    for row in rows.iter_rows(named=True):
        model, passage, candidate = row["model"], row["passage"], row["candidate"]
        if candidate is None or item_key(model, passage, candidate) != row["item"]:
            raise BadInput(corpus, f"{model}|{passage}", "has changed since it was drawn", "run `variorum update`")
        items.append(SheetItem(row["item"], row["passage_id"], row["text"], references.get(passage, {}), candidate))
    return items


def checked_names(annotators: Sequence[str]) -> list[str]:
    """Names of annotators without surrounding blanks.

    Raises
    ------
    BadInput
        For a name that is empty, has several lines or occurs twice.
    """
    names = [name.strip() for name in annotators]
    for name in names:
        if not name or not name.isprintable():
            raise BadInput("annotator", repr(name), "is no name", "give a name of one line")
        if [other.casefold() for other in names].count(name.casefold()) > 1:
            raise BadInput("annotator", name, "is named twice", "give names that differ in more than case")
    return names


def _spoken(name: str) -> str:
    """A name of the vocabulary for display: 'Minor error'."""
    return name.replace("_", " ").capitalize()


def guide() -> str:
    """Instructions to annotators about the fields, in Markdown."""
    return GUIDE.format(severities=_listed(SEVERITIES), confidences=_listed(CONFIDENCES))


def _readme(corpus: str, count: int, restricted: Sequence[str]) -> str:
    title, warning = "# Items to label: ", ""
    if restricted:
        title = "# Items to label, private, do not pass on: "
        warning = f"`{PRIVATE}` holds texts that may not be passed on: {', '.join(restricted)}.\n\n"
    return (
        f"{title}{corpus}\n\n{warning}{count} items.\n\n"
        f"## What to look at\n\n{guide()}\n## How to send it back\n\n{RETURN}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
