import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.metrics.baseline import against_the_others
from benchmark_assets.reporting.left_out import left_out_scores
from benchmark_assets.reporting.outliers import SUBSETS, counted, exceeded_by, human_drifts, quantiles
from benchmark_assets.reporting.outliers import thresholds as checked
from tests.reporting.similarities import outputs, pairs, rates, thresholds, units
from tests.support import examples
from tests.vectors import exchangeable_translations, references

NAMES = ["ann", "ben", "cleo", "dov", "eve", "fay", "gil", "hal", "ida", "jon", "kim"]


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0.01, 1)), min_size=1), st.floats(0.01, 0.99))
def test_no_smaller_value_is_exceeded_by_so_few(rows: list[tuple[float, float]], share: float) -> None:
    values, weights = np.array(rows).T
    threshold = exceeded_by(values, weights, share)

    def beyond(value: float) -> float:
        return float(weights[values > value].sum() / weights.sum())

    assert threshold in values
    assert beyond(threshold) <= share + 1e-8
    assert all(beyond(value) >= share - 1e-8 for value in values[values < threshold])


@examples(10)
@given(st.integers(3, 5), st.integers(0, 1000))
def test_drifts_are_those_of_a_translator_against_every_subset(count: int, seed: int) -> None:
    drawn, names = exchangeable_translations(seed, 2, count), NAMES[:count]
    rows = human_drifts(pairs(drawn, names))
    assert rows["references"].unique().sort().to_list() == list(range(2, count))
    human = references({f"x/{at}": dict(zip(names, each, strict=True)) for at, each in enumerate(drawn)})
    whole = against_the_others(human, human).sort("passage", "translator")
    found = rows.filter(references=count - 1).sort("passage", "translator")
    for name in ("drift_adjusted", "drift"):
        assert_allclose(found[name].list.first(), whole[name], rtol=1e-3)
    # against two of the others: one subset without each further translator
    own = human.filter(pl.col("translator").is_in(names[:3]))
    two = against_the_others(own.filter(translator=names[0]), own).sort("passage")
    subsets = rows.filter(references=2, translator=names[0]).sort("passage")
    assert_allclose(subsets["drift_adjusted"].list.first(), two["drift_adjusted"], rtol=1e-3)


def test_many_subsets_are_sampled() -> None:
    drawn = exchangeable_translations(1, 2, 11)
    rows = human_drifts(pairs(drawn, NAMES))
    sizes = dict(rows.group_by("references").agg(pl.col("drift").list.len().max()).iter_rows())
    assert (sizes[2], sizes[5], sizes[10]) == (45, SUBSETS, 1)
    assert rows.equals(human_drifts(pairs(drawn, NAMES)))
    exact = human_drifts(pairs(drawn[:, :10], NAMES[:10])).filter(references=4)["drift_adjusted"].list.mean().mean()
    sampled = rows.filter(references=5)["drift_adjusted"].list.mean().mean()
    assert sampled == pytest.approx(exact, rel=0.1)


def test_thresholds_have_the_stated_false_alarms_and_models_a_share_of_outliers() -> None:
    drawn = exchangeable_translations(1, 200, 5)
    own, names = drawn[:, :4], NAMES[:4]
    models = {"a person": drawn[:, 4], "unrelated": exchangeable_translations(2, 200, 1)[:, 0]}
    similarities, whole = pairs(own, names), units(200)
    table = thresholds(human_drifts(similarities), whole, {"x": 0.1})
    assert table["references"].to_list() == [2, 3]
    assert table["texts"].to_list() == [800, 800]
    assert (table["threshold_low"] < table["threshold"]).all()
    assert (table["threshold"] < table["threshold_high"]).all()
    assert (table["published_rate"] > 0.1).all()
    scores = left_out_scores(outputs(models, own, names), similarities)
    found = {row["system"]: row for row in rates(scores, table, whole).iter_rows(named=True)}
    people = [found[name]["share"] for name in names]
    assert np.mean(people) == pytest.approx(0.1, abs=0.002)
    assert found["a person"]["share"] == pytest.approx(0.1, abs=0.05)
    assert found["unrelated"]["share"] == 1
    for row in found.values():
        assert row["share_low"] <= row["share"] <= row["share_high"]
        assert (row["mean_references"], row["passages"]) == (3, 200)


