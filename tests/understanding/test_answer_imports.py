"""Answers that were made elsewhere: what a file may hold, and what becomes of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.understanding.answer_imports import import_answers
from benchmark_assets.understanding.answers import TaskAnswers
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from tests.understanding.test_answers import Room, grid


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Room:
    """The two tasks, and no model in the registry."""
    folder = tmp_path_factory.mktemp("room")
    each = Room(folder, DuckDBWarehouse(path=str(folder / "variorum.duckdb")), "http://127.0.0.1:1/v1")
    each.model(models=[])
    return each


@pytest.fixture
def room(stocked: Room) -> Iterator[Room]:
    """The same without imported answers."""
    with stocked.warehouse.kept_open():
        stocked.model(models=[])
        stocked.store({"imported_answer": stocked.warehouse.empty("imported_answer")})
        yield stocked


def lines(path: Path, *records: Any) -> Path:
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in records), "utf-8")
    return path


def test_imported_answers_are_read_like_replies_and_samples_without_one_are_unusable(room: Room) -> None:
    path = lines(room.folder / "a.jsonl", {"sample": 2, "label": "verse"})
    assert import_answers(room.warehouse, path, "FORM", "m") == (1, 2)
    pairs = {"sample": "a", "prediction": [["WHO", "mus"], {"LABEL": "SAID", "SPAN": "abi"}]}
    empty = {"sample": "b", "prediction": []}
    assert import_answers(room.warehouse, lines(path, pairs, empty), "SPEECH", "m") == (2, 2)
    room.answered()
    assert room.rows("answer", "task", "seed", "sample", "label", "usable", "problem", "steps") == [
        ("FORM", 1, "1", "PROSE", False, "no answer was imported", ""),
        ("FORM", 1, "2", "VERSE", True, None, "case"),
        ("SPEECH", 1, "a", None, True, None, "tuple"),
        ("SPEECH", 1, "b", None, True, None, ""),
    ]
    assert room.rows("answer_span", "sample", "type", "first", "located") == [
        ("a", "WHO", 0, "exact"), ("a", "SAID", None, "absent"),
    ]  # fmt: skip
    assert room.rows("study_call", "call") == []
    assert {how for (how,) in room.rows("answer", "how")} == {"imported from a.jsonl"}


def test_an_import_replaces_the_one_before_and_only_its_task_is_due(room: Room) -> None:
    path = room.folder / "a.jsonl"
    import_answers(room.warehouse, lines(path, {"sample": 1, "label": "PROSE"}), "FORM", "m")
    import_answers(room.warehouse, lines(path, {"sample": "a", "prediction": []}), "SPEECH", "m")
    before = TaskAnswers(room.warehouse, room.systems).settings(grid())
    import_answers(room.warehouse, lines(path, {"sample": 2, "label": "VERSE"}), "FORM", "m")
    after = TaskAnswers(room.warehouse, room.systems).settings(grid())
    assert before.join(after, on=after.columns, how="anti")["task"].to_list() == ["FORM"]
    assert room.rows("imported_answer", "task", "sample") == [("FORM", "2"), ("SPEECH", "a")]
    assert "m" in room.systems.models()


def test_a_name_that_the_registry_has_too_is_the_fault_of_its_answers(room: Room) -> None:
    import_answers(room.warehouse, lines(room.folder / "a.jsonl", {"sample": 1, "label": "PROSE"}), "FORM", "m")
    room.model(models=["m"])
    computed = TaskAnswers(room.warehouse, room.systems).compute(grid(codes=["FORM"]), "run")
    assert computed.failures is not None
    assert "is in the registry, and answers were imported under its name" in computed.failures["error"][0]


GOOD = {"sample": 1, "label": "VERSE"}


def test_under_the_name_of_a_model_of_the_registry_nothing_is_imported(room: Room) -> None:
    room.model(models=["m"])
    path = lines(room.folder / "a.jsonl", GOOD)
    registered = room.systems.provider.registry().models
    with pytest.raises(BadInput, match="m: is the name of a registered model; import the answers under another name"):
        import_answers(room.warehouse, path, "FORM", "m", registered)
    assert room.rows("imported_answer", "model") == []
    assert import_answers(room.warehouse, path, "FORM", "n", registered).answers == 1


@pytest.mark.parametrize(
    ("content", "task", "model", "key", "problem"),
    [
        ([], "FORM", "m", "", "contains no answers"),
        ([{"sample": 9, "label": "VERSE"}], "FORM", "m", "9", "is not a sample of the test split of FORM"),
        ([GOOD, GOOD], "FORM", "m", "line 2 1", "occurs twice"),
        ([GOOD, {"sample": 2}], "FORM", "m", "line 2", "lacks `sample` or `label`"),
        ([{"label": "VERSE"}], "FORM", "m", "line 1", "lacks `sample` or `label`"),
        ([{"sample": True, "label": "VERSE"}], "FORM", "m", "line 1", "lacks `sample`"),
        ([{"sample": "a"}], "SPEECH", "m", "line 1", "lacks `sample` or `prediction`"),
        ([{"sample": "a", "label": "VERSE"}], "SPEECH", "m", "line 1 label", "unknown key"),
        ([GOOD, {"sample": 2, "label": "VERSE", "labels": "x"}], "FORM", "m", "line 2 labels", "unknown key"),
        (['{"sample": 1, "la'], "FORM", "m", "line 1 column 15", "is not valid JSON"),
        ([GOOD], "FORM", "my model", "'my model'", "cannot be the key"),
    ],
)
def test_of_a_file_with_a_fault_nothing_is_imported_and_what_was_there_stays(
    room: Room, content: list[Any], task: str, model: str, key: str, problem: str
) -> None:
    path = room.folder / "a.jsonl"
    import_answers(room.warehouse, lines(path, {"sample": 2, "label": "PROSE"}), "FORM", "m")
    before = room.warehouse.read("imported_answer")
    with pytest.raises(BadInput) as caught:
        import_answers(room.warehouse, lines(path, *content), task, model)
    assert (caught.value.where, caught.value.key) == (str(path), key)
    assert problem in caught.value.problem
    assert room.warehouse.read("imported_answer").equals(before)


def test_an_ignored_key_is_not_read(room: Room) -> None:
    path = lines(room.folder / "a.jsonl", GOOD | {"seconds": 3}, {"sample": 2, "label": "PROSE", "cost": 1})
    with pytest.raises(BadInput) as caught:
        import_answers(room.warehouse, path, "FORM", "m")
    assert [fault.key for fault in caught.value.faults] == ["line 2 cost", "line 1 seconds"]
    assert import_answers(room.warehouse, path, "FORM", "m", ignore=["seconds", "cost"]).answers == 2


def test_a_task_that_is_not_here_and_a_file_that_is_not_there_are_refused(room: Room) -> None:
    with pytest.raises(BadInput, match="OTHER: is not a task of this warehouse"):
        import_answers(room.warehouse, lines(room.folder / "a.jsonl", GOOD), "OTHER", "m")
    with pytest.raises(BadInput, match="is not a file"):
        import_answers(room.warehouse, room.folder / "b.jsonl", "FORM", "m")
