"""Translators examined as references: contrasts within passages, verdicts, and scores without each of them."""

from pathlib import Path

import dagster as dg
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.metrics.contrasts import compared, contrasts, summed
from benchmark_assets.reporting import translators
from benchmark_assets.reporting.translators import doubts, examined
from resources.embedders import MultilingualEmbedder
from resources.warehouse import Warehouse
from tests.processes import here
from tests.reporting.similarities import units
from tests.support import MODELS, TRANSLATIONS

NAMES = ["ann", "ben", "cleo", "dov"]
KEYS = ["view", "measure", "translator"]
MISSING = {"translators": "no passage has three translations"}


def values(table: np.ndarray[tuple[int, ...], np.dtype[np.float64]], measure: str = "sim_best") -> pl.DataFrame:
    """Values of translators, from an array of shape (passages, translators); NaN where a translator has none."""
    rows = [
        (f"x/{at}", measure, NAMES[place], None if np.isnan(value) else float(value))
        for (at, place), value in np.ndenumerate(table)
    ]
    return pl.DataFrame(rows, schema=["passage", "measure", "translator", "value"], orient="row")


def verdicts(table: np.ndarray[tuple[int, ...], np.dtype[np.float64]], measure: str = "sim_best") -> pl.DataFrame:
    """Rows of `reference_examination` in the view of the translators."""
    parts = {"translators": contrasts(values(table, measure), 3)}
    sums = summed(parts, units(len(table)).select("passage", "unit"))
    people = pl.DataFrame({"corpus": "x", "translator": NAMES[: table.shape[1]]})
    return examined(compared(sums, KEYS, "translator"), people, MISSING)


@given(st.integers(3, 4), st.integers(0, 1000))
def test_each_translator_is_compared_with_the_mean_of_the_others(count: int, seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(3, count))
    rows = contrasts(values(table), 3)
    for at, place in np.ndindex(table.shape):
        own = rows.filter(passage=f"x/{at}", translator=NAMES[place])
        assert_allclose(own["other"].item(), np.delete(table[at], place).mean())
    assert rows["value"].sum() == pytest.approx(rows["other"].sum())


def test_passages_with_too_few_values_do_not_count() -> None:
    table = np.array([[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]])
    assert contrasts(values(table), 3)["passage"].unique().to_list() == ["x/1"]
    assert set(contrasts(values(table), 2)["passage"]) == {"x/0", "x/1"}


@pytest.mark.parametrize(("measure", "verdict"), [("sim_best", "farther"), ("drift_adjusted", "closer")])
def test_who_stands_apart_is_named_and_the_direction_is_that_of_the_measure(measure: str, verdict: str) -> None:
    table = np.random.default_rng(4).normal(size=(40, 4))
    table[:, 2] -= 2
    rows = verdicts(table, measure)
    assert rows.filter(translator="cleo")["verdict"].item() == verdict
    own = rows.filter(translator="cleo").row(0, named=True)
    assert own["difference_low"] < own["difference"] < own["difference_high"] < 0
    assert own["passages"] == 40
    assert set(rows["note"]) == {None}


def test_equal_translators_are_seldom_told_apart() -> None:
    """In a family of four translators, a corpus has a false verdict in about 5 %."""
    draws = np.random.default_rng(5).normal(size=(60, 20, 4))
    false = [(verdicts(table)["verdict"] != "cannot be told").any() for table in draws]
    assert sum(false) <= 8


def test_translators_within_the_margin_are_alike() -> None:
    table = 0.7 + np.random.default_rng(7).normal(scale=0.001, size=(60, 4))
    assert set(verdicts(table)["verdict"]) <= {"alike", "farther", "closer"}
    assert set(verdicts(np.full((30, 3), 0.7))["verdict"]) == {"alike"}


def test_of_two_translators_neither_stands_apart_and_the_row_says_why() -> None:
    rows = verdicts(np.random.default_rng(6).normal(size=(30, 2)))
    assert rows["verdict"].to_list() == ["cannot be told"] * 2
    assert rows["note"].to_list() == [MISSING["translators"]] * 2
    assert rows["difference"].null_count() == 2


def test_few_units_give_a_difference_without_a_verdict() -> None:
    rows = verdicts(np.array([[0.1, 0.5, 0.5]] * 3))
    assert set(rows["note"]) == {"too few units for an interval"}
    assert rows["difference"].null_count() == 0
    assert set(rows["verdict"]) == {"cannot be told"}


