"""Tables of understanding as people read them: what is near, what was wrong with answers, what is taken for what."""

import polars as pl

from benchmark_assets.understanding.exhibits import agreement, confusions, neighbours, troubles
from benchmark_assets.understanding.leakage import LEAKAGE
from benchmark_assets.understanding.task_scores import BASELINE_SCORE, CONFUSION


def test_what_is_near_stands_beside_the_scores_with_and_without_it() -> None:
    leaked = [
        ("THCT", "1", "a", 1.0, 1.0, True, True), ("THCT", "2", "b", 0.3, 0.5, True, False),
        ("THCT", "3", "b", 0.1, 0.0, False, False), ("THCT", "4", "a", 0.0, 0.5, None, True),
        ("QUDT", "1", "a", 0.2, 0.2, None, None), ("MCS", "1", None, None, None, None, None),
    ]  # fmt: skip
    scored = [
        {"task": "THCT", "baseline": "linear", "score": 80.654, "near": 0.5, "far_score": 76.0},
        {"task": "THCT", "baseline": "tiny", "score": 50.0, "near": 0.5, "far_score": None},
    ]
    found = neighbours(pl.DataFrame(leaked, schema=LEAKAGE, orient="row"), pl.DataFrame(scored, schema=BASELINE_SCORE))
    assert found.columns == [
        "task", "samples", "copies %", "near %", "same work %", "nearest has its label %", "in train %",
        "baseline", "score", "score without near",
    ]  # fmt: skip
    of_themes = ("THCT", 4, "25.0", "50.0", "66.7", "50.0", "50.0")
    assert found.rows() == [
        ("QUDT", 1, "0.0", "100.0", None, None, "20.0", None, None, None),
        (*of_themes, "linear", "80.65", "76.00"), (*of_themes, "tiny", "50.00", None),
    ]  # fmt: skip


def test_steps_and_problems_are_counted_by_model_and_draws_by_task() -> None:
    rows = pl.DataFrame(
        [
            ("a", "FORM", 1, True, None, "fence case", 1.0), ("a", "FORM", 2, True, None, "case", 0.5),
            ("a", "SPEECH", 1, False, "no JSON", "", None), ("b", "FORM", 1, True, None, "", None),
        ],
        schema=["model", "task", "seed", "usable", "problem", "steps", "agreement"], orient="row",
    )  # fmt: skip
    assert troubles(rows).rows() == [
        ("a", "problem", "no JSON", 1, "33.3"), ("a", "step", "case", 2, "66.7"), ("a", "step", "fence", 1, "33.3"),
    ]  # fmt: skip
    assert agreement(rows).rows() == [
        ("FORM", "a", 2, 2, 0, "75.0"), ("FORM", "b", 1, 1, 0, None), ("SPEECH", "a", 1, 1, 1, None),
    ]  # fmt: skip


def test_confusions_are_wrong_answers_by_number() -> None:
    counts = [("m", "T", "LAW", "LAW", 3), ("m", "T", "LAW", "EPIC", 1), ("m", "T", "EPIC", "LAW", 2)]
    found = confusions(pl.DataFrame(counts, schema=CONFUSION, orient="row"))
    assert found.drop("task", "model").rows() == [("EPIC", "LAW", 2, "100.0"), ("LAW", "EPIC", 1, "25.0")]
