"""Damage to the extent of aligned segments: text lost, gained, exchanged with a neighbor, or replaced by a neighbor's.

Here: the kinds, and the share of each that is suspicious. Not here: damaged words (tests.alignment.damage).
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmark_assets.alignment.extent import examine
from benchmark_assets.alignment.verification import SUSPICIOUS, verify

LEAST, MOST = 0.2, 0.6
"""Share of a segment's characters that it loses or gains."""

SHORT = 20
"""Segments with fewer characters are not damaged."""

_CLAUSE = re.compile(r"""[.?!;:,]["”’')]*\s+""")


class Text(NamedTuple):
    """An aligned document: prose, texts of the segments, and guides (the text of every segment in each)."""

    prose: str
    texts: list[str | None]
    guides: list[list[str | None]]


Texts = dict[int, str | None]


class Place(NamedTuple):
    """Segment `at` of a document and the next segment with a text, both at their places in the prose."""

    document: Text
    at: int
    next: int
    start: int
    end: int
    next_start: int
    next_end: int

    @property
    def adjoining(self) -> bool:
        return self.next_start - self.end <= 3


def _share(rng: random.Random, text: str) -> int:
    return int(rng.uniform(LEAST, MOST) * len(text))


def _to_a_word(prose: str, at: int) -> int:
    """The first beginning of a word at a character or after it."""
    match = re.compile(r"\s+").search(prose, at)
    return match.end() if match else len(prose)


def end_lost(place: Place, rng: random.Random) -> Texts:
    prose, text = place.document.prose, place.document.prose[place.start : place.end]
    return {place.at: prose[place.start : prose.rindex(" ", place.start, place.end - _share(rng, text))]}


def beginning_lost(place: Place, rng: random.Random) -> Texts:
    prose, text = place.document.prose, place.document.prose[place.start : place.end]
    return {place.at: prose[_to_a_word(prose, place.start + _share(rng, text)) : place.end]}


def last_clause_lost(place: Place, _: random.Random) -> Texts:
    cut = _inner_clause(place.document.prose, place.start, place.end, last=True)
    return {place.at: place.document.prose[place.start : cut]}


def words_gained(place: Place, rng: random.Random) -> Texts:
    prose, text = place.document.prose, place.document.prose[place.start : place.end]
    return {place.at: prose[place.start : _to_a_word(prose, place.end + _share(rng, text))].rstrip()}


