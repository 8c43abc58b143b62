"""Scores without a judge's errors: what they equal for a judge that makes none, and simulated judges with faults."""

import math
from collections import Counter
from functools import cache
from random import Random
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.description import Examining
from benchmark_assets.examination import hidden
from benchmark_assets.examination.sentinels import DAMAGING
from benchmark_assets.metrics.logistic import penalized_slope
from benchmark_assets.metrics.measures import NONE, Estimate
from benchmark_assets.metrics.misclassification import spread
from benchmark_assets.pairwise.adjusted import Known, bounded_scores
from benchmark_assets.pairwise.bradley_terry import fit, on_scale
from benchmark_assets.pairwise.controlled import judge_effects, matches_of
from benchmark_assets.pairwise.corrected import COIN as COIN_LIKE
from benchmark_assets.pairwise.corrected import (
    ONE_ORDER,
    JudgeErrors,
    SentinelCounts,
    agreement,
    errors_of,
    misled_share,
    strengths,
)
from benchmark_assets.pairwise.matches import is_partial
from benchmark_assets.pairwise.scores import scaled
from benchmark_assets.studies.watch import Watch
from resources.provider.asking import Verdict
from resources.provider.registry import Examination
from tests.examination.judges import RATIOS, Examined, examined
from tests.pairwise.judges import JUDGES, Flags, Pairs, Simulated
from tests.pairwise.simulated import NAMES, items
from tests.pairwise.simulated import judged as judged_by_all
from tests.pairwise.test_controlled import matches_of_last
from tests.pairwise.test_scores import CONTRACT, judgments
from tests.support import examples

ITEMS, MODEL = 40, "m"
PLACES = ("misplaced", "rival", "damaged")
SYSTEMS = [*NAMES[:4], MODEL]
ANCHORS = np.array([1.2, 0.4, -0.4, -1.2])
ONE, OTHER = np.triu_indices(5, 1)
NO_ERRORS = JudgeErrors(Estimate(1.0, 1.0, 1.0), Estimate(0.0, 0.0, 0.0))


@cache
def whole() -> pl.DataFrame:
    """The items: no frame is computed when modules are imported."""
    return items(ITEMS)


class Published(NamedTuple):
    """LT that is published, its width as a multiple of that with known errors, and the calls of the examination."""

    lt: Estimate
    calls: int
    wider: float = math.nan
    problem: str = ""


def frame(one: Flags, other: Flags, passages: list[str]) -> pl.DataFrame:
    """Verdicts in both orders, as in `anchor_judgment`, by whether the first systems win if shown first; second."""
    first, second = (np.array(SYSTEMS)[each] for each in (np.tile(ONE, ITEMS), np.tile(OTHER, ITEMS)))
    winners = [np.where(won, first, second) for won in (one, other)]
    columns = {"passage": [*passages, *passages], "first": [*first, *second], "second": [*second, *first]}
    return pl.DataFrame({**columns, "winner": np.concatenate(winners)})


