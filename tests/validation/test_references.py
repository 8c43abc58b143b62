"""References of gold sets, examined: ratings of them, adjusted for raters, and figures without each."""

from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.validation.gold import MQM, OUTPUTS, PASSAGES, REFERENCES, SPANS, GoldSet, Rating, frames
from benchmark_assets.validation.readers import read
from benchmark_assets.validation.references import (
    FIGURES,
    METRICS,
    NONE,
    examined,
    page,
    readable,
    without_each,
)
from tests.support import LetterEmbedder

SCORES = {"refA": ("strict", -4.0), "refB": ("mild", -1.0), "one": ("strict", -3.0), "two": ("mild", -1.0)}
"""Rater and score of every text of a system or translator."""


def embed(texts: pl.Series) -> pl.DataFrame:
    vectors = LetterEmbedder().embed(texts.to_list()).vectors
    return pl.DataFrame({"text": texts, "vector": vectors, "cut": False})


@pytest.fixture
def gold() -> GoldSet:
    """Six documents of two passages; the outputs are like refB, and one has a major error in every passage."""
    passages = [f"{at}" for at in range(12)]
    words = {
        "refA": "A mouse was running {}.",
        "refB": "Mus currit {}.",
        "one": "Mus currit {}.",
        "two": "Mus was {}.",
    }
    texts = [(who, at, text.format(at), who.startswith("ref")) for who, text in words.items() for at in passages]
    ratings, _ = frames([Rating(who, at, *_rated(who)) for who in SCORES for at in passages])
    outputs = pl.DataFrame(texts, OUTPUTS, orient="row")
    references = outputs.filter("human").select("passage", "text", translator="system").select(REFERENCES.names())
    rows = [(at, int(at), f"d{int(at) // 2}", f"Mus currit {at}.") for at in passages]
    return GoldSet(
        "small", "la", MQM, pl.DataFrame(rows, PASSAGES, orient="row"), references, outputs,
        ratings.with_columns(major=(pl.col("system") == "one").cast(pl.Int32)), pl.DataFrame(schema=SPANS),
    )  # fmt: skip


def _rated(who: str) -> tuple[str, None, float]:
    rater, score = SCORES[who]
    return rater, None, score


def test_a_reference_is_compared_as_rated_and_less_what_its_rater_gives_others(gold: GoldSet) -> None:
    rows = examined(gold, embed, embed).filter(translator="refA")
    found = {(row["view"], row["measure"]): row for row in rows.iter_rows(named=True)}
    assert found["people", "score"]["difference"] == pytest.approx(-3)  # -4 and -1
    adjusted = found["people", "score, adjusted for raters"]
    assert (adjusted["value"], adjusted["other"]) == (pytest.approx(-1), pytest.approx(0))  # -4 + 3 and -1 + 1
    assert adjusted["passages"] == 12
    assert adjusted["units"] == 6
    for view in ("source", "systems"):
        assert found[view, "similarity"]["difference_high"] < 0
    assert set(examined(gold, embed, None)["view"]) == {"people", "systems"}


def test_figures_are_given_with_all_references_and_without_each(gold: GoldSet) -> None:
    figures = without_each(gold, "letters", embed)
    assert set(figures.select("without", "metric", "figure").rows()) == {
        (without, metric, figure) for without in (NONE, "refA", "refB") for metric in METRICS for figure in FIGURES
    }
    table = readable(figures)
    assert table.columns == ["metric", "without", *FIGURES]
    assert len(table) == 6
    alone = gold._replace(references=gold.references.filter(translator="refA"))
    assert "fewer than two" in page(alone, "letters", embed, embed)
    text = page(gold, "letters", embed, embed)
    assert "adjusted for raters" in text
    assert text.count("refA") == 4 + 2  # contrasts, and rows of metrics


@pytest.mark.realdata
def test_of_the_references_of_ted_one_is_far_worse(realdata: Path) -> None:
    """By professionals, also less what each rater gives the systems' outputs; by 5 talks."""
    (gold,) = read(realdata / "gold" / "ted-zhen")
    rows = examined(gold, embed, None).filter(view="people", translator="ref").sort("measure")
    plain, adjusted = rows.iter_rows(named=True)
    assert (plain["passages"], adjusted["passages"]) == (529, 352)  # one rater of refB rated no system
    assert plain["difference"] == pytest.approx(-5.10, abs=0.005)
    assert adjusted["difference"] == pytest.approx(-4.75, abs=0.005)
    assert max(plain["difference_high"], adjusted["difference_high"]) < -2
