"""How many outputs the panel has to judge so that it sees a wanted share of the major errors, and by which ranking.

Here: thresholds of drift, and of a combination of scores fitted to people's labels. Not here: whether the panel, having
seen an error, finds it (calibration).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.adjudication.labels import MAJOR, SUBSTANTIVE
from benchmark_assets.audit.rated import PEOPLE
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.intervals import SEED, SIGNATURE, bounded, sample_and_resamples
from benchmark_assets.metrics.measures import Floats, ratio
from resources.catalogue import schema
from resources.keys import CORPUS

RECALLS = (0.5, 0.8, 0.9, 0.95, 1.0)
FEWEST = 5
"""Major errors with which a combination is fitted. So few can hardly carry one; with fewer a fold may have none."""

FOLDS = 5

COST = schema("recall_cost")

FEATURES = {
    "drift": pl.col("drift"),
    "sim_best": 1 - pl.col("sim_best"),
    "chrf": 1 - pl.col("chrf") / 100,
    "length_ratio": pl.col("length_ratio").clip(0.01).log().abs(),  # of an empty output the logarithm is infinite
    "comet_avg": 1 - pl.col("comet_avg"),
    **{name: pl.col(name).fill_null(False).cast(pl.Float64) for name in DIAGNOSES},
}
"""What is combined: scores that rise with damage, and diagnoses, false where it cannot be told."""


class LabelledOutputs(NamedTuple):
    """The outputs with labels, one an item.

    Attributes
    ----------
    score
        By which outputs are ranked; larger is judged first.
    major
        Whether it is a major error.
    weight
        How many outputs of its stratum it stands for.
    passage
        Column of its passage in the weights of a resampling.
    """

    score: Floats
    major: NDArray[np.bool_]
    weight: Floats
    passage: NDArray[np.int64]


def recall_costs(triage: pl.DataFrame, rows: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Rows of `recall_cost`.

    Parameters
    ----------
    triage
        Rows of `triage`.
    rows
        As `rated` returns them; those by people are looked at, as far as they come to a substantive label.
    scores
        Columns `model`, `passage`, and any of `FEATURES` except drift. One that some output of a corpus lacks (other
        than a diagnosis) is not used there.

    Returns
    -------
    Columns of `COST`. A corpus of which nobody has labelled a major error has no rows; one with fewer than `FEWEST`, or
    with all of them or all others in the same fold, none of the combination. The signature says how many there are.

    Notes
    -----
    Recalls are of the major errors of strata with labels, each label standing for its share of the stratum, and of
    those that people labelled: recall 1 means all of these, and not that there is no other.
    """
    outputs = triage.select(CORPUS, "model", "passage", "band", "drift").join(
        scores.drop("drift", strict=False), on=["model", "passage"], how="left"
    )  # fmt: skip
    settled = rows.filter((pl.col("raters") == PEOPLE) & pl.col("label").is_in(SUBSTANTIVE))
    labels = settled.select("model", "passage", major=pl.col("label") == MAJOR)
    found: list[tuple[object, ...]] = []
    for (corpus,), own in outputs.sort("corpus", "passage", "model").group_by(["corpus"], maintain_order=True):
        every = own.join(labels, on=["model", "passage"], how="left", maintain_order="left")
        stratum = ["model", "band"]
        every = every.with_columns(weight=pl.len().over(stratum) / pl.col("major").count().over(stratum))
        known = every.with_row_index("row").drop_nulls("major")
        errors = known["major"].sum()
        if not errors:
            continue
        passage = known["passage"].rank("dense").to_numpy().astype(np.int64) - 1
        parts = known["major"].to_numpy(), known["weight"].to_numpy(), passage
        counts = f"{errors} major errors in {len(known)} labels, each weighted by its stratum"
        features = _features(every)
        combined = combination(every, features)
        drift = every["drift"].to_numpy()
        if combined is None:
            rankings = {"drift": (drift, f"{counts}; no combination, for they are too few")}
        else:
            text = f"{counts}; combined: logistic regression, {FOLDS} folds of passages, of {', '.join(features)}"
            rankings = {"drift": (drift, counts), "combined": (combined, text)}
        for ranking, (score, text) in rankings.items():
            items = LabelledOutputs(score[known["row"].to_numpy()], *parts)
            found += [(corpus, ranking, *row, f"{text}; {SIGNATURE}") for row in costs(items, score)]
    return pl.DataFrame(found, schema=COST, orient="row")


