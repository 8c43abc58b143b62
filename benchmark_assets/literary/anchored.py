"""Scores of models estimated from people's labels of pairs, with judges' verdicts as predictions.

Here: literary scores and win rates against anchors. Not here: scores from verdicts alone (scores, pairwise.scores), the
accuracy of judges (calibration), the method (metrics.anchoring).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.corpus.units import FEWEST, with_units
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE
from benchmark_assets.literary.pairs import ShownPair, applicable_matches, known_points, matches, passages_of
from benchmark_assets.literary.works import numbered
from benchmark_assets.metrics.anchoring import FEWEST_IN_STRATA, FEWEST_LABELS, FOLDS, Rated, anchored
from benchmark_assets.metrics.intervals import SEED, Floats, Units
from benchmark_assets.metrics.measures import numbered_units
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

SCORES = schema("anchored_score")
WIN_RATES = schema("anchored_win_rate")

POINTS = {MACHINE: 1.0, UNSURE: 0.5, HUMAN: 0.0}
"""Points of an output, by the text that is labeled as better."""

SIGNATURE = (
    "prediction-powered (PPI++, stratified by model), predictions from the judge's points by Bayes's rule, slope and "
    f"predictions cross-fitted in {FOLDS} folds of units, seed {SEED}; 95 % score intervals, design effect and t of "
    f"units, none with fewer than {FEWEST} labeled units; people alone where verdicts do not help, "
    f"and with fewer than {FEWEST_LABELS} labels ({FEWEST_IN_STRATA} in several strata)"
)

MATCH = [*OUTPUT, "base_set", "anchor"]


class _Estimate(NamedTuple):
    """Estimate of a model's mean points: the numbers of all, known, labeled and judged pairs; the mean with its
    interval; the tuning parameter; and the share by which the interval is narrower than the interval from people's
    labels alone."""

    model: str
    pairs: int
    known: int
    labeled: int
    judged: int
    mean: float
    low: float | None
    high: float | None
    tuning: float
    narrower: float | None


def anchored_scores(
    pairs: Sequence[ShownPair], verdicts: pl.DataFrame, labels: pl.DataFrame, works: pl.DataFrame, contract: str
) -> pl.DataFrame:
    """Rows of `anchored_score` for one corpus: one row for each model that has labels.

    Parameters
    ----------
    pairs
        All pairs of the corpus. Each pair consists of an output and the human translation.
    verdicts
        Columns `model`, `passage` and `points`: the ensemble's points, in [0, 1].
    labels
        People's labels: columns `model`, `passage` and `better`. A model's labeled outputs must be a random sample of
        its outputs that need a judgment; `variorum annotate --as pairs` draws such a sample. If an output has several
        labels, their mean is used.
    works
        Columns `passage`, `work`, `unit` and `unit_kind`, as `works.with_works` returns them.
    """
    rated = _rated(pairs, OUTPUT, verdicts.select(*OUTPUT, "points"), labels, works)
    if rated.is_empty():
        return pl.DataFrame(schema=SCORES)
    unit, kind = numbered(rated)
    corpus, signature = rated.select(CORPUS)["corpus"][0], f"{contract}; 100 × points, {SIGNATURE}; units: {kind}"
    found = [
        (each.model, corpus, *each[1:5], *(None if value is None else 100 * value for value in each[5:8]), *each[8:],
         signature)
        for each in _estimates(rated, unit)
    ]  # fmt: skip
    return pl.DataFrame(found, schema=SCORES, orient="row")


def anchored_win_rates(
    pairs: Sequence[ShownPair], comparisons: pl.DataFrame, labels: pl.DataFrame, units: pl.DataFrame, contract: str
) -> pl.DataFrame:
    """Rows of `anchored_win_rate` for one base set: one row for each model that has labels.

    Parameters
    ----------
    pairs
        All pairs of the base set. Each pair consists of an output and an anchor's text for the same item.
    comparisons
        Rows of `comparison`. The two orders of a pair are averaged.
    labels
        Rows of `match_label`. A model's labeled matches must be a random sample of its matches that need a judgment.
    units
        Columns `passage`, `unit` and `unit_kind`.
    """
    won = pl.col("winner").replace_strict({"output": 1.0, "anchor": 0.0}, return_dtype=pl.Float64)
    points = comparisons.drop_nulls("winner").group_by(MATCH).agg(points=won.mean())
    rated = _rated(pairs, MATCH, points, labels, units)
    if rated.is_empty():
        return pl.DataFrame(schema=WIN_RATES)
    base_set, signature = rated["base_set"][0], f"{contract}; {SIGNATURE}; units: {rated['unit_kind'][0]}"
    found = [(base_set, *each, signature) for each in _estimates(rated, numbered_units(rated["unit"]))]
    return pl.DataFrame(found, schema=WIN_RATES, orient="row")


def win_rates(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `anchored_win_rate` for all base sets whose matches people have labeled."""
    labels = applicable_matches(warehouse)
    judges = dict(warehouse.read("base_set", columns=["base_set", "judge"]).iter_rows())
    rows = [pl.DataFrame(schema=WIN_RATES)]
    for name in labels["base_set"].unique().sort().to_list():
        shown, comparisons = matches(warehouse, name), warehouse.read("comparison", pl.DataFrame({"base_set": [name]}))
        units, contract = with_units(passages_of(shown), warehouse), f"base set {name}, judge {judges[name]}"
        rows.append(anchored_win_rates(shown, comparisons, labels.filter(base_set=name), units, contract))
    return pl.concat(rows)


