"""Tasks in the warehouse: what their files hold, and that nothing is taken from a file with a fault."""

import json
import re
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import removal
from benchmark_assets.corpus.registry import register
from benchmark_assets.partitions import range_tags
from benchmark_assets.understanding.assets import task_sample
from benchmark_assets.understanding.description import load
from benchmark_assets.understanding.samples import read
from benchmark_assets.understanding.tasks import import_tasks, tasks
from resources.errors import BadInput
from resources.warehouse import Warehouse
from tests.processes import here
from tests.systems import RuleSystems
from tests.understanding.conftest import FORM_LINES, FORMS, SPEECH, SPEECH_LINES, write_task


def materialize(instance: dg.DagsterInstance, warehouse: Warehouse, *codes: str) -> bool:
    """Materialize a range of tasks in one run; whether it succeeded."""
    instance.add_dynamic_partitions("task", codes)
    tags, resources = range_tags(codes[0], codes[-1]), {"warehouse": warehouse}
    return dg.materialize(
        [task_sample], instance=instance, resources=resources, tags=tags, raise_on_error=False
    ).success


def edit(path: Path, number: int, **changes: Any) -> None:
    """Change fields of one line of a file; None drops a field."""
    lines = path.read_text(encoding="utf-8").splitlines()
    changed = {key: value for key, value in {**json.loads(lines[number]), **changes}.items() if value is not None}
    lines[number] = json.dumps(changed)
    path.write_text("\n".join(lines), encoding="utf-8")


def test_samples_of_classes(form: Path) -> None:
    found = read(load(form), form.parent)
    assert found.spans.is_empty()
    assert found.samples.drop("task").rows() == [
        ("test", "1", 0, '{"text": "sol oritur"}', "PROSE", "De sole"),
        ("test", "2", 1, '{"text": "sol occidit\\nsero sane"}', "VERSE", "De sole"),
        ("train", "1", 0, '{"text": "mus currit"}', "PROSE", "De muribus"),
        ("train", "2", 1, '{"text": "luna lucet\\nlenis lente"}', "VERSE", None),
    ]


def test_samples_of_spans(speech: Path) -> None:
    found = read(load(speech), speech.parent)
    assert found.samples["texts"].to_list() == [
        '{"head": "Mus et felis", "text": "mus: veni, felis: veni"}',
        '{"head": "Nox", "text": "nox est,  nemo loquitur"}',
    ]
    assert found.samples["label"].to_list() == [None, None]
    assert found.spans.drop("task", "split").rows() == [
        ("a", 0, "WHO", "mus", 0, 3, "given"),
        ("a", 1, "SAID", "veni", 5, 9, "given"),
        ("a", 2, "SAID", "veni", 18, 22, "given"),
        ("a", 3, "MARK", ":", 3, 4, "given"),  # no type of the task, and kept
    ]


def test_without_offsets_spans_are_searched_for(tmp_path: Path) -> None:
    path = write_task(tmp_path, SPEECH, SPEECH_LINES, spans={"field": "gold"})
    spans = read(load(path), tmp_path).spans
    assert spans.select("first", "last", "located").rows() == [
        (0, 3, "exact"), (5, 9, "exact"), (18, 22, "exact"), (3, 4, "exact"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "changes", "key", "problem"),
    [
        (FORMS, {"id": 1}, "line 2 id", "is also the name of an earlier sample"),
        (FORMS, {"id": True}, "line 2 id", "neither a string nor"),
        (FORMS, {"id": None}, "line 2 id", "is missing"),
        (FORMS, {"words": " "}, "line 2 words", "is not a string"),
        (FORMS, {"form": "x"}, "line 2 form", "not one of `labels`"),
        (FORMS, {"meta": {}}, "line 2 meta.work", "is missing"),
        (SPEECH, {"gold": [["SAID", "nox"]]}, "line 2 places", "0 places for 1 spans"),
        (SPEECH, {"gold": ["nox"]}, "line 2 gold", "not a list of pairs of strings"),
        (SPEECH, {"gold": [["SAID", "nox"]], "places": [["0", "3"]]}, "line 2 places", "pairs of integers"),
    ],
)
def test_a_fault_in_a_line_is_named(
    tmp_path: Path, base: dict[str, Any], changes: dict[str, Any], key: str, problem: str
) -> None:
    path = write_task(tmp_path, base, FORM_LINES if base is FORMS else SPEECH_LINES)
    edit(tmp_path / base["files"]["test"], 1, **changes)
    with pytest.raises(BadInput) as refused:
        read(load(path), tmp_path)
    assert (refused.value.key, refused.value.where) == (key, str(tmp_path / base["files"]["test"]))
    assert problem in refused.value.problem


