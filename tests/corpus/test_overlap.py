"""Copies of a text are found however they are disguised, and independent translations are not taken for copies."""

import json
import random
import re
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.overlap import LONGEST, copied

OTHER = "Nothing of this was ever said by anyone, as far as people remember; it only fills a page with words. "


def sentences(text: str) -> list[str]:
    return re.findall(r"\S[^.;:!?]*[.;:!?]*\W*", text)


def reordered(text: str, rng: random.Random) -> str:
    return " ".join(rng.sample(parts := sentences(text), len(parts)))


def half(text: str, _: random.Random) -> str:
    words = text.split()
    return " ".join(words[: (len(words) + 1) // 2])


DISGUISES: dict[str, Callable[[str, random.Random], str]] = {
    "whole": lambda text, _: text,
    "cut": lambda text, _: text[:-2],
    "recased": lambda text, _: text.upper(),
    "marked": lambda text, _: " ".join(f"{word}[{n}]" if n % 5 == 0 else word for n, word in enumerate(text.split())),
    "reordered": reordered,
    "half": half,
    "half among other words": lambda text, rng: OTHER + half(text, rng) + " " + OTHER,
    "last tenth lost": lambda text, _: text[: len(text) * 9 // 10],
}
LETTERS = st.text(st.sampled_from("abcdefghij"), min_size=2, max_size=5)


@given(st.lists(LETTERS, min_size=1, max_size=80), st.text(max_size=40), st.text(max_size=40))
def test_a_text_that_has_the_whole_original_is_a_copy(words: list[str], before: str, after: str) -> None:
    assert copied(f"{before} {' '.join(words)} {after}".upper(), ", ".join(words))


@given(st.lists(LETTERS, min_size=LONGEST, max_size=80), st.integers(0, 60))
def test_a_run_of_twenty_words_is_a_copy(words: list[str], start: int) -> None:
    run = words[start : start + LONGEST]
    if len(run) == LONGEST:
        assert copied(" ".join([OTHER, *run, OTHER]), " ".join(words))


def test_texts_without_letters_copy_nothing() -> None:
    assert not copied("", "a text")
    assert not copied("a text", "…")
    assert not copied("12 34", "12 34")


def test_scripts_without_spaces_are_compared_by_character() -> None:
    text = "天地不仁以萬物為芻狗聖人不仁以百姓為芻狗天地之間其猶橐籥乎"
    assert copied(text[:14], text)
    assert not copied("道可道非常道名可名非常名無名天地之始", text)


def translations(realdata: Path) -> Iterator[dict[str, str]]:
    """Texts by translator, of each chapter of the Daodejing."""
    for line in (realdata / "daodejing/daodejing.jsonl").read_text(encoding="utf-8").splitlines():
        yield {name: text for name, text in json.loads(line)["references"].items() if text}


@pytest.mark.realdata
def test_translators_of_one_text_do_not_copy_each_other(realdata: Path) -> None:
    pairs = [pair for texts in translations(realdata) for pair in permutations(texts.values(), 2)]
    wrong = sum(bool(copied(*pair)) for pair in pairs)
    print(f"{wrong} of {len(pairs)} pairs of translations are taken for copies")
    assert wrong <= 0.01 * len(pairs)


@pytest.mark.realdata
@pytest.mark.parametrize("disguise", DISGUISES)
def test_copies_of_real_translations_are_found(realdata: Path, disguise: str) -> None:
    rng = random.Random(1)
    texts = [text for each in translations(realdata) for text in each.values()]
    found = sum(bool(copied(DISGUISES[disguise](text, rng), text)) for text in texts)
    print(f"{disguise}: {found} of {len(texts)}")
    assert found >= 0.95 * len(texts)