def _rated(
    pairs: Sequence[ShownPair], key: list[str], points: pl.DataFrame, labels: pl.DataFrame, units: pl.DataFrame
) -> pl.DataFrame:
    """Pairs sorted by `key`, with the columns of `units` and the columns that `_estimates` needs: `known`, `points` and
    `people`.

    The argument `points` has the columns listed in `key`, and the column `points`. Several labels of a pair are
    averaged.
    """
    rows = [(pair.model, pair.passage, *(pair.rival or ()), known_points(pair)) for pair in pairs]
    shown = pl.DataFrame(rows, {**dict.fromkeys(key, pl.String()), "known": pl.Float64()}, orient="row")
    of_label = pl.col("better").replace_strict(POINTS, return_dtype=pl.Float64)
    people = labels.group_by(key).agg(people=of_label.mean())
    rated = shown.join(points, on=key, how="left").join(people, on=key, how="left")
    return rated.join(units, on="passage").sort(key)


def _estimates(rated: pl.DataFrame, unit: Units) -> Iterator[_Estimate]:
    """Mean points of the models with labels.

    `rated` has the columns `model`, `known` (points of a pair that needs no judgment), `points` (from the judge) and
    `people` (from people's labels). `unit` is the number of each row's unit. Pairs that need no judgment are not
    sampled; their points enter the mean without variance.
    """
    asked = rated["known"].is_null()
    used = asked & (rated["people"].is_not_null() | rated["points"].is_not_null())
    seen, units = rated.filter(used), unit[used.to_numpy()]
    models = seen["model"].unique().sort().to_list()
    stratum = seen["model"].replace_strict(models, range(len(models)), return_dtype=pl.Int64).to_numpy()
    people, judge = (seen[name].fill_null(float("nan")).to_numpy() for name in ("people", "points"))
    pool = np.arange(len(models))
    for number, model in enumerate(models):
        whole, own = rated.filter(model=model), seen.filter(model=model)
        labeled = (stratum == number) & np.isfinite(people)
        if not labeled.any():
            continue
        known = whole["known"].drop_nulls()
        sizes: Floats = np.where(pool == number, len(whole) - len(known), 0.0)
        estimate = anchored(Rated(people, judge, stratum, units, pool, sizes))
        mean, low, high = ((value * sizes[number] + float(known.sum())) / len(whole) for value in estimate.mean)
        narrower = 1 - (estimate.mean[2] - estimate.mean[1]) / (estimate.people[2] - estimate.people[1])
        shown = len(np.unique(units[labeled])) >= FEWEST
        yield _Estimate(
            model, len(whole), len(known), int(labeled.sum()), own["points"].count(), mean,
            low if shown else None, high if shown else None, estimate.tuning, narrower if shown else None,
        )  # fmt: skip
