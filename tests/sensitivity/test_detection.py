import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from benchmark_assets.metrics.entries import on
from benchmark_assets.metrics.further import SOUND
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.sensitivity.damage import KINDS, SEVERITIES
from benchmark_assets.sensitivity.detection import (
    ALL,
    RECALLS,
    Pairs,
    auc,
    detection,
    flagged,
    threshold_for,
    thresholds,
    win_rate,
)
from tests.support import examples

PASSAGES = 4
SCORES = st.integers(0, 6).map(float) | st.floats(-5, 5)  # of the first many are tied


@st.composite
def resampled(draw: st.DrawFn) -> tuple[Pairs, Floats]:
    """Pairs of a few units, and how often each unit was drawn; some unit with a text was."""
    count = draw(st.integers(1, 12))
    column: Callable[[st.SearchStrategy[Any]], Any] = lambda each: np.array(  # noqa: E731
        draw(st.lists(each, min_size=count, max_size=count))
    )
    pairs = Pairs(column(SCORES), column(SCORES), column(st.integers(0, PASSAGES - 1)))
    drawn = np.array(draw(st.lists(st.integers(0, 3), min_size=PASSAGES, max_size=PASSAGES)), dtype=np.float64)
    drawn[pairs.unit[0]] += 1
    return pairs, np.vstack([np.ones(PASSAGES), drawn])


def repeated(values: Floats, unit: Any, drawn: Floats) -> Floats:
    """Values, each as often as its unit was drawn."""
    return np.repeat(values, drawn[unit].astype(int))


@examples(25)  # scikit-learn checks its input at length
@given(resampled())
def test_auc_is_that_of_scikit_learn(case: tuple[Pairs, Floats]) -> None:
    pairs, weights = case
    for found, drawn in zip(auc(pairs, weights), weights, strict=True):
        damaged, sound = (repeated(each, pairs.unit, drawn) for each in (pairs.damaged, pairs.sound))
        labels = [1] * len(damaged) + [0] * len(sound)
        assert_allclose(found, roc_auc_score(labels, np.concatenate([damaged, sound])), atol=1e-12)


@given(resampled())
def test_auc_of_texts_against_themselves_is_a_half_and_turns_round_with_the_sign(case: tuple[Pairs, Floats]) -> None:
    pairs, weights = case
    assert_allclose(auc(pairs._replace(damaged=pairs.sound), weights), 0.5)
    turned = Pairs(-pairs.damaged, -pairs.sound, pairs.unit)
    assert_allclose(auc(pairs, weights) + auc(turned, weights), 1)


@given(resampled())
def test_wins_are_counted_pair_by_pair(case: tuple[Pairs, Floats]) -> None:
    pairs, weights = case
    for found, drawn in zip(win_rate(pairs, weights), weights, strict=True):
        damaged, sound = (repeated(each, pairs.unit, drawn) for each in (pairs.damaged, pairs.sound))
        wins = [1 if d > s else 0.5 if d == s else 0 for d, s in zip(damaged, sound, strict=True)]
        assert_allclose(found, sum(wins) / len(wins), atol=1e-12)


@given(resampled(), st.sampled_from(RECALLS))
def test_a_threshold_is_the_largest_that_reaches_its_recall(case: tuple[Pairs, Floats], recall: float) -> None:
    pairs, weights = case
    limits = threshold_for(pairs, weights, recall)
    rates = flagged(pairs.damaged, pairs.unit, weights, limits)
    alarms = flagged(pairs.sound, pairs.unit, weights, limits)
    for limit, rate, alarm, drawn in zip(limits, rates, alarms, weights, strict=True):
        damaged, sound = (repeated(each, pairs.unit, drawn) for each in (pairs.damaged, pairs.sound))
        assert_allclose(rate, (damaged > limit).mean())
        assert_allclose(alarm, (sound > limit).mean())
        assert rate >= recall
        # any larger one that matters, matters from a score of a damaged text on
        assert all((damaged > larger).mean() < recall for larger in damaged if larger > limit)