@pytest.mark.parametrize("wrong", [{"form": "x" * 90}, {"id": ["x" * 90]}, {"meta": {"work": ["x" * 90]}}])
@pytest.mark.parametrize("restricted", [True, False])
def test_a_fault_shows_the_beginning_of_a_value_and_of_a_restricted_one_nothing(
    tmp_path: Path, wrong: dict[str, Any], restricted: bool
) -> None:
    """A description may take the text for a label or a name by mistake."""
    path = write_task(tmp_path, FORMS, FORM_LINES, restricted=restricted)
    edit(tmp_path / "form/test.jsonl", 1, **wrong)
    with pytest.raises(BadInput) as refused:
        read(load(path), tmp_path)
    assert refused.value.problem.count("x") == (0 if restricted else pytest.approx(38, abs=1))
    assert ("of 9" in refused.value.problem) == restricted


def test_a_restricted_name_that_comes_twice_is_not_shown(tmp_path: Path) -> None:
    path = write_task(tmp_path, FORMS, FORM_LINES, restricted=True, sample="words")
    edit(tmp_path / "form/test.jsonl", 1, words=FORM_LINES["test"][0]["words"])
    with pytest.raises(BadInput, match="line 2 words: a str of 10 characters is also the name of an earlier sample"):
        read(load(path), tmp_path)


def test_names_that_come_twice_are_told_apart_where_the_description_says_so(tmp_path: Path) -> None:
    lines = [{**line, "id": "x"} for line in FORM_LINES["test"]]
    path = write_task(tmp_path, FORMS, {**FORM_LINES, "test": lines}, numbered=True)
    assert read(load(path), tmp_path).samples["sample"].to_list() == ["x", "x#2", "1", "2"]


def test_a_file_that_is_missing_is_had_somewhere(tmp_path: Path, warehouse: Warehouse) -> None:
    path = write_task(tmp_path, SPEECH, {}, origin="https://example.org/speech")
    (fault,) = import_tasks(warehouse, [path], tmp_path).faults
    assert re.search(r"speech\.jsonl: SPEECH: is not a file; obtain it from https://example\.org", str(fault))


def test_a_code_is_given_once_and_is_no_corpus(
    warehouse: Warehouse, form: Path, speech: Path, tmp_path: Path, corpus: Path
) -> None:
    other = write_task(tmp_path / "elsewhere", FORMS, FORM_LINES, title="another")
    codes, faults = import_tasks(warehouse, [form, other, speech, speech], form.parent)
    assert codes == ["SPEECH"]
    assert [(each.where, each.problem) for each in faults] == [
        (str(path), "'FORM' is given twice") for path in (form, other)
    ]
    name = register(warehouse, corpus).name
    third = write_task(tmp_path / "third", FORMS, FORM_LINES, task=name)
    codes, (fault,) = import_tasks(warehouse, [third], tmp_path / "third")
    assert (codes, fault.problem) == ([], f"{name!r} is a corpus of this warehouse")


def test_a_task_moves_to_another_description_and_another_folder(
    warehouse: Warehouse, instance: dg.DagsterInstance, form: Path, tmp_path: Path
) -> None:
    import_tasks(warehouse, [form], form.parent)
    assert materialize(instance, warehouse, "FORM")
    lines = {**FORM_LINES, "test": [FORM_LINES["test"][1]]}
    other = write_task(tmp_path / "elsewhere", FORMS, lines, title="another")
    assert import_tasks(warehouse, [other], other.parent) == (["FORM"], [])
    assert tasks(warehouse)["FORM"].title == "another"
    assert materialize(instance, warehouse, "FORM")
    found = warehouse.read("task_sample", pl.DataFrame({"split": ["test"]}), ["texts"])
    assert found["texts"].to_list() == ['{"text": "sol occidit\\nsero sane"}']


