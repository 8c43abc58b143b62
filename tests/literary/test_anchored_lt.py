"""LT from people's labels of a part of the matches: how often its interval holds the LT by people, for good and bad
judges. docs/decisions/pairwise.md has figures."""

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
import scipy  # type: ignore[import-untyped]

from benchmark_assets.literary.anchored import MATCH, anchored_win_rates
from benchmark_assets.literary.ensemble import HUMAN, MACHINE
from benchmark_assets.literary.pairs import ShownPair
from benchmark_assets.metrics.anchoring import FEWEST_LABELS
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.bradley_terry import fit, fit_fixed, on_scale
from benchmark_assets.pairwise.scores import OVERALL, AnchorField
from tests.pairwise.simulated import ANCHORS, NAMES, expected, sigma
from tests.support import slack

SOME = ANCHORS[::2]
NAMED = NAMES[: len(SOME)]
ITEMS, EFFECT = 70, 0.5

LENGTHS = np.append(np.random.default_rng(5).normal(0, 0.2, len(SOME)), 0.3)
"""Mean log-lengths of the texts of the anchors and the model, whose texts are long."""

LONGER = scipy.special.ndtr((LENGTHS[:, None] - LENGTHS[None, :]) / 0.2 / np.sqrt(2))
OURS = np.eye(len(LENGTHS))[-1][:, None] - np.eye(len(LENGTHS))[-1][None, :]
"""1 in the row of the model, -1 in its column."""

ADAPTIVE = ", adaptive"

Judge = Callable[[Floats], Floats]
"""Chances that the system of the row is preferred, given whether it is better (or its chance to be)."""


def right(accuracy: float) -> Judge:
    return lambda won: accuracy * won + (1 - accuracy) * (1 - won)


JUDGES: dict[str, Judge] = {
    "right in 90 %": right(0.9),
    "right in 80 %": right(0.8),
    "favors the model in 30 %": lambda won: np.where(OURS, 0.7 * right(0.9)(won) + 0.3 * (OURS > 0), right(0.9)(won)),
    "prefers the longer in 30 %": lambda won: 0.7 * right(0.9)(won) + 0.3 * LONGER,
    "random": right(0.5),
}  # fmt: skip


def antisymmetric(won: Floats) -> Floats:
    """The upper triangle of tables, with the rest filled so that both halves of a match add up to 1; diagonal 0."""
    upper = np.triu(np.ones(won.shape[-2:]), 1)
    found: Floats = won * upper + ((1 - won) * upper).swapaxes(-1, -2)
    return found


class Arena(NamedTuple):
    """The model's matches in the order in which they are drawn for people, and the anchors according to the judge."""

    pairs: list[ShownPair]
    people: list[str]
    comparisons: pl.DataFrame
    units: pl.DataFrame
    field: AnchorField

    def rows(self, labeled: Collection[int], judged: bool = True) -> pl.DataFrame:
        """The model's row if people label the matches with these numbers."""
        names = [(*self.pairs[number].names, self.people[number]) for number in labeled]
        labels = pl.DataFrame(names, [*MATCH, "better"], orient="row")
        comparisons = self.comparisons if judged else self.comparisons.clear()
        return anchored_win_rates(self.pairs, comparisons, labels, self.units, self.field, "")

    def interval(self, labeled: int, judged: bool = True) -> tuple[float, float]:
        """The interval of LT if people label the first matches; NaN without an LT."""
        rows = self.rows(range(labeled), judged)
        ((low, high),) = rows.select(pl.col("lt_fixed_low", "lt_fixed_high").fill_null(float("nan"))).iter_rows()
        return low, high


def arena(systems: Floats, judge: Judge, run: int, adaptive: bool = False) -> Arena:
    """Matches on 70 items with effects of 0.5 logits. With `adaptive`, the judge sees only the five anchors that are
    nearest to the model."""
    chance = np.random.default_rng(run)
    own = systems + EFFECT * chance.normal(size=(ITEMS, len(systems)))
    won = chance.random((ITEMS, *OURS.shape)) < sigma(own[:, :, None] - own[:, None, :])
    better = antisymmetric(won.astype(np.float64))
    verdicts = antisymmetric((chance.random(better.shape) < judge(better)).astype(np.float64))
    passages = [f"x/{run}-{item}" for item in range(ITEMS)]
    at = {(passage, anchor): (i, j) for i, passage in enumerate(passages) for j, anchor in enumerate(NAMED)}
    pairs = [
        ShownPair("ours", passage, "fons", "", "", "one text", "another text", ("set@1", anchor))
        for passage in passages for anchor in NAMED
    ]  # fmt: skip
    pairs.sort(key=lambda pair: pair.item)
    places = [at[pair.names[1], pair.names[3]] for pair in pairs]
    near = set(np.abs(SOME - systems[-1]).argsort()[: 5 if adaptive else None].tolist())
    seen = [(pair, verdicts[i, -1, j]) for pair, (i, j) in zip(pairs, places, strict=True) if j in near]
    rows = [(*pair.names, "output" if won else "anchor") for pair, won in seen]
    wins = verdicts[:, :-1, :-1]
    field = AnchorField(OVERALL, tuple(passages), np.arange(ITEMS), tuple(NAMED), wins, fit(wins.sum(axis=0)), 1.0)
    return Arena(
        pairs, [MACHINE if better[i, -1, j] else HUMAN for i, j in places],
        pl.DataFrame(rows, [*MATCH, "winner"], orient="row"),
        pl.DataFrame({"passage": passages, "unit": passages, "unit_kind": "passages"}), field,
    )  # fmt: skip


