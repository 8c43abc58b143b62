"""Agreement of metrics with people's labels: which scores and labels count, and what the tables say of them."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, pearsonr  # type: ignore[import-untyped]

from benchmark_assets.adjudication.labels import MAJOR, MINOR, UNSURE, VALID
from benchmark_assets.audit.metric_agreement import agreements, comparisons
from benchmark_assets.metrics.entries import on
from benchmark_assets.people.mqm import LABEL_POINTS

MODELS = ("a", "b", "c")
SCORES = ("sim_best", "sim_centroid", "drift", "drift_euclidean", "chrf", "bleu", "length_ratio")


def audit(passages: int = 40) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels of three models, and scores: drift follows the labels, chrF++ less, all others by chance, no COMET."""
    random = np.random.default_rng(4)
    keys = [(model, f"x/{number:02}") for model in MODELS for number in range(passages)]
    labels = random.choice([VALID, MINOR, MAJOR], len(keys), p=[0.5, 0.3, 0.2]).tolist()
    points = np.array([LABEL_POINTS[label] for label in labels])
    values = {name: random.normal(size=len(keys)) for name in SCORES}
    values |= {"drift": random.normal(size=len(keys)) - 2 * points, "chrf": 2 * random.normal(size=len(keys)) + points}
    frame = pl.DataFrame(keys, schema=["model", "passage"], orient="row").with_columns(unit="passage")
    rows = frame.with_columns(raters=pl.lit("people"), corpus=pl.lit("x"), label=pl.Series(labels))
    missing = {name: pl.lit(None, pl.Float64) for name in ("comet_avg", "comet_best")}
    return rows, frame.with_columns(**{name: pl.Series(each) for name, each in values.items()}, **missing)


def test_a_metric_that_follows_the_labels_agrees_more_than_one_by_chance() -> None:
    rows, scores = audit()
    table = agreements(rows, scores)
    found = table.rows_by_key(["metric", "statistic", "grouping"], named=True, unique=True)
    assert {metric for metric, _, _ in found} == {metric.name for metric in on("agreement")} - {
        "comet_avg",
        "comet_best",
    }
    points = rows["label"].replace_strict(LABEL_POINTS).to_numpy()
    drift = found["drift", "pearson", "pooled"]
    assert drift["value"] == pytest.approx(-pearsonr(points, scores["drift"]).statistic)
    assert 0.5 < drift["value_low"] < drift["value"] < drift["value_high"] < 1
    assert found["chrf", "kendall", "pooled"]["value"] == pytest.approx(kendalltau(points, scores["chrf"]).statistic)
    by_chance = found["sim_best", "pearson", "pooled"]
    assert by_chance["value_low"] < 0 < by_chance["value_high"]
    length = found["length_error", "pearson", "pooled"]["value"]
    assert length == pytest.approx(pearsonr(points, -(scores["length_ratio"] - 1).abs()).statistic)
    assert drift["epsilon"] is None
    assert found["drift", "acc_eq", "passage"]["epsilon"] > 0  # half the labels are equal
    sizes = [drift[name] for name in ("models", "passages", "outputs", "pairs")]
    assert sizes == [3, 40, 120, 120 * 119 // 2]
    assert [found["drift", "pearson", group]["pairs"] for group in ("passage", "model", "means")] == [120, 2340, 3]


def test_only_substantive_labels_by_people_of_scored_outputs_count() -> None:
    rows, scores = audit()
    unsure = rows.with_columns(
        label=pl.when(model="a").then(pl.lit(UNSURE)).otherwise("label"),
        raters=pl.when(model="b").then(pl.lit("panel")).otherwise("raters"),
    )
    unscored = scores.with_columns(drift=pl.when(pl.col("passage") < "x/10").then(None).otherwise("drift"))
    found = agreements(unsure, unscored).filter(metric="drift")
    assert found["models"].unique().to_list() == [1]
    assert found["outputs"].unique().to_list() == [30]
    without_pairs = found.filter(grouping="passage")
    assert without_pairs["pairs"].to_list() == [0, 0, 0]
    assert without_pairs["value"].is_null().all()
    assert found.filter(grouping="model")["value"].is_not_null().all()


def test_metrics_are_compared_in_pairs_with_corrected_p() -> None:
    rows, scores = audit()
    table = comparisons(rows, scores)
    metrics = [metric.name for metric in on("agreement") if not metric.name.startswith("comet")]
    assert table.filter(statistic="pearson").select("metric", "other").rows() == list(combinations(metrics, 2))
    agreement = agreements(rows, scores).filter(statistic="pearson", grouping="pooled")
    value = dict(agreement.select("metric", "value").iter_rows())
    for row in table.filter(statistic="pearson").iter_rows(named=True):
        assert row["difference"] == pytest.approx(value[row["metric"]] - value[row["other"]])
        assert row["p_family"] >= min(1, 2 * min(row["p_better"], row["p_worse"]))
    for row in table.filter(metric="drift", other="bleu").iter_rows(named=True):
        assert row["p_better"] < 0.001
        assert row["p_family"] < 0.05
    by_chance = table.filter(statistic="pearson", metric="sim_best", other="sim_centroid")
    assert by_chance["p_family"].item() > 0.05
