"""The fold undoes what can be changed in a text without changing what is read, and leaves letters of every script."""

import random
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark_assets.corpus.folding import folded, letters, script, with_names
from tests.corpus.disguises import DISGUISES

PLAIN = "The reeds bent over, and the whole fleet of ducks came out to see who called."

SAME_LETTERS = [
    "recased", "zero-width spaces", "look-alikes", "spaced letters", "entities", "soft hyphens", "accents",
    "hyphenated", "marked", "without spaces", "full width", "mathematical letters", "small capitals",
    "Greek look-alikes",
    "points between letters", "tags", "fillers", "written backwards", "raised numbers",
]  # fmt: skip

ORIGINALS = {
    "Pali": ("evaṁ carati so ca bhikkhu ārāme", "evamcaratisocabhikkhuarame"),
    "Greek": ("ὁ δὲ κῆπος ἦν τοῦ πατρός", "οδεκηποσηντουπατροσ"),
    "Russian": ("Ёж и йод: мой край всё ещё твой", "ёжийодмойкрайвсёещётвой"),
    "Hebrew": ("הַגַּן שֶׁל אָבִי", "הגןשלאבי"),
    "Devanagari": ("नदी किनारे बैठी चिड़िया", "नदीकिनारेबैठीचिड़िया"),
    "Chinese": ("一口二力，工人入内", "一口二力工人入内"),
    "Japanese": ("がぎ、カへヘ二ニ口ロ力カ。一ー", "がぎカへヘ二ニ口ロ力カ一ー"),
}
"""Sentences with letters that differ only in a mark, or look like others, and the letters that stay."""


@pytest.mark.parametrize("disguise", SAME_LETTERS)
def test_a_disguise_leaves_the_same_letters(disguise: str) -> None:
    assert folded(DISGUISES[disguise](PLAIN, random.Random(1))) == folded(PLAIN)


@pytest.mark.parametrize("language", ORIGINALS)
def test_letters_of_a_script_stay(language: str) -> None:
    text, plain = ORIGINALS[language]
    assert unicodedata.normalize("NFC", folded(text)) == unicodedata.normalize("NFC", plain)


def test_foreign_letters_fold_to_the_script_of_their_word() -> None:
    assert folded("Мaлeнькaя рыбa") == "маленькаярыба"  # Latin a and e
    assert folded("The fіѕһ ѕwаm") == "thefishswam"
    assert folded("The word “рыба” means fish.") == "thewordрыбаmeansfish"


def test_digits_stand_for_letters_only_within_words() -> None:
    assert folded("7h3 w0rd5") == "thewords"
    assert folded("verse 103 of 5") == "verseof"


@given(st.text(st.characters(max_codepoint=0x24F)))
def test_what_is_folded_stays_folded(text: str) -> None:
    """Where letters of several scripts meet, the fold also depends on where words end, which it removes."""
    once = folded(text)
    assume(len({script(letter) for letter in once}) < 2)
    assert folded(once) == once


def test_a_han_character_counts_as_four_letters_and_a_kana_as_two() -> None:
    assert [len(letters(text)) for text in ("a", "道", "か", "한", "а")] == [1, 4, 2, 2, 1]


def test_names_are_capitalized_within_sentences_and_nowhere_in_lower_case() -> None:
    document = ["Then old Maro spoke to his son, and they went Home at last.", "The home of Maro is far."]
    marked = ["".join(chr(letter // 4) for letter in part[is_name]) for part, is_name in with_names(document)]
    assert marked == ["maro", "maro"]


def test_capitals_mark_no_names_where_most_words_have_them() -> None:
    assert not any(is_name.any() for _, is_name in with_names(["A Title In Which All Words Have Capital Letters"]))
