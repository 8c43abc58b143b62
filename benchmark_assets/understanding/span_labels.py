"""Annotation of spans in Label Studio: write its tasks, and turn its exports into samples.

Here: Label Studio's tasks and interface for a task of spans; conversion of exports (JSON or JSON-MIN) to JSON lines in
the task's form, which `import tasks` reads. Not here: labels of translations (adjudication), where a phrase lies
(spans).
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import polars as pl

from benchmark_assets.adjudication.label_imports import Marked, marked_span
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.tasks import tasks
from resources import whole_files
from resources.errors import BadInput
from resources.folders import PRIVATE, README, check_vacant, put
from resources.warehouse import Warehouse

CONTROL = "span"
"""Name of the control for spans, in Label Studio's interface and in its exports."""

AGAIN = "export it from Label Studio as JSON or JSON-MIN"


RETURN = """\
Create a project in Label Studio, paste `labeling-config.xml` as the code of its labeling interface, and import
`tasks.json`. Choose a label and select the words. Submit every sample, also a sample without any span. Spans that are
marked beforehand are proposals; they count once you submit them. Then export as JSON. `variorum task labels` turns the
export into a file that the description of a task can name.
"""


class WrittenLabels(NamedTuple):
    """Numbers of samples and spans written, and of tasks without a finished annotation."""

    samples: int
    spans: int
    open: int


