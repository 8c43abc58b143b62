"""Forms that people fill in: fields with their allowed values, from which sheets, controls, guides and checks follow.

Here: kinds of fields, and what a form derives from them. Not here: the forms themselves (forms), files that people get
(sample, pearmut) and send back (sheets, label_studio, pearmut), storage (answers).
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement

import polars as pl

from benchmark_assets.adjudication.labels import term
from benchmark_assets.people.mqm import BEST, CATEGORIES, MISSING, OMISSION, WEIGHTS
from benchmark_assets.people.places import Marked, Units, marked_span, phrase_span, units_span
from resources.digest import digest
from resources.errors import quoted
from resources.harmless import unguarded

_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")

CANDIDATE = "candidate"
"""The text of an item that people judge."""

Regions = Mapping[str, Any]
"""Values of an annotation in Label Studio, by control: a value, or a list of values or of objects."""

Row = Mapping[str, object]


class Answer(NamedTuple):
    """One annotator's answer about one item, as in the file; `annotator` is '' if the file does not name one.

    `place` is the number of the row (the header is row 1), of the task or of the submission (from 1). `values` maps
    fields of the form to values. `fault` is the reason why the answer is unreadable, or ''. `texts` maps columns or
    fields to the texts in the file; blank and ignored texts are left out.
    """

    place: int
    item: str
    annotator: str
    values: Mapping[str, Any]
    fault: str = ""
    texts: Mapping[str, str] = MappingProxyType({})

    @property
    def empty(self) -> bool:
        """Whether nothing was filled in."""
        return not self.fault and all(value in ("", None, []) for value in self.values.values())


class Checked(NamedTuple):
    """A valid answer: a row of the form's table, rows of its table of parts, and a hash of both."""

    row: Row
    parts: Sequence[Row]
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class Field:
    """A question: a column in a sheet and one or more controls in Label Studio. By itself, a text without conditions.

    `explained` is the line of the guide about the field; '' if a table of its words comes first in the guide.
    """

    name: str
    explained: str = ""

    @property
    def controls(self) -> tuple[str, ...]:
        """Names of the controls in Label Studio."""
        return (self.name,)

    @property
    def table(self) -> str:
        """Table of the allowed words for the guide, in Markdown; '' if no meanings are declared."""
        return ""

    def mark(self, view: Element, target: str = CANDIDATE) -> None:
        """Add the controls that mark words of a text to Label Studio's interface; they precede the text."""

    def ask(self, view: Element) -> None:
        """Add the controls that follow the text to Label Studio's interface."""
        SubElement(view, "Header", value=spoken(self.name))
        SubElement(view, "TextArea", name=self.name, toName=CANDIDATE, rows="3", maxSubmissions="1", editable="true")

    def of_cell(self, cell: str) -> Any:
        """The value in a cell of a sheet. Raises ValueError if it cannot be read."""
        return cell

    def of_regions(self, regions: Regions) -> Any:
        """The value in an annotation of Label Studio. Raises ValueError if it cannot be read."""
        return "\n".join(texts(regions.get(self.name), "text"))

    def stored(self, value: Any, text: str, row: Row) -> Row:
        """Columns of the form's table. `text` is the candidate, `row` has the columns of earlier fields.

        Raises ValueError with the reason if the value is not allowed.
        """
        return {self.name: value}

    def parts(self, value: Any, text: str, exact: bool) -> Sequence[Row]:
        """Rows of the form's table of parts. `exact` tells whether the file shows `text` character by character."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Choice(Field):
    """A choice of one word.

    - `words`: allowed words with their meanings. The guide shows them under the heading `explains`, unless all are ''.
    - `needed`: whether an answer must have a word; else it is null.
    - `when`, `otherwise`: a field with words under which this field must differ from `otherwise`. With other words of
      that field, it must be `otherwise`. A field that can only be `otherwise` then is hidden in Label Studio.
    """

    words: Mapping[str, str]
    explains: str = "when"
    needed: bool = True
    when: tuple[str, Collection[str]] | None = None
    otherwise: str = ""

    @property
    def table(self) -> str:
        """Allowed words and their meanings, if they are declared."""
        return table(f"`{self.name}`", self.explains, self.words) if any(self.words.values()) else ""

    def ask(self, view: Element) -> None:
        """A single choice."""
        shown = {}
        if self.when and self.otherwise not in self.words:
            other, words = self.when
            shown = {"visibleWhen": "choice-selected", "whenTagName": other,
                     "whenChoiceValue": ",".join(map(spoken, words))}  # fmt: skip
        add_choice(view, spoken(self.name), self.name, self.words, self.needed, shown)

    def of_regions(self, regions: Regions) -> str:
        """The chosen word; raises ValueError if there are several."""
        words = texts(regions.get(self.name), "choices")
        if len(words) > 1:
            raise ValueError(f"{self.name} has {len(words)} values")
        return words[0] if words else ""

    def stored(self, value: str, text: str, row: Row) -> Row:
        """The word in the spelling of the declaration, or null."""
        if not value and not self.needed:
            return {self.name: None}
        hidden = [self.otherwise] if self.otherwise and self.otherwise not in self.words else []
        word = term(self.name, value or "".join(hidden), (*self.words, *hidden))
        if self.when and (row[self.when[0]] in self.when[1]) == (word == self.otherwise):
            raise ValueError(f"{self.name} {word} is not allowed with {self.when[0]} {row[self.when[0]]}")
        return {self.name: word}


@dataclass(frozen=True, kw_only=True)
class Phrase(Field):
    """Words of the candidate, copied or marked with `label`. Their first and last character are stored."""

    label: str

    def mark(self, view: Element, target: str = CANDIDATE) -> None:
        """One label, which can be used once."""
        SubElement(SubElement(view, "Labels", name=self.name, toName=target), "Label", value=self.label, maxUsages="1")

    def ask(self, view: Element) -> None:
        """No further control."""

    def of_regions(self, regions: Regions) -> str | Marked:
        """The marked span, or '' if there is none."""
        spans = objects(regions.get(self.name))
        if len(spans) > 1:
            raise ValueError(f"more than one {self.name.replace('_', ' ')} is marked")
        return marked(spans[0]) if spans else ""

    def stored(self, value: str | Marked, text: str, row: Row) -> Row:
        """First and last character of the words; both null if there are none."""
        start, end = (
            marked_span(value, text)
            if isinstance(value, Marked)
            else phrase_span(value, text)
            if value
            else (None, None)
        )
        return {"span_start": start, "span_end": end}


@dataclass(frozen=True, kw_only=True)
class Score(Field):
    """A number from 0 to `most`, stored in `column`."""

    most: int
    column: str

    def ask(self, view: Element) -> None:
        """A number within the bounds."""
        SubElement(view, "Header", value=f"{spoken(self.name)}, 0 to {self.most}")
        bounds = {"min": "0", "max": str(self.most), "required": "true"}
        SubElement(view, "Number", {"name": self.name, "toName": CANDIDATE, **bounds})

    def of_cell(self, cell: str) -> object:
        """The number in a cell, with a decimal point or comma; the cell itself if it is not a number."""
        try:
            return float(cell.replace(",", "."))
        except ValueError:
            return cell

    def of_regions(self, regions: Regions) -> object:
        """The number that was entered, or None."""
        return next((part.get("number") for part in objects(regions.get(self.name))), None)

    def stored(self, value: object, text: str, row: Row) -> Row:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= self.most:
            raise ValueError(f"{self.name} {quoted(value)} is not a number from 0 to {self.most}")
        return {self.column: float(value)}


class Mark(NamedTuple):
    """An error as it is in the file. `at` is the position of the erroneous words, or the words themselves, or MISSING
    if the error is an omission."""

    severity: object
    category: object
    at: str | Marked | Units


_LINE = re.compile(r"\s*(?P<severity>\w+)(?:\s+(?P<category>[\w/]+))?\s*:\s*(?P<words>.+?)\s*")


@dataclass(frozen=True, kw_only=True)
class Errors(Field):
    """Errors of the candidate: words, a severity, and a category if there are `categories`. An error that has no words
    is an omission.

    All severities and categories are accepted, whatever the form offers.
    """

    severities: Mapping[str, str]
    categories: Sequence[str] = ()

    @property
    def controls(self) -> tuple[str, ...]:
        """Severity of marked words, their category, and severity of an omission."""
        return ("severity", "category", "omission")

    @property
    def table(self) -> str:
        """Severities with their meanings, then the categories."""
        categories = f"\n\nCategories: {listed(self.categories)}." if self.categories else ""
        return table("severity", "when", self.severities) + categories

    def mark(self, view: Element, target: str = CANDIDATE) -> None:
        """A label for each severity."""
        marks = SubElement(view, "Labels", name="severity", toName=target)
        for name in self.severities:
            SubElement(marks, "Label", value=name.capitalize())

    def ask(self, view: Element) -> None:
        """The category of the selected error, and the severity of an omission."""
        if self.categories:
            region = {"perRegion": "true", "visibleWhen": "region-selected"}
            add_choice(view, "Category of the selected error", "category", self.categories, True, region)
        add_choice(view, "Something is missing: how bad is it?", "omission", self.severities, False, {})

    def of_cell(self, cell: str) -> list[Mark]:
        """The errors in a cell, one on each line."""
        marks = [_LINE.fullmatch(line) for line in cell.splitlines() if line.strip()]
        if not all(marks):
            raise ValueError("a line of `errors` is not like `major: words of the candidate`")
        found = (mark.groups() for mark in marks if mark)
        return [Mark(severity, category and category.lower(), words) for severity, category, words in found]

    def of_regions(self, regions: Regions) -> list[Mark]:
        """Regions with a severity and optional category, and omissions."""
        parts = {name: objects(regions.get(name)) for name in self.controls}
        categories = {(part.get("start"), part.get("end")): _first(part, "choices") for part in parts["category"]}
        errors = [
            Mark(_first(part, "labels"), categories.get((part.get("start"), part.get("end"))), marked(part))
            for part in parts["severity"]
        ]
        return errors + [Mark(_first(part, "choices"), None, MISSING) for part in parts["omission"]]

    def stored(self, value: Sequence[Mark], text: str, row: Row) -> Row:
        """No column: errors are parts of the answer. A perfect score is not allowed beside a grave error."""
        grave = {str(mark.severity).lower() for mark in value} - {"minor"}
        if row.get("esa") == BEST and (grave & WEIGHTS.keys()):
            raise ValueError(f"score {BEST} is not allowed with a {min(grave)} error")
        return {}

    def parts(self, value: Sequence[Mark], text: str, exact: bool) -> list[Row]:
        """An error for each mark: side, start, end, text, category and severity.

        For an omission, positions are null and the text is ''. Offsets in UTF-16 are invalid unless `exact`.
        """
        rows: list[Row] = []
        for mark in value:
            severity, category = str(mark.severity).lower(), None if mark.category is None else str(mark.category)
            if severity not in WEIGHTS:
                raise ValueError(f"an error has the unknown severity {quoted(mark.severity)}")
            if category is not None and category not in CATEGORIES:
                raise ValueError(f"an error has the unknown category {quoted(category)}")
            place = _place(mark.at, text, exact)
            side, words = ("output", text[slice(*place)]) if place else ("source", "")
            first, last = place or (None, None)
            row = {"side": side, "span_start": first, "span_end": last, "text": words}
            rows.append({**row, "category": category if place else category or OMISSION, "severity": severity})
        return rows


@dataclass(frozen=True, kw_only=True)
class Form:
    """What annotators answer about an item.

    - `protocol`: name of the form in commands.
    - `intro`, `advice`: paragraphs of the guide, before and after the table of the first field.
    - `in_sheet`, `in_studio`: parts of the instructions for spreadsheets and for Label Studio.
    - `asked`: columns that a sheet must have.
    - `stored`: table of the answers, whose key is item and annotator. `parts`: table of the parts of an answer.
    - `given`: values that a file may have beside the fields, stored as they are.
    - `last_counts`: whether the last of several answers to an item in a file is taken; else all are quarantined.
    - `passed`: whether an answer to an attention check, which shows the text of another passage, passes it. `checks`:
      the same for other kinds of control items.
    - `compared`: columns by which answers are the same. `repeated`: whether an answer to a repeated item repeats the
      `first` answer, the first of these columns.
    """

    protocol: str
    fields: Sequence[Field]
    intro: str = ""
    advice: str = ""
    in_sheet: str = "."
    in_studio: str = "When you are done, export as JSON"
    asked: Sequence[str]
    stored: str
    parts: str = ""
    given: Sequence[str] = ()
    last_counts: bool = False
    passed: pl.Expr
    checks: Mapping[str, pl.Expr] = field(default_factory=dict)
    compared: Sequence[str] = ("label",)
    repeated: pl.Expr = pl.col("label") == pl.col("first")

    @property
    def right(self) -> pl.Expr:
        """Whether an answer to a control item of the column `kind` is right."""
        right = self.passed
        for kind, passed in self.checks.items():
            right = pl.when(kind=kind).then(passed).otherwise(right)
        return right

    @property
    def columns(self) -> list[str]:
        """Columns of a sheet that annotators fill in."""
        return [each.name for each in self.fields]

    @property
    def controls(self) -> list[str]:
        """Controls in Label Studio."""
        return [name for each in self.fields for name in each.controls]

    @property
    def guide(self) -> str:
        """Instructions about the fields, in Markdown."""
        first = [each.table for each in self.fields if each.table and not each.explained]
        further = [each.table for each in self.fields if each.table and each.explained]
        lines = "\n".join(f"- `{each.name}`: {each.explained}" for each in self.fields if each.explained)
        return _wrapped("\n\n".join(filter(None, [self.intro, *first, self.advice, lines, *further]))) + "\n"

    @property
    def returning(self) -> str:
        """Instructions for sending the file back, in Markdown."""
        words = {"columns": _NUMBERS[len(self.fields)], "cells": self.in_sheet, "marking": self.in_studio}
        return _wrapped(_RETURN.format(**words)) + "\n"

    def values(self, value: Callable[[Field], Any]) -> tuple[dict[str, Any], str]:
        """The values of all fields, and the reasons why some cannot be read, or ''."""
        found, faults = {}, []
        for each in self.fields:
            try:
                found[each.name] = value(each)
            except ValueError as fault:
                faults.append(str(fault))
        return found, "; ".join(faults)

    def of_cells(self, cells: Mapping[str, str]) -> tuple[dict[str, Any], str]:
        """As `values`, from the cells of a sheet's row."""
        return self.values(lambda each: each.of_cell(unguarded(cells.get(each.name, "")).strip()))

    def of_regions(self, regions: Regions) -> tuple[dict[str, Any], str]:
        """As `values`, from an annotation of Label Studio."""
        return self.values(lambda each: each.of_regions(regions))

    def checked(self, values: Mapping[str, Any], text: str, exact: bool) -> Checked:
        """A valid answer about a text. Raises ValueError with the reason if a value is not allowed."""
        row: dict[str, object] = {}
        parts: list[Row] = []
        for each in self.fields:
            row |= each.stored(values.get(each.name, ""), text, row)
            parts += each.parts(values.get(each.name, ""), text, exact)
        given = {name: values.get(name) for name in self.given}
        content = [*row.values(), *(value for part in parts for value in part.values()), *filter(None, given.values())]
        return Checked(row | given, parts, digest(*content))


