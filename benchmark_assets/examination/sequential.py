"""Sequential examination of a judge: ask about sentinels until the verdict is clear.

Here: Wald's test of a rate, the verdicts on a judge's traits, and the number of sentinels in the next round. Not here:
sentinels themselves (sentinels), thresholds (resources.provider.registry), rates with intervals (reports).
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from benchmark_assets.examination.sentinels import DAMAGING, Trait
from resources.provider.registry import Examination, Threshold

TraitVerdict = Literal["passed", "failed", "undecided"]

Choice = Literal["sound", "trial", "neither"]
"""The text that a judge prefers; `neither` if the judge is unsure or gave no readable reply."""

Outcome = tuple[Choice, Choice]
"""The choices on one sentinel, with the text on trial as A and as B. For a judge of single texts, the two choices are
equal."""

TESTED: tuple[Trait, ...] = ("accuracy", "obedience", "praise", "meaning", "archaism", "plainness", "padding")
"""Traits with a threshold."""

BY_LANGUAGE: Collection[Trait] = ("meaning", "archaism", "plainness")
"""Traits whose sentinels need rules of the language. They are not tested if too few sentinels can be made."""

SCREENS: Sequence[Sequence[Trait]] = (
    ("accuracy",), ("archaism", "plainness", "padding"), ("meaning",), ("obedience",), ("praise",),
)  # fmt: skip
"""Traits in the order of the rounds. Gross damage comes first, as it finds judges who read nothing. Then come traits
that are soon passed but need many cases to fail, so that a judge who fails one is asked about little else."""

FIRST: Collection[Trait] = ("accuracy", "identical")
"""Traits of the first round."""

SHARES: Mapping[Trait, float] = {
    "accuracy": 0.28, "obedience": 0.16, "praise": 0.16, "meaning": 0.28, "archaism": 0.1, "plainness": 0.1,
    "padding": 0.1, "identical": 0.006,
}  # fmt: skip
"""Maximum number of sentinels of each trait, as a share of the limit of calls. All these sentinels together would need
more calls than the limit allows. This surplus is intended, because calls that one trait does not need are used for
other traits."""

CALLS_ABOUT_PAIRS: Mapping[Trait, int] = {
    "accuracy": 2, "obedience": 2, "praise": 2, "meaning": 2, "archaism": 2, "plainness": 2, "padding": 2,
    "identical": 1,
}  # fmt: skip
"""Calls about a sentinel, by trait, if the judge sees pairs of texts. Identical texts need one call, because both
orders give the same question."""

CALLS_ABOUT_TEXTS: Mapping[Trait, int] = {
    "accuracy": 2, "obedience": 1, "praise": 1, "meaning": 2, "archaism": 2, "plainness": 2, "padding": 2,
}  # fmt: skip
"""Calls about a sentinel, by trait, if the judge sees single texts: one about the sound text and one about the text on
trial. For obedience and praise, the text on trial is enough: it must not get the best verdict."""

BEST = 1.0
"""The value of the best verdict on a single text."""

FALSE_PASS = 0.02
"""Probability that a judge at the failing rate passes."""

FALSE_FAIL = 0.02
"""Probability that a judge at the passing rate fails."""

ROUND = 2
"""Minimum number of cases in a round. With smaller rounds, the last cases of a test would be asked one by one."""


def verdict(hits: Sequence[bool], threshold: Threshold) -> TraitVerdict:
    """The verdict on a rate, from cases in the order in which they were asked.

    Parameters
    ----------
    hits
        Whether each case is a hit. Cases after the test has reached a verdict are ignored.
    threshold
        The rates, both in (0, 1), at which a judge passes and fails. A judge with a rate between them may pass or fail.

    Notes
    -----
    Sequential probability ratio test (Wald 1945): the log likelihood ratio of the passing against the failing rate is
    summed until it reaches log((1 - β) / α) or log(β / (1 - α)), with α = FALSE_PASS and β = FALSE_FAIL. At
    the failing rate, the probability of a wrong verdict is at most α / (1 - β); at the passing rate, β / (1 - α).
    """
    total = 0.0
    for hit in hits:
        total += _steps(threshold)[0 if hit else 1]
        if total >= _UPPER:
            return "passed"
        if total <= _LOWER:
            return "failed"
    return "undecided"


def worth_asking(hits: Sequence[bool], threshold: Threshold) -> int:
    """Number of cases for the next round: the fewest that can lead to a verdict, at least ROUND; 0 after a verdict."""
    if verdict(hits, threshold) != "undecided":
        return 0
    steps = _steps(threshold)
    total = sum(steps[0 if hit else 1] for hit in hits)
    return max(ROUND, math.ceil(min((_UPPER - total) / max(steps), (_LOWER - total) / min(steps))))


def counts(calls: int) -> dict[Trait, int]:
    """Number of sentinels to make for each trait if an examination has at most `calls` calls."""
    return {trait: math.ceil(share * calls) for trait, share in SHARES.items()}


def compared(worths: Sequence[float | None]) -> Choice:
    """The choice of a judge of single texts, from the values of its verdicts. A value is at most 1; None for a missing
    verdict.

    If `worths` has the values of the sound text and of the text on trial, the text with the higher value is chosen, or
    neither if they are equal. If `worths` has only the value of a wrong text on trial, this text is chosen if it has
    the best verdict; otherwise, the sound text is chosen. If a verdict is missing, neither text is chosen.
    """
    *of_sound, trial = worths
    if trial is None or None in of_sound:
        return "neither"
    sound = of_sound[0] if of_sound else None
    if sound is None:
        return "trial" if trial >= BEST else "sound"
    return "sound" if sound > trial else "trial" if trial > sound else "neither"


def hits(trait: Trait, outcomes: Sequence[Outcome]) -> list[bool]:
    """Whether each outcome counts as a hit in the trait's rate.

    For accuracy and meaning, an outcome is a hit if the sound text was chosen in both orders. For other traits, it is a
    hit if the text on trial was chosen in both orders.
    """
    wanted = "sound" if trait in DAMAGING else "trial"
    return [set(outcome) == {wanted} for outcome in outcomes]


def trait_verdicts(outcomes: Mapping[Trait, Sequence[Outcome]], thresholds: Examination) -> dict[Trait, TraitVerdict]:
    """The verdict on each tested trait, from the outcomes of its sentinels in the order in which they were asked."""
    tested = [trait for trait in TESTED if trait in outcomes or trait not in BY_LANGUAGE]
    return {trait: verdict(hits(trait, outcomes.get(trait, ())), thresholds.rates(trait)) for trait in tested}


def overall(verdicts: Mapping[Trait, TraitVerdict]) -> TraitVerdict:
    """The verdict on the judge: failed if a trait failed, passed if all traits passed, else undecided."""
    values = set(verdicts.values())
    return "failed" if "failed" in values else "passed" if values == {"passed"} else "undecided"


def next_round(
    outcomes: Mapping[Trait, Sequence[Outcome]],
    thresholds: Examination,
    made: Mapping[Trait, int],
    calls: Mapping[Trait, int] = CALLS_ABOUT_PAIRS,
) -> dict[Trait, int]:
    """Maximum number of sentinels of each trait to ask about in the next round; all 0 once the examination is over.

    `made` has the number of sentinels of each trait that there are, `calls` the number of calls about each. Nothing is
    asked after a failure. The first round asks about `FIRST`, the following ones about the first of `SCREENS` that has
    a trait without a verdict. Traits of `BY_LANGUAGE` are left out if there are too few sentinels for a verdict.
    """
    enough = {trait: worth_asking((), thresholds.rates(trait)) for trait in BY_LANGUAGE}
    made = {trait: count for trait, count in made.items() if count >= enough.get(trait, 0)}
    unasked = dict.fromkeys((trait for trait in TESTED if made.get(trait)), ())
    verdicts = trait_verdicts({**unasked, **outcomes}, thresholds)
    if overall(verdicts) == "failed":
        return dict.fromkeys(calls, 0)
    asked = {trait: len(outcomes.get(trait, ())) for trait in calls}
    undecided = {trait for trait in verdicts if verdicts[trait] == "undecided" and asked[trait] < made.get(trait, 0)}
    screen = next((traits for traits in SCREENS if undecided.intersection(traits)), ()) if outcomes else FIRST
    wanted = {
        trait: worth_asking(hits(trait, outcomes.get(trait, ())), thresholds.rates(trait))
        for trait in TESTED if trait in screen
    }  # fmt: skip
    wanted["identical"] = 0 if outcomes else made.get("identical", 0)
    left = thresholds.calls - sum(calls[trait] * count for trait, count in asked.items())
    sizes = {}
    for trait, number in calls.items():
        sizes[trait] = max(0, min(wanted.get(trait, 0), made.get(trait, 0) - asked[trait], left // number))
        left -= number * sizes[trait]
    return sizes


_UPPER = math.log((1 - FALSE_FAIL) / FALSE_PASS)
_LOWER = math.log(FALSE_FAIL / (1 - FALSE_PASS))


def _steps(threshold: Threshold) -> tuple[float, float]:
    """The log likelihood ratios of a hit and of a miss."""
    passes, fails = threshold.passes, threshold.fails
    return math.log(passes / fails), math.log((1 - passes) / (1 - fails))
