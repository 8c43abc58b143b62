"""The letters of a text, however it is written: the form in which texts are compared with restricted texts.

Here: the fold, which undoes character entities, tags, invisible characters, look-alikes of other scripts, accents,
width, case, digits in place of letters, spaces, hyphens and punctuation. Not here: the comparison (overlap). Texts are
never stored, hashed, scored or shown in this form.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

LATIN = "LATIN"

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_REVERSED = re.compile("\u202e([^\u202c]*)\u202c?")
_NUMBERED = re.compile("[⁰¹²³⁴-⁹₀-₉\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]")
"""Numbers that compatibility normalization would append to a word as digits: marks of footnotes."""

_DIGITS = dict(zip("013457@$", "oieastas", strict=True))
_BY_DIGIT = {ord(digit): letter for digit, letter in _DIGITS.items()}
_AS_LETTER = re.compile(r"(?<=[^\W\d_])[013457@$]|[013457@$](?=[^\W\d_])")
"""Digits and signs beside a letter, which may stand for a letter: `w0rd5`."""

_INSIDE = re.compile(r"[^\W\d_][013457@$]+[^\W\d_]")
SPELLED = 0.1
"""If at least this share of words has a digit inside, every digit stands for a letter: `15` for `is`."""

_WORD = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff])+")
"""A word with accents that no letter absorbs."""

_FURTHER = dict(zip("ηωσεπпишє", "nwoennuwe", strict=True))
"""Look-alikes that are used as such, but are too unlike for Unicode's list."""

_WITHIN = re.compile(r"(?<=[^\W\d_][ ,;] )[^\W\d_]\S*|(?<=[^\W\d_] )[^\W\d_]\S*")
"""Words after a letter, or after a comma: not at the beginning of a sentence."""

_FILLERS = "\u115f\u1160\u3164\uffa0"
_OPTIONAL = ("COMBINING ", "HEBREW ", "ARABIC ", "VARIATION ", "MONGOLIAN FREE ")
"""Beginnings of names of marks that a text may have or lack. Marks of other scripts are part of the spelling."""

_NAME = re.compile(
    r"LATIN (?:SMALL LETTER|CAPITAL LETTER|LETTER SMALL CAPITAL)"
    r"(?: DOTLESS| SCRIPT| LONG)? ([A-Z]{1,2})(?: WITH .*)?"
)

WEIGHTS = (("\u2e80", "\u2fdf", 4), ("\u3040", "\u31ff", 2), ("\u3400", "\u9fff", 4), ("\uac00", "\ud7a3", 2),
           ("\uf900", "\ufaff", 4), ("\U00020000", "\U0003ffff", 4))  # fmt: skip
"""Ranges of characters that say as much as several letters of an alphabet: a Han character as much as four."""

NAMES = 0.25
"""If more than this share of a document's letters is in capitalized words, the capitals do not mark names."""


def letters(text: str) -> NDArray[np.uint32]:
    """The letters of a text as numbers, shape (letters,).

    A Han character gives four numbers, and a kana or a Hangul syllable two, so that equal lengths in different scripts
    say about as much.
    """
    return _numbers(folded(text))


def folded(text: str) -> str:
    """The letters of a text, without what can be changed while a reader still reads the same words.

    Letters of another script than their word's become the letters that they look like. The script of a word is that of
    its letters without a look-alike in the other script; a word without such letters is in the script of the text.
    Accents of Latin and Greek are dropped. Marks of other scripts stay, except those that are optional (points of
    Hebrew, vowel signs of Arabic).
    """
    return _plain_words(text).translate(_LETTERS)


def with_names(document: Sequence[str]) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.bool_]]]:
    """The letters of each text of a document, and which of them belong to names, which no translator has chosen.

    Names are words that are capitalized within sentences, and nowhere in the document in lower case.
    """
    capitalized = {word for text in document for word in _WITHIN.findall(text) if word[0].isupper()}
    lower = {word.translate(_LETTERS) for text in document for word in text.split() if word[:1].islower()}
    names = {folded(word) for word in capitalized} - lower
    parts = [[word.translate(_LETTERS) for word in _plain_words(text).split()] for text in document]
    size = sum(len(word) for words in parts for word in words)
    if sum(len(word) for words in parts for word in words if word in names) > NAMES * size:
        names = set()
    for words in parts:
        numbers = [_numbers(word) for word in words]
        is_name = [np.full(len(part), word in names) for part, word in zip(numbers, words, strict=True)]
        yield np.concatenate([_numbers(""), *numbers]), np.concatenate([np.zeros(0, bool), *is_name])


def _numbers(text: str) -> NDArray[np.uint32]:
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    if text.isascii():
        return np.left_shift(points, 2)
    sizes = np.ones(len(points), dtype=np.intp)
    for first, last, weight in WEIGHTS:
        sizes[(points >= ord(first)) & (points <= ord(last))] = weight
    places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers: NDArray[np.uint32] = (np.repeat(points, sizes) * 4 + places).astype(np.uint32)
    return numbers


