"""Whether a text copies another: words that both share in runs.

Here: the shares and thresholds, which tell copies from independent translations of one source. Not here: which texts
are restricted, and what is left out (rights).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

# A word, or a character of a script without spaces. Marks such as "[1]", "*" or digits do not count.
_WORD = re.compile(r"[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+")

RUN = 6
"""Fewest consecutive words that count as shared."""

SHARE = 0.55
"""Least share of the words of either text, in shared runs, that makes one a copy. Of pairs of translators of the
Daodejing none has more than 0.41."""

LONGEST = 20
"""A shared run of so many words makes a text a copy. Among pairs of translators of the Daodejing, 99 % have at most 11,
and the longest is 20; formulas of the suttas reach 16."""

SHORTEST = 12
"""The same for an original whose half has fewer words than `LONGEST`."""


def copies(text: str, original: str) -> bool:
    """Whether a text contains so much of the wording of an original that it is no independent translation.

    It does if it has the whole original, a run of half of its words (between `SHORTEST` and `LONGEST`), or if `SHARE`
    of the words of either text are in runs of at least `RUN` words that the other has, too. Case, punctuation, digits
    and white space do not count.
    """
    own, words = _words(text), _words(original)
    if not own or not words:
        return False
    if len(words) <= RUN or len(own) <= RUN:
        return _contains(own, words) or (len(own) > RUN // 2 and 2 * len(own) >= len(words) and _contains(words, own))
    shared = _runs(own, words)
    longest = max((size for _, _, size in shared), default=0)
    if longest >= min(max(len(words) // 2, SHORTEST), LONGEST):
        return True
    mine, theirs = set[int](), set[int]()
    for start, other, size in shared:
        mine.update(range(start, start + size))
        theirs.update(range(other, other + size))
    return max(len(mine) / len(own), len(theirs) / len(words)) >= SHARE


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")
    return _WORD.findall(plain)


def _contains(words: Sequence[str], others: Sequence[str]) -> bool:
    size = len(others)
    return any(words[i : i + size] == others for i in range(len(words) - size + 1))


def _runs(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int, int]]:
    """Maximal runs of at least `RUN` words that both have: start in each, and length."""
    starts = defaultdict[tuple[str, ...], list[int]](list)
    for place in range(len(others) - RUN + 1):
        starts[tuple(others[place : place + RUN])].append(place)
    found, open_runs = [], dict[int, tuple[int, int]]()  # by the place in `others` where each would go on
    for place in range(len(words) - RUN + 1):
        going = {}
        for other in starts.get(tuple(words[place : place + RUN]), ()):
            start, size = open_runs.pop(other, (place, RUN - 1))
            going[other + 1] = start, size + 1
        found += [(start, end - 1 + RUN - size, size) for end, (start, size) in open_runs.items()]
        open_runs = going
    return found + [(start, end - 1 + RUN - size, size) for end, (start, size) in open_runs.items()]