def test_the_command_imports_what_is_sound_and_fails_with_file_key_and_remedy_of_the_rest(
    home: Path, form: Path, speech: Path
) -> None:
    (speech.parent / "speech.jsonl").write_text("{}\n", encoding="utf-8")
    done = here(home, "import", "tasks", str(form), str(speech), "--root", str(form.parent), code=1)
    assert [line.split() for line in done.stdout.splitlines()[1:3]] == [["FORM", "test", "2"], ["FORM", "train", "2"]]
    assert done.stderr.splitlines()[-2:] == [
        "Error: not imported:",
        f"{speech.parent / 'speech.jsonl'}: line 1 name: is missing; the line has no field; "
        "correct the file or the description",
    ]


def test_a_work_is_read_out_of_a_source_that_says_more(tmp_path: Path) -> None:
    path = write_task(tmp_path, FORMS, FORM_LINES, work=r"De (\w+)")
    found = read(load(path), tmp_path).samples
    assert found["source"].to_list() == ["sole", "sole", "muribus", None]
    edit(tmp_path / "form/test.jsonl", 1, meta={"work": "Nox"})
    with pytest.raises(BadInput, match=r"line 2 meta\.work: 'Nox' does not match `work`"):
        read(load(path), tmp_path)


def test_an_unknown_task_is_none(warehouse: Warehouse, form: Path) -> None:
    import_tasks(warehouse, [form], form.parent)
    with pytest.raises(BadInput, match=r"SPEECH: is not a task .*use FORM"):
        tasks(warehouse, ["FORM", "SPEECH"])


def test_a_changed_file_is_read_and_one_with_a_fault_fails_alone(
    warehouse: Warehouse, instance: dg.DagsterInstance, form: Path, speech: Path
) -> None:
    import_tasks(warehouse, [form, speech], form.parent)
    assert materialize(instance, warehouse, "FORM", "SPEECH")
    before = warehouse.read("task_span")
    runs = warehouse.read("task_sample", columns=["task", "run_id"])
    assert materialize(instance, warehouse, "FORM", "SPEECH")  # nothing changed, so nothing was written
    assert warehouse.read("task_sample", columns=["task", "run_id"]).equals(runs)

    edit(form.parent / "form/test.jsonl", 0, form="v")
    edit(speech.parent / "speech.jsonl", 0, body="mus: ")
    edit(speech.parent / "speech.jsonl", 1, gold="none")
    assert not materialize(instance, warehouse, "FORM", "SPEECH")
    labels = warehouse.read("task_sample", pl.DataFrame({"task": ["FORM"], "split": ["test"]}), ["label"])
    assert labels["label"].to_list() == ["VERSE", "VERSE"]
    assert warehouse.read("task_span").equals(before)  # what was sound stays until the file is mended


def test_a_task_goes_with_all_its_rows(
    warehouse: Warehouse, instance: dg.DagsterInstance, form: Path, speech: Path, systems: RuleSystems
) -> None:
    import_tasks(warehouse, [form, speech], form.parent)
    materialize(instance, warehouse, "FORM", "SPEECH")
    gone: list[pl.DataFrame] = []

    @dg.op
    def forget(context: dg.OpExecutionContext) -> None:
        gone.append(removal.task(context, warehouse, systems, "SPEECH"))

    @dg.job
    def forgetting() -> None:
        forget()

    forgetting.execute_in_process(instance=instance)
    assert dict(gone[0].iter_rows()) == {"task": 1, "task_sample": 2, "task_span": 4}
    assert instance.get_dynamic_partitions("task") == ["FORM"]
    assert list(tasks(warehouse)) == ["FORM"]
    assert set(warehouse.read("task_sample")["task"]) == {"FORM"}
    with pytest.raises(BadInput, match="no such task in this warehouse"):
        forgetting.execute_in_process(instance=instance)
