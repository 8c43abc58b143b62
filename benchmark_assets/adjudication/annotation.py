"""The sample as people get it: tasks for Label Studio and a spreadsheet for each annotator, blind.

Here: what of an output a person sees, in which order, and the files that hold it. Not here: drawing the sample
(triage), reading what comes back (label_imports). Columns are named one by one, so that nothing that a model or a judge
has to do with gets into a file unasked.
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
"""What an annotator fills in: columns of the spreadsheet, and controls in Label Studio."""

ABSENT = "—"
"""What Label Studio shows where a translator has no complete reference of the passage: it wants a text there."""

# A spreadsheet would compute these, or take a key of digits for a number and round it. One apostrophe more in front
# makes a text of them that `unguarded` gives back, whatever stands in the cell.
_GUARDED = re.compile(r"'*(?:[=+\-@＝＋－＠\t\r\n]|[\d.,:/eE -]+\Z)")

GUIDE = """\
Read the source first, then the references, then the candidate: one translation of the same passage, by whom is not
said. The references show how far good translations lie apart. They are no limit, and a word that none of them has may
be right.

| `label` | when |
|---|---|
| `VALID_VARIATION` | one can defend the candidate from the source, however unlike the references it is |
| `MINOR_ERROR` | something is wrong and an editor would mend it, yet the reader still learns who does what, what is \
affirmed and what denied, and what follows |
| `MAJOR_ERROR` | who has nothing but the candidate believes what the source does not say, or never learns something \
that counts |
| `REFERENCE_OR_ALIGNMENT_PROBLEM` | the source or the references are damaged, or do not belong together, so that \
nobody can judge |
| `UNSURE_CONTEXT_NEEDED` | only the text around the passage could decide it |

**Minor or major?** Try to write down what a reader would wrongly believe or miss. If you can, and it counts for the
passage, the error is major. If you cannot, or are in doubt, it is minor. Of several errors, label the gravest.

- `error_category`: for errors only, what is mainly wrong (below); else leave it empty.
- `severity`: {severities}. `none` where there is no error; for an error, how much harm it does.
- `confidence`: {confidences}. How sure you are. It may stay empty, but helps.
- `notes`: whatever helps others to understand your label. They may stay empty.
- `error_span`: the words of the candidate in which the error lies, if one can point at it.

| `error_category` | what is wrong |
|---|---|
| `OMISSION_OR_TRUNCATION` | something of the source is missing, or the candidate breaks off |
| `ADDITION_OR_HALLUCINATION` | something is said that the source does not have |
| `NEGATION_OR_POLARITY_ERROR` | what is denied is affirmed, or the reverse |
| `AGENT_OR_ROLE_ERROR` | somebody else acts, speaks, or is acted upon |
| `DOCTRINAL_TERM_ERROR` | a term that carries the teaching has another meaning |
| `LIST_OR_NUMBER_ERROR` | a number, or a member or the order of a list, is wrong |
| `UNRESOLVED_SOURCE_ELLIPSIS` | what the source abbreviates stays cut off, or is filled in wrongly, so that the \
sense is lost |
| `WRONG_RELATION_OR_LOGIC` | cause, condition, purpose, comparison or time are other ones |
| `OVERLY_FREE_PARAPHRASE` | it goes farther from the wording than the sense allows |
| `GRAMMAR_OR_FLUENCY_PROBLEM` | the sense is right, the language is not |
| `OTHER` | anything else: say in `notes` what |
"""

RETURN = """\
**In a spreadsheet.** Open `items.NAME.csv` with your name (in UTF-8, columns separated by commas). Fill in the last six
columns, `error_span` by copying the words out of the candidate. Capitals and small letters are the same, and so are
`MINOR_ERROR` and `minor error`. Leave `item` and the other columns as they are; rows may be sorted. An apostrophe in
front of a cell keeps the spreadsheet from computing it, and is no part of the text. Rows that you leave empty can
follow later. Save as CSV in UTF-8 and send the file back.

**In Label Studio.** Make a project, paste `labeling-config.xml` as the code of its labeling interface, and import
`tasks.NAME.json` with your name. To mark an error, choose "Error" and select the words. At the end export as JSON (or
JSON-MIN) and send the file back.
"""


class SheetItem(NamedTuple):
    """What a person sees of one output. `references` are texts by translator; `place` is the passage's id."""

    item: str
    place: str
    source: str
    references: Mapping[str, str]
    candidate: str


class SentItem(NamedTuple):
    """How many items a folder holds, and the restricted texts among them: translators, and 'source'."""

    items: int
    restricted: list[str]


def export_items(warehouse: Warehouse, folder: Path, corpus: str, annotators: Sequence[str]) -> SentItem:
    """Write the sample of a corpus for these annotators; the same warehouse and names give the same bytes.

    Parameters
    ----------
    folder
        Appears whole or not at all. Restricted texts are shown, for nobody can judge without them: where there are any,
        everything that quotes a text lies in a folder of its own in it, named as in a private export.
    annotators
        Each gets all items, in an order of their own.

    Raises
    ------
    BadInput
        For a corpus that is unknown, cannot be read, or has nothing drawn; an output that changed since it was drawn;
        a name that is empty, of several lines or given twice; a folder with files, or that cannot be written.
    """
    folder = folder.resolve()
    names = checked_names(annotators)
    check_vacant(folder, "labels")
    with warehouse.exclusively():  # the tables of one moment
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
        own = in_order(items, name, seed)
        files[f"{room}tasks.{quote(name, safe='')}.json"] = tasks(own, translators, name)
        files[f"{room}items.{quote(name, safe='')}.csv"] = items_sheet(own, translators, name)
    put(files, folder)
    return SentItem(len(items), restricted)


