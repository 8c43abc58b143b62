"""Baselines of tasks in the warehouse: which apply, when they are due, and what a failed training does."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.understanding.assets import baseline_answer, task_leakage, task_sample
from benchmark_assets.understanding.baselines import answers
from benchmark_assets.understanding.description import TaskDescription, load
from benchmark_assets.understanding.encoder import Encoder
from benchmark_assets.understanding.samples import read
from benchmark_assets.understanding.tasks import import_tasks
from resources.provider.provider import Provider
from resources.warehouse import Warehouse
from tests.understanding.checkpoints import write_checkpoint
from tests.understanding.conftest import FORM_LINES, FORMS, write_task

REGISTRY: dict[str, Any] = {"embedders": {"MiniLM": {}}, "embedder": "MiniLM"}
NONE: Mapping[str, Encoder] = {}


def form_task(folder: Path, **changes: Any) -> TaskDescription:
    return load(write_task(folder, FORMS, FORM_LINES, **changes))


def given(folder: Path, task: TaskDescription, encoders: Mapping[str, Encoder] = NONE) -> Sequence[tuple[Any, ...]]:
    found = answers([task], read(task, folder).samples, encoders)
    assert found.failures is not None
    return found.tables["baseline_answer"].select("baseline", "seed", "sample", "label").rows() + found.failures.rows()


def test_what_applies(tmp_path: Path) -> None:
    both = form_task(tmp_path, scansion="sanskrit-verse", texts={"text": "words", "other": "form"},
                     pair=["text", "other"])  # fmt: skip
    assert [row[:3] for row in given(tmp_path, both)] == [
        (name, 1, sample) for name in ("scansion", "linear", "overlap") for sample in ("1", "2")
    ]
    untrained = form_task(tmp_path, files={"test": "form/test.jsonl"}, scansion="tibetan-verse")
    assert given(tmp_path, untrained) == [("scansion", 1, "1", "PROSE"), ("scansion", 1, "2", "PROSE")]
    assert given(tmp_path, form_task(tmp_path, files={"test": "form/test.jsonl"})) == []


def test_classes_are_matched_to_those_of_the_rule(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"classes": {"Verse": "metrical", "Pro-se": "not"}, "negative": "Pro-se"}
    task = form_task(tmp_path, labels={"v": "Verse", "p": "Pro-se"}, scansion="sanskrit-verse", **changes)
    assert {row[3] for row in given(tmp_path, task)} <= {"Verse", "Pro-se"}


@pytest.mark.parametrize(
    ("changes", "encoders", "fault"),
    [
        ({"scansion": "iambic"}, {}, "no rule 'iambic'"),
        ({"scansion": "sanskrit-metre"}, {}, "anuṣṭubh_pathyā"),
        ({}, {"lost": Encoder("./no/such/checkpoint", (1,))}, "baseline lost of task FORM"),
        ({"files": {"train": "form/one.jsonl", "test": "form/test.jsonl"}}, {}, "a classifier needs two"),
    ],
)
def test_a_fault_fails_the_task_with_its_reason(
    tmp_path: Path, changes: dict[str, Any], encoders: dict[str, Encoder], fault: str
) -> None:
    task = form_task(tmp_path, **changes)
    (tmp_path / "form/one.jsonl").write_text(json.dumps(FORM_LINES["train"][0]), encoding="utf-8")
    rows = given(tmp_path, task, encoders)
    assert [row[0] for row in rows] == ["FORM"]
    assert fault in rows[0][1]


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps(REGISTRY), encoding="utf-8")
    return path


def materialize(instance: dg.DagsterInstance, warehouse: Warehouse, registry: Path, *codes: str) -> list[bool]:
    """Bring tasks up to date, one after the other; which of them came through."""
    instance.add_dynamic_partitions("task", codes)
    provider = Provider(registry_path=str(registry), ledger_path=str(registry.parent / "ledger.sqlite"))
    return [
        dg.materialize(
            [task_sample, task_leakage, baseline_answer], partition_key=code, instance=instance, raise_on_error=False,
            resources={"warehouse": warehouse, "provider": provider},
        ).success
        for code in codes
    ]  # fmt: skip


def runs(warehouse: Warehouse, table: str) -> dict[str, str]:
    return dict(warehouse.read(table, columns=["task", "run_id"]).unique().iter_rows())


def test_answers_are_due_where_samples_or_the_rule_change_and_gone_with_the_rule(
    warehouse: Warehouse, instance: dg.DagsterInstance, registry: Path, tmp_path: Path
) -> None:
    own, other = tmp_path / "form", tmp_path / "rule"
    names = {"task": "RULE", "files": {"test": "form/test.jsonl"}}
    import_tasks(warehouse, [write_task(own, FORMS, FORM_LINES)], own)
    import_tasks(warehouse, [write_task(other, FORMS, FORM_LINES, **names, scansion="tibetan-verse")], other)
    assert materialize(instance, warehouse, registry, "FORM", "RULE") == [True, True]
    first = runs(warehouse, "baseline_answer")
    assert set(first) == set(runs(warehouse, "task_leakage")) == {"FORM", "RULE"}

    write_task(other, FORMS, FORM_LINES, **names, scansion="sanskrit-verse")
    materialize(instance, warehouse, registry, "FORM", "RULE")
    second = runs(warehouse, "baseline_answer")
    assert (second["FORM"], second["RULE"] == first["RULE"]) == (first["FORM"], False)

    write_task(other, FORMS, FORM_LINES, **names)
    materialize(instance, warehouse, registry, "RULE")
    assert set(runs(warehouse, "baseline_answer")) == {"FORM"}


def test_a_registry_with_an_encoder_that_is_lost_fails_the_task_and_leaves_what_it_has(
    warehouse: Warehouse, instance: dg.DagsterInstance, registry: Path, tmp_path: Path
) -> None:
    own = tmp_path / "form"
    import_tasks(warehouse, [write_task(own, FORMS, FORM_LINES)], own)
    materialize(instance, warehouse, registry, "FORM")
    before = warehouse.read("baseline_answer")
    checkpoint = tmp_path / "tiny"
    lost = {**REGISTRY, "encoders": {"tiny": {"checkpoint": "./tiny", "seeds": [7, 8]}}}
    registry.write_text(json.dumps(lost), encoding="utf-8")
    assert materialize(instance, warehouse, registry, "FORM") == [False]
    assert warehouse.read("baseline_answer").equals(before)

    write_checkpoint(checkpoint)  # relative to the registry
    assert materialize(instance, warehouse, registry, "FORM") == [True]
    found = warehouse.read("baseline_answer", columns=["baseline", "seed"]).unique().sort("baseline", "seed")
    assert found.rows() == [("linear", 1), ("tiny", 7), ("tiny", 8)]
    assert len(warehouse.read("task_leakage").filter(pl.col("nearest").is_not_null())) == 2
