"""Annotation of spans in Label Studio: write samples for annotation, and convert annotations to files of samples.

Here: Label Studio's tasks and interface for a span task; conversion of Label Studio's exports (JSON or JSON-MIN) to
JSON lines in the format of the task's files. Not here: Label Studio's formats (people.label_studio), locating spans
(spans).
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement

import polars as pl

from benchmark_assets.people import label_studio
from benchmark_assets.people.form import marked
from benchmark_assets.people.places import marked_span
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.tasks import tasks
from resources import whole_files
from resources.errors import BadInput, quoted
from resources.folders import PRIVATE, README, check_vacant, put, room
from resources.warehouse import Warehouse

CONTROL = "span"
"""Name of the control for spans in Label Studio's interface and exports."""

RETURN = """\
Create a project in Label Studio, paste `labeling-config.xml` as the code of its labeling interface, and import
`tasks.json`. To mark a span, choose a label and select the words. Submit every sample, even a sample without spans.
Spans that are already marked are proposals; they count only after you submit the sample. Then export as JSON. `variorum
spans --from` converts the export to a file of samples.
"""


class WrittenLabels(NamedTuple):
    """Numbers of samples and spans written, and of Label Studio's tasks without a finished annotation."""

    samples: int
    spans: int
    open: int


def annotate(warehouse: Warehouse, folder: Path, code: str, split: str = "test", gold: bool = False) -> int:
    """Write the samples of a split for annotation: tasks and interface for Label Studio, and a README.

    Parameters
    ----------
    folder
        Folder to write; it is written completely or not at all. Texts of a restricted task are in a subfolder.
    gold
        Whether to mark the gold spans of the evaluated types as proposals.

    Returns
    -------
    Number of samples.

    Raises
    ------
    BadInput
        If the task is unknown, is a classification task, or has no samples in the split; or if the folder is not empty
        or cannot be written.
    """
    folder = folder.resolve()
    check_vacant(folder, "labels")
    with warehouse.consistently():
        description, samples = _samples(warehouse, code)
        spans = warehouse.read("task_span", pl.DataFrame({"task": [code], "split": [split]}))
    samples = samples.filter(split=split)
    if samples.is_empty():
        raise BadInput(code, split, "has no samples", "name another split, or run `variorum update` first")
    proposals = spans.filter(gold, pl.col("type").is_in(list(description.types)), pl.col("first").is_not_null())
    marks = {sample: rows for (sample,), rows in proposals.group_by("sample", maintain_order=True)}
    content = [_task(description, row, marks.get(row["sample"])) for row in samples.iter_rows(named=True)]
    place = room(description.restricted)
    files = {
        README: _readme(description, len(samples)).encode(),
        f"{place}labeling-config.xml": labeling_config(description),
        f"{place}tasks.json": label_studio.tasks(content),
    }
    put(files, folder)
    return len(samples)


def labeling_config(description: TaskDescription) -> bytes:
    """XML of Label Studio's interface, which shows the texts in order and has a label for each type of span."""

    def fill(view: Element) -> None:
        # Without this style, Label Studio shows runs of white space as one space, but its offsets count all characters.
        SubElement(view, "Style").text = ".htx-text{ white-space: pre-wrap; }"
        for number, name in enumerate(description.texts, start=1):
            SubElement(view, "Header", value=name)
            if name == description.marked:
                labels = SubElement(view, "Labels", name=CONTROL, toName=f"text_{number}")
                for kind in description.types:
                    SubElement(labels, "Label", value=kind)
            SubElement(view, "Text", name=f"text_{number}", value=f"$text_{number}")

    return label_studio.interface(fill)


def write_labels(warehouse: Warehouse, file: Path, code: str, out: Path, ignore: Collection[str] = ()) -> WrittenLabels:
    """Convert an export of Label Studio to a file of samples: JSON lines in the format and order of the task's files.

    The file contains the samples with a finished annotation, with or without spans. Skipped annotations, drafts and
    predictions are ignored. The export is checked against the task's current samples. The fields and controls of the
    export must be known or in `ignore`.

    Raises
    ------
    BadInput
        If the file is not an export of this task's samples; if a field or control is unknown; if a sample is unknown,
        has changed, is repeated or has several annotations; if a span has a type that the task lacks, or words that
        differ from the text at its place; if no sample has a finished annotation; or if `out` exists. After
        an error, nothing is written.
    """
    if out.exists():
        raise BadInput(out, "", "already exists", "give the path of a new file")
    description, rows = _samples(warehouse, code)
    samples = {(row["split"], row["sample"]): row for row in rows.iter_rows(named=True)}
    labeled: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
    waiting = 0
    content = label_studio.read(file, label_studio.parsed_json(file))
    names = ("task", "split", "sample", CONTROL)
    label_studio.check_names(file, content, re.compile(r"text_\d+").fullmatch, names, ignore)
    for task in content:
        fields = task.fields
        finished = task.annotations if not task.short or "annotator" in fields else []
        key = str(fields.get("split")), str(fields.get("sample"))
        where = " ".join(key)
        if fields.get("task") != code or key not in samples:
            remedy = "annotate the samples that `variorum spans` writes"
            raise BadInput(file, where, f"is not a sample of {code}", remedy)
        texts = json.loads(samples[key]["texts"])
        if [fields.get(f"text_{number}") for number in range(1, len(texts) + 1)] != list(texts.values()):
            raise BadInput(file, where, "its texts have changed since the export", "annotate the current samples")
        if key in labeled or len(finished) > 1:
            raise BadInput(file, where, "has several annotations", "export the annotations of one annotator")
        if not finished:
            waiting += 1
            continue
        labeled[key] = _spans(finished[0][1].get(CONTROL, []), description, texts[description.marked], file, where)
    if not labeled:
        raise BadInput(file, "", "has no finished annotation", "submit annotations in Label Studio, then export them")
    order = sorted(labeled, key=lambda key: (key[0], samples[key]["position"]))
    lines = [json.dumps(_line(description, samples[key], labeled[key]), ensure_ascii=False) for key in order]
    whole_files.hand_over(out, "".join(f"{line}\n" for line in lines))
    return WrittenLabels(len(labeled), sum(map(len, labeled.values())), waiting)


