"""Unassigned text beside segments, on a document of invented words whose guide has the same words."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.alignment.belonging import Words
from benchmark_assets.alignment.reclaiming import Reclaimer
from benchmark_assets.alignment.units import LONG, Span, units
from tests.alignment.words import sentence

RNG = random.Random(20)
COUNT = 12
SEGMENTS = [f"{sentence(RNG, 8)} {sentence(RNG, 8)}" for _ in range(COUNT)]
GUIDE: list[str | None] = [" ".join(RNG.sample(text.split(), 16)) for text in SEGMENTS]
NOTE = f"{sentence(RNG, 9)} {sentence(RNG, 9)}"
PARTS = units("\n".join(SEGMENTS), LONG + 1)
WHOLE = [(2 * at, 2 * at + 2) for at in range(COUNT)]
"""Each segment is two sentences, which are units."""


def extended(
    changes: dict[int, Span],
    contrast: float = 1.0,
    anchors: dict[int, int] | None = None,
    pieces: list[str] = SEGMENTS,
) -> list[Span]:
    prose = "\n".join(pieces)
    parts = units(prose, LONG + 1)
    similar = np.full((len(parts.texts), COUNT), contrast)
    reclaimer = Reclaimer(Words(prose, [GUIDE]), parts, similar, 0.5, 9, anchors or {})
    return reclaimer.extended([changes.get(at, stretch) for at, stretch in enumerate(WHOLE)])


@pytest.mark.parametrize(
    "changes",
    [
        {4: (8, 9)},  # the end is unassigned
        {4: (9, 10)},
        {4: (8, 9), 5: (11, 12)},  # two segments divide what is between them
        {0: (1, 2), 11: (22, 23)},  # the ends of the document
    ],
)
def test_a_segment_reclaims_its_own_text(changes: dict[int, Span]) -> None:
    assert extended(changes) == WHOLE


def test_text_that_resembles_other_segments_more_stays_unassigned() -> None:
    assert extended({4: (8, 9)}, contrast=0.4)[4] == (8, 9)


def test_the_text_of_a_segment_without_a_stretch_stays_unassigned() -> None:
    assert extended({4: (0, 0)}) == [*WHOLE[:4], (0, 0), *WHOLE[5:]]


def test_a_note_between_segments_stays_unassigned() -> None:
    after = [(start + 2, end + 2) for start, end in WHOLE[4:]]
    pieces = [*SEGMENTS[:4], NOTE, *SEGMENTS[4:]]
    assert extended(dict(enumerate(after, start=4)), pieces=pieces) == [*WHOLE[:4], *after]


@pytest.mark.parametrize(("changes", "anchors"), [({4: (9, 10)}, {4: 9}), ({4: (8, 9)}, {5: 9})])
def test_no_segment_extends_over_an_anchor(changes: dict[int, Span], anchors: dict[int, int]) -> None:
    assert extended(changes, anchors=anchors)[4] == changes[4]


@given(st.lists(st.integers(0, len(PARTS.texts)), min_size=2 * COUNT, max_size=2 * COUNT).map(sorted))
def test_stretches_stay_in_order_and_lose_nothing(ends: list[int]) -> None:
    stretches = list(zip(ends[::2], ends[1::2], strict=True))
    last = 0
    for own, other in zip(stretches, extended(dict(enumerate(stretches))), strict=True):
        if own[0] < own[1]:
            assert last <= other[0] <= own[0] < own[1] <= other[1]
            last = other[1]
        else:
            assert other == own
