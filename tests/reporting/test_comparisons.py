from functools import cache

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from benchmark_assets.metrics.entries import MEAN_RANK
from benchmark_assets.reporting.comparisons import compare, standings
from resources.errors import BadInput
from tests.metrics.scores import scores

PASSAGES = 40


def system(name: str, drift: float, similarity: float, kind: str = "model", corpus: str = "x") -> pl.DataFrame:
    """A system whose scores waver about these means."""
    waver = np.random.default_rng(sum(name.encode())).normal(0, 0.01, size=PASSAGES)
    rows = scores((drift + waver).tolist(), (similarity + waver).tolist(), system=name, corpus=corpus)
    references = pl.lit(3 if kind == "model" else 2, pl.UInt32).alias("references")
    columns = {"apart": pl.lit(""), "kind": pl.lit(kind), "corpus": pl.lit(corpus), "ranked": pl.lit(kind == "model")}
    return rows.rename({"model": "system"}).with_columns(references, **columns)


@cache
def field() -> list[pl.DataFrame]:
    return [system("good", 1.0, 0.9), system("twin", 1.0, 0.9), system("poor", 3.0, 0.5)]


@cache
def ann() -> pl.DataFrame:
    return system("ann", 1.5, 0.7, kind="human")


@pytest.fixture(scope="module")
def compared() -> pl.DataFrame:
    return compare(pl.concat([*field(), ann()]))


