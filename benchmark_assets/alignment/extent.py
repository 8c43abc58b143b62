"""The extent of aligned segments: whether each has all of its text, and only its own.

Here: findings on segments that lack text, have foreign text, or have the text of another segment, together with the
findings of verification. Not here: searching for segments (verification), fit of a stretch to a segment (belonging).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from benchmark_assets.alignment.belonging import Stretch, StretchFit, Words
from benchmark_assets.alignment.division import NEVER, best_division, cumulated, of_neither
from benchmark_assets.alignment.verification import LONGEST_EVIDENCE, NORMALIZED, SUSPICIOUS, VERBATIM, Finding, verify

BY_HAND = "by hand"

CONSIDERABLE = 0.15
"""Smallest error in the extent of a segment that counts, as a share of the segment's characters. Errors of 20 % should
be found; the limit is lower, because a better boundary may still be a word or two away from the true one."""

# Minimum log-likelihood ratio of a better extent, tuned on every second sutta and on every second translator of the
# Daodejing; docs/measurements.md has the results on the rest.
UNCLAIMED = 3.0  # the missing text is next to the segment in the prose, and no segment has it
CLAIMED = 10.0  # a neighbor has the missing text at one end, or the segment has text of a neighbor at one end
FOREIGN = 50.0  # the text at one end of the segment resembles no segment
ANOTHER = 20.0  # the whole text is another segment's
ANOTHER_BESIDE_FAULT = 4.0  # likewise, next to an unclaimed, shared or misplaced text

UNCLEAR = 4.0
"""If two segments that share text differ in fit by less than this, both are suspicious."""

NEIGHBORS = 2
"""Maximum distance, in segments, between a segment and the segment whose text it is suspected to have."""


Doubt = tuple[int, str]
"""A segment, and evidence against its extent."""


def examine(
    texts: Sequence[str | None],
    prose: str,
    guides: Sequence[Sequence[str | None]],
    by_hand: Collection[int] = (),
    others: Mapping[str, str] | None = None,
    foreign: bool = False,
) -> list[Finding]:
    """Verify every segment of a document, and check that it has the right extent.

    A segment that occurs in the prose is nevertheless suspicious if

    - it is out of order, or its place overlaps the place of another segment that fits the shared text better;
    - text next to it in the prose belongs to it, but is in no segment;
    - text at one of its ends belongs to a neighbor, or its own text continues in a neighbor's text;
    - text at one of its ends belongs to no segment;
    - its whole text is another segment's.

    Differences of less than 15 % of the segment's characters do not count. A text that was corrected
    by hand, or located by numbers in the translation's text, is never suspicious: if it does not occur in the prose in
    order, its stage is 'by hand'.

    Parameters
    ----------
    texts, prose, others
        As in `verify`. A text is also '' if the segment needs no text.
    guides
        Other translations, or else the source (`foreign`). Each has one text per segment, or None for a segment that
        it lacks.
    by_hand
        Indices of segments whose text was corrected by hand, or located by numbers in the translation's text.

    Returns
    -------
    One finding per segment.

    Notes
    -----
    Expected lengths relative to the translator's pace follow Gale and Church (1993).
    """
    words = Words(prose, guides, foreign)
    first = verify(texts, prose, others)
    shared, kept = _share_out(words, first, by_hand)
    settled = first
    if kept:
        shortened = {
            at: prose[words.starts[start] : words.ends[end - 1]] if end > start else None
            for at, (start, end) in kept.items()
        }
        settled = verify([shortened.get(at, text) for at, text in enumerate(texts)], prose, others)
    findings = [first[at] if at in shared else finding for at, finding in enumerate(settled)]
    doubts = dict(shared)
    for segment, evidence in _doubts(words, settled, shared.keys(), texts):
        doubts.setdefault(segment, evidence)
    for at, finding in enumerate(findings):
        if at in by_hand:
            findings[at] = _by_hand(finding)
        elif at in doubts:
            in_order = finding.in_order and at not in shared
            findings[at] = finding._replace(stage=SUSPICIOUS, in_order=in_order, evidence=doubts[at])
        elif not finding.in_order:
            findings[at] = finding._replace(stage=SUSPICIOUS)
    return findings


def _by_hand(finding: Finding) -> Finding:
    if finding.stage in (None, VERBATIM, NORMALIZED) and finding.in_order:
        return finding
    if finding.similarity == 1.0:
        evidence = "corrected by hand; occurs in the prose, but not in order or not in its context"
    else:
        evidence = f"corrected by hand; {finding.evidence}"[:LONGEST_EVIDENCE]
    return finding._replace(stage=BY_HAND, in_order=True, evidence=evidence)


# Overlapping places


def _share_out(
    words: Words, findings: Sequence[Finding], by_hand: Collection[int]
) -> tuple[dict[int, str], dict[int, Stretch]]:
    """Assign text that two segments share to the segment that it fits better.

    Returns
    -------
    Evidence against segments that have another segment's text; remaining stretches of segments that lose shared text.
    """
    places = {
        at: words.stretch(finding.start, finding.end)
        for at, finding in enumerate(findings)
        if (finding.stage in (VERBATIM, NORMALIZED) or (finding.stage == SUSPICIOUS and finding.similarity == 1.0))
        and finding.start is not None
        and finding.end is not None
    }
    fit = StretchFit(words, places)
    kept = dict(places)
    evidence: dict[int, str] = {}
    order = sorted(places, key=lambda at: places[at])
    for position, one in enumerate(order):
        for other in order[position + 1 :]:
            if places[other][0] >= places[one][1]:
                break
            first, second = kept[one], kept[other]
            common = (max(first[0], second[0]), min(first[1], second[1]))
            if common[0] >= common[1]:
                continue
            one_yields = fit.of(one, (first[0], common[0])) + fit.of(other, second)
            other_yields = fit.of(one, first) + fit.of(other, (common[1], second[1]))
            loser, winner = (one, other) if one_yields > other_yields else (other, one)
            unclear = abs(one_yields - other_yields) < UNCLEAR and not {loser, winner} & set(by_hand)
            if loser in by_hand and winner not in by_hand:
                loser, winner = winner, loser
            kept[loser] = (first[0], common[0]) if loser == one else (common[1], second[1])
            for segment, neighbor in [(loser, winner), (winner, loser)][: 2 if unclear else 1]:
                share = words.characters(common) / max(words.characters(places[segment]), 1)
                if share >= CONSIDERABLE:
                    text = f"shares {words.characters(common)} characters ({share:.0%}) with {_name(neighbor)}"
                    evidence.setdefault(segment, text)
    return evidence, {at: stretch for at, stretch in kept.items() if stretch != places[at]}


# Doubts about the extent


def _doubts(
    words: Words, findings: Sequence[Finding], shared: Collection[int], texts: Sequence[str | None]
) -> Iterator[Doubt]:
    places = {
        at: words.stretch(finding.start, finding.end)
        for at, finding in enumerate(findings)
        if finding.stage in (VERBATIM, NORMALIZED) and finding.start is not None and finding.end is not None
    }
    in_order = [at for at in places if findings[at].in_order]
    misplaced = dict(_others_texts(words, findings, places, in_order, shared))
    yield from misplaced.items()
    fit = StretchFit(words, {at: places[at] for at in in_order if at not in misplaced})
    if not fit.places:
        return
    lacking = [text is None or (bool(text.strip()) and at not in fit.places) for at, text in enumerate(texts)]
    for before, after in pairwise([None, *fit.places, None]):
        yield from _boundary(fit, before, after, lacking)


def _others_texts(
    words: Words,
    findings: Sequence[Finding],
    places: Mapping[int, Stretch],
    in_order: Sequence[int],
    shared: Collection[int],
) -> Iterator[Doubt]:
    """Find segments that have the text of another segment.

    Less evidence is needed next to a fault: unclaimed text, shared text, a segment out of order, or another segment
    that seems to have the wrong text.
    """
    faulty = set(shared) | {at for at, finding in enumerate(findings) if finding.stage and not finding.in_order}
    borders = [0, *(word for at in in_order for word in places[at]), words.count]
    for position, at in enumerate(in_order):
        before, start, end, after = borders[2 * position : 2 * position + 4]
        if start - before > 1 or after - end > 1:
            faulty.add(at)
    better = {at: found for at, place in places.items() if (found := _better_owner(words, at, place))}
    adjoining = set(faulty)
    present = [at for at, finding in enumerate(findings) if finding.stage]
    for order in (present, present[::-1]):
        beside = False
        for at in order:
            resembles = at in better and better[at][0] >= ANOTHER_BESIDE_FAULT
            if beside and resembles:
                adjoining.add(at)
            beside = at in adjoining and (resembles or at in faulty)
    for at, (gain, owner) in better.items():
        beside = not {at - 1, at, at + 1}.isdisjoint(faulty) or at in adjoining
        if gain >= (ANOTHER_BESIDE_FAULT if beside else ANOTHER):
            yield at, f"its words fit {_name(owner)} better"


def _better_owner(words: Words, at: int, place: Stretch) -> tuple[float, int] | None:
    """Compare how well the text at a place fits segment `at`, and how well it fits the neighbors of this segment.

    Returns the fit to the best neighbor minus the fit to `at`, and the best neighbor; None without neighbors or text.
    """
    last = min(at + NEIGHBORS, len(words.guides[0]) - 1)
    others = [other for other in range(max(at - NEIGHBORS, 0), last + 1) if other != at and words.is_guided(other)]
    if not others or place[0] == place[1]:
        return None
    own = words.belonging(at, place).sum()
    gain, owner = max(((float(words.belonging(other, place).sum() - own)), -other) for other in others)
    return gain, -owner


def _boundary(fit: StretchFit, before: int | None, after: int | None, lacking: Sequence[bool]) -> Iterator[Doubt]:
    """Doubts about the end of the segment `before` and the beginning of the next segment, `after`.

    At the beginning of the prose, `before` is None; at its end, `after` is None. The words from the beginning of
    `before` to the end of `after` are divided into three stretches: for `before`, for neither segment (possibly empty),
    and for `after`. The division with the greatest fit shows where the segments should end and begin.
    """
    words = fit.words
    region = (0 if before is None else fit.places[before][0], words.count if after is None else fit.places[after][1])
    count = region[1] - region[0]
    neither = range(0 if before is None else before + 1, len(lacking) if after is None else after)
    absent = [at for at in neither if lacking[at] and words.is_guided(at)]
    unassigned, gap = of_neither(words, absent, region)
    ends = fit.boundaries[region[0] : region[1] + 1]
    first, second = np.full(count + 1, NEVER), np.full(count + 1, NEVER)
    end, start = 0, count
    lengths = np.zeros((2, count + 1), dtype=np.int_)
    if before is None:
        first[0] = 0.0
    else:
        end = fit.places[before][1] - region[0]
        lengths[0, 1:] = np.array(words.ends[slice(*region)]) - words.starts[region[0]]
        first = cumulated(words.belonging(before, region) - unassigned) + ends + fit.length(before, lengths[0])
        first[0] = NEVER
    if after is None:
        second[-1] = 0.0
    else:
        start = fit.places[after][0] - region[0]
        lengths[1, :-1] = words.ends[region[1] - 1] - np.array(words.starts[slice(*region)])
        backward = cumulated((words.belonging(after, region) - unassigned)[::-1])[::-1]
        second = backward + ends + fit.length(after, lengths[1])
        second[-1] = NEVER
    better_end, better_start, best = best_division(first, second, gap)
    gain = best - (first[end] + second[start] - (gap if end < start else 0.0))
    joined = better_end == better_start
    if before is not None:
        change = int(lengths[0, better_end] - lengths[0, end])
        yield from _changed(fit, before, after, "end", change, int(lengths[0, end]), gain, end < start, joined)
    if after is not None:
        change = int(lengths[1, better_start] - lengths[1, start])
        yield from _changed(fit, after, before, "beginning", change, int(lengths[1, start]), gain, end < start, joined)


def _changed(
    fit: StretchFit,
    segment: int,
    neighbor: int | None,
    side: str,
    change: int,
    length: int,
    gain: float,
    gap: bool,
    joined: bool,
) -> Iterator[Doubt]:
    """A doubt about one end of a segment, if a better end is considerably farther out or in.

    `change` is the distance to the better end in characters, negative if that end is inside the segment.
    """
    size = f"{abs(change)} characters ({abs(change) / max(length, 1):.0%} of its length)"
    if abs(change) < CONSIDERABLE * length or not change:
        return
    if change > 0 and gap:
        least, evidence = UNCLAIMED, f"{size} beyond its {side} seem to belong to it, and no segment has them"
    elif change > 0 and neighbor is not None:
        least, evidence = CLAIMED, f"{size} beyond its {side} seem to belong to it, but {_name(neighbor)} has them"
    elif joined and neighbor is not None:
        least, evidence = CLAIMED, f"{size} at its {side} seem to belong to {_name(neighbor)}"
    else:
        least, evidence = FOREIGN, f"{size} at its {side} resemble no other translation"
    if gain >= least and (least != FOREIGN or fit.expects_length(segment)):
        yield segment, evidence


def _name(segment: int) -> str:
    return f"segment {segment} (counted from 0)"
