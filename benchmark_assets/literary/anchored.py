"""Scores of models estimated from people's labels of pairs, with judges' verdicts as predictions.

Here: literary scores, and win rates and LT against anchors. Not here: scores from verdicts alone (scores,
pairwise.scores), the accuracy of judges (calibration), the method (metrics.anchoring).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.corpus.units import FEWEST, with_units
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE
from benchmark_assets.literary.pairs import ShownPair, applicable_matches, drawn, known_points, matches, passages_of
from benchmark_assets.literary.works import numbered
from benchmark_assets.metrics.anchoring import FEWEST_IN_STRATA, FEWEST_LABELS, FOLDS, Rated, anchored
from benchmark_assets.metrics.intervals import SEED, Units
from benchmark_assets.metrics.measures import Estimate, numbered_units
from benchmark_assets.metrics.missing import before, bounded
from benchmark_assets.pairwise import base_sets
from benchmark_assets.pairwise.bradley_terry import obstacle
from benchmark_assets.pairwise.scores import OVERALL, AnchorField, fields, fixed_lt
from resources import catalogue
from resources.keys import CORPUS
from resources.tables import ENDS
from resources.warehouse import Warehouse

SCORES = before("anchored_score", "missing_share")
WIN_RATES = before("anchored_win_rate", "missing_share")

POINTS = {MACHINE: 1.0, UNSURE: 0.5, HUMAN: 0.0}
"""Points of an output, by the text that is labeled as better."""

SIGNATURE = (
    "prediction-powered (PPI++, stratified by model and corpus), predictions from the judge's points by Bayes's rule, "
    f"slope and predictions cross-fitted in {FOLDS} folds of units, seed {SEED}; 95 % score intervals, design effect "
    f"and t of units, none with fewer than {FEWEST} labeled units; people alone where verdicts do not help, "
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
    mean: Estimate
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
        People's labels: columns `model`, `passage` and `better`. The labeled outputs of a model must be outputs that
        `variorum annotate --as pairs` drew (`pairs.drawn`). If an output has several labels, their mean is used.
    works
        Columns `passage`, `work`, `unit` and `unit_kind`, as `works.with_works` returns them.
    """
    rated = _rated(pairs, OUTPUT, verdicts.select(*OUTPUT, "points"), labels, works)
    if rated.is_empty():
        return pl.DataFrame(schema=catalogue.schema("anchored_score"))
    unit, kind = numbered(rated)
    corpus, signature = rated["corpus"][0], f"{contract}; 100 × points, {SIGNATURE}; units: {kind}"

    def rows_of(labeled: pl.DataFrame) -> pl.DataFrame:
        rows = [
            (each.model, corpus, *each[1:5], *(None if value is None else 100 * value for value in each.mean),
             *each[6:], None, signature)
            for each in _estimates(labeled, unit)
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=SCORES, orient="row")

    return _with_bounds("anchored_score", rated, rows_of)


