"""Expansion of ellipses: finds segments that spell out, in words of an earlier passage, what the prose abbreviates.

Here: marks of abbreviation, the earlier passage (the template), and the term that the segment puts in place of the
template's term. Not here: which segments are tested for an expansion (verification).

A segment spells out an ellipsis if all its words, in order, occur

- in one passage that ends before the ellipsis, except that a term in or next to the ellipsis replaces one term of the
  template everywhere ("the sky is wide, one sees the sky… the sea…": "the sea is wide, one sees the sea"); or
- partly in the prose directly before or after the ellipsis, and partly in an earlier passage, next to the same words as
  in the segment; or
- in an earlier passage alone: directly after words that also precede the ellipsis, directly before words that also
  follow it, or directly after the template of the previous segment. If the prose announces the repetition in words
  ("[as above]"), the words may be anywhere before the ellipsis.

Letter case and marks within a sentence are ignored. PaliBench (section 3.3) names the stage but gives no method.
"""

import re
from collections.abc import Iterator, Sequence
from operator import ne
from typing import NamedTuple

from benchmark_assets.alignment.normalization import ELLIPSIS, ELLIPSIS_IN_PROSE, SENTENCE_END, NormalForm

TERM = 8
"""Maximum number of words in a term."""

JOINT = 3
"""Number of words that a template and the text next to the ellipsis must share. A template that shares fewer words does
not count as the continuation of this text."""

TEMPLATE = 3
"""Minimum number of words in a template in addition to the term; with fewer, any two sentences look similar."""

_REPEATED = r"\b(?:(?:as|see) above|similarly|repeat\w*|the same)\b"
_ABBREVIATION = re.compile(
    rf"(?P<direction>\[[^\[\]]{{0,300}}?{_REPEATED}[^\[\]]{{0,300}}\]|\([^()]{{0,300}}?{_REPEATED}[^()]{{0,300}}\))"
    rf"|{ELLIPSIS_IN_PROSE}|\betc\b\.?|\band so (?:on|forth)\b",
    re.I,
)
_NEGATIONS = frozenset({"not", "no", "never", "without", "neither", "nor", "cannot"})
_STOPS = SENTENCE_END | {ELLIPSIS}
_WORD = rf"[^\s{re.escape(''.join(_STOPS))}]+"


class Expansion(NamedTuple):
    """An ellipsis that a segment spells out.

    Attributes
    ----------
    start, end
        Range of the ellipsis in the prose, in characters, half-open.
    template
        Range of the template in the prose, in characters, half-open.
    term
        The term that replaces the template's term; '' if the segment has the template's words unchanged.
    upto
        Index of the token after the template.
    in_order
        False if the previous segment spells out a later ellipsis.
    """

    start: int
    end: int
    template: tuple[int, int]
    term: str
    upto: int
    in_order: bool


class _Mark(NamedTuple):
    """An abbreviation in the prose: half-open ranges of tokens and characters.

    `directs` is true if the abbreviation is a phrase that refers to an earlier passage, such as "[as above]".
    """

    first: int
    last: int
    start: int
    end: int
    directs: bool


class _Term(NamedTuple):
    """Words in or next to an abbreviation that may replace a term of the template.

    `beside` has the token before and the token after these words; the token on the side of the abbreviation is ''.
    """

    words: list[str]
    beside: tuple[str, str]

    def replaces(self, other: str, once: bool) -> bool:
        """Whether the term may replace the words `other` of a template; `once` is true if they occur in it only once.

        False if `other` contains a negation and the term does not. Also false if `other` occurs only once and is longer
        than the term, because `other` may then be more than a term.
        """
        words = other.split()
        negated = any(map(is_negation, words)) and not any(map(is_negation, self.words))
        return not negated and (len(words) <= len(self.words) or not once)

    def as_at_abbreviation(self, other: str) -> list[str]:
        """Phrases in which `other` stands in place of this term, between the term's neighbors.

        At least one of these phrases must occur earlier in the prose.
        """
        before, after = self.beside
        if _STOPS.isdisjoint(self.beside):
            return [f" {' '.join(filter(None, (before, other, after)))} "]
        return [f" {stop} {other} " for stop in _STOPS] + [f" {other} {stop} " for stop in _STOPS]


