"""Detection of copies: runs of words that two texts share.

Here: shares and thresholds that distinguish copies from independent translations of the same source. Not here: which
texts are restricted, and which outputs are left out (rights).
"""

from collections import defaultdict
from collections.abc import Sequence

from resources.wording import RUN, words_of

SHARE = 0.55
"""A text is a copy if shared runs contain at least this share of the words of either text. No pair of translators of
the Daodejing has more than 0.41."""

LONGEST = 20
"""A shared run of this many words makes a text a copy. Among pairs of translators of the Daodejing, 99 % have at most
11, and the longest is 20; formulas of the suttas reach 16."""

SHORTEST = 12
"""Minimum length, in words, of a shared run that makes a text a copy of a short original. A shared run with half of the
original's words is enough if it has at least this many words; a shared run of `LONGEST` words is always enough."""


def copied(text: str, original: str) -> str:
    """The overlap of a text with an original, in words, if the text counts as a copy; '' if it does not.

    A copy contains the whole original, or contains a run of half of the original's words (at least `SHORTEST` words;
    `LONGEST` words are always enough), or shares at least `SHARE` of the words of either text in runs of at least `RUN`
    words. Case, punctuation, digits and white space do not count.
    """
    own, words = words_of(text), words_of(original)
    if not own or not words:
        return ""
    if len(words) <= RUN or len(own) <= RUN:
        is_half = len(own) > RUN // 2 and 2 * len(own) >= len(words)
        is_copy = _contains(own, words) or (is_half and _contains(words, own))
        return _in_a_row(min(len(own), len(words))) if is_copy else ""
    shared = _runs(own, words)
    longest = max((size for _, _, size in shared), default=0)
    if longest >= min(max(len(words) // 2, SHORTEST), LONGEST):
        return _in_a_row(longest)
    mine, theirs = set[int](), set[int]()
    for start, other, size in shared:
        mine.update(range(start, start + size))
        theirs.update(range(other, other + size))
    share = max(len(mine) / len(own), len(theirs) / len(words))
    return f"words in shared runs: {share:.0%}" if share >= SHARE else ""


def _in_a_row(words: int) -> str:
    return f"shared words in a row: {words}"


def _contains(words: Sequence[str], others: Sequence[str]) -> bool:
    size = len(others)
    return any(words[i : i + size] == others for i in range(len(words) - size + 1))


def _runs(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int, int]]:
    """Maximal runs of at least `RUN` words that both texts contain. A run is (start in `words`, start in `others`,
    length)."""
    starts = defaultdict[tuple[str, ...], list[int]](list)
    for place in range(len(others) - RUN + 1):
        starts[tuple(others[place : place + RUN])].append(place)
    found, open_runs = [], dict[int, tuple[int, int]]()  # by the place in `others` at which each run would continue
    for place in range(len(words) - RUN + 1):
        going = {}
        for other in starts.get(tuple(words[place : place + RUN]), ()):
            start, size = open_runs.pop(other, (place, RUN - 1))
            going[other + 1] = start, size + 1
        found += [(start, end - 1 + RUN - size, size) for end, (start, size) in open_runs.items()]
        open_runs = going
    return found + [(start, end - 1 + RUN - size, size) for end, (start, size) in open_runs.items()]
