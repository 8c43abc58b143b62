"""Rates without the errors of judges: of simulated panels whose judges err about the same texts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.examination.errors import of_majority, with_corrected
from benchmark_assets.metrics.intervals import Floats, rate_interval
from benchmark_assets.metrics.measures import NONE, Estimate
from benchmark_assets.metrics.misclassification import ErrorShares, without_errors
from tests.support import slack

JUDGES = ["a", "b", "c"]


def votes(wrong: float, shared: float, number: int, chance: np.random.Generator) -> Floats:
    """Whether each of three judges errs about each text, shape (texts, 3); a share of the errors is common to all."""
    common = chance.random((number, 1)) < wrong * shared
    own = chance.random((number, 3)) < wrong * (1 - shared) / (1 - wrong * shared)
    return (common | own).astype(np.float64)


def sentinels(missed: float, false: float, shared: float, number: int, chance: np.random.Generator) -> pl.DataFrame:
    """Rows of `sentinel`: one damaged and one sound text of each passage."""
    damaged, sound = votes(missed, shared, number, chance), 1 - votes(false, shared, number, chance)
    rows = [
        (judge, "accuracy", "omission", f"p{passage}", shown, float(worths[passage, place]))
        for place, judge in enumerate(JUDGES) for passage in range(number)
        for shown, worths in (("trial", damaged), ("sound", sound))
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=["judge", "trait", "kind", "passage", "shown", "worth"], orient="row")


@pytest.mark.proof
@pytest.mark.parametrize(
    ("missed", "false", "shared"), [(0.05, 0.05, 0.0), (0.2, 0.1, 0.0), (0.2, 0.1, 0.5), (0.1, 0.2, 1)]
)
@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_intervals_hold_the_rate_that_a_panel_without_errors_would_find(
    missed: float, false: float, shared: float, rate: float, full: bool
) -> None:
    chance, runs = np.random.default_rng(1), 1000 if full else 40
    held, found, raw = [], [], []
    for _ in range(runs):
        errors = of_majority(sentinels(missed, false, shared, 14, chance), JUDGES, 3, 1.0)
        faulty = chance.random(200) < rate
        wrong = np.where(faulty, *(votes(each, shared, 200, chance).sum(axis=1) > 1 for each in (missed, false)))
        seen = faulty ^ wrong.astype(np.bool_)
        panel = Estimate(float(seen.mean()), *rate_interval(seen, np.arange(200)))
        raw.append(float(panel.low or 0) <= rate <= float(panel.high or 0))
        one = without_errors(panel, errors) if errors else NONE
        if one.low is not None:
            held.append(one.low <= rate <= float(one.high or 0))
            found.append(float(one.value or 0))
    print(f"missed {missed:.0%}, false {false:.0%}, shared {shared:.0%}, rate {rate:.0%}: "
          f"published {len(held) / runs:.1%}, coverage {np.mean(held):.1%} ({np.mean(raw):.1%} uncorrected), "
          f"mean {np.mean(found):.1%}")  # fmt: skip
    assert np.mean(held) >= 0.92 - slack(full, len(held))


def test_a_panel_that_finds_nothing_has_no_corrected_rate() -> None:
    chance = np.random.default_rng(1)
    errors = of_majority(sentinels(0.9, 0.1, 0.0, 14, chance), JUDGES, 3, 1.0)
    assert errors is not None
    assert without_errors(Estimate(0.3, 0.2, 0.4), errors) == NONE
    assert of_majority(sentinels(0.1, 0.1, 0.0, 14, chance).filter(pl.col("judge") != "c"), JUDGES, 3, 1.0) is None


@given(st.floats(0.05, 0.9))
def test_a_panel_without_errors_is_not_corrected(rate: float) -> None:
    one, none = Estimate(1.0, 1.0, 1.0), Estimate(0.0, 0.0, 0.0)
    given_rate = Estimate(rate, rate - 0.04, rate + 0.05)
    assert without_errors(given_rate, ErrorShares(one, none)) == pytest.approx(given_rate)


@given(st.floats(0.05, 0.9), st.floats(0.5, 0.9), st.floats(0.05, 0.2))
def test_the_share_without_an_error_is_the_rest(rate: float, found: float, false: float) -> None:
    errors = ErrorShares(Estimate(found, found - 0.05, found + 0.02), Estimate(false, false - 0.03, false + 0.04))
    frame = pl.DataFrame({"any": [rate], "any_low": [rate - 0.03], "any_high": [rate + 0.05], "signature": ["s"]})
    rest = frame.select(any=1 - pl.col("any"), any_low=1 - pl.col("any_high"), any_high=1 - pl.col("any_low"))
    names = ["any_corrected", "any_corrected_low", "any_corrected_high"]
    (one,) = with_corrected(frame, "any", "any_corrected", [errors]).select(names).rows()
    (other,) = with_corrected(
        rest.with_columns(signature=pl.lit("s")), "any", "any_corrected", [errors.of_sound()]
    ).select(names).rows()  # fmt: skip
    assert one == pytest.approx((1 - other[0], 1 - other[2], 1 - other[1]))
