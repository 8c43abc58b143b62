import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from benchmark_assets.metrics.entries import MEASURES, ranked
from benchmark_assets.metrics.measures import estimates, panel, ratio, summed
from benchmark_assets.metrics.metric import Metric
from tests.metrics.scores import OUTPUTS, REFERENCES, scores
from tests.support import examples

MEASURE = {measure.name: measure for measure in MEASURES}


def value(measure: Metric, rows: pl.DataFrame) -> float:
    return float(measure.of(measure.statistics(rows).sum(axis=0)))


def systems(*frames: pl.DataFrame) -> pl.DataFrame:
    return pl.concat(frames).rename({"model": "system"})


@given(st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any))
@examples(25)
def test_a_resample_scores_as_its_repeated_passages_do(times: list[int]) -> None:
    rows = scores([1.0, 2.5, None, 4.0], similarities=[0.9, 0.7, 0.8, 0.6])
    repeated = pl.concat([rows[at : at + 1] for at, count in enumerate(times) for _ in range(count)])
    weights = np.array([times], dtype=np.float64)
    for measure in MEASURES:
        [[resampled]] = measure.of(summed(measure.statistics(rows)[None], weights))
        assert_allclose(resampled, value(measure, repeated), rtol=1e-12)


@pytest.mark.parametrize("times", [[1, 1, 1, 1], [0, 2, 1, 1], [4, 0, 0, 0]])
def test_corpus_scores_of_a_resample_are_sacrebleus_to_the_bit(times: list[int]) -> None:
    outputs, references = (np.repeat(texts, times).tolist() for texts in (OUTPUTS, REFERENCES))
    weights = np.array([times], dtype=np.float64)
    rows = scores([1.0] * 4)
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF(word_order=2))):
        found = MEASURE[name].of(summed(MEASURE[name].statistics(rows)[None], weights))
        assert found.item() == metric.corpus_score(outputs, [references]).score


def test_too_long_and_too_short_cancel_in_the_offset_and_not_in_the_error() -> None:
    rows = scores([1.0, 1.0]).with_columns(length_ratio=pl.Series([0.5, 1.5]))
    assert value(MEASURE["length_offset"], rows) == 0
    assert value(MEASURE["length_error"], rows) == 0.5
    short = rows.with_columns(length_ratio=pl.Series([0.5, 0.9]))
    assert value(MEASURE["length_offset"], short) == pytest.approx(0.3)
    assert value(MEASURE["length_error"], short) == pytest.approx(0.3)


def test_what_no_passage_has_is_no_number() -> None:
    rows = scores([None, None], similarities=[0.8, 0.6])
    absent = {measure.name for measure in MEASURES if np.isnan(value(measure, rows))}
    assert absent == {
        "drift", "drift_adjusted", "drift_euclidean", "sim_centroid", "outlier_rate", "comet_avg", "comet_best",
    }  # fmt: skip
    nothing = scores([None], similarities=[None])
    assert all(np.isnan(value(measure, nothing)) for measure in MEASURES)
    assert np.isnan(ratio(np.ones(2), np.array([0.0, -1.0]))).all()


def test_only_a_rate_that_never_varies_has_an_interval_wider_than_a_point() -> None:
    rows = scores([2.0] * 6, [0.8] * 6).with_columns(length_ratio=pl.lit(1.0), chrf=pl.lit(50.0), bleu=pl.lit(50.0))
    own = [measure for measure in MEASURES if not measure.counts and not np.isnan(value(measure, rows))]
    found = estimates(own, [measure.statistics(rows) for measure in own], np.arange(6))
    wide = [measure.name for measure, each in zip(own, found, strict=True) if (each.high or 0) - (each.low or 0) > 1e-9]
    assert wide == ["outlier_rate"]


def test_the_ranked_measures_are_means_in_the_place_of_those_of_palibenchs_table_8() -> None:
    assert [(measure.name, measure.better) for measure in ranked()] == [
        ("sim_best", 1), ("chrf_mean", 1), ("bleu_mean", 1), ("comet_avg", 1), ("length_error", -1),
        ("outlier_rate", -1),
    ]  # fmt: skip


def test_a_panel_has_zeros_where_a_system_lacks_a_passage() -> None:
    first, second = scores([1.0, 2.0, 3.0], system="b"), scores([4.0], system="a")
    both = panel(systems(first.reverse(), second), [MEASURE["drift"]])
    assert both.systems.rows() == [("model", "a", 1.0, True), ("model", "b", 1.0, True)]
    assert both.passages == ["x/0", "x/1", "x/2"]
    assert both.units.tolist() == [0, 1, 2]
    assert both.statistics["drift"].tolist() == [[[1, 4], [0, 0], [0, 0]], [[1, 1], [1, 2], [1, 3]]]


def test_no_output_is_worse_than_a_missing_one() -> None:
    """Aggregates count an output that is worse than a missing one as missing; the published means stay as they are."""
    rows = scores([2.5, 1.9], similarities=[-0.2, 0.4]).with_columns(length_ratio=pl.Series([3.0, 1.2]))
    assert value(MEASURE["sim_best"], rows) == pytest.approx(0.2)
    assert value(MEASURE["length_error"], rows) == pytest.approx(0.6)
    assert value(MEASURE["length_ratio"], rows) == pytest.approx(2.1)
