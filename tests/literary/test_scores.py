"""Scores against the human translators: points, what intervals hold, and the bias towards a place."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm  # type: ignore[import-untyped]

from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.literary.readings import parity
from benchmark_assets.literary.scores import CHUNKS, ENOUGH_WORKS, WORK, WORKS, interval, places, resampled, scores
from benchmark_assets.metrics.intervals import RESAMPLES
from benchmark_assets.metrics.measures import Floats
from benchmark_assets.pairwise.matches import SIDES

ENSEMBLE = Literary(
    human="morri", ensemble=(Seat(judge="exact", aspect="meaning"), Seat(judge="stylist", aspect="prose", weight=0.5))
)


def votes(*chunks: tuple[str, str, str, str]) -> pl.DataFrame:
    """Rows of `aspect_vote` in both orders: model, passage, what is better in meaning, and in prose."""
    rows = [
        (model, passage, judge, aspect, side, better)
        for model, passage, *said in chunks
        for (judge, aspect), better in zip((("exact", "meaning"), ("stylist", "prose")), said, strict=True)
        for side in SIDES
    ]
    names = ["model", "passage", "judge", "aspect", "shown", "better"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def works(*passages: str) -> pl.DataFrame:
    documents = [passage.split("/")[1].split(":")[0] for passage in passages]
    return pl.DataFrame({"passage": passages, "document": documents}).select("passage", WORK)


# Points.


def test_points_make_a_score_of_the_ensemble_and_of_each_aspect() -> None:
    passages = "novels/a1:1", "novels/a1:2", "novels/a2:1", "novels/b:1"
    given = votes(
        ("ours", passages[0], "machine", "human"), ("ours", passages[1], "unsure", "machine"),
        ("ours", passages[2], "human", "machine"), ("ours", passages[3], "unsure", "unsure"),
        ("theirs", passages[3], "human", "human"),
    )  # fmt: skip
    found = scores(given, works(*passages), ENSEMBLE, "seats")
    columns = ["model", "aspect", "chunks", "works", "machine", "unsure", "human", "score", "resampled"]
    assert found.select(columns).rows() == [
        ("ours", "", 4, 2, 2, 1, 1, 62.5, CHUNKS),
        ("ours", "meaning", 4, 2, 1, 2, 1, 50.0, CHUNKS),
        ("ours", "prose", 4, 2, 2, 1, 1, 62.5, CHUNKS),
        ("theirs", "", 1, 1, 0, 0, 1, 0.0, CHUNKS),
        ("theirs", "meaning", 1, 1, 0, 0, 1, 0.0, CHUNKS),
        ("theirs", "prose", 1, 1, 0, 0, 1, 0.0, CHUNKS),
    ]
    assert found["signature"].str.starts_with("seats; 100 ×").all()
    bounds = found.select(parity=parity())["parity"].to_list()
    assert bounds == ["in the interval"] * 3 + ["below"] * 3


def test_works_are_collections_of_documents() -> None:
    assert works("x/botchan-01:1", "x/botchan-02:9", "x/雨1:1", "x/7:1")["work"].to_list() == [
        "botchan", "botchan", "雨", "7",
    ]  # fmt: skip


def test_from_five_works_on_these_are_resampled_too() -> None:
    for number in (ENOUGH_WORKS - 1, ENOUGH_WORKS):
        passages = [f"novels/{'abcdefg'[each % number]}:{each}" for each in range(20)]
        given = votes(*(("ours", each, "machine", "machine") for each in passages))
        (kind,) = set(scores(given, works(*passages), ENSEMBLE, "")["resampled"])
        assert kind == (WORKS if number == ENOUGH_WORKS else CHUNKS)


# Resampling.


@given(st.lists(st.integers(1, 6), min_size=1, max_size=9))
def test_a_resample_has_whole_works(numbers: list[int]) -> None:
    weights, ends = resampled(tuple(numbers)), np.cumsum([0, *numbers])
    of_works = np.stack([weights[:, first:last].sum(axis=1) for first, last in pairwise(ends)])
    times = of_works / np.array(numbers)[:, None]
    assert (times == times.astype(int)).all()
    assert (times.sum(axis=0) == len(numbers)).all()
    if len(numbers) < ENOUGH_WORKS:
        assert (times == 1).all()
    resampled.cache_clear()
    assert (resampled(tuple(numbers)) == weights).all()
    assert abs(weights.mean() - 1) < 0.2


def points_of(
    works: int, chunks: int, sizes: tuple[float, float], chance: np.random.Generator
) -> tuple[Floats, Floats]:
    """Points of chunks of works whose tendencies differ, and the tendency of each work: verdicts where a latent
    balance is beyond ±0.3; `sizes` are standard deviations of effects of works and of chunks."""
    own = 0.3 + sizes[0] * chance.normal(size=works)
    latent = own[:, None] + sizes[1] * chance.normal(size=(works, chunks))
    return np.where(latent > 0.3, 1.0, np.where(latent < -0.3, 0.0, 0.5)), own


def truth(tendencies: Floats, deviation: float) -> float:
    """Mean points over chunks without end of works with these tendencies."""
    return float((norm.sf(0.3, tendencies, deviation) + norm.sf(-0.3, tendencies, deviation)).mean() / 2)


def held(works: int, chunks: int, sizes: tuple[float, float], runs: int) -> float:
    """In what share of simulations the interval holds the truth: of all works that there could be where works are
    resampled, else of the works at hand."""
    chance, hits = np.random.default_rng(1), 0
    everywhere = truth(np.array([0.3]), float(np.hypot(*sizes)))
    for _ in range(runs):
        points, own = points_of(works, chunks, sizes, chance)
        low, high = interval(points.ravel(), [chunks] * works)
        hits += low <= (everywhere if works >= ENOUGH_WORKS else truth(own, sizes[1])) <= high
    return hits / runs


def test_the_interval_of_twenty_works_holds_the_truth_about_as_often_as_it_says() -> None:
    assert 0.9 <= held(20, 10, (0.5, 1.0), 150) <= 1


def test_the_interval_of_two_works_speaks_of_these() -> None:
    assert 0.88 <= held(2, 23, (1.0, 1.0), 150) <= 0.99


@pytest.mark.proof
@pytest.mark.parametrize(
    ("works", "chunks", "sizes", "least", "most"),
    [
        (2, 23, (0.0, 1.0), 0.92, 0.97), (2, 23, (1.0, 1.0), 0.92, 0.97), (4, 30, (0.5, 1.0), 0.92, 0.97),
        (5, 20, (0.0, 1.0), 0.93, 1.0), (5, 20, (0.5, 1.0), 0.85, 1.0), (5, 20, (1.0, 1.0), 0.78, 0.97),
        (10, 20, (0.5, 1.0), 0.9, 1.0), (20, 10, (0.0, 1.0), 0.97, 1.0), (20, 10, (0.5, 1.0), 0.93, 0.99),
        (20, 10, (1.0, 1.0), 0.9, 0.98), (40, 10, (0.5, 1.0), 0.93, 0.99), (40, 10, (1.0, 1.0), 0.92, 0.98),
    ],
)  # fmt: skip
def test_coverage(works: int, chunks: int, sizes: tuple[float, float], least: float, most: float) -> None:
    """docs/decisions/literary.md has the figures."""
    share = held(works, chunks, sizes, 1000)
    print(f"{works} works of {chunks} chunks, effects {sizes}: {share:.1%}")
    assert least <= share <= most


# Bias towards a place.


def biased(sides: Sequence[str], chance: np.random.Generator, skill: float) -> pl.DataFrame:
    """Votes of a judge that prefers A in 60 % of the cases between equals, of a machine that is better by `skill`."""
    rows = []
    for number in range(2000):
        for side in sides:
            towards = np.log(1.5) if side == "A" else -np.log(1.5)
            won = chance.random() < 1 / (1 + np.exp(-(skill + towards)))
            rows.append(("ours", f"novels/a:{number}", side, "machine" if won else "human"))
    return pl.DataFrame(rows, schema=["model", "passage", "shown", "better"], orient="row")


@pytest.mark.parametrize("skill", [0.0, 1.5])
def test_what_stands_first_is_preferred_and_it_shows_whoever_is_better(skill: float) -> None:
    chance = np.random.default_rng(1)
    (row,) = places(biased("AB", chance, skill)).to_dicts()
    assert row["votes"] == 4000
    assert row["first_low"] > 0.5
    fair = biased("AB", chance, skill).filter(pl.col("shown") == "A")
    mirrored = pl.concat([fair, fair.with_columns(shown=pl.lit("B"))])
    (row,) = places(mirrored).to_dicts()
    assert row["first"] == 0.5


def test_votes_that_name_nobody_show_no_place() -> None:
    given = votes(("ours", "novels/a:1", "unsure", "unsure"))
    assert places(given).is_empty()
    silent = given.with_columns(better=pl.lit(None, pl.String))
    assert places(silent).is_empty()


def test_resamples_are_as_many_as_the_signature_says() -> None:
    assert Counter(len(resampled(numbers)) for numbers in ((3,), (1,) * 7)) == {RESAMPLES: 2}
