"""Where quoted words are in a text, whatever the white space."""

from hypothesis import example, given
from hypothesis import strategies as st

from benchmark_assets.error_spans.location import located

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
def test_words_have_no_position_exactly_if_the_text_lacks_them(quotations: list[str], text: str) -> None:
    for quotation, span in zip(quotations, located(quotations, text), strict=True):
        words = " ".join(quotation.split())
        assert (span is not None) == (words != "" and words in " ".join(text.split()))
        if span:
            assert text[slice(*span)].split() == quotation.split()


@given(st.integers(1, 6), st.integers(1, 9))
def test_repeated_words_are_successive_occurrences_and_further_ones_the_last(occurrences: int, quoted: int) -> None:
    text = "one cat, " * occurrences
    starts = [9 * min(place, occurrences - 1) + 4 for place in range(quoted)]
    assert located(["cat"] * quoted, text) == [(start, start + 3) for start in starts]


def test_other_differences_than_white_space_count() -> None:
    assert located(["The cat", "cat", "c.t", "e\u0301"], "the  cat  é") == [None, (5, 8), None, None]
