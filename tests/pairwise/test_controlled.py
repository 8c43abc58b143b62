"""LT at equal length: what it equals without an effect of length, and by how much a fond judge moves it."""

from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.logistic import penalized_slope
from benchmark_assets.metrics.measures import NONE, Estimate
from benchmark_assets.pairwise.adjusted import Known, with_adjustments, with_anchor_adjustments
from benchmark_assets.pairwise.bradley_terry import fit, fit_fixed, on_scale
from benchmark_assets.pairwise.controlled import (
    TEXTLESS,
    JudgeEffects,
    Matches,
    at_equal_length,
    judge_effects,
    matches_of,
    pooled,
)
from benchmark_assets.pairwise.scores import (
    ADJUSTED,
    ANCHORS_ADJUSTED,
    anchor_scores,
    candidate_scores,
    scaled,
)
from tests.pairwise.simulated import ANCHORS, NAMES, items, judged, sigma
from tests.pairwise.test_scores import CONTRACT, TAILS, comparisons, judgments, level_of
from tests.support import examples, slack

FOUR = np.array([1.5, 0.5, -0.5, -1.5])
SENTINELS = np.log(np.tile([1.5, 3.0], 9))
WITHIN, BETWEEN = 0.12, 0.03
"""Standard deviations of log lengths of PaliBench's seven models: within a model over passages, and of their means."""


def lengths(won: Floats, logs: Floats, model: str = "m") -> pl.DataFrame:
    """Lengths of about 10,000 characters times exp(logs), shape (items, systems); the last system is the model."""
    systems = [*NAMES[: won.shape[1] - 1], model]
    passages = items(len(won))["passage"]
    rows = [(system, passage, round(10_000 * float(np.exp(logs[at, place]))))
            for at, passage in enumerate(passages) for place, system in enumerate(systems)]  # fmt: skip
    return pl.DataFrame(rows, schema=["system", "passage", "length"], orient="row")


def scored(won: Floats, logs: Floats, *padding: Estimate) -> pl.DataFrame:
    """Scores of the last system, with LT at equal length."""
    frozen, own, whole = judgments(won[:, :-1, :-1]), comparisons(won), items(len(won))
    raw = candidate_scores(own, frozen, whole, CONTRACT)
    return with_adjustments(raw, own, frozen, whole, lengths(won, logs), Known(padding))


@examples(15)
@given(st.floats(0, 20), st.integers(0, 1000))
def test_without_an_effect_of_length_it_is_lt(ties: float, seed: int) -> None:
    chance = np.random.default_rng(seed)
    won = judged(np.append(FOUR, 0.3), 0.5, chance, items=12)
    frozen, own = judgments(won[:, :-1, :-1]), comparisons(won)
    lt = candidate_scores(own, frozen, items(12), CONTRACT).filter(slice="overall")["lt"].item()
    matches = matches_of_last(won, chance.normal(size=(12, 5)))
    effects = JudgeEffects(Estimate(0.0, 0.0, 0.0), NONE, Estimate(ties, None, None))
    found = scaled(at_equal_length(matches, 5, effects)[-1])
    assert found.value == pytest.approx(lt, abs=1e-6)


def scored_anchors(won: Floats, logs: Floats, *padding: Estimate) -> pl.DataFrame:
    """Scores of all systems as anchors, with LT at equal length."""
    frozen, whole = judgments(won), items(len(won))
    sizes = lengths(won, logs, NAMES[won.shape[1] - 1])
    return with_anchor_adjustments(anchor_scores(frozen, whole, [], CONTRACT), frozen, whole, sizes, Known(padding))


