"""Scores of models against a base set, and of its anchors against each other, with intervals, by slice.

Here: matches, wins, win rates, strengths and LT from judgments, and the contract that makes scores comparable. Not
here: the fit itself (bradley_terry), judging (comparing, matches).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import LEVEL, RESAMPLES, SEED, bounded, sample_and_resamples
from benchmark_assets.metrics.measures import Floats, ratio
from benchmark_assets.pairwise.base_sets import JudgeRecord
from benchmark_assets.pairwise.bradley_terry import PENALTY, en, fit, fit_fixed, lt, obstacle, on_scale
from resources.catalogue import schema

AGGREGATION = 1
"""Version of the aggregation. Increase it whenever the same judgments give other scores than before."""

UNRECORDED = "not recorded"
"""Stands for a judge that the base set does not record."""

SIGNATURE = (
    f"Bradley-Terry by maximum likelihood (penalty {PENALTY:g} of squares), LT = 10 σ(strength); "
    f"{LEVEL:.0%} intervals: {RESAMPLES} bootstrap resamples of items, percentiles, seed {SEED}"
)

OVERALL = "overall"

_BOUNDS = ("", "_low", "_high")
_COUNTS = {"items": pl.Int32(), "matches": pl.Int32(), "wins": pl.Float64(), "ties": pl.Int32(), "excluded": pl.Int32()}
_WORDS = {"problem": pl.String(), "contract": pl.String(), "signature": pl.String()}
_OWN = ("win_rate", "strength", "lt", "en")
_CANDIDATES = (*_OWN, "lt_fixed", "first_rate")

ANCHOR_SCORE = schema("anchor_score")

PAIRWISE_SCORE = schema("pairwise_score")


class Slice(NamedTuple):
    """A subset of the items of a base set.

    Attributes
    ----------
    name
        'overall', a direction, a difficulty, or a direction and a difficulty ('ja-en easy').
    passages
        Its items, sorted, so that the same items always give the same resamples.
    """

    name: str
    passages: tuple[str, ...]


class Field(NamedTuple):
    """The anchors of a base set over the items of a slice.

    Attributes
    ----------
    wins
        Wins of the row's system against the column's on each item, shape (items, anchors, anchors).
    tables
        Sums of wins, in the sample and then in each resample of items, shape (1 + RESAMPLES, anchors, anchors).
    strengths
        Log-strengths from each table, shape (1 + RESAMPLES, anchors); NaN where no finite strengths exist.
    """

    slice: Slice
    anchors: tuple[str, ...]
    wins: Floats
    tables: Floats
    strengths: Floats


def contract(base_set: Mapping[str, str | None], models: JudgeRecord | None = None) -> str:
    """The conditions that comparable scores share: base set, judge, settings and aggregation.

    Source: JP-TL-Bench, section 4.5 and appendix E.

    Parameters
    ----------
    base_set
        Row of the table `base_set`, with the record of the judge of the anchors.
    models
        Record of the judge of models. It is used only if the base set has no record of a judge; otherwise the judge of
        the anchors judges models too.
    """
    judged = base_set["judged"]
    judge = str(JudgeRecord.model_validate_json(judged)) if judged else UNRECORDED
    if models and not judged:
        judge = f"of anchors {UNRECORDED}, of models {models}"
    return (
        f"base set {base_set['base_set']} ({base_set['content']}); judge {base_set['judge']}: {judge}; "
        f"settings {base_set['settings']}; aggregation {AGGREGATION}"
    )


def slices(items: pl.DataFrame) -> list[Slice]:
    """The slices of a base set, from `passage`, `direction` and `difficulty` of its items."""
    rows = items.select("passage", "direction", "difficulty", both=pl.format("{} {}", "direction", "difficulty"))
    rows = rows.with_columns(whole=pl.lit(OVERALL)).sort("passage")
    found = []
    for by in ("whole", "direction", "difficulty", "both"):
        for (name,), own in sorted(rows.group_by([by], maintain_order=True), key=lambda each: each[0]):
            found.append(Slice(str(name), tuple(own["passage"])))
    return found


def anchor_matches(judgments: pl.DataFrame) -> pl.DataFrame:
    """Matches of anchors, from rows of the table `anchor_judgment`.

    Returns
    -------
    Columns `passage`, `system`, `other` and `won`: 1 where `system` won, 0 where `other` did, 0.5 where the winner
    changed with the order, NULL where the judge refused. One row for each pair of anchors on an item, shown in one
    order or both; an order in which the judge refused does not count.
    """
    first, second = pl.col("first"), pl.col("second")
    pairs = judgments.with_columns(system=pl.min_horizontal(first, second), other=pl.max_horizontal(first, second))
    won = (pl.col("winner") == pl.col("system")).mean()
    return pairs.group_by("passage", "system", "other").agg(won=won).sort("passage", "system", "other")


def tallies(judgments: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Counts of matches and wins of anchors, or of a pool, by system and slice.

    Parameters
    ----------
    judgments, items
        Columns of `anchor_judgment` and of `base_set_item`.

    Returns
    -------
    Columns `slice` and `system`, sorted by both; `items` on which the system has a match that counts; `matches`;
    `wins`, a tie being half of one; `ties`; and `excluded`, pairs without a match that counts.
    """
    found = anchor_matches(judgments)
    sides = pl.concat([
        found.select("passage", "system", "won"),
        found.select("passage", system="other", won=1 - pl.col("won")),
    ])  # fmt: skip
    belongs = pl.DataFrame(
        [(each.name, passage) for each in slices(items) for passage in each.passages],
        schema={"slice": pl.String, "passage": pl.String}, orient="row",
    )  # fmt: skip
    return sides.join(belongs, on="passage").group_by("slice", "system").agg(_tally()).sort("slice", "system")


