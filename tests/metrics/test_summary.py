import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.intervals import mean_interval, rate_interval
from benchmark_assets.metrics.lexical import signatures
from benchmark_assets.metrics.summary import SUMMARY, signature, summarize
from tests.metrics.scores import OUTPUTS, scores

SIX = [1.0, 5.0, 2.0, 0.5, 3.0, 1.5]


def test_an_outlier_drifts_by_strictly_more_than_two() -> None:
    row = summarize(scores([2.0, math.nextafter(2.0, 3.0), 1.0, 5.0, 1.0, 1.0]))
    assert (row["outliers"], row["with_envelope"], row["outlier_rate"]) == (2, 6, 1 / 3)
    bounds = row["outlier_rate_low"], row["outlier_rate_high"]
    assert bounds == pytest.approx(rate_interval(np.array([0, 1, 0, 1, 0, 0]) > 0, np.arange(6)))


def test_means_lie_in_their_intervals_and_ignore_what_is_absent() -> None:
    row = summarize(scores([1.0, None, 3.0, 1.0, 3.0, 1.0, 3.0], similarities=[0.9, 0.8, 0.7] + [0.8] * 4))
    assert (row["drift"], row["sim_best"], row["drift_euclidean"]) == pytest.approx((2.0, 0.8, 1.0))
    assert (row["passages"], row["with_envelope"], row["outliers"], row["outlier_rate"]) == (7, 6, 3, 0.5)
    for name in ("drift", "sim_best", "bleu", "chrf", "outlier_rate", "length_ratio"):
        assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]  # type: ignore[operator]


def test_fewer_than_five_units_have_scores_without_intervals() -> None:
    rows = scores([1.0] * 8).with_columns(unit=pl.Series(list("aabbccdd")))
    row = summarize(rows)
    assert (row["passages"], row["units"], row["sim_best"]) == (8, 4, 0.9)
    assert {row[f"{name}{end}"] for name in ("sim_best", "outlier_rate", "bleu") for end in ("_low", "_high")} == {None}


def test_passages_without_an_output_count_as_failures() -> None:
    rows = scores(SIX).with_columns(usable=pl.Series([True] * 4 + [False] * 2))
    row = summarize(rows)
    assert (row["passages"], row["coverage"], row["failures"]) == (6, 4 / 6, 2)
    assert summarize(rows.with_columns(kind=pl.lit("human")))["failures"] is None


def test_a_limited_evaluation_covers_a_share_of_all_passages() -> None:
    limited = scores(SIX, similarities=[0.9, 0.9, None, None, None, None]).with_columns(
        evaluated=pl.Series([True] * 3 + [False] * 3), usable=pl.Series([True] * 2 + [False] * 4)
    )
    row = summarize(limited)
    assert (row["passages"], row["evaluated"], row["available"], row["failures"]) == (2, 3, 6, 1)
    assert row["coverage"] == 2 / 6


def test_without_an_envelope_there_is_similarity_but_no_drift() -> None:
    row = summarize(scores([None] * 6))
    null = {name for name, value in row.items() if value is None}
    named = {"outlier_rate", "drift", "drift_adjusted", "drift_euclidean", "sim_centroid", "comet_avg", "comet_best"}
    assert null == {"outliers", *DIAGNOSES, *(f"{name}{bound}" for name in named for bound in ("", "_low", "_high"))}
    assert row["with_envelope"] == 0


def test_without_references_there_is_nothing_to_report() -> None:
    row = summarize(scores([None, None], similarities=[None, None]))
    assert [row.pop(name) for name in ("passages", "units", "with_envelope", "with_comet")] == [0] * 4
    assert [row.pop(name) for name in ("coverage", "failures", "evaluated", "available")] == [1, 0, 2, 2]
    assert set(row.values()) == {None}


@pytest.mark.parametrize("drifts", [[1.0], [1.0, None], [None]])
def test_every_column_of_the_schema_has_a_value(drifts: Sequence[float | None]) -> None:
    assert {*summarize(scores(drifts)), "ranked", "embedder"} == set(SUMMARY)


def test_passages_without_references_leave_the_other_numbers_alone() -> None:
    full = scores(SIX)
    lacking = pl.concat([full, scores([None, None], similarities=[None, None])])
    with_lacking, without = summarize(lacking), summarize(full)
    for name in ("passages", "outliers", "drift", "sim_best", "bleu", "chrf", "length_ratio", "bleu_low", "chrf_high"):
        assert with_lacking[name] == without[name]


def test_an_interval_is_that_of_the_units_whatever_their_order() -> None:
    rows = scores(SIX * 2).with_columns(unit=pl.Series(list("abcdeffedcba")))
    units = np.array(["abcdef".index(unit) for unit in rows["unit"]])
    row = summarize(rows.reverse())
    assert (row["drift_low"], row["drift_high"]) == pytest.approx(mean_interval(np.array(SIX * 2), units))


def test_means_over_passages_stand_beside_the_scores_of_the_corpus() -> None:
    rows = scores([1.0] * len(OUTPUTS))
    row = summarize(rows)
    for name in ("bleu", "chrf"):
        assert row[f"{name}_mean"] == pytest.approx(rows[name].mean())
        assert row[name] != pytest.approx(row[f"{name}_mean"], abs=0.5)


def test_the_mean_number_of_references_is_that_of_the_passages_scored() -> None:
    rows = scores([1.0, 1.0, None], similarities=[0.9, 0.9, None]).with_columns(references=pl.Series([3, 2, 0]))
    assert summarize(rows)["mean_references"] == 2.5


def test_diagnostics_are_counted_where_there_are_any() -> None:
    rows = scores([1.0, None, 1.0], similarities=[0.9, None, 0.9]).with_columns(
        empty=pl.Series([False, True, False]), copied=pl.Series([True, None, True])
    )
    row = summarize(rows)
    assert (row["empty"], row["copied"], row["repeated"]) == (1, 2, None)


def test_a_signature_names_everything_that_a_number_rests_on() -> None:
    text = signature("letters|v1", "wmt22|v2")
    assert "COMET" not in signature("letters|v1")
    for part in (
        "wmt22|v2",
        "letters|v1",
        *signatures().values(),
        "drift > 2.0",
        "jackknife error",
        "seed",
        "Wilson",
    ):
        assert part in text