def test_an_anchor_that_is_three_times_as_long_gains_lt_but_not_at_equal_length() -> None:
    """A judge with β 1.2, whose coefficient is known from padded texts."""
    gains = []
    for ratio in (1.0, 3.0):
        chance = np.random.default_rng(5)
        logs = WITHIN * chance.normal(size=(300, 5))
        logs[:, 2] += np.log(ratio)
        won = draws(np.append(FOUR, 0.0), logs, 1.2, 0.0, chance)
        found = scored_anchors(won, logs, Estimate(1.2, 1.0, 1.4)).filter(slice="overall", anchor=NAMES[2])
        gains.append(found.row(0, named=True))
    plain, longer = gains
    assert longer["lt"] - plain["lt"] > 1.5
    assert longer["lt_controlled"] - plain["lt_controlled"] == pytest.approx(0, abs=0.4)
    assert longer["lt_controlled_low"] < plain["lt_controlled"] < longer["lt_controlled_high"]
    widths = [row["lt_controlled_high"] - row["lt_controlled_low"] for row in gains]
    assert widths[1] > widths[0]  # the uncertainty of the coefficient counts where lengths differ


def test_a_model_as_good_as_an_anchor_has_its_lt_at_equal_length() -> None:
    """Its LT differs, because the mean of four anchors and the model includes the model."""
    chance = np.random.default_rng(8)
    logs = WITHIN * chance.normal(size=(400, 5))
    logs[:, -1] += np.log(2)
    won = draws(np.append(FOUR, FOUR[0]), logs, 1.2, 0.0, chance)
    padding = Estimate(1.2, 1.1, 1.3)
    model = scored(won, logs, padding).filter(slice="overall").row(0, named=True)
    anchors = scored_anchors(won[:, :-1, :-1], logs[:, :-1], padding)
    anchor = anchors.filter(slice="overall", anchor=NAMES[0]).row(0, named=True)
    assert model["lt_fixed"] - anchor["lt"] > 0.7
    assert model["lt_fixed_controlled"] == pytest.approx(anchor["lt_controlled"], abs=0.3)
    assert anchor["lt_controlled"] - model["lt_controlled"] > 0.3
    assert model["lt_fixed_controlled_low"] < anchor["lt_controlled"] < model["lt_fixed_controlled_high"]


def test_anchors_without_texts_have_a_reason() -> None:
    won = judged(FOUR, 0.5, np.random.default_rng(3), items=12)
    raw = anchor_scores(judgments(won), items(12), [], CONTRACT)
    nothing = lengths(won, np.zeros((12, 4))).clear()
    found = with_anchor_adjustments(raw, judgments(won), items(12), nothing)
    assert set(found["length_problem"]) == {TEXTLESS}
    assert found["lt_controlled"].null_count() == len(found)
    assert found.drop(*ANCHORS_ADJUSTED, "signature").equals(raw.drop("signature"))


def matches_of_last(won: Floats, logs: Floats) -> Matches:
    """Matches of all systems, of shares won of shape (items, n, n)."""
    size = won.shape[1]
    system, other = np.triu_indices(size, 1)
    item = np.repeat(np.arange(len(won)), len(system))
    system, other = np.tile(system, len(won)), np.tile(other, len(won))
    covariates = np.stack([logs[item, system] - logs[item, other], np.zeros(len(item))], axis=1)
    return Matches(
        item.astype(object),
        item,
        system,
        other,
        won[item, system, other],
        np.full(len(item), 2.0),
        covariates,
        np.zeros(len(item), dtype=np.bool_),
    )


def test_two_independent_verdicts_of_a_judge_with_a_bias_are_davidsons_model() -> None:
    """Its tie parameter is then 2 cosh γ, and its coefficient that of a verdict."""
    chance = np.random.default_rng(1)
    logs, bias = 0.5 * chance.normal(size=(4000, 4)), np.log(1.5)
    effects = judge_effects(matches_of_last(draws(FOUR, logs, 1.2, bias, chance), logs), NAMES[:4], [])[0]
    assert effects.length.value == pytest.approx(1.2, abs=0.1)
    assert effects.ties.value == pytest.approx(2 * np.cosh(bias), abs=0.1)
    assert effects.position == NONE
    for low, high in ((effects.length.low, effects.length.high), (effects.ties.low, effects.ties.high)):
        assert low is not None
        assert high is not None
        assert 0 < high - low < 0.5


