"""Number of outputs that the panel must judge in order to see a given share of the major errors.

Outputs are ranked by drift, or by a combination of scores that is fitted to people's labels. Not here: whether the
panel recognizes an error that it sees (calibration).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.adjudication.labels import MAJOR
from benchmark_assets.audit.rated import labeled_by_people
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import on
from benchmark_assets.metrics.intervals import (
    SEED,
    SIGNATURE,
    Floats,
    Units,
    bounded,
    by_unit,
    effective_units,
    sample_and_resamples,
)
from benchmark_assets.metrics.measures import numbered_units, ratio
from resources.catalogue import schema
from resources.keys import CORPUS

RECALLS = (0.5, 0.8, 0.9, 0.95, 1.0)
FEWEST = 5
"""Minimum number of labeled major errors for combining scores. With fewer errors, a fold may have none."""

FOLDS = 5

COST = schema("recall_cost")

FEATURES = {
    "drift": pl.col("drift"),
    **{metric.name: metric.damage for metric in on("recall")},
    **{name: pl.col(name).fill_null(False).cast(pl.Float64) for name in DIAGNOSES},
}
"""Inputs of the combined score: the drift that ranks outputs, other scores as numbers that rise with damage, and
diagnoses (null counts as false)."""


class LabeledOutputs(NamedTuple):
    """Outputs labeled by people, as arrays of shape (outputs,).

    Attributes
    ----------
    score
        Score that ranks the outputs; outputs with higher scores are judged first.
    major
        Whether the output is a major error.
    weight
        Number of outputs in the stratum divided by the number of labeled outputs in it.
    unit
        Number of the output's unit.
    """

    score: Floats
    major: NDArray[np.bool_]
    weight: Floats
    unit: Units


def recall_costs(triage: pl.DataFrame, rows: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Rows of `recall_cost`, from rows of `triage` (with a column `unit`), rows of `rated`, and scores.

    Only people's substantive labels in `rows` are used. `scores` has the columns `model` and `passage`, and any of
    `FEATURES` except drift. A score (but not a diagnosis) that is missing for any output of a corpus is not used in
    that corpus.

    The result has the columns of `COST`. A corpus without labeled major errors has no rows. A corpus has no rows for
    the combined score if it has fewer than `FEWEST` labeled major errors, or if one fold contains all major errors or
    all other labels. The signature states the number of major errors.

    Notes
    -----
    Recall refers to the labeled major errors, each weighted by the ratio of outputs to labels in its stratum; strata
    without labels are ignored. A recall of 1 means that all labeled major errors are found; there may be others.
    """
    outputs = triage.select(CORPUS, "model", "passage", "unit", "band", "drift").join(
        scores.drop("drift", strict=False), on=["model", "passage"], how="left"
    )  # fmt: skip
    labels = labeled_by_people(rows).select("model", "passage", major=pl.col("label") == MAJOR)
    ordered = outputs.join(labels, on=["model", "passage"], how="left").sort("corpus", "passage", "model")
    stratum = ["model", "band"]
    result: list[tuple[object, ...]] = []
    for (corpus,), part in ordered.group_by(["corpus"], maintain_order=True):
        weighted = part.with_columns(weight=pl.len().over(stratum) / pl.col("major").count().over(stratum))
        labeled = weighted.with_row_index("row").drop_nulls("major")
        errors = labeled["major"].sum()
        if not errors:
            continue
        arrays = labeled["major"].to_numpy(), labeled["weight"].to_numpy(), numbered_units(labeled["unit"])
        counts = f"{errors} major errors in {len(labeled)} labels, each weighted by its stratum"
        features = _features(weighted)
        combined = combination(weighted, features)
        drift = weighted["drift"].to_numpy()
        if combined is None:
            rankings = {"drift": (drift, f"{counts}; no combination, for they are too few")}
        else:
            text = f"{counts}; combined: logistic regression, {FOLDS} folds of passages, of {', '.join(features)}"
            rankings = {"drift": (drift, counts), "combined": (combined, text)}
        for ranking, (score, text) in rankings.items():
            labeled_outputs = LabeledOutputs(score[labeled["row"].to_numpy()], *arrays)
            result += [(corpus, ranking, *row, f"{text}; {SIGNATURE}") for row in costs(labeled_outputs, score)]
    return pl.DataFrame(result, schema=COST, orient="row")


