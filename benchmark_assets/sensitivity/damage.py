"""Controlled damage to a translation: rules that turn a sound text into a text with a fault of known kind and dose.

Here: kinds of damage, doses, and the choice of places, which is the same in every process. Not here: the choice of
texts (sample), words of a language (languages), the detection of damage by metrics (detection).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple, TypeVar

from benchmark_assets.sensitivity.languages import Rules

T = TypeVar("T")

SEVERITIES = (1, 2, 3)

DOSES = {1: 0.10, 2: 0.25, 3: 0.50}
"""Share of the text's characters that is damaged, by severity; for the kind `term`, share of the text's terms."""

TOLERANCE = 1 / 3
"""Largest deviation of the number of damaged characters from the dose, as a share of the dose. The ranges of the doses
do not overlap."""

MOST_ALIKE = 0.3
"""Highest share of words in common of a text and of the text of another passage that takes its place. If two passages
are parallel, the translation of one may be a valid translation of the other."""

_CLAUSE = re.compile(
    r"""\S.*?(?:(?:[.;:!?,…]|—|--)+["'”’»)\]]*(?=\s|$)|[。，；：！？、།॥।]+[」』”]*|(?=\n)|$)\s*""", re.DOTALL
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DIGITS = re.compile(r"\d+")
_ELLIPSIS = re.compile(r"(?:…|\.\.\.)(?:\s?\w{1,4}\s?(?:…|\.\.\.))?")

_STEM = 4
"""Minimum number of letters of a term, and number of first letters by which the forms of a word are recognized."""
_TERM = re.compile(rf"(?<!['’])[^\W\d_]{{{_STEM},}}")


Shape = tuple[str, bool]
"""Ending of a word, and whether the word begins with a vowel. A sentence stays grammatical if a word is replaced by
another word of the same shape."""


class Damaged(NamedTuple):
    """A damaged text and its `extent`: the number of characters removed or inserted (in each edit, the greater of the
    two), divided by the length of the sound text. It is above 1 if the inserted text is longer than the sound text."""

    text: str
    extent: float


class Material(NamedTuple):
    """The inputs of the rules besides the text to be damaged.

    `rules` are the rules of the text's language. If `rules` is None, kinds of damage that need rules do not apply.
    `source` is the passage in the source language. `foreign` is a translation of another passage, from which additions
    are taken. `terms` are terms of other passages that occur in no translation of this passage, by shape. `names` are
    proper names of other passages that occur in no translation of this passage.
    """

    rules: Rules | None
    source: str
    foreign: str
    terms: Mapping[Shape, Sequence[str]]
    names: Sequence[str] = ()


class _Edit(NamedTuple):
    """`text` replaces the characters from `start` to `end`."""

    start: int
    end: int
    text: str


class _Case(NamedTuple):
    """A text to be damaged; every choice is made by a hash of `key`."""

    text: str
    severity: int
    key: str
    material: Material


def damage(text: str, kind: str, severity: int, key: str, material: Material) -> Damaged | None:
    """Damage a text.

    Parameters
    ----------
    text
        A sound translation.
    kind
        One of `KINDS`.
    severity
        One of `SEVERITIES`. For `term` and the kinds in `STRETCHES`, the share in `DOSES` is damaged. For negations,
        agents, numbers and names, the severities damage one, half or all of the places where the rule applies. One
        clause is left out at severity 1 only.
    key
        Determines the choice of places: equal arguments give equal damage in every process.
    material
        The other inputs of the rules.

    Returns
    -------
    The damaged text, which is neither blank nor equal to `text`. None if the rule does not apply at this severity: the
    text has no place to damage, too few places to differ from the next lower severity, or no consecutive clauses whose
    length is the dose.

    Notes
    -----
    - `omission`: consecutive clauses are left out.
    - `truncation`: the end is cut off, between words.
    - `ellipsis`: consecutive clauses are replaced by an ellipsis, in the form of the source (`…pe…`), or `…`.
    - `untranslated`: consecutive clauses are replaced by the part of the source at the same place.
    - `addition`: consecutive clauses of another passage are inserted between two clauses.
    - `term`: each term is replaced, wherever it occurs, by one term that occurs in no translation of the passage.
    - `negation`: negations are removed or inserted.
    - `agent`: agents change places, or a pronoun is replaced by a pronoun of another person or gender.
    - `number`: numbers are replaced by other numbers of the same kind.
    - `name`: proper names are replaced by names that occur in no translation of the passage.
    - `clause`: one clause is left out, which is not shorter than the median clause of the text.
    """
    case = _Case(text, severity, f"{key}\n{kind}", material)
    edits = KINDS[kind](case)
    if not edits:
        return None
    touched = sum(max(edit.end - edit.start, len(edit.text)) for edit in edits)
    result = _apply(text, edits).strip()
    if result == text.strip() or not _WORD.search(result):
        return None
    return Damaged(result, touched / len(text))


def terms(texts: Sequence[str], rules: Rules) -> dict[str, Shape]:
    """The terms of a corpus with their shapes: uncommon words that occur in lower case at least twice in its texts."""
    excluded = rules.no_terms
    words = Counter(word for text in texts for word in _TERM.findall(text) if word.islower() and word not in excluded)
    return {word: _shape(word, rules) for word, count in sorted(words.items()) if count > 1}


def foreign_terms(pool: Mapping[str, Shape], translations: Sequence[str]) -> dict[Shape, list[str]]:
    """The terms of `pool`, by shape, except those that occur in any form in the translations of a passage."""
    stems = {word[0].lower()[:_STEM] for text in translations for word in _WORD.finditer(text)}
    foreign: dict[Shape, list[str]] = {}
    for term, shape in pool.items():
        if term[:_STEM] not in stems:
            foreign.setdefault(shape, []).append(term)
    return foreign


def names(text: str, rules: Rules) -> list[re.Match[str]]:
    """Proper names in a text: capitalized words within a sentence that the text never has in lower case."""
    ordinary = rules.no_terms | set(rules.pronouns)
    ordinary |= {word[0] for word in _WORD.finditer(text) if word[0].islower()}  # verses begin with capitals
    return [
        match
        for match in _WORD.finditer(text)
        if match[0].istitle() and len(match[0]) > 1 and match[0].lower() not in ordinary
        if not _begins(text, match.start())
    ]


def _omission(case: _Case) -> list[_Edit]:
    return [_Edit(start, end, "") for start, end in _stretch(case, case.text, len(case.text))]


def _ellipsis(case: _Case) -> list[_Edit]:
    match = _ELLIPSIS.search(case.material.source)
    mark = match[0] if match else "…"
    return [
        _Edit(start, end, mark + _space(case.text, end)) for start, end in _stretch(case, case.text, len(case.text))
    ]


def _untranslated(case: _Case) -> list[_Edit]:
    text, source = case.text, case.material.source
    edits = []
    for start, end in _stretch(case, text, len(text)):
        first, last = (_boundary(source, round(len(source) * place / len(text))) for place in (start, end))
        if part := source[first:last].strip():
            edits.append(_Edit(start, end, part + _space(text, end)))
    return edits


def _truncation(case: _Case) -> list[_Edit]:
    text = case.text.rstrip()
    cut = _boundary(text, round(len(text) * (1 - DOSES[case.severity])))
    return [_Edit(cut, len(case.text), "")] if _within(len(text) - cut, len(text), case.severity) else []


def _addition(case: _Case) -> list[_Edit]:
    foreign, places = case.material.foreign, [end for _, end in clauses(case.text)]
    gap = " " if re.search(r"\s", case.text) else ""
    for start, end in _stretch(case, foreign, len(case.text)):
        place = places[_choice(case.key + "place", len(places))]
        before = "" if case.text[:place][-1:].isspace() else gap
        return [_Edit(place, place, before + foreign[start:end].strip() + gap)]
    return []


def _term(case: _Case) -> list[_Edit]:
    rules = case.material.rules
    if rules is None:
        return []
    places: dict[str, list[re.Match[str]]] = {}
    excluded = rules.no_terms
    for match in _TERM.finditer(case.text):
        if (word := match[0].lower()) not in excluded:
            places.setdefault(word, []).append(match)
    shaped = case.material.terms
    replaceable = _ordered([word for word in places if _shape(word, rules) in shaped], case.key)
    edits = []
    counts = [int(len(replaceable) * DOSES[severity] + 0.5) for severity in SEVERITIES]
    for word in _more(replaceable, case.severity, counts):
        others = shaped[_shape(word, rules)]
        other = others[_choice(case.key + word, len(others))]
        edits += [_Edit(*match.span(), _like(match[0], other)) for match in places[word]]
    return edits


def _negation(case: _Case) -> list[_Edit]:
    rules = case.material.rules
    edits: list[_Edit] = []
    for pattern, template in rules.negations if rules else ():
        for match in pattern.finditer(case.text):
            if all(match.end() <= edit.start or edit.end <= match.start() for edit in edits):
                edits.append(_Edit(*match.span(), _like(match[0], match.expand(template))))
    return _some(case, sorted(edits))


def _agent(case: _Case) -> list[_Edit]:
    rules = case.material.rules
    if rules is None:
        return []
    pronouns = re.compile(rf"\b(?:{'|'.join(sorted(rules.pronouns, key=len, reverse=True))})\b(?!['’])", re.IGNORECASE)
    edits = []
    for match in pronouns.finditer(case.text):
        other = rules.pronouns[match[0].lower()]
        capital = _begins(case.text, match.start()) or (match[0][0].isupper() and match[0].lower()[:2].strip() != "i")
        edits.append(_Edit(*match.span(), _capital(other) if capital else other))
    for group in _actors(case.text, rules):
        names = _ordered(sorted({name for name, _ in group}), case.key)
        following = dict(zip(names, names[1:] + names[:1], strict=True))
        for name, match in group:
            other = following[name]
            if other != name and _article_fits(case.text[: match.start()], name, other, rules):
                capital = _begins(case.text, match.start())
                edits.append(_Edit(*match.span(), _capital(other) if capital else other))
    return _some(case, sorted(edits))


def _number(case: _Case) -> list[_Edit]:
    edits = []
    for match in _DIGITS.finditer(case.text):
        lowest = 10 ** (len(match[0]) - 1) if len(match[0]) > 1 else 2
        others = 10 ** len(match[0]) - lowest
        other = lowest + _choice(f"{case.key}{match.start()}", others)
        other = other if other != int(match[0]) else lowest + (other - lowest + 1) % others
        edits.append(_Edit(*match.span(), str(other)))
    for group in case.material.rules.numbers if case.material.rules else ():
        for match in re.finditer(rf"\b(?:{'|'.join(group)})\b", case.text, re.IGNORECASE):
            others_of = [word for word in group if word != match[0].lower()]
            word = others_of[_choice(f"{case.key}{match.start()}", len(others_of))]
            edits.append(_Edit(*match.span(), _like(match[0], word)))
    return _some(case, sorted(edits))


def _name(case: _Case) -> list[_Edit]:
    places = names(case.text, case.material.rules) if case.material.rules and case.material.names else []
    others = case.material.names
    return _some(case, [_Edit(*match.span(), others[_choice(case.key + match[0], len(others))]) for match in places])


def _one_clause(case: _Case) -> list[_Edit]:
    spans = clauses(case.text)
    lengths = sorted(end - start for start, end in spans)
    longer = [(start, end) for start, end in spans if end - start >= lengths[len(lengths) // 2]]
    if case.severity > 1 or len(spans) < 2:
        return []
    return [_Edit(*longer[_choice(case.key, len(longer))], "")]


KINDS: Mapping[str, Callable[[_Case], list[_Edit]]] = {
    "omission": _omission, "truncation": _truncation, "ellipsis": _ellipsis, "untranslated": _untranslated,
    "addition": _addition, "term": _term, "negation": _negation, "agent": _agent, "number": _number,
    "name": _name, "clause": _one_clause,
}  # fmt: skip
"""The rule of each kind of damage: it returns the edits that damage a text."""

STRETCHES = ("omission", "truncation", "ellipsis", "untranslated", "addition")
"""Kinds whose dose is a share of the text."""

UNIVERSAL = (*STRETCHES, "clause")
"""Kinds that need no rules of a language."""

PLANTED = ("negation", "agent", "number", "name", "clause")
"""Kinds whose severity 1 is a single error of meaning."""


def _some(case: _Case, edits: list[_Edit]) -> list[_Edit]:
    """One edit, half of the edits or all edits, by the severity of the case."""
    return _more(_ordered(edits, case.key), case.severity, [1, (len(edits) + 1) // 2, len(edits)])


def _more(items: list[T], severity: int, counts: Sequence[int]) -> list[T]:
    """The first items; `counts` has the number of items for each severity, lowest severity first.

    The result is empty if the number for this severity is not greater than the number for every lower severity.
    """
    *below, count = counts[:severity]
    return items[:count] if count > max(below, default=0) else []


def _stretch(case: _Case, text: str, whole: int) -> list[tuple[int, int]]:
    """A stretch: consecutive clauses whose total length is the dose for `whole` characters, within TOLERANCE.

    The result has start and end of one stretch, chosen by a hash. It is empty if there is no such stretch. The whole
    text is never chosen.
    """
    spans = clauses(text)
    stretches = [
        (spans[first][0], spans[last][1])
        for first in range(len(spans))
        for last in range(first, len(spans))
        if (first, last) != (0, len(spans) - 1) and _within(spans[last][1] - spans[first][0], whole, case.severity)
    ]
    return [stretches[_choice(f"{case.key}{case.severity}", len(stretches))]] if stretches else []


def _within(touched: int, whole: int, severity: int) -> bool:
    """Whether `touched` damaged characters out of `whole` match the dose of the severity, within TOLERANCE."""
    dose = DOSES[severity] * whole
    return abs(touched - dose) < TOLERANCE * dose


def unlike(one: str, other: str) -> bool:
    """Whether a text can take the place of another one as an obvious error."""
    return shared_words(one, other) <= MOST_ALIKE


def shared_words(one: str, other: str) -> float:
    """Jaccard similarity of the words of two texts, or of their pairs of letters if they have no spaces, in [0, 1]."""
    sets = [set(text.casefold().split()) if " " in text.strip() else set(pairwise(text)) for text in (one, other)]
    union = sets[0] | sets[1]
    return len(sets[0] & sets[1]) / len(union) if union else 1.0


def clauses(text: str) -> list[tuple[int, int]]:
    """Start and end of each clause of a text, including the punctuation and white space that follow it."""
    return [match.span() for match in _CLAUSE.finditer(text)]


def _boundary(text: str, place: int) -> int:
    """The last position up to `place` where a text may be cut: between words, or between characters if the text has no
    spaces."""
    if place >= len(text):
        return len(text)
    if re.search(r"\s", text):
        return max((match.start() for match in re.finditer(r"\s+", text[: place + 1])), default=0)
    while place and unicodedata.category(text[place]).startswith("M"):
        place -= 1
    return place


def _actors(text: str, rules: Rules) -> Iterator[list[tuple[str, re.Match[str]]]]:
    """Occurrences of agents, as pairs of name and match, in two groups: singular nouns and names, and plural nouns.
    Agents of the same group may change places with each other."""
    singular, plural = rules.actors
    groups: tuple[list[tuple[str, re.Match[str]]], ...] = [], []
    named = {match.start() for match in names(text, rules)}
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in plural:
            groups[1].append((word, match))
        elif word in singular:
            groups[0].append((word, match))
        elif match.start() in named:
            groups[0].append((match[0], match))
    yield from groups


def _begins(text: str, place: int) -> bool:
    """Whether a sentence or a line begins at `place`."""
    before = text[:place].rstrip(" \"'“‘([")
    return not before or before[-1] in ".!?:\n"


def _article_fits(before: str, name: str, other: str, rules: Rules) -> bool:
    """Whether `other` can replace `name` without a change to an article at the end of `before`."""
    letters, articles = rules.vowels
    last = before.split()[-1:]
    return not (last and last[0].lower() in articles) or (name[0].lower() in letters) == (other[0].lower() in letters)


def _shape(word: str, rules: Rules) -> Shape:
    word = word.lower()
    return next((end for end in rules.endings if word.endswith(end)), ""), word[0] in rules.vowels[0]


def _space(text: str, end: int) -> str:
    """The white space before position `end`."""
    return text[len(text[:end].rstrip()) : end]


def _like(model: str, word: str) -> str:
    """`word`, capitalized if `model` begins with a capital letter."""
    return _capital(word) if model[:1].isupper() else word


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def _ordered(items: Sequence[T], key: str) -> list[T]:
    return sorted(items, key=lambda item: hashed(f"{key}{item}"))


def _choice(key: str, count: int) -> int:
    return hashed(key) % count


def hashed(text: str) -> int:
    """Hash of a text as an integer of 64 bits, the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def _apply(text: str, edits: Sequence[_Edit]) -> str:
    parts, place = [], 0
    for edit in sorted(edits):
        parts += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join([*parts, text[place:]])
