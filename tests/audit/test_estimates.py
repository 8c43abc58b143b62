from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.adjudication.labels import MAJOR, MINOR, UNSURE, VALID
from benchmark_assets.audit.estimates import estimates
from benchmark_assets.audit.rated import rated
from benchmark_assets.benchmarks.printed_counts import NO_VERDICTS
from benchmark_assets.metrics.anchoring import design_effect, post_stratified
from benchmark_assets.metrics.intervals import Floats, wilson
from tests.support import slack

BANDS = ["0.0-1.0", "1.0-1.5", "1.5-2.0", "2.0-3.0", ">3.0"]
DRAWN = np.array([25, 25, 13, 7, 6])


def bands(model: str, counts: list[tuple[int, list[str]]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Triage and labels of a model: of each band how many outputs there are, and labels of the first of them."""
    rows = [
        (
            model,
            f"x/{band}/{number:04}",
            band,
            BANDS.index(band) > 1,
            number < len(labels),
            [*labels, None][min(number, len(labels))],
        )
        for band, (size, labels) in zip(BANDS, counts, strict=False)
        for number in range(size)
    ]
    frame = pl.DataFrame(rows, ["model", "passage", "band", "queued", "sampled", "label"], orient="row")
    triage = frame.drop("label").with_columns(drift=pl.lit(1.0), unit=pl.format("{} {}", "model", "passage"))
    labels = frame.drop_nulls("label").select(
        "model", "passage", "label", annotator=pl.lit("a"), error_category=pl.lit("OTHER")
    )
    return triage, labels


def estimated(*models: tuple[pl.DataFrame, pl.DataFrame]) -> dict[tuple[str, str], dict[str, Any]]:
    triage, labels = (pl.concat(frames) for frames in zip(*models, strict=True))
    found = estimates(triage, rated(triage, NO_VERDICTS, labels))
    return found.rows_by_key(["model", "region"], named=True, unique=True)


def test_each_stratum_counts_by_its_outputs() -> None:
    found = estimated(
        bands("a", [(900, [VALID] * 9 + [MINOR]), (0, []), (100, [MAJOR] * 3 + [MINOR] * 2 + [VALID] * 5)]),
        bands("b", [(500, [VALID] * 10), (0, []), (500, [MAJOR] * 5 + [VALID] * 5)]),
    )
    a = found["a", "all"]
    assert (a["outputs"], a["labelled"], a["covered"]) == (1000, 20, 1)
    assert_allclose(
        [a["minor_rate"], a["major_rate"], a["any_rate"]], [0.9 * 0.1 + 0.1 * 0.2, 0.1 * 0.3, 0.9 * 0.1 + 0.1 * 0.5]
    )
    assert (found["a", "below"]["major_rate"], found["a", "above"]["major_rate"]) == (0, pytest.approx(0.3))
    assert_allclose(found["", "all"]["major_rate"], (30 + 250) / 2000)
    assert_allclose(found["", "above"]["major_rate"], (30 + 250) / 600)
    for row in found.values():
        for name in ("minor_rate", "major_rate", "any_rate"):
            assert 0 <= row[f"{name}_low"] <= row[name] + 1e-12 <= row[f"{name}_high"] + 1e-12 <= 1 + 1e-12
    assert found["b", "below"]["any_rate_high"] > 0.1  # no error in ten labels does not say that there is none


def test_strata_without_labels_are_said_not_to_be_covered() -> None:
    found = estimated(bands("a", [(600, [VALID, MAJOR]), (300, []), (100, [UNSURE])]))
    every = found["a", "all"]
    assert (every["covered"], every["labelled"], every["missing_share"]) == (0.6, 2, pytest.approx(0.4))
    assert every["problem"] == "people labeled outputs below the threshold only; 40.0 % of the labels are missing"
    assert every["major_rate"] is None
    below = found["a", "below"]
    assert (below["covered"], below["major_rate"]) == (pytest.approx(2 / 3), 0.5)
    assert (below["major_rate_least"], below["major_rate_most"]) == pytest.approx((1 / 3, 2 / 3))
    assert below["problem"] == "33.3 % of the labels are missing"
    above = found["a", "above"]
    assert (above["covered"], above["labelled"], above["major_rate"], above["any_rate_high"]) == (0, 0, None, None)


def test_a_corpus_without_labels_has_no_estimate() -> None:
    triage, labels = bands("a", [(10, [VALID])])
    assert estimates(triage, rated(triage, NO_VERDICTS, labels.clear())).is_empty()


def of_strata(
    weights: Floats, labelled: Floats, errors: Floats, rates: Floats, effect: float = 1.0
) -> tuple[float, float, float]:
    """`post_stratified` from the numbers of labeled outputs and of errors of strata."""
    numbers = labelled.astype(int)
    hits = np.concatenate([np.arange(count) < own for count, own in zip(numbers, errors, strict=True)]).astype(float)
    return post_stratified(np.repeat(weights / labelled, numbers), hits, np.repeat(rates, numbers), effect)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.01, 0.99))
def test_of_one_stratum_the_interval_is_wilsons(counts: tuple[int, int], rate: float) -> None:
    errors, labelled = counts
    found = of_strata(np.ones(1), np.array([labelled]), np.array([errors]), np.array([rate]))
    assert_allclose(found, (errors / labelled, *wilson(errors, labelled)), atol=1e-9)
    halved = of_strata(np.ones(1), np.array([labelled]), np.array([errors]), np.array([rate]), 2.0)
    assert_allclose(halved, (errors / labelled, *wilson(errors / 2, labelled / 2)), atol=1e-9)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_a_sample_in_proportion_estimates_as_if_it_were_one(strata: list[tuple[int, int]]) -> None:
    labelled = np.array([10 * size for size, _ in strata])
    errors = np.array([min(hits, 10 * size) for size, hits in strata])
    equal = np.full(len(strata), 0.2)
    found = of_strata(labelled / labelled.sum(), labelled, errors, equal)
    assert_allclose(found, (errors.sum() / labelled.sum(), *wilson(int(errors.sum()), int(labelled.sum()))), atol=1e-9)


def test_the_design_effect_of_equal_deviations_is_the_size_of_their_units() -> None:
    assert design_effect(np.ones(5000), np.arange(5000) // 5) == pytest.approx(5, rel=0.01)
    assert design_effect(np.tile([1.0, -1.0], 2500), np.arange(5000)) == pytest.approx(1, rel=0.01)
    assert design_effect(np.tile([1.0, -1.0], 2500), np.arange(5000) // 2) == pytest.approx(1, rel=0.01)  # at least
    ten = design_effect(np.ones(10), np.arange(10))  # t of nine degrees of freedom, 2.262
    assert ten == pytest.approx((2.262 / 1.96) ** 2, rel=0.001)


def test_labels_in_few_documents_have_wide_intervals_and_in_four_none() -> None:
    triage, labels = bands("a", [(100, [MAJOR] * 5 + [VALID] * 35)])
    rows = {}
    for size in (1, 5, 10):
        units = pl.col("passage").str.tail(4).cast(pl.Int64) // size
        frame = triage.with_columns(unit=pl.format("x/d{}", units))
        found = estimates(frame, rated(frame, NO_VERDICTS, labels))
        rows[size] = found.row(by_predicate=(pl.col("model") == "a") & (pl.col("region") == "all"), named=True)
    assert rows[1]["major_rate"] == rows[5]["major_rate"] == rows[10]["major_rate"] == 0.125
    assert rows[5]["major_rate_high"] - rows[5]["major_rate_low"] > 1.5 * (
        rows[1]["major_rate_high"] - rows[1]["major_rate_low"]
    )
    assert (rows[10]["major_rate_low"], rows[10]["major_rate_high"]) == (None, None)


def coverage(profile: Floats, sizes: Floats, rate: float, trials: int) -> float:
    """How often the interval holds a rate: 4 models, 5 bands.

    `profile` says how the strata's rates relate, `sizes` how many outputs they have, 0 where they are not part of what
    is estimated; shapes (4, 5).
    """
    weights = (sizes / sizes.sum()).ravel()
    least, most = 0.0, 1000.0
    for _ in range(80):  # until the rate is the wanted one
        middle = (least + most) / 2
        low = weights @ np.minimum(middle * profile, 0.95).ravel() < rate
        least, most = (middle, most) if low else (least, middle)
    rates, drawn = np.minimum(least * profile, 0.95).ravel(), np.tile(DRAWN, 4)
    truth, hits = float(weights @ rates), 0
    for errors in np.random.default_rng(1).binomial(drawn, rates, size=(trials, 20)):
        banded = (errors.reshape(4, 5).sum(axis=0) + 0.5) / (4 * DRAWN + 1)
        _, low, high = of_strata(weights, drawn, errors, np.tile(banded, 4))
        hits += low <= truth <= high
    return hits / trials


BY_BAND = {
    "alike": [1.0, 1.0, 1.0, 1.0, 1.0], "as in the paper": [1.0, 2.0, 5.0, 12.0, 40.0],
    "steep": [0.2, 0.5, 5.0, 20.0, 60.0], "falling": [5.0, 3.0, 2.0, 1.0, 1.0],
}  # fmt: skip
OUTPUTS = {"as in the paper": [0.50, 0.33, 0.10, 0.05, 0.02], "heavy tail": [0.35, 0.30, 0.20, 0.10, 0.05]}


@pytest.mark.parametrize("shape", ["alike", "as in the paper", "steep"])
@pytest.mark.parametrize("rate", [0.005, 0.02, 0.2])
def test_the_interval_covers_the_rate_of_all_outputs_as_often_as_it_promises(shape: str, rate: float) -> None:
    profile, sizes = np.outer([0.5, 0.8, 0.8, 1.9], BY_BAND[shape]), np.tile(OUTPUTS["as in the paper"], (4, 1))
    assert coverage(profile, sizes, rate, 2000) >= 0.93  # standard error 0.005


@pytest.mark.proof
def test_it_does_so_for_many_kinds_of_strata(full: bool) -> None:
    trials = 4000 if full else 40
    parts = [np.ones((4, 5)), np.outer([1, 0, 0, 0], np.ones(5)), np.outer(np.ones(4), [1, 1, 0, 0, 0])]
    found = [
        coverage(np.outer(models, bands), np.tile(outputs, (4, 1)) * part, rate, trials)
        for models in ([1.0, 1.0, 1.0, 1.0], [0.5, 0.8, 0.8, 1.9], [0.1, 0.3, 0.6, 3.0])
        for bands in BY_BAND.values()
        for outputs in OUTPUTS.values()
        for part in parts  # all outputs, one model, those below the threshold
        for rate in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    ]
    print(f"{len(found)} cases: least {min(found):.3f}, median {np.median(found):.3f}, most {max(found):.3f}")
    assert min(found) >= 0.925 - slack(full, trials)  # standard error 0.004, and the least of 432
