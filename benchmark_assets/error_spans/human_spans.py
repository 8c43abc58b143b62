"""Errors that people mark in outputs, and their scores: import from Pearmut, and the rows of current outputs.

Here: the reader of Pearmut's annotations, checks, storage. Not here: campaigns, and the errors that judges mark
(judging). Annotations that fail a check are quarantined one by one, as rows of label files are.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication.annotators import first_spellings
from benchmark_assets.adjudication.label_imports import UNKNOWN_ITEM, Candidate, LabelCounts, candidates, characters
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.error_spans.campaigns import OUTPUT
from benchmark_assets.error_spans.judging import BEST, CATEGORIES, OMISSION, WEIGHTS, mqm
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

RESET = "__RESET__"
"""Pearmut's mark that a user's earlier annotations are void."""

ALTERED = "the candidate was altered in the campaign; write the campaign again"

_REMEDY = "download the annotations from Pearmut's dashboard"


class HumanError(NamedTuple):
    """An error that a person marks; `category` is None if the person was not asked. Positions and text are None and ''
    if something is missing from the output."""

    side: str
    span_start: int | None
    span_end: int | None
    text: str
    category: str | None
    severity: str


class HumanAnnotation(NamedTuple):
    """A person's errors and score (0 to 100) of an output."""

    errors: Sequence[HumanError]
    score: float


class Submitted(NamedTuple):
    """The last submission of an annotator about an item: its place in the file, from 1, and its content as in the
    file."""

    place: int
    item: str
    annotator: str
    text: object
    content: object


def import_annotations(warehouse: Warehouse, path: Path) -> LabelCounts:
    """Import people's annotations. An annotation replaces the same person's earlier annotation of the item.

    Returns
    -------
    Counts. Annotations that fail a check are stored in `label_quarantine` with the reason.

    Raises
    ------
    BadInput
        If the file is not a download of annotations from Pearmut. Nothing is stored then.
    """
    submissions = list(read_pearmut(path))
    with warehouse.exclusively():  # no output may change between the check and the write
        known = candidates(warehouse, {submitted.item for submitted in submissions})
        tables = [
            warehouse.read(name, columns=["annotator", "updated_at"])
            for name in ("imported_annotation", "imported_label")
        ]
        names = pl.concat(tables).sort("updated_at", "annotator")["annotator"]
        spellings = first_spellings([submitted.annotator for submitted in submissions], names)
        annotations: dict[tuple[str, str], tuple[Submitted, str, HumanAnnotation]] = {}
        faults = []
        for submitted in submissions:
            submission = submitted._replace(annotator=spellings[submitted.annotator])
            try:
                annotation = checked(submission, known)
                key = submission.item, submission.annotator
                annotations[key] = submission, known[submission.item].passage, annotation
            except ValueError as fault:
                faults.append((submission, str(fault)))
        counts = _store(warehouse, str(path.resolve()), list(annotations.values()), faults)
    return counts._replace(respelled={name: first for name, first in spellings.items() if name != first})


def read_pearmut(path: Path) -> Iterator[Submitted]:
    """The last submission of each annotator about each item, in the order of the file.

    The file is JSON, with a list of submissions for each campaign. A submission with Pearmut's mark of a reset voids
    the user's earlier ones. Tutorials, forms and skipped items have no `item_id` or no annotation, and are left out.
    """
    try:
        content = json.loads(decode(path))
    except (ValueError, RecursionError) as error:
        raise BadInput(path, "", f"is not valid JSON ({error})", _REMEDY) from error
    if not isinstance(content, dict) or not all(isinstance(entries, list) for entries in content.values()):
        raise BadInput(path, "", "is not an object with a list for each campaign", _REMEDY)
    last: dict[tuple[str, str], Submitted] = {}
    place = 0
    for campaign, entries in content.items():
        of_campaign: dict[tuple[str, str], Submitted] = {}
        for entry in entries:
            place += 1
            try:
                user, annotation = entry["user_id"], entry["annotation"]
                if annotation == RESET:
                    of_campaign = {key: value for key, value in of_campaign.items() if key[0] != user}
                    continue
                for shown, answer in zip(entry["item"], annotation, strict=True):
                    if "item_id" in shown and isinstance(answer, dict):
                        submitted = Submitted(
                            place, str(shown["item_id"]), str(user), shown["tgt"][OUTPUT], answer[OUTPUT]
                        )
                        of_campaign[user, submitted.item] = submitted
            except (KeyError, TypeError, ValueError) as error:
                raise BadInput(path, f"{campaign} {place}", "is not an annotation of our campaigns", _REMEDY) from error
        last |= of_campaign
    yield from sorted(last.values())


def checked(submitted: Submitted, known: Mapping[str, Candidate]) -> HumanAnnotation:
    """The annotation in a submission; raises ValueError with the reason if it fails a check.

    Pearmut counts UTF-16 code units, and the end of a span is inclusive. Spans behind the output mark that something
    is missing from it.
    """
    candidate = known.get(submitted.item)
    if candidate is None:
        raise ValueError(UNKNOWN_ITEM)
    if submitted.text != candidate.text:
        raise ValueError(ALTERED)
    content = submitted.content if isinstance(submitted.content, dict) else {}
    score, spans = content.get("score"), content.get("error_spans")
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= BEST:
        raise ValueError(f"score {score!r} is not a number from 0 to {BEST}")
    if not isinstance(spans, list):
        raise ValueError("error_spans is not a list")  # noqa: TRY004 - a fault of the file
    return HumanAnnotation([_error(span, candidate.text) for span in spans], float(score))


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
    votes = annotations.select("item", "annotator", "model", "passage", "esa").join(
        severities, on=["item", "annotator"], how="left", maintain_order="left"
    )
    lists = [values or [] for values in votes["severity"].to_list()]
    counts = {name: pl.Series([values.count(name) for values in lists], dtype=pl.Int32) for name in WEIGHTS}
    votes = votes.with_columns(mqm=pl.Series(list(map(mqm, lists)), dtype=pl.Float64), **counts)
    return votes.drop("item", "severity"), errors.drop("item")


def _error(span: Any, text: str) -> HumanError:
    try:
        start, end, severity, category = (span[name] for name in ("start_i", "end_i", "severity", "category"))
    except (KeyError, TypeError) as error:
        raise ValueError("an error has no start, end, severity or category") from error
    severity = severity.lower() if isinstance(severity, str) else severity
    if severity not in tuple(WEIGHTS):
        raise ValueError(f"an error has the unknown severity {severity!r}")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start <= end:
        raise ValueError("an error has no position in the candidate")
    missing = start >= len(text.encode("utf-16-le")) // 2
    if category is not None:
        main, _, sub = str(category).partition("/")
        category = main if sub == main else str(category)  # Pearmut repeats a category without subcategories
        if category not in CATEGORIES:
            raise ValueError(f"an error has the unknown category {category!r}")
    if missing:
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
    """Store new and changed annotations with their errors, and the quarantined ones, in one transaction."""
    rows, errors = [], []
    for submitted, passage, annotation in annotations:
        key = {"item": submitted.item, "annotator": submitted.annotator, "passage": passage}
        fingerprint = digest(annotation.score, *(part for error in annotation.errors for part in error))
        rows.append(key | {"esa": annotation.score, "file": file, "place": submitted.place, "fingerprint": fingerprint})
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
