"""Literary scores from people's labels, with the ensemble's verdicts as predictions."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmark_assets.literary.anchored import anchored_scores
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE
from benchmark_assets.literary.pairs import ShownPair
from tests.support import slack


def pair(passage: str, machine: str = "one text", model: str = "ours") -> ShownPair:
    return ShownPair(model, passage, "fons", "", "", machine, "another text")


def of_works(passages: Sequence[str]) -> pl.DataFrame:
    """Each passage is a work of its own."""
    return pl.DataFrame({"passage": passages, "work": passages, "unit": passages, "unit_kind": "document"})


def estimated(
    better: Sequence[str], points: Sequence[float], sampled: int, skipped: Collection[int] = ()
) -> dict[str, Any]:  # fmt: skip
    """The row of a model with these true labels and points of the ensemble, if people label the first outputs but for
    those in `skipped`."""
    passages = sorted((f"novels/{n:04}" for n in range(len(better))), key=lambda name: pair(name).item)
    verdicts = pl.DataFrame({"model": "ours", "passage": passages, "points": points})
    labels = pl.DataFrame({"model": "ours", "passage": passages, "better": better})
    labels = labels[[number for number in range(sampled) if number not in skipped]]
    found = anchored_scores([pair(name) for name in passages], verdicts, labels, of_works(passages), "contract")
    (row,) = found.to_dicts()
    return row


def drawn(
    chance: np.random.Generator, size: int, quality: float, accuracy: float, fond: float
) -> tuple[list[str], list[float]]:
    """True labels with this share of wins among the decided ones, and points of an ensemble that is right with a
    probability, and otherwise prefers the output with another one."""
    won, tied = chance.random(size) < quality, chance.random(size) < 0.1
    better = [UNSURE if tie else MACHINE if win else HUMAN for win, tie in zip(won, tied, strict=True)]
    right = chance.random(size) < accuracy
    points = np.where(right, won, chance.random(size) < fond)
    return better, points.astype(float).tolist()


def test_an_accurate_ensemble_makes_the_interval_narrower_and_a_useless_one_leaves_it_as_it_is() -> None:
    chance = np.random.default_rng(1)
    better, _ = drawn(chance, 600, 0.4, 1, 0)
    exact = [{MACHINE: 1.0, UNSURE: 0.5, HUMAN: 0.0}[each] for each in better]
    good, useless = estimated(better, exact, 80), estimated(better, [1.0] * 600, 80)
    assert good["narrower"] > 0.3
    assert (useless["tuning"], useless["narrower"]) == (0, 0)
    assert useless["score"] == pytest.approx(100 * np.mean(exact[:80]))


def test_outputs_that_need_no_judgment_count_without_a_label() -> None:
    passages = [f"novels/{n:04}" for n in range(40)]
    machines = ["one text"] * 20 + [" "] * 10 + ["Another text."] * 10
    labels = pl.DataFrame({"model": "ours", "passage": passages[:20], "better": [MACHINE] * 20})
    verdicts = pl.DataFrame(schema={"model": pl.String, "passage": pl.String, "points": pl.Float64})
    shown = [pair(name, text) for name, text in zip(passages, machines, strict=True)]
    (row,) = anchored_scores(shown, verdicts, labels, of_works(passages), "").to_dicts()
    assert (row["outputs"], row["known"], row["labelled"], row["judged"]) == (40, 20, 20, 0)
    assert row["score"] == 100 * (20 * 1 + 10 * 0 + 10 * 0.5) / 40
    assert row["score_high"] - row["score_low"] < 100 * 20 / 40
    assert anchored_scores(shown, verdicts, labels.clear(), of_works(passages), "").is_empty()


def test_few_units_have_no_interval() -> None:
    better, points = drawn(np.random.default_rng(2), 4, 0.5, 1, 0)
    row = estimated(better, points, 4)
    assert (row["score_low"], row["narrower"]) == (None, None)


@pytest.mark.parametrize("lost", [True, False])
def test_drawn_outputs_without_a_label_leave_bounds(lost: bool) -> None:
    """People skip some outputs, either only worse ones than the human translation or only better ones."""
    better = [HUMAN if number < 20 else MACHINE for number in range(100)] + [MACHINE] * 300
    of_kind = range(20) if lost else range(20, 100)
    whole = estimated(better, [0.5] * 400, 100)
    assert (whole["score"], whole["missing_share"], whole["problem"]) == (80, 0, None)
    assert (whole["score_least"], whole["score_most"]) == (None, None)
    for count, problem in ((5, None), (18, "18.0 % of the labels are missing")):
        row = estimated(better, [0.5] * 400, 100, of_kind[:count])
        assert (row["labelled"], row["missing_share"], row["problem"]) == (100 - count, count / 100, problem)
        assert row["score_most"] - row["score_least"] == pytest.approx(count)
        assert row["score_low"] <= whole["score_low"] < 80 < whole["score_high"] <= row["score_high"]
    row = estimated(better, [0.5] * 400, 100, range(60))
    assert (row["score"], row["score_low"]) == (None, None)
    assert row["problem"] == "60.0 % of the labels are missing; they leave open: score, estimated"


def test_outputs_that_were_not_drawn_leave_nothing_open_and_later_outputs_do() -> None:
    """No label says anything about outputs that are newer than the sheet, so half of the prefix counts as unlabeled."""
    better, points = drawn(np.random.default_rng(4), 200, 0.5, 1, 0)
    assert estimated(better, points, 60)["missing_share"] == 0
    assert estimated(better, points, 120, range(0, 120, 2))["missing_share"] == 0.5


@pytest.mark.proof
@pytest.mark.parametrize(("accuracy", "fond"), [(0.9, 0.5), (0.6, 1.0), (0.0, 0.5), (0.3, 0.0)])
@pytest.mark.parametrize("quality", [0.2, 0.5])
def test_the_interval_holds_the_score_whatever_the_ensemble_does(
    accuracy: float, fond: float, quality: float, full: bool
) -> None:
    """docs/decisions/literary.md has the figures."""
    chance, runs = np.random.default_rng(3), 400 if full else 20
    held, narrower = 0, 0.0
    truth = 100 * (0.9 * quality + 0.05)
    for _ in range(runs):
        row = estimated(*drawn(chance, 400, quality, accuracy, fond), 80)
        held += row["score_low"] <= truth <= row["score_high"]
        narrower += float(row["narrower"]) / runs
    print(f"right {accuracy}, else for the output {fond}, wins {quality}: {held / runs:.1%}, narrower {narrower:.1%}")
    assert 0.93 - slack(full, runs) <= held / runs <= 0.98 + slack(full, runs)
    assert narrower > -0.05