def draws(
    systems: Floats, logs: Floats, fondness: float, bias: float, chance: np.random.Generator, effect: float = 0.0
) -> Floats:
    """Shares of matches won in both orders, shape (items, n, n), by a judge who is fond of length and of the text A."""
    own = systems + fondness * logs
    if effect:
        own = own + effect / np.sqrt(TAILS) * chance.standard_t(TAILS, size=logs.shape)
    differences = own[:, :, None] - own[:, None, :]
    drawn = chance.random((2, *differences.shape))
    won = ((drawn[0] < sigma(differences + bias)).astype(float) + (drawn[1] < sigma(differences - bias))) / 2
    upper = np.triu(np.ones(won.shape[1:]), 1)
    found: Floats = won * upper + ((1 - won) * upper).swapaxes(1, 2)
    return found


def test_an_anchor_that_omits_something_says_nothing_about_length() -> None:
    """Every fifth text of the first system has half of the length, and always loses."""
    chance = np.random.default_rng(3)
    logs, cut = WITHIN * chance.normal(size=(200, 4)), np.arange(200) % 5 == 0
    won = draws(FOUR, logs, 0.0, 0.0, chance)
    won[cut, 0, 1:], won[cut, 1:, 0] = 0, 1
    logs[cut, 0] -= np.log(2)
    effects, _ = judge_effects(matches_of_last(won, logs), NAMES[:4], [])
    assert effects.length.value == pytest.approx(0, abs=0.6)
    assert effects.length.low is not None
    assert effects.length.high is not None
    assert effects.length.low < 0 < effects.length.high


def test_verdicts_of_each_order_are_matches_with_lengths_and_sides() -> None:
    rows = [("x/000", "b", "a", "b"), ("x/000", "a", "b", "a"), ("x/001", "b", "a", "a"), ("x/001", "a", "c", None),
            ("x/002", "a", "c", "c")]  # fmt: skip
    verdicts = pl.DataFrame(rows, schema=["passage", "first", "second", "winner"], orient="row")
    sizes = [("a", "x/000", 10), ("b", "x/000", 20), ("a", "x/001", 30), ("b", "x/001", 10), ("a", "x/002", 9),
             ("c", "x/002", 0)]  # fmt: skip
    frame = pl.DataFrame(sizes, schema=["system", "passage", "length"], orient="row")
    found = matches_of(verdicts, ["a", "b", "c"], frame, items(3))
    assert list(found.passages) == ["x/000", "x/001", "x/002"]
    assert_allclose(np.stack([found.system, found.other]), [[0, 0, 0], [1, 1, 2]])
    assert_allclose(np.stack([found.won, found.orders]), [[0.5, 1.0, 0.0], [2.0, 1.0, 1.0]])
    assert_allclose(found.covariates, [[-np.log(2), 0], [np.log(3), -1], [0, 0]])


def test_estimates_are_weighted_by_precision_and_wider_where_they_contradict_each_other() -> None:
    sharp, blunt = Estimate(1.0, 0.9, 1.1), Estimate(1.1, 0.8, 1.4)
    found = pooled([sharp, NONE, blunt])
    assert found.value == pytest.approx(1.01)
    assert found[1:] == pytest.approx((1.01 - 0.0949, 1.01 + 0.0949), abs=1e-3)
    assert pooled([sharp]) == pytest.approx(sharp)
    apart = pooled([sharp, Estimate(-1.0, -1.3, -0.7)])
    assert apart.low is not None
    assert apart.high is not None
    assert apart.high - apart.low > 1
    assert pooled([]) == NONE


def test_where_each_pair_has_one_order_position_has_a_coefficient() -> None:
    chance = np.random.default_rng(2)
    won = judged(np.append(FOUR, 0.3), 0, chance, items=60)
    logs = WITHIN * chance.normal(size=(60, 5))
    frozen, own = judgments(won[:, :-1, :-1]), comparisons(won)
    pair = pl.min_horizontal("first", "second") + pl.max_horizontal("first", "second")
    frozen = frozen.sample(fraction=1, shuffle=True, seed=1).with_columns(pair=pair).unique(["passage", "pair"])
    frozen = frozen.drop("pair").sort("passage", "first", "second")
    lazy = pl.Series(chance.random(len(frozen)) < 0.5)  # answers A without reading
    frozen = frozen.with_columns(winner=pl.when(lazy).then("first").otherwise("winner"))
    raw = candidate_scores(own, frozen, items(60), CONTRACT)
    row = with_adjustments(raw, own, frozen, items(60), lengths(won, logs)).filter(slice="overall").row(0, named=True)
    assert row["position_coefficient_low"] > 0.5
    assert row["tie_parameter"] is None
    assert row["lt_controlled_low"] < row["lt_controlled"] < row["lt_controlled_high"]