def _plain_words(text: str) -> str:
    """The text with everything folded except spaces, punctuation, accents and digits that stand alone."""
    text = html.unescape(_TAG.sub("", html.unescape(text)))
    if not text.isascii():
        text = _REVERSED.sub(lambda match: match[1][::-1], text)
        text = unicodedata.normalize("NFKC", _NUMBERED.sub("", text).translate(_VISIBLE))
    text = text.casefold()
    if (inside := len(_INSIDE.findall(text))) and inside >= SPELLED * len(text.split()):
        text = text.translate(_BY_DIGIT)
    text = _AS_LETTER.sub(lambda match: _DIGITS[match[0]], text)
    return _in_one_script(text)


class _Visible(dict[int, str | None]):
    """Characters by code point, without format characters and characters that look like nothing."""

    def __missing__(self, point: int) -> str | None:
        character = chr(point)
        is_nothing = unicodedata.category(character) in ("Cf", "Cn", "Co") or character in _FILLERS
        self[point] = None if is_nothing else character
        return self[point]


class _Letters(dict[int, str]):
    """The letters that characters stand for, by code point; '' for characters other than letters."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        category, name = unicodedata.category(character), _name(character)
        is_optional = category in ("Lm", "Mn") and name.startswith((*_OPTIONAL, "MODIFIER LETTER "))
        if category[0] not in "LM" or is_optional:
            self[point] = ""
        elif script(character) == "GREEK":
            self[point] = unicodedata.normalize("NFD", character)[0]
        else:
            self[point] = _plain(character)
        return self[point]


_VISIBLE, _LETTERS = _Visible(), _Letters()


def _name(character: str) -> str:
    return unicodedata.name(character, "")


@cache
def script(letter: str) -> str:
    """The script of a letter: the first word of its name, as in LATIN SMALL LETTER A."""
    return _name(letter).partition(" ")[0]


@cache
def _plain(letter: str) -> str:
    """A Latin letter without accents and strokes, in lower case; any other letter as it is."""
    match = _NAME.fullmatch(_name(letter))
    return match[1].lower() if match else letter


@cache
def _look_alike(letter: str) -> str:
    """The letter from a to z that a letter of another script looks like in either case; '' if there is none."""
    if letter in _FURTHER:
        return _FURTHER[letter]
    from confusable_homoglyphs.confusables import confusables_data  # a large file, which most texts do not need

    for form in (letter, letter.upper()):
        for entry in confusables_data.get(form, ()):
            plain = _plain(entry["c"]).lower() if len(entry["c"]) == 1 else ""
            if len(plain) == 1 and plain.isascii() and plain.isalpha():
                return plain
    return ""


@cache
def _letters_like() -> dict[str, dict[str, str]]:
    """The letter of each script, by its name, that looks like each letter from a to z."""
    from confusable_homoglyphs.confusables import confusables_data

    forms = {form.lower() for form in (*confusables_data, *_FURTHER) if len(form) == 1 and form.isalpha()}
    alike: dict[str, dict[str, str]] = {}
    for form in sorted(form for form in forms if len(form) == 1):
        if plain := _look_alike(form):
            alike.setdefault(script(form), {}).setdefault(plain, form)
    return alike


def _in_one_script(text: str) -> str:
    """The text with letters that are foreign to their word's script replaced by their look-alikes."""
    scripts = {script(letter) for letter in set(text) if letter.isalpha()}
    if len(scripts) < 2:
        return text
    main = _script_of(text, LATIN)
    return _WORD.sub(lambda match: _in_script(match[0], _script_of(match[0], main)), text)


def _script_of(text: str, default: str) -> str:
    """The script of most letters that have no look-alike in another script of the text; `default` if there are none."""
    counts: Counter[str] = Counter()
    letters_of_text = Counter(filter(str.isalpha, text))
    others = {script(letter) for letter in letters_of_text} - {LATIN}
    for letter, count in letters_of_text.items():
        if script(letter) != LATIN:
            counts[script(letter)] += count * (not _look_alike(letter))
        elif not any(_plain(letter) in _letters_like().get(other, ()) for other in others):
            counts[LATIN] += count
    most = max(counts.values(), default=0)
    return default if not most or counts[default] == most else max(counts, key=lambda name: (counts[name], name))


def _in_script(word: str, target: str) -> str:
    if all(script(letter) == target for letter in word):
        return word
    if target == LATIN:
        return "".join(_look_alike(letter) or letter if script(letter) != LATIN else letter for letter in word)
    like, replaced = _letters_like().get(target, {}), list[str]()
    for letter in word:
        plain = _plain(letter) if script(letter) == LATIN else _look_alike(letter)
        replaced.append(letter if script(letter) == target else like.get(plain, letter))
    return "".join(replaced)