def test_a_score_at_the_threshold_is_not_above_it() -> None:
    found = flagged(np.array([1.9, 2.0, 2.1, 5.0]), np.array([0, 0, 1, 1]), np.ones((1, 2)), np.array([2.0]))
    assert found.tolist() == [0.5]


def test_a_resample_without_texts_says_nothing() -> None:
    pairs, weights = Pairs(np.ones(2), np.zeros(2), np.zeros(2, np.int64)), np.array([[1.0, 1.0], [0.0, 2.0]])
    limits = threshold_for(pairs, weights, 0.5)
    for each in (auc(pairs, weights), win_rate(pairs, weights), flagged(pairs.sound, pairs.unit, weights, limits)):
        assert np.isfinite(each).tolist() == [True, False]


def scores(effects: dict[tuple[str, int], float], passages: int = 30, translators: int = 3) -> pl.DataFrame:
    """Sound and damaged scores of a made-up corpus: damage of a kind and severity adds so much to the drift."""
    chance = np.random.default_rng(1)
    rows = []
    for passage in range(passages):
        for translator in range(translators):
            drift = float(chance.normal(1.5, 0.5))
            rows.append((f"x/{passage:02}", str(translator), SOUND, 0, 0.0, drift, 1.0))
            rows += [
                (f"x/{passage:02}", str(translator), kind, severity, 0.1, drift + effect, math.exp(-effect))
                for (kind, severity), effect in effects.items()
            ]
    columns = ["passage", "translator", "kind", "severity", "extent", "drift", "length_ratio"]
    return pl.DataFrame(rows, columns, orient="row").with_columns(unit="passage")


EFFECTS = {("omission", 1): 0.0, ("omission", 2): 0.5, ("omission", 3): 5.0, ("negation", 1): -5.0}


def test_rows_are_there_for_every_kind_severity_and_metric_with_a_column() -> None:
    found = detection(scores(EFFECTS), "en")
    cells = [(kind, severity) for kind in (ALL, *KINDS) for severity in (0, *SEVERITIES)]
    assert found.select("kind", "severity").filter(found["metric"] == "drift").rows() == cells
    assert found["metric"].unique(maintain_order=True).to_list() == ["drift", "length_ratio"]


def test_detection_of_damage_of_known_effect() -> None:
    found = detection(scores(EFFECTS), "en").rows_by_key(["metric", "kind", "severity"], named=True, unique=True)
    none, some, much, less = (
        found["drift", kind, severity]
        for kind, severity in [("omission", 1), ("omission", 2), ("omission", 3), ("negation", 1)]
    )
    assert [none[name] for name in ("texts", "passages", "auc", "win_rate")] == [90, 30, 0.5, 0.5]
    assert 0.5 < some["auc_low"] < some["auc"] < some["auc_high"] < 1
    assert some["win_rate"] == some["win_rate_low"] == 1  # every one is worse than its own sound text
    assert [much[name] for name in ("auc", "auc_low", "auc_high")] == [1, 1, 1]
    assert [less[name] for name in ("auc", "win_rate")] == [0, 0]
    every = found["drift", "omission", 0]
    assert every["texts"] == 270
    # pooled: against the same sound texts, so the mean of the AUCs of its parts
    assert_allclose(every["auc"], (none["auc"] + some["auc"] + much["auc"]) / 3)
    # lengths: shorter and longer are both worse
    assert found["length_ratio", "omission", 3]["auc"] == found["length_ratio", "negation", 1]["auc"] == 1


def test_what_was_applied_to_nothing_says_why() -> None:
    notes = {
        language: dict(detection(scores(EFFECTS), language).filter(metric="drift", severity=1)
                       .select("kind", "note").iter_rows())
        for language in ("en", "xx")
    }  # fmt: skip
    assert notes["en"]["omission"] is None
    assert notes["en"]["number"] == notes["xx"]["truncation"] == "applies to no text"
    assert notes["xx"]["number"] == "no rules for 'xx'"
    unscored = scores(EFFECTS).with_columns(drift=pl.lit(None, pl.Float64))
    of_drift = detection(unscored, "en").filter(metric="drift")
    assert set(of_drift["note"]) == {"no text has a score"}
    assert thresholds(unscored).is_empty()


