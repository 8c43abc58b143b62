"""Scores of models against a base set, and scores of its anchors against each other, with intervals, for each slice.

Here: matches, wins, win rates, strengths and LT from judgments, and the contract that comparable scores share. Not
here: the fit itself (bradley_terry), judging (comparing, matches).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.metrics import intervals
from benchmark_assets.metrics.intervals import Floats, Units, Z, bounds, by_unit, influence
from benchmark_assets.metrics.measures import NONE, Estimate, numbered_units, ratio
from benchmark_assets.metrics.misclassification import widened
from benchmark_assets.metrics.missing import before
from benchmark_assets.pairwise import bradley_terry
from benchmark_assets.pairwise.base_sets import JudgeRecord
from benchmark_assets.pairwise.bradley_terry import fit, fit_fixed, obstacle, on_scale
from resources.catalogue import schema

AGGREGATION = 1
"""Version of the aggregation. Increase it whenever the same judgments give different scores than before."""

UNRECORDED = "not recorded"
"""What a contract states about the judge of the anchors if the base set has no record of this judge."""

SIGNATURE = (
    f"Bradley-Terry by maximum likelihood (penalty {bradley_terry.PENALTY:g} of squares), LT = 10 σ(strength); "
    f"{intervals.SIGNATURE}"
)

OVERALL = "overall"


ANCHORS_ADJUSTED = [
    *NONE.columns("lt_controlled"),
    "length_problem",
    *NONE.columns("lt_corrected"),
    "correction_problem",
]
"""Columns of `anchor_score` that the module `adjusted` fills."""

ANCHOR_SCORE = schema("anchor_score", *ANCHORS_ADJUSTED)

EFFECTS = ("length_coefficient", "position_coefficient", "tie_parameter")
"""Columns of `pairwise_score` that describe influences on the judge besides quality."""

OF_JUDGE = ("first_rate", *EFFECTS, "reliability")
"""Columns of `pairwise_score` with an interval that describe the judge rather than the model."""

ADJUSTED = [
    *(end for name in ("lt_controlled", "lt_fixed_controlled", *EFFECTS) for end in NONE.columns(name)),
    "length_problem",
    *(end for name in ("lt_corrected", "win_rate_corrected", "reliability") for end in NONE.columns(name)),
    "correction_problem",
]
"""Columns of `pairwise_score` that the module `adjusted` fills."""

_NO_MATCHES = (0, 0, 0.0, 0, 0)
"""Counts, as in `tallies`, of an anchor that was never judged."""

PAIRWISE_SCORE = before("pairwise_score", "judge_standing", *ADJUSTED)


class AnchorField(NamedTuple):
    """Wins and strengths of the anchors of a base set on the items of a slice.

    `slice` is the name of the slice, and `passages` are its items. `units` has the index of each item's unit. `wins`
    are the wins of the row's anchor against the column's anchor in each unit, shape (units, anchors, anchors).
    `strengths` are the log-strengths of the anchors, shape (anchors,), NaN if no finite strengths exist. `verdicts` is
    the number of verdicts per match: 2 if both orders were judged.
    """

    slice: str
    passages: tuple[str, ...]
    units: Units
    anchors: tuple[str, ...]
    wins: Floats
    strengths: Floats
    verdicts: float


def contract(base_set: Mapping[str, str | None], models: JudgeRecord | None = None) -> str:
    """The conditions under which scores are comparable: base set, judge, settings and aggregation.

    Source: JP-TL-Bench, section 4.5 and appendix E.

    Parameters
    ----------
    base_set
        Row of the table `base_set`.
    models
        Record of the judge that compared the models. It is used only if `base_set` has no record of the judge that
        compared the anchors; otherwise both are the same judge.
    """
    record = base_set["judged"]
    judge = str(JudgeRecord.model_validate_json(record)) if record else UNRECORDED
    if models and not record:
        judge = f"of anchors {UNRECORDED}, of models {models}"
    return (
        f"base set {base_set['base_set']} ({base_set['content']}); judge {base_set['judge']}: {judge}; "
        f"settings {base_set['settings']}; aggregation {AGGREGATION}"
    )


def slices(items: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """The items of each slice of a base set, sorted, from the columns `passage`, `direction` and `difficulty` of items.

    Slices are 'overall', each direction, each difficulty, and each direction with each difficulty ('ja-en easy').
    """
    rows = items.select("passage", "direction", "difficulty", both=pl.format("{} {}", "direction", "difficulty"))
    rows = rows.with_columns(whole=pl.lit(OVERALL)).sort("passage")
    return {
        str(name): tuple(group["passage"])
        for column in ("whole", "direction", "difficulty", "both")
        for (name,), group in sorted(rows.group_by([column], maintain_order=True), key=lambda entry: entry[0])
    }


def anchor_matches(judgments: pl.DataFrame) -> pl.DataFrame:
    """Matches of anchors, from rows of the table `anchor_judgment`.

    Returns
    -------
    One row for each pair of anchors on an item, judged in one or both orders. Columns `passage`, `system`, `other` and
    `won`: 1 if `system` won, 0 if `other` won, 0.5 if the winner changed with the order. An order in which the judge
    refused does not count; `won` is null if the judge refused in every order.
    """
    first, second = pl.col("first"), pl.col("second")
    pairs = judgments.with_columns(system=pl.min_horizontal(first, second), other=pl.max_horizontal(first, second))
    won = (pl.col("winner") == pl.col("system")).mean()
    return pairs.group_by("passage", "system", "other").agg(won=won).sort("passage", "system", "other")


def tallies(judgments: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Counts of the matches and wins of each system, by slice, from rows of `anchor_judgment` and `base_set_item`.

    Returns
    -------
    One row for each slice and system, sorted by `slice` and `system`. `items` counts the items on which the system has
    a decided match, `matches` its decided matches, `wins` its wins (a tie is half a win), `ties` its ties, and
    `excluded` its pairs without a verdict.
    """
    matches = anchor_matches(judgments)
    by_system = pl.concat([
        matches.select("passage", "system", "won"),
        matches.select("passage", system="other", won=1 - pl.col("won")),
    ])  # fmt: skip
    slice_items = pl.DataFrame(
        [(name, passage) for name, passages in slices(items).items() for passage in passages],
        schema={"slice": pl.String, "passage": pl.String}, orient="row",
    )  # fmt: skip
    return by_system.join(slice_items, on="passage").group_by("slice", "system").agg(_tally()).sort("slice", "system")


