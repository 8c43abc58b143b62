from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom  # type: ignore[import-untyped]

from benchmark_assets.metrics.anchoring import FEWEST_IN_STRATA, FEWEST_LABELS, Anchored, Rated, anchored, gain
from benchmark_assets.metrics.intervals import Floats, wilson
from tests.support import slack

BANDS, DRAWN = np.array([0.50, 0.33, 0.10, 0.05, 0.02]), np.array([25, 25, 13, 7, 6]) / 76
OUTPUTS = 17_000

Judge = Callable[[Floats, np.random.Generator], Floats]


def accurate(accuracy: float) -> Judge:
    return lambda truth, rng: np.where(rng.random(len(truth)) < accuracy, truth, 1 - truth)


JUDGES: dict[str, Judge] = {
    **{f"right in {accuracy} %": accurate(accuracy / 100) for accuracy in (60, 70, 80, 90, 95)},
    "finds 60 % of errors": lambda truth, rng: truth * (rng.random(len(truth)) < 0.6),
    "calls 30 % more errors": lambda truth, rng: np.maximum(truth, rng.random(len(truth)) < 0.3),
    "wrong in 80 %": accurate(0.2),
    "random": lambda truth, rng: (rng.random(len(truth)) < 0.5).astype(float),
    "constant": lambda truth, rng: np.ones(len(truth)),
}


class Simulated(NamedTuple):
    """Shares of runs in which intervals hold the rate, mean widths of intervals, and the gain that theory allows."""

    people: float
    anchored: float
    widths: tuple[float, float]
    allowed: float

    @property
    def narrower(self) -> float:
        return 1 - self.widths[1] / self.widths[0]


def simulated(
    judge: Judge, rate: float, labels: int, runs: int, strata: bool = False, judged: int = 3000, cluster: int = 1
) -> Simulated:
    """Runs with one stratum, or with five bands whose error rates are as 1 : 2 : 5 : 12 : 40.

    `judged` outputs have a value by the judge only. `cluster` outputs of a stratum in a row are alike: the same error.
    """
    shares, drawn = (BANDS, np.round(DRAWN * labels).astype(int)) if strata else (np.ones(1), np.array([labels]))
    profile = np.array([1.0, 2, 5, 12, 40])[: len(shares)]
    rates = np.minimum(profile * rate / (profile @ shares), 0.95)
    mean = float(shares @ rates)
    others = np.round(shares * judged).astype(int)
    stratum = np.concatenate([np.repeat(np.arange(len(shares)), sizes) for sizes in (drawn, others)])
    unit, rng = np.arange(len(stratum)) // cluster, np.random.default_rng(1)
    held, widths = np.zeros(2), np.zeros(2)
    for _ in range(runs):
        truth = (rng.random(unit[-1] + 1)[unit] < rates[stratum]).astype(float)
        values = judge(truth, rng)
        people = np.where(np.arange(len(stratum)) < drawn.sum(), truth, np.nan)
        found = anchored(Rated(people, values, stratum, unit, np.arange(len(shares)), shares * OUTPUTS))
        for place, (_, low, high) in enumerate((found.people, found.mean)):
            held[place] += low <= mean <= high
            widths[place] += high - low
    alone = remaining = 0.0
    for share, n, own, error in zip(shares, drawn, others, rates, strict=True):
        truth = (np.arange(100_000) < 100_000 * error).astype(float)
        values = judge(truth, rng)
        rho = float(np.corrcoef(truth, values)[0, 1]) if np.ptp(values) else 0.0
        variance = share**2 * error * (1 - error) / n
        alone += variance
        remaining += variance * (1 - gain(rho, n, own)) ** 2
    from_people, both = (float(count) / runs for count in held)
    return Simulated(from_people, both, (widths[0] / runs, widths[1] / runs), 1 - float(np.sqrt(remaining / alone)))


@pytest.mark.parametrize("judge", JUDGES)
def test_intervals_hold_whatever_the_judge_does_and_are_hardly_wider_than_without_it(judge: str) -> None:
    found = simulated(JUDGES[judge], 0.2, 300, 300)
    assert found.anchored >= 0.93 - slack(False, 300)
    assert found.narrower >= -0.05
    assert found.narrower >= found.allowed - 0.04


def test_labels_and_verdicts_of_a_document_are_alike() -> None:
    found = simulated(JUDGES["right in 90 %"], 0.2, 300, 300, cluster=5)
    assert found.anchored >= 0.93 - slack(False, 300)


@pytest.mark.proof
def test_coverage_and_width_by_judge_rate_and_number_of_labels(full: bool) -> None:
    """docs/decisions/audit.md has a part of the table."""
    runs = 2000 if full else 10
    for strata in (False, True):
        for labels in (100, 300):
            for rate in (0.05, 0.2):
                for name, judge in JUDGES.items():
                    found = simulated(judge, rate, labels, runs, strata)
                    numbers = (found.people, found.anchored, found.narrower, found.allowed)
                    text = " | ".join(f"{100 * number:.1f}" for number in numbers)
                    print(f"| {'bands' if strata else 'one'} | {labels} | {100 * rate:.0f} % | {name} | {text} |")
                    if full:
                        assert found.anchored >= 0.92, (strata, labels, rate, name)  # standard error 0.005
                        assert found.narrower >= -0.05, (strata, labels, rate, name)


