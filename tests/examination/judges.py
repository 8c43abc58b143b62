"""Simulated judges, who choose between a sound text and a text on trial, and the examination of such a judge."""

from collections.abc import Callable
from math import log
from random import Random
from typing import NamedTuple

from scipy.special import expit  # type: ignore[import-untyped]

from benchmark_assets.examination.sentinels import PADDING, Trait
from benchmark_assets.examination.sequential import (
    Choice,
    Outcome,
    TraitVerdict,
    calls_of,
    next_round,
    overall,
    trait_verdicts,
)
from resources.provider.registry import Examination

Judge = Callable[[Random, Trait, int], Outcome]
"""Function from a random generator, a trait and the number of a sentinel to the choices in both orders."""

RATIOS = tuple(PADDING.values())


class Examined(NamedTuple):
    """The result of an examination: the verdict, and the numbers of calls and of rounds."""

    verdict: TraitVerdict
    calls: int
    rounds: int


def chance(random: Random, of_trial: float) -> Choice:
    return "trial" if random.random() < of_trial else "sound"


def honest(right: float, by_pair: bool = False, fondness: float = 0.0) -> Judge:
    """A judge who is right in this share of the questions or, with `by_pair`, of the pairs; indifferent to padding
    except for `fondness`, in logits per unit of log length ratio."""

    def choose(random: Random, trait: Trait, number: int) -> Outcome:
        wrong = 1 - right
        if trait in ("identical", "padding"):
            wrong = expit(fondness * log(RATIOS[number % len(RATIOS)])) if trait == "padding" else 0.5
        first = chance(random, wrong)
        return (first, first) if by_pair else (first, chance(random, wrong))

    return choose


def always_first(random: Random, trait: Trait, number: int) -> Outcome:
    return "trial", "sound"


def moved_by(*traits: Trait) -> Judge:
    """An honest judge who always chooses the text on trial in sentinels of these traits."""
    base = honest(0.95)
    return lambda random, trait, number: ("trial", "trial") if trait in traits else base(random, trait, number)


def examined(judge: Judge, random: Random, thresholds: Examination) -> Examined:
    outcomes: dict[Trait, list[Outcome]] = {}
    calls = rounds = 0
    while any((sizes := next_round(outcomes, thresholds)).values()):
        rounds += 1
        for trait, size in sizes.items():
            of_trait = outcomes.setdefault(trait, [])
            of_trait += [judge(random, trait, len(of_trait) + number) for number in range(size)]
            calls += calls_of(trait) * size
    return Examined(overall(trait_verdicts(outcomes, thresholds)), calls, rounds)
