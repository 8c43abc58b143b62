import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.understanding.linear import LONGEST, SHORTEST, Linear, ngrams


@given(st.lists(st.text("aāབོད་ 𑀅\n", max_size=30), max_size=5), st.integers(1, 3), st.integers(0, 4))
def test_ngrams_are_counted_as_substrings_are(texts: list[str], shortest: int, more: int) -> None:
    grams = ngrams(texts, shortest, shortest + more)
    for number, text in enumerate(texts):
        own = slice(grams.starts[number], grams.starts[number + 1])
        lengths = range(shortest, shortest + more + 1)
        substrings = Counter(text[at : at + n] for n in lengths for at in range(len(text) - n + 1))
        assert sorted(grams.counts[own]) == sorted(substrings.values())
        assert (np.diff(grams.keys[own].astype(object)) > 0).all()


@given(st.text(max_size=20), st.text(max_size=20))
def test_texts_have_the_same_ngrams_only_where_their_substrings_are_the_same(one: str, other: str) -> None:
    grams = ngrams([one, other])
    first, second = (set(grams.keys[grams.starts[i] : grams.starts[i + 1]].tolist()) for i in (0, 1))
    mine, yours = (
        {text[at : at + n] for n in range(SHORTEST, LONGEST + 1) for at in range(len(text) - n + 1)}
        for text in (one, other)
    )
    assert len(first & second) == len(mine & yours)


def dialect(ending: str, chance: random.Random) -> str:
    return " ".join("".join(chance.choices("bdgklmnrst", k=3)) + ending for _ in range(12))


def test_it_learns_endings_of_words_and_says_the_same_twice() -> None:
    chance = random.Random(1)
    texts = [dialect(ending, chance) for ending in ("um", "on") * 30]
    labels = ["west", "east"] * 30
    model = Linear(texts[:40], labels[:40])
    assert model.label(texts[40:]) == labels[40:]
    assert Linear(texts[:40], labels[:40]).label(texts) == model.label(texts)


def test_texts_without_a_known_ngram_and_empty_ones_are_labelled_too() -> None:
    model = Linear(["abab", "baba", "cdcd", "dcdc"], ["x", "x", "y", "y"])
    assert set(model.label(["", "བོད"])) <= {"x", "y"}
    assert model.label([]) == []


@pytest.mark.parametrize(
    ("texts", "labels", "fault"), [(["ab", "ab"], ["x", "x"], "split has 1"), (["ab", "cd"], ["x", "y"], "share")]
)
def test_what_cannot_be_trained_is_refused(texts: list[str], labels: list[str], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Linear(texts, labels)