def test_the_text_at_a_threshold_is_not_above_it_however_its_drift_is_rounded() -> None:
    own, names, whole = exchangeable_translations(3, 40, 4), NAMES[:4], units(40)
    similarities = pairs(own, names)
    table = thresholds(human_drifts(similarities), whole, {"x": 0.1})
    scores = left_out_scores(outputs({}, own, names), similarities)
    nearest = (scores["drift_adjusted"] - table.filter(references=3)["threshold"].item()).abs()
    assert nearest.min() < 1e-12
    shares = [
        rates(scores.with_columns(pl.col("drift_adjusted") * (1 + rounding)), table, whole)["share"].to_list()
        for rounding in (-1e-14, 0, 1e-14)
    ]
    assert shares[0] == shares[1] == shares[2]


def test_a_threshold_holds_while_as_many_drifts_exceed_it() -> None:
    """Sums tell whether former thresholds are still those of the drifts: none of their values is read."""
    drawn, whole, shares = exchangeable_translations(1, 60, 4), units(60), {"x": 0.1}
    drifts = human_drifts(pairs(drawn, NAMES[:4]))
    cuts = quantiles(drifts, whole, shares)

    def held(rows: pl.DataFrame) -> pl.DataFrame | None:
        return checked(counted(rows, whole, cuts), cuts, shares, whole.unique("corpus"))

    def with_factor(rows: pl.Expr, factor: float) -> pl.DataFrame:
        value = pl.col("drift_adjusted")
        return drifts.with_columns(
            drift_adjusted=pl.when(rows).then(value.list.eval(pl.element() * factor)).otherwise(value)
        )

    found = held(drifts)
    assert found is not None
    assert found.select(cuts.columns).equals(cuts)
    lowest = pl.col("drift_adjusted").list.max() < cuts["threshold_low"].min()
    below = with_factor(lowest, 0.99)
    kept = held(below)
    assert kept is not None
    assert kept.select(cuts.columns).equals(quantiles(below, whole, shares))
    above = with_factor(lowest, 100)
    assert held(above) is None
    assert (quantiles(above, whole, shares)["threshold"] > cuts["threshold"]).all()
    assert held(drifts.filter(references=2)) is None
    assert checked(counted(drifts, whole, cuts.clear()), cuts.clear(), shares, whole.unique("corpus")) is None


def test_few_units_give_a_threshold_without_interval() -> None:
    drawn = exchangeable_translations(1, 4, 3)
    row = thresholds(human_drifts(pairs(drawn, NAMES[:3])), units(4), {"x": 0.05}).row(0, named=True)
    assert row["threshold"] > 0
    assert (row["threshold_low"], row["published_rate_low"]) == (None, None)


def test_two_translators_allow_no_threshold() -> None:
    drawn = exchangeable_translations(1, 9, 2)
    similarities = pairs(drawn, NAMES[:2])
    table = thresholds(human_drifts(similarities), units(9), {"x": 0.05})
    assert table.is_empty()
    scores = left_out_scores(outputs({}, drawn, NAMES[:2]), similarities)
    assert rates(scores, table, units(9)).is_empty()


@pytest.mark.proof
@pytest.mark.parametrize("together", [1, 6])
def test_intervals_of_thresholds_cover_the_threshold_of_all_translations(full: bool, together: int) -> None:
    """Corpora of 25 blocks of 6 passages, in which translators keep to a distance, or do not."""
    corpora, truth_of = (200, 20_000) if full else (10, 4000)
    everyone = human_drifts(pairs(exchangeable_translations(1, truth_of, 3), NAMES[:3]))
    truth = float(np.quantile(everyone["drift_adjusted"].explode().to_numpy(), 0.95))
    hits = 0
    for seed in range(corpora):
        drawn = exchangeable_translations(100 + seed, 150, 3, together)
        table = thresholds(human_drifts(pairs(drawn, NAMES[:3])), units(150, "blocks"), {"x": 0.05})
        hits += table["threshold_low"][0] <= truth <= table["threshold_high"][0]
    print(f"\nthreshold {truth:.3f}, covered by {100 * hits / corpora:.1f} % of {corpora} intervals")
    assert hits / corpora >= (0.92 if full else 0.7)