def anchor_wins(judgments: pl.DataFrame, anchors: Sequence[str]) -> Floats:
    """Wins of each anchor over each other on all items, shape (anchors, anchors); a tie is half of one."""
    wins = np.zeros((len(anchors), len(anchors)))
    known = anchor_matches(judgments).drop_nulls("won")
    at = _numbers(known["system"], anchors), _numbers(known["other"], anchors)
    np.add.at(wins, at, known["won"].to_numpy())
    np.add.at(wins, at[::-1], 1 - known["won"].to_numpy())
    return wins


def candidate_matches(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Matches of models with anchors, from rows of the table `comparison`.

    Returns
    -------
    Columns `model`, `passage`, `anchor` and `won`, as in `anchor_matches`, from the model's side.
    """
    key = ["model", "passage", "anchor"]
    return comparisons.group_by(key).agg(won=(pl.col("winner") == "output").mean()).sort(key)


def fields(judgments: pl.DataFrame, items: pl.DataFrame) -> list[Field]:
    """The anchors of one base set over each of its slices.

    Parameters
    ----------
    judgments, items
        Rows of `anchor_judgment` and `base_set_item`.
    """
    found = anchor_matches(judgments)
    anchors = tuple(sorted({*found["system"], *found["other"]}))
    passages = tuple(items["passage"].sort())
    wins = np.zeros((len(passages), len(anchors), len(anchors)))
    known = found.drop_nulls("won")
    at = _numbers(known["passage"], passages), _numbers(known["system"], anchors), _numbers(known["other"], anchors)
    wins[at] = known["won"]
    wins[at[0], at[2], at[1]] = 1 - known["won"]
    place = {passage: number for number, passage in enumerate(passages)}
    every = []
    for each in slices(items):
        own = wins[[place[passage] for passage in each.passages]]
        tables = resampled(own)
        every.append(Field(each, anchors, own, tables, fit(tables)))
    return every


def resampled(counts: Floats) -> Floats:
    """Sums over items of counts, shape (items, ...), in the sample and its resamples: shape (1 + RESAMPLES, ...)."""
    sums: Floats = sample_and_resamples(len(counts)) @ counts.reshape(len(counts), -1)
    return sums.reshape(-1, *counts.shape[1:])


def anchor_scores(judgments: pl.DataFrame, items: pl.DataFrame, contract: str) -> pl.DataFrame:
    """Rows of `anchor_score`: the anchors of one base set against each other.

    Parameters
    ----------
    judgments, items
        Rows of `anchor_judgment` and `base_set_item`, of one base set.
    contract
        As `contract` gives it.

    Returns
    -------
    Columns of `ANCHOR_SCORE`, a row for each slice and anchor. Rates are in [0, 1]. `items` counts items on which the
    anchor has a match that counts, `excluded` pairs without one. Where `problem` says that no finite strengths exist,
    strengths and LT are NULL for all anchors, because LT refers to the mean of all.
    """
    tallied = tallies(judgments, items).rows_by_key(["slice", "system"], unique=True)
    base_set = items["base_set"].unique().item()
    rows: list[tuple[object, ...]] = []
    for field in fields(judgments, items):
        won, lost = field.tables.sum(axis=2), field.tables.sum(axis=1)
        columns = ratio(won, won + lost), field.strengths, lt(field.strengths), en(field.strengths)
        problem = obstacle(field.tables[0], field.anchors) or _omitted(field.strengths[:, 0])
        for number, anchor in enumerate(field.anchors):
            if counts := tallied.get((field.slice.name, anchor)):
                numbers = [each for column in columns for each in _interval(column[:, number])]
                words = problem, contract, SIGNATURE
                rows.append((base_set, field.slice.name, anchor, *counts, *numbers, *words))
    return pl.DataFrame(rows, schema=ANCHOR_SCORE, orient="row")


def candidate_scores(
    comparisons: pl.DataFrame, judgments: pl.DataFrame, items: pl.DataFrame, contract: str
) -> pl.DataFrame:
    """Rows of `pairwise_score`: models against one base set, each in a separate fit.

    Parameters
    ----------
    comparisons
        Rows of `comparison` with that base set, of any models that are not anchors of the set.
    judgments, items
        Rows of `anchor_judgment` and `base_set_item`.
    contract
        As `contract` gives it.

    Returns
    -------
    Columns of `PAIRWISE_SCORE`, a row for each model and slice in which it was compared. `items`, `excluded` and rates
    are as in `anchor_scores`. The win rate is null if the model did not meet all anchors on the items: adaptive mode
    prefers anchors near the model, which would bias the rate towards one half. `strength`, `lt` and `en` come from a
    joint fit of anchors and model, whose strengths have mean 0 (section 4.4). `lt_fixed` places the model among the
    anchors as fitted without it, and is comparable with their LT. `first_rate` is over all verdicts that the judge was
    asked for. Anchors and model share the resamples of items.
    """
    found = candidate_matches(comparisons)
    base_set = items["base_set"].unique().item()
    shown = _first(comparisons)
    rows: list[tuple[object, ...]] = []
    for field in fields(judgments, items):
        inside = pl.col("passage").is_in(field.slice.passages)
        asked = shown.filter(inside)
        for (model,), own in found.filter(inside).group_by(["model"], maintain_order=True):
            wins, losses = _against(own, field)
            won, lost = wins.sum(axis=1), losses.sum(axis=1)
            together = _joined(field.tables, wins, losses)
            strengths = fit(together)
            fixed = on_scale(fit_fixed(field.strengths, wins, losses))
            problem = _problem(together[0], field, str(model)) or _omitted(strengths[:, -1] + fixed)
            met_all = len(own) == own["passage"].n_unique() * len(field.anchors)
            rate = ratio(won, won + lost) if met_all else np.full(len(won), np.nan)
            numbers = [
                each
                for column in (rate, strengths[:, -1], lt(strengths)[:, -1], en(strengths)[:, -1], fixed)
                for each in _interval(column)
            ] + _interval(_first_rate(asked.filter(model=model), field.slice))  # fmt: skip
            counts = own.select(_tally()).row(0)
            rows.append((model, base_set, field.slice.name, *counts, *numbers, problem, contract, SIGNATURE))
    return pl.DataFrame(rows, schema=PAIRWISE_SCORE, orient="row").sort("model", maintain_order=True)


def _tally() -> list[pl.Expr]:
    """Items, matches, wins, ties and excluded pairs, from `passage` and `won`."""
    won = pl.col("won")
    known = won.is_not_null()
    return [
        pl.col("passage").filter(known).n_unique().alias("items"),
        known.sum().alias("matches"),
        won.sum().alias("wins"),
        (won == 0.5).sum().alias("ties"),
        won.is_null().sum().alias("excluded"),
    ]


def _against(matches: pl.DataFrame, field: Field) -> tuple[Floats, Floats]:
    """Wins and losses of a model against each anchor, resampled: shape (1 + RESAMPLES, anchors) each."""
    known = matches.drop_nulls("won")
    counts = np.zeros((len(field.slice.passages), 2, len(field.anchors)))
    at = _numbers(known["passage"], field.slice.passages), _numbers(known["anchor"], field.anchors)
    counts[at[0], 0, at[1]] = known["won"]
    counts[at[0], 1, at[1]] = 1 - known["won"]
    sums = resampled(counts)
    return sums[:, 0], sums[:, 1]


def _joined(tables: Floats, wins: Floats, losses: Floats) -> Floats:
    """Append a system to the tables of the anchors, in the last place."""
    size = tables.shape[-1]
    together = np.zeros((len(tables), size + 1, size + 1))
    together[:, :size, :size] = tables
    together[:, size, :size] = wins
    together[:, :size, size] = losses
    return together


def _first(comparisons: pl.DataFrame) -> pl.DataFrame:
    """By model and passage, the number of verdicts that the judge was asked for, and of wins for the text shown as A.

    Pairs with an empty text are left out, because no judge sees them.
    """
    asked = comparisons.filter(pl.col("winner").is_not_null() & (pl.col("asked") > 0))
    first = (pl.col("shown") == "A") == (pl.col("winner") == "output")
    return asked.group_by("model", "passage").agg(verdicts=pl.len(), first=first.sum())


def _first_rate(asked: pl.DataFrame, own: Slice) -> Floats:
    counts = np.zeros((len(own.passages), 2))
    counts[_numbers(asked["passage"], own.passages)] = asked.select("first", "verdicts").to_numpy()
    sums = resampled(counts)
    return ratio(sums[:, 0], sums[:, 1])


def _problem(together: Floats, field: Field, model: str) -> str | None:
    """Why no strengths exist with the model, or for the anchors without it."""
    if reason := obstacle(together, [*field.anchors, model]):
        return reason
    alone = obstacle(field.tables[0], field.anchors)
    return f"among the anchors alone, {alone}" if alone else None


def _omitted(strengths: Floats) -> str | None:
    """Message with the number of resamples without strengths; None if all have them. Shape (1 + RESAMPLES,)."""
    gone = int(np.isnan(strengths[1:]).sum())
    if not gone:
        return None
    return f"{gone} of {RESAMPLES} resamples have no finite strengths, and the intervals leave them out"


def _interval(values: Floats) -> list[float | None]:
    """Value and interval; no interval if more than half of the resamples are NaN."""
    if np.isnan(values[1:]).mean() > 0.5:
        return [None if np.isnan(values[0]) else float(values[0]), None, None]
    return list(bounded(values))


def _numbers(names: pl.Series, among: Sequence[str]) -> NDArray[np.int64]:
    """Indices of names in a list, shape (names,)."""
    place = {name: number for number, name in enumerate(among)}
    return np.array([place[name] for name in names], dtype=np.int64)