def sentence_gained(place: Place, _: random.Random) -> Texts:
    prose = place.document.prose
    match = re.compile(r"""[.?!]["”’')]*(?=\s|$)""").search(prose, place.next_start + (place.end - place.start) // 5)
    assert match
    assert match.end() - place.end <= 2 * (place.end - place.start)
    return {place.at: prose[place.start : match.end()]}


def words_gained_before(place: Place, rng: random.Random) -> Texts:
    prose, text = place.document.prose, place.document.prose[place.next_start : place.next_end]
    return {place.next: prose[_to_a_word(prose, place.next_start - _share(rng, text) - 9) : place.next_end]}


def boundary_later(place: Place, rng: random.Random) -> Texts:
    prose, length = place.document.prose, place.next_end - place.next_start
    return _exchanged(place, _to_a_word(prose, place.next_start + int(rng.uniform(LEAST, MOST) * length)))


def boundary_earlier(place: Place, rng: random.Random) -> Texts:
    prose = place.document.prose
    return _exchanged(place, _to_a_word(prose, place.end - _share(rng, prose[place.start : place.end])))


def clause_given(place: Place, _: random.Random) -> Texts:
    return _exchanged(place, _inner_clause(place.document.prose, place.start, place.end, last=True))


def clause_taken(place: Place, _: random.Random) -> Texts:
    return _exchanged(place, _inner_clause(place.document.prose, place.next_start, place.next_end, last=False))


def replaced_by_next(place: Place, _: random.Random) -> Texts:
    return {place.at: place.document.texts[place.next]}


def replaced_by_previous(place: Place, _: random.Random) -> Texts:
    return {place.next: place.document.texts[place.at]}


def moved_to_next(place: Place, _: random.Random) -> Texts:
    return {place.at: None, place.next: place.document.texts[place.at]}


def swapped(place: Place, _: random.Random) -> Texts:
    return {place.at: place.document.texts[place.next], place.next: place.document.texts[place.at]}


def run_shifted(place: Place, _: random.Random) -> Texts:
    texts = place.document.texts
    run = [at for at in range(place.at, len(texts)) if texts[at]][:4]
    return dict(zip(run, [*(texts[at] for at in run[1:]), None], strict=True))


KINDS: Mapping[str, Callable[[Place, random.Random], Texts]] = {
    "end lost": end_lost, "beginning lost": beginning_lost, "last clause lost": last_clause_lost,
    "words gained": words_gained, "sentence gained": sentence_gained, "words gained before": words_gained_before,
    "boundary later": boundary_later, "boundary earlier": boundary_earlier,
    "clause given to next": clause_given, "clause taken from next": clause_taken,
    "replaced by next": replaced_by_next, "replaced by previous": replaced_by_previous,
    "moved to next": moved_to_next, "swapped with next": swapped, "run of three shifted": run_shifted,
}  # fmt: skip
EXCHANGED = ("boundary later", "boundary earlier", "clause given to next", "clause taken from next")


def _exchanged(place: Place, cut: int) -> Texts:
    prose = place.document.prose
    assert place.adjoining
    moved = abs(cut - place.end)
    assert moved >= LEAST * max(place.end - place.start, place.next_end - place.next_start)
    return {place.at: prose[place.start : cut].rstrip(), place.next: prose[cut : place.next_end]}


def _inner_clause(prose: str, start: int, end: int, last: bool) -> int:
    """The last or first boundary of clauses between 20 and 80 % of a stretch."""
    length = end - start
    cuts = [match.end() for match in _CLAUSE.finditer(prose, start, end)]
    inner = [cut for cut in cuts if LEAST * length <= cut - start <= (1 - LEAST) * length]
    assert inner
    return inner[-1 if last else 0]


class Tally(NamedTuple):
    """Cases of a kind: all, those suspicious by the text alone (as before), and those suspicious by extent too."""

    cases: int
    before: int
    found: int


def false_alarms(documents: Mapping[str, Text]) -> tuple[dict[str, set[int]], int]:
    """The unaltered segments that are suspicious, by document, and the number of all segments with a text."""
    suspicious = {name: _suspicious(document) for name, document in documents.items()}
    return suspicious, sum(bool(text) for document in documents.values() for text in document.texts)


def tallied(
    documents: Mapping[str, Text], alarms: Mapping[str, set[int]], each: int, seed: int
) -> Iterator[tuple[str, Tally]]:
    """Damage one segment of a document at a time, so many by each kind, and verify the document.

    A case is found if an altered segment is suspicious. Segments that are suspicious unaltered are not damaged.
    """
    rng, counts = random.Random(seed), defaultdict[str, list[int]](lambda: [0, 0, 0])
    places = [place for name in documents for place in _places(documents[name], alarms[name])]
    for kind, damage in KINDS.items():
        count = counts[kind]
        for place in rng.sample(places, len(places)):
            if count[0] == each:
                break
            try:
                altered = damage(place, rng)
            except (AssertionError, ValueError):  # the kind has nothing to do here
                continue
            own = place.document.texts
            if any(text is not None and (not text or text == own[at]) for at, text in altered.items()):
                continue
            texts = [altered.get(at, text) for at, text in enumerate(own)]
            ids = {at for at, text in altered.items() if text}
            before = {at for at, found in enumerate(verify(texts, place.document.prose)) if found.stage == SUSPICIOUS}
            count[0] += 1
            count[1] += bool(ids & before)
            count[2] += bool(ids & _suspicious(place.document._replace(texts=texts)))
        yield kind, Tally(*count)


def _suspicious(document: Text) -> set[int]:
    findings = examine(document.texts, document.prose, document.guides)
    return {at for at, finding in enumerate(findings) if finding.stage == SUSPICIOUS}


def _places(document: Text, alarms: set[int]) -> Iterator[Place]:
    begin, previous = 0, None
    for at, text in enumerate(document.texts):
        start = document.prose.find(text, begin) if text else -1
        if text and start >= 0:
            begin = start + len(text)
            if previous and not {previous[0], at} & alarms and min(previous[2] - previous[1], len(text)) >= SHORT:
                yield Place(document, previous[0], at, *previous[1:], start, begin)
            previous = (at, start, begin)


def table(tallies: Sequence[tuple[str, Tally]]) -> str:
    """Cases by kind: how many were suspicious before and are now."""
    lines = [f"{'':24}{'cases':>7}{'before':>8}{'now':>6}"]
    lines += [f"{kind:24}{tally.cases:7}{tally.before:8}{tally.found:6}" for kind, tally in tallies]
    return "\n".join(lines)
