import json
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.adaptive import BATCH, Z, enough, half_width, interval, next_pairs, places
from benchmark_assets.pairwise.base_sets import Ranks, Within
from benchmark_assets.pairwise.bradley_terry import fit, on_scale
from benchmark_assets.pairwise.building import judge_pool
from benchmark_assets.pairwise.scores import anchor_matches, anchor_wins
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from tests.pairwise.simulated import ANCHORS, NAMES, judged, matches
from tests.record_sample import ANCHORS as RECORDED
from tests.record_sample import COMPARER, COMPARISONS, pool_work
from tests.support import examples

STRENGTHS = dict(zip(NAMES, ANCHORS.tolist(), strict=True))
PAIRS = ["passage", "anchor"]


@cache
def every() -> pl.DataFrame:
    return matches(judged(np.append(ANCHORS, 0.9), 0.5, np.random.default_rng(1)))


class Judging(NamedTuple):
    """What adaptive judging came to: pairs asked about, and its LT less that of all pairs."""

    asked: int
    error: float


def until_enough(
    pairs: pl.DataFrame, strengths: dict[str, float], mode: Within | Ranks, batch: int = 70
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The pairs that are asked about before the result is known as precisely as `mode` requires, and the others."""
    asked, left = pairs.clear(), pairs
    while not enough(asked, left, strengths, mode):
        chosen = next_pairs(asked, left, strengths, batch)
        asked = pl.concat([asked, left.join(chosen, on=PAIRS, how="semi")])
        left = left.join(chosen, on=PAIRS, how="anti")
    return asked, left


def adaptive(level: float, effect: float, seed: int, orders: str = "one") -> Judging:
    """Judge a candidate of known strength, whose anchors' strengths are known from their own matches only."""
    won = judged(np.append(ANCHORS, level), effect, np.random.default_rng(seed), orders=orders)
    strengths = dict(zip(NAMES, fit(won[:, :-1, :-1].sum(axis=0)).tolist(), strict=True))
    asked, left = until_enough(matches(won), strengths, Within(within=0.1))
    unasked = [NAMES.index(anchor) for anchor in left["anchor"]]
    some = won.copy()
    items = [int(passage[2:]) for passage in left["passage"]]
    some[items, -1, unasked] = some[items, unasked, -1] = 0
    return Judging(len(asked), _lt(some) - _lt(won))


def _lt(won: Floats) -> float:
    return float(on_scale(fit(won.sum(axis=0)))[-1])


def test_at_first_the_anchors_in_the_middle_are_asked_about_once_an_item() -> None:
    first = next_pairs(every().clear(), every(), STRENGTHS, 70)
    assert set(first["anchor"]) == {NAMES[9]}
    assert first["passage"].n_unique() == 70
    assert first.columns == every().columns


def test_later_the_anchors_that_are_as_good_as_the_candidate() -> None:
    asked = every().filter(pl.col("anchor").is_in([NAMES[9], NAMES[12]])).with_columns(won=pl.lit(1.0))
    asked = pl.concat([asked, every().filter(anchor=NAMES[2]).with_columns(won=pl.lit(0.5))])
    left = every().join(asked, on=PAIRS, how="anti")
    assert set(next_pairs(asked, left, STRENGTHS, 140)["anchor"]) == {NAMES[1], NAMES[3]}


@given(st.integers(1, 60), st.integers(0, 6))
@examples(30)
def test_items_and_slices_are_asked_about_equally_often(batch: int, batches: int) -> None:
    asked, left = every().clear(), every()
    for _ in range(batches):
        pairs = next_pairs(asked, left, STRENGTHS, batch)
        assert len(pairs) == batch
        asked = pl.concat([asked, left.join(pairs, on=PAIRS, how="semi")])
        left = left.join(pairs, on=PAIRS, how="anti")
    often = every().select("passage", "slice").unique().join(asked.group_by("passage").len(), on="passage", how="left")
    often = often.with_columns(pl.col("len").fill_null(0).cast(pl.Int64))
    assert often["len"].max() - often["len"].min() <= 1  # type: ignore[operator]
    shares = often.group_by("slice").agg(pl.col("len").mean())["len"]
    assert shares.max() - shares.min() <= 0.2  # type: ignore[operator]


@given(st.integers(0, 1400), st.integers(1, 2000), st.integers(0, 99))
@examples(30)
def test_what_comes_next_is_left_and_does_not_depend_on_the_order_of_rows(known: int, batch: int, seed: int) -> None:
    mixed = every().sample(fraction=1, shuffle=True, seed=seed)
    asked, left = mixed.head(known), mixed.tail(-known) if known else mixed
    pairs = next_pairs(asked, left, STRENGTHS, batch)
    assert len(pairs) == min(batch, len(left))
    assert pairs.join(left, on=PAIRS, how="anti").is_empty()
    assert not pairs.select(PAIRS).is_duplicated().any()
    again = next_pairs(asked.sort(PAIRS), left.sort(PAIRS), STRENGTHS, batch)
    assert_frame_equal(again, pairs)


def test_an_undefeated_candidate_is_asked_about_to_the_end() -> None:
    won = every().with_columns(won=pl.lit(1.0))
    assert half_width(won.head(1399), won.tail(1), STRENGTHS) == math.inf
    assert not enough(won.head(1399), won.tail(1), STRENGTHS, Within(within=5))
    assert enough(won, won.clear(), STRENGTHS, Within(within=0.1))


def test_a_candidate_is_asked_about_until_its_place_among_the_anchors_is_known() -> None:
    """Its true strength, 0.9, lies between the eighth anchor (0.8731) and the seventh (1.0575), and far from the
    second: two places soon say that, one takes all pairs."""
    mixed = every().sample(fraction=1, shuffle=True, seed=1)
    found = [places(mixed.head(count), mixed.tail(1400 - count), STRENGTHS) for count in (100, 400, 1000, 1399, 1400)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == 1
    assert all(width == int(width) and 1 <= width <= 21 for width in found)
    asked, left = mixed.head(400), mixed.tail(1000)
    low, middle, high = interval(asked, left, STRENGTHS)
    assert found[1] == 1 + sum(low <= strength <= high for strength in ANCHORS)
    assert low < middle < high
    assert enough(asked, left, STRENGTHS, Ranks(ranks=int(found[1])))
    assert not enough(asked, left, STRENGTHS, Ranks(ranks=int(found[1]) - 1))
    undefeated = every().with_columns(won=pl.lit(1.0))
    assert not enough(undefeated.head(1399), undefeated.tail(1), STRENGTHS, Ranks(ranks=21))


@pytest.mark.parametrize("level", [-5, 0, 3.5])
def test_where_it_stops_the_place_is_that_of_all_pairs(level: float) -> None:
    for seed in range(3):
        won = judged(np.append(ANCHORS, level), 0.5, np.random.default_rng(seed))
        strengths = dict(zip(NAMES, fit(won[:, :-1, :-1].sum(axis=0)).tolist(), strict=True))
        every = matches(won)
        asked, left = until_enough(every, strengths, Ranks(ranks=2))
        all_pairs = interval(every, every.clear(), strengths)[1]
        low, _, high = interval(asked, left, strengths)
        between = sum(min(low, all_pairs) <= strength <= max(high, all_pairs) for strength in strengths.values())
        assert between <= 1 or left.is_empty()


def test_pairs_that_the_judge_refused_count_as_asked_and_say_nothing() -> None:
    asked, left = every().head(700), every().tail(700)
    refused = every().tail(700).head(20).with_columns(won=pl.lit(None, pl.Float64))
    more = pl.concat([asked, refused])
    rest = left.join(refused, on=PAIRS, how="anti")
    assert half_width(more, rest, STRENGTHS) == pytest.approx(half_width(asked, rest, STRENGTHS))
    assert next_pairs(more, rest, STRENGTHS, 2000).join(refused, on=PAIRS, how="semi").is_empty()


def test_half_of_the_items_and_anchors_as_strong_as_the_candidate() -> None:
    """By hand: φ = 4 · 0.25 / 1 = 1, τ² = ((1² + 1²) - 1) / (0.5² + 0.5²) = 2, variance 1 · 1/2 + 2 · (1/2 - 1/4)."""
    strengths = {"a": 0.0, "b": 0.0}
    judged = pl.DataFrame({"passage": list("1122"), "anchor": list("abab"), "won": [1.0, 1.0, 0.0, 0.0]})
    left = pl.DataFrame({"passage": list("3344"), "anchor": list("abab")})
    assert interval(judged, left, strengths) == pytest.approx((-Z, 0, Z))


@pytest.mark.proof
@pytest.mark.parametrize("orders", ["one", "both"])
@pytest.mark.parametrize("effect", [0.0, 0.5, 1.0])
def test_lt_is_within_a_tenth_of_that_of_all_calls_in_95_percent(effect: float, orders: str, full: bool) -> None:
    trials = 120 if full else 1
    for level in (-5, -2, 0, 2, 5):
        found = [adaptive(level, effect, seed, orders) for seed in range(trials)]
        calls = np.array([each.asked for each in found])
        held = np.mean([abs(each.error) <= 0.1 for each in found])
        print(
            f"\n{orders}, item effects {effect}, strength {level}: {calls.mean():.0f} of 1,400 pairs "
            f"({np.quantile(calls, 0.05):.0f} to {np.quantile(calls, 0.95):.0f}); within 0.1 in {held:.1%}"
        )
        assert held >= 0.95


@pytest.mark.proof
@pytest.mark.parametrize(("mode", "saved"), [(Within(within=0.1), 0), (Ranks(ranks=1), 16), (Ranks(ranks=2), 48)])
def test_what_it_saves_of_the_recorded_comparisons(
    tmp_path: Path, ledger: SqliteLedger, mode: Within | Ranks, saved: int
) -> None:
    """The sample's comparer on the three systems that are no anchors, five anchors and 16 items: 240 pairs."""
    registry = tmp_path / "models.yaml"
    content = {
        "endpoints": {"sample": {"recording": str(COMPARISONS)}},
        "judges": {COMPARER: {"endpoint": "sample", "id": COMPARER, "family": "recorded-judge"}},
        "families": dict.fromkeys(["erring", "free", "literal", "truncating", "verbose"], "recorded-system"),
        "embedders": {"minilm": {}}, "embedder": "minilm",
    }  # fmt: skip
    registry.write_text(json.dumps(content), encoding="utf-8")
    provider = Provider(registry_path=str(registry), ledger_path=str(ledger.path))
    items, outputs = pool_work()
    judgments = judge_pool(provider, COMPARER, items, outputs, "replay")
    frozen = judgments.filter(pl.col("first").is_in(RECORDED) & pl.col("second").is_in(RECORDED))
    names = sorted(RECORDED)
    strengths = dict(zip(names, fit(anchor_wins(frozen, names)).tolist(), strict=True))
    asked_of, every = 0, 0
    for candidate in ("erring", "free", "literal"):
        met = anchor_matches(
            judgments.filter(
                (pl.col("first").is_in(names) & (pl.col("second") == candidate))
                | (pl.col("second").is_in(names) & (pl.col("first") == candidate))
            )
        )
        own = pl.col("system") == candidate
        pairs = met.join(items.select("passage", "direction", "difficulty"), on="passage").select(
            "passage", anchor=pl.when(own).then("other").otherwise("system"),
            slice=pl.format("{} {}", "direction", "difficulty"),
            won=pl.when(own).then("won").otherwise(1 - pl.col("won")),
        )  # fmt: skip
        asked, _ = until_enough(pairs, strengths, mode, BATCH)
        at, truth = (interval(rows, rows.clear(), strengths)[1] for rows in (asked, pairs))
        assert [strength < at for strength in strengths.values()] == [
            strength < truth for strength in strengths.values()
        ]
        asked_of, every = asked_of + len(asked), every + len(pairs)
    assert every - asked_of == saved