def judged(judge: Simulated, level: float, chance: np.random.Generator) -> tuple[Published, float]:
    """What is published of a model that an examined judge compares with four anchors, and the LT of a judge without
    errors. The model's texts are 1.6 times as long."""
    levels = np.append(ANCHORS, level)
    truth = float(on_scale(np.array(level - levels.mean())))
    exam = examined(judge.exam, Random(int(chance.integers(2**31))), Examination())
    if exam.verdict != "passed":
        return Published(NONE, exam.calls, problem="examination"), truth
    quality = levels + chance.gumbel(size=(ITEMS, 5))
    logs = 0.12 * chance.normal(size=(ITEMS, 5))
    logs[:, -1] += math.log(1.6)
    gaps, lengths = ((each[:, ONE] - each[:, OTHER]).ravel() for each in (quality, logs))
    own = np.tile((ONE == 4).astype(int) - (OTHER == 4), ITEMS).astype(np.float64)
    time = np.where(own == 0, 0.0, np.repeat(np.arange(ITEMS) / ITEMS, len(ONE)))
    pairs = Pairs(gaps > 0, np.abs(gaps), lengths, own, time)
    verdicts = [judge.verdicts(pairs, first, chance) for first in (True, False)]
    if watched(np.where(own != 0, verdicts[0], False), verdicts[1], own != 0):
        return Published(NONE, exam.calls, problem="watch"), truth
    if len({*(verdicts[0] == (own > 0))[own != 0], *(verdicts[1] == (own > 0))[own != 0]}) == 1:
        return Published(NONE, exam.calls, problem="infinite"), truth  # the model has won all matches, or none
    replies, partial = sentinels_of(judge, pairs, chance)
    if partial:
        return Published(NONE, exam.calls, problem="partial"), truth
    outcomes = [outcome for trait in DAMAGING for outcome in exam.outcomes.get(trait, ())]
    agreed = Counter(choices[0] if len(set(choices)) == 1 else "split" for choices in outcomes)
    of_exam = SentinelCounts(agreed["sound"], agreed["trial"], agreed["split"])
    seen = SentinelCounts(*map(sum, zip(of_exam, replies, strict=True)))
    passages = [passage for passage in whole()["passage"] for _ in ONE]
    rows = frame(verdicts[0], verdicts[1], passages)
    texts = [(system, passage, round(1e4 * math.exp(logs[at, place]))) for at, passage in enumerate(whole()["passage"])
             for place, system in enumerate(SYSTEMS)]  # fmt: skip
    sizes = pl.DataFrame(texts, schema=["system", "passage", "length"], orient="row")
    if judge.refused:
        return refusing(rows, sizes, judge.refused, seen, chance)._replace(calls=exam.calls), truth
    of_model = (pl.col("first") == MODEL) | (pl.col("second") == MODEL)
    about_model, about_anchors = (agreement(rows.filter(each), whole()) for each in (of_model, ~of_model))
    errors, problem = errors_of([about_model, about_anchors], seen)
    anchors, unknown = errors_of([about_anchors, about_model], seen)
    if errors is None or anchors is None:
        problem = problem or unknown
        return Published(NONE, exam.calls, problem=problem or ""), truth
    matches = matches_of(rows, SYSTEMS, sizes, whole())
    of_anchors = matches_of(rows.filter(pl.col("first") != MODEL, pl.col("second") != MODEL), SYSTEMS, sizes, whole())
    length = judge_effects(of_anchors, SYSTEMS[:4], padding(exam))[0].length
    found = scaled(strengths(matches, 5, length, errors, anchors)[-1])
    kept = errors.reliability.value if math.isnan(judge.kept) else judge.kept
    best = scaled(strengths(matches, 5, length, NO_ERRORS._replace(steady=Estimate(kept, kept, kept)))[-1])
    return Published(found, exam.calls, width(found) / width(best)), truth


def watched(one: Flags, other: Flags, asked: Flags) -> bool:
    """Whether the judge is stopped while it is asked about the model's pairs, in both orders."""
    watch = Watch(str)
    for first, second in zip(one[asked], other[asked], strict=True):
        for letter in ("A" if first else "B", "B" if second else "A"):
            watch.saw("judge", Verdict(value=letter))
    return bool(watch.stopped("judge"))


def sentinels_of(judge: Simulated, pairs: Pairs, chance: np.random.Generator) -> tuple[SentinelCounts, bool]:
    """Hidden sentinels made of the model's pairs, and whether they show that the judge is partial."""
    counts, partial, split = Counter[bool](), False, 0
    kinds = np.where(pairs.own != 0, chance.choice(
        ["", *hidden.SHARES[True]], len(pairs.own),
        p=[1 - Examining().hidden, *(Examining().hidden * part for part in hidden.SHARES[True].values())],
    ), "")  # fmt: skip
    for kind in PLACES:
        drawn = np.flatnonzero(kinds == kind)
        number = len(drawn)
        first = np.where(pairs.own[drawn] > 0, kind == "rival", kind != "rival")  # whether the first text is better
        own = pairs.own[drawn] if kind != "damaged" else np.zeros(number)
        given = Pairs(first, 8 + chance.random(number), pairs.length[drawn], own, pairs.time[drawn])
        replies = [judge.verdicts(given, order, chance) == first for order in (True, False)]
        same = replies[0] == replies[1]
        counts.update(replies[0][same].tolist())
        split += int((~same).sum())
        partial |= kind != "damaged" and is_partial(same & ~replies[0], np.ones(number, dtype=np.bool_))
    return SentinelCounts(counts[True], counts[False], split), partial


def refusing(
    rows: pl.DataFrame, sizes: pl.DataFrame, share: float, seen: SentinelCounts, chance: np.random.Generator
) -> Published:
    """What is published if the judge refuses this share of the verdicts that the model loses."""
    own = (pl.col("first") == MODEL) | (pl.col("second") == MODEL)
    refused = pl.Series(chance.random(len(rows)) < share)
    shown = pl.when(pl.col("first") == MODEL)
    comparisons = rows.with_columns(refused=refused).filter(own).select(
        pl.lit(MODEL).alias("model"), "passage", anchor=shown.then("second").otherwise("first"),
        shown=shown.then(pl.lit("A")).otherwise(pl.lit("B")), asked=pl.lit(1),
        winner=pl.when(pl.col("winner") == MODEL).then(pl.lit("output"))
        .when(~pl.col("refused")).then(pl.lit("anchor")),
    )  # fmt: skip
    one = whole().with_columns(direction=pl.lit("x-y"), difficulty=pl.lit("easy"))
    found = bounded_scores(comparisons, rows.filter(~own), one, CONTRACT, sizes, Known((), seen))
    row = found.filter(slice="overall").row(0, named=True)
    return Published(Estimate(*(row[name] for name in NONE.columns("lt_corrected"))), 0, problem=row["problem"] or "")


