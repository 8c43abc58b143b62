"""Where spans lie: whatever was cut out of a text is found in it again, in any spelling that is the same."""

import re
import unicodedata
from itertools import accumulate, combinations
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark_assets.understanding.spans import SpanPlace, locate

SANSKRIT = st.text("aāiuṛṣśm| \n.", min_size=1, max_size=60)
TIBETAN = st.text("ཀགསངྱྲིོུཾ་༌། \n", min_size=1, max_size=60)
MIXED = st.text("ae\u0304\u0323\u0301āạé가각ᄀ\u1161\u11a8𑀅 \t", min_size=1, max_size=40)
TEXTS = st.one_of(SANSKRIT, TIBETAN, MIXED)


def letters(text: str) -> list[str]:
    """A text cut before everything that is no mark."""
    return re.findall(r"(?s).[\u0300-\u036f\u0f71-\u0fbc]*", text)


@st.composite
def cut(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> tuple[str, int, int]:
    """A text and where a span of it lies that has some letter; no mark stands on a blank."""
    text = re.sub(r"(\s)[\u0300-\u036f\u0f71-\u0fbc]+", r"\1", draw(texts))
    ends = [*accumulate(map(len, letters(text)), initial=0)]
    ends = [at for at in ends if at == len(text) or unicodedata.category(text[at])[0] != "M"]
    spans = [place for place in combinations(ends, 2) if text[slice(*place)].strip()]
    assume(spans)
    return text, *draw(st.sampled_from(spans))


@given(cut())
def test_a_given_place_holds(case: tuple[str, int, int]) -> None:
    text, first, last = case
    assert locate(text, [text[first:last]], [(first, last)]) == [SpanPlace(first, last, "given", 1)]


@given(cut(), st.integers(-5, 70), st.integers(-5, 70))
def test_a_place_that_holds_other_words_is_looked_for_anew(case: tuple[str, int, int], start: int, end: int) -> None:
    text, first, last = case
    span = text[first:last]
    (place,) = locate(text, [span], [(start, end)])
    assert place.first is not None
    assert text[place.first : place.last] == span


@given(cut())
def test_what_was_cut_out_is_found_as_it_is(case: tuple[str, int, int]) -> None:
    text, first, last = case
    (place,) = locate(text, [text[first:last]])
    assert place.located == "exact"
    assert place.first is not None
    assert place.first <= first
    assert text[place.first : place.last] == text[first:last]


@given(cut(), st.sampled_from(["NFC", "NFD"]), st.sampled_from([" ", "\n", " \t "]))
def test_another_spelling_is_found_with_places_of_the_text(
    case: tuple[str, int, int], form: Literal["NFC", "NFD"], blank: str
) -> None:
    text, first, last = case
    span = re.sub(r"\s+", blank, unicodedata.normalize(form, text[first:last]))
    span = span.replace("\u0f0c", "\u0f0b")
    (place,) = locate(text, [span])
    assert place.located in ("exact", "normalized")
    assert place.first is not None

    def plain(words: str) -> str:
        words = unicodedata.normalize("NFC", words).replace("\u0f0c", "\u0f0b").strip()
        return re.sub(r"\s+", " ", re.sub(r"(?<=\u0f0b)\s+", "", words))

    assert plain(text[place.first : place.last]) == plain(span)


@given(st.sampled_from(["veni", "ཀྱི་", "rāma"]), st.lists(st.sampled_from([", ", "། ", "x", "\n"]), max_size=5))
def test_equal_spans_get_one_occurrence_after_the_other(word: str, between: list[str]) -> None:
    text = word + "".join(gap + word for gap in between)
    places = locate(text, [word] * (len(between) + 1))
    starts = [place.first for place in places]
    assert starts == [found.start() for found in re.finditer(word, text)]
    assert {place.occurrences for place in places} == {len(places)}


@given(cut(), cut())
def test_spans_do_not_disturb_each_other_unless_they_are_the_same(
    case: tuple[str, int, int], other: tuple[str, int, int]
) -> None:
    text, first, last = case
    together = locate(text, [text[first:last], other[0][other[1] : other[2]], "nowhere in it"])
    assert together[0] == locate(text, [text[first:last]])[0]
    assert together[2].located == "absent"


def test_one_more_than_there_are_shares_a_place() -> None:
    assert [place.first for place in locate("da mihi, da", ["da", "da", "da"])] == [0, 9, 0]


def test_a_place_that_is_wrong_says_which_occurrence_is_meant() -> None:
    assert locate("veni, vidi, veni", ["veni", "veni"], [(11, 15), (0, 0)]) == [
        SpanPlace(12, 16, "exact", 2), SpanPlace(0, 4, "exact", 2)
    ]  # fmt: skip


def test_an_occurrence_that_would_part_a_letter_does_not_hide_the_next() -> None:
    assert locate("a\u0304a\u0304a", ["a\u0304a"]) == [SpanPlace(2, 5, "exact", 1)]


def test_a_given_place_is_taken_before_others_are_looked_for() -> None:
    places = locate("veni, veni", ["veni", "veni"], [(4, 8), (0, 4)])
    assert [(place.first, place.located) for place in places] == [(6, "exact"), (0, "given")]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("ra\u0304ma", "ra"),  # rā is another syllable
        ("ཀྱི་", "ཀ"),  # a stack is one
        ("ཀི་", "ཀ"),
        ("a, b", "a b"),
        ("Rama", "rama"),
        ("ཀ། །ཀ", "ཀ།།ཀ"),
        ("ཀ", " "),
        ("ཀ", ""),
        ("", "ཀ"),
    ],
)
def test_other_words_are_absent(text: str, span: str) -> None:
    assert locate(text, [span]) == [SpanPlace(None, None, "absent", 0)]


@pytest.mark.parametrize(
    ("text", "span", "place"),
    [
        ("x ra\u0304ma y", "rāma", (2, 7)),
        ("x rāma y", "ra\u0304ma", (2, 6)),
        ("x rāma \n gacchati y", "rāma gacchati", (2, 17)),
        ("x rāma y", "\nrāma\n", (2, 6)),
        ("སྙམ་དུ་\nབརྙས་མི་", "དུ་བརྙས", (4, 12)),
        ("སྙམ་དུ་བརྙས་མི་", "དུ་ བརྙས", (4, 11)),
        ("ངག༌ངོ", "ངག་ངོ", (0, 5)),
    ],
)
def test_spellings_that_are_the_same(text: str, span: str, place: tuple[int, int]) -> None:
    assert locate(text, [span]) == [SpanPlace(*place, "normalized", 1)]