_NUMBERS = ("no", "column", "two columns", "three columns", "four columns", "five columns", "six columns")

_RETURN = """\
**In a spreadsheet.** Open `items.NAME.csv` with your name (in UTF-8, columns separated by commas). Fill in the last \
{columns}{cells} Leave `item` and the other columns as they are; you may sort the rows. An apostrophe in front of a \
cell keeps the spreadsheet from evaluating it, and is not part of the text. You can leave rows empty and fill them in \
later. Save as CSV in UTF-8 and send the file back.

**In Label Studio.** Create a project, paste `labeling-config.xml` as the code of its labeling interface, and import
`tasks.NAME.json` with your name. {marking} and send the file back."""


def _wrapped(markdown: str) -> str:
    """Markdown whose paragraphs have lines of at most 120 characters; tables, lists and code stay as they are."""
    parts = markdown.split("\n\n")
    return "\n\n".join(part if part[0] in "|-`" else fill(part, 120, break_on_hyphens=False) for part in parts)


def table(name: str, explains: str, words: Mapping[str, str]) -> str:
    """Words and their meanings as a table in Markdown."""
    return "\n".join([f"| {name} | {explains} |", "|---|---|", *(f"| `{word}` | {words[word]} |" for word in words)])


def listed(words: Iterable[str]) -> str:
    """Words as code in Markdown, separated by commas."""
    return ", ".join(f"`{word}`" for word in words)