def anchored_win_rates(
    pairs: Sequence[ShownPair], comparisons: pl.DataFrame, labels: pl.DataFrame, units: pl.DataFrame,
    field: AnchorField, contract: str,
) -> pl.DataFrame:  # fmt: skip
    """Rows of `anchored_win_rate` for one base set: one row for each model that has labels.

    Parameters
    ----------
    pairs
        All pairs of the base set. Each pair consists of an output and an anchor's text for the same item.
    comparisons
        Rows of `comparison`. The two orders of a pair are averaged. They need not contain all pairs: adaptive judging
        may leave pairs out.
    labels
        Rows of `match_label`, of matches that `variorum annotate --as pairs` drew (`pairs.drawn`).
    units
        Columns `passage`, `unit` and `unit_kind`.
    field
        Strengths of the base set's anchors, for the estimate of LT.
    """
    won = pl.col("winner").replace_strict({"output": 1.0, "anchor": 0.0}, return_dtype=pl.Float64)
    points = comparisons.drop_nulls("winner").group_by(MATCH).agg(points=won.mean())
    rated = _rated(pairs, MATCH, points, labels, units)
    if rated.is_empty():
        return pl.DataFrame(schema=catalogue.schema("anchored_win_rate"))
    base_set, signature = rated["base_set"][0], f"{contract}; {SIGNATURE}; units: {rated['unit_kind'][0]}"
    unit, counts = numbered_units(rated["unit"]), rated.group_by("model", "anchor").len().rows_by_key("model")
    unfit = obstacle(field.wins.sum(axis=0), field.anchors)

    def rows_of(labeled: pl.DataFrame) -> pl.DataFrame:
        rows: list[tuple[object, ...]] = []
        for each in _estimates(labeled, unit):
            with_anchor = dict(counts[each.model])
            met = np.array([float(with_anchor.get(anchor, 0)) for anchor in field.anchors])
            lt = fixed_lt(field, met, each.mean)
            problem = unfit and f"among the anchors alone, {unfit}"
            if not problem and lt.value is None:
                end = "wins" if round(each.mean.value or 0) else "loses"
                problem = f"no finite strength exists: by these labels, {each.model} {end} every match"
            rows.append((base_set, *each[:5], *each.mean, *lt, *each[6:], problem, signature))
        return pl.DataFrame(rows, schema=WIN_RATES, orient="row")

    return _with_bounds("anchored_win_rate", rated, rows_of)


