"""Literary scores at equal length: the score itself without an effect of length, and the coefficient of an ensemble."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.literary.controlled import (
    ONE_SIDED,
    UNKNOWN,
    controlled_score,
    corrected_score,
    ensemble_coefficient,
    ensemble_reliability,
    with_control,
)
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, verdicts
from benchmark_assets.literary.scores import scores
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.measures import NONE, Estimate
from tests.literary.test_scores import ENSEMBLE, chunks_of, votes, works
from tests.pairwise.simulated import sigma
from tests.support import slack

ONE_SEAT = Literary(human="morri", ensemble=(Seat(judge="exact", aspect="meaning"),))
RATIOS = np.tile([1.5, 3.0], 9)


def sentinels(ensemble: Literary, fondness: float, chance: np.random.Generator, pairs: int = 18) -> pl.DataFrame:
    """Rows of `sentinel` by seats with this fondness of length, in logits of a verdict."""
    rows = []
    for seat in ensemble.ensemble:
        for number, ratio in enumerate(np.resize(RATIOS, pairs)):
            for shown in "AB":
                choice = "trial" if chance.random() < sigma(fondness * np.log(ratio)) else "sound"
                rows.append((seat.judge, seat.aspect, "padding", f"{ratio}", f"x/{number}", shown, choice, ratio, None))
    names = ["judge", "aspect", "trait", "kind", "passage", "shown", "choice", "trial_length", "abstention"]
    return pl.DataFrame(rows, schema=names, orient="row", schema_overrides={"abstention": pl.String})


def chunks(points: Floats, ratios: Floats) -> pl.DataFrame:
    """Chunks of two works with these points and log length ratios."""
    half = len(points) // 2
    sides = pl.Series(["A", "B"] * len(points)).head(len(points))
    return chunks_of(points, [half, len(points) - half]).with_columns(log_ratio=pl.Series(ratios), shown=sides)


@settings(deadline=None)
@given(st.lists(st.sampled_from([0, 0.5, 1]), min_size=12, max_size=30), st.booleans())
def test_without_an_effect_of_length_it_is_the_score(points: list[float], by_position: bool) -> None:
    values = np.array(points, dtype=np.float64)
    ratios = np.linspace(-1, 1, len(points))
    found, position = controlled_score(chunks(values, ratios), Estimate(0.0, -0.5, 0.5), by_position)
    if min(points) == max(points):
        assert (found, position) == (NONE, None)
    elif not by_position:
        assert position is None
        assert found.value == pytest.approx(100 * values.mean())
    if found.low is not None:
        assert found.value is not None
        assert found.high is not None
        assert 0 <= found.low < found.value < found.high <= 100


def test_a_longer_output_of_equal_quality_is_at_parity_again() -> None:
    chance = np.random.default_rng(1)
    ratios = np.log(2) + 0.1 * chance.normal(size=2000)
    points = (chance.random(2000) < sigma(1.2 * ratios)).astype(float)
    (score, low, high), _ = controlled_score(chunks(points, ratios), Estimate(1.2, 0.4, 2.0), False)
    assert points.mean() > 0.6
    assert score == pytest.approx(50, abs=4)
    sharp, _ = controlled_score(chunks(points, ratios), Estimate(1.2, 1.2, 1.2), False)
    assert low is not None
    assert high is not None
    assert sharp.low is not None
    assert low < sharp.low < 50 < high


def test_the_coefficient_is_that_of_points() -> None:
    """Two orders that must agree have twice the log-odds of one."""
    chance = np.random.default_rng(2)
    both = ensemble_coefficient(sentinels(ONE_SEAT, 0.6, chance, 600), ONE_SEAT, "")
    one = ensemble_coefficient(
        sentinels(ONE_SEAT, 0.6, chance, 600), ONE_SEAT.model_copy(update={"orders": "one"}), "meaning"
    )
    assert both.value == pytest.approx(1.2, abs=0.3)
    assert one.value == pytest.approx(0.6, abs=0.15)


def test_scores_have_a_coefficient_or_the_reason_why_not() -> None:
    given = votes(
        ("ours", "novels/a:1", "machine", "human"), ("ours", "novels/a:2", "human", "human"),
        ("ours", "novels/b:1", "unsure", "human"),
    )  # fmt: skip
    swayed = (pl.col("passage") == "novels/a:1") & (pl.col("judge") == "stylist") & (pl.col("shown") == "A")
    given = given.with_columns(better=pl.when(swayed).then(pl.lit("machine")).otherwise("better"))
    inputs = verdicts(given, ENSEMBLE), given, works(*given["passage"].unique()), ENSEMBLE
    ratios = given.select("model", "passage", log_ratio=0.3).unique()
    raw = scores(*inputs, "")
    counts = ["aspect", "seat_contradictions", "seat_ties"]
    assert raw.select(counts).rows() == [("", 1, 1), ("meaning", 0, 1), ("prose", 1, 0)]
    unexamined = with_control(raw, *inputs, ratios, sentinels(ONE_SEAT, 0, np.random.default_rng(1)))
    assert unexamined["length_problem"].to_list() == [UNKNOWN, None, UNKNOWN]
    examined = with_control(raw, *inputs, ratios, sentinels(ENSEMBLE, 1.2, np.random.default_rng(1)))
    assert examined["length_problem"].to_list() == [None, None, ONE_SIDED]
    assert examined["length_coefficient"].null_count() == 0
    assert (examined["score_controlled"] < examined["score"]).to_list() == [True, True, None]
    unchanged = [name for name in raw.columns if raw[name].null_count() == 0 and name != "signature"]
    assert examined.select(unchanged).equals(raw.select(unchanged))


@pytest.mark.proof
@pytest.mark.parametrize("ensemble", [ONE_SEAT, ENSEMBLE], ids=["a seat", "two seats"])
@pytest.mark.parametrize("accuracy", [0.8, 0.9])
def test_corrected_scores_are_those_of_an_ensemble_without_errors(
    ensemble: Literary, accuracy: float, full: bool
) -> None:
    """Of 120 chunks, the model's text is better in 20 or 50 %. Seats err independently; 20 damaged texts."""
    runs = 400 if full else 12

    def said(better: NDArray[np.bool_], chance: np.random.Generator, names: tuple[str, str]) -> pl.DataFrame:
        seats = [(seat.judge, seat.aspect, side) for seat in ensemble.ensemble for side in "AB"]
        right = chance.random((len(better), len(seats))) < accuracy
        rows = [
            ("ours", f"novels/a{place // 10}:{place}", *seat, names[int(right[place, at] != better[place])])
            for place in range(len(better)) for at, seat in enumerate(seats)
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=["model", "passage", "judge", "aspect", "shown", "chosen"], orient="row")

    for level in (0.2, 0.5):
        rows = []
        for seed in range(runs):
            chance = np.random.default_rng(seed)
            given = said(chance.random(120) < level, chance, (MACHINE, HUMAN)).rename({"chosen": "better"})
            damaged = said(np.zeros(20, dtype=np.bool_), chance, ("trial", "sound")).rename({"chosen": "choice"})
            damaged = damaged.with_columns(trait=pl.lit("meaning"), kind=pl.lit("name"), abstention=pl.lit(None))
            of_chunks = verdicts(given, ensemble).join(works(*given["passage"].unique()), on="passage")
            kept = ensemble_reliability(damaged, ensemble, "")
            rows.append((float(np.mean(of_chunks["points"].to_numpy())), *corrected_score(of_chunks, kept)))
        raw, score, low, high = np.array(rows, dtype=np.float64).T
        published = ~np.isnan(score)
        held = float(np.mean((low <= 100 * level) & (100 * level <= high), where=published))
        print(f"\n{level:.0%}, accuracy {accuracy:.0%}: {100 * raw.mean():.1f}, corrected {np.nanmean(score):.1f}, "
              f"published {published.mean():.1%}, held {held:.1%}, width {np.nanmean(high - low):.1f}")  # fmt: skip
        assert held >= 0.92 - slack(full, int(published.sum()))


