"""Spans on their way through Label Studio: what comes back is what was marked, or nothing comes back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from benchmark_assets.understanding.description import load
from benchmark_assets.understanding.samples import read
from benchmark_assets.understanding.span_labels import annotate, labeling_config, write_labels
from benchmark_assets.understanding.tasks import import_tasks, read_samples
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.folders import PRIVATE
from resources.warehouse import Replacement, Warehouse
from tests.understanding.conftest import SPEECH, SPEECH_LINES, write_task

TASK = list[dict[str, Any]]


def take_in(warehouse: Warehouse, *paths: Path) -> None:
    """Import tasks and store their samples, as the asset does."""
    import_tasks(warehouse, paths, paths[0].parent)
    found, _ = read_samples(warehouse, [load(path).task for path in paths])
    for table, rows in {"task_sample": found.samples, "task_span": found.spans}.items():
        warehouse.write([Replacement(table, rows.with_columns(fingerprint=pl.lit("")), None)], "test")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Warehouse, Path]:
    """A warehouse with the task of spans, and the folder that was written for Label Studio."""
    folder = tmp_path_factory.mktemp("exported")
    warehouse = DuckDBWarehouse(path=str(folder / "variorum.duckdb"))
    take_in(warehouse, write_task(folder / "tasks", SPEECH, SPEECH_LINES))
    annotate(warehouse, folder / "out", "SPEECH", gold=True)
    return warehouse, folder / "out"


def submitted(folder: Path) -> TASK:
    """Label Studio's export after an annotator has submitted every task unchanged."""
    tasks: TASK = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    for number, task in enumerate(tasks, start=1):
        marks = [mark for each in task.get("predictions", []) for mark in each["result"]]
        task |= {"id": number, "annotations": [{"result": marks, "was_cancelled": False, "completed_by": 1}]}
    return tasks


def test_gold_comes_back_as_it_went(warehouse: Warehouse, speech: Path, tmp_path: Path) -> None:
    take_in(warehouse, speech)
    assert annotate(warehouse, tmp_path / "out", "SPEECH", gold=True) == 2
    export = tmp_path / "export.json"
    export.write_text(json.dumps(submitted(tmp_path / "out")), encoding="utf-8")
    back = speech.parent / "speech.jsonl"
    before = read(load(speech), speech.parent)
    back.unlink()
    assert write_labels(warehouse, export, "SPEECH", back) == (2, 3, 0)
    after = read(load(speech), speech.parent)
    assert after.samples.equals(before.samples)
    wanted = [row for row in before.spans.drop("number").rows() if row[3] != "MARK"]  # no type of the task
    assert after.spans.drop("number").rows() == wanted


def test_json_min_is_read_too(warehouse: Warehouse, speech: Path, tmp_path: Path) -> None:
    take_in(warehouse, speech)
    annotate(warehouse, tmp_path / "out", "SPEECH", gold=True)
    least = [
        {
            **task["data"], "id": task["id"], "annotator": 1,
            "span": [mark["value"] for mark in task["annotations"][0]["result"]],
        }
        for task in submitted(tmp_path / "out")
    ]  # fmt: skip
    (tmp_path / "min.json").write_text(json.dumps(least), encoding="utf-8")
    (tmp_path / "full.json").write_text(json.dumps(submitted(tmp_path / "out")), encoding="utf-8")
    for name in ("min", "full"):
        write_labels(warehouse, tmp_path / f"{name}.json", "SPEECH", tmp_path / f"{name}.jsonl")
    (tmp_path / "more.json").write_text(json.dumps([least[0] | {"region": 1}]), encoding="utf-8")
    with pytest.raises(BadInput, match="task 1 region: unknown key"):
        write_labels(warehouse, tmp_path / "more.json", "SPEECH", tmp_path / "more.jsonl")
    assert write_labels(warehouse, tmp_path / "more.json", "SPEECH", tmp_path / "more.jsonl", ["region"]).samples == 1
    assert (tmp_path / "min.jsonl").read_bytes() == (tmp_path / "full.jsonl").read_bytes()


