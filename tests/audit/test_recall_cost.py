import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.adjudication.labels import MAJOR, VALID
from benchmark_assets.audit.rated import rated
from benchmark_assets.audit.recall_cost import RECALLS, LabeledOutputs, combination, costs, recall_costs
from benchmark_assets.benchmarks.printed_counts import NO_VERDICTS
from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.metrics.intervals import effective_units

SCORES = st.integers(0, 6).map(float) | st.floats(-5, 5)
ITEMS = st.lists(st.tuples(SCORES, st.booleans(), st.integers(1, 40)), min_size=1, max_size=15)


@given(ITEMS, st.lists(SCORES, max_size=30))
def test_a_threshold_is_the_largest_that_reaches_its_recall(
    items: list[tuple[float, bool, int]], further: list[float]
) -> None:
    score, major, weight = (np.array(each) for each in zip(*items, strict=True))
    major[0] = True
    every = np.array([*score, *further])
    units = np.arange(len(score)) // 2
    labelled = LabeledOutputs(score, major, weight.astype(float), units)
    bounded = effective_units(np.bincount(units, weights=weight).astype(np.float64)) >= FEWEST
    rows = list(costs(labelled, every))
    assert [row[0] for row in rows] == list(RECALLS)

    def recall(limit: float) -> float:
        return float(weight[major & (score > limit)].sum() / weight[major].sum())

    for wanted, limit, share, low, high, outputs, precision, *_ in rows:
        assert wanted is not None
        assert limit is not None
        assert outputs is not None
        assert recall(limit) >= wanted - 1e-9
        assert all(recall(larger) < wanted for larger in score[major] if larger > limit)
        assert outputs == (every > limit).sum()
        assert share == outputs / len(every)
        assert precision == pytest.approx(weight[major & (score > limit)].sum() / weight[score > limit].sum())
        assert (low is not None) is (high is not None) is bounded
        assert low is None or high is None or 0 <= low <= high <= 1


