"""The place in a translation that is most similar to a segment, if the segment does not occur exactly.

Here: finding the place, and the segment's words that are missing from it. Not here: exact occurrences (placement).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from benchmark_assets.alignment.normalization import NormalForm

SEEDS = 12
"""Number of the segment's rarest words whose occurrences propose places."""

PROPOSALS = 5
"""Maximum number of proposed places that are compared with the segment. Places where more of the segment's rarest
words match are preferred."""


class Nearest:
    """Finds the places in a translation that resemble a segment.

    Letter case and marks are ignored.
    """

    def __init__(self, form: NormalForm) -> None:
        self._form = form.folded()
        self._at: dict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(self._form.tokens):
            self._at[word].append(at)

    def find(self, segment: NormalForm, gap: tuple[int, int]) -> tuple[int, int, float]:
        """The place most similar to a segment: start and end in characters, and likeness.

        Likeness is the share of the segment's character 3-grams that occur at a place, in [0, 1]. `gap` is the
        range of characters where the segment is expected. If places are equally similar, one at the beginning of `gap`
        is preferred.
        """
        words, count = segment.folded().tokens, len(self._form.tokens)
        if not words or not count:
            return gap[0], gap[0], 0.0
        begin = min(self._form.from_character(gap[0]), count - 1)
        likeness, first, last = self._best(words, [begin, *self._proposals(words, 0, count)], 0, count)
        return self._form.spans[first][0], self._form.spans[last - 1][1], likeness

    def likeness_within(self, segment: NormalForm, gap: tuple[int, int]) -> float:
        """Likeness, in [0, 1], of a segment to the most similar place within `gap`, a range of characters."""
        words = segment.folded().tokens
        low, high = self._form.from_character(gap[0]), self._form.from_character(gap[1])
        return self._best(words, [low, *self._proposals(words, low, high)], low, high)[0] if low < high else 0.0

    def likeness_around(self, segment: NormalForm, character: int) -> float:
        """Likeness, in [0, 1], of a segment of n words to the n words on either side of a character."""
        words, middle = segment.folded().tokens, self._form.from_character(character)
        return _likeness(words, self._form.tokens[max(0, middle - len(words)) : middle + len(words)])

    def missing(self, segment: NormalForm, start: int, end: int) -> list[str]:
        """Words of the segment that are missing between two characters of the prose, in the segment's order."""
        begin, stop = self._form.from_character(start), self._form.from_character(end)
        counts, missing = Counter(self._form.tokens[begin:stop]), []
        for word in segment.folded().tokens:
            counts[word] -= 1
            if counts[word] < 0:
                missing.append(word)
        return missing

    def _proposals(self, words: Sequence[str], low: int, high: int) -> list[int]:
        """First tokens of the places where most of the segment's rarest words match, in [low, high), best first."""
        seeds = sorted((len(self._at[word]), at) for at, word in enumerate(words) if word in self._at)
        begins = (max(place - at, low) for _, at in seeds[:SEEDS] for place in self._at[words[at]])
        votes = Counter(begin for begin in begins if begin < high)
        return [begin for begin, _ in votes.most_common(PROPOSALS)]

    def _best(self, words: Sequence[str], begins: Iterable[int], low: int, high: int) -> tuple[float, int, int]:
        windows = [(begin, min(begin + len(words), high)) for begin in begins]
        scored = [(_likeness(words, self._form.tokens[first:last]), first, last) for first, last in windows]
        return max(scored, key=lambda place: place[0])  # the first among equals


def _likeness(words: Sequence[str], others: Sequence[str]) -> float:
    grams, others_grams = _trigrams(words), _trigrams(others)
    return (grams & others_grams).total() / grams.total()


def _trigrams(words: Sequence[str]) -> Counter[str]:
    line = f" {' '.join(words)} "
    return Counter(line[at : at + 3] for at in range(len(line) - 2))
