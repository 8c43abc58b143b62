"""The place in a prose that is most like a text which does not stand there to the letter.

Here: finding it, and what the text has that it lacks. Not here: places where a text does stand (placement).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from benchmark_assets.alignment.normalization import NormalForm

SEEDS = 12
"""How many words of the text, the rarest ones, propose places."""

PROPOSALS = 5
"""How many of the places that most seeds propose are compared."""


class Nearest:
    """Finds places of a prose by the words that a text shares with it. Letter case and marks do not count.

    Parameters
    ----------
    form
        Normal form of the prose.
    """

    def __init__(self, form: NormalForm) -> None:
        self._form = form.folded()
        self._at: dict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(self._form.tokens):
            self._at[word].append(at)

    def find(self, segment: NormalForm, gap: tuple[int, int]) -> tuple[int, int, float]:
        """The place most like a segment, in characters, and how like it is.

        Parameters
        ----------
        segment
            Normal form of the segment.
        gap
            Where it belongs, in characters: its begin is compared too, and preferred among equals.

        Returns
        -------
        Begin, end and the share of the segment's character 3-grams that stand at that place, in [0, 1].
        """
        words, count = segment.folded().tokens, len(self._form.tokens)
        if not words or not count:
            return gap[0], gap[0], 0.0
        begin = min(self._form.from_character(gap[0]), count - 1)
        likeness, first, last = self._best(words, [begin, *self._proposals(words, 0, count)], 0, count)
        return self._form.spans[first][0], self._form.spans[last - 1][1], likeness

    def likeness_within(self, segment: NormalForm, gap: tuple[int, int]) -> float:
        """How like a segment the place most like it within the gap is, in [0, 1]."""
        words = segment.folded().tokens
        low, high = self._form.from_character(gap[0]), self._form.from_character(gap[1])
        return self._best(words, [low, *self._proposals(words, low, high)], low, high)[0] if low < high else 0.0

    def likeness_around(self, segment: NormalForm, character: int) -> float:
        """How like a segment the prose is from the segment's length before this character to its length after it."""
        words, middle = segment.folded().tokens, self._form.from_character(character)
        return _likeness(words, self._form.tokens[max(0, middle - len(words)) : middle + len(words)])

    def missing(self, segment: NormalForm, start: int, end: int) -> list[str]:
        """The segment's words that the prose does not have between these characters, in the segment's order."""
        begin, stop = self._form.from_character(start), self._form.from_character(end)
        there, lacking = Counter(self._form.tokens[begin:stop]), []
        for word in segment.folded().tokens:
            there[word] -= 1
            if there[word] < 0:
                lacking.append(word)
        return lacking

    def _proposals(self, words: Sequence[str], low: int, high: int) -> list[int]:
        """Where between these words of the prose a text may begin, to have most of its seeds where the prose does."""
        known = sorted((len(self._at[word]), at) for at, word in enumerate(words) if word in self._at)
        begins = (max(place - at, low) for _, at in known[:SEEDS] for place in self._at[words[at]])
        votes = Counter(begin for begin in begins if begin < high)
        return [begin for begin, _ in votes.most_common(PROPOSALS)]

    def _best(self, words: Sequence[str], begins: Iterable[int], low: int, high: int) -> tuple[float, int, int]:
        windows = [(begin, min(begin + len(words), high)) for begin in begins]
        scored = [(_likeness(words, self._form.tokens[first:last]), first, last) for first, last in windows]
        return max(scored, key=lambda each: each[0])  # the first of equals


def _likeness(words: Sequence[str], others: Sequence[str]) -> float:
    own, theirs = _trigrams(words), _trigrams(others)
    return (own & theirs).total() / own.total()


def _trigrams(words: Sequence[str]) -> Counter[str]:
    line = f" {' '.join(words)} "
    return Counter(line[at : at + 3] for at in range(len(line) - 2))
