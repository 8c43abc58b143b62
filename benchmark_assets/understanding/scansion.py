"""Detect meter and verse by rules: Sanskrit meters from syllable weights, Tibetan verse from line lengths.

Here: syllable weights, the ten meters of the task MCS, the fit of a text to each meter, the distinction between verse
and prose. Nothing is trained. Not here: the tasks to which a rule applies (baselines).
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
"""Weights of syllables: guru (heavy) and laghu (light). In patterns, a free syllable may have either weight."""

ERROR = 5.0
"""Cost in bits of an extra syllable, a missing syllable or a wrong weight. About one syllable in thirty has such an
error, due to misprints, unapplied sandhi or poetic license."""

NAMED = 3.4
"""Number of bits that name one of ten meters. A text counts as verse if its description by a meter saves more than this
number of bits, compared with one bit per syllable."""

_GANAS = MappingProxyType({
    "m": "GGG", "n": "LLL", "bh": "GLL", "y": "LGG", "j": "LGL", "r": "GLG", "s": "LLG", "t": "GGL", "g": "G", "l": "L",
})  # fmt: skip


def _pada(ganas: str) -> str:
    """The pattern of a quarter that consists of these gaṇas. The last syllable of the quarter is free."""
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
"""For each meter with four equal quarters, the pattern of a quarter. Upajāti mixes indravajrā and upendravajrā, which
differ only in the first syllable."""

PATHYA = "....LGG."
VIPULAS = ("....LLL.", "....GLL.", "....GGG.", "....GLG.")
EVEN = "....LGL."
"""Patterns of quarters of the anuṣṭubh: the odd quarter in the pathyā, the odd quarter in each of the four vipulās, and
the even quarter, which is the same in all of them."""

UNITS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "anuṣṭubh_pathyā": (PATHYA + EVEN,),
    "anuṣṭubh_vipulā": tuple(odd + EVEN for odd in (PATHYA, *VIPULAS)),
    **{name: (pattern,) for name, pattern in QUARTERS.items()},
})  # fmt: skip
"""For each meter, the patterns that a unit (a half of an anuṣṭubh, or a quarter) may have. The patterns of a meter have
equal length. A text in the meter is a sequence of units, and each unit has one of the patterns."""

METERS = (*UNITS, "āryā")

_FEET = ("GG", "GLL", "LLG", "LLLL")
_ODD, _AMPHIBRACH = frozenset(_FEET), "LGL"
_EVEN = frozenset({*_FEET, _AMPHIBRACH})
_SIXTH = frozenset({_AMPHIBRACH, "LLLL"})
_LAST = frozenset({"G", "L"})
ARYA = (
    (_ODD, _EVEN, _ODD, _EVEN, _ODD, _SIXTH, _ODD, _LAST),
    (_ODD, _EVEN, _ODD, _EVEN, _ODD, frozenset({"L"}), _ODD, _LAST),
)
"""For each half of an āryā, the feet that are allowed at each place. The halves have 30 and 27 mātrās. Odd feet cannot
be amphibrachs. The sixth foot of the second half is a single light syllable."""

_PHONE = re.compile(
    r"(?P<vowel>ai|au|[aāiīuūṛṝḹeo]|(?<![aāiīuūṛṝeo])ḷ(?![aāiīuūṛṝeo]))|(?P<coda>[ṃṁḥ])|(?P<consonant>[kgcjṭḍtdpb]h?|[ṅñṇnmyrlḷvśṣsh])"
)
_SHORT = frozenset("aiuṛḷ")


def weights(text: str) -> str:
    """Weights of the syllables of a Sanskrit text in IAST, as a string of G and L.

    A syllable is heavy if it has a long vowel, a diphthong, anusvāra or visarga, or if at least two consonants follow
    its vowel, even across spaces, punctuation and line ends. An aspirate counts as one consonant, an avagraha as none.
    Vowels of different words belong to different syllables.
    """
    syllables: list[str] = []
    short, coda, consonants = True, False, -1  # state of the last vowel; -1: no vowel yet
    for word in unicodedata.normalize("NFC", text).lower().split():
        for phone in _PHONE.finditer(word):
            if phone.lastgroup == "consonant":
                consonants += consonants >= 0
            elif phone.lastgroup == "coda":
                coda = True
            else:
                if consonants >= 0:
                    syllables.append(LIGHT if short and not coda and consonants < 2 else HEAVY)
                short, coda, consonants = phone.group() in _SHORT, False, 0
    if consonants >= 0:
        syllables.append(LIGHT if short and not coda and not consonants else HEAVY)
    return "".join(syllables)


def costs(observed: str) -> dict[str, float]:
    """Description length of a text's syllable weights (G and L) under each meter, in bits.

    A fixed syllable costs nothing, a free syllable one bit, a choice among n feet or patterns log2 n bits, and an error
    `ERROR` bits. The text may have any number of quarters or, in anuṣṭubh and āryā, of halves. The result is the lowest
    cost of any division of the text.
    """
    return {**_by_quarters(observed), "āryā": _arya(observed)}


def meter(text: str) -> str:
    """The meter of `METERS` with the lowest cost for a Sanskrit text in IAST; the first if several are equal."""
    bits = costs(weights(text))
    return min(bits, key=bits.__getitem__)


def sanskrit_verse(text: str) -> str:
    """VERSE if the lowest cost under any meter, plus the bits to name the meter, is below one bit per syllable; else
    PROSE."""
    observed = weights(text)
    return VERSE if NAMED + min(costs(observed).values()) < len(observed) else PROSE


def _by_quarters(observed: str) -> dict[str, float]:
    """Cost of a text under each meter of `UNITS`: the edit distance to the cheapest sequence of the meter's units.

    All meters advance together, one syllable of their patterns at a time. `row` has the lowest cost up to each syllable
    of the text, shape (patterns, syllables + 1). At the end of a unit, all patterns of a meter continue from the lowest
    of their costs.
    """
    patterns = [pattern for units in UNITS.values() for pattern in units]
    insertions = ERROR * np.arange(len(observed) + 1)
    bits = {
        sign: np.array([1.0 if sign == FREE else 0.0 if sign == weight else ERROR for weight in observed])
        for sign in (HEAVY, LIGHT, FREE)
    }
    best = dict.fromkeys(UNITS, inf)
    row = np.tile(insertions, (len(patterns), 1))
    for step in range(len(observed) + max(map(len, patterns))):
        syllable_bits = np.stack([bits[pattern[step % len(pattern)]] for pattern in patterns])
        next_row = row + ERROR  # the text lacks a syllable of the pattern
        next_row[:, 1:] = np.minimum(next_row[:, 1:], row[:, :-1] + syllable_bits)
        row = np.minimum.accumulate(next_row - insertions, axis=1) + insertions  # the text has extra syllables
        first = 0
        for name, units in UNITS.items():
            if (step + 1) % len(units[0]) == 0:
                lines_of = slice(first, first + len(units))
                row[lines_of] = row[lines_of].min(axis=0) + log2(len(units))
                best[name] = min(best[name], float(row[first, -1]))
            first += len(units)
    return best


def _arya(observed: str) -> float:
    """Lowest cost of a division of a text into feet, where the first and the second half of an āryā alternate.

    A foot that is allowed at its place costs log2 of the number of feet allowed there. Any other group of zero to five
    syllables may take the place of a foot; it costs `ERROR` plus one bit for each syllable.
    """
    length = len(observed)
    bits = {}
    for allowed in {place for half in ARYA for place in half}:
        for size in range(min(5, length) + 1):
            feet = (observed[start : start + size] for start in range(length - size + 1))
            bits[allowed, size] = np.array([log2(len(allowed)) if foot in allowed else ERROR + size for foot in feet])
    row = np.full(length + 1, inf)
    row[0] = 0
    best = inf
    moras = length + observed.count(HEAVY)
    for half in range(max(1, ceil(moras / 27))):
        for allowed in ARYA[half % 2]:
            next_row = np.full(length + 1, inf)
            for size in range(min(5, length) + 1):
                next_row[size:] = np.minimum(next_row[size:], row[: length + 1 - size] + bits[allowed, size])
            row = next_row
        best = min(best, float(row[-1]))
    return best


_SHADS = re.compile(r"[\u0f0d-\u0f12\u0f14|\n]+")
_TSHEG = re.compile(r"[\u0f0b\u0f0c\s]+")
_LETTER = re.compile(r"[\u0f40-\u0f6c]")
LEAST_IN_VERSE = 0.4
"""A Tibetan text counts as verse if at least this share of its syllables is in lines of the same odd length. The value
was chosen on the train split of VPCT, where it makes little difference: with values from 0.35 to 0.6, 86 to 88 of 100
texts are classified correctly."""


def lines(text: str) -> list[int]:
    """Number of syllables in each line of a Tibetan text. Lines end at shads and line breaks."""
    parts = ([part for part in _TSHEG.split(line) if _LETTER.search(part)] for line in _SHADS.split(text))
    return [len(syllables) for syllables in parts if syllables]


def tibetan_verse(text: str) -> str:
    """VERSE if the lines of one odd length (from 5 to 15 syllables) together contain at least the share
    `LEAST_IN_VERSE` of all syllables; else PROSE."""
    lengths = lines(text)
    syllables = Counter[int]()
    for length in lengths:
        syllables[length] += length
    largest = max(syllables[length] for length in range(5, 16, 2))
    return VERSE if largest and largest >= LEAST_IN_VERSE * sum(lengths) else PROSE


class Rule(NamedTuple):
    """A rule: a function from a text to a class, and all classes that the function can return."""

    scan: Callable[[str], str]
    classes: tuple[str, ...]


RULES: Mapping[str, Rule] = MappingProxyType({
    "sanskrit-metre": Rule(meter, METERS),
    "sanskrit-verse": Rule(sanskrit_verse, (VERSE, PROSE)),
    "tibetan-verse": Rule(tibetan_verse, (VERSE, PROSE)),
})  # fmt: skip
"""Rules by the names used for `scansion` in descriptions."""

SIGNATURE = (
    f"metres by weights of syllables, {ERROR:g} bits an error, {NAMED:g} to name a metre; Tibetan verse from "
    f"{LEAST_IN_VERSE:g} of the syllables in lines of one odd length"
)