@pytest.mark.proof
@pytest.mark.parametrize("ratio", [1.0, 1.5, 3.0])
def test_length_moves_scores_at_equal_length_by_little(ratio: float, full: bool) -> None:
    """An ensemble of one seat, 46 chunks of two works, 18 padded texts; docs/decisions/literary.md has the figures."""
    runs = 400 if full else 30
    print()
    for fondness in (0.0, 0.5, 1.2):
        for level in (20, 50) if full else (50,):
            rows = []
            for seed in range(runs):
                chance = np.random.default_rng(seed)
                ratios = np.log(ratio) + 0.15 * chance.normal(size=46)
                odds = np.log(level / (100 - level)) / 2 + fondness * ratios[:, None]
                drawn = (chance.random((46, 2)) < sigma(odds)).sum(axis=1)  # a seat that contradicts itself abstains
                kept = drawn != 1
                coefficient = ensemble_coefficient(sentinels(ONE_SEAT, fondness, chance), ONE_SEAT, "")
                found, _ = controlled_score(chunks(drawn[kept] / 2, ratios[kept]), coefficient, False)
                rows.append((50 * drawn[kept].mean(), *found))
            raw, score, low, high = np.array(rows, dtype=np.float64).T
            held = float(np.mean((low <= level) & (level <= high))[()])
            print(
                f"score {level}, β {fondness}, length × {ratio}: score {raw.mean():.1f}, at equal length "
                f"{np.nanmean(score):.1f} [{np.nanquantile(score, 0.025):.1f}, {np.nanquantile(score, 0.975):.1f}], "
                f"none in {np.isnan(score).mean():.1%}, held {held:.1%}, width {np.nanmean(high - low):.1f}"
            )
            assert held + np.isnan(score).mean() >= 0.93 - slack(False, runs) / 2
