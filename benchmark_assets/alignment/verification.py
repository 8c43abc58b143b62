"""Verification that each aligned segment occurs in its prose, by stages of growing tolerance.

Here: the stages, and the finding on each segment of a document. Not here: equality apart from typography
(normalization), the choice among several occurrences (placement), expansions of an ellipsis (expansion).
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from benchmark_assets.alignment.cross_references import CrossReferences, Direction
from benchmark_assets.alignment.expansion import Abbreviations, Expansion, is_negation
from benchmark_assets.alignment.nearest import Nearest
from benchmark_assets.alignment.normalization import NormalForm
from benchmark_assets.alignment.placement import Attestation, Concordance, ProsePlace, settle

VERBATIM, NORMALIZED, EXPANDED, CROSS_REFERENCE = "verbatim", "normalized", "expanded", "cross-reference"
SUSPICIOUS = "suspicious"

ALIKE = 0.5
"""Likeness from which the prose at a segment's own place is another reading of it, not another text."""

LONGEST_EVIDENCE = 200
"""Most characters of the evidence."""

NO_OTHERS: Mapping[str, str] = MappingProxyType({})


class Finding(NamedTuple):
    """The result of verifying one segment.

    Attributes
    ----------
    stage
        'verbatim', 'normalized', 'expanded', 'cross-reference' or 'suspicious'; None for a segment without text.
    start, end
        Place in the prose, in characters, half-open: the place of the segment, of the ellipsis or of the direction, or
        the place most similar to a suspicious segment. None for a segment without text.
    similarity
        1 if it was found; else the share of its character 3-grams that the prose has at that place, in [0, 1].
    in_order
        Whether the place lies between the places of the neighboring segments.
    evidence
        The reason, in at most 200 characters, with no words of the prose except the segment's own. '' for 'verbatim'
        in order.
    """

    stage: str | None
    start: int | None
    end: int | None
    similarity: float
    in_order: bool
    evidence: str


NO_TEXT = Finding(None, None, None, 0.0, True, "")


def verify(segments: Sequence[str | None], prose: str, others: Mapping[str, str] = NO_OTHERS) -> list[Finding]:
    """Look up every segment of a document in the prose.

    The result is the first stage that holds: the segment occurs in the prose exactly; it occurs apart from typography;
    it spells out an abbreviation of the prose by an earlier passage of it; it occurs in another text to which the prose
    directs the reader. Matches are of whole words. Among several occurrences, the choice puts the segments of the
    document in order.

    A segment that occurs only out of order, or only at the place of another segment, and passes no later stage, is
    found but not in order; it is suspicious if it is short, or if the prose has another reading of it between its
    neighbors. A segment is also suspicious if an English prose has a negation directly before or after it that is in no
    segment.

    Parameters
    ----------
    segments
        The texts of the source's segments, in order; None or white space if the aligner gave no text.
    prose
        The continuous translation of the document.
    others
        The same translator's other documents, by id.

    Returns
    -------
    A finding for each segment.

    Notes
    -----
    Source: PaliBench, section 3.3. Stricter: there, order and the reuse of a place do not count.
    """
    text = Concordance(prose)
    looked_up = [text.look_up(segment.strip()) if segment and segment.strip() else None for segment in segments]
    judge = _Judge(text, settle(looked_up, text), others)
    findings, expansion = [], None
    for at, segment in enumerate(looked_up):
        finding, expansion = judge.find(at, segment, expansion) if segment else (NO_TEXT, None)
        findings.append(finding)
    return findings


