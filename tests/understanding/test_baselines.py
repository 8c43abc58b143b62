"""Trained baselines of tasks: what the linear one learns, when they are stale, and what a failed training does."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.understanding import encoder
from benchmark_assets.understanding.assets import baseline_answer, encoder_answer, task_leakage, task_sample
from benchmark_assets.understanding.baselines import answers, determinants, labels, ngrams
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


def found(folder: Path, task: TaskDescription) -> Computed:
    return answers([task], read(task, folder).samples)


def test_the_baseline_applies_to_classes_with_a_train_split(tmp_path: Path) -> None:
    trained = found(tmp_path, form_task(tmp_path)).tables["baseline_answer"]
    assert trained.select("baseline", "seed", "sample").rows() == [("linear", 1, "1"), ("linear", 1, "2")]
    for task in (form_task(tmp_path, files={"test": "form/test.jsonl"}), load(write_task(tmp_path, SPEECH, {}))):
        assert determinants(task) == ""


def test_a_baseline_that_cannot_be_trained_fails_the_task_with_its_reason(tmp_path: Path) -> None:
    task = form_task(tmp_path, files={"train": "form/one.jsonl", "test": "form/test.jsonl"})
    (tmp_path / "form/one.jsonl").write_text(f"{json.dumps(FORM_LINES['train'][0])}\n", encoding="utf-8")
    failures = found(tmp_path, task).failures
    assert failures is not None
    assert failures["task"].to_list() == ["FORM"]
    assert "could not be trained" in failures["error"].item()


@given(st.text("aāབོད་ 𑀅\n", max_size=30))
def test_ngrams_are_all_substrings_of_one_to_five_characters(text: str) -> None:
    substrings = Counter(text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1) if j - i <= 5)
    assert Counter(ngrams(text)) == substrings


def dialect(ending: str, chance: random.Random) -> str:
    return " ".join("".join(chance.choices("bdgklmnrst", k=3)) + ending for _ in range(12))


def test_the_baseline_learns_endings_of_words_and_says_the_same_twice() -> None:
    chance = random.Random(1)
    texts = [dialect(ending, chance) for ending in ("um", "on") * 30]
    classes = ["west", "east"] * 30
    assert labels(texts[:40], classes[:40], texts[40:]) == classes[40:]
    assert labels(texts[:40], classes[:40], texts) == labels(texts[:40], classes[:40], texts)


def test_texts_without_a_known_ngram_and_empty_ones_are_labelled_too() -> None:
    assert set(labels(["abab", "baba", "cdcd", "dcdc"], ["x", "x", "y", "y"], ["", "བོད"])) <= {"x", "y"}


@pytest.mark.parametrize("texts", [["ab", "ab"], ["ab", "cd"]], ids=["one class", "no shared character"])
def test_what_cannot_be_trained_is_refused(texts: list[str]) -> None:
    with pytest.raises(ValueError, match=r"class|terms"):
        labels(texts, ["x", "x" if texts[0] == texts[1] else "y"], texts)


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


def test_answers_are_due_where_samples_change_and_gone_with_the_train_split(
    warehouse: Warehouse, instance: dg.DagsterInstance, registry: Path, tmp_path: Path
) -> None:
    own, other = tmp_path / "form", tmp_path / "other"
    lines = {**FORM_LINES, "test": [*FORM_LINES["test"], {**FORM_LINES["test"][0], "id": 3}]}
    import_tasks(warehouse, [write_task(own, FORMS, FORM_LINES)], own)
    import_tasks(warehouse, [write_task(other, FORMS, FORM_LINES, task="OTHER")], other)
    assert materialize(instance, warehouse, registry, "FORM", "OTHER") == [True, True]
    first = runs(warehouse, "baseline_answer")
    assert set(first) == set(runs(warehouse, "task_leakage")) == {"FORM", "OTHER"}

    write_task(other, FORMS, lines, task="OTHER")
    materialize(instance, warehouse, registry, "FORM", "OTHER")
    assert runs(warehouse, "baseline_answer")["FORM"] == first["FORM"]
    assert warehouse.read("baseline_answer").filter(task="OTHER")["sample"].to_list() == ["1", "2", "3"]

    write_task(other, FORMS, FORM_LINES, task="OTHER", files={"test": "form/test.jsonl"})
    materialize(instance, warehouse, registry, "OTHER")
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
        found = encoder.answers(warehouse, [task], samples, encoders, run).tables["encoder_answer"]
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