@pytest.fixture(scope="module")
def stood(compared: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    return standings(pl.concat([*field(), ann()]), compared)


def test_each_two_systems_are_compared_in_each_measure_that_both_have(compared: pl.DataFrame) -> None:
    counts = dict(compared.group_by("measure").len().iter_rows())
    assert counts == dict.fromkeys(["sim_best", "chrf_mean", "bleu_mean", "length_error", "outlier_rate"], 6)
    row = compared.row(
        by_predicate=(pl.col("measure") == "sim_best") & (pl.col("system") == "good") & (pl.col("other") == "poor"),
        named=True,
    )
    assert row["difference"] == pytest.approx(0.4, abs=0.01)
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert (row["passages"], row["mean_references"], row["other_references"]) == (PASSAGES, 3, 3)


def test_families_of_models_and_translators_are_apart_and_named(compared: pl.DataFrame) -> None:
    families = compared.group_by("measure", "kind", "other_kind")
    sizes = {(kind, other): len(own) for (measure, kind, other), own in families if measure == "chrf_mean"}
    assert sizes == {("model", "model"): 3, ("human", "model"): 3}
    assert set(compared.select("kind", pl.col("signature").str.split("family: ").list.last()).rows()) == {
        ("model", "3 pairs of models"), ("human", "3 pairs of models and translators"),
    }  # fmt: skip
    assert (compared["p_family"] >= compared["p"]).all()


def test_answers_are_those_of_the_pair_whatever_others_join(compared: pl.DataFrame) -> None:
    keys = ["measure", "system", "other", "difference_low", "difference_high", "p", "answer", "detectable"]
    copies = [field()[1].with_columns(system=pl.lit(f"copy {number}")) for number in range(10)]
    more = compare(pl.concat([*field(), *copies, ann()]))
    names = ["good", "twin", "poor", "ann"]
    among = more.filter(pl.col("system").is_in(names), pl.col("other").is_in(names))
    order = ["measure", "kind", "system", "other"]
    assert_frame_equal(among.sort(order).select(keys), compared.sort(order).select(keys), rel_tol=1e-9)
    family = [rows.sort(order)["p_family"].to_numpy() for rows in (among, compared)]
    assert abs(family[0] - family[1]).max() < 1e-3


def test_comparisons_and_ranks_do_not_cross_groups() -> None:
    others = [system(name, 1.0, similarity).with_columns(apart=pl.lit("another prompt")) for name, similarity in
              (("strange", 0.8), ("stranger", 0.95))]  # fmt: skip
    scores = pl.concat([*field(), *others, ann()])
    rows = compare(scores)
    of_others = pl.col("system", "other").is_in(["strange", "stranger"])
    assert set(rows.filter(pl.any_horizontal(of_others)).select("system", "other").rows()) == {("strange", "stranger")}
    ranks, agreement = standings(scores, rows)
    of_similarity = ranks.filter(measure="sim_best").drop_nulls("rank").sort("apart", "rank")
    assert of_similarity.select("system", "apart", "cluster").rows()[2:] == [
        ("poor", "", 2), ("stranger", "another prompt", 1), ("strange", "another prompt", 2),
    ]  # fmt: skip
    assert of_similarity["rank"].to_list()[2:] == [3, 1, 2]
    assert set(agreement["models"]) == {3}


def test_models_that_cannot_be_told_apart_share_a_cluster(stood: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    ranks, _ = stood
    for measure in ("sim_best", "outlier_rate"):
        clusters = dict(ranks.filter(measure=measure).select("system", "cluster").iter_rows())
        assert clusters == {"good": 1, "twin": 1, "poor": 2, "ann": None}
    assert set(ranks.filter(measure="chrf_mean", kind="model")["cluster"]) == {1}  # their texts are the same


def test_translators_have_values_without_ranks_and_move_no_model(stood: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    ranks, _ = stood
    people = ranks.filter(kind="human")
    assert people["value"].count() == 5
    assert people.select("rank", "rank_low", "rank_high", "cluster").null_count().row(0) == (5,) * 4
    alone, _ = standings(pl.concat(field()), compare(pl.concat(field())))
    assert alone.drop("signature").rows() == ranks.filter(kind="model").drop("signature").rows()


def test_a_model_with_too_few_outputs_has_values_without_ranks() -> None:
    few = system("few", 0.5, 0.99).with_columns(ranked=pl.lit(value=False))
    rows = pl.concat([*field(), few])
    ranks, _ = standings(rows, compare(rows))
    assert ranks.filter(system="few")["rank"].to_list() == [None] * 5
    assert set(ranks.filter(measure="sim_best", kind="model")["rank"].drop_nulls()) == {1, 2, 3}


def test_bounds_of_ranks_follow_from_significant_differences(stood: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    ranks, _ = stood
    rows = ranks.filter(measure="sim_best", kind="model").sort("system").select("system", "rank_low", "rank_high")
    assert rows.rows() == [("good", 1, 2), ("poor", 3, 3), ("twin", 1, 2)]


def test_outputs_that_are_missing_lower_a_score_also_in_comparisons() -> None:
    gaps = pl.int_range(pl.len()) >= PASSAGES // 2
    worst = field()[0].with_columns(
        system=pl.lit("lazy"), usable=~gaps, sim_best=pl.when(gaps).then(0.0).otherwise("sim_best")
    )
    rows = pl.concat([*field(), worst])
    compared = compare(rows)
    ranks, _ = standings(rows, compared)
    pair = compared.filter(pl.col("system") == "good", pl.col("other") == "lazy", measure="sim_best")
    assert pair["passages"].item() == PASSAGES
    assert pair["difference"].item() == pytest.approx(0.45, abs=0.01)
    assert pair["answer"].item() == "different"
    assert ranks.filter(measure="sim_best", system="lazy")["rank"].item() == 4


def test_the_mean_rank_is_that_of_the_measures_there_are(stood: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    ranks, _ = stood
    for _, own in ranks.filter(kind="model").group_by("system"):
        [mean] = own.filter(measure=MEAN_RANK)["value"]
        assert mean == pytest.approx(own.filter(pl.col("measure") != MEAN_RANK)["rank"].mean())
        assert len(own) == 6
    assert ranks["signature"].str.contains("no model has comet_avg", literal=True).all()
    own = ranks.filter(pl.col("measure") != MEAN_RANK).drop_nulls("rank")
    assert (
        own.select((pl.col("rank_low") <= pl.col("rank")) & (pl.col("rank") <= pl.col("rank_high"))).to_series().all()
    )


def test_a_measure_that_some_models_lack_is_ranked_among_the_others() -> None:
    rows = pl.concat([each.with_columns(comet_avg=pl.lit(comet, pl.Float64)) for each, comet in
                      zip(field(), (0.7, None, 0.8), strict=True)])  # fmt: skip
    ranks, agreeing = standings(rows, compare(rows))
    assert dict(ranks.filter(measure="comet_avg").select("system", "rank").iter_rows()) == {"good": 2, "poor": 1}
    assert "no model has" not in ranks["signature"][0]
    pairs = agreeing.filter(statistic="tau_b").filter(
        (pl.col("measure") == "comet_avg") | (pl.col("other") == "comet_avg")
    )
    assert set(pairs["models"]) == {2}
    assert agreeing.filter(statistic="W")["models"].to_list() == [2]


def test_measures_that_order_models_alike_agree(stood: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    _, agreeing = stood
    taus = {(a, b): value for _, _, a, b, _, value, *_ in agreeing.filter(statistic="tau_b").rows()}
    assert len(taus) == 10
    assert taus["sim_best", "outlier_rate"] == pytest.approx(2 / 6**0.5)  # the outlier rate ties two of three
    assert taus["sim_best", "chrf_mean"] is None  # it ties all
    [w] = agreeing.filter(statistic="W").rows(named=True)
    assert w["measure"] == "sim_best chrf_mean bleu_mean length_error outlier_rate"
    assert 0 < w["value"] <= 1


def test_translators_alone_have_no_ranks_but_differences() -> None:
    rows = pl.concat([ann(), system("ben", 1.6, 0.6, kind="human")])
    compared = compare(rows)
    assert set(compared.select("kind", "other_kind").rows()) == {("human", "human")}
    assert [len(table) for table in standings(rows, compared)] == [0, 0]


def test_corpora_are_apart() -> None:
    rows = pl.concat([*field()[:2], system("good", 3.0, 0.2, corpus="y"), system("twin", 1.0, 0.8, corpus="y")])
    compared = compare(rows)
    assert compared.group_by("corpus").len()["len"].to_list() == [5, 5]
    ranks, _ = standings(rows, compared)
    found = ranks.filter(measure="sim_best").select("corpus", "system", "rank", "cluster").rows()
    assert ("y", "twin", 1, 1) in found
    assert ("y", "good", 2, 2) in found


def test_systems_measured_by_different_embedders_are_not_compared() -> None:
    with pytest.raises(BadInput, match="x: come from several embedders"):
        compare(pl.concat([field()[0], field()[1].with_columns(embedder=pl.lit("another"))]))


def test_without_scores_there_is_nothing() -> None:
    nothing = pl.concat(field()).clear()
    assert compare(nothing).is_empty()
    assert [len(table) for table in standings(nothing, compare(nothing))] == [0, 0]
