import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import pointbiserialr  # type: ignore[import-untyped]

from benchmark_assets.adjudication.labels import MAJOR, MINOR, UNCERTAIN, VALID
from benchmark_assets.audit.correlation import correlations, point_biserial
from benchmark_assets.metrics.intervals import RESAMPLES, sample_and_resamples

OUTPUTS = st.lists(st.tuples(st.integers(-1000, 1000).map(lambda x: x / 10), st.booleans()), min_size=3, max_size=20)
"""Scores that differ by a tenth at least: where a resample holds only scores that differ by a millionth of what all of
them do, sums of squares lose its spread."""


@given(OUTPUTS)
def test_it_is_that_of_scipy_in_the_sample_and_in_every_resample(outputs: list[tuple[float, bool]]) -> None:
    values, errors = (np.array(each) for each in zip(*outputs, strict=True))
    units = np.arange(len(values)) // 2  # two outputs of each
    found = point_biserial(values, errors, units)
    assert found.shape == (1 + RESAMPLES,)
    weights = sample_and_resamples(int(units[-1]) + 1)
    for at in (0, 1, 2):
        times = weights[at, units].astype(int)
        drawn, wrong = np.repeat(values, times), np.repeat(errors, times)
        if np.ptp(drawn) == 0 or wrong.all() or not wrong.any():
            assert np.isnan(found[at])
        else:
            assert_allclose(found[at], pointbiserialr(wrong, drawn).statistic, atol=1e-9)


def rows(labels: list[str | None], raters: str = "panel") -> pl.DataFrame:
    passages = [f"x/{number}" for number in range(len(labels))]
    rated = {"raters": raters, "corpus": "x", "model": "m", "passage": passages, "label": labels, "unit": passages}
    return pl.DataFrame(rated)


def test_a_score_that_knows_the_major_errors_and_one_that_knows_nothing() -> None:
    chance = np.random.default_rng(3)
    labels = chance.choice([VALID, MINOR, MAJOR], 200).tolist()
    scores = rows(labels).select(
        "model", "passage", drift=(pl.col("label") == MAJOR).cast(pl.Float64),
        human_spread=pl.Series(chance.normal(size=200)), sim_best=pl.lit(0.9),
    )  # fmt: skip
    found = correlations(rows(labels), scores).rows_by_key(["level", "metric"], named=True, unique=True)
    assert found["major", "drift"]["correlation"] == pytest.approx(1)
    assert 0 < found["any", "drift"]["correlation"] < 1
    useless = found["major", "human_spread"]
    assert useless["correlation_low"] < 0 < useless["correlation_high"]
    assert found["major", "sim_best"]["correlation"] is found["major", "sim_best"]["correlation_low"] is None
    assert set(found) == {(level, m) for level in ("major", "any") for m in ("drift", "sim_best", "human_spread")}


def test_only_settled_verdicts_with_a_score_count() -> None:
    labels = [VALID, MAJOR, MINOR, UNCERTAIN, None, MAJOR]
    every = pl.concat([rows(labels), rows([MAJOR] * 6, "people")])
    scores = rows(labels).select("model", "passage", drift=pl.Series([1.0, 2.0, 1.5, 9.0, 9.0, None]))
    found = correlations(every, scores)
    assert set(found["outputs"]) == {3}
    assert found.filter(level="major")["correlation"].item() == pytest.approx(
        pointbiserialr([0, 1, 0], [1.0, 2.0, 1.5]).statistic
    )