def anchor_wins(judgments: pl.DataFrame, anchors: Sequence[str]) -> Floats:
    """Wins of the row's anchor against the column's anchor on all items, shape (anchors, anchors); a tie counts as half
    a win for each anchor."""
    matches = anchor_matches(judgments)
    wins: Floats = _wins(matches, matches["passage"].unique().to_list(), anchors).sum(axis=0)
    return wins


def candidate_matches(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Matches of models with anchors, from rows of the table `comparison`.

    Returns
    -------
    One row for each model, item and anchor: columns `model`, `passage`, `anchor` and `won`: 1 if the model won, 0 if
    the anchor won, 0.5 or null as in `anchor_matches`.
    """
    key = ["model", "passage", "anchor"]
    return comparisons.group_by(key).agg(won=(pl.col("winner") == "output").mean()).sort(key)


def fields(judgments: pl.DataFrame, items: pl.DataFrame, anchors: Iterable[str]) -> list[AnchorField]:
    """Wins and strengths of the anchors of one base set, for each of its slices.

    `judgments` are rows of `anchor_judgment`, and `items` rows of `base_set_item` with the column `unit`. `anchors` are
    names of anchors, with or without judgments.
    """
    matches = anchor_matches(judgments)
    names = tuple(sorted({*anchors, *matches["system"], *matches["other"]}))
    unit_of = dict(items.select("passage", "unit").iter_rows())
    verdicts = _verdicts_per_match(judgments, matches)
    result = []
    for name, passages in slices(items).items():
        units = numbered_units(pl.Series([unit_of[passage] for passage in passages]))
        wins = by_unit(_wins(matches, passages, names), units)
        result.append(AnchorField(name, passages, units, names, wins, fit(wins.sum(axis=0)), verdicts))
    return result


def _wins(matches: pl.DataFrame, passages: Sequence[str], anchors: Sequence[str]) -> Floats:
    """Wins of the row's anchor against the column's anchor on each item, shape (items, anchors, anchors)."""
    wins = np.zeros((len(passages), len(anchors), len(anchors)))
    decided_matches = matches.drop_nulls("won").filter(pl.col("passage").is_in(passages))
    item = _indices(decided_matches["passage"], passages)
    system, other = _indices(decided_matches["system"], anchors), _indices(decided_matches["other"], anchors)
    wins[item, system, other] = decided_matches["won"]
    wins[item, other, system] = 1 - decided_matches["won"]
    return wins


def anchor_scores(judgments: pl.DataFrame, items: pl.DataFrame, anchors: Iterable[str], contract: str) -> pl.DataFrame:
    """Rows of `anchor_score`: the anchors of one base set against each other.

    Parameters
    ----------
    judgments, items
        Rows of `anchor_judgment` and `base_set_item` of the base set, the latter with the columns `unit` and
        `unit_kind`.
    anchors
        Names of the anchors; an anchor without a judgment has no matches.
    contract
        The result of the function `contract`.

    Returns
    -------
    Columns of `ANCHOR_SCORE`, one row for each slice and anchor. Rates are in [0, 1]; counts are as in `tallies`. If no
    finite strengths exist, `problem` gives the reason, and strengths, LT and EN of all anchors are null, because LT
    refers to the mean of all strengths.
    """
    counts_of = tallies(judgments, items).rows_by_key(["slice", "system"], unique=True)
    base_set, signature = items["base_set"].unique().item(), _signature(items)
    rows: list[tuple[object, ...]] = []
    for field in fields(judgments, items, anchors):
        columns = [_win_rates(field.wins, field.wins.swapaxes(1, 2), field.verdicts)]
        columns += _joint(field.wins, field.strengths, field.verdicts, list(range(len(field.anchors))))
        problem = obstacle(field.wins.sum(axis=0), field.anchors)
        for anchor, *numbers in zip(field.anchors, *columns, strict=True):
            counts = counts_of.get((field.slice, anchor), _NO_MATCHES)
            values = [value for number in numbers for value in number]
            rows.append((base_set, field.slice, anchor, *counts, *values, problem, contract, signature))
    return pl.DataFrame(rows, schema=ANCHOR_SCORE, orient="row")


def candidate_scores(
    comparisons: pl.DataFrame, judgments: pl.DataFrame, items: pl.DataFrame, contract: str
) -> pl.DataFrame:
    """Rows of `pairwise_score`: models against one base set, with a separate fit for each model.

    Parameters
    ----------
    comparisons
        Rows of `comparison` for this base set, from any models that are not its anchors.
    judgments, items
        Rows of `anchor_judgment` and `base_set_item` of the base set, the latter with the columns `unit` and
        `unit_kind`.
    contract
        The result of the function `contract`.

    Returns
    -------
    Columns of `PAIRWISE_SCORE`, one row for each model and each slice in which it was compared. Counts and rates are as
    in `anchor_scores`. The win rate is null unless the model met every anchor on each item. Otherwise, the rate would
    be biased towards one half, because adaptive mode prefers anchors near the model. `strength`, `lt` and `en` come
    from a joint fit of anchors and model, in which the strengths have mean 0 (section 4.4). `lt_fixed` comes from a fit
    with the anchors' strengths fixed, and is comparable with the LT of the anchors. `first_rate` is the share of the
    judge's verdicts that favor the text shown as A, `missing_share` the share of comparisons without a winner. For
    intervals, a unit is left out of the matches of the anchors and of the model at the same time.
    """
    matches = candidate_matches(comparisons).rename({"model": "system", "anchor": "other"})
    base_set, signature = items["base_set"].unique().item(), _signature(items)
    verdicts, firsts = _verdicts_per_match(comparisons, matches), _firsts(comparisons, items)
    rows: list[tuple[object, ...]] = []
    for field in fields(judgments, items, comparisons["anchor"]):
        inside = pl.col("passage").is_in(field.passages)
        for (model,), group in matches.filter(inside).group_by(["system"], maintain_order=True):
            own = by_unit(_wins(group, field.passages, [*field.anchors, str(model)]), field.units)
            wins, losses, joined = own[:, -1, :-1], own[:, :-1, -1], np.pad(field.wins, ((0, 0), (0, 1), (0, 1))) + own
            met_all = len(group) == group["passage"].n_unique() * len(field.anchors)
            (win_rate,) = _win_rates(wins[:, None], losses[:, None], verdicts)
            first, unit = firsts.filter(inside).filter(model=model).select("first", "unit")
            of_first = intervals.rate_interval(first.to_numpy(), numbered_units(unit)) if len(first) else (None, None)
            first_rate = Estimate(float(first.to_numpy().mean()) if len(first) else None, *of_first)
            problem = _problem(joined.sum(axis=0), field, str(model))
            strength, lt, en = (each for (each,) in _joint(joined, fit(joined.sum(axis=0)), verdicts, [-1]))
            lt_fixed = _fixed(field, wins, losses, verdicts, joined.sum(axis=(1, 2))[:, None])
            columns = win_rate if met_all else NONE, strength, lt, en, lt_fixed, first_rate
            counts, numbers = group.select(_tally()).row(0), [value for column in columns for value in column]
            winners = comparisons.filter(inside, model=model)["winner"]
            missing = winners.null_count() / len(winners)
            rows.append((model, base_set, field.slice, *counts, *numbers, missing, problem, contract, signature))
    return pl.DataFrame(rows, schema=PAIRWISE_SCORE, orient="row").sort("model", maintain_order=True)


def _joint(wins: Floats, strengths: Floats, verdicts: float, systems: list[int]) -> list[list[Estimate]]:
    """Strength, LT and EN of `systems` in a joint fit, with intervals; `wins` has shape (units, n, n)."""
    if np.isnan(strengths).any():
        return [[NONE] * len(systems)] * 3
    without, covariance = bradley_terry.without_units(wins, strengths)
    shares_of_odds, derivatives = bradley_terry.log_shares(strengths)
    size, matches = len(systems), np.repeat(wins.sum(axis=(1, 2))[:, None], 2 * len(systems), axis=1)
    weights = np.vstack([np.eye(len(strengths))[systems], derivatives[systems]])
    errors = np.sqrt(np.einsum("ij,jk,ik->i", weights, covariance, weights) / verdicts)
    values = np.append(strengths[systems], shares_of_odds[systems])
    estimates = with_bounds(values, values + (without - strengths) @ weights.T, errors, matches)
    scores = [scaled(estimate) for estimate in estimates]
    return [estimates[:size], scores[:size], scores[size:]]


def _fixed(field: AnchorField, wins: Floats, losses: Floats, verdicts: float, matches: Floats) -> Estimate:
    """LT of a model from a fit with the anchors' strengths fixed, with its interval.

    The interval accounts for the errors of the anchors' strengths: leaving out a unit changes these strengths, too.
    """
    strength = float(fit_fixed(field.strengths, wins.sum(axis=0), losses.sum(axis=0)))
    if math.isnan(strength):
        return NONE
    without, weights, variance = bradley_terry.without_units_fixed(field.strengths, wins, losses, strength)
    anchors_without, covariance = bradley_terry.without_units(field.wins, field.strengths)
    error = math.sqrt(variance / verdicts + weights @ covariance @ weights / field.verdicts)
    without += (anchors_without - field.strengths) @ weights
    (estimate,) = with_bounds(np.array([strength]), without[:, None], np.array([error]), matches)
    return scaled(estimate)


def fixed_lt(field: AnchorField, matches: Floats, rate: Estimate) -> Estimate:
    """LT that corresponds to a win rate, with the anchors' strengths fixed.

    Parameters
    ----------
    field
        The anchors, with finite strengths.
    matches
        Number of the system's matches with each anchor, shape (anchors,).
    rate
        Share of all these matches that the system wins, in [0, 1], with its interval.

    Returns
    -------
    LT on the scale of the anchors' LT. `NONE` if the system wins all matches or none. No interval if the win rate has
    none, or if the base set has fewer than five units.

    Notes
    -----
    With fixed anchors, the strength depends on the matches only through the number of wins (see `fit_fixed`), and it
    grows with this number. So the strengths at the ends of the win rate's interval are an interval of the strength. It
    is combined with the errors of the anchors' strengths (MOVER; Zou and Donner 2008).
    """
    # A weighted mean of wins alone may differ from 1 by a rounding error, which would give a finite strength.
    rates = np.array(rate, dtype=np.float64).round(12)[:, None]
    fitted = fit_fixed(field.strengths, rates * matches, (1 - rates) * matches)
    strength, low, high = np.where(rates[:, 0] <= 0, -np.inf, np.where(rates[:, 0] >= 1, np.inf, fitted)).tolist()
    if not math.isfinite(strength):
        return NONE
    won = (rates[0] * matches)[None]
    _, weights, _ = bradley_terry.without_units_fixed(field.strengths, won, matches - won, strength)
    anchors_without, covariance = bradley_terry.without_units(field.wins, field.strengths)
    moved = strength + (anchors_without - field.strengths) @ weights
    error = math.sqrt(weights @ covariance @ weights / field.verdicts)
    of_units = field.wins.sum(axis=(1, 2))[:, None]
    (scale,) = with_bounds(np.array([strength]), moved[:, None], np.array([error]), of_units)
    if scale.low is None or scale.high is None or rate.low is None:
        return scaled(Estimate(strength, None, None))
    below, above = np.array([strength - scale.low]), np.array([scale.high - strength])
    return scaled(widened(Estimate(strength, low, high), below, above))


def scaled(log_odds: Estimate) -> Estimate:
    """Convert an estimate in log-odds to the scale of LT."""
    return Estimate(*(None if each is None else float(on_scale(np.array(each))) for each in log_odds))


def _win_rates(wins: Floats, losses: Floats, verdicts: float) -> list[Estimate]:
    """Win rates of systems with their intervals; None for a system without matches.

    `wins` and `losses` against each opponent in each unit have the shape (units, systems, opponents).
    """
    won, matches = wins.sum(axis=2), (wins + losses).sum(axis=2)
    rates, total = ratio(won.sum(axis=0), matches.sum(axis=0)), matches.sum(axis=0)
    against, chances = (wins + losses).sum(axis=0), ratio(wins.sum(axis=0), (wins + losses).sum(axis=0))
    errors = np.sqrt(np.nansum(against * chances * (1 - chances), axis=1) / verdicts) / np.maximum(total, 1)
    estimates = _rates(won, matches - won)  # kept for systems that won all matches or none
    mixed = np.flatnonzero((rates > 0) & (rates < 1))
    without = ratio(won.sum(axis=0) - won, total - matches)[:, mixed]
    of_mixed = with_bounds(rates[mixed], without, errors[mixed], matches[:, mixed])
    for system, (value, low, high) in zip(mixed, of_mixed, strict=True):
        ends = None if low is None else max(low, 0.0), None if high is None else min(high, 1.0)
        estimates[system] = Estimate(value, *ends)
    return estimates


def with_bounds(values: Floats, without: Floats, errors: Floats, matches: Floats) -> list[Estimate]:
    """Estimates of strengths or rates with their 95 % intervals.

    Parameters
    ----------
    values
        Shape (estimates,).
    without
        The values with each unit left out in turn, shape (units, estimates).
    errors
        The standard errors of the values if all verdicts are independent tosses, shape (estimates,).
    matches
        Number of matches of each unit, shape (units, estimates).

    Notes
    -----
    The intervals are those of units (`metrics.intervals.bounds`). An interval is at least as
    wide as if all verdicts were independent tosses. Without this minimum, its width would be 0 if all units agree.
    """
    shares = matches / matches.sum(axis=0)
    distances = bounds(influence(values, without, shares), shares)
    result: list[Estimate] = []
    for value, below, above, error in zip(values, *distances, errors, strict=True):
        ends = float(value - max(below, Z * error)), float(value + max(above, Z * error))
        result.append(Estimate(float(value), *((None, None) if np.isnan(below) else ends)))
    return result


def _rates(hits: Floats, misses: Floats) -> list[Estimate]:
    """Rates with 95 % intervals; None for a rate without trials. `hits` and `misses` have shape (units, rates)."""
    trials = hits + misses
    rates = ratio(hits.sum(axis=0), trials.sum(axis=0))
    return [
        NONE if np.isnan(rate) else Estimate(float(rate), *interval)
        for rate, interval in zip(rates, intervals.rate_intervals(hits, trials), strict=True)
    ]


def _signature(items: pl.DataFrame) -> str:
    return f"{SIGNATURE}; units: {', '.join(items['unit_kind'].unique().sort())}"


def _tally() -> list[pl.Expr]:
    """Expressions for the counts of `tallies`, from the columns `passage` and `won`."""
    won = pl.col("won")
    is_decided = won.is_not_null()
    return [
        pl.col("passage").filter(is_decided).n_unique().alias("items"),
        is_decided.sum().alias("matches"),
        won.sum().alias("wins"),
        (won == 0.5).sum().alias("ties"),
        won.is_null().sum().alias("excluded"),
    ]


def _verdicts_per_match(judged: pl.DataFrame, matches: pl.DataFrame) -> float:
    """Mean number of verdicts that name a winner, per decided match: 1 or more, and 1 if no match is decided."""
    decided = matches["won"].count()
    return judged["winner"].count() / decided if decided else 1.0


def _firsts(comparisons: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """The judge's verdicts: columns `model`, `passage`, `unit`, and `first`, whether the text shown as A won. Pairs
    with an empty text are left out, because no judge sees them."""
    verdicts = comparisons.filter(pl.col("winner").is_not_null() & (pl.col("asked") > 0))
    first = (pl.col("shown") == "A") == (pl.col("winner") == "output")
    return verdicts.join(items.select("passage", "unit"), on="passage").select("model", "passage", "unit", first=first)


def _problem(table: Floats, field: AnchorField, model: str) -> str | None:
    """The reason why no finite strengths exist for anchors and model together, or for the anchors alone; else None."""
    if reason := obstacle(table, [*field.anchors, model]):
        return reason
    alone = obstacle(field.wins.sum(axis=0), field.anchors)
    return f"among the anchors alone, {alone}" if alone else None


def _indices(names: pl.Series, sequence: Sequence[str]) -> NDArray[np.int64]:
    """Index of each name in a sequence, shape (names,)."""
    index = {name: number for number, name in enumerate(sequence)}
    return np.array([index[name] for name in names], dtype=np.int64)
