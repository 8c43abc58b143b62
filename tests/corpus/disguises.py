"""Ways to write a text differently so that a reader still reads the same words, and ways to copy a part of a text."""

import random
import re
from collections.abc import Callable, Iterable

Disguise = Callable[[str, random.Random], str]

OTHER = "Nothing of this was ever said by anyone, as far as people remember; it only fills a page with words. "

CYRILLIC = str.maketrans("aceopxyishkmtABCEHKMOPTX", "асеорхуіѕһкмтАВСЕНКМОРТХ")
GREEK = str.maketrans("aoivnptuwxABEHIKMNOPTXYZ", "αοινηρτυωχΑΒΕΗΙΚΜΝΟΡΤΧΥΖ")
SMALL_CAPITALS = str.maketrans("abcdefghijklmnoprtuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ")
FULL_WIDTH = {ord(letter): ord(letter) + 0xFEE0 for letter in map(chr, range(0x21, 0x7F))}
BOLD = {ord(letter): 0x1D41A + place for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}
DIGITS = str.maketrans("oieas", "01345")
ACCENTS = "\u0301\u0300\u0308\u0303\u0307\u0323"


def sentences(text: str) -> list[str]:
    return re.findall(r"\S[^.;:!?]*[.;:!?]*\W*", text)


def reordered(text: str, chance: random.Random) -> str:
    return " ".join(chance.sample(parts := sentences(text), len(parts)))


def clauses_shuffled(text: str, chance: random.Random) -> str:
    clauses = re.split(r"(?<=[,;:.!?])\s+|\n+", text)
    return " ".join(chance.sample(clauses, len(clauses)))


def first_words(text: str, part: int) -> str:
    words = text.split()
    return " ".join(words[: -(-len(words) // part)])


def between_letters(text: str, signs: str, chance: random.Random, share: float = 1.0) -> str:
    """The text with one of `signs` after each letter, or after a share of the letters."""
    return "".join(
        letter + (chance.choice(signs) if letter.isalpha() and chance.random() < share else "") for letter in text
    )


def hyphenated(text: str, chance: random.Random) -> str:
    """The text in lines; every third longer word is divided at the end of its line."""
    return " ".join(
        f"{word[:3]}-\n{word[3:]}" if len(word) > 5 and chance.random() < 0.33 else word for word in text.split()
    )


def each_word(text: str, change: Callable[[int, str], str]) -> str:
    return " ".join(change(number, word) for number, word in enumerate(text.split()))


def words_swapped(text: str, share: float, others: Iterable[str], chance: random.Random) -> str:
    vocabulary = list(others)
    return " ".join(chance.choice(vocabulary) if chance.random() < share else word for word in text.split())


DISGUISES: dict[str, Disguise] = {
    # Of the published table.
    "whole": lambda text, _: text,
    "zero-width spaces": lambda text, chance: between_letters(text, "\u200b\u200c\u2060\ufeff", chance),
    "look-alikes": lambda text, _: text.translate(CYRILLIC),
    "spaced letters": lambda text, _: " ".join(text),
    "entities": lambda text, _: "".join(f"&#{ord(letter)};" for letter in text),
    "soft hyphens": lambda text, chance: between_letters(text, "\u00ad", chance, 0.3),
    "accents": lambda text, chance: between_letters(text, ACCENTS, chance, 0.3),
    "first third and other words": lambda text, _: f"{first_words(text, 3)} {OTHER}",
    "hyphenated": hyphenated,
    "clauses shuffled": clauses_shuffled,
    # Of earlier tests.
    "cut": lambda text, _: text[:-2],
    "recased": lambda text, _: text.upper(),
    "marked": lambda text, _: each_word(text, lambda number, word: f"{word}[{number}]" if number % 5 == 0 else word),
    "reordered": reordered,
    "half": lambda text, _: first_words(text, 2),
    "half among other words": lambda text, _: f"{OTHER} {first_words(text, 2)} {OTHER}",
    "last tenth lost": lambda text, _: text[: len(text) * 9 // 10],
    # Ten more.
    "without spaces": lambda text, _: re.sub(r"\W+", "", text),
    "full width": lambda text, _: text.translate(FULL_WIDTH),
    "mathematical letters": lambda text, _: text.translate(BOLD),
    "small capitals": lambda text, _: text.translate(SMALL_CAPITALS),
    "Greek look-alikes": lambda text, _: text.translate(GREEK),
    "points between letters": lambda text, chance: between_letters(text, ".·-*_", chance),
    "tags": lambda text, _: each_word(text, lambda _, word: f"<i>{word[:2]}</i><b class='x'>{word[2:]}</b>"),
    "digits for letters": lambda text, _: text.lower().translate(DIGITS),
    "fillers": lambda text, chance: between_letters(text, "\u3164\u115f\ufe0f\u034f\U000e0020", chance),
    "written backwards": lambda text, _: f"\u202e{text[::-1]}\u202c",
    "raised numbers": lambda text, _: each_word(text, lambda number, word: f"{word}{'¹²³⁴⁵⁶⁷⁸⁹'[number % 9]}"),
}
"""Ways to write a text so that a reader reads the same words, and ways to copy a part. A copy is found all the same."""
