"""Literary scores estimated from people's labels of pairs, with the ensemble's verdicts as predictions.

Here: the pairs that nobody needs to judge, and the table. Not here: scores from verdicts alone (scores), the accuracy
of seats (calibration), the method (metrics.anchoring).
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE, alike
from benchmark_assets.literary.pairs import ShownPair
from benchmark_assets.literary.works import numbered
from benchmark_assets.metrics.anchoring import FOLDS, Rated, anchored
from benchmark_assets.metrics.intervals import SEED, Floats
from resources.catalogue import schema
from resources.keys import CORPUS

ANCHORED = schema("anchored_score")

POINTS = {MACHINE: 1.0, UNSURE: 0.5, HUMAN: 0.0}
"""Points of an output by whose translation is better."""

SIGNATURE = (
    "100 × points, prediction-powered (PPI++, stratified by model), predictions from the ensemble's points by Bayes's "
    f"rule, slope and predictions cross-fitted in {FOLDS} folds of units, seed {SEED}; 95 % score intervals, design "
    f"effect and t of units, none with fewer than {FEWEST} labeled units; people alone where verdicts do not help"
)


def anchored_scores(
    pairs: Sequence[ShownPair], verdicts: pl.DataFrame, labels: pl.DataFrame, works: pl.DataFrame, contract: str
) -> pl.DataFrame:
    """Rows of `anchored_score`: one for each model of a corpus with labels.

    Parameters
    ----------
    pairs
        All outputs of the corpus beside the human translation.
    verdicts
        Columns `model`, `passage` and `points`: the ensemble's points, in [0, 1].
    labels
        People's labels: columns `model`, `passage` and `better`. The labeled outputs of a model are a random sample of
        those that need a judgment, as `variorum pairs` draws them. Several labels of an output are averaged.
    works
        Columns `passage`, `work`, `unit` and `unit_kind`, as `works.with_works` returns them.

    Notes
    -----
    A blank output has 0 points and one with the words of the human translation ½. They are not sampled, and count with
    these points and without variance.
    """
    rows = [(pair.model, pair.passage, _known(pair)) for pair in pairs]
    outputs = pl.DataFrame(rows, schema={"model": pl.String, "passage": pl.String, "known": pl.Float64}, orient="row")
    points = pl.col("better").replace_strict(POINTS, return_dtype=pl.Float64)
    people = labels.group_by(OUTPUT).agg(people=points.mean())
    rated = outputs.join(people, on=OUTPUT, how="left").join(verdicts.select(*OUTPUT, "points"), on=OUTPUT, how="left")
    rated = rated.join(works, on="passage").with_columns(CORPUS).sort(OUTPUT)
    models = rated["model"].unique().sort().to_list()
    asked = rated.filter(pl.col("known").is_null())
    seen = asked.filter(pl.col("people").is_not_null() | pl.col("points").is_not_null())
    if seen["people"].count() == 0:
        return pl.DataFrame(schema=ANCHORED)
    stratum = seen["model"].replace_strict(models, range(len(models)), return_dtype=pl.Int64).to_numpy()
    values = [seen[name].fill_null(float("nan")).to_numpy() for name in ("people", "points")]
    (unit, kind), pool = numbered(seen), np.arange(len(models))
    found = []
    for number, model in enumerate(models):
        own, labeled = seen.filter(model=model), (seen["model"] == model) & seen["people"].is_not_null()
        if not labeled.any():
            continue
        sizes: Floats = np.where(pool == number, len(asked.filter(model=model)), 0.0)
        estimate = anchored(Rated(values[0], values[1], stratum, unit, pool, sizes))
        whole = rated.filter(model=model)
        known = whole["known"].drop_nulls()
        score, low, high = (100 * (value * sizes[number] + known.sum()) / len(whole) for value in estimate.mean)
        width = estimate.people[2] - estimate.people[1]
        narrower = 1 - (estimate.mean[2] - estimate.mean[1]) / width
        shown = len(np.unique(unit[labeled.to_numpy()])) >= FEWEST
        found.append((
            model, whole["corpus"][0], len(whole), len(known), own["people"].count(), own["points"].count(), score,
            *((low, high) if shown else (None, None)), estimate.tuning, narrower if shown else None,
            f"{contract}; {SIGNATURE}; units: {kind}",
        ))  # fmt: skip
    return pl.DataFrame(found, schema=ANCHORED, orient="row")


def _known(pair: ShownPair) -> float | None:
    """Points of an output that needs no judgment; None for others."""
    if not pair.machine.strip():
        return POINTS[HUMAN]
    return POINTS[UNSURE] if alike(pair.machine, pair.human) else None