def annotate(warehouse: Warehouse, folder: Path, code: str, split: str = "test", gold: bool = False) -> int:
    """Write the samples of a split for Label Studio: tasks, and the interface that marks the task's types.

    Parameters
    ----------
    folder
        Written as a whole or not at all. Texts of a restricted task go to a subfolder.
    gold
        Whether the gold spans of the evaluated types are marked beforehand.

    Returns
    -------
    Number of samples.

    Raises
    ------
    BadInput
        For a task that is unknown, of classes, or without samples in the split; a folder that has files or cannot be
        written.
    """
    folder = folder.resolve()
    check_vacant(folder, "labels")
    with warehouse.exclusively():  # consistent tables
        description, samples = _samples(warehouse, code)
        spans = warehouse.read("task_span", pl.DataFrame({"task": [code], "split": [split]}))
    samples = samples.filter(split=split)
    if samples.is_empty():
        raise BadInput(code, split, "has no samples", "name another split, or run `variorum update` first")
    wanted = spans.filter(gold, pl.col("type").is_in(list(description.types)), pl.col("first").is_not_null())
    marks = {sample: rows for (sample,), rows in wanted.group_by("sample", maintain_order=True)}
    content = [_task(description, row, marks.get(row["sample"])) for row in samples.iter_rows(named=True)]
    room = f"{PRIVATE}/" if description.restricted else ""
    files = {
        README: _readme(description, len(samples)).encode(),
        f"{room}labeling-config.xml": labeling_config(description),
        f"{room}tasks.json": (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode(),
    }
    put(files, folder)
    return len(samples)


def labeling_config(description: TaskDescription) -> bytes:
    """Label Studio's interface: the texts in their order, and a label for each type of span."""
    view = Element("View")
    # Without this style it shows and returns runs of white space as one blank, but counts them in offsets.
    SubElement(view, "Style").text = ".htx-text{ white-space: pre-wrap; }"
    for number, name in enumerate(description.texts, start=1):
        SubElement(view, "Header", value=name)
        if name == description.marked:
            labels = SubElement(view, "Labels", name=CONTROL, toName=f"text_{number}")
            for kind in description.types:
                SubElement(labels, "Label", value=kind)
        SubElement(view, "Text", name=f"text_{number}", value=f"$text_{number}")
    indent(view)
    config: str = tostring(view, encoding="unicode")
    return f"{config}\n".encode()


def write_labels(warehouse: Warehouse, file: Path, code: str, out: Path) -> WrittenLabels:
    """Turn an export of Label Studio into a file in the task's form: JSON lines in the order of the samples.

    Writes the samples with a finished annotation, also those without spans. Skipped annotations, drafts and predictions
    are ignored. The export is checked against the task's current samples.

    Raises
    ------
    BadInput
        For a file that is no export of this task's samples; a sample that is unknown, has changed, is repeated or was
        marked by several people; a span of another type, or whose words differ from the text at its place; an export
        without a finished sample; or an `out` that exists. Nothing is written then.
    """
    if out.exists():
        raise BadInput(out, "", "exists already", "give another file")
    description, rows = _samples(warehouse, code)
    samples = {(row["split"], row["sample"]): row for row in rows.iter_rows(named=True)}
    labeled: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
    waiting = 0
    for shown, finished in _export(file):
        key = str(shown.get("split")), str(shown.get("sample"))
        where = " ".join(key)
        if shown.get("task") != code or key not in samples:
            raise BadInput(file, where, f"is no sample of {code}", "give an export of `variorum task annotate`")
        texts = json.loads(samples[key]["texts"])
        if [shown.get(f"text_{number}") for number in range(1, len(texts) + 1)] != list(texts.values()):
            raise BadInput(file, where, "has other texts than the task has now", "annotate the samples again")
        if key in labeled or len(finished) > 1:
            raise BadInput(file, where, "was marked more than once", "export the annotations of one annotator")
        if not finished:
            waiting += 1
            continue
        labeled[key] = _spans(finished[0], description, texts[description.marked], file, where)
    if not labeled:
        raise BadInput(file, "", "has no finished sample", "submit annotations, then export them")
    order = sorted(labeled, key=lambda key: (key[0], samples[key]["position"]))
    lines = [json.dumps(_line(description, samples[key], labeled[key]), ensure_ascii=False) for key in order]
    whole_files.hand_over(out, "".join(f"{line}\n" for line in lines))
    return WrittenLabels(len(labeled), sum(map(len, labeled.values())), waiting)


def _samples(warehouse: Warehouse, code: str) -> tuple[TaskDescription, pl.DataFrame]:
    description = tasks(warehouse, [code])[code]
    if description.kind != "spans":
        raise BadInput(code, "kind", f"is {description.kind}: no spans to mark", "name a task of spans")
    return description, warehouse.read("task_sample", pl.DataFrame({"task": [code]})).sort("split", "position")


def _task(description: TaskDescription, row: Mapping[str, Any], marks: pl.DataFrame | None) -> dict[str, Any]:
    """A sample in the form that Label Studio imports. `marks` become a prediction."""
    texts = json.loads(row["texts"])
    names = {name: f"text_{number}" for number, name in enumerate(texts, start=1)}
    shown = {names[name]: text for name, text in texts.items()}
    task: dict[str, Any] = {"data": {"task": row["task"], "split": row["split"], "sample": row["sample"], **shown}}
    if marks is None:
        return task
    marked = texts[description.marked]
    result = [
        {
            "id": f"span-{number}",
            "from_name": CONTROL,
            "to_name": names[description.marked],
            "type": "labels",
            "value": {"start": first, "end": last, "text": marked[first:last], "labels": [kind]},
        }
        for number, kind, first, last in marks.select("number", "type", "first", "last").iter_rows()
    ]
    return {**task, "predictions": [{"model_version": "gold", "result": result}]}


def _export(file: Path) -> Iterable[tuple[dict[str, Any], list[list[Any]]]]:
    """The data of each task of an export, and the marks of each finished annotation."""
    try:
        content = json.loads(decode(file))
    except (ValueError, RecursionError) as error:
        raise BadInput(file, "", f"is no JSON ({error})", AGAIN) from error
    if not isinstance(content, list):
        raise BadInput(file, "", "is no list of tasks", AGAIN)
    for place, task in enumerate(content, start=1):
        try:
            if "data" not in task:  # JSON-MIN: one annotation per task, an empty control is omitted
                yield task, [task.get(CONTROL, [])] if "annotator" in task else []
                continue
            annotations = task.get("annotations") or []
            done = [one for one in annotations if not (one.get("was_cancelled") or one.get("skipped"))]
            marks = [[part["value"] for part in one["result"] if part["from_name"] == CONTROL] for one in done]
            yield dict(task["data"]), marks
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadInput(file, f"task {place}", "is of another form", AGAIN) from error


def _spans(
    marks: list[Any], description: TaskDescription, text: str, file: Path, where: str
) -> list[tuple[str, int, int]]:
    """Type, first and last character of each mark, in the order of the text."""
    spans = set()
    for mark in marks:
        try:
            kinds = list(mark["labels"])
            first, last = marked_span(Marked(mark["start"], mark["end"], str(mark.get("text", ""))), text)
        except (AttributeError, KeyError, TypeError) as error:
            raise BadInput(file, where, "has a mark of another form", AGAIN) from error
        except ValueError as error:
            raise BadInput(file, where, "a span's words differ from the text at its place", "mark it again") from error
        if not text[first:last].strip():
            raise BadInput(file, where, "has a span without words", "mark it again")
        for kind in kinds:
            if kind not in description.types:
                raise BadInput(
                    file, where, f"has a span of type {kind!r}", f"use one of {', '.join(description.types)}"
                )
            spans.add((kind, first, last))
    return sorted(spans, key=lambda span: (span[1], span[2], span[0]))


def _line(
    description: TaskDescription, row: Mapping[str, Any], spans: Iterable[tuple[str, int, int]]
) -> dict[str, Any]:
    """A sample as a line of the task's files."""
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
    warning = f"`{PRIVATE}` holds texts that may not be passed on.\n\n" if description.restricted else ""
    kinds = "\n".join(f"- `{kind}`: {meaning}" for kind, meaning in description.types.items())
    return (
        f"# Spans to mark: {description.title} ({description.task})\n\n{warning}"
        f"{count} samples, {description.licence}.\n\n"
        f"## What to mark\n\n{description.instructions}\n\n{kinds}\n\n## How to send it back\n\n{RETURN}"
    )
