"""Errors that people mark in outputs, and scores that people give: import, and the rows of current outputs.

Here: checks, storage. Not here: files sent to people (campaigns, forms), parsing of returned files (submissions), and
the errors that judges mark (judging). Annotations that fail a check are quarantined individually, like rows of label
files.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.annotators import first_spellings
from benchmark_assets.adjudication.label_imports import (
    NO_ANNOTATOR,
    UNKNOWN_ITEM,
    Candidate,
    LabelCounts,
    Marked,
    altered,
    candidates,
    characters,
    marked_span,
    phrase_span,
)
from benchmark_assets.error_spans.campaigns import MISSING, as_text, utf16
from benchmark_assets.error_spans.judging import BEST, CATEGORIES, OMISSION, WEIGHTS, mqm
from benchmark_assets.error_spans.submissions import Mark, Submitted, read
from resources.digest import digest
from resources.errors import quoted
from resources.warehouse import Replacement, Warehouse


class HumanError(NamedTuple):
    """An error that a person marks. `category` is None if the person was not asked for it. For an omission, positions
    are None and the text is ''."""

    side: str
    span_start: int | None
    span_end: int | None
    text: str
    category: str | None
    severity: str


class HumanAnnotation(NamedTuple):
    """The errors that a person marks in an output, and the person's score for the output, from 0 to 100."""

    errors: Sequence[HumanError]
    score: float


def import_annotations(warehouse: Warehouse, path: Path) -> LabelCounts:
    """Import people's annotations. An annotation replaces the same person's earlier annotation of the item.

    Returns
    -------
    Counts. Annotations that fail a check are stored in `label_quarantine` with the reason.

    Raises
    ------
    BadInput
        If the file is neither a download of annotations from Pearmut, nor a spreadsheet or an export of Label Studio
        with errors. Nothing is stored then.
    """
    submissions = read(path)
    with warehouse.exclusively():  # no output may change between the check and the write
        known = candidates(warehouse, {submitted.item for submitted in submissions})
        tables = [
            warehouse.read(name, columns=["annotator", "updated_at"])
            for name in ("imported_annotation", "imported_label")
        ]
        names = pl.concat(tables).sort("updated_at", "annotator")["annotator"]
        spellings = first_spellings([each.annotator for each in submissions if each.annotator], names)
        annotations: dict[tuple[str, str], tuple[Submitted, str, HumanAnnotation]] = {}
        faults = []
        for submitted in submissions:
            submission = submitted._replace(annotator=spellings.get(submitted.annotator, ""))
            try:
                annotation = checked(submission, known)
                key = submission.item, submission.annotator
                annotations[key] = submission, known[submission.item].passage, annotation
            except ValueError as fault:
                faults.append((submission, str(fault)))
        counts = _store(warehouse, str(path.resolve()), list(annotations.values()), faults)
    return counts._replace(respelled={name: first for name, first in spellings.items() if name != first})


def checked(submitted: Submitted, known: Mapping[str, Candidate]) -> HumanAnnotation:
    """The annotation in a submission; raises ValueError with the reason if it fails a check."""
    candidate = known.get(submitted.item)
    if candidate is None:
        raise ValueError(UNKNOWN_ITEM)
    if not submitted.annotator:
        raise ValueError(NO_ANNOTATOR)
    if fault := submitted.fault or altered(submitted.texts, candidate):
        raise ValueError(fault)
    score = submitted.score
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= BEST:
        raise ValueError(f"score {quoted(score)} is not a number from 0 to {BEST}")
    exact = submitted.texts.get("candidate") in (candidate.text, as_text(candidate.text))
    return HumanAnnotation([_error(mark, candidate.text, exact) for mark in submitted.errors], float(score))


