"""A model is ranked over the corpus's own passages, whatever it left out."""

from functools import cache
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.corpus.description import Scoring
from benchmark_assets.metrics.coverage import completed, worst_scores
from benchmark_assets.metrics.drift import worst_drift
from benchmark_assets.metrics.entries import OUTLIER
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.metrics.summary import summarize
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.audit.stored import put
from tests.metrics.scores import REFERENCES, scores

PASSAGES = 8
LEXICAL_COLUMNS = ["length_ratio", "bleu", "chrf", "bleu_statistics", "chrf_statistics"]


NAMES = [f"x/{at}" for at in range(PASSAGES)]
OWN = pl.DataFrame({"passage": NAMES, "corpus": ["x"] * PASSAGES, "unit": NAMES, "unit_kind": ["passages"] * PASSAGES})
"""The passages of `scores`."""


def worst(passages: pl.DataFrame) -> pl.DataFrame:
    """The scores of an empty output."""
    empty = passages.with_columns(text=pl.lit(""))
    references = OWN.select("passage", text=pl.Series([REFERENCES[at % 4] for at in range(PASSAGES)]))
    zeros = dict.fromkeys(["sim_best", "sim_centroid", "comet_avg", "comet_best"], 0.0)
    return lexical_scores(empty, references, ["passage"], ["passage"]).with_columns(
        references=pl.lit(1, pl.UInt32), drift=pl.lit(20.0), drift_adjusted=pl.lit(8.0), drift_euclidean=pl.lit(7.0),
        **{name: pl.lit(value) for name, value in zeros.items()},
    )  # fmt: skip


def field(*systems: pl.DataFrame) -> pl.DataFrame:
    columns = ["expected", "evaluated", "usable", "ranked"]
    return pl.concat(systems).rename({"model": "system"}).with_columns(corpus=pl.lit("x")).drop(columns)


@cache
def perfect() -> pl.DataFrame:
    return scores([1.0] * PASSAGES, system="full")


