"""Where quoted words are in a text, whatever the white space."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmark_assets.error_spans.location import located


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))


LETTERS = "ab.é𝔸\u0301 \t\n\u3000"
texts = st.text(LETTERS, max_size=40)


@given(texts, st.integers(0, 40), st.integers(0, 40), st.sampled_from([" ", "\n", " \u3000"]))
@example("𝔸 b", 0, 3, "\n")
def test_a_stretch_of_a_text_is_found_whatever_its_white_space(text: str, one: int, other: int, space: str) -> None:
    quotation = space.join(text[min(one, other) : max(one, other)].split())
    (span,) = located([quotation], text)
    if quotation:
        assert span is not None
        assert text[slice(*span)].split() == quotation.split()
        assert not text[span[0]].isspace()
        assert not text[span[1] - 1].isspace()
    else:
        assert span is None


@given(st.lists(texts, max_size=5), texts)
@example(["\u0301"], "\u00e9")
def test_words_that_a_text_has_are_found_and_all_places_have_the_letters_of_the_words(
    quotations: list[str], text: str
) -> None:
    for quotation, span in zip(quotations, located(quotations, text), strict=True):
        words = " ".join(quotation.split())
        assert span is not None or words == "" or words not in " ".join(text.split())
        if span and text[slice(*span)].split() != quotation.split():
            assert letters(text[slice(*span)]) == letters(quotation)


@given(st.integers(1, 6), st.integers(1, 9))
def test_repeated_words_are_successive_occurrences_and_further_ones_the_last(occurrences: int, quoted: int) -> None:
    text = "one cat, " * occurrences
    starts = [9 * min(place, occurrences - 1) + 4 for place in range(quoted)]
    assert located(["cat"] * quoted, text) == [(start, start + 3) for start in starts]


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("“dog’s bark.”", "dog's bark"), ("The OLD dog", "the  old dog"), ("the old … bark", "the  old dog's bark"),
        ("cafe\u0301", "café"), ("'café'", "café"), ("…bark!", "bark"), ("old cat", None), ("ld dog", "ld dog"),
        ("LD dog", None), ("c.t", None), ("…", None), ("", None),
    ],
)  # fmt: skip
def test_words_are_found_whatever_the_signs_around_them_but_no_part_of_a_word(
    quotation: str, found: str | None
) -> None:
    text = "the  old dog's bark at the café"
    (span,) = located([quotation], text)
    assert (span and text[slice(*span)]) == found


def test_an_offset_chooses_among_the_places_of_the_words() -> None:
    assert located(["cat"] * 3, "cat, cat, cat", [10, 7, None]) == [(10, 13), (0, 3), (5, 8)]
