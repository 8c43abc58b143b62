from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.alignment.units import LEAST_CLAUSE, LONG, units
from benchmark_assets.corpus.sentences import LEAST_SENTENCE, sentences

PIECES = st.sampled_from([
    *("The miller rose early", "Why?", "etc.", "and nobody saw him go", "“So it is.”", "道可道，非常道。名可名"),
    *(". ", ", ", "; ", "! ", "… ", " — ", "--", " ", "\n", "\n\n", "\n" * 30, " " * 40, "."),
])  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=60))
LENGTHS = st.sampled_from([LONG / 2, 2 * LONG])


@given(TEXTS, LENGTHS)
def test_units_cover_the_text_in_order_without_gaps(text: str, length: float) -> None:
    found = units(text, length)
    assert "".join(text[start:end] for start, end in found.spans) == (text if text.strip() else "")
    assert [text[start:end].strip() for start, end in found.spans] == found.texts
    assert all(found.texts), "a unit is blank"


@given(TEXTS, LENGTHS)
def test_only_the_first_unit_of_a_text_may_be_short(text: str, length: float) -> None:
    """A unit is short where the whole text is; what is short at the end belongs to the unit before."""
    least = LEAST_CLAUSE if length < LONG else LEAST_SENTENCE
    spans = units(text, length).spans
    assert len(spans) < 2 or all(end - start >= least for start, end in spans)


@given(TEXTS, LENGTHS)
def test_each_unit_counts_with_one_space_and_a_text_begins_and_ends_at_every_kind_of_boundary(
    text: str, length: float
) -> None:
    found = units(text, length)
    assert found.ends[0] == 0
    assert [end - start for start, end in pairwise(found.ends)] == [len(each) + 1 for each in found.texts]
    for kind in (found.paragraphs, found.sentences):
        assert len(kind) == len(found.ends)
        assert kind[0]
        assert kind[-1]


def test_a_text_for_long_segments_is_cut_into_sentences() -> None:
    first, then = (
        "He rose early, as he did every day.",
        "“Is there any bread in the house?” There was none.\n\nSo he went.",
    )
    found = units(f"{first} {then}", LONG + 1)
    assert found.texts == [first, then]
    long = units("He rose early, as he did every day;\n\nhe took the long road to the market.", LONG + 1)
    assert len(long.texts) == 2
    assert (long.paragraphs.tolist(), long.sentences.tolist()) == ([True, True, True], [True, False, True])


def test_a_text_for_short_segments_is_cut_into_clauses() -> None:
    text = "He rose early, as he always did, and went down to the pond;\nthere he sat -- alone"
    found = units(text, LONG - 1)
    assert found.texts == [
        "He rose early,", "as he always did,", "and went down to the pond;", "there he sat -- alone"
    ]  # fmt: skip
    assert found.paragraphs.tolist() == [True, False, False, True, True]
    assert not found.sentences[1:-1].any()


@pytest.mark.parametrize("text", ["", " ", "\n\n \n", " " * 60 + "\n" * 60 + " " * 60])
def test_a_blank_text_has_no_unit(text: str) -> None:
    assert units(text, LONG).texts == sentences(text) == []


def test_chinese_is_cut_at_its_own_punctuation() -> None:
    clauses = ["昔者有一老翁居於山下，", "其子三人皆好讀書不倦，", "而鄰人莫知其所以然也。"]
    assert units("".join(clauses), LONG / 2).texts == clauses
    assert sentences("".join(clauses * 2)) == ["".join(clauses)] * 2


@given(st.lists(st.sampled_from(["One thing there was on that day.", "Nobody came to the house again!"]), max_size=6))
def test_sentences_joined_are_found_again(each: list[str]) -> None:
    assert sentences(" ".join(each)) == each