def test_a_doubt_needs_the_source_and_the_translators() -> None:
    rows = [("x", "translators", "ann"), ("x", "source", "ann"), ("x", "translators", "ben"), ("x", "source", "cleo")]
    examination = pl.DataFrame(rows, schema=["corpus", "view", "translator"], orient="row")
    assert doubts(examination.with_columns(verdict=pl.lit("farther")))["translator"].to_list() == ["ann"]
    assert doubts(examination.with_columns(verdict=pl.lit("closer"))).is_empty()


def test_translations_of_another_passage_are_less_like_their_source() -> None:
    """Found by the packaged multilingual embedder among true translations."""
    lines = ["Mus currit per silvam.", "Felis in tecto sedet.", "Sol mane oritur.", "Pater filio librum dat.",
             "Milites urbem defendunt.", "Puella aquam portat.", "Magister discipulos docet.",
             "Navis ad insulam venit."]  # fmt: skip
    true = ["A mouse runs through the wood.", "The cat sits on the roof.", "The sun rises in the morning.",
            "The father gives his son a book.", "Soldiers defend the city.", "The girl carries water.",
            "The teacher instructs his pupils.", "A ship comes to the island."]  # fmt: skip
    rows = [
        (f"x/{at}", translator, text)
        for at in range(len(lines))
        for translator, text in (("", lines[at]), ("ann", true[at]), ("ben", true[at - 1]))
    ]
    texts = pl.DataFrame(rows, schema=["passage", "translator", "text"], orient="row")
    embedded = MultilingualEmbedder().embed(texts["text"].to_list()).vectors
    vectors = texts.select("text").with_columns(vector=pl.Series(embedded)).unique("text")
    sums = summed({"source": translators.beside_source(texts, vectors)}, units(8).select("passage", "unit"))
    people = pl.DataFrame({"corpus": "x", "translator": ["ann", "ben"]})
    rows_of = examined(compared(sums, KEYS, "translator"), people, {"source": ""})
    assert rows_of.select("translator", "verdict").rows() == [("ann", "closer"), ("ben", "farther")]


def test_places_are_given_with_and_without_a_reference() -> None:
    """Beta is closest to Ann alone: without her, alpha is first."""
    rows = pl.DataFrame({
        "corpus": "x", "measure": "sim_best", "translator": "ann", "model": ["alpha", "beta"], "passages": 6,
        "units": 6, "value": [0.8, 0.5], "other": [0.8, 0.9], "difference": [0.0, -0.4], "difference_low": -1.0,
        "difference_high": 1.0,
    })  # fmt: skip
    doubted = pl.DataFrame({"corpus": ["x"], "translator": ["ann"], "doubt": ["why"]})
    table = translators.changes(rows, doubted)
    assert table.select("model", "place", "place_without", "doubt").rows() == [
        ("alpha", 2, 1, "why"), ("beta", 1, 2, "why")
    ]  # fmt: skip
    assert_allclose(table["change"], [0, -0.4])


def test_a_corpus_has_every_view_and_the_scores_of_every_model_without_each_translator(
    built: dg.Definitions, warehouse: Warehouse, home: Path
) -> None:
    """On the small corpus: three passages, three translators, two models."""
    rows, texts = warehouse.read("reference_examination"), warehouse.read("human_baseline")
    views = [
        ("source", "similarity"),
        ("systems", "similarity"),
        *(("translators", each) for each in translators.AMONG),
    ]
    assert set(rows.select("view", "measure", "translator").rows()) == {
        (*each, t) for each in views for t in TRANSLATIONS
    }
    assert set(rows.select("passages", "note", "verdict").rows()) == {
        (3, "too few units for an interval", "cannot be told")
    }
    means = texts.group_by("translator").agg(pl.mean("chrf")).sort("translator")
    assert_allclose(rows.filter(measure="chrf")["value"], means["chrf"])
    without = warehouse.read("without_reference")
    assert set(without.select("measure", "translator", "model").rows()) == {
        (measure, t, m) for measure in translators.CHANGED for t in TRANSLATIONS for m in MODELS
    }
    scores = warehouse.read("drift_score").group_by("model").agg(pl.mean("sim_best"))
    similar = without.filter(measure="sim_best").join(scores, on="model")
    assert_allclose(similar["value"], similar["sim_best"], rtol=1e-6)
    assert (similar["change"] <= 1e-9).all()  # without a reference, the closest is not closer
    assert set(without.filter(translator="ann", measure="sim_best")["place"]) <= {1, 2}
    assert rows["signature"].str.contains("multilingual-e5-small").all()
    told = here(home, "trace", "tiny").stdout
    assert "References examined" in told
    assert told.count("too few units for an interval") == len(rows)