class _Judge:
    """Goes through the stages for one segment after the other.

    Parameters
    ----------
    prose
        The prose with its index.
    places
        The chosen places of the segments.
    others
        Other texts by id.
    """

    def __init__(self, prose: Concordance, places: Sequence[ProsePlace | None], others: Mapping[str, str]) -> None:
        self._prose, self._places, self._others = prose, places, others

    @cached_property
    def _abbreviations(self) -> Abbreviations:
        return Abbreviations(self._prose.text, self._prose.form)

    @cached_property
    def _references(self) -> CrossReferences:
        return CrossReferences(self._prose.text, self._others)

    @cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self._prose.form)

    def find(self, at: int, segment: Attestation, before: Expansion | None) -> tuple[Finding, Expansion | None]:
        """The finding on a segment, by its index, and its expansion; `before` is the previous segment's expansion."""
        gap = self._prose.between(*self._neighbours(at))
        if place := self._places[at]:
            return self._in_place(at, place), None
        if expansion := self._abbreviations.expand(segment.form, gap, before):
            return self._expanded(segment.form, expansion), expansion
        if direction := None if segment.short else self._references.find(segment.form, gap):
            return self._referred(segment.form, direction), None
        if segment.places:
            return self._out_of_place(segment, gap, before), None
        return self._suspicious(segment.form, gap), None

    def _neighbours(self, at: int) -> tuple[ProsePlace | None, ProsePlace | None]:
        before = next((place for place in reversed(self._places[:at]) if place), None)
        return before, next((place for place in self._places[at + 1 :] if place), None)

    def _in_place(self, at: int, place: ProsePlace) -> Finding:
        before, after = self._neighbours(at)
        left = "" if before and before.last == place.first else self._prose.beside(place)[0]
        right = "" if after and after.first == place.last else self._prose.beside(place)[1]
        if not is_negation(left) and not is_negation(right):
            return _found(place, True, "")
        evidence = "a negation next to it in its sentence is in no segment"
        return Finding(SUSPICIOUS, place.start, place.end, 1.0, True, evidence)

    def _expanded(self, segment: NormalForm, expansion: Expansion) -> Finding:
        first, last = expansion.template
        evidence = f"spells out an abbreviation by the prose at characters {first}–{last}"
        if expansion.term:
            evidence += f", with “{expansion.term}” for its term"
        likeness = self._nearest.likeness_around(segment, expansion.start)
        return Finding(EXPANDED, expansion.start, expansion.end, likeness, expansion.in_order, _cut(evidence))

    def _out_of_place(self, segment: Attestation, gap: tuple[int, int], before: Expansion | None) -> Finding:
        place = min(segment.places, key=lambda each: max(gap[0] - each.start, each.end - gap[1]))
        if segment.short:
            problem = "is too short to be told from chance where it is not next to its neighbours"
        elif self._reads_otherwise(segment, gap, before):
            problem = "its own place reads otherwise"
        else:
            owner = next((at for at, own in enumerate(self._places) if own and _overlap(own, place)), None)
            problem = "out of order" if owner is None else f"segment {owner}, counted from 0, has that place"
            return _found(place, False, f"stands elsewhere in the prose: {problem}")
        return Finding(SUSPICIOUS, place.start, place.end, 1.0, False, f"stands elsewhere in the prose: {problem}")

    def _reads_otherwise(self, segment: Attestation, gap: tuple[int, int], before: Expansion | None) -> bool:
        """Whether the prose has a similar text at the segment's own place, or after the previous segment's template."""
        belongs = [gap]
        if before:
            belongs.append((before.template[1], before.template[1] + len(segment.text)))
        return any(self._nearest.likeness_within(segment.form, place) >= ALIKE for place in belongs)

    def _referred(self, segment: NormalForm, direction: Direction) -> Finding:
        likeness = self._nearest.likeness_around(segment, direction.start)
        evidence = f"stands in {direction.name}, to which the prose directs"
        return Finding(CROSS_REFERENCE, direction.start, direction.end, likeness, True, evidence)

    def _suspicious(self, segment: NormalForm, gap: tuple[int, int]) -> Finding:
        start, end, likeness = self._nearest.find(segment, gap)
        if not segment.words:
            evidence = "has no word"
        elif direction := self._references.absent(gap):
            evidence = f"the prose directs to {direction.name}, which is not at hand"
        elif words := self._nearest.missing(segment, start, end):
            evidence = f"not there: {' '.join(words)}"
        else:
            evidence = "its words are there, but others among them, or in another order, or with other marks or case"
        return Finding(SUSPICIOUS, start, end, likeness, gap[0] <= end and start <= gap[1], _cut(evidence))


def _found(place: ProsePlace, in_order: bool, evidence: str) -> Finding:
    stage = VERBATIM if place.verbatim else NORMALIZED
    return Finding(stage, place.start, place.end, 1.0, in_order, evidence)


def _overlap(one: ProsePlace, other: ProsePlace) -> bool:
    return one.first < other.last and other.first < one.last


def _cut(evidence: str) -> str:
    return evidence if len(evidence) <= LONGEST_EVIDENCE else evidence[: LONGEST_EVIDENCE - 1] + "…"