def combination(outputs: pl.DataFrame, features: list[str]) -> Floats | None:
    """Probability that an output is a major error, by a logistic regression fitted without labels of the same passage.

    `outputs` has the outputs of one corpus: columns `passage`, `major` (null without a label), `weight`, and the
    columns from which `features` (keys of `FEATURES`) are computed. The result has shape (outputs,), in [0, 1]; None if
    the labels are too few or too unevenly distributed (see `recall_costs`).
    """
    labeled = outputs["major"].is_not_null().to_numpy()
    major = outputs["major"].fill_null(False).to_numpy()
    if major.sum() < FEWEST:
        return None
    fold = _folds(outputs)
    training = [labeled & (fold != number) for number in range(FOLDS)]
    if any(len(np.unique(major[rows])) < 2 for rows in training):
        return None
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # takes a second to import

    table = outputs.select(FEATURES[name].alias(name) for name in features).to_numpy()
    spread = table.std(axis=0)
    table = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1)
    weight = np.where(labeled, outputs["weight"].to_numpy(), 0)
    probabilities = np.zeros(len(outputs))
    for number, rows in enumerate(training):
        held_out = fold == number
        if held_out.any():
            fitted = LogisticRegression().fit(table[rows], major[rows], weight[rows] / weight[rows].mean())
            probabilities[held_out] = fitted.predict_proba(table[held_out])[:, 1]
    return probabilities


def costs(labeled: LabeledOutputs, scores: Floats) -> Iterator[tuple[float | None, ...]]:
    """Cost of reaching each recall in `RECALLS`.

    `labeled` must contain at least one major error; `scores` covers all outputs, labeled or not. Yields recall,
    threshold, share (with interval) and number of the outputs above the threshold, and precision (with interval).

    The threshold is the highest score that leaves the required share of the major errors strictly above it. It is
    determined separately in each resample, but the combined score is fitted only once.
    """
    sizes = by_unit(labeled.weight, labeled.unit)
    counts, units = sample_and_resamples(len(sizes))[:, labeled.unit] * labeled.weight, effective_units(sizes)
    order = np.flatnonzero(labeled.major)
    order = order[np.argsort(-labeled.score[order], kind="stable")]
    reached = np.cumsum(counts[:, order], axis=1)
    ascending = np.sort(scores)
    for recall in RECALLS:
        enough = reached >= recall * reached[:, -1:] * (1 - 1e-9)
        limits = np.nextafter(labeled.score[order], -np.inf)[enough.argmax(axis=1)]
        limits[reached[:, -1] == 0] = np.nan  # no threshold in a resample without a major error
        above = np.where(np.isnan(limits), np.nan, len(scores) - np.searchsorted(ascending, limits, side="right"))
        flagged = counts * (labeled.score > limits[:, None])
        precision = ratio(flagged @ labeled.major.astype(np.float64), flagged.sum(axis=1))
        share = bounded(above / len(scores), units)
        yield recall, float(limits[0]), *share, int(above[0]), *bounded(precision, units)


def _features(outputs: pl.DataFrame) -> list[str]:
    """Names of the features that are available for all outputs."""
    present = [name for name in FEATURES if name in outputs.columns]
    return [name for name in present if outputs.select(FEATURES[name].is_finite().fill_null(False).all()).item()]


def _folds(outputs: pl.DataFrame) -> NDArray[np.int64]:
    """The fold of each output, the same for all outputs of a passage.

    Each of three kinds of passages is distributed evenly over the folds: passages with major errors, other passages
    with labels, and passages without labels.
    """
    passages = outputs.group_by("passage").agg(
        kind=pl.when(pl.col("major").any()).then(0).when(pl.col("major").count() > 0).then(1).otherwise(2)
    ).sort("passage")  # fmt: skip
    shuffled = passages[np.random.default_rng(SEED).permutation(len(passages))].sort("kind", maintain_order=True)
    folds = shuffled.select("passage", fold=pl.int_range(pl.len()) % FOLDS)
    return outputs.select("passage").join(folds, on="passage", maintain_order="left")["fold"].to_numpy()
