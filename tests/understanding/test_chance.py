"""What scores who knows nothing."""

from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.understanding import samples
from benchmark_assets.understanding.description import load
from benchmark_assets.understanding.task_scores import chances, gold


def found(description: Path) -> dict[str, tuple[float, str]]:
    task = load(description)
    read = samples.read(task, description.parent)
    rows = chances(gold(task, read.samples, read.spans), read.samples.filter(split="train"))
    return {baseline: (score, words) for _, baseline, score, words in rows.iter_rows()}


def test_of_classes(form: Path) -> None:
    """One of two train samples is verse, so both classes are as frequent, and the first of the description counts."""
    rows = found(form)
    assert {name: score for name, (score, _) in rows.items()} == {"chance": 50.0, "majority": 50.0}
    assert rows["majority"][1] == "always VERSE, the most frequent class of the train split"


def test_the_most_frequent_class_of_train_need_not_be_that_of_test(form: Path) -> None:
    train = form.parent / "form/train.jsonl"
    train.write_text('{"id": 1, "words": "mus", "form": "p", "meta": {"work": null}}\n', encoding="utf-8")
    with (form.parent / "form/test.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": 3, "words": "mus", "form": "v", "meta": {"work": null}}\n')
    score, words = found(form)["majority"]
    assert score == pytest.approx(100 / 3)
    assert words.startswith("always PROSE")


def test_without_a_train_split_the_test_split_says_what_is_frequent(form: Path) -> None:
    task = load(form)
    read = samples.read(task, form.parent)
    rows = chances(gold(task, read.samples, read.spans), read.samples.clear())
    assert rows.filter(baseline="majority")["signature"].str.ends_with("of the test split").all()


def test_of_spans_is_silence(speech: Path) -> None:
    rows = found(speech)
    assert {name: score for name, (score, _) in rows.items()} == {"chance": 50.0, "empty": 50.0}


def test_spans_of_types_that_are_not_evaluated_are_no_gold(speech: Path) -> None:
    """Of the two samples, one has a span of the type MARK, which is not asked for."""
    task = load(speech)
    read = samples.read(task, speech.parent)
    marks = read.spans.filter(type="MARK")
    assert len(marks) == 1
    rows = chances(gold(task, read.samples, marks), pl.DataFrame())
    assert rows["score"].to_list() == [100.0, 100.0]