@pytest.mark.parametrize(
    "change", [pl.lit(0), pl.lit(50), pl.col("passage").str.slice(2).cast(pl.Int64) + 10]
)  # fmt: skip
def test_without_texts_that_differ_in_length_there_is_a_reason(change: pl.Expr) -> None:
    won = judged(np.append(FOUR, 0.3), 0.5, np.random.default_rng(3), items=12)
    frozen, own = judgments(won[:, :-1, :-1]), comparisons(won)
    raw = candidate_scores(own, frozen, items(12), CONTRACT)
    sizes = lengths(won, np.zeros((12, 5))).with_columns(length=change)
    found = with_adjustments(raw, own, frozen, items(12), sizes)
    assert set(found["length_problem"]) == {TEXTLESS}
    assert found["lt_controlled"].null_count() == len(found)
    assert found.drop(*ADJUSTED, "signature").equals(raw.drop("signature"))


def test_a_judge_who_always_answers_a_has_no_length_coefficient_without_padded_texts() -> None:
    won = np.full((12, 5, 5), 0.5) * (1 - np.eye(5))
    logs = WITHIN * np.random.default_rng(1).normal(size=(12, 5))
    found = scored(won, logs)
    assert found["length_problem"].str.contains("is a tie").all()
    with_padding = scored(won, logs, Estimate(0.0, -1.0, 1.0))
    assert with_padding["lt_controlled"].null_count() == with_padding["length_problem"].count() == 0


def study(runs: int, count: int, lt: float, judges: Mapping[str, tuple[float, float]], effect: float = 0.5) -> None:
    """Print and check the shift of LT at equal length by judges (fondness, bias), with 18 padded texts."""
    anchors = ANCHORS[::2]
    systems = np.append(anchors, level_of(lt, anchors, effect))
    truth = float(10 * sigma(np.array(np.log(lt / (10 - lt)))))
    for name, (fondness, bias) in judges.items():
        found: dict[float, list[tuple[float | None, ...]]] = {ratio: [] for ratio in (1.0, 1.5, 3.0)}
        for seed in range(runs):
            effects = None
            for ratio, rows in found.items():  # the same draws for each ratio
                chance = np.random.default_rng([seed, count])
                logs = BETWEEN * chance.normal(size=len(systems)) + WITHIN * chance.normal(size=(count, len(systems)))
                logs[:, -1] += np.log(ratio)
                won = draws(systems, logs, fondness, bias, chance, effect)
                matches = matches_of_last(won, logs)
                if effects is None:
                    drawn = chance.random((len(SENTINELS), 2))
                    chosen = drawn < sigma(fondness * SENTINELS[:, None] + np.array([bias, -bias]))
                    padding = penalized_slope(SENTINELS, chosen.astype(np.float64))
                    frozen = matches.where(matches.other < len(anchors))
                    effects, problem = judge_effects(frozen, NAMES[: len(anchors)], [padding])
                    assert problem is None
                found_lt = scaled(at_equal_length(matches, len(systems), effects)[-1])
                rows.append((float(on_scale(fit(won.sum(axis=0)))[-1]), *found_lt))
        plain, start, *_ = np.array(found[1.0], dtype=np.float64).T
        for ratio, rows in found.items():
            raw_lt, controlled, low, high = np.array(rows, dtype=np.float64).T
            shift, held = controlled - start, (low <= truth) & (truth <= high)
            print(
                f"{count} items, LT {lt:g}, {name}, length × {ratio:g}: LT moves by {(raw_lt - plain).mean():+.2f}, at "
                f"equal length by {shift.mean():+.2f} [{np.quantile(shift, 0.025):+.2f}, "
                f"{np.quantile(shift, 0.975):+.2f}], off by {controlled.mean() - truth:+.2f}, held {held.mean():.1%}, "
                f"width {(high - low).mean():.2f}",
                flush=True,
            )  # fmt: skip
            error = 2.6 * shift.std() / np.sqrt(runs)
            assert abs(shift.mean()) <= (0.3 if fondness > 1 else 0.1) + error, (count, lt, name, ratio)
            assert 0.93 - slack(False, runs) / 2 <= held.mean(), (count, lt, name, ratio)


