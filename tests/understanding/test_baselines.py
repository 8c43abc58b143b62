"""Baselines of tasks in the warehouse: which apply, when they are stale, and what a failed training does."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from benchmark_assets.understanding import encoder_fits
from benchmark_assets.understanding.assets import baseline_answer, encoder_answer, task_leakage, task_sample
from benchmark_assets.understanding.baselines import answers
from benchmark_assets.understanding.description import TaskDescription, load
from benchmark_assets.understanding.encoder import Encoder
from benchmark_assets.understanding.samples import read
from benchmark_assets.understanding.tasks import import_tasks
from resources.provider.provider import Provider
from resources.warehouse import Warehouse
from tests.understanding.checkpoints import write_checkpoint
from tests.understanding.conftest import FORM_LINES, FORMS, SPEECH, write_task

REGISTRY: dict[str, Any] = {"embedders": {"MiniLM": {}}, "embedder": "MiniLM"}


def form_task(folder: Path, **changes: Any) -> TaskDescription:
    return load(write_task(folder, FORMS, FORM_LINES, **changes))


def given(folder: Path, task: TaskDescription) -> Sequence[tuple[Any, ...]]:
    found = answers([task], *read(task, folder))
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
    ("changes", "fault"),
    [
        ({"scansion": "iambic"}, "no rule 'iambic'"),
        ({"scansion": "sanskrit-metre"}, "anuṣṭubh_pathyā"),
        ({"files": {"train": "form/one.jsonl", "test": "form/test.jsonl"}}, "a classifier needs two"),
    ],
)
def test_a_fault_fails_the_task_with_its_reason(tmp_path: Path, changes: dict[str, Any], fault: str) -> None:
    task = form_task(tmp_path, **changes)
    (tmp_path / "form/one.jsonl").write_text(json.dumps(FORM_LINES["train"][0]), encoding="utf-8")
    rows = given(tmp_path, task)
    assert [row[0] for row in rows] == ["FORM"]
    assert fault in rows[0][1]


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps(REGISTRY), encoding="utf-8")
    return path


def materialize(instance: dg.DagsterInstance, warehouse: Warehouse, registry: Path, *codes: str) -> list[bool]:
    """Materialize tasks, one after the other; whether each succeeded."""
    instance.add_dynamic_partitions("task", codes)
    provider = Provider(registry_path=str(registry), ledger_path=str(registry.parent / "ledger.sqlite"))
    return [
        dg.materialize(
            [task_sample, task_leakage, baseline_answer, encoder_answer], partition_key=code, instance=instance,
            raise_on_error=False, resources={"warehouse": warehouse, "provider": provider},
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


def test_an_encoder_that_is_lost_hides_no_other_baseline_and_no_training(
    warehouse: Warehouse, instance: dg.DagsterInstance, registry: Path, tmp_path: Path
) -> None:
    own = tmp_path / "form"
    import_tasks(warehouse, [write_task(own, FORMS, FORM_LINES)], own)
    write_checkpoint(tmp_path / "tiny")  # relative to the registry
    named = {"lost": {"checkpoint": "./lost", "seeds": [1]}, "tiny": {"checkpoint": "./tiny", "seeds": [7]}}
    registry.write_text(json.dumps({**REGISTRY, "encoders": named}), encoding="utf-8")
    assert materialize(instance, warehouse, registry, "FORM") == [False]
    assert set(runs(warehouse, "baseline_answer")) == {"FORM"}
    assert warehouse.read("encoder_answer").is_empty()

    registry.write_text(json.dumps({**REGISTRY, "encoders": {"tiny": named["tiny"]}}), encoding="utf-8")
    assert materialize(instance, warehouse, registry, "FORM") == [True]
    assert set(warehouse.read("encoder_answer")["baseline"]) == {"tiny"}
    (answered,), (fitted,) = (set(runs(warehouse, name).values()) for name in ("encoder_answer", "encoder_fit"))
    assert answered != fitted  # it was trained in the run before


def test_an_encoder_is_trained_once_for_each_seed_until_something_of_it_changes(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    task = form_task(tmp_path)
    samples = read(task, tmp_path).samples
    tiny, other = (Encoder(str(write_checkpoint(tmp_path / name)), (7,)) for name in ("tiny", "other"))

    def fitted(run: str, **encoders: Encoder) -> dict[tuple[str, int], str]:
        """In which run each of those that answer was trained."""
        found = encoder_fits.answers(warehouse, [task], samples, encoders, run).tables["encoder_answer"]
        fits = warehouse.read("encoder_fit").join(found, on=found.columns, how="semi")
        assert len(fits) == len(found) == 2 * sum(len(each.seeds) for each in encoders.values())
        return {(row["baseline"], row["seed"]): row["run_id"] for row in fits.iter_rows(named=True)}

    def fingerprints() -> dict[tuple[str, int], str]:
        rows = warehouse.read("encoder_fit", columns=["baseline", "seed", "fingerprint"])
        return {(baseline, seed): fingerprint for baseline, seed, fingerprint in rows.iter_rows()}

    assert fitted("first", tiny=tiny) == {("tiny", 7): "first"}
    both = fitted("second", tiny=tiny._replace(seeds=(7, 8)), other=other)
    assert both == {("tiny", 7): "first", ("tiny", 8): "second", ("other", 7): "second"}
    config = tmp_path / "tiny" / "config.json"
    config.write_text(config.read_text(encoding="utf-8") + " ", encoding="utf-8")
    before = fingerprints()
    fitted("third", tiny=tiny, other=other)  # its answers are the same, so that only their fingerprint changes
    assert {fit for fit, fingerprint in fingerprints().items() if before[fit] != fingerprint} == {("tiny", 7)}


# Spans: words between 'dicit' and 'inquit' that repeat the head are speech.


def speeches(number: int) -> list[dict[str, Any]]:
    """Texts of four stretches. The second stretch is speech, except in every fourth text."""
    words = ["mus currit", "felis dormit", "sol lucet", "luna redit", "canis latrat", "ventus spirat"]
    lines = []
    for place in range(number):
        chosen = [words[(place * step + step) % len(words)] for step in (1, 5, 7, 11)]
        silent = place % 4 == 3
        first, last = ("et", "et") if silent else ("dicit", "inquit")
        parts = [f"{chosen[0]} {first}.", f"{chosen[1]} {'et' if silent else 'o'}.", f"{last} {chosen[2]}.", chosen[3]]
        body = " ".join(parts)
        begin = len(parts[0]) + 1
        gold, places = ([], []) if silent else ([["SAID", parts[1]]], [[begin, begin + len(parts[1])]])
        head = "alia omnia" if silent else chosen[1]
        lines.append({"name": str(place), "work": "w", "head": head, "body": body, "gold": gold, "places": places})
    return lines


def span_task(folder: Path, **changes: Any) -> TaskDescription:
    lines = {"train": speeches(48), "test": speeches(8)}
    description = {**SPEECH, "files": {"train": "train.jsonl", "test": "test.jsonl"}, "types": {"SAID": "spoken words"}}
    return load(write_task(folder, description, lines, **changes))


def test_spans_are_learnt_from_what_stands_before_and_from_another_text(tmp_path: Path) -> None:
    task = span_task(tmp_path, pair=["head", "text"])
    samples, spans = read(task, tmp_path)
    found = answers([task], samples, spans).tables
    assert set(found["baseline_answer"].select("baseline", "label").rows()) == {("linear", None), ("overlap", None)}
    right = spans.filter(split="test").select("sample", "type", "text", "first", "last")
    for baseline in ("linear", "overlap"):
        own = found["baseline_span"].filter(baseline=baseline).select(right.columns)
        assert own.sort("sample").equals(right.sort("sample")), baseline


def test_spans_that_are_too_few_to_be_learnt_fail_the_task(tmp_path: Path) -> None:
    task = span_task(tmp_path, types={"SUNG": "what is sung"})
    failures = answers([task], *read(task, tmp_path)).failures
    assert failures is not None
    assert "too few spans of SUNG" in failures["error"].item()
