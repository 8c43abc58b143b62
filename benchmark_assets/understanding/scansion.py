"""Detect verse by rule: Sanskrit metres from syllable weights, Tibetan verse from line lengths.

Here: weights, the ten metres of MCS, the fit of a text to each, verse against prose. Nothing is trained.
Not here: which task a rule applies to (baselines).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from math import ceil, inf, log2
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

VERSE, PROSE = "VERSE", "PROSE"

HEAVY, LIGHT, FREE = "G", "L", "."
"""Weights of syllables: guru (heavy), laghu (light), and in patterns either."""

ERROR = 5.0
"""Cost in bits of an extra syllable, a missing one or a wrong weight. About one syllable in thirty is such an error,
from misprints, unapplied sandhi and poetic license."""

NAMED = 3.4
"""Bits to name one of ten metres: what a text must save over one bit per syllable to count as verse."""

_GANAS = MappingProxyType({
    "m": "GGG", "n": "LLL", "bh": "GLL", "y": "LGG", "j": "LGL", "r": "GLG", "s": "LLG", "t": "GGL", "g": "G", "l": "L",
})  # fmt: skip


def _pada(ganas: str) -> str:
    """The pattern of a quarter from its gaṇas; the last syllable is free."""
    return "".join(_GANAS[gana] for gana in ganas.split())[:-1] + FREE


QUARTERS: Mapping[str, str] = MappingProxyType({
    "upajāti_family": FREE + _pada("t t j g g")[1:],
    "śālinī": _pada("m t t g g"),
    "drutavilambita": _pada("n bh bh r"),
    "vasantatilakā": _pada("t bh j j g g"),
    "mandākrāntā": _pada("m bh n t t g g"),
    "śārdūlavikrīḍita": _pada("m s j s t t g"),
    "sragdharā": _pada("m r bh n y y y"),
})  # fmt: skip
"""Pattern of a quarter, for metres with four equal quarters. Upajāti mixes indravajrā and upendravajrā, which differ in
the first syllable only."""

PATHYA = "....LGG."
VIPULAS = ("....LLL.", "....GLL.", "....GGG.", "....GLG.")
EVEN = "....LGL."
"""Quarters of the anuṣṭubh: odd quarters of the pathyā and of the four vipulās, and even quarters, the same in both."""

UNITS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "anuṣṭubh_pathyā": (PATHYA + EVEN,),
    "anuṣṭubh_vipulā": tuple(odd + EVEN for odd in (PATHYA, *VIPULAS)),
    **{name: (pattern,) for name, pattern in QUARTERS.items()},
})  # fmt: skip
"""Units of each metre, in all their forms: a text is a sequence of such units."""

METRES = (*UNITS, "āryā")

_FEET = ("GG", "GLL", "LLG", "LLLL")
_ODD, _AMPHIBRACH = frozenset(_FEET), "LGL"
_EVEN = frozenset({*_FEET, _AMPHIBRACH})
_SIXTH = frozenset({_AMPHIBRACH, "LLLL"})
_LAST = frozenset({"G", "L"})
ARYA = (
    (_ODD, _EVEN, _ODD, _EVEN, _ODD, _SIXTH, _ODD, _LAST),
    (_ODD, _EVEN, _ODD, _EVEN, _ODD, frozenset({"L"}), _ODD, _LAST),
)
"""Feet allowed at each place of the two halves of an āryā: 30 and 27 mātrās, no amphibrach in odd feet, a single light
syllable as the sixth foot of the second half. Quarters have 12, 18, 12 and 15 mātrās, if words end there."""

_PHONE = re.compile(
    r"(?P<vowel>ai|au|[aāiīuūṛṝḹeo]|(?<![aāiīuūṛṝeo])ḷ(?![aāiīuūṛṝeo]))|(?P<coda>[ṃṁḥ])|(?P<consonant>[kgcjṭḍtdpb]h?|[ṅñṇnmyrlḷvśṣsh])"
)
_SHORT = frozenset("aiuṛḷ")


def weights(text: str) -> str:
    """Weights of the syllables of a Sanskrit text in IAST, as a string of G and L.

    A syllable is heavy with a long vowel or diphthong, anusvāra or visarga, or before two consonants, also across
    blanks, dots and line ends; patterns leave the last weight of a quarter free. An aspirate is one consonant, an
    avagraha none. Vowels of two words are two syllables.
    """
    found: list[str] = []
    short, coda, after = True, False, -1  # state of the last vowel; consonants before the first vowel do not count
    for word in unicodedata.normalize("NFC", text).lower().split():
        for phone in _PHONE.finditer(word):
            if phone.lastgroup == "consonant":
                after += after >= 0
            elif phone.lastgroup == "coda":
                coda = True
            else:
                if after >= 0:
                    found.append(LIGHT if short and not coda and after < 2 else HEAVY)
                short, coda, after = phone.group() in _SHORT, False, 0
    if after >= 0:
        found.append(LIGHT if short and not coda and not after else HEAVY)
    return "".join(found)


def costs(observed: str) -> dict[str, float]:
    """Description length, in bits, of the weights of a text under each metre.

    A fixed syllable costs nothing, a free syllable one bit, a choice among n feet or quarters log2 n, an error `ERROR`.
    The text may be any number of quarters, or of halves in anuṣṭubh and āryā; the cheapest reading is taken.
    """
    return {**_by_quarters(observed), "āryā": _arya(observed)}


def metre(text: str) -> str:
    """The metre of `METRES` with the least cost for a text; of several, the first."""
    found = costs(weights(text))
    return min(found, key=found.__getitem__)


def sanskrit_verse(text: str) -> str:
    """VERSE if the cost under some metre, plus the bits to name it, is less than one bit per syllable."""
    observed = weights(text)
    return VERSE if NAMED + min(costs(observed).values()) < len(observed) else PROSE


def _by_quarters(observed: str) -> dict[str, float]:
    """Cost of a text as a sequence of units, each one of several patterns of equal length, by edit distance.

    All metres advance together, one syllable of their patterns at a time. `row` has the least cost up to each syllable
    of the text, one line per pattern. Where a unit ends, all patterns of a metre continue from the cheapest one.
    """
    patterns = [pattern for units in UNITS.values() for pattern in units]
    longer = ERROR * np.arange(len(observed) + 1)
    bits = {
        sign: np.array([1.0 if sign == FREE else 0.0 if sign == weight else ERROR for weight in observed])
        for sign in (HEAVY, LIGHT, FREE)
    }
    best = dict.fromkeys(UNITS, inf)
    row = np.tile(longer, (len(patterns), 1))
    for step in range(len(observed) + max(map(len, patterns))):
        own = np.stack([bits[pattern[step % len(pattern)]] for pattern in patterns])
        after = row + ERROR  # a syllable of the pattern that the text lacks
        after[:, 1:] = np.minimum(after[:, 1:], row[:, :-1] + own)
        row = np.minimum.accumulate(after - longer, axis=1) + longer  # syllables too many
        first = 0
        for name, units in UNITS.items():
            if (step + 1) % len(units[0]) == 0:
                lines_of = slice(first, first + len(units))
                row[lines_of] = row[lines_of].min(axis=0) + log2(len(units))
                best[name] = min(best[name], float(row[first, -1]))
            first += len(units)
    return best


def _arya(observed: str) -> float:
    """Cost of a text as alternating halves of āryās; a foot that its place does not allow is an error.

    Such a foot has up to five syllables, and costs `ERROR` plus one bit for each syllable.
    """
    number = len(observed)
    bits = {}
    for allowed in {place for half in ARYA for place in half}:
        for size in range(min(5, number) + 1):
            feet = (observed[start : start + size] for start in range(number - size + 1))
            bits[allowed, size] = np.array([log2(len(allowed)) if foot in allowed else ERROR + size for foot in feet])
    row = np.full(number + 1, inf)
    row[0] = 0
    best = inf
    moras = number + observed.count(HEAVY)
    for half in range(max(1, ceil(moras / 27))):
        for allowed in ARYA[half % 2]:
            after = np.full(number + 1, inf)
            for size in range(min(5, number) + 1):
                after[size:] = np.minimum(after[size:], row[: number + 1 - size] + bits[allowed, size])
            row = after
        best = min(best, float(row[-1]))
    return best


_SHADS = re.compile(r"[\u0f0d-\u0f12\u0f14|\n]+")
_TSHEG = re.compile(r"[\u0f0b\u0f0c\s]+")
_LETTER = re.compile(r"[\u0f40-\u0f6c]")
LEAST_IN_VERSE = 0.4
"""Least share of a verse text's syllables in lines of its commonest length (Tibetan). Chosen on the train split of
VPCT, where it matters little: from 0.35 to 0.6 the rule is right for 86 to 88 of 100 texts."""


def lines(text: str) -> list[int]:
    """Number of syllables, which tshegs separate, in each line of a Tibetan text; lines end at shads and line
    breaks."""
    parts = ([each for each in _TSHEG.split(part) if _LETTER.search(each)] for part in _SHADS.split(text))
    return [len(syllables) for syllables in parts if syllables]


def tibetan_verse(text: str) -> str:
    """VERSE if lines of one odd length, from 5 to 15, have at least the share `LEAST_IN_VERSE` of all syllables."""
    found = lines(text)
    inside = Counter[int]()
    for length in found:
        inside[length] += length
    most = max(inside[length] for length in range(5, 16, 2))
    return VERSE if most and most >= LEAST_IN_VERSE * sum(found) else PROSE


class Rule(NamedTuple):
    """A rule: a function from a text to one of its classes."""

    scan: Callable[[str], str]
    classes: tuple[str, ...]


RULES: Mapping[str, Rule] = MappingProxyType({
    "sanskrit-metre": Rule(metre, METRES),
    "sanskrit-verse": Rule(sanskrit_verse, (VERSE, PROSE)),
    "tibetan-verse": Rule(tibetan_verse, (VERSE, PROSE)),
})  # fmt: skip
"""Rules by the name that a description gives."""

SIGNATURE = (
    f"metres by weights of syllables, {ERROR:g} bits an error, {NAMED:g} to name a metre; Tibetan verse from "
    f"{LEAST_IN_VERSE:g} of the syllables in lines of one odd length"
)
