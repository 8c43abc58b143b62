"""Closeness of texts that spreadsheet programs and people retype: folding of what autocorrection changes, and likeness.

Here: whether a text in a file is a text of the warehouse, and not another one. Not here: which texts are compared
(answers), places of words in a text (places).
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

CLOSE = 0.5
"""Lowest likeness of a text to the one that was sent. Below, a text was replaced or rewritten."""

_FOLDED = str.maketrans({**dict.fromkeys("\"'`´“”„‟‘’‚‛«»‹›「」『』″′", "'"), **dict.fromkeys("-‐‑‒–—―−", "-")})


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """The text without white space and case, with one form of quotation marks, dashes and ellipses."""
    text = unicodedata.normalize("NFKC", text).translate(_FOLDED).casefold().replace("''", "'")
    return "".join(text.split()).replace("--", "-")


def likeness(one: str, other: str) -> float:
    """Dice coefficient of the sets of three characters in a row of two folded texts, in [0, 1]; 1 if they are equal."""
    first, second = _threes(one), _threes(other)
    return 1.0 if folded(one) == folded(other) else 2 * len(first & second) / (len(first) + len(second))


def near(text: str, own: Iterable[str], others: Iterable[str]) -> bool:
    """Whether a text in a file is one of its `own` texts: equal when folded, or like one of them, and no less than like
    any of the `others`."""
    nearest = max((likeness(text, each) for each in own), default=0.0)
    return nearest == 1 or (nearest >= CLOSE and all(likeness(text, each) <= nearest for each in set(others)))


@lru_cache(maxsize=4096)
def _threes(text: str) -> frozenset[str]:
    padded = f"  {folded(text)}  "
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))
