import random

import numpy as np
import pytest

from benchmark_assets.understanding.overlap import LENGTHS, Overlap, Pair, Rarity, along, features

SYLLABLES = [one + two for one in "kgcjtdpbmyrlvsh" for two in "aiueo"]


def words(chance: random.Random, number: int) -> list[str]:
    return ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(number)]


def commentary(root: list[str], chance: random.Random) -> str:
    """Half of a root's words, each with a gloss."""
    return " ".join(f"{word} iti {' '.join(words(chance, 2))}" for word in chance.sample(root, len(root) // 2))


def pairs(chance: random.Random, number: int) -> tuple[list[Pair], list[str]]:
    """Every other pair is a root with the commentary on another one."""
    roots = [words(chance, 8) for _ in range(number)]
    own = [i if i % 2 else (i + 2) % number for i in range(number)]
    made = [Pair(" ".join(root), commentary(roots[other], chance)) for root, other in zip(roots, own, strict=True)]
    return made, ["TRUE" if i % 2 else "FALSE" for i in range(number)]


def test_it_learns_that_a_commentary_takes_up_words() -> None:
    train, labels = pairs(random.Random(1), 60)
    test, gold = pairs(random.Random(2), 60)
    model = Overlap(train, labels)
    assert model.label(test) == gold
    assert model.label([]) == []


def test_features_of_equal_strange_and_empty_texts() -> None:
    pairs = [Pair("Rāma vanam", "rāma, vanam!"), Pair("rāma", "bodhi"), Pair("", "")]
    equal, strange, empty = features(pairs, Rarity(["rāma vanam", "bodhi"]))
    overlaps = slice(0, 3 * len(LENGTHS))
    np.testing.assert_allclose(equal[overlaps], 1)
    np.testing.assert_allclose(strange[overlaps], 0)
    np.testing.assert_allclose(empty, 0)
    assert equal[-3] == 1  # by the first text, the longest common substring


def test_every_part_is_shown_the_largest_overlap_of_any_part() -> None:
    width = 3 * len(LENGTHS)
    rows = along("rāma vanam", ["bodhi", "rāma vanam", "citta"], Rarity(["rāma vanam", "bodhi", "citta"]))
    largest = rows[:, 5 * width : 6 * width].reshape(3, len(LENGTHS), 3)
    np.testing.assert_allclose(largest[..., :2], 1)  # shares of the n-grams of the equal part and of the text
    np.testing.assert_allclose(largest, largest[:1].repeat(3, axis=0))


def test_ngrams_that_few_texts_have_count_more() -> None:
    rarity = Rarity(["aba", "abc", "abd"])
    assert rarity.of({"bc"}) > rarity.of({"ab"}) == 0


def test_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="the train split has 1"):
        Overlap([Pair("a", "b"), Pair("b", "a")], ["x", "x"])
