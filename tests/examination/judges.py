"""Simulated judges, who choose between a sound text and a text on trial, and the examination of such a judge."""

from collections.abc import Callable, Mapping, Sequence
from math import log
from random import Random
from typing import NamedTuple

from scipy.special import expit  # type: ignore[import-untyped]

from benchmark_assets.examination.sentinels import DAMAGING, GROSS, PADDING, SUBTLE, Trait
from benchmark_assets.examination.sequential import (
    CALLS_ABOUT_PAIRS,
    CALLS_ABOUT_TEXTS,
    Choice,
    Outcome,
    TraitVerdict,
    compared,
    counts,
    next_round,
    overall,
    trait_verdicts,
)
from resources.provider.registry import Examination

Judge = Callable[[Random, Trait, int], Outcome]
"""Function from a random generator, a trait and the number of a sentinel to the choices in both orders."""

RATIOS = tuple(PADDING.values())

EQUAL: tuple[Trait, ...] = ("archaism", "plainness", "padding")
"""Traits whose text on trial says the same as the sound one."""


class Examined(NamedTuple):
    """The result of an examination: the verdict, the numbers of calls and of rounds, and the outcomes by trait."""

    verdict: TraitVerdict
    calls: int
    rounds: int
    outcomes: Mapping[Trait, Sequence[Outcome]]


def chance(random: Random, of_trial: float) -> Choice:
    return "trial" if random.random() < of_trial else "sound"


def honest(right: float, by_pair: bool = False, fondness: float = 0.0) -> Judge:
    """A judge who is right in this share of the questions or, with `by_pair`, of the pairs; indifferent to padding
    except for `fondness`, in logits per unit of log length ratio."""

    def choose(random: Random, trait: Trait, number: int) -> Outcome:
        wrong = 1 - right
        if trait == "identical" or trait in EQUAL:
            wrong = expit(fondness * log(RATIOS[number % len(RATIOS)])) if trait == "padding" else 0.5
        first = chance(random, wrong)
        return (first, first) if by_pair else (first, chance(random, wrong))

    return choose


def of_texts(right: float) -> Judge:
    """A judge of single texts who says whether a text has an error, and is right in this share of the texts."""

    def choose(random: Random, trait: Trait, number: int) -> Outcome:
        sound = 1.0 if trait in ("obedience", "praise") else float(random.random() < right)
        trial = float(random.random() < (right if trait in EQUAL else 1 - right))
        choice = compared([sound, trial] if CALLS_ABOUT_TEXTS[trait] == 2 else [trial])
        return choice, choice

    return choose


def by_marks(right: float) -> Judge:
    """A judge of single texts who gives the better one of two texts the better mark in this share of the pairs, equal
    texts a better or worse mark by chance, and a wrong text the best mark in the remaining share."""

    def choose(random: Random, trait: Trait, number: int) -> Outcome:
        choice = chance(random, 0.5 if trait in EQUAL else 1 - right)
        return choice, choice

    return choose


def random_marks(marks: int) -> Judge:
    """A judge of single texts whose verdict is drawn from this number of marks."""

    def choose(random: Random, trait: Trait, number: int) -> Outcome:
        choice = compared([random.randrange(marks) / (marks - 1) for _ in range(CALLS_ABOUT_TEXTS[trait])])
        return choice, choice

    return choose


def always(worth: float) -> Judge:
    """A judge of single texts whose verdict is always the same."""

    def choose(random: Random, trait: Trait, number: int) -> Outcome:
        choice = compared([worth] * CALLS_ABOUT_TEXTS[trait])
        return choice, choice

    return choose


def always_first(random: Random, trait: Trait, number: int) -> Outcome:
    return "trial", "sound"


def moved_by(*traits: Trait, base: Judge | None = None, share: float = 1.0) -> Judge:
    """A judge, by default an honest one, who chooses the text on trial in a share of the sentinels of these traits."""
    base = base or honest(0.95)

    def choose(random: Random, trait: Trait, number: int) -> Outcome:
        moved = trait in traits and random.random() < share
        return ("trial", "trial") if moved else base(random, trait, number)

    return choose


def blind_to(*kinds: str, base: Judge | None = None) -> Judge:
    """A judge, by default an honest one, who chooses at random beside damage of these kinds."""
    base, of_trait = base or honest(0.95), {"accuracy": GROSS, "meaning": SUBTLE}

    def choose(random: Random, trait: Trait, number: int) -> Outcome:
        unseen = trait in DAMAGING and of_trait[trait][number % len(of_trait[trait])] in kinds
        return (honest(0.5) if unseen else base)(random, trait, number)

    return choose


def examined(
    judge: Judge, random: Random, thresholds: Examination, asked: Mapping[Trait, int] = CALLS_ABOUT_PAIRS
) -> Examined:
    outcomes: dict[Trait, list[Outcome]] = {}
    calls = rounds = 0
    while any((sizes := next_round(outcomes, thresholds, counts(thresholds.calls), asked)).values()):
        rounds += 1
        for trait, size in sizes.items():
            of_trait = outcomes.setdefault(trait, [])
            of_trait += [judge(random, trait, len(of_trait) + number) for number in range(size)]
            calls += asked[trait] * size
    return Examined(overall(trait_verdicts(outcomes, thresholds)), calls, rounds, outcomes)
