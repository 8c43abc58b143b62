"""Location of quoted words in a text. Not here: the errors that judges mark (judging)."""

import re
from collections import Counter
from collections.abc import Iterable

Span = tuple[int, int]
"""Start and end of a span, in characters from 0; the end is exclusive."""


def located(quotations: Iterable[str], text: str) -> list[Span | None]:
    """Span of each quotation in a text; None if the text does not contain it.

    Differences in white space are ignored; all other characters must be the same. If several quotations have the same
    words, the n-th quotation gets the n-th occurrence of the words, or the last occurrence if there are fewer.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    spans: list[Span | None] = []
    for quotation in quotations:
        words = tuple(quotation.split())
        places = _occurrences(words, text)
        spans.append(places[min(seen[words], len(places) - 1)] if places else None)
        seen[words] += 1
    return spans


def _occurrences(words: Iterable[str], text: str) -> list[Span]:
    """Spans of a sequence of words in a text, without overlaps; none for an empty sequence."""
    pattern = r"\s+".join(map(re.escape, words))
    return [match.span() for match in re.finditer(pattern, text)] if pattern else []