def padding(exam: Examined) -> list[Estimate]:
    """The judge's length coefficient from the padded texts of its examination."""
    worth = {"trial": 1.0, "neither": 0.5, "sound": 0.0}
    chosen = [[worth[choice] for choice in choices] for choices in exam.outcomes.get("padding", ())]
    ratios = [math.log(RATIOS[number % len(RATIOS)]) for number in range(len(chosen))]
    return [penalized_slope(np.array(ratios), np.array(chosen))] if chosen else []


def width(estimate: Estimate) -> float:
    return float(estimate.high or 0) - float(estimate.low or 0)


@pytest.mark.proof
@pytest.mark.parametrize("name", JUDGES)
def test_intervals_hold_the_lt_of_a_judge_without_errors(name: str, full: bool) -> None:
    """Honest judges should publish in 95 % of the runs. Those that are right in 80 % do in 94.8 %."""
    judge, chance, runs = JUDGES[name], np.random.default_rng(len(name)), 500 if full else 6
    held, wider, calls, widths, why = [], [], [], [], Counter[str]()
    for run in range(runs):
        found, truth = judged(judge, (-2.0, 0.0, 1.5)[run % 3], chance)
        calls.append(found.calls)
        why[found.problem.split(" ")[0]] += found.lt.low is None
        if found.lt.low is not None:
            held.append(found.lt.low <= truth <= float(found.lt.high or 10))
            wider.append(found.wider)
            widths.append(width(found.lt))
    share = len(held) / runs
    coverage = float(np.mean(held)) if held else math.nan
    times = float(np.median(wider)) if wider else math.nan
    print(f"{name}: published {100 * share:.1f} %, coverage {100 * coverage:.1f} %, width "
          f"{np.median(widths or [0]):.2f}, {times:.2f} times; calls {np.mean(calls):.0f}, {dict(+why)}")  # fmt: skip
    if full and judge.shown and len(held) >= 25:  # fewer runs that publish tell nothing about their coverage
        assert coverage >= 0.92
    if full and judge.kept == judge.kept:
        assert share >= (0.95 if judge.kept > 0.6 else 0.91)


@examples(15)
@given(st.integers(0, 1000))
def test_without_errors_it_is_lt(seed: int) -> None:
    chance = np.random.default_rng(seed)
    won = judged_by_all(np.append(ANCHORS, 0.3), 0.5, chance, items=30)
    matches = matches_of_last(won, np.zeros((30, 5)))
    found = scaled(strengths(matches, 5, NONE, NO_ERRORS)[-1])
    assert found.value == pytest.approx(float(on_scale(fit(won.sum(axis=0)))[-1]), abs=0.05)
    rate = Estimate(0.7, 0.6, 0.8)
    assert spread(rate, NO_ERRORS.reliability) == pytest.approx(rate)


def test_a_judge_that_is_right_in_80_percent_halves_differences() -> None:
    even = NO_ERRORS._replace(steady=Estimate(0.6, 0.6, 0.6))
    assert spread(Estimate(0.8, 0.7, 0.9), even.reliability) == pytest.approx((1.0, 5 / 6, 1.0))
    assert spread(Estimate(0.5, 0.4, 0.6), even.reliability) == pytest.approx((0.5, 1 / 3, 2 / 3))


def test_one_order_and_coins_have_a_reason() -> None:
    chance = np.random.default_rng(1)
    won = judged_by_all(ANCHORS, 0.0, chance, items=ITEMS)
    rows = judgments(won)
    assert errors_of([agreement(rows[::2], whole())], SentinelCounts()) == (None, ONE_ORDER)
    coins = rows.with_columns(winner=pl.when(pl.lit(chance.random(len(rows)) < 0.5)).then("first").otherwise("second"))
    assert errors_of([agreement(coins, whole())], SentinelCounts(right=30)) == (None, COIN_LIKE)


@given(st.floats(0.3, 1.0), st.integers(0, 60), st.integers(0, 10))
def test_more_misled_sentinels_mean_more_errors(steady: float, right: int, misled: int) -> None:
    fewer, more = (misled_share(steady, SentinelCounts(right, number)) for number in (misled, misled + 1))
    assert float(fewer.value or 0) < float(more.value or 0)
    assert 0 <= float(fewer.low or 0) <= float(fewer.value or 0) <= float(fewer.high or 0) <= 0.5
