import difflib

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.contamination.wording import Codes, shared, words

TEXTS = st.lists(st.sampled_from("abcde"), max_size=30).map(" ".join)


def measured(text: str, reference: str) -> dict[str, float]:
    return shared(pl.DataFrame({"text": [text], "reference": [reference]})).row(0, named=True)


def longest_subsequence(first: list[str], second: list[str]) -> int:
    lengths = [0] * (len(second) + 1)
    for word in first:
        before = 0
        for place, other in enumerate(second, 1):
            before, lengths[place] = (
                lengths[place],
                before + 1 if word == other else max(lengths[place - 1 : place + 1]),
            )
    return lengths[-1]


@given(TEXTS, TEXTS)
def test_measures_are_those_of_plain_algorithms(text: str, reference: str) -> None:
    first, second = text.split(), reference.split()
    found = measured(text, reference)
    run = difflib.SequenceMatcher(None, first, second, autojunk=False).find_longest_match().size
    assert found["run"] == (run if run >= 3 else 0)
    assert found["near"] == pytest.approx(2 * longest_subsequence(first, second) / max(len(first) + len(second), 1))
    assert found["words"] == min(len(first), len(second))
    grams = [first[at : at + 3] for at in range(len(first) - 2)]
    there = [second[at : at + 3] for at in range(len(second) - 2)]
    assert found["overlap"] == (pytest.approx(sum(gram in there for gram in grams) / len(grams)) if grams else None)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6))
def test_a_pair_is_measured_alike_in_any_company(pairs: list[tuple[str, str]]) -> None:
    together = shared(pl.DataFrame(pairs, schema=["text", "reference"], orient="row")).rows(named=True)
    assert together == [measured(*pair) for pair in pairs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Tao’s way, ΑΒΓ!", ["the", "tao's", "way", "αβγ"]),
        ("道可道，非常道。", ["道", "可", "道", "非", "常", "道"]),
        ("𤄃のABC", ["𤄃", "の", "abc"]),
        ("de l'été", ["de", "l'été"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("धर्म कर्म", ["धर्म", "कर्म"]),
        ("… —", []),
    ],
)
def test_words_are_folded_and_unspaced_scripts_are_divided(text: str, expected: list[str]) -> None:
    assert words(pl.Series([text])).to_list() == [expected]


def test_an_n_gram_ends_within_its_text() -> None:
    rows = Codes.of(pl.Series(["a b c", "", "b c"])).grams(2)
    assert rows.select("text", "at").rows() == [(0, 0), (0, 1), (2, 0)]
    assert rows["gram"][1] == rows["gram"][2] != rows["gram"][0]