def _samples(warehouse: Warehouse, code: str) -> tuple[TaskDescription, pl.DataFrame]:
    """A span task's description and its rows of `task_sample`. Raises BadInput for a classification task."""
    description = tasks(warehouse, [code])[code]
    if description.kind != "spans":
        raise BadInput(code, "", "is a classification task, which has no spans to mark", "name a span task")
    return description, warehouse.read("task_sample", pl.DataFrame({"task": [code]})).sort("split", "position")


def _task(description: TaskDescription, row: Mapping[str, Any], marks: pl.DataFrame | None) -> dict[str, Any]:
    """A sample in Label Studio's import format. `marks` are the rows of `task_span` to show as a prediction, if any."""
    texts = json.loads(row["texts"])
    names = {name: f"text_{number}" for number, name in enumerate(texts, start=1)}
    fields = {key: row[key] for key in ("task", "split", "sample")}
    task: dict[str, Any] = {"data": fields | {names[name]: text for name, text in texts.items()}}
    if marks is None:
        return task
    marked = texts[description.marked]
    control = {"from_name": CONTROL, "to_name": names[description.marked], "type": "labels"}
    result = [
        {"id": f"span-{number}", **control,
         "value": {"start": first, "end": last, "text": marked[first:last], "labels": [kind]}}
        for number, kind, first, last in marks.select("number", "type", "first", "last").iter_rows()
    ]  # fmt: skip
    return {**task, "predictions": [{"model_version": "gold", "result": result}]}


def _spans(
    marks: Sequence[Any], description: TaskDescription, text: str, file: Path, where: str
) -> list[tuple[str, int, int]]:
    """Type, start and end of each marked span, in text order. Offsets count characters; ends are exclusive."""
    spans = set()
    for mark in marks:
        try:
            kinds = list(mark["labels"])
            first, last = marked_span(marked(mark), text)
        except (AttributeError, KeyError, TypeError) as error:
            problem = "has a span that is not in Label Studio's format"
            raise BadInput(file, where, problem, label_studio.AGAIN) from error
        except ValueError as error:
            problem = "a span's words differ from the text at its place"
            raise BadInput(file, where, problem, "mark the span again") from error
        if not text[first:last].strip():
            raise BadInput(file, where, "has a span without words", "mark the span again")
        for kind in kinds:
            if kind not in description.types:
                remedy = f"use one of {', '.join(description.types)}"
                raise BadInput(file, where, f"has a span of type {quoted(kind)}", remedy)
            spans.add((kind, first, last))
    return sorted(spans, key=lambda span: (span[1], span[2], span[0]))


def _line(
    description: TaskDescription, row: Mapping[str, Any], spans: Iterable[tuple[str, int, int]]
) -> dict[str, Any]:
    """A sample as a JSON object, as in the task's files. `spans` has type, start and end of each span."""
    texts, spans, fields = json.loads(row["texts"]), list(spans), description.spans
    assert fields is not None
    line: dict[str, Any] = {description.sample: row["sample"]}
    if description.source:
        *outer, last = description.source.split(".")
        inner = line
        for step in outer:
            inner = inner.setdefault(step, {})
        inner[last] = row["source"]
    line |= {field: texts[name] for name, field in description.texts.items()}
    marked = texts[description.marked]
    line[fields.field] = [[kind, marked[first:last]] for kind, first, last in spans]
    if fields.offsets:
        line[fields.offsets] = [[first, last] for _, first, last in spans]
    return line


def _readme(description: TaskDescription, count: int) -> str:
    """Text of the README for annotators. `count` is the number of samples."""
    warning = f"`{PRIVATE}` contains texts that may not be passed on.\n\n" if description.restricted else ""
    kinds = "\n".join(f"- `{kind}`: {meaning}" for kind, meaning in description.types.items())
    return (
        f"# Spans to mark: {description.title} ({description.task})\n\n{warning}"
        f"{count} samples, {description.licence}.\n\n"
        f"## What to mark\n\n{description.instructions}\n\n{kinds}\n\n## How to return the annotations\n\n{RETURN}"
    )