def win_rates(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `anchored_win_rate` for all base sets whose matches people have labeled."""
    labels = applicable_matches(warehouse)
    judges = dict(warehouse.read("base_set", columns=["base_set", "judge"]).iter_rows())
    rows = [pl.DataFrame(schema=catalogue.schema("anchored_win_rate"))]
    for name in labels["base_set"].unique().sort().to_list():
        key = pl.DataFrame({"base_set": [name]})
        shown, comparisons = matches(warehouse, name), warehouse.read("comparison", key)
        units, contract = with_units(passages_of(shown), warehouse), f"base set {name}, judge {judges[name]}"
        anchors = warehouse.read("anchor_output", key, ["anchor"])["anchor"]
        of_slices = fields(warehouse.read("anchor_judgment", key), base_sets.items(warehouse, name), anchors)
        (field,) = (each for each in of_slices if each.slice == OVERALL)
        rows.append(anchored_win_rates(shown, comparisons, labels.filter(base_set=name), units, field, contract))
    return pl.concat(rows)


def _rated(
    pairs: Sequence[ShownPair], key: list[str], points: pl.DataFrame, labels: pl.DataFrame, units: pl.DataFrame
) -> pl.DataFrame:
    """Pairs sorted by `key`, with the columns of `units` and the columns that `_estimates` needs: `corpus`, `known`,
    `points`, `people` and `drawn`.

    The argument `points` has the columns listed in `key`, and the column `points`. Several labels of a pair are
    averaged.
    """
    rows = [(*pair.names, pair.item, known_points(pair)) for pair in pairs]
    columns = {**dict.fromkeys([*key, "item"], pl.String()), "known": pl.Float64()}
    shown = pl.DataFrame(rows, columns, orient="row").with_columns(CORPUS)
    of_label = pl.col("better").replace_strict(POINTS, return_dtype=pl.Float64)
    people = labels.group_by(key).agg(people=of_label.mean())
    rated = shown.join(points, on=key, how="left").join(people, on=key, how="left")
    return rated.with_columns(drawn=drawn(["model", "corpus"])).join(units, on="passage").sort(key)


def _with_bounds(table: str, rated: pl.DataFrame, rows_of: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Rows of `table` with the bounds that drawn pairs without a label leave.

    `rated` is a result of `_rated`. `rows_of` returns the rows from such a frame, without bounds and `missing_share`.
    """
    missing = pl.col("drawn") & pl.col("people").is_null()
    values = (None, 0.0, 1.0) if rated.select(missing.any()).item() else (None,)
    filled = [pl.when(missing).then(pl.lit(value, pl.Float64)).otherwise("people") for value in values]
    rows, least, most = ([rows_of(rated.with_columns(people=each)) for each in filled] * 3)[:3]
    rows = rows.join(_gaps(rated), on="model", how="left", maintain_order="left")
    columns = catalogue.declared()[table].columns.values()
    names = [f"{each.name}{end}" for each in columns if each.bounds for end in ENDS]
    rows = rows.with_columns(
        *(pl.when(pl.col("one_sided").is_null()).then(name).alias(name) for name in names),
        problem=pl.concat_str("problem", "one_sided", separator="; ", ignore_nulls=True).replace("", None),
    )
    return bounded(table, rows, least, most, verdicts="labels")


def _gaps(rated: pl.DataFrame) -> pl.DataFrame:
    """Share of missing labels among the pairs that need a judgment, for each model; and the reason why a model's labels
    cannot be used, in the column `one_sided`.

    A corpus counts with the share of its drawn pairs without a label, or as a whole if none was drawn. Labels cannot be
    used if pairs of only some of a base set's corpora were labeled.
    """
    pairs, labels, of_drawn = pl.col("pairs"), pl.col("labels"), pl.col("drawn")
    strata = rated.filter(pl.col("known").is_null()).group_by("model", "corpus").agg(
        pairs=pl.len(), labels=pl.col("people").count(), drawn=pl.col("drawn").sum()
    )  # fmt: skip
    missing = pl.when(labels > 0).then((of_drawn - labels) / of_drawn).otherwise(1.0)
    words = pl.format("people labeled pairs of {} only", pl.col("corpus").filter(labels > 0).sort().str.join(", "))
    return strata.group_by("model").agg(
        missing_share=(missing * pairs).sum() / pairs.sum(), one_sided=pl.when((labels == 0).any()).then(words)
    )  # fmt: skip


def _estimates(rated: pl.DataFrame, unit: Units) -> Iterator[_Estimate]:
    """Mean points of the models with labels.

    `rated` has the columns `model`, `corpus`, `known` (points of a pair that needs no judgment), `points` (from the
    judge) and `people` (from people's labels). `unit` is the number of each row's unit. Pairs that need no judgment are
    not sampled; their points enter the mean without variance. The judged pairs need not be a random sample: predictions
    are centered over the judged pairs, so they have the mean 0 among labels that were drawn without regard to verdicts.
    """
    asked = rated["known"].is_null()
    strata = rated.filter(asked).group_by("model", "corpus").len().sort("model", "corpus").with_row_index("stratum")
    numbers = rated.join(strata, on=["model", "corpus"], how="left", maintain_order="left")["stratum"]
    used = asked & (rated["people"].is_not_null() | rated["points"].is_not_null())
    seen, units, stratum = rated.filter(used), unit[used.to_numpy()], numbers.filter(used).to_numpy().astype(np.int64)
    people, judge = (seen[name].fill_null(float("nan")).to_numpy() for name in ("people", "points"))
    pool = numbered_units(strata["model"])
    for (model,), part in strata.group_by(["model"], maintain_order=True):
        whole, own = rated.filter(model=model), (seen["model"] == model).to_numpy()
        labeled = own & np.isfinite(people)
        if not labeled.any():
            continue
        known, size = whole["known"].drop_nulls(), int(part["len"].sum())
        sizes = (strata["len"] * (strata["model"] == model)).to_numpy().astype(np.float64)
        estimate = anchored(Rated(people, judge, stratum, units, pool, sizes))
        mean, low, high = ((value * size + float(known.sum())) / len(whole) for value in estimate.mean)
        narrower = 1 - (estimate.mean[2] - estimate.mean[1]) / (estimate.people[2] - estimate.people[1])
        shown = len(np.unique(units[labeled])) >= FEWEST
        yield _Estimate(
            str(model), len(whole), len(known), int(labeled.sum()), int(np.isfinite(judge[own]).sum()),
            Estimate(mean, low if shown else None, high if shown else None), estimate.tuning,
            narrower if shown else None,
        )  # fmt: skip
