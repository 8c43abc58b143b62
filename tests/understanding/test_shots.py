"""Examples: chosen by a seed, balanced, and no others when the train split changes elsewhere."""

import json
from collections import Counter
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.shots import Example, examples
from resources.errors import BadInput
from tests.understanding.conftest import FORMS, SPEECH

FORM, WORDS = TaskDescription.model_validate(FORMS), TaskDescription.model_validate(SPEECH)
NO_SPANS = pl.DataFrame(schema={"split": pl.String, "sample": pl.String, "number": pl.Int32, "type": pl.String,
    "text": pl.String})  # fmt: skip


def samples(labels: Sequence[str | None], split: str = "train") -> pl.DataFrame:
    rows = [(split, f"{split}{n}", n, json.dumps({"text": f"{split} {n}"}), label) for n, label in enumerate(labels)]
    return pl.DataFrame(rows, schema=["split", "sample", "position", "texts", "label"], orient="row")


def spans(*rows: tuple[str, str, str]) -> pl.DataFrame:
    """Spans by sample, type and text, one a sample."""
    return pl.DataFrame([("train", sample, 0, kind, text) for sample, kind, text in rows],
        schema=NO_SPANS.schema, orient="row")  # fmt: skip


@given(st.integers(1, 12), st.integers(0, 5), st.integers(1, 12))
def test_classes_have_equal_shares_as_far_as_train_has_them(verses: int, seed: int, number: int) -> None:
    train = samples(["VERSE"] * verses + ["PROSE"] * 12)
    chosen = examples(FORM, pl.concat([train, samples(["VERSE"], "test")]), NO_SPANS, number, seed)
    counts = Counter(each.label for each in chosen)
    assert len(set(chosen)) == len(chosen) == number
    assert all("train" in each.texts for each in chosen)
    assert counts["VERSE"] in {min(verses, number // 2), min(verses, (number + 1) // 2)}


def test_samples_with_and_without_a_span_of_the_types_asked_for_alternate() -> None:
    marked = [(f"train{n}", "SAID" if n % 2 else "WHO", "x") for n in range(6)] + [("train6", "MARK", ":")]
    chosen = examples(WORDS, samples([None] * 20), spans(*marked), 8, 1)
    assert [bool(each.spans) for each in chosen] in ([True, False] * 4, [False, True] * 4)
    assert {kind for each in chosen for kind, _ in each.spans} <= {"SAID", "WHO"}


def test_a_seed_chooses_the_same_again_and_another_seed_others() -> None:
    train = samples(["VERSE", "PROSE"] * 50)
    first = examples(FORM, train, NO_SPANS, 4, 1)
    assert examples(FORM, train.sample(fraction=1, shuffle=True, seed=3), NO_SPANS, 4, 1) == first
    assert len({tuple(examples(FORM, train, NO_SPANS, 4, seed)) for seed in range(10)}) == 10


def test_a_sample_that_goes_changes_the_choice_only_where_it_was_in_it() -> None:
    train = samples(["VERSE", "PROSE"] * 10)
    first = examples(FORM, train, NO_SPANS, 4, 1)
    for name, texts in train.select("sample", "texts").iter_rows():
        rest = examples(FORM, train.filter(pl.col("sample") != name), NO_SPANS, 4, 1)
        kept = [each for each in first if each.texts != texts]
        assert {each for each in rest if each in first} == set(kept)
        assert len(kept) >= 3


def test_without_shots_there_are_no_examples_and_train_is_not_needed() -> None:
    assert examples(FORM, samples(["VERSE"], "test"), NO_SPANS, 0, 1) == []


def test_more_examples_than_train_has_are_refused() -> None:
    train = samples(["VERSE", "PROSE"])
    assert len(examples(FORM, train, NO_SPANS, 2, 1)) == 2
    with pytest.raises(BadInput, match="has 2 samples to train with, and 3 examples are asked for"):
        examples(FORM, train, NO_SPANS, 3, 1)


def test_an_example_has_its_texts_and_its_answer() -> None:
    (one,) = examples(FORM, samples(["VERSE"]), NO_SPANS, 1, 1)
    assert one == Example('{"text": "train 0"}', "VERSE", ())
