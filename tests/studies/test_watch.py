"""Judges that change while they work are stopped, and others are not."""

from collections.abc import Callable
from random import Random

import pytest

from benchmark_assets.studies.watch import Watch
from resources.provider.asking import Verdict

Judge = Callable[[Random], Verdict[str]]

REFUSAL: Verdict[str] = Verdict("", 1, abstention="I cannot judge this.", refused=True)


def choosing(a: float, refuses: float = 0.0) -> Judge:
    """A judge who chooses A with this probability, and refuses with the other."""

    def verdict(random: Random) -> Verdict[str]:
        return REFUSAL if random.random() < refuses else Verdict("", 1, "A" if random.random() < a else "B")

    return verdict


def stopped_after(judge: Judge, random: Random, most: int, watch: Watch | None = None) -> int:
    """Number of verdicts after which the judge is stopped; more than `most` if it never is."""
    watch = watch or Watch(str)
    for number in range(most):
        if watch.stopped("judge"):
            return number
        watch.saw("judge", judge(random))
    return most if watch.stopped("judge") else most + 1


@pytest.mark.proof
@pytest.mark.parametrize("judge", [choosing(0.5), choosing(0.65), choosing(0.4, refuses=0.3), choosing(0.75)])
def test_judges_as_they_should_be_are_seldom_stopped(judge: Judge, full: bool) -> None:
    random, runs = Random(1), 2000 if full else 100
    stopped = sum(stopped_after(judge, random, 600) <= 600 for _ in range(runs))
    print(f"stopped within 600 verdicts: {stopped} of {runs}")
    assert stopped <= 0.07 * runs  # 600 / ALARM, and what chance adds


@pytest.mark.proof
@pytest.mark.parametrize(("turned", "most"), [(choosing(1), 60), (choosing(0), 60), (choosing(0.5, refuses=1), 20)])
def test_a_judge_that_turns_in_mid_run_is_stopped_soon(turned: Judge, most: int, full: bool) -> None:
    random, after = Random(1), list[int]()
    for _ in range(500 if full else 50):
        watch = Watch(str)
        stopped_after(choosing(0.55), random, random.randrange(300), watch)
        after.append(stopped_after(turned, random, 100, watch))
    print(f"stopped after {sorted(after)[len(after) // 2]} verdicts in the median, {max(after)} at most")
    assert max(after) <= most


@pytest.mark.proof
@pytest.mark.parametrize(("wrong", "median"), [(0.5, 25), (0.8, 10), (1.0, 6)])
def test_a_judge_that_begins_to_err_is_stopped_after_some_sentinels(wrong: float, median: int, full: bool) -> None:
    random, after, false = Random(1), list[int](), 0
    for _ in range(1000 if full else 50):
        watch = Watch(lambda _: "")
        sentinels_until(watch, 0.1, random, 30)
        false += sentinels_until(Watch(lambda _: ""), 0.2, random, 60) <= 60
        after.append(sentinels_until(watch, wrong, random, 200))
    late = sorted(after)[int(0.95 * len(after))]
    print(f"wrong in {wrong:.0%}: {sorted(after)[len(after) // 2]} sentinels in the median, 95 % within {late}; "
          f"false alarms within 60 sentinels, wrong in 20 %: {false} of {len(after)}")  # fmt: skip
    assert sorted(after)[len(after) // 2] <= median
    assert false <= (0.06 if full else 0.14) * len(after)


def sentinels_until(watch: Watch, wrong: float, random: Random, most: int) -> int:
    """Number of hidden sentinels until the judge is stopped; more than `most` if it never is."""
    for number in range(1, most + 1):
        watch.saw("judge", Verdict(value="x"), right=random.random() >= wrong)
        if watch.stopped("judge"):
            return number
    return most + 1


def test_failed_calls_say_nothing() -> None:
    watch = Watch(str)
    for _ in range(100):
        watch.saw("judge", Verdict(error="HTTP 503"))
    assert not watch.stopped("judge")
    assert stopped_after(choosing(1), Random(1), 60, watch) < 60
    assert "the text shown as A in too many of its last verdicts" in watch.stopped("judge")
    assert not watch.stopped("another")