def test_the_interface_marks_the_types_in_the_marked_text_only(speech: Path) -> None:
    view = ElementTree.fromstring(labeling_config(load(speech)))
    (labels,) = view.iter("Labels")
    assert [each.get("value") for each in labels] == ["SAID", "WHO"]
    assert [(each.get("name"), each.get("value")) for each in view.iter("Text")] == [
        ("text_1", "$text_1"), ("text_2", "$text_2")
    ]  # fmt: skip
    assert labels.get("toName") == "text_2"


def test_what_nobody_submitted_is_left_out(warehouse: Warehouse, speech: Path, tmp_path: Path) -> None:
    take_in(warehouse, speech)
    annotate(warehouse, tmp_path / "out", "SPEECH")
    tasks = submitted(tmp_path / "out")
    tasks[0]["annotations"][0]["was_cancelled"] = True
    (tmp_path / "e.json").write_text(json.dumps(tasks), encoding="utf-8")
    assert write_labels(warehouse, tmp_path / "e.json", "SPEECH", tmp_path / "out.jsonl") == (1, 0, 1)
    assert json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))["name"] == "b"


def _mark(task: dict[str, Any], control: str = "span", **value: Any) -> None:
    whole = {"start": 0, "end": 3, "text": "mus", "labels": ["WHO"], **value}
    task["annotations"][0]["result"] = [{"from_name": control, "value": whole}]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda tasks: _mark(tasks[0], text="felis"), "a span's words differ"),
        (lambda tasks: _mark(tasks[0], end=99), "a span's words differ"),
        (lambda tasks: _mark(tasks[0], start=4, end=5, text=" "), "has a span without words"),
        (lambda tasks: _mark(tasks[0], labels=["MARK"]), "type 'MARK'"),
        (lambda tasks: _mark(tasks[0], labels=None), "not in Label Studio's format"),
        (lambda tasks: tasks[0]["data"].update(text_2="mus"), "its texts have changed"),
        (lambda tasks: tasks[0]["data"].update(sample="z"), "not a sample of SPEECH"),
        (lambda tasks: tasks[0]["data"].update(task="FORM"), "not a sample of SPEECH"),
        (lambda tasks: tasks.append(tasks[0]), "several annotations"),
        (lambda tasks: tasks[0]["annotations"].append(tasks[0]["annotations"][0]), "several annotations"),
        (lambda tasks: [task["annotations"].clear() for task in tasks], "no finished annotation"),
        (lambda tasks: tasks[0].update(annotations=[{"result": 3}]), "not in Label Studio's format"),
        (lambda tasks: tasks[0]["data"].update(samples="1"), "task 1 samples: unknown key; write `sample`"),
        (lambda tasks: _mark(tasks[1], control="spans"), "task 2 spans: unknown key; write `span`"),
    ],
)
def test_nothing_is_written_of_an_export_that_does_not_fit(
    exported: tuple[Warehouse, Path], tmp_path: Path, change: Callable[[TASK], object], problem: str
) -> None:
    warehouse, folder = exported
    tasks = submitted(folder)
    change(tasks)
    (tmp_path / "e.json").write_text(json.dumps(tasks), encoding="utf-8")
    with pytest.raises(BadInput, match=problem):
        write_labels(warehouse, tmp_path / "e.json", "SPEECH", tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["e.json"]


def test_labels_are_not_overwritten(warehouse: Warehouse, form: Path, speech: Path, tmp_path: Path) -> None:
    take_in(warehouse, form, speech)
    annotate(warehouse, tmp_path / "out", "SPEECH")
    with pytest.raises(BadInput, match="already exists and may contain labels"):
        annotate(warehouse, tmp_path / "out", "SPEECH")
    with pytest.raises(BadInput, match="already exists"):
        write_labels(warehouse, tmp_path / "e.json", "SPEECH", speech)
    with pytest.raises(BadInput, match="no spans to mark"):
        annotate(warehouse, tmp_path / "form", "FORM")
    with pytest.raises(BadInput, match="SPEECH: train: has no samples"):
        annotate(warehouse, tmp_path / "train", "SPEECH", split="train")


def test_restricted_texts_lie_apart(warehouse: Warehouse, tmp_path: Path) -> None:
    take_in(warehouse, write_task(tmp_path / "tasks", SPEECH, SPEECH_LINES, restricted=True))
    annotate(warehouse, tmp_path / "out", "SPEECH", gold=True)
    named = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and b"felis" in path.read_bytes()]
    assert [path.parent.name for path in named] == [PRIVATE]