def in_order(items: Iterable[SheetItem], annotator: str, seed: int) -> list[SheetItem]:
    """The items as an annotator gets them: by a hash, so that the order says nothing, and each has another."""
    return sorted(items, key=lambda each: item_key(str(seed), annotator, each.item))


def tasks(items: Iterable[SheetItem], translators: Sequence[str], annotator: str) -> bytes:
    """Items as Label Studio imports them; `made_for` names the annotator, for whom Label Studio may know by number."""
    content = [
        {
            "data": {
                "item": each.item, "made_for": annotator, "place": each.place, "source": each.source,
                **{f"reference_{n}": each.references.get(name, ABSENT) for n, name in enumerate(translators, start=1)},
                "candidate": each.candidate,
            }
        }
        for each in items
    ]  # fmt: skip
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def labeling_config(translators: Sequence[str]) -> bytes:
    """Label Studio's interface for these tasks. Its words are those that `read_judgement` reads."""
    view = Element("View")

    def shown(title: str, name: str) -> None:
        SubElement(view, "Header", value=title)
        SubElement(view, "Text", name=name, value=f"${name}")

    def asked(title: str, name: str, words: Sequence[str], **further: str) -> None:
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
    asked("Label", "label", LABELS)
    errors = {
        "visibleWhen": "choice-selected",
        "whenTagName": "label",
        "whenChoiceValue": ",".join(map(_spoken, ERRORS)),
    }
    asked("Error category", "error_category", CATEGORIES, **errors)
    asked("Severity", "severity", SEVERITIES)
    asked("Confidence", "confidence", CONFIDENCES)
    SubElement(view, "Header", value="Notes")
    SubElement(view, "TextArea", name="notes", toName="candidate", rows="3", maxSubmissions="1", editable="true")
    indent(view)
    config: str = tostring(view, encoding="unicode")
    return f"{config}\n".encode()


def items_sheet(items: Iterable[SheetItem], translators: Sequence[str], annotator: str) -> bytes:
    """Items as a spreadsheet with empty columns for the answers; a reference that is missing is an empty cell."""
    columns = ["item", "annotator", "place", "source", *(f"reference {name}" for name in translators), "candidate"]
    rows = (
        [each.item, annotator, each.place, each.source, *(each.references.get(name, "") for name in translators),
         each.candidate]
        for each in items
    )  # fmt: skip
    return sheet([*columns, *ANSWERS], ([*row, *("" for _ in ANSWERS)] for row in rows))


def sheet(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """A table as CSV that spreadsheets open as it is: UTF-8 with a byte order mark, each cell guarded."""
    file = io.StringIO()
    csv.writer(file).writerows([guarded(cell) for cell in row] for row in (columns, *rows))
    return file.getvalue().encode("utf-8-sig")


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, a number or a date."""
    return f"'{cell}" if _GUARDED.match(cell) else cell


def unguarded(cell: str) -> str:
    """What was in a cell before it was guarded; a cell that never was stays, its own apostrophe included."""
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell


def drawn_items(warehouse: Warehouse, corpus: str) -> list[SheetItem]:
    """What is drawn of a corpus, with its texts.

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
            corpus, "", "has no output that was drawn for people",
            "`variorum evaluate MODEL` first; how many are drawn says `sample` in `audit` of its description",
        )  # fmt: skip
    keys = drawn.select("model", "passage")
    outputs = warehouse.read("model_output", keys, ["model", "passage", "text"]).rename({"text": "candidate"})
    references = complete_texts(warehouse, keys)
    rows = drawn.join(outputs, on=["model", "passage"], how="left").join(sources, on="passage")
    items = []
    for row in rows.iter_rows(named=True):
        model, passage, candidate = row["model"], row["passage"], row["candidate"]
        if candidate is None or item_key(model, passage, candidate) != row["item"]:
            raise BadInput(corpus, f"{model}|{passage}", "has changed since it was drawn", "`variorum update` first")
        items.append(SheetItem(row["item"], row["passage_id"], row["text"], references.get(passage, {}), candidate))
    return items


def checked_names(annotators: Sequence[str]) -> list[str]:
    """Names of annotators without surrounding blanks.

    Raises
    ------
    BadInput
        For one that is empty, of several lines or given twice.
    """
    names = [name.strip() for name in annotators]
    for name in names:
        if not name or not name.isprintable():
            raise BadInput("annotator", repr(name), "is no name", "give a name of one line")
        if [each.casefold() for each in names].count(name.casefold()) > 1:
            raise BadInput("annotator", name, "is named twice", "give each a name that differs in more than capitals")
    return names


def _spoken(name: str) -> str:
    """A name of the vocabulary as one reads it: 'Minor error'."""
    return name.replace("_", " ").capitalize()


def guide() -> str:
    """What an annotator is told of the fields, in Markdown."""
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
