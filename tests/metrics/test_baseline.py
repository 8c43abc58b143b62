import math

import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.metrics.baseline import against_the_others
from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.references.rows import envelope_rows
from tests.vectors import references

NEEDS_ENVELOPE = ["sim_centroid", "drift", "drift_adjusted", "drift_euclidean"]
TRANSLATORS = {"ann": [1.0, 0.0, 0.0], "ben": [0.6, 0.8, 0.0], "cleo": [0.8, 0.0, 0.6]}


def leave_one_out(texts: pl.DataFrame) -> pl.DataFrame:
    return against_the_others(texts, texts)


def test_a_translator_scores_as_a_system_against_the_others() -> None:
    three = references({"x/1": TRANSLATORS, "x/2": dict(zip(TRANSLATORS, reversed(TRANSLATORS.values()), strict=True))})
    rows = leave_one_out(three)
    assert rows.select("passage", "translator").rows() == three.select("passage", "translator").rows()
    for translator in TRANSLATORS:
        own, others = (
            three.filter(keep) for keep in (pl.col("translator") == translator, pl.col("translator") != translator)
        )
        envelopes = envelope_rows(own.select("passage"), others)["reference_envelope"]
        semantic, _ = semantic_scores(own, others, envelopes, on=["passage"], within=["passage"])
        lexical = lexical_scores(own, others, on=["passage"], within=["passage"])
        found = rows.filter(translator=translator).drop("translator")
        assert found.equals(semantic.join(lexical, on="passage"))


def test_baseline_worked_by_hand() -> None:
    row = leave_one_out(references({"x/1": TRANSLATORS})).row(0, named=True)
    # ben and cleo: cosine 0.48, so m² = 0.74; ann is at 0.6 and 0.8 from them
    to_centroid = 0.7 / math.sqrt(0.74)
    assert (row["translator"], row["closest_reference"]) == ("ann", "cleo")
    assert_allclose(
        [row["sim_best"], row["sim_centroid"], row["drift"], row["drift_adjusted"], row["drift_euclidean"]],
        [0.8, to_centroid, (1 - to_centroid) / (1.01 - math.sqrt(0.74)), 0.32 / 0.54, math.sqrt(0.34 / 0.26)],
        atol=1e-6,
    )


def test_of_two_translators_each_has_a_neighbour_and_no_envelope() -> None:
    rows = leave_one_out(references({"x/1": {"ann": [1.0, 0.0], "ben": [0.6, 0.8]}}))
    assert rows["closest_reference"].to_list() == ["ben", "ann"]
    assert_allclose(rows["sim_best"], 0.6, atol=1e-6)
    assert rows.select(NEEDS_ENVELOPE).null_count().row(0) == (2, 2, 2, 2)
    assert rows["bleu"].null_count() == 0


@pytest.mark.parametrize("lone", ["ann", "ben"])
def test_a_lone_translator_has_nothing_to_be_compared_with(lone: str) -> None:
    rows = leave_one_out(references({"x/1": {lone: [1.0, 0.0, 0.0]}, "x/2": TRANSLATORS}))
    scored = rows.drop("passage", "translator", "cut")
    assert rows["translator"][0] == lone
    assert set(scored.row(0)) == {None}
    assert scored.slice(1).null_count().sum_horizontal().item() == 0


def test_a_translator_of_two_passages_meets_only_colleagues_of_the_same_passage() -> None:
    passages = {"x/1": {"ann": [1.0, 0.0], "ben": [0.0, 1.0]}, "x/2": {"ann": [1.0, 0.0], "cleo": [1.0, 0.0]}}
    rows = leave_one_out(references(passages))
    assert rows["closest_reference"].to_list() == ["ben", "ann", "cleo", "ann"]
    assert_allclose(rows["sim_best"], [0, 0, 1, 1], atol=1e-6)


def test_without_references_there_is_no_baseline() -> None:
    assert leave_one_out(references({"x/1": TRANSLATORS}).clear()).is_empty()
