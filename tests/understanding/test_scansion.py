import random
import unicodedata
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.understanding.scansion import (
    ARYA,
    FREE,
    HEAVY,
    METERS,
    PROSE,
    QUARTERS,
    VERSE,
    VIPULAS,
    costs,
    lines,
    meter,
    sanskrit_verse,
    tibetan_verse,
    weights,
)

# Patterns as the textbooks have them, the last syllable of a quarter heavy.
TEXTBOOK = {
    "śālinī": "GGGGGLGGLGG",
    "drutavilambita": "LLLGLLGLLGLG",
    "vasantatilakā": "GGLGLLLGLLGLGG",
    "mandākrāntā": "GGGGLLLLLGGLGGLGG",
    "śārdūlavikrīḍita": "GGGLLGLGLLLGGGLGGLG",
    "sragdharā": "GGGGLGGLLLLLLGGLGGLGG",
}
INDRAVAJRA, UPENDRAVAJRA = "GGLGGLLGLGG", "LGLGGLLGLGG"


def nonsense(pattern: str, chance: random.Random) -> str:
    """Syllables of the weights that a pattern asks for; they mean nothing."""
    words: list[str] = []
    word = ""
    for sign in pattern:
        heavy = chance.choice("GL") == HEAVY if sign == FREE else sign == HEAVY
        word += chance.choice("kgtdpbmnrlsv") + (chance.choice(["ā", "ī", "ū", "e", "o", "ai", "aṃ"]) if heavy else
            chance.choice("aiu"))  # fmt: skip
        if chance.random() < 0.4:
            words, word = [*words, word], ""
    return " ".join([*words, word]).strip()


def arya(chance: random.Random) -> str:
    return " |\n".join(nonsense("".join(chance.choice(sorted(foot)) for foot in half), chance) for half in ARYA) + " ||"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ka kā ki kī", "LGLG"),
        ("kaṃ kaḥ kai kau ke ko kṛ kṝ", "GGGGGGLG"),
        ("takṣa tatra", "GLGL"),  # before two consonants
        ("tat ka", "GL"),  # across a blank
        ("tad api", "LLL"),
        ("ratha kha", "LLL"),  # an aspirate is one consonant
        ("ca a i", "LLL"),  # vowels of two words
        ("so 'pi te ’tra", "GLGL"),
        ("tat |\nka", "GL"),
        ("kḷpta agniḷe", "GLGLG"),  # ḷ as a vowel, and as the consonant of the Veda
        ("vāk", "G"),
        ("vak", "G"),
        ("12 || k ||", ""),
        ("KAKĀ", "LG"),
    ],
)
def test_weights_of_syllables(text: str, expected: str) -> None:
    assert weights(text) == weights(unicodedata.normalize("NFD", text)) == expected


@pytest.mark.parametrize(("name", "pattern"), TEXTBOOK.items())
def test_patterns_are_those_of_the_textbooks(name: str, pattern: str) -> None:
    assert pattern[:-1] + FREE == QUARTERS[name]
    assert meter(nonsense(pattern * 4, random.Random(1))) == name


def test_any_mixture_of_indravajra_and_upendravajra_is_of_the_upajati_family() -> None:
    for quarters in product([INDRAVAJRA, UPENDRAVAJRA], repeat=4):
        assert meter(nonsense("".join(quarters), random.Random(1))) == "upajāti_family"


def test_a_vipula_in_one_odd_quarter_is_enough() -> None:
    chance = random.Random(1)
    pathya, even = "....LGG.", "....LGL."
    assert meter(nonsense((pathya + even) * 2, chance)) == "anuṣṭubh_pathyā"
    assert meter(nonsense(pathya + even, chance)) == "anuṣṭubh_pathyā"
    for vipula in VIPULAS:
        for verse in (vipula + even, vipula + even + pathya + even, pathya + even + vipula + even):
            assert meter(nonsense(verse, chance)) == "anuṣṭubh_vipulā"


def test_aryas_have_30_and_27_matras() -> None:
    chance = random.Random(1)
    for _ in range(10):
        halves = [weights(half) for half in arya(chance).split("|\n")]
        # the last syllable of a half counts two, whatever its weight
        assert [len(half) + half[:-1].count(HEAVY) + 1 for half in halves] == [30, 27]
    assert sum(meter(arya(chance)) == "āryā" for _ in range(10)) == 10


@pytest.mark.parametrize("name", TEXTBOOK)
def test_a_verse_with_a_fault_is_still_of_its_metre(name: str) -> None:
    chance = random.Random(1)
    signs = TEXTBOOK[name] * 4
    at = len(signs) // 2
    for faulty in (signs[:at] + signs[at + 1 :], signs[:at] + "L" + signs[at:], signs[:at] + "GL" + signs[at + 2 :]):
        assert meter(nonsense(faulty, chance)) == name


def test_verse_is_what_a_metre_spells_more_cheaply_than_chance() -> None:
    chance = random.Random(1)
    assert all(sanskrit_verse(nonsense(pattern * 4, chance)) == VERSE for pattern in QUARTERS.values())
    assert sanskrit_verse(arya(chance)) == VERSE
    random_weights = ["".join(chance.choices("GL", k=60)) for _ in range(20)]
    assert sum(sanskrit_verse(nonsense(each, chance)) == PROSE for each in random_weights) >= 19
    assert sanskrit_verse("") == PROSE


@given(st.text())
def test_any_text_has_costs(text: str) -> None:
    found = costs(weights(text))
    assert list(found) == list(METERS)
    assert min(found.values()) >= 0
    assert meter(text) in METERS


LINE = "ཀ་ཁ་ག་ང་ཅ་ཆ་ཇ"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{LINE}། །{LINE}།", [7, 7]),
        (f"{LINE}་\u0f0d\u0f0d ཀ་ཁ༔ ག", [7, 2, 1]),
        ("༄༅། །ཀ་ཁ།\nག་", [2, 1]),  # ornaments are no syllables
        ("༡༢༣ || ", []),
    ],
)
def test_lines_between_shads(text: str, expected: list[int]) -> None:
    assert lines(text) == expected


def test_tibetan_verse_has_lines_of_one_odd_length() -> None:
    assert tibetan_verse(f"{LINE}། །" * 4) == VERSE
    assert tibetan_verse(f"ཀ་ཁ། །{LINE}། །{LINE}། །{LINE}། ཀ་ཁ་ག།") == VERSE
    assert tibetan_verse("། །".join("་".join("ཀ" * length) for length in (4, 12, 7, 22, 9, 16))) == PROSE
    assert tibetan_verse("། །".join(["ཀ་ཁ་ག་ང་ཅ་ཆ"] * 4)) == PROSE  # six syllables
    assert tibetan_verse("") == PROSE
