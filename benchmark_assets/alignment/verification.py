"""Verification that each aligned segment occurs in the continuous translation, in stages of increasing tolerance.

Here: the stages, and a finding for each segment. Not here: typographic differences (normalization), the choice among
several occurrences (placement), expanded ellipses (expansion).
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from benchmark_assets.alignment.cross_references import CrossReference, CrossReferences
from benchmark_assets.alignment.expansion import Abbreviations, Expansion, is_negation
from benchmark_assets.alignment.nearest import Nearest
from benchmark_assets.alignment.normalization import NormalForm
from benchmark_assets.alignment.placement import Attestation, Concordance, ProsePlace, settle

VERBATIM, NORMALIZED, EXPANDED, CROSS_REFERENCE = "verbatim", "normalized", "expanded", "cross-reference"
SUSPICIOUS = "suspicious"

ALIKE = 0.5
"""If the prose at a segment's expected place has at least this likeness, it is the segment in other words."""

_NUMBERED = re.compile(r"segment (\d+) \(counted from 0\)")

LONGEST_EVIDENCE = 200
"""Maximum number of characters of the evidence."""


class Finding(NamedTuple):
    """The result of verifying one segment.

    Attributes
    ----------
    stage
        'verbatim', 'normalized', 'expanded', 'cross-reference' or 'suspicious'; None for a segment without text.
    start, end
        Range of characters in the prose, half-open: the segment itself, the ellipsis or the cross-reference; for a
        suspicious segment, the most similar place. None for a segment without text.
    similarity
        1 if the segment occurs at that place; else the share of its character 3-grams that occur there, in [0, 1].
    in_order
        Whether the place is between the places of the neighboring segments.
    evidence
        The reason for the finding, in at most 200 characters; it quotes only the segment, and names of other texts. ''
        for a segment that occurs in order.
    """

    stage: str | None
    start: int | None
    end: int | None
    similarity: float
    in_order: bool
    evidence: str


NO_TEXT = Finding(None, None, None, 0.0, True, "")


def verify(segments: Sequence[str | None], prose: str, others: Mapping[str, str] | None = None) -> list[Finding]:
    """Look up every segment of a document in its continuous translation.

    A segment has the first stage that applies: it occurs in the prose exactly; it occurs with typographic differences
    only; it spells out an abbreviation in words of an earlier passage; it occurs in another text to which the prose
    refers. Only whole words match. Occurrences are chosen so that the segments of the document are in order.

    A segment that occurs only out of order or at another segment's place, and passes none of the later stages, is
    marked as not in order. It is suspicious instead if it is short, or if the prose between its neighbors expresses it
    in other words. A segment is also suspicious if an English negation directly before or after it is in no segment.

    Parameters
    ----------
    segments
        Aligned texts of the source's segments, in order; None or white space where the aligner found no text.
    prose
        The continuous translation of the document.
    others
        Texts of the same translator's other documents, by id.

    Returns
    -------
    One finding per segment.

    Notes
    -----
    Source: PaliBench, section 3.3, which checks neither the order of segments nor the repeated use of a place.
    """
    text = Concordance(prose)
    looked_up = [text.look_up(segment.strip()) if segment and segment.strip() else None for segment in segments]
    verifier = _Verifier(text, settle(looked_up, text), others or {})
    findings, expansion = [], None
    for at, segment in enumerate(looked_up):
        finding, expansion = verifier.find(at, segment, expansion) if segment else (NO_TEXT, None)
        findings.append(finding)
    return findings


