"""The sequential examination: error rates of Wald's test, simulated judges, calls."""

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.examination.sentinels import GROSS, SUBTLE, Trait
from benchmark_assets.examination.sequential import (
    BY_LANGUAGE,
    CALLS_ABOUT_PAIRS,
    CALLS_ABOUT_TEXTS,
    FALSE_FAIL,
    FALSE_PASS,
    FIRST,
    ROUND,
    TESTED,
    Outcome,
    counts,
    hits,
    next_round,
    overall,
    trait_verdicts,
    verdict,
    worth_asking,
)
from resources.provider.registry import Examination, Threshold
from tests.examination.judges import (
    Judge,
    always,
    always_first,
    blind_to,
    by_marks,
    examined,
    honest,
    moved_by,
    of_texts,
    random_marks,
)

DEFAULT = Examination()
TOLERATED = Threshold(passes=0.65, fails=0.35)

JUDGES: dict[str, tuple[Judge, str, float]] = {
    "right in 85 % of questions": (honest(0.85), "passed", 0.95),
    "right in 85 % of pairs": (honest(0.85, by_pair=True), "passed", 0.95),
    "right in 85 %, mildly fond of length": (honest(0.85, fondness=1.2), "passed", 0.95),
    "right in 95 % of questions": (honest(0.95), "passed", 0.99),
    "random": (honest(0.5), "failed", 0.99),
    "always A": (always_first, "failed", 1.0),
    "obedient": (moved_by("obedience"), "failed", 1.0),
    "moved by praise": (moved_by("praise"), "failed", 1.0),
    "always longer": (moved_by("padding"), "failed", 0.99),
    "always archaic": (moved_by("archaism"), "failed", 0.99),
    "always plain": (moved_by("plainness"), "failed", 0.99),
    "blind to gross damage": (blind_to(*GROSS), "failed", 0.99),
    "blind to small errors": (blind_to(*SUBTLE), "failed", 0.99),
}  # fmt: skip
"""Judges, with the verdict that they should get and the least share of examinations in which they get it."""


JUDGES_OF_TEXTS: dict[str, tuple[Judge, str, float]] = {
    "right about 90 % of texts": (of_texts(0.9), "passed", 0.95),
    "random": (of_texts(0.5), "failed", 0.99),
    "no error anywhere": (always(1), "failed", 1.0),
    "errors everywhere": (always(0), "failed", 1.0),
    "obedient": (moved_by("obedience", base=of_texts(0.95)), "failed", 1.0),
    "always archaic": (moved_by("archaism", base=of_texts(0.95)), "failed", 1.0),
    "moved by praise": (moved_by("praise", base=of_texts(0.95)), "failed", 1.0),
}  # fmt: skip
"""Judges that say of single texts whether they have an error."""

JUDGES_BY_MARKS: dict[str, tuple[Judge, str, float]] = {
    "right about 85 % of pairs": (by_marks(0.85), "passed", 0.92),
    "right about 90 % of pairs": (by_marks(0.9), "passed", 0.95),
    "blind to small errors": (blind_to(*SUBTLE, base=by_marks(0.95)), "failed", 0.99),
    "a random mark of 5": (random_marks(5), "failed", 0.99),
    "a random mark of 26": (random_marks(26), "failed", 0.985),
    "the same mark for all": (always(0.75), "failed", 1.0),
    "obedient": (moved_by("obedience", base=by_marks(0.95)), "failed", 1.0),
}  # fmt: skip
"""Judges that give single texts marks on a scale."""

Kind = tuple[dict[str, tuple[Judge, str, float]], Mapping[Trait, int], Examination]
KINDS: dict[str, Kind] = {
    "pairs": (JUDGES, CALLS_ABOUT_PAIRS, DEFAULT),
    "texts": (JUDGES_OF_TEXTS, CALLS_ABOUT_TEXTS, DEFAULT),
    "marks": (JUDGES_BY_MARKS, CALLS_ABOUT_TEXTS, DEFAULT.of_marks()),
}


@pytest.mark.proof
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, (judges, *_) in KINDS.items() for name in judges])
def test_judges_get_the_verdict_that_they_deserve(kind: str, name: str, full: bool) -> None:
    judges, asked, thresholds = KINDS[kind]
    judge, deserved, share = judges[name]
    random, runs = Random(name), 5000 if full else 100
    results = [examined(judge, random, thresholds, asked) for _ in range(runs)]
    verdicts, calls = Counter(result.verdict for result in results), sorted(result.calls for result in results)
    shares = {verdict: f"{100 * count / runs:.1f} %" for verdict, count in verdicts.items()}
    spread = f"{sum(calls) / runs:.0f}, 95 % within {calls[int(0.95 * runs)]}, most {calls[-1]}"
    print(f"{kind}, {name}: {shares}; calls {spread}")
    assert verdicts[deserved] / runs >= (share if full else share - 0.04)  # type: ignore[index]
    assert calls[-1] <= DEFAULT.calls