@pytest.mark.proof
def test_intervals_hold_from_ten_labels_on(full: bool) -> None:
    """With few labels, the judge is not used, and the coverage follows from the chances of each number of errors."""
    rates, runs = (0.05, 0.1, 0.3), 2000 if full else 10
    least = 1.0
    for labels in range(10, FEWEST_LABELS) if full else (10, 20, 50):
        errors, none, zero = np.arange(labels + 1), np.zeros(2 * labels, dtype=int), np.zeros(1, dtype=int)
        values = np.resize([1.0, 0], 2 * labels)
        people = [np.where(np.arange(2 * labels) < labels, np.arange(2 * labels) < count, np.nan) for count in errors]
        found = [anchored(Rated(each, values, none, np.arange(2 * labels), zero, np.ones(1))) for each in people]
        assert {each.tuning for each in found} == {0}
        for rate in rates:
            held = [low <= rate <= high for (_, low, high), *_ in found]
            least = min(least, float(binom.pmf(errors, labels, rate)[held].sum()))
    print(f"people alone, 10 to {FEWEST_LABELS - 1} labels: least {least:.3f}")
    assert least >= 0.93
    for labels, strata in ((FEWEST_LABELS, False), (FEWEST_IN_STRATA, False), (FEWEST_IN_STRATA, True)):
        for rate in rates:
            for accuracy in (70, 80, 90, 95):
                held_share = simulated(accurate(accuracy / 100), rate, labels, runs, strata, judged=400).anchored
                print(f"{labels} labels, {rate:.0%}, {'bands' if strata else 'one'}, {accuracy}: {held_share:.3f}")
                assert held_share >= 0.93 - slack(full, runs), (labels, rate, accuracy, strata)


def test_a_judge_who_says_the_same_of_all_leaves_the_estimate_of_people_alone() -> None:
    people = np.array([1.0] * 3 + [0] * 37 + [np.nan] * 60)
    none = np.zeros(100, dtype=int)
    found = anchored(Rated(people, np.ones(100), none, np.arange(100), none[:1], np.array([100.0])))
    assert_allclose(found.mean, (3 / 40, *wilson(3 * few(40), 40 * few(40))), rtol=1e-6)
    assert (found.mean, found.tuning) == (found.people, 0)


def few(units: int) -> float:
    """Sample size by Student's t relative to the normal quantile."""
    return (1.959964 / {40: 2.022691}[units]) ** 2


def test_a_perfect_judge_gives_the_mean_of_its_verdicts() -> None:
    truth = np.random.default_rng(2).random(4000) < 0.3
    people = np.where(np.arange(4000) < 200, truth, np.nan)
    none = np.zeros(4000, dtype=int)
    found = anchored(Rated(people, truth.astype(np.float64), none, np.arange(4000), none[:1], np.array([4000.0])))
    assert found.mean[0] == pytest.approx(truth.mean(), abs=0.01)
    assert found.mean[2] - found.mean[1] < 0.5 * (found.people[2] - found.people[1])


def test_a_stratum_without_outputs_only_informs_about_the_judge() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(1200) < 0.2).astype(float)
    stratum, unit = np.arange(1200) % 2, np.arange(1200)
    people = np.where(unit < 200, truth, np.nan)
    outputs = np.array([600.0, 0.0])

    def of(people: Floats) -> Anchored:
        return anchored(Rated(people, truth, stratum, unit, np.zeros(2, dtype=int), outputs))

    both, one = of(people), of(np.where(stratum == 0, people, np.nan))
    assert both.people[0] == one.people[0] == truth[:200:2].mean()
    assert both.mean[2] - both.mean[1] == pytest.approx(one.mean[2] - one.mean[1], rel=0.1)


@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.integers(10, 60), st.integers(0, 100), st.integers(1, 4))
def test_bounds_are_around_the_mean_and_in_range(
    seed: int, accuracy: float, labels: int, others: int, strata: int
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    rows = labels + others
    truth = rng.choice([0, 0.5, 1], rows)
    values = np.where(rng.random(rows) < 0.9, accurate(accuracy)(truth, rng), np.nan)
    people = np.where(np.arange(rows) < labels, truth, np.nan)
    stratum, unit = rng.integers(0, strata, rows), rng.integers(0, 12, rows)
    found = anchored(Rated(people, values, stratum, unit, np.zeros(strata, dtype=int), np.full(strata, 10.0)))
    for mean, low, high in (found.mean, found.people):
        assert -1e-9 <= low <= mean + 1e-9
        assert mean - 1e-9 <= high <= 1 + 1e-9
    assert found.mean[2] - found.mean[1] <= 1.05 * (found.people[2] - found.people[1]) + 1e-9


def test_a_published_estimate_stays_as_it_is() -> None:
    """Two pools, four strata, one without outputs, documents of two passages, and passages without a verdict."""
    rng = np.random.default_rng(7)
    stratum, unit = rng.integers(0, 4, 500), np.arange(500) // 2
    truth = (rng.random(500) < np.array([0.1, 0.3, 0.6, 0.3])[stratum]).astype(float)
    values = np.where(rng.random(500) < 0.9, accurate(0.9)(truth, rng), np.nan)
    people = np.where(unit < 120, truth, np.nan)
    found = anchored(Rated(people, values, stratum, unit, np.array([0, 0, 1, 1]), np.array([500.0, 200, 90, 0])))
    assert_allclose(found.people, (0.1723961472774765, 0.1161025774567258, 0.2483163064929312), rtol=1e-9)
    assert_allclose(found.mean, (0.1691472396946356, 0.1079471650947417, 0.2355965416174631), rtol=1e-9)
    assert found.tuning == pytest.approx(0.7481822557408880, rel=1e-9)


def test_the_gain_that_theory_allows() -> None:
    assert gain(0.7, 300, 16_700) == pytest.approx(0.28, abs=0.005)  # 1 - √(1 - 0.49 · 0.982)
    assert (gain(0, 300, 1000), gain(0.9, 300, 0)) == (0, 0)
