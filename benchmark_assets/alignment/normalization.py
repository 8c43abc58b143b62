"""The normal form of a text: its words and marks without typography, with their places in the original.

Here: which differences between texts are typographic only. Not here: finding one text in another (placement,
expansion).
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set

ELLIPSIS, DASH = "…", "–"
SENTENCE_END = frozenset(".?!。？！")
_AT_THE_ENDS = frozenset({ELLIPSIS, DASH, ".", ",", ";", ":"})

_ROMAN = r"x{0,3}(?:ix|iv|vi{0,3}|i{1,3})|x{1,3}"
_SUPERSCRIPT = "¹²³⁰⁴⁵⁶⁷⁸⁹"
_QUOTES = "\"'“”„‟‘’‚‛«»‹›「」『』`´″′"
_NO_WORD = "".join(chr(point) for point in range(0x10000) if unicodedata.category(chr(point))[0] in "PSZ")
_IDEOGRAPH = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"[^\s{re.escape(_NO_WORD + _SUPERSCRIPT)}{_IDEOGRAPH}]"
_DOTS = r"(?:[…⋯]|\.(?:\s?\.){2,})[.…]*"
ELLIPSIS_IN_PROSE = rf"[\[(]\s*{_DOTS}\s*[\])]|{_DOTS}"
"""Pattern of the strings that become an ellipsis in the normal form."""

_TOKEN = re.compile(
    rf"""
    (?P<dropped>
        \[\s*(?:\d{{1,4}}|{_ROMAN}|[*†‡]+)\s*\] | [{_SUPERSCRIPT}*†‡_]+  # marks of footnotes, of emphasis
        | \((?:\d{{1,3}}|{_ROMAN}|[a-z])\)  # numbers of a list
        | (?<!\w[^\S\n])(?<![^\s{_QUOTES}])(?:\d{{1,3}}|{_ROMAN})[.)](?=\s|$)
        | (?<!\w\s)(?<![^\s{_QUOTES}])[a-z][.)](?=\s|$)
    )
    | (?P<word>[{_IDEOGRAPH}] | {_LETTER}+ (?:(?:['’ʼ‘\-‐‑]|(?<=\d)[–−](?=\d)) {_LETTER}+)*)
    | (?P<ellipsis>{ELLIPSIS_IN_PROSE})
    | (?P<dash>[-‐‑‒–—―−⸺⸻]+)
    | (?P<quote>[{_QUOTES}])
    | (?P<mark>\S)
    """,
    re.X,
)
_LETTERS = str.maketrans(
    dict.fromkeys("’ʼ‘", "'") | dict.fromkeys("‐‑–−", "-") | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff")
)


class NormalForm:
    """A text as tokens, without typography.

    White space, quotation marks, footnote and emphasis marks, and list numbers are dropped. Words are in NFKC. A run of
    dashes is one token. An ellipsis in any notation is one token. Case is kept, because it shows where a sentence
    begins.

    Attributes
    ----------
    tokens
        Words and marks. A word may contain hyphens or apostrophes; each ideograph is a word.
    spans
        Range of characters of each token in the original, half-open.
    is_word
        Whether each token is a word.
    words_before
        Number of words before each token and, as the last element, in the whole text.
    """

    def __init__(self, tokens: Sequence[str], spans: Sequence[tuple[int, int]], is_word: Sequence[bool]) -> None:
        self.tokens, self.spans, self.is_word = list(tokens), list(spans), list(is_word)
        self.words_before, self._offsets = [0], [1]
        for token, word in zip(self.tokens, self.is_word, strict=True):
            self.words_before.append(self.words_before[-1] + word)
            self._offsets.append(self._offsets[-1] + len(token) + 1)
        self.line = f" {' '.join(self.tokens)} "

    @property
    def words(self) -> int:
        """Number of words in the text."""
        return self.words_before[-1]

    def folded(self, marks: Set[str] = frozenset()) -> "NormalForm":
        """The normal form in lower case, with no marks other than `marks`."""
        rows = zip(self.tokens, self.spans, self.is_word, strict=True)
        kept = [(token.casefold(), span, word) for token, span, word in rows if word or token in marks]
        return NormalForm(*zip(*kept, strict=True)) if kept else NormalForm((), (), ())

    def core(self) -> list[str]:
        """The tokens without stops, commas, dashes and ellipses at either end."""
        inner = [at for at, token in enumerate(self.tokens) if token not in _AT_THE_ENDS]
        return self.tokens[inner[0] : inner[-1] + 1] if inner else []

    def occurrences(self, tokens: Sequence[str], before: int | None = None) -> Iterator[tuple[int, int]]:
        """Half-open ranges in which these tokens occur consecutively; no range extends beyond token `before`."""
        needle = f" {' '.join(tokens)} "
        stop = len(self.line) if before is None else self.offset(before)
        at = self.line.find(needle, 0, stop)
        while tokens and at >= 0:
            first = self.at_offset(at + 1)
            yield first, first + len(tokens)
            at = self.line.find(needle, at + 1, stop)

    def offset(self, token: int) -> int:
        """Offset in `line` of the token with this index; the end of `line` for the index after the last token."""
        return self._offsets[token]

    def at_offset(self, offset: int) -> int:
        """Index of the first token that begins at this offset of `line` or later."""
        return bisect_left(self._offsets, offset)

    def from_character(self, character: int) -> int:
        """Index of the first token that begins at this character of the original or later."""
        return bisect_left(self.spans, (character, 0))


def normal_form(text: str) -> NormalForm:
    """The normal form of a text."""
    tokens, spans, is_word = [], [], []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("dropped", "quote"):
            continue
        token = _form(match.group(), str(kind))
        if token:
            tokens.append(token)
            spans.append(match.span())
            is_word.append(kind == "word")
    return NormalForm(tokens, spans, is_word)


def _form(text: str, kind: str) -> str:
    if kind == "ellipsis":
        return ELLIPSIS
    if kind == "dash":
        return DASH
    return "".join(unicodedata.normalize("NFKC", text.translate(_LETTERS)).split())
