import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.metrics import significance
from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.reporting.left_out import left_out_scores
from benchmark_assets.reporting.people import verdicts
from tests.reporting.similarities import Vectors, differences, outputs, pairs, units
from tests.vectors import exchangeable_translations, passage_centers

NAMES = ["ann", "ben", "cleo"]
MEASURE = BY_NAME["drift_adjusted"]
MEASURES = ["drift_adjusted", "sim_best"]


def unit(vectors: Vectors) -> Vectors:
    lengths: Vectors = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / lengths


def compared(models: dict[str, Vectors], own: Vectors, passages: int) -> pl.DataFrame:
    scores = left_out_scores(outputs(models, own, NAMES), pairs(own, NAMES))
    return differences(scores, units(passages))


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """Differences of four models from three translators on 60 passages."""
    drawn = exchangeable_translations(1, 60, 4)
    own, center = drawn[:, :3], passage_centers(1, 60)
    far = exchangeable_translations(2, 60, 1)[:, 0]
    models = {
        "a person": drawn[:, 3], "ann again": own[:, 0], "central": center, "unrelated": unit(center + far),
    }  # fmt: skip
    return compared(models, own, 60)


def test_a_model_is_better_than_the_people_among_them_or_worse(table: pl.DataFrame) -> None:
    rows = verdicts(table)
    for measure in MEASURES:
        found = {row["model"]: row for row in rows.filter(measure=measure).iter_rows(named=True)}
        assert {name: row["verdict"] for name, row in found.items()} == {
            "a person": "cannot be told", "ann again": "among", "central": "nearer", "unrelated": "farther",
        }  # fmt: skip
        assert found["central"]["better_than"] == "ann, ben, cleo"
        assert (found["central"]["equal_to"], found["central"]["open"], found["central"]["worse_than"]) == ("", "", "")
        assert found["unrelated"]["worse_than"] == "ann, ben, cleo"
        assert found["ann again"]["equal_to"] == "ann"
        assert {row["translators"] for row in found.values()} == {3}
        assert found["a person"]["needed"] > found["a person"]["units"] == 60
        assert {row["needed"] for name, row in found.items() if name != "a person"} == {None}


def test_a_model_that_repeats_a_translator_does_not_differ_from_this_translator(table: pl.DataFrame) -> None:
    rows = table.filter(model="ann again", translator="ann")
    assert_allclose(rows["difference"], 0, atol=1e-12)
    assert rows["p"].to_list() == [1, 1]


def test_a_difference_is_that_of_the_means_of_both_on_their_common_passages(table: pl.DataFrame) -> None:
    assert_allclose(table["difference"], table["value"] - table["human_value"], atol=1e-12)
    assert (table["difference_low"] <= table["difference"]).all()
    assert (table["difference"] <= table["difference_high"]).all()
    significant = (table["difference_low"] > 0) | (table["difference_high"] < 0)
    assert (significant == (table["p"] <= 0.05)).all()
    assert (table["p"] <= table["p_family"]).all()
    assert table["mean_references"].unique().to_list() == [2]
    assert table.select("passages", "units").unique().rows() == [(60, 60)]
    assert table["signature"].str.ends_with("units: passages").all()


def test_the_test_is_that_of_two_systems_in_units() -> None:
    """The interval and p-value of system comparisons, here in blocks of consecutive passages."""
    drawn = exchangeable_translations(3, 60, 4)
    scores = left_out_scores(outputs({"m": drawn[:, 3]}, drawn[:, :3], NAMES), pairs(drawn[:, :3], NAMES))
    blocks = units(60, "blocks")
    found = differences(scores, blocks).filter(measure="drift_adjusted", translator="ann").row(0, named=True)
    values = scores.filter(left_out="ann").sort("kind", "passage", descending=[True, False])["drift_adjusted"]
    statistics = np.stack([np.ones((2, 60)), values.to_numpy().reshape(2, 60)], axis=2)
    numbers = numbered_units(blocks.sort("passage")["unit"])
    row = significance.differences(statistics, numbers, MEASURE).row(0, named=True)
    for name in ("difference", "difference_low", "difference_high", "p"):
        assert found[name] == pytest.approx(row[name], rel=1e-9)
    assert (found["passages"], found["units"]) == (row["passages"], row["units"])


def test_too_few_units_give_differences_and_no_verdict() -> None:
    drawn = exchangeable_translations(1, 4, 4)
    rows = compared({"m": drawn[:, 3]}, drawn[:, :3], 4)
    assert rows["difference"].null_count() == 0
    assert rows.select("difference_low", "p", "p_family").null_count().row(0) == (6, 6, 6)
    assert verdicts(rows).select("verdict", "translators", "needed").unique().rows() == [("cannot be told", 3, None)]


def test_with_two_references_people_are_compared_by_similarity_alone() -> None:
    drawn = exchangeable_translations(1, 30, 3)
    scores = left_out_scores(outputs({"m": drawn[:, 2]}, drawn[:, :2], NAMES[:2]), pairs(drawn[:, :2], NAMES[:2]))
    rows = differences(scores, units(30))
    assert rows.select("measure", "translator", "mean_references").rows() == [
        ("sim_best", "ann", 1.0), ("sim_best", "ben", 1.0),
    ]  # fmt: skip


def test_without_models_there_is_nothing_to_compare() -> None:
    own = exchangeable_translations(1, 6, 3)
    assert compared({}, own, 6).is_empty()
    assert verdicts(compared({}, own, 6)).is_empty()


@pytest.mark.proof
def test_a_further_person_is_seldom_better_or_worse_than_all_people(full: bool) -> None:
    """A model that is one more exchangeable translator is better or worse in at most 5 % of corpora."""
    corpora = 200 if full else 10
    found = []
    for seed in range(corpora):
        drawn = exchangeable_translations(seed, 40, 4)
        found.append(verdicts(compared({"m": drawn[:, 3]}, drawn[:, :3], 40))["verdict"])
    counts = pl.concat(found).value_counts(normalize=True)
    shares = {verdict: 100 * share for verdict, share in counts.iter_rows()}
    print(f"\none more person, % of {corpora} corpora: {shares}")
    assert shares.get("nearer", 0) + shares.get("farther", 0) <= 5


@pytest.mark.parametrize("documents", [5, 6, 8, 20])
def test_the_same_text_for_every_passage_is_never_among_people(documents: int) -> None:
    for seed in range(10):
        drawn, text = exchangeable_translations(seed, documents, 4), exchangeable_translations(seed + 99, 1, 1)[0, 0]
        rows = verdicts(compared({"same": np.repeat(text[None], documents, axis=0)}, drawn[:, :3], documents))
        assert set(rows["verdict"]) <= {"farther", "cannot be told"}
        assert documents < 20 or set(rows["verdict"]) == {"farther"}
