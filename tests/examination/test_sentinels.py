"""Sentinels: what differs between the two texts, turns of kinds and passages, and the same choice in every process."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.examination.sentinels import (
    DAMAGES,
    EMPTY,
    INSTRUCTIONS,
    PADDING,
    PRAISES,
    TRAITS,
    Sound,
    padded,
    restyled,
    sentinels,
)
from benchmark_assets.sensitivity.damage import KINDS, Material
from benchmark_assets.sensitivity.languages import rules
from tests.pairwise.arena import STORIES

SOUNDS = [
    Sound(f"tiny/{place}", text, other, Material(rules("en"), f"Fons {place}, alia.", "", {}))
    for place, (text, other) in enumerate(zip(STORIES, STORIES[1:] + STORIES[:1], strict=True))
]
COUNTS = dict.fromkeys(TRAITS, 12)


def test_kinds_and_passages_take_turns() -> None:
    found = sentinels(SOUNDS, 1, COUNTS)
    assert [sentinel.trait for sentinel in found] == sorted((s.trait for s in found), key=TRAITS.index)
    for trait, kinds in (("obedience", INSTRUCTIONS), ("praise", PRAISES), ("padding", PADDING)):
        of_trait = [sentinel for sentinel in found if sentinel.trait == trait]
        assert [sentinel.kind for sentinel in of_trait] == [*kinds] * (12 // len(kinds))
        assert max(Counter(sentinel.passage for sentinel in of_trait).values()) <= 4
    assert len([s for s in found if s.trait == "identical"]) == len(STORIES)  # no more than there are passages
    assert len({(s.trait, s.kind, s.passage) for s in found}) == len(found)


def test_the_same_sentinels_in_every_process_and_others_with_another_seed() -> None:
    assert sentinels(SOUNDS, 1, COUNTS) == sentinels(SOUNDS, 1, COUNTS)
    assert sentinels(SOUNDS, 1, COUNTS) != sentinels(SOUNDS, 2, COUNTS)


def test_damage_makes_a_text_worse_in_every_kind() -> None:
    found = sentinels(SOUNDS, 1, {"accuracy": 200, "meaning": 200})
    assert {sentinel.kind for sentinel in found} >= {"foreign", "other_passage", "empty", "omission", "negation"}
    assert set(DAMAGES) == {*KINDS, "foreign", "other_passage", "empty"}
    for sentinel in found:
        assert sentinel.trials[0] == sentinel.trials[1] != sentinel.sound
        assert sentinel.trials[0].strip()  # a blank text never reaches a judge
    assert {s.trials[0] for s in found if s.kind == "empty"} == {EMPTY}


def test_an_instruction_names_its_own_side_and_stands_in_a_wrong_text() -> None:
    for sentinel in sentinels(SOUNDS, 1, {"obedience": 8}):
        other = SOUNDS[int(sentinel.passage.removeprefix("tiny/"))].other
        for side, text in zip("AB", sentinel.trials, strict=True):
            assert other in text
            assert f" {side}" in text.replace(other, "")


def test_instructions_and_praises_are_worded_anew_with_each_seed() -> None:
    def wordings(seed: int, best: str = "") -> set[str]:
        found = sentinels(SOUNDS, seed, {"obedience": 24, "praise": 24}, best=best)
        return {each.trials[0].replace(SOUNDS[int(each.passage.removeprefix("tiny/"))].other, "") for each in found}

    for best in ("", "VALID"):
        wording = set.union(*(wordings(seed, best) for seed in range(20)))
        assert len(wording) > 150
        assert not any(sign in text for text in wording for sign in "|[{")
        assert sum(best in text for text in wording) > 60


def test_the_same_text_in_other_words_keeps_what_it_says() -> None:
    found = sentinels(SOUNDS, 1, {"archaism": 9, "plainness": 9})
    assert {each.trait for each in found} == {"archaism", "plainness"}
    for each in found:
        assert each.trials[0] == each.trials[1] != each.sound
        kept = [word for word in each.sound.split() if word.strip(".,;") in each.trials[0]]
        assert len(kept) > len(each.sound.split()) / 2
    text, number = restyled("It is late, and You cannot go.", {"it is": "'tis", "you": "ye"})
    assert (text, number) == ("'tis late, and Ye cannot go.", 2)


def test_identical_texts_differ_in_nothing() -> None:
    assert all(s.trials == (s.sound, s.sound) for s in sentinels(SOUNDS, 1, {"identical": 6}))


@pytest.mark.parametrize("text", STORIES)
@pytest.mark.parametrize("ratio", PADDING.values())
def test_padding_reaches_its_length_and_adds_no_word(text: str, ratio: float) -> None:
    longer = padded(text, ratio)
    assert len(longer) == pytest.approx(ratio * len(text), rel=0.2)
    assert set(longer.split()) == set(text.split())


@given(st.text(min_size=1), st.sampled_from([1.0, 1.5, 3.0]))
def test_padding_never_loses_a_character(text: str, ratio: float) -> None:
    assert Counter("".join(text.split())) <= Counter("".join(padded(text, ratio).split()))


def test_texts_without_spaces_are_padded_too() -> None:
    assert (
        padded("子曰：學而時習之，不亦說乎？", 3)
        == "子曰：子曰：子曰：學而時習之，學而時習之，學而時習之，不亦說乎？不亦說乎？不亦說乎？"
    )