def audit(passages: int, seed: int, informative: bool) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Triage, labels and scores of two models. A tenth of the outputs are major errors. Drift hardly finds them;
    `sim_best` does where it is informative. Three passages of ten are labelled.
    """
    chance = np.random.default_rng(seed)
    size = 2 * passages
    major = chance.random(size) < 0.1
    frame = pl.DataFrame({
        "model": np.repeat(["a", "b"], passages),
        "passage": [f"x/{number:04}" for number in range(passages)] * 2,
        "drift": chance.gamma(4, 0.3, size) + 0.3 * major,
        "sim_best": chance.normal(0.9, 0.02, size) - (0.1 * major if informative else 0),
        "length_ratio": np.where(chance.random(size) < 0.01, 0, chance.normal(1, 0.1, size)),
        "comet_avg": [None] * size,
        "truncated": chance.random(size) < 0.02,
        "label": np.where(major, MAJOR, VALID),
        "band": "b",
        "queued": True,
    }).with_columns(sampled=pl.col("passage").str.tail(1).is_in(["0", "3", "7"]))  # fmt: skip
    labels = frame.filter("sampled").select(
        "model", "passage", "label", annotator=pl.lit("p"), error_category=pl.lit("OTHER")
    )
    triage = frame.select("model", "passage", "drift", "band", "queued", "sampled", unit="passage")
    return triage, labels, frame.select("model", "passage", "sim_best", "length_ratio", "comet_avg", "truncated")


def found(triage: pl.DataFrame, labels: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    return recall_costs(triage, rated(triage, NO_VERDICTS, labels), scores)


def test_a_score_that_tells_makes_the_combination_cheaper_than_drift() -> None:
    rows = found(*audit(400, 1, informative=True)).rows_by_key(["ranking", "recall"], named=True, unique=True)
    by_drift, combined = rows["drift", 0.9], rows["combined", 0.9]
    assert combined["share_high"] < by_drift["share_low"]
    assert combined["share"] < 0.2
    assert combined["precision"] > 0.6
    shares = [rows["drift", recall]["share"] for recall in RECALLS]
    assert shares == sorted(shares)
    assert "sim_best" in combined["signature"]
    assert "comet_avg" not in combined["signature"]  # no output has it


@pytest.mark.parametrize("seed", range(4))
def test_of_chance_no_combination_learns_anything_for_passages_it_has_not_seen(seed: int) -> None:
    triage, labels, _ = audit(300, seed, informative=False)
    chance = np.random.default_rng(seed + 100)
    noise = triage.drop("drift").with_columns(
        drift=pl.Series(chance.normal(size=len(triage))), sim_best=pl.Series(chance.normal(size=len(triage)))
    )
    known = noise.join(
        labels.select("model", "passage", major=pl.col("label") == MAJOR), on=["model", "passage"], how="left"
    )
    score = combination(known.with_columns(weight=pl.lit(1.0)), ["drift", "sim_best"])
    assert score is not None
    ranks = pl.Series(score).rank().to_numpy()
    major, sound = (known["major"].fill_null(not wanted).to_numpy() == wanted for wanted in (True, False))
    wins = np.mean([ranks[at] > ranks[sound] for at in np.flatnonzero(major)])
    assert 0.3 < wins < 0.6  # the fit sees a passage's own labels: then it would be above a half


def test_both_outputs_of_a_passage_are_scored_by_a_model_that_saw_neither_label() -> None:
    triage, labels, scores = audit(100, 5, informative=True)
    known = triage.join(scores, on=["model", "passage"]).join(
        labels.select("model", "passage", major=pl.col("label") == MAJOR), on=["model", "passage"], how="left"
    ).with_columns(weight=pl.lit(1.0))  # fmt: skip
    first = combination(known, ["drift", "sim_best"])
    # of a passage with a major error, which stays one, the other output's label is turned round: its fold is the same
    mixed = known.filter(pl.col("major").any().over("passage"), ~pl.col("major").all().over("passage"))
    turned = (pl.col("passage") == mixed["passage"][0]) & ~pl.col("major")
    second = combination(known.with_columns(major=pl.when(turned).then(True).otherwise("major")), ["drift", "sim_best"])
    assert first is not None
    assert second is not None
    own = (known["passage"] == mixed["passage"][0]).to_numpy()
    assert (first[own] == second[own]).all()
    assert (first[~own] != second[~own]).any()


def test_too_few_major_errors_are_said_to_be_too_few() -> None:
    triage, labels, scores = audit(60, 2, informative=True)
    major = labels.filter(label=MAJOR)
    assert len(major) >= 4
    few = pl.concat([labels.filter(label=VALID), major.head(4)])
    rows = found(triage, few, scores)
    assert set(rows["ranking"]) == {"drift"}
    assert "4 major errors" in rows["signature"][0]
    assert "too few" in rows["signature"][0]
    assert found(triage, labels.filter(label=VALID), scores).is_empty()


def test_major_errors_of_one_passage_alone_make_no_combination() -> None:
    triage, labels, scores = audit(60, 2, informative=True)
    one = pl.concat([triage.with_columns(model=pl.format("{}{}", "model", pl.lit(copy))) for copy in range(3)])
    all_labels = pl.concat([labels.with_columns(model=pl.format("{}{}", "model", pl.lit(copy))) for copy in range(3)])
    crowded = all_labels.with_columns(
        label=pl.when(pl.col("passage") == "x/0000").then(pl.lit(MAJOR)).otherwise(pl.lit(VALID))
    )
    assert len(crowded.filter(label=MAJOR)) == 6
    assert set(found(one, crowded, scores)["ranking"]) == {"drift"}


def test_a_label_stands_for_its_share_of_the_stratum() -> None:
    triage = pl.DataFrame({
        "model": "m", "passage": [f"x/{number:03}" for number in range(110)], "band": ["low"] * 100 + ["high"] * 10,
        "drift": [1.0] * 100 + [3.0] * 10, "queued": True, "sampled": True,
    }).with_columns(unit="passage")  # fmt: skip
    labels = triage[[0, 1, 100, 101]].select(
        "model", "passage", annotator=pl.lit("p"), label=pl.Series([MAJOR, VALID, MAJOR, VALID]),
        error_category=pl.lit("OTHER"),
    )  # fmt: skip
    rows = found(triage, labels, triage.select("model", "passage")).rows_by_key("recall", named=True, unique=True)
    # 50 of the 55 major errors that the labels stand for lie in the low band
    assert rows[0.5]["outputs"] == 110
    assert rows[0.5]["threshold"] == pytest.approx(1)
    assert rows[0.5]["precision"] == 0.5
