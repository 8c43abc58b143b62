"""Properties of a single text: words, scripts, sentences, repetition, how it ends.

Not here: comparison of texts (metrics.fidelity), their meaning (metrics.talk).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

from benchmark_assets.corpus.trigrams import normalized

_GRAM = 16
_CLOSING = "\"'`"  # besides Unicode's closing brackets and quotation marks
_SENTENCE = re.compile(r"[.?!。！？؟۔।॥።]+")
_END = re.compile(r"(?<=[.?!؟۔।॥])[\"'”’»)\]]*\s+|(?<=[。！？])|\n+")
_DIGITS = re.compile(r"\d+")
_LEAST, _LONGEST = 4, 5
_RETURNS = 0.9


INSIDE = ",，،、·"
"""Punctuation that ends no sentence."""


class Loop(NamedTuple):
    """A string repeated back to back in a text: how many times it occurs, and the total length of the occurrences."""

    times: float
    characters: int


class MeasuredText:
    """A text with properties that several rules need, computed once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> list[str]:
        """The words (see `words`)."""
        return words(self.text)

    @cached_property
    def stems(self) -> list[str]:
        """The stems of the content words (see `content`)."""
        return content(self.words)

    @cached_property
    def vocabulary(self) -> set[str]:
        """The distinct stems of the content words."""
        return set(self.stems)


def scripts(text: str) -> Counter[str]:
    """Number of a text's letters in each script. The name of a script is the first word of its letters' Unicode names.

    Compatibility forms, such as fullwidth letters, are normalized (NFKC). Modifier letters are ignored.
    """
    counts: Counter[str] = Counter()
    for letter, count in Counter(unicodedata.normalize("NFKC", text)).items():
        if letter.isalpha() and (script := _SCRIPT[letter]):
            counts[script] += count
    return counts


def words(text: str) -> list[str]:
    """The words of a text in lower case, without digits. In scripts without spaces, each letter is a word."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_WORDS).split()


def content(tokens: list[str]) -> list[str]:
    """The stems of the content words among a text's words, in order.

    Content words are words of four letters or more, and their stems are the first five letters: a rule for any language
    with spaces. In scripts without spaces, pairs of adjacent letters take the place of words.
    """
    stems = []
    for token, following in zip_longest(tokens, tokens[1:], fillvalue=""):
        if len(token) >= _LEAST:
            stems.append(token[:_LONGEST])
        elif len(token) == 1 == len(following) and _unspaced(token) and _unspaced(following):
            stems.append(token + following)
    return stems


def sentences(text: str) -> int:
    """Number of a text's sentence-final marks: full stops, question marks and exclamation marks of any script.

    Adjacent marks count once; an ellipsis of one character does not count.
    """
    return len(_SENTENCE.findall(text))


def parts(text: str) -> list[str]:
    """The sentences and lines of a text that have a letter or a digit. Abbreviations divide a sentence, too."""
    return [part.strip() for part in _END.split(text) if any(letter.isalnum() for letter in part)]


def longest_loop(text: str) -> Loop:
    """The string that is repeated back to back most often in a text.

    Case and the amount of white space are ignored. Returns `Loop(1, 0)` if no sequence of 16 characters recurs. A loop
    may be missed if it has fewer than 24 characters, not counting its last repetition.
    """
    text = " ".join(text.casefold().split())
    if not any(text.find(text[i : i + _GRAM], i + 1) > 0 for i in range(0, len(text) - _GRAM + 1, _GRAM // 2)):
        return Loop(1.0, 0)
    latest: dict[str, int] = {}
    best, run, period = Loop(1.0, 0), 0, 0
    for i in range(len(text) - _GRAM + 1):
        gram = text[i : i + _GRAM]
        since = i - latest.get(gram, i)
        latest[gram] = i
        run = run + 1 if since == period else 1
        period = since
        if period:
            length = run - 1 + _GRAM + period
            best = max(best, Loop(length / period, length))
    return best


def recurrence(text: str) -> float:
    """How many times a text repeats the same words, at least 1; the last repetition may be incomplete.

    Case, punctuation, digits and spaces are ignored. Up to a tenth of the letters may precede or follow the
    repetitions.
    """
    letters = _DIGITS.sub("", normalized(text))
    return max(_recurrence(letters), _recurrence(letters[::-1]))


def ends_open(text: str) -> bool:
    """Whether a text lacks sentence-final punctuation at its end; closing quotes and brackets are ignored."""
    end = last_mark(text)
    return not end or end in INSIDE or unicodedata.category(end) != "Po"


def last_mark(text: str) -> str:
    """The last character of a text before closing quotes and brackets; '' if there is none."""
    end = text.rstrip()
    while end and (end[-1] in _CLOSING or unicodedata.category(end[-1]) in ("Pe", "Pf", "Pi")):
        end = end[:-1].rstrip()
    return end[-1:]


def _recurrence(letters: str) -> float:
    """How many times a string repeats its beginning; 1 if the repetitions cover less than the share `_RETURNS` of the
    string."""
    for period in _returns(letters):
        length = period + _shared(letters, letters[period:])
        if length >= _RETURNS * len(letters):
            return length / period
    return 1.0


def _shared(one: str, other: str) -> int:
    """Length of the common beginning of two strings."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _returns(letters: str) -> Iterator[int]:
    """The positions at which the start of a string recurs."""
    start = letters[:_GRAM]
    position = letters.find(start, 1)
    while position > 0:
        yield position
        position = letters.find(start, position + 1)


def _unspaced(letter: str) -> bool:
    return unicodedata.name(letter, "").partition(" ")[0] in _UNSPACED


class _Scripts(dict[str, str]):
    """Script of each letter; '' for modifier letters."""

    def __missing__(self, letter: str) -> str:
        name = "" if unicodedata.category(letter) == "Lm" else unicodedata.name(letter, "").partition(" ")[0]
        return self.setdefault(letter, name)


class _Words(dict[int, str]):
    """Replacement of each character, by code point: letters and marks remain, with spaces around letters of scripts
    without spaces; any other character becomes a space."""

    def __missing__(self, point: int) -> str:
        letter = chr(point)
        replacement = letter if unicodedata.category(letter)[0] in "LM" else " "
        if replacement != " " and _unspaced(letter):
            replacement = f" {letter} "
        return self.setdefault(point, replacement)


_UNSPACED = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"}
_SCRIPT, _WORDS = _Scripts(), _Words()
