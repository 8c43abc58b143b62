"""Near-duplicates are those that comparing all pairs finds."""

import random
import re
import unicodedata
from functools import cache

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.duplicates import BLOCK, near_duplicates
from benchmark_assets.corpus.trigrams import containment, jaccard, trigrams
from tests.support import examples

# Few letters, so that texts share trigrams; full-width, decomposed and capital ones, which are the same by NFKC and in
# lower case; ones that change their length in lower case or by NFKC; blanks, points and a null character, which fall.
LETTERS = ["a", "b", "c", "A", "ａ", "ā", "a\u0304", "İ", "ﬁ", "ß", "道", "𒀀", "क", "ि", "_", "7", " ", ".", "—", "\0"]
TEXT = st.one_of(
    st.text(max_size=6), st.lists(st.sampled_from(LETTERS), max_size=6).map("".join), st.text("abc", max_size=40)
)
# Similarities that small sets can have to the last bit, so that some pairs lie just at the threshold, and any others.
THRESHOLD = st.one_of(
    st.builds(lambda all_, shared: min(shared, all_) / all_, st.integers(1, 40), st.integers(1, 40)),
    st.floats(0, 1, exclude_min=True),
    st.sampled_from([0.85, 0.5, 1.0, 1e-300]),
)


@st.composite
def variations(draw: st.DrawFn) -> list[str]:
    """Texts, and others made of them by changing, losing and adding letters."""
    texts = draw(st.lists(TEXT, min_size=1, max_size=8))
    for origin in draw(st.lists(st.sampled_from(texts), max_size=20)):
        at, length = draw(st.integers(0, len(origin))), draw(st.integers(0, 3))
        texts.append(origin[:at] + draw(st.text("abcx", max_size=3)) + origin[at + length :])
    return draw(st.permutations(texts))


@cache
def letters_and_trigrams(text: str) -> tuple[str, set[str]]:
    letters = re.sub(r"[^\w]", "", unicodedata.normalize("NFKC", text).lower())
    return letters, {letters[i : i + 3] for i in range(len(letters) - 2)}


def alike(one: str, other: str) -> float:
    """Similarity of two texts by Python's sets."""
    (own, first), (its, second) = letters_and_trigrams(one), letters_and_trigrams(other)
    if not first and not second:
        return float(own == its)
    return len(first & second) / len(first | second)


def brute_force(texts: dict[str, str], threshold: float) -> list[tuple[str, str, float]]:
    kept: list[str] = []
    dropped = []
    for passage in sorted(texts):
        similarities = ((each, alike(texts[passage], texts[each])) for each in kept)
        partner = next((pair for pair in similarities if pair[1] >= threshold), None)
        if partner:
            dropped.append((passage, *partner))
        else:
            kept.append(passage)
    return dropped


def found(texts: dict[str, str], threshold: float) -> list[tuple[str, str, float]]:
    frame = pl.DataFrame({"passage": list(texts), "text": list(texts.values())})
    return near_duplicates(frame, threshold).rows()


@examples(150)
@given(variations(), THRESHOLD)
def test_near_duplicates_are_those_of_comparing_all_pairs(texts: list[str], threshold: float) -> None:
    passages = {f"mn{i}": text for i, text in enumerate(texts)}
    assert found(passages, threshold) == brute_force(passages, threshold)


@pytest.mark.parametrize("threshold", [0.3, 0.7, 0.85, 1.0])
def test_many_passages_of_all_lengths_are_compared_exactly(threshold: float) -> None:
    """More than are handled at once, so that those dropped are cleared away many times."""
    chance = random.Random(5)
    words = ["".join(chance.choices("abdeghikmnpstuv", k=chance.randint(2, 6))) for _ in range(120)]
    passages: dict[str, str] = {}
    for number in range(BLOCK + 200):
        if passages and chance.random() < 0.6:
            text = passages[chance.choice(list(passages))].split()
            changes = chance.randint(0, 3)
        else:
            text, changes = chance.choices(words, k=chance.choice([1, 3, 8, 30])), 0
        for _ in range(changes):
            text[chance.randrange(len(text))] = chance.choice(words)
        passages[f"{chance.random()}-{number}"] = " ".join(text)
    assert found(passages, threshold) == brute_force(passages, threshold)