def combination(outputs: pl.DataFrame, features: list[str]) -> Floats | None:
    """How likely a major error is, from several scores, by models that have not seen a label of the output's passage.

    Parameters
    ----------
    outputs
        Of one corpus: columns `passage`, `major` (null without a label), `weight`, and those that the features need.
    features
        Names in `FEATURES`.

    Returns
    -------
    Shape (outputs,), in [0, 1]; None where the labels are too few or too unevenly spread, as `recall_costs` says.
    """
    known = outputs["major"].is_not_null().to_numpy()
    major = outputs["major"].fill_null(False).to_numpy()
    if major.sum() < FEWEST:
        return None
    fold = _folds(outputs)
    training = [known & (fold != each) for each in range(FOLDS)]
    if any(len(np.unique(major[rows])) < 2 for rows in training):
        return None
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # takes a second to import

    table = outputs.select(FEATURES[name].alias(name) for name in features).to_numpy()
    spread = table.std(axis=0)
    table = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1)
    weight = np.where(known, outputs["weight"].to_numpy(), 0)
    found = np.zeros(len(outputs))
    for each, rows in enumerate(training):
        own = fold == each
        if own.any():
            fitted = LogisticRegression().fit(table[rows], major[rows], weight[rows] / weight[rows].mean())
            found[own] = fitted.predict_proba(table[own])[:, 1]
    return found


def costs(labelled: LabelledOutputs, every: Floats) -> Iterator[tuple[float | None, ...]]:
    """For each of `RECALLS`: recall, threshold, share with interval, outputs, precision with interval.

    Parameters
    ----------
    labelled
        With at least one major error.
    every
        Scores of all outputs, shape (outputs,).

    Notes
    -----
    The threshold is the largest above which, strictly, the wanted share of the major errors lies. In each resample it
    is looked for anew; the combination is not fitted anew.
    """
    counts = sample_and_resamples(int(labelled.passage.max()) + 1)[:, labelled.passage] * labelled.weight
    order = np.flatnonzero(labelled.major)
    order = order[np.argsort(-labelled.score[order], kind="stable")]
    reached = np.cumsum(counts[:, order], axis=1)
    ascending = np.sort(every)
    for recall in RECALLS:
        enough = reached >= recall * reached[:, -1:] * (1 - 1e-9)
        limits = np.nextafter(labelled.score[order], -np.inf)[enough.argmax(axis=1)]
        limits[reached[:, -1] == 0] = np.nan  # a resample without a major error says nothing
        above = np.where(np.isnan(limits), np.nan, len(every) - np.searchsorted(ascending, limits, side="right"))
        flagged = counts * (labelled.score > limits[:, None])
        precision = ratio(flagged @ labelled.major.astype(np.float64), flagged.sum(axis=1))
        yield recall, float(limits[0]), *bounded(above / len(every)), int(above[0]), *bounded(precision)


def _features(outputs: pl.DataFrame) -> list[str]:
    """Those that all outputs have."""
    there = [name for name in FEATURES if name in outputs.columns]
    return [name for name in there if outputs.select(FEATURES[name].is_finite().fill_null(False).all()).item()]


def _folds(outputs: pl.DataFrame) -> NDArray[np.int64]:
    """The fold of each output: that of its passage. Passages with major errors, then those with labels, are dealt out
    evenly.
    """
    passages = outputs.group_by("passage").agg(
        kind=pl.when(pl.col("major").any()).then(0).when(pl.col("major").count() > 0).then(1).otherwise(2)
    ).sort("passage")  # fmt: skip
    shuffled = passages[np.random.default_rng(SEED).permutation(len(passages))].sort("kind", maintain_order=True)
    dealt = shuffled.select("passage", fold=pl.int_range(pl.len()) % FOLDS)
    return outputs.select("passage").join(dealt, on="passage", maintain_order="left")["fold"].to_numpy()
