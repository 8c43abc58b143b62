"""Simulated judges of pairs: what they say in an examination, of outputs beside anchors, and of hidden sentinels."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit  # type: ignore[import-untyped]

from benchmark_assets.metrics.intervals import Floats
from tests.examination.judges import Judge, blind_to, honest, moved_by

Flags = NDArray[np.bool_]


class Pairs(NamedTuple):
    """Pairs of texts, each array of shape (pairs,).

    `better` is whether the first text is better, `gap` by how much, in logits. `length` is the log of the ratio of
    their lengths. `own` is 1 if the first text is the model's, -1 if the second one is, and 0 for two anchors; the
    model's texts are archaic. `time` is when the judge sees the pair, from 0 to 1.
    """

    better: Flags
    gap: Floats
    length: Floats
    own: Floats
    time: Floats


Verdicts = Callable[[Pairs, bool, np.random.Generator], Flags]
"""Function from pairs, whether the first text of each is shown as A, and a generator to whether the first text wins."""


class Simulated(NamedTuple):
    """A judge: how it replies in an examination, its verdicts, the share of verdicts that its model loses and that it
    refuses, whether its fault is one that a listed trait can show, and its reliability
    if its errors are even."""

    exam: Judge
    verdicts: Verdicts
    refused: float = 0.0
    shown: bool = True
    kept: float = math.nan


def right(accuracy: float | Callable[[Pairs], Floats]) -> Verdicts:
    """A judge that names the better text with this probability."""

    def verdicts(pairs: Pairs, first: bool, chance: np.random.Generator) -> Flags:
        sure = accuracy(pairs) if callable(accuracy) else accuracy
        found: Flags = pairs.better == (chance.random(len(pairs.better)) < sure)
        return found

    return verdicts


def always(favored: Callable[[Pairs], Floats], share: float = 1.0, base: Verdicts | None = None) -> Verdicts:
    """A judge that chooses the first text where `favored` is positive and the second one where it is negative, in this
    share of the pairs, whatever the order; else a good one."""
    base = base or right(0.95)

    def verdicts(pairs: Pairs, first: bool, chance: np.random.Generator) -> Flags:
        wanted = favored(pairs)
        moved = (wanted != 0) & (_of_pairs(pairs) < share)
        found: Flags = np.where(moved, wanted > 0, base(pairs, first, chance))
        return found

    return verdicts


def blind(share: float) -> Verdicts:
    """A judge that is right in 95 %, and sees no difference between the texts of this share of the pairs."""
    return right(lambda pairs: np.where(_of_pairs(pairs) < share, 0.5, 0.95))


def wrong(share: float) -> Verdicts:
    """A judge that names the worse text in both orders of this share of the pairs, and is right about others."""
    return right(lambda pairs: np.where(_of_pairs(pairs) < share, 0.0, 1.0))


def at_position(accuracy: float, bias: float) -> Verdicts:
    def verdicts(pairs: Pairs, first: bool, chance: np.random.Generator) -> Flags:
        sure = accuracy + np.where(pairs.better == first, bias, -bias)
        found: Flags = pairs.better == (chance.random(len(sure)) < sure)
        return found

    return verdicts


def fond_of_length(slope: float) -> Verdicts:
    """A judge that is right in 90 % of texts of equal length."""

    def verdicts(pairs: Pairs, first: bool, chance: np.random.Generator) -> Flags:
        logits = np.where(pairs.better, 1, -1) * np.log(9) + slope * pairs.length
        found: Flags = chance.random(len(logits)) < expit(logits)
        return found

    return verdicts


def turning(before: Verdicts, after: Verdicts) -> Verdicts:
    def verdicts(pairs: Pairs, first: bool, chance: np.random.Generator) -> Flags:
        found: Flags = np.where(pairs.time < 0.5, before(pairs, first, chance), after(pairs, first, chance))
        return found

    return verdicts


def _of_pairs(pairs: Pairs) -> Floats:
    """A number in [0, 1) that belongs to each pair, the same in both orders."""
    return np.abs(pairs.gap * 1e4) % 1


COIN = right(0.5)
FIRST: Verdicts = lambda pairs, first, chance: np.full(len(pairs.better), first)  # noqa: E731
FEW = ("negation", "agent", "number", "term")
HALF = ("omission", "truncation", "addition", *FEW[:3])

JUDGES: Mapping[str, Simulated] = {
    "right in 80 %": Simulated(honest(0.8), right(0.8), kept=0.6),
    "right in 85 %": Simulated(honest(0.85), right(0.85), kept=0.7),
    "right in 90 %": Simulated(honest(0.9), right(0.9), kept=0.8),
    "right in 95 %": Simulated(honest(0.95), right(0.95), kept=0.9),
    "prefers archaic style": Simulated(moved_by("archaism"), always(lambda pairs: pairs.own)),
    "right on sentinels, random on outputs": Simulated(honest(0.95), COIN),
    "obeys half of the wordings": Simulated(moved_by("obedience", share=0.5), always(lambda pairs: pairs.own)),
    "partial to the model": Simulated(honest(0.95), always(lambda pairs: pairs.own)),
    "against the model": Simulated(honest(0.95), always(lambda pairs: -pairs.own)),
    "blind to negation, agent, number, term": Simulated(blind_to(*FEW), blind(0.35)),
    "blind to 6 of 14 kinds": Simulated(blind_to(*HALF), blind(0.45)),
    "judges by fluency": Simulated(moved_by("accuracy", "meaning"), right(lambda p: np.round(_of_pairs(p)))),
    "turns to A": Simulated(honest(0.95), turning(right(0.95), FIRST)),
    "turns to coins": Simulated(honest(0.95), turning(right(0.95), COIN)),
    "refuses 30 % of the model's defeats": Simulated(honest(0.95), right(0.95), 0.3),
    "refuses 60 %": Simulated(honest(0.95), right(0.95), 0.6),
    "refuses 90 %": Simulated(honest(0.95), right(0.95), 0.9),
    "always longer": Simulated(moved_by("padding"), always(lambda pairs: pairs.length)),
    "fond of length": Simulated(honest(0.9, fondness=1.5), fond_of_length(1.5)),
    "prefers A": Simulated(honest(0.75), at_position(0.75, 0.2)),
    "wrong in both orders of 15 %": Simulated(honest(0.85, by_pair=True), wrong(0.15)),
    "unsure of close pairs": Simulated(honest(0.95), right(lambda p: 1 - 0.5 * np.exp(-p.gap))),
    "partial in 30 % of the pairs": Simulated(honest(0.95), always(lambda pairs: pairs.own, 0.3), shown=False),
    "mildly archaic": Simulated(moved_by("archaism", share=0.5), always(lambda pairs: pairs.own, 0.5), shown=False),
}  # fmt: skip
"""Judges of the issue and of our own."""
