"""Spans in the paper's way, beside eval4ner, and pooled."""

from typing import Any

import pytest
from eval4ner.muc import evaluate_one
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.understanding.muc import MODES, ScoredSpan, pooled, type_f1
from tests.support import examples

TEXTS = st.text("ab ", max_size=10)


@st.composite
def _spans(draw: st.DrawFn, text: str) -> list[tuple[str, str]]:
    """Pieces of the text, which are often there several times, and strings that need not be in it; also empty ones."""
    bounds = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
    words = bounds.map(lambda pair: text[pair[0] : pair[1]]) | st.text("abc", max_size=3)
    return draw(st.lists(st.tuples(st.sampled_from("XYZ"), words), max_size=5))


CASES = TEXTS.flatmap(lambda text: st.tuples(_spans(text), _spans(text), st.just(text)))


@examples(300)
@given(CASES)
def test_score_of_a_sample_is_that_of_eval4ner(case: tuple[Any, Any, str]) -> None:
    assert type_f1(*case) == evaluate_one(*case)["type"]["f1_score"]


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        ([], [], 1.0),
        ([], ["one"], 0.0),
        (["two"], [], 0.0),
        (["one two"], ["one"], 1.0),
        (["two"], ["one"], 0.0),
        (["absent"], ["absent"], 2 / 3),
        (["one", "one"], ["one"], 2 / 3),
        (["one two"], ["one", "two"], 2 / 3),
    ],
    ids=[
        "nothing", "missed", "invented", "partial", "apart", "equal but absent, which is missed too", "twice",
        "one for two",
    ],
)  # fmt: skip
def test_what_samples_are_worth(predicted: list[str], gold: list[str], score: float) -> None:
    assert type_f1([("Q", each) for each in predicted], [("Q", each) for each in gold], "one two one") == score


def test_strings_cannot_tell_repeats_apart() -> None:
    """The last word is gold, the prediction has the first: to eval4ner they overlap, by place they do not."""
    text, gold, predicted = "om mani om", ("M", "om"), ("M", "om mani")
    assert type_f1([predicted], [gold], text) == 1.0
    assert pooled([[ScoredSpan("M", 0, 7)]], [[ScoredSpan("M", 8, 10)]]).f1["pooled_type"] == 0.0


def test_pooled_modes() -> None:
    """In MUC-5's modes: an exact span, a partial one, one of the wrong type, one spurious, one missed."""
    gold = [[ScoredSpan("A", 0, 4), ScoredSpan("A", 10, 20), ScoredSpan("B", 30, 34)], [ScoredSpan("A", 0, 3)]]
    found = pooled(
        [[ScoredSpan("A", 0, 4), ScoredSpan("A", 12, 20), ScoredSpan("A", 30, 34), ScoredSpan("B", 50, 60)], []], gold
    )
    assert found.f1 == pytest.approx(
        {"pooled_type": 2 / 4, "pooled_partial": 2.5 / 4, "pooled_strict": 1 / 4, "pooled_exact": 2 / 4}
    )
    assert found.types == {"A": (3, 3, 2), "B": (1, 1, 0)}


def test_what_does_not_occur_is_spurious_or_missed() -> None:
    nowhere = ScoredSpan("A", None, None)
    found = pooled(
        [[nowhere, nowhere, ScoredSpan("A", 5, 5)], [ScoredSpan("A", 0, 3)]], [[nowhere], [ScoredSpan("A", 0, 3)]]
    )
    precision, recall = 1 / 4, 1 / 2
    assert found.f1 == pytest.approx(dict.fromkeys(MODES, 2 * precision * recall / (precision + recall)))


def test_samples_without_spans_weigh_in_one_way_only() -> None:
    empty: list[list[ScoredSpan]] = [[]] * 9
    gold: list[list[tuple[str, str]]] = [*([[]] * 9), [("A", "one")]]
    assert sum(type_f1([], own, "one") for own in gold) == 9.0
    assert set(pooled([*empty, []], [*empty, [ScoredSpan("A", 0, 3)]]).f1.values()) == {0.0}
    assert set(pooled(empty, empty).f1.values()) == {0.0}