def test_one_passage_may_have_more_duplicates_than_are_handled_at_once() -> None:
    passages = {f"{number:04}": f"The same text but for {number % 7}." for number in range(2 * BLOCK)}
    assert found(passages, 0.7) == brute_force(passages, 0.7)
    assert len(found(passages, 0.7)) == 2 * BLOCK - 1


def test_texts_longer_than_a_signature_tells_apart_are_compared_exactly() -> None:
    chance = random.Random(6)
    book = [chr(chance.randrange(0x4E00, 0x9000)) for _ in range(9000)]
    passages = {"whole": "".join(book), "other": "".join(chance.choices(book, k=9000))}
    for share in (0.02, 0.08):
        changed = [chance.choice(book) if chance.random() < share else letter for letter in book]
        passages[f"changed by {share}"] = "".join(changed)
    assert found(passages, 0.85) == brute_force(passages, 0.85)
    assert [each for each, *_ in found(passages, 0.85)] == ["whole"]


def test_the_partner_is_the_first_passage_kept_and_not_the_most_similar() -> None:
    passages = {"a": "one two three four five six seven", "b": "one two three four five six eleven seven"}
    passages["c"] = "one two three four five six eleven"
    assert alike(passages["a"], passages["b"]) < 0.75 <= alike(passages["a"], passages["c"])
    assert alike(passages["a"], passages["c"]) < alike(passages["b"], passages["c"])
    assert found(passages, 0.75) == [("c", "a", alike(passages["a"], passages["c"]))]


def test_what_is_dropped_drops_no_other() -> None:
    passages = {"a": "abcdefghij", "b": "abcdefghijk", "c": "abcdefghijkl"}
    assert [each for each, *_ in found(passages, 0.85)] == ["b"]
    assert alike(passages["b"], passages["c"]) >= 0.85


def test_passages_are_walked_through_by_code_point() -> None:
    texts = dict.fromkeys(["mn9:1", "mn10:1", "Mn9:1", "ñ:1", "z:1", "𒀀:1", "\uffee:1"], "The same text.")
    assert [(passage, kept) for passage, kept, _ in found(texts, 0.85)] == [
        (each, "Mn9:1") for each in ["mn10:1", "mn9:1", "z:1", "ñ:1", "\uffee:1", "𒀀:1"]
    ]


def test_texts_without_a_trigram_are_alike_where_they_are_equal() -> None:
    passages = {"1": "", "2": "…", "3": "Om.", "4": "om!", "5": "a", "6": "omm"}
    assert found(passages, 0.01) == [("2", "1", 1.0), ("4", "3", 1.0)]


def test_no_passage_has_no_duplicate() -> None:
    empty = pl.DataFrame(schema={"passage": pl.String, "text": pl.String})
    alone = pl.DataFrame({"passage": ["a"], "text": ["Alone."]})
    assert near_duplicates(empty, 0.85).schema == near_duplicates(alone, 0.85).schema
    assert near_duplicates(empty, 0.85).is_empty()
    assert near_duplicates(alone, 0.85).is_empty()


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.01, float("nan"), float("inf")])
def test_a_threshold_that_no_similarity_has_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold must be in"):
        found({"a": "text"}, threshold)


def test_a_passage_that_occurs_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        near_duplicates(pl.DataFrame({"passage": ["a", "a"], "text": ["one", "other"]}), 0.85)


@given(TEXT, TEXT)
def test_similarity_is_that_of_the_sets(one: str, other: str) -> None:
    assert jaccard(trigrams(one), trigrams(other)) == alike(one, other)


@given(st.text("abc", max_size=30), st.text("abc", min_size=3, max_size=30), st.text("abc", max_size=30))
def test_a_text_is_contained_in_one_that_holds_it(before: str, text: str, after: str) -> None:
    assert containment(trigrams(text), trigrams(before + text + after)) == 1
    assert containment(trigrams(before + text + after), trigrams(text)) == 1
    assert containment(trigrams(text), trigrams("xyz" + before)) <= 1