class _Verifier:
    """Applies the stages to single segments; `places` has the settled place of each segment, None if it has none."""

    def __init__(self, prose: Concordance, places: Sequence[ProsePlace | None], others: Mapping[str, str]) -> None:
        self._prose, self._places, self._others = prose, places, others

    # Built when first used: where every segment is in its place, no index is needed.
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
        """Finding and expansion of the segment with index `at`; `before` is the previous segment's expansion."""
        gap = self._prose.between(*self._neighbors(at))
        if place := self._places[at]:
            return self._in_place(at, place), None
        if expansion := self._abbreviations.expand(segment.form, gap, before):
            return self._expanded(segment.form, expansion), expansion
        if direction := None if segment.short else self._references.find(segment.form, gap):
            return self._referred(segment.form, direction), None
        if segment.places:
            return self._out_of_place(segment, gap, before), None
        return self._suspicious(segment.form, gap), None

    def _neighbors(self, at: int) -> tuple[ProsePlace | None, ProsePlace | None]:
        before = next((place for place in reversed(self._places[:at]) if place), None)
        return before, next((place for place in self._places[at + 1 :] if place), None)

    def _in_place(self, at: int, place: ProsePlace) -> Finding:
        before, after = self._neighbors(at)
        left = "" if before and before.last == place.first else self._prose.beside(place)[0]
        right = "" if after and after.first == place.last else self._prose.beside(place)[1]
        if not is_negation(left) and not is_negation(right):
            return _occurrence(place, True, "")
        evidence = "a negation next to it in the sentence belongs to no segment"
        return Finding(SUSPICIOUS, place.start, place.end, 1.0, True, evidence)

    def _expanded(self, segment: NormalForm, expansion: Expansion) -> Finding:
        first, last = expansion.template
        evidence = f"spells out an abbreviation in the words of characters {first}–{last}"
        if expansion.term:
            evidence += f", with the term “{expansion.term}”"
        likeness = self._nearest.likeness_around(segment, expansion.start)
        return Finding(EXPANDED, expansion.start, expansion.end, likeness, expansion.in_order, _cut(evidence))

    def _out_of_place(self, segment: Attestation, gap: tuple[int, int], before: Expansion | None) -> Finding:
        place = min(segment.places, key=lambda option: max(gap[0] - option.start, option.end - gap[1]))
        if segment.short:
            problem = "too short to rule out chance away from its neighbors"
        elif self._reads_otherwise(segment, gap, before):
            problem = "the wording at its expected place differs"
        else:
            owner = next((at for at, other in enumerate(self._places) if other and _overlap(other, place)), None)
            problem = "out of order" if owner is None else f"the place of segment {owner} (counted from 0)"
            return _occurrence(place, False, f"occurs elsewhere: {problem}")
        return Finding(SUSPICIOUS, place.start, place.end, 1.0, False, f"occurs elsewhere: {problem}")

    def _reads_otherwise(self, segment: Attestation, gap: tuple[int, int], before: Expansion | None) -> bool:
        """Whether a similar text is at the segment's expected place, or after the previous segment's template."""
        expected = [gap]
        if before:
            expected.append((before.template[1], before.template[1] + len(segment.text)))
        return any(self._nearest.likeness_within(segment.form, place) >= ALIKE for place in expected)

    def _referred(self, segment: NormalForm, direction: CrossReference) -> Finding:
        likeness = self._nearest.likeness_around(segment, direction.start)
        evidence = f"occurs in {direction.name}, to which the prose refers"
        return Finding(CROSS_REFERENCE, direction.start, direction.end, likeness, True, evidence)

    def _suspicious(self, segment: NormalForm, gap: tuple[int, int]) -> Finding:
        start, end, likeness = self._nearest.find(segment, gap)
        if not segment.words:
            evidence = "contains no word"
        elif direction := self._references.absent(gap):
            evidence = f"the prose refers to {direction.name}, which is not available"
        elif words := self._nearest.missing(segment, start, end):
            evidence = f"missing in the prose: {' '.join(words)}"
        else:
            order = "in another order, or with other marks or case"
            evidence = f"its words are there, but with other words between them, {order}"
        return Finding(SUSPICIOUS, start, end, likeness, gap[0] <= end and start <= gap[1], _cut(evidence))


def with_ids(evidence: str, ids: Sequence[str]) -> str:
    """Stored evidence with the ids of segments in place of their numbers.

    `ids` has the ids of all segments of the document, in order. A number without an id, left from before a change of
    the source, stays as it is.
    """
    return _NUMBERED.sub(lambda found: ids[int(found[1])] if int(found[1]) < len(ids) else found[0], evidence)


def _occurrence(place: ProsePlace, in_order: bool, evidence: str) -> Finding:
    stage = VERBATIM if place.verbatim else NORMALIZED
    return Finding(stage, place.start, place.end, 1.0, in_order, evidence)


def _overlap(first: ProsePlace, second: ProsePlace) -> bool:
    return first.first < second.last and second.first < first.last


def _cut(evidence: str) -> str:
    return evidence if len(evidence) <= LONGEST_EVIDENCE else evidence[: LONGEST_EVIDENCE - 1] + "…"
