"""Location of quoted words in a text. Not here: the errors that judges mark (judging), how words are found
(resources.quotations)."""

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest

from resources.quotations import places

Span = tuple[int, int]
"""Start and end of a span, in characters from 0; the end is exclusive."""


def located(quotations: Iterable[str], text: str, starts: Iterable[int | None] = ()) -> list[Span | None]:
    """Span of each quotation in a text; None if the text does not contain it.

    If `starts` names a place at which the words of a quotation occur, the quotation gets this occurrence. If several
    other quotations have the same words, the n-th gets the n-th occurrence of the words, or the last occurrence if
    there are fewer.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    spans: list[Span | None] = []
    for quotation, start in zip_longest(quotations, starts):
        words, found = tuple(quotation.split()), places(quotation, text)
        named = [span for span in found if span[0] == start]
        spans.append((named or found)[0 if named else min(seen[words], len(found) - 1)] if found else None)
        seen[words] += not named
    return spans
