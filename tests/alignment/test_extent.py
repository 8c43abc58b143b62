"""The extent of segments, on a document of invented words whose guide has the same words."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.alignment.extent import BY_HAND, examine
from benchmark_assets.alignment.verification import verify, with_ids
from tests.alignment.words import sentence

RNG = random.Random(19)
SEGMENTS = [f"{sentence(RNG, 8)} {sentence(RNG, 8)}" for _ in range(12)]
PROSE = "\n".join(SEGMENTS)
GUIDE = [" ".join(RNG.sample(text.split(), 16)) for text in SEGMENTS]
FIRST, SECOND = [text.partition(". ")[0] + "." for text in SEGMENTS], [text.partition(". ")[2] for text in SEGMENTS]


def suspicious(changes: dict[int, str | None], prose: str = PROSE, by_hand: frozenset[int] = frozenset()) -> list[int]:
    texts = [changes.get(at, text) for at, text in enumerate(SEGMENTS)]
    return [at for at, each in enumerate(examine(texts, prose, [GUIDE], by_hand)) if each.stage == "suspicious"]


def evidence(changes: dict[int, str | None], at: int) -> str:
    return examine([changes.get(each, text) for each, text in enumerate(SEGMENTS)], PROSE, [GUIDE])[at].evidence


def test_whole_segments_are_found_as_they_are() -> None:
    texts: list[str | None] = [*SEGMENTS]
    assert examine(texts, PROSE, [GUIDE]) == verify(texts, PROSE) == examine(texts, PROSE, [[None] * 12])


def test_long_text_beside_its_source_in_another_language_is_not_suspicious_for_its_words() -> None:
    texts = [" ".join(sentence(RNG, 12) for _ in range(30)) for _ in range(4)]
    source: list[str | None] = [" ".join(sentence(RNG, 10) for _ in range(30)) for _ in range(4)]
    findings = examine([*texts], "\n".join(texts), [source], foreign=True)
    assert [each.stage for each in findings] == ["verbatim"] * 4


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({4: FIRST[4]}, [4]),  # the end is lost
        ({4: SECOND[4]}, [4]),
        ({4: f"{SEGMENTS[4]} {FIRST[5]}"}, [4]),  # the neighbor's sentence is appended
        ({4: f"{SECOND[3]} {SEGMENTS[4]}"}, [4]),
        ({4: f"{SEGMENTS[4]} {FIRST[5]}", 5: SECOND[5]}, [4, 5]),  # the boundary is moved
        ({4: FIRST[4], 5: f"{SECOND[4]} {SEGMENTS[5]}"}, [4, 5]),
        ({4: SEGMENTS[5]}, [4]),  # replaced
        ({4: SEGMENTS[3]}, [4]),
        ({4: None, 5: SEGMENTS[4]}, [5]),
        ({4: SEGMENTS[5], 5: SEGMENTS[6], 6: SEGMENTS[7], 7: None}, [4, 5, 6]),
        ({0: SECOND[0]}, [0]),  # the ends of the document
        ({11: FIRST[11]}, [11]),
        ({4: None}, []),  # not found, which is no fault of its neighbors
        ({3: None, 4: None, 5: None}, []),
    ],
)
def test_lost_gained_and_replaced_text_is_suspicious_and_its_neighbors_are_not(
    changes: dict[int, str | None], found: list[int]
) -> None:
    assert suspicious({at: text and text.replace(". ", ".\n") for at, text in changes.items()}) == found


def test_swapped_segments_are_suspicious() -> None:
    assert suspicious({4: SEGMENTS[5], 5: SEGMENTS[4]}) == [4, 5]


def test_evidence_tells_the_size_and_the_owner() -> None:
    lost, left = len(f". {SECOND[4]}") - 1, len(FIRST[4]) - 1  # from the last word to the last word
    assert evidence({4: FIRST[4]}, 4) == (
        f"{lost} characters ({lost / left:.0%} of its length) beyond its end seem to belong to it, "
        "and no segment has them"
    )
    assert "with segment 5 (counted from 0)" in evidence({4: SEGMENTS[5]}, 4)
    assert evidence({4: None, 5: SEGMENTS[4]}, 5) == "its words fit segment 4 (counted from 0) better"
    assert with_ids(evidence({4: None, 5: SEGMENTS[4]}, 5), list("abcdefg")) == "its words fit e better"


def test_notes_and_headings_between_segments_are_nobodys_text() -> None:
    notes = [sentence(RNG, 9) for _ in SEGMENTS]
    prose = "\n".join(f"{note}\n{text}" for note, text in zip(notes, SEGMENTS, strict=True))
    assert suspicious({}, prose) == []
    assert suspicious({4: FIRST[4]}, prose) == [4]


def test_a_correction_by_hand_is_never_suspicious() -> None:
    texts = [*SEGMENTS[:4], "A correction that nobody printed.", SEGMENTS[6], *SEGMENTS[6:]]
    findings = examine(texts, PROSE, [GUIDE], {4, 5})
    assert [findings[at].stage for at in (3, 4, 5, 6)] == ["verbatim", BY_HAND, "verbatim", "suspicious"]
    assert findings[4].in_order
    assert findings[4].evidence.startswith("corrected by hand; missing in the prose: ")
    assert suspicious({4: FIRST[4]}, by_hand=frozenset({4})) == []


def test_a_segment_out_of_order_is_suspicious() -> None:
    prose = "\n".join([*SEGMENTS[:4], *SEGMENTS[5:10], SEGMENTS[4], *SEGMENTS[10:]])
    assert suspicious({}, prose) == [4]


TEXTS = st.one_of(st.none(), st.sampled_from([*SEGMENTS, *FIRST, *SECOND, "", " ", "…", "no such words"]), st.text())


@given(st.lists(TEXTS, max_size=8), st.one_of(st.just(PROSE), st.text()), st.data())
def test_findings_have_the_places_of_the_prose_whatever_the_texts(
    texts: list[str | None], prose: str, data: st.DataObject
) -> None:
    guides = data.draw(st.lists(st.lists(TEXTS, min_size=len(texts), max_size=len(texts)), min_size=1, max_size=2))
    by_hand = data.draw(st.sets(st.integers(0, 7)))
    for at, (text, finding) in enumerate(zip(texts, examine(texts, prose, guides, by_hand), strict=True)):
        assert (finding.stage is None) == (not (text or "").strip())
        assert finding.in_order or finding.stage == "suspicious"
        assert finding.stage != "suspicious" or (finding.evidence and at not in by_hand)
        assert len(finding.evidence) <= 200
        if finding.start is not None and finding.end is not None:
            assert 0 <= finding.start <= finding.end <= len(prose)