def target(systems: Floats, judge: Judge) -> tuple[float, float]:
    """LT by people, and LT by the judge, both on the scale of the anchors that the judge saw on infinitely many
    items."""
    won = expected(systems, EFFECT)
    judged = antisymmetric(judge(won))
    strengths = fit(judged[:-1, :-1])
    by_people, by_judge = (float(on_scale(fit_fixed(strengths, of[-1, :-1], of[:-1, -1]))) for of in (won, judged))
    return by_people, by_judge


def test_each_corpus_of_a_base_set_has_a_sample_of_its_own() -> None:
    """A quarter of the matches is of corpus y, and the model loses them all."""
    whole = arena(np.append(SOME, 0.0), right(0.9), 0)
    moved = [pair._replace(passage=f"y/{number}") for number, pair in enumerate(whole.pairs[::4])]
    pairs = sorted(
        [*moved, *(pair for number, pair in enumerate(whole.pairs) if number % 4)], key=lambda pair: pair.item
    )
    units = pl.DataFrame({"passage": sorted({pair.passage for pair in pairs})})
    units = units.with_columns(unit="passage", unit_kind=pl.lit("passages"))
    divided = whole._replace(
        pairs=pairs, units=units, people=[HUMAN if pair in moved else MACHINE for pair in pairs]
    )  # fmt: skip
    in_y, in_x = ([number for number, pair in enumerate(pairs) if (pair in moved) == at] for at in (True, False))
    (row,) = divided.rows([*in_y[:20], *in_x[:30]]).to_dicts()
    assert (row["win_rate"], row["missing_share"], row["problem"]) == (0.75, 0, None)
    (row,) = divided.rows(in_x[:30]).to_dicts()
    assert (row["win_rate"], row["lt_fixed"], row["missing_share"]) == (None, None, 0.25)
    assert "; people labeled pairs of x only; 25.0 % of the labels are missing" in row["problem"]


def test_a_model_without_a_loss_has_a_win_rate_and_no_lt() -> None:
    whole = arena(np.append(SOME, 0.0), right(0.9), 0)
    (row,) = whole._replace(people=[MACHINE] * len(whole.pairs)).rows(range(30)).to_dicts()
    assert (row["win_rate"], row["lt_fixed"]) == (pytest.approx(1), None)
    assert row["problem"] == "no finite strength exists: by these labels, ours wins every match"


@pytest.mark.proof
@pytest.mark.parametrize("name", [*JUDGES, f"right in 90 %{ADAPTIVE}"])
def test_the_interval_holds_the_lt_by_people_from_ten_labels_on(name: str, full: bool) -> None:
    """Prints, for models of three strengths: LT by people on their own scale of anchors; LT by people and LT by the
    judge on the scale that the judge makes of the anchors; and by number of labels, coverage, mean width, mean width
    without the judge (which is used from 75 labels on), and the share of runs without an LT."""
    judge, runs = JUDGES[name.removesuffix(ADAPTIVE)], 400 if full else 4
    for strength in (-2.0, 0.0, 2.5) if full else (0.0,):
        systems = np.append(SOME, strength)
        (own, _), (truth, by_judge) = target(systems, right(1)), target(systems, judge)
        found = [arena(systems, judge, run, name.endswith(ADAPTIVE)) for run in range(runs)]
        text = f"| {name} | {own:.1f} | {truth:.1f} | {by_judge:.1f}"
        for labels in (10, 20, 40, 80, 160) if full else (20, 80):
            low, high = np.array([each.interval(labels) for each in found]).T
            missing = np.isnan(low)
            alone = high - low if labels < FEWEST_LABELS else -np.subtract(*np.array([
                each.interval(labels, judged=False) for each in found
            ]).T)  # fmt: skip
            held = float(((low <= truth) & (truth <= high))[~missing].mean())
            text += f" | {held:.1%}, {np.nanmean(high - low):.2f}, {np.nanmean(alone):.2f}, {missing.mean():.1%}"
            assert held >= 0.93 - slack(False, runs) / 2, (strength, labels)
        print(f"{text} |")


@pytest.mark.proof
@pytest.mark.parametrize("labels", [20, 40, 80])
def test_the_interval_holds_the_lt_if_people_skip_matches_that_the_model_lost(labels: int, full: bool) -> None:
    """People skip 30 % of them. Prints LT by people, its estimate from the labels alone, and the share of missing
    labels, as found and in truth."""
    systems, judge, chance, runs = np.append(SOME, 0.0), right(0.9), np.random.default_rng(1), 400 if full else 8
    (truth, _), found = target(systems, judge), list[tuple[float, ...]]()
    for run in range(runs):
        whole = arena(systems, judge, run)
        kept = [number for number in range(labels) if whole.people[number] == MACHINE or chance.random() > 0.3]
        (row,) = whole.rows(kept).to_dicts()
        if row["lt_fixed"] is not None:  # missing labels may leave it open
            held = row["lt_fixed_low"] <= truth <= row["lt_fixed_high"]
            found.append((held, row["lt_fixed"], row["missing_share"], 1 - len(kept) / labels))
    held, *means = np.mean(found, axis=0)
    print(f"{labels} drawn: {held:.1%}, LT {truth:.2f}, {means[0]:.2f}, missing {means[1]:.1%}, {means[2]:.1%}")
    assert held >= 0.93 - slack(full, runs)