def spoken(name: str) -> str:
    """A term of the vocabulary for display, such as 'Minor error'."""
    return name.replace("_", " ").capitalize()


def add_choice(
    view: Element, title: str, name: str, words: Iterable[str], needed: bool, shown: Mapping[str, str]
) -> None:
    """Add a single-choice question to Label Studio's interface. `shown` are attributes that control its display."""
    block = SubElement(view, "View", dict(shown))
    SubElement(block, "Header", value=title)
    required = {"required": "true"} if needed else {}
    choices = SubElement(block, "Choices", {"name": name, "toName": CANDIDATE, "choice": "single", **required, **shown})
    for word in words:
        SubElement(choices, "Choice", value=spoken(word))


def texts(value: object, key: str) -> list[str]:
    """The texts in a control's value, which is a text, a list of texts, or a list of objects with texts under `key`."""
    parts = [text for part in _several(value) for text in _several(part.get(key) if isinstance(part, dict) else part)]
    return [storable(text).strip() for text in parts if isinstance(text, str) and text.strip()]


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a control's value."""
    return [part for part in _several(value) if isinstance(part, dict)]


def marked(part: Mapping[str, Any]) -> Marked:
    """The span of an object in a control's value."""
    return Marked(part.get("start"), part.get("end"), storable(part.get("text")))


def storable(value: object) -> str:
    """A text with U+FFFD for lone surrogates, which browsers may leave in a text and tables cannot store, and for NUL,
    as in sheets; '' for other values."""
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else ""


def _several(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _place(at: str | Marked | Units, text: str, exact: bool) -> tuple[int, int] | None:
    """Start and end of the erroneous words in characters; None for an omission."""
    if at == MISSING:
        return None
    if isinstance(at, str):
        return phrase_span(at, text)
    return marked_span(at, text) if isinstance(at, Marked) else units_span(at, text, exact)


def _first(part: Mapping[str, Any], name: str) -> str | None:
    """The first word of a choice, in lower case."""
    words = part.get(name)
    return str(words[0]).lower() if isinstance(words, list) and words else None
