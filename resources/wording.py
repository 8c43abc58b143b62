"""Words of texts, in lower case, without digits and punctuation.

Here: words, runs of words that two texts share, and whether a text shows anything. Not here: how much of a text makes
an output a copy (corpus.overlap), and what messages quote (errors).
"""

import re
import unicodedata

UNSPACED = r"\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""Characters of scripts without spaces: each counts as a word."""

_WORD = re.compile(rf"[{UNSPACED}]|[^\W\d_]+")

_FILLERS = frozenset(map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810),
                               *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))  # fmt: skip
"""Invisible characters that Unicode counts as letters, symbols or marks: fillers, joiners and variation selectors."""

RUN = 6
"""Minimum number of consecutive words that count as shared."""


def words_of(text: str) -> list[str]:
    """The words of a text. Marks such as "[1]", "*" or digits do not count."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")
    return _WORD.findall(plain)


def visible(text: str) -> bool:
    """Whether a text shows anything: a character that is neither a blank nor invisible, such as a zero-width space."""
    return any(unicodedata.category(letter)[0] not in "ZC" and letter not in _FILLERS for letter in text)


def share_a_run(text: str, other: str) -> bool:
    """Whether two texts share `RUN` words in a row."""
    runs = [{tuple(each[n : n + RUN]) for n in range(len(each) - RUN + 1)} for each in map(words_of, (text, other))]
    return not runs[0].isdisjoint(runs[1])