def human_rows(annotations: pl.DataFrame, spans: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of `human_span_vote` and `human_error_span`.

    Parameters
    ----------
    annotations
        Rows of `imported_annotation`, with `model` and `passage` of the output.
    spans
        Rows of `imported_span`.
    """
    keys = annotations.select("item", "annotator", "model", "passage")
    errors = spans.drop("passage", "fingerprint", "run_id", "updated_at").join(keys, on=["item", "annotator"])
    severities = errors.group_by("item", "annotator").agg("severity")
    votes = annotations.select("item", "annotator", "model", "passage", "esa", "prefilled").join(
        severities, on=["item", "annotator"], how="left", maintain_order="left"
    )
    lists = [values or [] for values in votes["severity"].to_list()]
    counts = {name: pl.Series([values.count(name) for values in lists], dtype=pl.Int32) for name in WEIGHTS}
    votes = votes.with_columns(mqm=pl.Series(list(map(mqm, lists)), dtype=pl.Float64), **counts)
    return votes.drop("item", "severity"), errors.drop("item")


def _error(mark: Mark, text: str, exact: bool) -> HumanError:
    """Convert a mark to an error. `exact` tells whether the text in the file equals `text`; if not, offsets are
    invalid."""
    severity = str(mark.severity).lower()
    if severity not in WEIGHTS:
        raise ValueError(f"an error has the unknown severity {quoted(mark.severity)}")
    category = None if mark.category is None else str(mark.category)
    if category is not None and category not in CATEGORIES:
        raise ValueError(f"an error has the unknown category {quoted(category)}")
    if mark.at == MISSING:
        return HumanError("source", None, None, "", category or OMISSION, severity)
    if isinstance(mark.at, str):
        first, last = phrase_span(mark.at, text)
    elif isinstance(mark.at, Marked):
        first, last = marked_span(mark.at, text)
    else:
        start, end = mark.at
        if not exact or not isinstance(start, int) or not isinstance(end, int) or not 0 <= start <= end:
            raise ValueError("an error has no position in the candidate")
        if start >= utf16(text, len(text)):  # on the text `MISSING`, which Pearmut shows after the output
            return HumanError("source", None, None, "", category or OMISSION, severity)
        first, last = characters(text, start), characters(text, end + 1)
        if not 0 <= first < last <= len(text):
            raise ValueError("an error extends beyond the candidate")
    return HumanError("output", first, last, text[first:last], category, severity)


def _store(
    warehouse: Warehouse,
    file: str,
    annotations: Sequence[tuple[Submitted, str, HumanAnnotation]],
    faults: Sequence[tuple[Submitted, str]],
) -> LabelCounts:
    """Store new and changed annotations with their errors, and quarantined annotations, in one transaction."""
    rows: list[dict[str, object]] = []
    errors: list[dict[str, object]] = []
    for submitted, passage, annotation in annotations:
        key = {"item": submitted.item, "annotator": submitted.annotator, "passage": passage}
        marked = [part for error in annotation.errors for part in error]
        fingerprint = digest(annotation.score, *marked, *filter(None, [submitted.prefilled]))
        rows.append(
            key | {"esa": annotation.score, "prefilled": submitted.prefilled, "file": file, "place": submitted.place,
                   "fingerprint": fingerprint}
        )  # fmt: skip
        for place, error in enumerate(annotation.errors, start=1):
            errors.append(key | error._asdict() | {"place": place, "fingerprint": fingerprint})
    table = pl.DataFrame(rows, schema=warehouse.empty("imported_annotation").schema)
    keys = table.select("item", "annotator")
    previous = warehouse.read("imported_annotation", keys, ["item", "annotator", "fingerprint"])
    changed = table.join(previous, on=["item", "annotator", "fingerprint"], how="anti")
    replaced = changed.join(previous, on=["item", "annotator"], how="semi")
    spans = pl.DataFrame(errors, schema=warehouse.empty("imported_span").schema)
    changed_keys = changed.select("item", "annotator")
    reasons = [
        {"file": file, "place": submitted.place, "annotator": submitted.annotator, "item": submitted.item,
         "reason": reason, "fingerprint": digest(submitted.item, submitted.annotator, reason)}
        for submitted, reason in faults
    ]  # fmt: skip
    quarantined = pl.DataFrame(reasons, schema=warehouse.empty("label_quarantine").schema)
    changed_spans = spans.join(changed_keys, on=changed_keys.columns, how="semi")
    replacements = [Replacement("label_quarantine", quarantined, pl.DataFrame({"file": [file]}))]
    if len(changed):
        replacements.append(Replacement("imported_annotation", changed, changed_keys))
        replacements.append(Replacement("imported_span", changed_spans, changed_keys))
    warehouse.write(replacements, run_id="import")
    return LabelCounts(len(changed) - len(replaced), len(table) - len(changed), len(replaced), 0, len(faults))
