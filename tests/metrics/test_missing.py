"""Scores whose verdicts are partly missing: bounds, intervals, and a judge that refuses what a weak model loses."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.error_spans.summary import BEST, WORST, rates, summarize
from benchmark_assets.metrics.missing import TOLERATED, of_verdicts
from benchmark_assets.pairwise import rubric
from benchmark_assets.pairwise.bradley_terry import fit, on_scale
from benchmark_assets.pairwise.scores import OF_JUDGE, candidate_scores
from tests.error_spans.test_summary import tables
from tests.pairwise.simulated import ANCHORS, expected, items, judged
from tests.pairwise.test_rubric import votes_of
from tests.pairwise.test_scores import comparisons, judgments
from tests.support import slack

SYSTEMS = np.append(ANCHORS[::4], -0.9)
TRUE = float(on_scale(fit(expected(SYSTEMS, 0.5)))[-1])
"""LT of the weak model, over all items there could be."""


def marks(values: Sequence[int | None]) -> pl.DataFrame:
    votes = votes_of([*values], perfect=[value == 5 for value in values])
    return of_verdicts("rubric_summary", votes, rubric.WORST, rubric.PERFECT, rubric.summarize)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.data())
def test_bounds_hold_the_score_whatever_the_missing_verdicts_were(values: list[int], data: st.DataObject) -> None:
    hidden = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    row = marks([None if gone else value for value, gone in zip(values, hidden, strict=True)]).row(0, named=True)
    whole, share = marks(values).row(0, named=True), sum(hidden) / len(values)
    assert row["missing_share"] == pytest.approx(share)
    assert (whole["mean_least"], whole["problem"]) == (None, None)
    if 0 < share < 1:
        for name, width in (("mean", 4), ("useful", 1), ("perfect", 1), ("flagged", 1)):
            least, most = row[f"{name}_least"], row[f"{name}_most"]
            assert least - 1e-9 <= whole[name] <= most + 1e-9
            assert most - least == pytest.approx(share * width)
            assert (row[name] is None) is (most - least > width / 2)
            if row[name] is not None and row[f"{name}_low"] is not None:
                assert row[f"{name}_low"] <= least + 1e-9
                assert row[f"{name}_high"] >= most - 1e-9
    assert (row["problem"] is None) is (share <= TOLERATED)


def test_problems_name_the_share_and_what_it_leaves_open() -> None:
    assert marks([4] * 19 + [None])["problem"].to_list() == [None]
    assert marks([4] * 9 + [None])["problem"].to_list() == ["10.0 % of the verdicts are missing"]
    (words,) = marks([4] * 4 + [None] * 6)["problem"]
    assert (
        words == "60.0 % of the verdicts are missing; they leave open: mean, mark 3 or higher, mark 5, called perfect"
    )


def test_errors_in_outputs_without_a_verdict_have_no_bound() -> None:
    for missing, known in ((1, True), (2, False)):
        votes, spans = tables([[("style", "major")]] * (20 - missing) + [None] * missing)
        scores = of_verdicts("span_summary", votes, WORST, BEST, lambda given: summarize(given, "s")).row(0, named=True)
        assert (scores["mqm"], scores["mqm_most"]) == (-5, pytest.approx(-5 + missing / 4))
        assert scores["mqm_least"] == pytest.approx(-5 - missing)
        of = of_verdicts("span_rate", votes, WORST, BEST, partial(rates, spans=spans, signature="s"))
        assert of["rate"].to_list() == [1.0 if known else None]
        assert of["problem"].is_null().item() is known


def refusing(share: float, run: int) -> dict[str, object]:
    """The score of the weak model by a judge that refuses this share of the verdicts that the model loses."""
    rng = np.random.default_rng(run)
    won = judged(SYSTEMS, 0.5, rng, items=40)
    given, frozen, base = comparisons(won), judgments(won[:, :-1, :-1]), items(40)
    refused = pl.Series(rng.random(len(given)) < share) & (given["winner"] == "anchor")
    given = given.with_columns(winner=pl.when(~refused).then("winner"))
    base = base.with_columns(direction=pl.lit("ja-en"), difficulty=pl.lit("easy"))

    def rows_of(shown: pl.DataFrame) -> pl.DataFrame:
        return candidate_scores(shown, frozen, base, "")

    ends = {"winner": "anchor"}, {"winner": "output"}
    rows = of_verdicts("pairwise_score", given, *ends, rows_of, OF_JUDGE)
    return rows.row(by_predicate=pl.col("slice") == "overall", named=True)


@pytest.mark.proof
def test_a_judge_that_refuses_losses_of_a_weak_model_does_not_lift_it(full: bool) -> None:
    runs = 300 if full else 4
    for share in (0.0, 0.05, 0.3, 0.6, 0.9):
        rows = pl.DataFrame([refusing(share, run) for run in range(runs)])
        shown = rows.drop_nulls("lt")
        held = shown.filter(pl.col("lt_low") <= TRUE, pl.col("lt_high") >= TRUE)
        ends = shown.select("lt", "lt_low", "lt_high", "lt_least", "lt_most").mean().row(0)
        missing, published = rows.select(pl.col("missing_share").mean()).item(), len(shown) / runs
        print(
            f"{share:.0%} refused: {missing:.1%} missing, {published:.1%} published, {len(held)} of {len(shown)} cover"
        )
        print(f"{TRUE:.2f}; mean LT, interval, bounds: {ends}")
        assert (rows["problem"].is_null() == (rows["missing_share"] <= TOLERATED)).all()
        assert len(held) >= (0.92 - slack(full, runs)) * len(shown)
