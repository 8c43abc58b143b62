"""What asset checks find wrong in tables, and what they leave alone."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation.findings import (
    left_over,
    mixed_versions,
    out_of_range,
    refusals,
    unaccounted,
    uncovered,
    unexplained_nulls,
    unknown,
)
from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.references.rows import envelope_rows
from resources import catalogue
from resources.tables import markdown
from tests.rows import rows_of
from tests.vectors import Vector, candidates, references

INF, NAN = math.inf, math.nan


@given(st.sets(st.integers(0, 250), min_size=1), st.sets(st.integers(0, 250)))
def test_only_problems_that_were_not_there_before_are_unknown(now: set[int], before: set[int]) -> None:
    """A table shows a hundred of its rows. Of the others it is known whether their number has changed."""
    problems, earlier = (pl.DataFrame({"row": sorted(rows)}, {"row": pl.Int64}) for rows in (now, before))
    known = markdown(earlier).splitlines() if before else []
    found = unknown(problems, known)
    assert unknown(problems, markdown(problems).splitlines()) == []
    assert all(0 <= at < len(problems) for at in found)
    if not before:
        assert len(found) == len(problems)
    elif max(len(now), len(before)) <= 100:
        assert [sorted(now)[at] for at in found] == sorted(now - before)


def where(found: pl.DataFrame) -> list[str]:
    return found["where"].to_list()


def passages(counts: Mapping[str, int]) -> pl.DataFrame:
    """Complete references of each passage."""
    return pl.DataFrame(list(counts.items()), schema=["passage", "count"], orient="row")


def grid(*keys: str, **columns: object) -> pl.DataFrame:
    """Rows of `model` and `passage`, one for each key `model|passage`."""
    schema = dict.fromkeys(["model", "passage"], pl.String)
    rows = pl.DataFrame([key.split("|") for key in keys], schema=schema, orient="row")
    return rows.with_columns(pl.lit(value).alias(name) for name, value in columns.items())


# Numbers out of range


@pytest.mark.parametrize(
    ("table", "column", "possible", "impossible"),
    [
        # a cosine, of vectors in float32
        ("drift_score", "sim_best", [-1.0, 0.0, 1.0, 1 + 2e-7], [1.001, -1.001]),
        ("reference_similarity", "similarity", [-1.0, 1.0], [2.0]),
        ("reference_envelope", "human_spread", [0.0, 1.0], [-0.01, 1.01]),
        ("leaderboard", "outlier_rate", [0.0, 1.0], [-0.01, 1.01]),
        ("lexical_score", "chrf", [0.0, 100.0], [-1.0, 101.0]),
        ("lexical_score", "bleu", [0.0, 100.0], [-1.0, 101.0]),
        ("lexical_score", "length_ratio", [0.0, 1e6], [-0.1]),
        ("drift_score", "drift", [0.0, 2 / 0.01], [-0.1, 201.0]),  # at most: opposite to references that coincide
        ("leaderboard", "chrf_low", [0.0, 100.0], [-1.0, 101.0]),
        ("leaderboard", "sim_best_high", [0.9, 1.0], [1.1]),
        ("literary_score", "score", [0.0, 100.0], [640.0]),
        ("sensitivity", "auc", [0.0, 1.0], [1.2]),
        ("pairwise_score", "strength", [-1e9, 1e9], []),
        ("alignment", "likeness", [[0.5, -0.5, None]], [[0.5, 1.5]]),
        ("leaderboard", "outliers", [0], [-3]),
    ],
)
def test_a_number_that_its_column_cannot_hold_is_found(
    table: str, column: str, possible: list[Any], impossible: list[Any]
) -> None:
    declared = catalogue.table(table)
    fine = rows_of(table, len(possible), **{column: possible})
    assert column not in set(out_of_range(fine, declared).filter(~pl.col("problem").str.contains("interval"))["where"])
    not_finite = [NAN, INF, -INF] if declared.columns[column].polars.is_float() else []
    for value in (*impossible, *not_finite):
        found = out_of_range(rows_of(table, 2, **{column: [possible[0], value]}), declared).filter(where=column)
        assert found.filter(pl.col("problem").str.starts_with("not a number"))["rows"].to_list() == [1], value


def test_a_finding_counts_its_rows_and_names_the_first() -> None:
    rows = rows_of("drift_score", 3, model=["m", "m", "n"], passage=["x/1", "x/2", "x/2"], drift=[1.0, -1.0, 999.0])
    found = out_of_range(rows, catalogue.table("drift_score"))
    assert found.select("where", "rows", "example").rows() == [("drift", 2, "m|x/2")]


@given(st.tuples(*[st.floats(0, 100)] * 3))
def test_an_interval_ends_after_it_begins(numbers: tuple[float, float, float]) -> None:
    value, low, high = numbers
    rows = rows_of("leaderboard", chrf=[value], chrf_low=[low], chrf_high=[high])
    assert where(out_of_range(rows, catalogue.table("leaderboard"))) == (["chrf"] if low > high else [])


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("human_baseline", ["sim_centroid", "drift"]),
        ("lexical_score", ["chrf", "bleu", "length_ratio"]),
        ("reference_envelope", ["human_spread", "euclidean_spread", "mean_similarity", "least_similarity", "centroid"]),
    ],
)
def test_columns_that_rest_on_the_same_are_null_together(table: str, columns: list[str]) -> None:
    for nulls in range(2 ** len(columns)):
        empty = [name for at, name in enumerate(columns) if nulls >> at & 1]
        found = out_of_range(rows_of(table, 1, **{name: [None] for name in empty}), catalogue.table(table))
        assert where(found) == ([", ".join(columns)] if 0 < len(empty) < len(columns) else []), empty


def test_a_word_that_is_not_on_the_list_of_its_column_is_found() -> None:
    rows = rows_of("verdict", 2, label=["MINOR_ERROR", "FINE"])
    found = out_of_range(rows, catalogue.table("verdict"))
    assert found.select("where", "rows").rows() == [("label", 1)]
    assert "MAJOR_ERROR" in found["problem"][0]


def scored(*own: Vector) -> pl.DataFrame:
    """Scores of outputs that are equal to the first of these references, opposite to it, and elsewhere."""
    human = references({"x/1": {f"t{i}": vector for i, vector in enumerate(own)}})
    first = np.asarray(own[0])
    tried = candidates({"x/1": {"equal": first, "opposite": -first, "elsewhere": np.roll(first, 1)}})
    envelopes = envelope_rows(human.select("passage").unique(), human)["reference_envelope"]
    scores, _ = semantic_scores(tried, human, envelopes, on=["model", "passage"], within=["passage"])
    return scores


@pytest.mark.parametrize(
    "own",
    [
        pytest.param([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], id="apart"),
        pytest.param([[1.0, 0.0]], id="single"),
        pytest.param([[1.0, 0.0]] * 3, id="equal"),
        pytest.param([[1.0, 0.0], [math.cos(0.01), math.sin(0.01)]], id="nearly equal"),
    ],
)
def test_scores_as_the_metrics_compute_them_are_sound(own: list[Vector]) -> None:
    found = scored(*own)
    rows = rows_of("drift_score", len(found), **{name: found[name].to_list() for name in found.columns})
    assert out_of_range(rows, catalogue.table("drift_score")).rows() == []


def test_drift_is_sound_where_rounding_makes_vectors_longer_than_one() -> None:
    found = scored(*[[math.sqrt(1 / 6)] * 6] * 3).select("model", "drift")
    assert found["drift"].min() == pytest.approx(0, abs=1e-5)
    rows = rows_of("drift_score", len(found), drift=found["drift"].to_list(), model=found["model"].to_list())
    assert out_of_range(rows, catalogue.table("drift_score")).rows() == []


# Nulls


@pytest.mark.parametrize(
    ("column", "least"), [("sim_best", 1), ("length_ratio", 1), ("chrf", 1), ("drift", 2), ("human_spread", 2)]
)
def test_a_score_may_be_null_only_without_the_references_that_it_needs(column: str, least: int) -> None:
    counts = passages({"x/1": 1, "x/2": 2, "x/3": 3})
    keys = ["m|x/none", "m|x/1", "m|x/2", "m|x/3"]
    nothing = grid(*keys).with_columns(pl.lit(None, pl.Float64).alias(column))
    found = unexplained_nulls(nothing, counts, ["model", "passage"])
    assert found.select("where", "rows", "example").rows() == [(column, 4 - least, f"m|x/{least}")]
    assert unexplained_nulls(grid(*keys, **{column: 0.5}), counts, ["model", "passage"]).is_empty()


def test_a_table_without_scores_has_no_unexplained_nulls() -> None:
    rows = grid("m|x/1").with_columns(pl.lit(None, pl.String).alias("closest_reference"))
    assert unexplained_nulls(rows, passages({"x/1": 5}), ["model"]).is_empty()


# Rows and their partitions


DIMS = ["model", "passage"]


def accounts(rows: pl.DataFrame, states: pl.DataFrame, dims: list[str]) -> list[tuple[str, str]]:
    """Where rows are not those that were recorded, and the first such partition."""
    return unaccounted(rows, states, dims).select("where", "example").rows()


def test_rows_are_accounted_for_by_a_record_of_as_many_that_were_made_from_the_same() -> None:
    states = grid("m|x/1", "m|x/2", "n|x/1", fingerprint="f", row_count=1)
    rows = states.drop("row_count")
    assert accounts(rows.reverse(), states, DIMS) == []
    assert accounts(rows.head(2).with_columns(fingerprint=pl.lit("g")), states.head(2), DIMS) == [("rows", "m|x/1")]
    other = rows.with_columns(fingerprint=pl.Series(["f", "g", "f"]))
    assert accounts(other, states, DIMS) == [("rows", "m|x/2")]
    added = pl.concat([rows, grid("n|x/2", fingerprint="f")])
    assert accounts(added, states, DIMS) == [("rows", "n|x/2")]
    twice = pl.concat([rows, rows.head(1)])
    assert accounts(twice, states, DIMS) == [("rows", "m|x/1")]


def test_partitions_whose_rows_are_gone_are_counted() -> None:
    states = grid("m|x/1", "m|x/2", "n|x/1", fingerprint="f", row_count=1)
    rows = states.drop("row_count")
    for gone in range(4):
        found = unaccounted(rows.tail(3 - gone), states, DIMS).select("where", "rows", "example").rows()
        assert found == ([("rows", gone, "m|x/1")] if gone else [])


def test_a_partition_that_was_recorded_without_rows_has_none() -> None:
    states = grid("m|x/1", "m|x/2", fingerprint="f").with_columns(row_count=pl.Series([1, 0]))
    rows = states.drop("row_count")
    assert accounts(rows.head(1), states, DIMS) == []
    assert accounts(rows, states, DIMS) == [("rows", "m|x/2")]
    assert accounts(rows.clear(), states.tail(1), DIMS) == []


def test_several_rows_of_a_partition_are_counted() -> None:
    states = pl.DataFrame({"model": "", "passage": ["x/1", "x/2"], "fingerprint": ["a", "b"], "row_count": [3, 1]})
    rows = pl.DataFrame({"passage": ["x/1"] * 3 + ["x/2"], "translator": ["ann", "ben", "cleo", "ann"]})
    rows = rows.with_columns(fingerprint=pl.Series(["a", "a", "a", "b"]))
    assert accounts(rows, states, ["passage"]) == []
    more = pl.DataFrame({"passage": ["x/1"], "translator": ["dora"], "fingerprint": ["a"]})
    mixed = rows.with_columns(fingerprint=pl.Series(["a", "a", "b", "b"]))
    for wrong in (pl.concat([rows, more]), rows.tail(3), rows.tail(1), mixed):
        assert accounts(wrong, states, ["passage"]) == [("rows", "x/1")]


def test_rows_of_an_asset_without_partitions_are_of_its_last_run() -> None:
    rows = pl.DataFrame({"system": ["m", "n", "o"], "fingerprint": "new"})
    state = pl.DataFrame({"fingerprint": ["new"], "row_count": [3]})
    assert accounts(rows, state, []) == []
    assert accounts(rows.clear(), state.with_columns(row_count=0), []) == []
    old = rows.with_columns(fingerprint=pl.lit("old"))
    for wrong in (rows.head(2), pl.concat([rows, rows]), rows.clear(), old, pl.concat([rows, old])):
        assert accounts(wrong, state, []) == [("rows", "")]
    assert accounts(rows, state.clear(), []) == [("rows", "")]


KEYS = st.tuples(st.sampled_from("mn"), st.sampled_from(["x/1", "x/2", "x/2/a", "y/1", "y/2"])).map("|".join)


@given(st.lists(KEYS, unique=True, min_size=1), st.lists(KEYS, unique=True))
def test_passages_that_are_missing_are_counted_by_model_and_corpus(expected: list[str], present: list[str]) -> None:
    found = uncovered(grid(*expected), grid(*present))
    told = {(model, corpus): rest for model, corpus, *rest in found.rows()}
    for model in "mn":
        for corpus in "xy":
            asked, missing = (
                [key[2:] for key in sorted(keys) if key.startswith(f"{model}|{corpus}/")]
                for keys in (expected, set(expected) - set(present))
            )
            assert told.get((model, corpus)) == ([len(asked), len(missing), missing[0]] if missing else None)
    assert list(told) == sorted(told)


# Refusals and versions


def test_a_model_that_refuses_more_than_a_twentieth_is_named() -> None:
    outputs = grid(*(f"{model}|x/{i}" for model in ("never", "seldom", "often") for i in range(19)))
    refused = grid("seldom|x/19", "often|x/19", "often|x/20", "always|x/1")
    assert refusals(outputs, refused).rows() == [("always", 1, 1), ("often", 21, 2)]
    assert refusals(outputs, refused.clear()).is_empty()


CALLS = pl.DataFrame(
    [("c1", "v1"), ("c2", "v2"), ("c3", "v1"), ("c4", None)], schema=["call", "served_model"], orient="row"
)


def asked(*calls: tuple[str, str | None]) -> pl.DataFrame:
    """Model and call of each output."""
    return pl.DataFrame(calls, schema={"model": pl.String, "call": pl.String}, orient="row")


def test_a_model_whose_outputs_come_from_several_versions_is_named_with_each() -> None:
    outputs = asked(("mixed", "c1"), ("mixed", "c1"), ("mixed", "c2"), ("pure", "c1"), ("pure", "c3"), ("new", "c2"))
    assert mixed_versions(outputs, CALLS).rows() == [("mixed", "v1", 2), ("mixed", "v2", 1)]


def test_calls_of_which_no_version_is_known_say_nothing() -> None:
    outputs = asked(("m", "c1"), ("m", "c4"), ("m", "not in the ledger"), ("m", None))
    assert mixed_versions(outputs, CALLS).is_empty()


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([("c1", "v1"), ("c2", "")], id="a reply that does not say"),
        pytest.param([("c1", "v1"), ("c2", ""), ("c2", "v1")], id="an error, then a reply"),
    ],
)
def test_a_version_that_is_not_said_is_no_other_version(calls: list[tuple[str, str]]) -> None:
    frame = pl.DataFrame(calls, schema=["call", "served_model"], orient="row")
    assert mixed_versions(asked(("m", "c1"), ("m", "c2")), frame).rows() == []


def test_text_without_a_segment_is_counted_by_corpus_and_translator() -> None:
    totals = pl.DataFrame({
        "corpus": ["a", "a", "b"], "translator": ["dora", "eli", "dora"], "stretches": [2, 1, 1],
        "characters": [5, 20, 1],
    })  # fmt: skip
    texts = [("a", "dora", "x" * 60), ("a", "dora", "y" * 40), ("a", "eli", "z" * 40), ("b", "dora", "𒀭" * 3)]
    prose = pl.DataFrame([*texts, ("b", "eli", "whole")], schema=["corpus", "translator", "text"], orient="row")
    assert left_over(totals, prose).rows() == [
        ("a", "eli", 1, 20, 40, 50.0), ("b", "dora", 1, 1, 3, 33.3), ("a", "dora", 2, 5, 100, 5.0),
    ]  # fmt: skip
    assert left_over(totals.clear(), prose).is_empty()