class Abbreviations:
    """The abbreviations in a translation, which is given both as text and in normal form."""

    def __init__(self, text: str, form: NormalForm) -> None:
        self._form = form.folded(_STOPS)
        self._vocabulary = frozenset(self._form.tokens)
        self._marks = [self._mark(match) for match in _ABBREVIATION.finditer(text)]

    def expand(self, segment: NormalForm, gap: tuple[int, int], after: Expansion | None) -> Expansion | None:
        """Find the abbreviation in the gap that the segment spells out; None if there is none.

        `gap` is the range of characters between the segment's neighbors. `after` is the previous segment's expansion.
        """
        words = segment.folded(_STOPS).core()
        marks = [mark for mark in self._marks if gap[0] <= mark.start and mark.end <= gap[1]]
        available = ELLIPSIS not in words and self._vocabulary.issuperset(words)
        if not marks or not available or self._is_damaged(words, gap, marks):
            return None
        since = after.start if after else 0
        for mark in sorted(marks, key=lambda candidate: (candidate.start < since, candidate.start)):
            match = self._by_template(words, mark, after)
            if match:
                (first, last), term = match
                template = self._form.spans[first][0], self._form.spans[last - 1][1]
                return Expansion(mark.start, mark.end, template, term, last, mark.start >= since)
        return None

    def _mark(self, match: re.Match[str]) -> _Mark:
        first, last = (self._form.from_character(character) for character in match.span())
        return _Mark(first, last, *match.span(), match["direction"] is not None)

    def _is_damaged(self, words: Sequence[str], gap: tuple[int, int], marks: Sequence[_Mark]) -> bool:
        """Whether the prose before, between or after the abbreviations in the gap has these words almost unchanged.

        One word may be replaced, or words may be inserted.
        """
        begins = [self._form.from_character(gap[0]), *(mark.last for mark in marks)]
        ends = [*(mark.first for mark in marks), self._form.from_character(gap[1])]
        stretches = [self._form.tokens[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return any(
            all(word in remaining for remaining in [iter(tokens)] for word in words) or _is_one_off(words, tokens)
            for tokens in stretches
        )

    def _by_template(
        self, words: list[str], mark: _Mark, after: Expansion | None
    ) -> tuple[tuple[int, int], str] | None:
        """Find the template; return its range of tokens, and the replacing term ('' if the words are unchanged)."""
        if after and (template := self._continued(words, mark, after)):
            return template, ""
        needles = [*self._mixed(words, mark), *self._adjoining(words, mark)]
        if mark.directs and len(words) >= TEMPLATE:
            needles.append(words)
        for needle in needles:
            if passages := list(self._form.occurrences(needle, before=mark.first)):
                return passages[-1], ""  # the last one: an ellipsis abbreviates the nearest text before it
        for term in self._terms(mark, words):
            for needle in [words, *needles]:
                if template := self._substituted(needle, term, mark):
                    return template, " ".join(term.words)
        return None

    def _continued(self, words: list[str], mark: _Mark, after: Expansion) -> tuple[int, int] | None:
        """The tokens directly after the previous segment's template, if they are these words."""
        tokens, first = self._form.tokens, after.upto
        while first < mark.first and tokens[first] in _STOPS:
            first += 1
        last = first + len(words)
        return (first, last) if last <= mark.first and tokens[first:last] == words else None

    def _mixed(self, words: list[str], mark: _Mark) -> Iterator[list[str]]:
        """Words to look for in an earlier passage if the segment's first or last words are next to the abbreviation."""
        count, tokens = len(words), self._form.tokens
        before, after = tokens[max(0, mark.first - count) : mark.first], tokens[mark.last : mark.last + count]
        heads = [i for i in range(JOINT, count) if before[-i:] == words[:i]]
        tails = [j for j in range(1, count - JOINT + 1) if after[: count - j] == words[j:]]
        for i in [0, *heads]:
            for j in [*tails, count]:
                if i < j and (i, j) != (0, count):
                    yield words[max(0, i - JOINT) : j + JOINT]

    def _adjoining(self, words: list[str], mark: _Mark) -> Iterator[list[str]]:
        """Words to look for in an earlier passage if the abbreviation replaces the whole segment."""
        tokens = self._form.tokens
        before, after = tokens[max(0, mark.first - JOINT) : mark.first], tokens[mark.last : mark.last + JOINT]
        if len(before) == JOINT:
            yield before + words
        if len(after) == JOINT:
            yield words + after

    def _terms(self, mark: _Mark, words: list[str]) -> list[_Term]:
        """Word sequences in or next to the abbreviation that also occur in the segment, shortest first."""
        tokens = self._form.tokens
        before, after, within = tokens[: mark.first][-TERM - 1 :], tokens[mark.last :], tokens[mark.first : mark.last]
        terms = [_Term(before[-size:], (before[-size - 1], "")) for size in range(1, len(before))]
        terms += [_Term(after[:size], ("", after[size])) for size in range(1, min(TERM + 1, len(after)))]
        terms += [
            _Term(within[at : at + size], ("", ""))
            for size in range(1, TERM + 1)
            for at in range(len(within) - size + 1)
        ]
        line = f" {' '.join(words)} "
        present = [term for term in terms if _STOPS.isdisjoint(term.words) and f" {' '.join(term.words)} " in line]
        return sorted(present, key=lambda term: len(term.words))

    def _substituted(self, needle: Sequence[str], term: _Term, mark: _Mark) -> tuple[int, int] | None:
        """Token range of the last earlier passage that has the words of `needle`, but another term in place of
        `term`."""
        line, earlier = f" {' '.join(needle)} ", self._form.line[: self._form.offset(mark.first)]
        parts = [part.strip() for part in line.split(f" {' '.join(term.words)} ")]
        if sum(len(part.split()) for part in parts) < TEMPLATE or any(part not in earlier for part in parts):
            return None
        variable = rf"(?P<term>{_WORD}(?: {_WORD}){{0,{TERM - 1}}}?)"
        further_parts = [f"{'(?P=term)' if at else variable} {re.escape(part)}" for at, part in enumerate(parts[1:])]
        pattern = re.compile(f"(?<= ){' '.join([re.escape(parts[0]), *further_parts]).strip()}(?= )")
        passages = [
            match.span()
            for match in pattern.finditer(earlier)
            if term.replaces(match["term"], once=len(parts) == 2)
            and f" {match['term']} " not in line
            and any(phrase in earlier for phrase in term.as_at_abbreviation(match["term"]))
        ]
        return (self._form.at_offset(passages[-1][0]), self._form.at_offset(passages[-1][1])) if passages else None


def is_negation(word: str) -> bool:
    """Whether a word, in lower case, is an English negation."""
    return word in _NEGATIONS or word.endswith("n't")


def _is_one_off(words: Sequence[str], tokens: Sequence[str]) -> bool:
    starts = range(len(tokens) - len(words) + 1)
    return any(sum(map(ne, words, tokens[start : start + len(words)])) <= 1 for start in starts)
