"""Places of quoted words in a text, as a person finds them.

Words that occur literally, apart from white space, are found there only. Else case, punctuation, quotation marks, white
space and the form of letters (NFC, NFD, NFKC) make no difference, and an ellipsis stands for the words that it leaves
out. Not here: which of several places is meant (error_spans.location, understanding.spans).
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")
_UNSEEN = "ZPC"
"""Categories of characters that are left out of a comparison: separators, punctuation, control characters."""

_MARKS = "\"'“”„‟‘’‚«»‹›「」『』`´*"


def places(quotation: str, text: str) -> list[tuple[int, int]]:
    """Places of a quotation in a text, as half-open character offsets, without overlaps; none if it has no letter that
    the text has, too."""
    inner = quotation.strip()
    unquoted = inner[1:-1] if inner[:1] in _MARKS and inner[-1:] in _MARKS else ""
    return _literal(inner, text) or _literal(unquoted, text) or list(_alike(inner.strip(_MARKS), text))


def _literal(quotation: str, text: str) -> list[tuple[int, int]]:
    pattern = r"\s+".join(map(re.escape, quotation.split()))
    return [match.span() for match in re.finditer(pattern, text)] if pattern else []


def _alike(quotation: str, text: str) -> Iterator[tuple[int, int]]:
    parts = [part for piece in _ELLIPSIS.split(quotation) if any(map(str.isalnum, part := _letters(piece)[0]))]
    letters, origins = _letters(text)
    position = letters.find(parts[0]) if parts else -1
    while position >= 0:
        end = position
        for part in parts:
            begin = letters.find(part, end)
            if begin < 0:
                return
            end = begin + len(part)
        start, last = origins[position], origins[end - 1] + 1
        if whole := not (_divides(text, start) or _divides(text, last)):
            yield start, last
        position = letters.find(parts[0], end if whole else position + 1)


def _divides(text: str, place: int) -> bool:
    """Whether a place is within a word of a script that separates words, or between a letter and its marks."""
    before, after = ([unicodedata.category(letter) for letter in text[place - 1 : place + 1]] + ["", ""])[:2]
    return place > 0 and (after[:1] == "M" or ({before, after} <= {"Lu", "Ll", "Lt"}))


@lru_cache(maxsize=100)
def _letters(text: str) -> tuple[str, list[int]]:
    """The compared characters of a text, and the place in the text of the character that each is from."""
    pairs = [
        (part, place) for place, letter in enumerate(text)
        for part in unicodedata.normalize("NFKD", letter).casefold()
        if unicodedata.category(part)[0] not in _UNSEEN
    ]  # fmt: skip
    return "".join(part for part, _ in pairs), [place for _, place in pairs]
