"""Similarities of all stretches at once, against the same sums written out for one stretch after the other."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from benchmark_assets.alignment.likeness import compare, has_words, likeness, matched, stretch_likeness
from benchmark_assets.alignment.units import TextUnits, units
from benchmark_assets.corpus.sentences import sentences
from tests.alignment.words import embed

WORDS = ["wolf", "pond", "market", "bread", "winter", "oak", "river", "king", "gold", "bird"]  # no stem but itself
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=5, max_size=8).map(lambda words: " ".join(words) + ".")
PROSES = st.lists(SENTENCES, min_size=1, max_size=6).map(" ".join)
SEGMENTS = st.lists(
    st.one_of(st.none(), st.lists(SENTENCES, min_size=1, max_size=3).map(" ".join)), min_size=1, max_size=4
)
Vectors = NDArray[np.float64]


def cosine(one: Vectors, other: Vectors) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def wordings(texts: Sequence[str]) -> Vectors:
    """Counts of words, each weighted by the logarithm of one plus how many texts there are for one that has it."""
    counts = [Counter(text.replace(".", "").split()) for text in texts]
    weights = [np.log1p(len(texts) / max(sum(word in each for each in counts), 1)) for word in WORDS]
    return np.asarray(np.array([[each[word] for word in WORDS] for each in counts]) * weights, dtype=np.float64)


def by_hand(prose: TextUnits, start: int, end: int, segment: str, segments: Sequence[str | None]) -> float:
    """The likeness of a stretch to a segment of one guide."""
    own, texts = sentences(segment), [text for each in segments if each for text in sentences(each)]
    words = dict(zip([*prose.texts, *texts], wordings([*prose.texts, *texts]), strict=True))
    lengths = np.sqrt([len(text) + 1 for text in prose.texts[start:end]])
    stretch = (embed(prose.texts[start:end]) * lengths[:, None]).sum(axis=0)
    whole = (embed(own) * np.sqrt([len(text) for text in own])[:, None]).sum(axis=0)
    worded = sum(words[text] for text in prose.texts[start:end])
    return (cosine(stretch, whole) + cosine(np.asarray(worded), np.asarray(sum(words[text] for text in own)))) / 2


@given(PROSES, SEGMENTS)
def test_the_likeness_of_every_stretch_is_that_of_its_summed_vectors(prose: str, segments: list[str | None]) -> None:
    parts = units(prose, 200)
    longest = len(parts.texts)
    if not any(segments):
        return
    compared = compare(parts, [segments], longest, embed)
    for at, segment in enumerate(segments):
        table = likeness(compared, at)
        if segment is None:
            assert not table.any()
            continue
        assert table.shape == (longest + 1, len(parts.texts) + 1)
        for end in range(1, len(parts.texts) + 1):
            for start in range(end):
                expected = by_hand(parts, start, end, segment, segments)
                assert table[end - start, end] == pytest.approx(expected, abs=1e-5)
                own = stretch_likeness(compared, np.array([start]), np.array([end]))
                assert own[0, at] == pytest.approx(expected, abs=1e-5)


@given(PROSES, st.lists(SEGMENTS, min_size=1, max_size=3), st.integers(1, 3))
def test_likeness_is_in_range_and_nothing_where_there_is_no_stretch(
    prose: str, many: list[list[str | None]], longest: int
) -> None:
    count = min(map(len, many))
    parts = units(prose, 200)
    guides = [segments[:count] for segments in many if any(segments[:count])]
    compared = compare(parts, guides, longest, embed) if guides else None
    for segment in range(count):
        if compared and any(each[segment] for each in guides):
            table = likeness(compared, segment)
            assert (table >= -0.5 - 1e-6).all()
            assert (table <= 1 + 1e-6).all()
            ends, sizes = np.arange(table.shape[1])[None, :], np.arange(table.shape[0])[:, None]
            assert not table[(sizes == 0) | (sizes > ends)].any()


def test_a_segment_is_compared_with_the_guides_that_have_it() -> None:
    prose = units("The wolf went down to the pond in winter. Nobody had any bread at the market.", 200)
    texts: list[list[str | None]] = [["The wolf went down to the pond.", None], ["A king has gold.", "Gold it is."]]
    both, (one, other) = compare(prose, texts, 2, embed), (compare(prose, [each], 2, embed) for each in texts)
    dots = [each.spaces[0].dots for each in (both, one, other)]
    assert_allclose(dots[0][:, 1], dots[2][:, 1])
    assert_allclose(dots[0][:, 0], (dots[1][:, 0] + dots[2][:, 0]) / 2)
    assert_allclose(both.spaces[0].scales, one.spaces[0].scales)


def test_a_unit_is_compared_with_the_sentence_of_a_segment_that_is_most_like_it() -> None:
    said = ["The wolf went down to the pond in winter.", "Nobody had any bread at the market."]
    prose = units(" ".join(said), 200)
    compared = compare(prose, [[" ".join(said), "The king had gold enough for a river."]], 2, embed)
    near = compared.near
    shares = np.array([len(text) for text in said]) / sum(len(text) for text in said)
    assert_allclose(matched(compared, [(0, 2), (1, 1)]), [[shares[0], 0], [shares[1], 0]])
    assert_allclose(matched(compared, [(1, 2), (0, 2)])[:, 0], [0, 1])
    assert_allclose(near[:, 0], [1, 1], atol=1e-6)
    assert (near[:, 1] < 0.5).all()


def test_inflected_words_are_worded_alike() -> None:
    prose = units("The ravens were gathering.", 200)
    inflected, other = (compare(prose, [[text]], 1, embed) for text in ("A raven gathers.", "A wolf sleeps."))
    assert inflected.near[0, 0] > other.near[0, 0]


@pytest.mark.parametrize("text", [None, "", " ", "…", "— —", "“”"])
def test_what_has_no_word_has_nothing_to_compare(text: str | None) -> None:
    assert not has_words(text)
    assert not likeness(compare(units("The wolf went down.", 200), [[text, "A wolf."]], 1, embed), 0).any()
