"""The offline aligner on texts of invented words with known places of all segments."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark_assets.alignment.monotone import MOST_UNITS, Aligned, align
from benchmark_assets.alignment.rows import CONFIDENT
from benchmark_assets.corpus.sentences import sentences
from tests.alignment.words import documents, embed, sentence

GENERATORS = st.integers(10**8, 2 * 10**8).map(random.Random)
SEPARATORS = st.sampled_from([" ", "\n", "\n\n"])


def aligned(prose: str, *guides: list[str | None]) -> Aligned:
    return align(prose, guides, [True] * len(guides[0]), embed)


def texts(prose: str, found: Aligned) -> list[str | None]:
    return [prose[slice(*span)] if span else None for span in found.spans]


def reworded(text: str, rng: random.Random) -> str:
    """Another translation: of each sentence some words are others, in another order."""
    return " ".join(_reworded(each, rng) for each in sentences(text))


def _reworded(text: str, rng: random.Random) -> str:
    words = text.rstrip(".").lower().split()
    rng.shuffle(words)
    kept = words[: max(3, len(words) * 2 // 3)]
    return " ".join([*kept, *sentence(rng, len(words) - len(kept)).rstrip(".").lower().split()]).capitalize() + "."


@given(documents(), SEPARATORS)
def test_a_prose_of_the_guides_own_segments_is_cut_into_them(segments: list[str], separator: str) -> None:
    prose = separator.join(segments)
    found = aligned(prose, [*segments])
    assert texts(prose, found) == segments
    assert found.likeness == pytest.approx([1] * len(segments), abs=1e-5)
    assert found.confidence > CONFIDENT


@given(documents(), SEPARATORS, GENERATORS)
def test_another_translation_of_the_segments_is_cut_into_them(
    segments: list[str], separator: str, rng: random.Random
) -> None:
    prose = separator.join(segments)
    found = aligned(prose, [reworded(each, rng) for each in segments])
    assert texts(prose, found) == segments
    assert found.confidence > CONFIDENT


@given(documents(least=4), SEPARATORS, st.data())
def test_an_omitted_segment_has_no_text_and_the_others_keep_theirs(
    segments: list[str], separator: str, data: st.DataObject
) -> None:
    omitted = data.draw(st.integers(0, len(segments) - 1))
    kept = [None if at == omitted else each for at, each in enumerate(segments)]
    prose = separator.join(each for each in kept if each)
    found = aligned(prose, [*segments])
    assert texts(prose, found) == kept
    assert found.likeness[omitted] == 0


def beside(texts: list[str | None], segments: list[str | None], at: int) -> bool:
    """Whether segments got their own text, those on both sides of a boundary perhaps with something more."""
    return all(
        found == own or (found is not None and own is not None and own in found and index in (at - 1, at))
        for index, (found, own) in enumerate(zip(texts, segments, strict=True))
    )


@given(documents(), st.data(), GENERATORS)
def test_an_added_paragraph_moves_no_boundary_but_its_neighbours(
    segments: list[str], data: st.DataObject, rng: random.Random
) -> None:
    """Up to three times as long as the document: in front of three sentences of four words, one of ninety does."""
    at = data.draw(st.integers(0, len(segments)))
    most = max(1, 3 * len(" ".join(segments).split()) // 15)
    added = [sentence(rng, 15) for _ in range(data.draw(st.integers(1, min(6, most))))]
    prose = "\n\n".join([*segments[:at], " ".join(added), *segments[at:]])
    found = texts(prose, aligned(prose, [*segments]))
    assert beside(found, [*segments], at)


def test_a_sentence_that_holds_two_segments_is_split_at_its_clause() -> None:
    guide = ["The old miller went down to the pond,", "and his wife looked for bread.", "There was none in the house."]
    prose = "Down to the pond the old miller went, while his wife was looking for bread. In the house there was none."
    assert texts(prose, aligned(prose, [*guide])) == [
        "Down to the pond the old miller went,", "while his wife was looking for bread.", "In the house there was none."
    ]  # fmt: skip


def test_a_segment_may_be_several_sentences_in_the_prose_and_one_in_the_guide() -> None:
    guide = ["The miller went to the pond and looked for his hat and found it.", "His wife sold the bread in the town."]
    found_it = "The miller went to the pond. He looked for his hat. And he found it."
    sold_it = "Meanwhile in the town his wife sold bread."
    prose = f"{found_it} {sold_it}"
    assert texts(prose, aligned(prose, [*guide])) == [found_it, sold_it]


@given(documents(least=4), st.data(), GENERATORS)
def test_of_several_guides_each_may_have_gaps(segments: list[str], data: st.DataObject, rng: random.Random) -> None:
    gaps = data.draw(st.lists(st.booleans(), min_size=len(segments), max_size=len(segments)))
    one = [None if gap else each for gap, each in zip(gaps, segments, strict=True)]
    other = [
        reworded(each, rng) if gap or at % 2 else None
        for at, (gap, each) in enumerate(zip(gaps, segments, strict=True))
    ]
    prose = " ".join(segments)
    assert texts(prose, aligned(prose, one, other)) == segments


@given(documents(least=4), st.data(), st.sampled_from([None, "", " ", "…", "—"]))
def test_a_segment_that_no_guide_has_has_no_text_and_the_others_keep_theirs(
    segments: list[str], data: st.DataObject, nothing: str | None
) -> None:
    unknown = data.draw(st.integers(0, len(segments) - 1))
    prose = "\n".join(segments)
    guide = [nothing if at == unknown else each for at, each in enumerate(segments)]
    found = texts(prose, aligned(prose, guide, [None] * len(segments)))
    assert found[unknown] is None
    assert beside(found[:unknown] + found[unknown + 1 :], [*segments[:unknown], *segments[unknown + 1 :]], unknown)


@given(
    st.one_of(documents(most=5).map("\n\n".join), st.text(max_size=200)),
    st.lists(st.one_of(st.none(), st.text(max_size=30)), min_size=1, max_size=6),
    st.data(),
)
def test_spans_are_in_order_and_apart_whatever_the_texts(
    prose: str, guide: list[str | None], data: st.DataObject
) -> None:
    guide = [*guide, "One word at least."]
    found = align(prose, [guide], data.draw(st.lists(st.booleans(), min_size=len(guide), max_size=len(guide))), embed)
    assert len(found.spans) == len(found.likeness) == len(guide)
    assert all(-0.5 - 1e-6 <= each <= 1 + 1e-6 for each in found.likeness)
    assert found.confidence <= 1 + 1e-6
    last = 0
    for span, likeness in zip(found.spans, found.likeness, strict=True):
        if span is None:
            assert likeness == 0
            continue
        assert last <= span[0] < span[1] <= len(prose)
        text = prose[slice(*span)]
        assert text == text.strip()
        last = span[1]


@settings(derandomize=True)  # of short documents of chance syllables, a few in a thousand are alike
@given(documents(), documents(first_seed=10**7))
def test_the_text_of_another_document_is_not_trusted(segments: list[str], others: list[str]) -> None:
    assert aligned(" ".join(others), [*segments]).confidence < CONFIDENT


def test_passages_whose_last_segments_no_guide_has_still_begin_with_a_paragraph() -> None:
    """The sentence between is as like the one as the other; the passage ends where the paragraph does."""
    prose = "The miller went to the pond.\n\nSo it was in that year of old. The king had gold in his house."
    guide = ["The miller went to the pond.", None, "The king had gold in his house."]
    found = align(prose, [guide], [False, True, True], embed)
    assert texts(prose, found)[0] == "The miller went to the pond."


@pytest.mark.parametrize("guides", [[], [[None, None]], [["", None], [None, "…"]]])
def test_without_a_guide_there_is_nothing_to_align_by(guides: list[list[str | None]]) -> None:
    with pytest.raises(ValueError, match="no guide has a segment"):
        align("The miller went to the pond.", guides, [True, True], embed)


@pytest.mark.parametrize("prose", ["", " \n", "\n" * 99])
def test_in_a_blank_prose_nothing_is_found(prose: str) -> None:
    assert aligned(prose, ["The miller went.", None]) == Aligned([None, None], [0, 0], 0)


def test_a_prose_of_too_many_units_is_refused() -> None:
    with pytest.raises(ValueError, match=f"{MOST_UNITS + 1} units; at most {MOST_UNITS}"):
        aligned("So it went.\n" * (MOST_UNITS + 1), ["So it went."])


def test_an_anchor_fixes_where_a_segment_begins() -> None:
    """By likeness alone, the first segment would take the second sentence."""
    prose = "The miller went to the pond. The miller went to the pond again. The king had gold."
    guide = ["The miller went to the pond again.", "The king had gold."]
    at = prose.index("The miller went to the pond again")
    found = align(prose, [[*guide]], [True, True], embed, {0: 0, 1: at})
    assert texts(prose, found) == ["The miller went to the pond.", prose[at:]]
    assert found.anchored == {0, 1}


def test_a_passage_whose_text_stands_elsewhere_is_reported() -> None:
    rng = random.Random(3)
    own = [" ".join(sentence(rng, 12) for _ in range(2)) for _ in range(8)]
    prose = "\n\n".join([*own[:1], *own[2:6], own[1], *own[6:]])
    found = aligned(prose, [*own])
    assert texts(prose, found) == [own[0], None, *own[2:]]
    assert prose[slice(*found.displaced[1])] == own[1]
