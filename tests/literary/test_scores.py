"""Scores against the human translators: points, what intervals hold, and the bias towards a place."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm  # type: ignore[import-untyped]

from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.corpus.units import FEWEST, divided
from benchmark_assets.literary.ensemble import verdicts
from benchmark_assets.literary.exhibits import parity
from benchmark_assets.literary.scores import interval, scores
from benchmark_assets.literary.works import CHUNKS, WORK, WORKS
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.comparing import SIDES
from tests.support import slack

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
    rows = pl.DataFrame({"passage": passages, "document": documents})
    return rows.select("passage", WORK, unit="passage", unit_kind=pl.lit("passages"))


# Points.


def test_chunks_on_which_all_seats_abstained_are_counted() -> None:
    passages = "novels/a1:1", "novels/a1:2"
    given = votes(("ours", passages[0], "machine", "human"), ("ours", passages[1], "machine", "machine"))
    withheld = pl.col("passage") == passages[1]
    given = given.with_columns(better=pl.when(~withheld).then("better"))
    found = scores(verdicts(given, ENSEMBLE), given, works(*passages), ENSEMBLE, "seats")
    assert found.select("aspect", "chunks", "abstained").rows() == [("", 1, 1), ("meaning", 1, 1), ("prose", 1, 1)]


def test_points_make_a_score_of_the_ensemble_and_of_each_aspect() -> None:
    passages = "novels/a1:1", "novels/a1:2", "novels/a2:1", "novels/b:1"
    given = votes(
        ("ours", passages[0], "machine", "human"), ("ours", passages[1], "unsure", "machine"),
        ("ours", passages[2], "human", "machine"), ("ours", passages[3], "unsure", "unsure"),
        ("theirs", passages[3], "human", "human"),
    )  # fmt: skip
    found = scores(verdicts(given, ENSEMBLE), given, works(*passages), ENSEMBLE, "seats")
    columns = ["model", "aspect", "chunks", "works", "machine", "unsure", "human", "score", "interval_of"]
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
    assert bounds == [None] * 6  # four chunks and one


def test_the_ensemble_is_scored_by_its_verdicts_and_aspects_by_their_votes() -> None:
    """What the verdicts are not made of yet does not count."""
    passage = "novels/a:1"
    said = verdicts(votes(("ours", passage, "machine", "machine")), ENSEMBLE)
    found = scores(said, votes(("ours", passage, "human", "human")), works(passage), ENSEMBLE, "")
    assert dict(found.select("aspect", "score").iter_rows()) == {"": 100, "meaning": 0, "prose": 0}


@pytest.mark.parametrize(
    ("documents", "work"),
    [
        (["botchan-01", "botchan-2", "botchan11", "botchan"], "botchan"), (["lu-xun-1", "lu-xun_2"], "lu-xun"),
        (["lu-yao.1"], "lu-yao"), (["the-tale-of-genji-01"], "the-tale-of-genji"), (["ch01-botchan"], "ch01-botchan"),
        (["ch01-hongloumeng-3"], "ch01-hongloumeng"), (["7"], "7"), (["8"], "8"),
    ],
)  # fmt: skip
def test_documents_that_differ_in_their_last_number_are_one_work(documents: list[str], work: str) -> None:
    assert set(works(*(f"x/{document}:1" for document in documents))["work"]) == {work}


def test_from_five_works_on_the_interval_is_one_over_works() -> None:
    for number in (FEWEST - 1, FEWEST):
        passages = [f"novels/{'abcdefg'[each % number]}:{each}" for each in range(20)]
        given = votes(*(("ours", each, "machine", "machine") for each in passages))
        said = verdicts(given, ENSEMBLE)
        found = scores(said, given, works(*passages), ENSEMBLE, "")
        assert set(found["interval_of"]) == {WORKS if number == FEWEST else CHUNKS}
        assert found.select(parity=parity())["parity"].to_list() == ["above"] * 3
        assert found["signature"].str.ends_with("units: works" if number == FEWEST else "units: passages").all()


# Intervals.


def chunks_of(points: Floats, numbers: Sequence[int]) -> pl.DataFrame:
    """Chunks of works with so many chunks each, in blocks as `corpus.units` makes them."""
    work = np.repeat(np.arange(len(numbers)), numbers)
    position = np.concatenate([np.arange(number) for number in numbers])
    rows = pl.DataFrame({
        "passage": [f"x/{place}" for place in range(len(work))], "passage_id": "", "position": position,
        "document": work.astype(str), "points": points,
    })  # fmt: skip
    return rows.with_columns(work="document").join(divided(rows, "blocks"), on="passage", maintain_order="left")


@given(st.lists(st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=6), min_size=1, max_size=8))
def test_a_mean_lies_in_its_interval(given: list[list[float]]) -> None:
    points = np.concatenate(given)
    chunks = chunks_of(points, [len(own) for own in given])
    (low, high), kind = interval(chunks)
    assert (kind == WORKS) is (len(given) >= FEWEST)
    assert (low is None) is (high is None) is (kind != WORKS and chunks["unit"].n_unique() < FEWEST)
    assert low is None or high is None or 0 <= low <= 100 * points.mean() + 1e-9 <= high + 2e-9 <= 100 + 4e-9


def test_with_few_works_differences_between_them_do_not_widen_the_interval() -> None:
    chance = np.random.default_rng(1)
    points = chance.choice([0.0, 0.5], size=40)
    apart = np.concatenate([points[:20], points[20:] + 0.5])
    (low, high), _ = interval(chunks_of(points, [20, 20]))
    (low_apart, high_apart), _ = interval(chunks_of(apart, [20, 20]))
    assert low is not None
    assert high is not None
    assert (low_apart, high_apart) == pytest.approx((low + 25, high + 25))


def points_of(numbers: Sequence[int], sizes: tuple[float, float], chance: np.random.Generator) -> tuple[Floats, Floats]:
    """Points of so many chunks of works whose tendencies differ, and each chunk's work's tendency: verdicts where a
    latent balance is beyond ±0.3; `sizes` are standard deviations of effects of works and of chunks."""
    own = np.repeat(0.3 + sizes[0] * chance.normal(size=len(numbers)), numbers)
    latent = own + sizes[1] * chance.normal(size=len(own))
    return np.where(latent > 0.3, 1.0, np.where(latent < -0.3, 0.0, 0.5)), own


def truth(tendencies: Floats, deviation: float) -> float:
    """Mean points over chunks without end of works with these tendencies."""
    return float((norm.sf(0.3, tendencies, deviation) + norm.sf(-0.3, tendencies, deviation)).mean() / 2)


def held(numbers: Sequence[int], sizes: tuple[float, float], runs: int) -> tuple[float, float]:
    """In what share of simulations the interval holds the truth, and its mean width: the truth is that of all works
    that there could be where the interval is over works, else of the works at hand."""
    chance, hits, widths = np.random.default_rng(1), 0, 0.0
    everywhere = truth(np.array([0.3]), float(np.hypot(*sizes)))
    for _ in range(runs):
        points, own = points_of(numbers, sizes, chance)
        (low, high), _ = interval(chunks_of(points, numbers))
        assert low is not None
        assert high is not None
        target = everywhere if len(numbers) >= FEWEST else truth(own, sizes[1])
        hits += low <= 100 * target <= high
        widths += high - low
    return hits / runs, widths / runs


def uneven(works: int) -> list[int]:
    """Numbers of chunks of works; the longest work is ten times the shortest."""
    return [round(size) for size in np.geomspace(6, 60, works)]


@pytest.mark.proof
@pytest.mark.parametrize("between", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize(
    ("numbers", "least"),
    [
        ([23] * 2, 0.93), ([20] * 3, 0.92), ([20] * 5, 0.92), ([20] * 8, 0.93), ([10] * 20, 0.93),
        (uneven(3), 0.91), (uneven(5), 0.9), (uneven(8), 0.9), (uneven(20), 0.92),
    ],
)  # fmt: skip
def test_coverage(numbers: list[int], least: float, between: float, full: bool) -> None:
    """docs/decisions/literary.md has the figures. A few works of unlike size get wider intervals than they need."""
    runs = 2000 if full else 60
    share, width = held(numbers, (between, 1.0), runs)
    print(f"chunks of works {numbers}, effect of works {between}: {share:.1%}, width {width:.0f}")
    assert least - slack(full, runs) <= share <= 0.995 + slack(full, runs)