@cache
def best_half() -> pl.DataFrame:
    return scores([0.5] * PASSAGES, [0.99] * PASSAGES, system="half").head(PASSAGES // 2)


def summary(rows: pl.DataFrame, system: str) -> dict[str, float | int | None]:
    return summarize(rows.filter(system=system))


def test_passages_left_out_have_the_worst_scores_and_take_the_rank() -> None:
    rows = completed(field(perfect(), best_half()), OWN, worst, {})
    full, half = summary(rows, "full"), summary(rows, "half")
    assert (full["passages"], full["coverage"], full["failures"]) == (8, 1, 0)
    assert (half["passages"], half["coverage"], half["failures"]) == (8, 0.5, 4)
    assert (half["sim_best"], half["drift"]) == (0.495, 10.25)
    assert half["outlier_rate"] == 0.5
    assert half["length_ratio"] < full["length_ratio"]  # type: ignore[operator]
    assert half["bleu"] < full["bleu"]  # type: ignore[operator]
    assert dict(rows.select("system", "ranked").unique().iter_rows()) == {"full": True, "half": False}


def test_a_limited_evaluation_is_scored_on_its_passages_and_has_no_rank() -> None:
    limits = pl.DataFrame({"system": ["half"] * 5, "passage": [f"x/{at}" for at in range(5)]})
    rows = completed(field(perfect(), best_half()), OWN, worst, {"x": Scoring(coverage=0.5)}, limits)
    half = summary(rows, "half")
    assert (half["passages"], half["evaluated"], half["available"], half["failures"]) == (5, 5, 8, 1)
    assert half["sim_best"] == pytest.approx(0.99 * 4 / 5)
    assert dict(rows.select("system", "ranked").unique().iter_rows()) == {"full": True, "half": False}
    assert summary(rows, "full") == summary(completed(field(perfect()), OWN, worst, {}), "full")


def test_a_description_may_leave_out_what_is_missing_but_then_only_complete_models_have_ranks() -> None:
    rows = completed(field(perfect(), best_half()), OWN, worst, {"x": Scoring(missing="omit", coverage=0.5)})
    half = summary(rows, "half")
    assert (half["passages"], half["coverage"], half["failures"], half["sim_best"]) == (4, 0.5, 4, 0.99)
    assert dict(rows.select("system", "ranked").unique().iter_rows()) == {"full": True, "half": False}


def test_an_empty_output_counts_as_missing_and_keeps_its_diagnosis() -> None:
    first = pl.int_range(pl.len()) == 0
    rows = completed(field(perfect().with_columns(empty=first)), OWN, worst, {})
    full = summary(rows, "full")
    assert (full["passages"], full["failures"], full["empty"]) == (8, 1, 1)
    assert full["sim_best"] == pytest.approx(0.9 * 7 / 8)


@pytest.mark.parametrize(
    ("faults", "failures"),
    [
        ({"refused": True}, 1), ({"other_passage": True}, 1), ({"copied": True, "wrong_language": True}, 1),
        ({"copied": True, "wrong_language": None}, 0), ({"copied": True, "wrong_language": False}, 0),
        ({"truncated": True, "repeated": True, "wrong_language": True, "preamble": True}, 0),
    ],
)  # fmt: skip
def test_what_is_no_translation_of_its_passage_counts_as_missing(faults: dict[str, bool | None], failures: int) -> None:
    first = pl.int_range(pl.len()) == 0
    marks = {name: pl.when(first).then(pl.lit(value, pl.Boolean)).otherwise(False) for name, value in faults.items()}
    full = summary(completed(field(perfect().with_columns(**marks)), OWN, worst, {}), "full")
    assert (full["passages"], full["failures"]) == (8, failures)


def test_translators_need_not_translate_everything() -> None:
    ann = best_half().with_columns(model=pl.lit("ann"), kind=pl.lit("human"))
    rows = completed(field(perfect(), ann), OWN, worst, {})
    person = summary(rows, "ann")
    assert (person["passages"], person["coverage"], person["failures"], person["sim_best"]) == (4, None, None, 0.99)
    assert not rows.filter(system="ann")["ranked"].any()


def test_comet_is_the_worst_only_where_the_model_has_comet() -> None:
    with_comet = best_half().with_columns(comet=pl.lit("wmt22"), comet_avg=pl.lit(0.8), comet_best=pl.lit(0.8))
    rows = completed(field(perfect(), with_comet), OWN, worst, {})
    assert summary(rows, "half")["comet_avg"] == pytest.approx(0.4)
    assert summary(rows, "full")["comet_avg"] is None


@given(st.sets(st.integers(0, PASSAGES - 1), min_size=1))
def test_whoever_else_is_evaluated_changes_no_row(kept: set[int]) -> None:
    some = perfect().filter(pl.col("passage").is_in([f"x/{at}" for at in kept])).with_columns(model=pl.lit("some"))
    alone = completed(field(some), OWN, worst, {}).sort("passage")
    among = completed(field(perfect(), some), OWN, worst, {}).filter(system="some").sort("passage")
    assert among.select(alone.columns).equals(alone)
    assert len(alone) == PASSAGES


def test_the_worst_drift_is_that_of_a_vector_at_a_right_angle() -> None:
    columns = {"human_spread": [0.04, None], "euclidean_spread": [0.28, None], "mean_similarity": [0.88, None]}
    found = worst_drift(pl.DataFrame(columns))
    assert_allclose(found.row(0), [1 / 0.05, 1.02 / 0.14, (1 + 0.96**2) ** 0.5 / 0.28])
    assert found.row(1) == (None, None, None)


def test_an_empty_output_has_no_similarity_to_a_centroid_only_where_there_is_one(tmp_path: Path) -> None:
    warehouse = DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb"))
    put(warehouse, "reference", *(
        {"passage": passage, "translator": "ann", "text": "A cat sat.", "complete": True} for passage in NAMES[:2]
    ))  # fmt: skip
    envelope = {"passage": NAMES[0], "reference_count": 1, "embedder": "letters", "mean_similarity": 0.9}
    put(warehouse, "reference_envelope", envelope | {"human_spread": 0.6, "euclidean_spread": 0.1})
    rows = worst_scores(warehouse, OWN.head(2)).sort("passage")
    assert rows.select("sim_best", "sim_centroid").rows() == [(0, 0), (0, None)]
    drift, without = rows["drift"]
    assert without is None
    assert OUTLIER < drift < 2.001  # an outlier also where people are as far from each other
