"""Examples: chosen by a seed, balanced, and no others when the train split changes elsewhere."""

import json
from collections import Counter
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.samples import SAMPLE
from benchmark_assets.understanding.shots import Example, examples, showable
from resources.errors import BadInput
from tests.understanding.conftest import FORMS, SPEECH

FORM, WORDS = TaskDescription.model_validate(FORMS), TaskDescription.model_validate(SPEECH)
NO_SPANS = pl.DataFrame(schema={"split": pl.String, "sample": pl.String, "number": pl.Int32, "type": pl.String,
    "text": pl.String})  # fmt: skip


def samples(labels: Sequence[str | None], split: str = "train", texts: Sequence[str] | None = None) -> pl.DataFrame:
    """Rows of `task_sample`, of samples that are called after their split."""
    said = texts or [f"{split} {n}" for n in range(len(labels))]
    rows = [
        ("T", split, f"{split}{n}", n, json.dumps({"text": text}, ensure_ascii=False), label, None)
        for n, (text, label) in enumerate(zip(said, labels, strict=True))
    ]
    return pl.DataFrame(rows, schema=SAMPLE, orient="row")


def spans(*rows: tuple[str, str, str]) -> pl.DataFrame:
    """Spans by sample, type and text, one a sample."""
    return pl.DataFrame([("train", sample, 0, kind, text) for sample, kind, text in rows],
        schema=NO_SPANS.schema, orient="row")  # fmt: skip


@given(st.integers(1, 12), st.integers(0, 5), st.integers(1, 12))
def test_classes_have_equal_shares_as_far_as_train_has_them(verses: int, seed: int, number: int) -> None:
    train = samples(["VERSE"] * verses + ["PROSE"] * 12)
    chosen = examples(FORM, train, NO_SPANS, number, seed)
    counts = Counter(each.label for each in chosen)
    assert len(set(chosen)) == len(chosen) == number
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
    assert examples(FORM, samples([]), NO_SPANS, 0, 1) == []


def test_more_examples_than_train_has_are_refused() -> None:
    train = samples(["VERSE", "PROSE"])
    assert len(examples(FORM, train, NO_SPANS, 2, 1)) == 2
    with pytest.raises(
        BadInput, match="has 2 samples without a near neighbor in the test split, but 3 examples are needed"
    ):
        examples(FORM, train, NO_SPANS, 3, 1)


def test_an_example_has_its_texts_and_its_answer() -> None:
    (one,) = examples(FORM, samples(["VERSE"]), NO_SPANS, 1, 1)
    assert one == Example('{"text": "train 0"}', "VERSE", ())


def test_what_gives_a_test_sample_away_is_not_shown() -> None:
    """The same text, one so short that it has no n-gram, and one that shares a third of its words with a test sample;
    a verse and a line beside them do not."""
    asked = ["arma virumque cano, Troiae qui primus ab oris", "a be"]
    known = [asked[0], asked[1], "arma virumque cano, sed nihil aliud", "gallia est omnis divisa in partes tres", "o"]
    train = samples(["VERSE", "PROSE", "PROSE", "PROSE", "PROSE"], "train", known)
    whole = pl.concat([train, samples(["VERSE", "VERSE"], "test", asked)])
    assert showable(whole)["sample"].to_list() == ["train3", "train4"]
    assert showable(train).equals(train)
    assert showable(samples(["VERSE"], "test")).is_empty()
    with pytest.raises(BadInput, match="has 2 samples without a near neighbor"):
        examples(FORM, showable(whole), NO_SPANS, 3, 1)