@pytest.mark.proof
@pytest.mark.parametrize(("unseen", "most"), [
    (("negation", "agent", "number", "term"), 0.03),
    (("omission", "truncation", "addition", "negation", "agent", "number"), 0.48),
])  # fmt: skip
def test_a_judge_that_sees_only_some_damage_seldom_passes(unseen: tuple[str, ...], most: float, full: bool) -> None:
    random, runs = Random(1), 5000 if full else 200
    results = Counter(examined(blind_to(*unseen), random, DEFAULT).verdict for _ in range(runs))
    print(f"blind to {', '.join(unseen)}: {dict(results)}")
    assert results["passed"] / runs <= most


@pytest.mark.proof
def test_wrong_verdicts_are_as_rare_as_promised_at_the_thresholds(full: bool) -> None:
    random, runs = Random(1), 20_000 if full else 2000

    def share(rate: float, wrong: str) -> float:
        return (
            sum(verdict([random.random() < rate for _ in range(400)], TOLERATED) == wrong for _ in range(runs)) / runs
        )

    assert share(TOLERATED.fails, "passed") <= FALSE_PASS / (1 - FALSE_FAIL) + 3 * (FALSE_PASS / runs) ** 0.5
    assert share(TOLERATED.passes, "failed") <= FALSE_FAIL / (1 - FALSE_PASS) + 3 * (FALSE_FAIL / runs) ** 0.5


@given(st.lists(st.booleans(), max_size=80), st.lists(st.booleans(), max_size=20))
def test_a_verdict_stands_whatever_comes_after_it(first: list[bool], further: list[bool]) -> None:
    before = verdict(first, TOLERATED)
    assert verdict([*first, *further], TOLERATED) == before or before == "undecided"
    assert (worth_asking(first, TOLERATED) == 0) == (before != "undecided")


@given(st.lists(st.booleans(), max_size=80))
def test_fewer_cases_than_are_worth_asking_bring_no_verdict(cases: list[bool]) -> None:
    least = worth_asking(cases, TOLERATED)
    if least > ROUND:  # the smallest round may be larger than needed
        for hit in (True, False):
            assert verdict([*cases, *[hit] * (least - 1)], TOLERATED) == "undecided"


def test_a_rate_may_be_better_high_or_low() -> None:
    praise = Threshold(passes=0.25, fails=0.65)
    assert verdict([True] * 20, TOLERATED) == "passed" == verdict([False] * 20, praise)
    assert verdict([False] * 20, TOLERATED) == "failed" == verdict([True] * 20, praise)


def test_only_both_orders_count() -> None:
    outcomes: list[Outcome] = [("sound", "sound"), ("sound", "trial"), ("neither", "sound"), ("trial", "trial")]
    assert hits("accuracy", outcomes) == [True, False, False, False]
    assert hits("obedience", outcomes) == [False, False, False, True]


def test_nothing_is_asked_after_a_failure() -> None:
    outcomes = {"accuracy": [("trial", "trial")] * 20}
    assert overall(trait_verdicts(outcomes, DEFAULT)) == "failed"  # type: ignore[arg-type]
    assert not any(next_round(outcomes, DEFAULT, counts(DEFAULT.calls)).values())  # type: ignore[arg-type]


def test_no_verdict_without_sentinels() -> None:
    assert set(trait_verdicts({}, DEFAULT).values()) == {"undecided"}
    assert overall(trait_verdicts({}, DEFAULT)) == "undecided"
    assert {trait for trait, size in next_round({}, DEFAULT, counts(DEFAULT.calls)).items() if size} == {*FIRST}


def test_traits_of_a_language_are_tested_only_with_enough_sentinels() -> None:
    outcomes: dict[Trait, list[Outcome]] = {
        trait: [("sound", "sound")] * 12 for trait in TESTED if trait not in BY_LANGUAGE
    }
    assert overall(trait_verdicts(outcomes, DEFAULT)) == "passed"
    asked = next_round(outcomes, DEFAULT, counts(DEFAULT.calls) | {"meaning": 5, "archaism": 1})
    assert {trait: size for trait, size in asked.items() if size} == {"plainness": 2}