def test_texts_without_a_score_are_left_out_with_their_pair() -> None:
    whole = scores(EFFECTS)
    lost = whole.with_columns(
        drift=pl.when(pl.col("passage") == "x/00", pl.col("kind") == SOUND).then(None).otherwise("drift")
    )
    found = detection(lost, "en").filter(metric="drift", kind="omission", severity=2)
    assert found.select("texts", "passages").row(0) == (87, 29)


@pytest.mark.parametrize("metric", on("detection"), ids=lambda metric: metric.name)
def test_every_metric_rises_with_damage(metric: Metric) -> None:
    better = {"drift": 0.5, "drift_euclidean": 0.5, "sim_best": 0.9, "sim_centroid": 0.9, "bleu": 60.0, "chrf": 60.0,
              "length_ratio": 1.05}  # fmt: skip
    worse = {"drift": 3.0, "drift_euclidean": 3.0, "sim_best": 0.2, "sim_centroid": 0.2, "bleu": 5.0, "chrf": 9.0,
             "length_ratio": 0.5}  # fmt: skip
    sound, damaged = pl.DataFrame([better, worse]).select(metric.damage).to_series()
    assert damaged > sound


def test_intervals_narrow_with_passages_and_not_with_translators() -> None:
    def width(passages: int, copies: int) -> float:
        first = scores({("omission", 2): 0.5}, passages, 1)
        rows = pl.concat([first.with_columns(translator=pl.lit(str(each))) for each in range(copies)])
        found = detection(rows, "en").filter(metric="drift", kind="omission", severity=2)
        return float((found["auc_high"] - found["auc_low"]).item())

    assert width(80, 1) < 0.7 * width(20, 1)
    assert_allclose(width(20, 4), width(20, 1), atol=1e-9)


def test_intervals_of_passages_that_are_alike_in_each_document_are_those_of_documents() -> None:
    apart = scores({("omission", 2): 0.5}, 12, 1)
    alike = pl.concat([apart.with_columns(passage=pl.format("{}.{}", "passage", pl.lit(copy))) for copy in range(5)])
    for of, columns in ((lambda rows: detection(rows, "en"), ["auc", "win_rate"]), (thresholds, ["false_alarms"])):
        found, expected = of(alike), of(apart)
        assert set(found["texts"].drop_nulls()) == {5 * texts for texts in expected["texts"].drop_nulls()}
        bounds = [f"{name}{end}" for name in columns for end in ("_low", "_high")]
        assert found.select(bounds).equals(expected.select(bounds))
    few = apart.filter(pl.col("unit") < "x/04")
    assert (
        detection(few, "en").select("auc_low", "win_rate_high").null_count().row(0) == (len(detection(few, "en")),) * 2
    )


def test_published_thresholds_are_kept_and_wanted_recalls_reached() -> None:
    found = thresholds(scores(EFFECTS))
    fixed = found.filter(rule="drift > 2")
    assert set(fixed["threshold"]) == set(fixed["threshold_high"]) == {2.0}
    sound = scores(EFFECTS).filter(kind=SOUND)["drift"]
    alarms = fixed.filter(kind="omission", severity=3).row(0, named=True)
    assert alarms["recall"] == 1
    assert_allclose(alarms["false_alarms"], len(sound.filter(sound > 2)) / len(sound))
    for wanted in RECALLS:
        rows = found.filter(rule=f"recall {wanted:g}")
        assert (rows["recall"] >= wanted).all()
        assert (rows["recall_low"] >= wanted).all()  # in every resample
    easy = found.filter(kind="omission", severity=3, rule="recall 0.95").row(0, named=True)
    assert easy["false_alarms"] == 0
    assert easy["threshold_low"] <= easy["threshold"] <= easy["threshold_high"]