JUDGES = {"honest": (0.0, 0.0), "β 0.5": (0.5, 0.0), "β 1.2": (1.2, 0.0), "β 1.2, 60:40 for A": (1.2, np.log(1.5))}


@pytest.mark.proof
def test_length_moves_lt_at_equal_length_by_little_on_average(full: bool) -> None:
    """docs/decisions/pairwise.md has the figures."""
    print()
    for count in (40, 70) if full else (16,):
        for lt in (2, 5, 8) if full else (5,):
            study(200 if full else 6, count, lt, JUDGES if full else {"β 1.2": JUDGES["β 1.2"]})


@pytest.mark.proof
@pytest.mark.parametrize("fondness", [0.0, 1.2])
def test_an_anchors_length_moves_its_lt_at_equal_length_by_little_on_average(full: bool, fondness: float) -> None:
    """docs/decisions/pairwise.md has the figures, and the distance of the two scales of models beside anchors."""
    anchors, runs = ANCHORS[::2], 100 if full else 6
    size, middle, strengths = len(anchors), len(anchors) // 2, on_scale(anchors - anchors.mean())
    held, moves, shifts, distances = [], [], [], []
    for seed in range(runs):
        lts = []
        for ratio in (1.0, 3.0):  # the same draws for both
            chance = np.random.default_rng([seed, 7])
            logs = BETWEEN * chance.normal(size=size + 1) + WITHIN * chance.normal(size=(40, size + 1))
            logs[:, middle] += np.log(ratio)
            won = draws(np.append(anchors, 0.3), logs, fondness, 0.0, chance)
            chosen = chance.random((len(SENTINELS), 2)) < sigma(fondness * SENTINELS[:, None])
            matches = matches_of_last(won, logs)
            frozen = matches.where(matches.other < size)
            padding = penalized_slope(SENTINELS, chosen.astype(np.float64))
            effects, problem = judge_effects(frozen, NAMES[:size], [padding])
            assert problem is None
            found = np.array([scaled(each) for each in at_equal_length(frozen, size, effects)], dtype=np.float64)
            held.append((found[:, 1] <= strengths) & (strengths <= found[:, 2]))
            lts.append((on_scale(fit(won.sum(axis=0)[:size, :size]))[middle], found[middle, 0]))
        (plain, controlled), (longer, controlled_longer) = lts
        moves.append(longer - plain)
        shifts.append(controlled_longer - controlled)
        wins = won.sum(axis=0)
        fixed = fit_fixed(fit(wins[:size, :size]), wins[size, :size], wins[:size, size])
        distances.append(on_scale(fit(wins)[-1:] * (size + 1) / size)[0] - on_scale(fixed))
    low, high = np.quantile(shifts, [0.025, 0.975])
    print(
        f"\nβ {fondness:g}, length × 3: LT moves by {np.mean(moves):+.2f}, at equal length by {np.mean(shifts):+.2f} "
        f"[{low:+.2f}, {high:+.2f}], held {np.mean(held):.1%}, scales apart by {np.abs(distances).mean():.2f}, at most "
        f"{np.abs(distances).max():.2f}"
    )
    assert abs(np.mean(shifts)) <= 0.1 + 2.6 * np.std(shifts) / np.sqrt(runs)
    assert 0.93 - slack(False, runs) / 2 <= np.mean(held)
    assert np.abs(distances).max() < 0.2
