"""Number of outputs that the panel has to judge to see a wanted share of the major errors, by ranking.

Here: thresholds of drift, and of a combination of scores fitted to people's labels. Not here: whether the panel
recognizes an error that it judges (calibration).
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
"""Least number of major errors to fit a combination. Even so few hardly suffice; with fewer, a fold may have none."""

FOLDS = 5

COST = schema("recall_cost")

FEATURES = {
    "drift": pl.col("drift"),
    "sim_best": 1 - pl.col("sim_best"),
    "chrf": 1 - pl.col("chrf") / 100,
    "length_ratio": pl.col("length_ratio").clip(0.01).log().abs(),  # the logarithm of an empty output is infinite
    "comet_avg": 1 - pl.col("comet_avg"),
    **{name: pl.col(name).fill_null(False).cast(pl.Float64) for name in DIAGNOSES},
}
"""Inputs of the combination: scores that rise with damage, and diagnoses, false if unknown."""


class LabelledOutputs(NamedTuple):
    """Labelled outputs; all arrays have shape (outputs,).

    Attributes
    ----------
    score
        Ranks the outputs; larger scores are judged first.
    major
        Whether the output is a major error.
    weight
        Number of outputs of its stratum that the output stands for.
    passage
        Column of the output's passage in the weights of a resampling.
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
        As `rated` returns them; only rows by people with a substantive label are used.
    scores
        Columns `model`, `passage`, and any of `FEATURES` except drift. A score, other than a diagnosis, that is missing
        for any output of a corpus is not used in that corpus.

    Returns
    -------
    Columns of `COST`. A corpus without a labelled major error has no rows. A corpus with fewer than `FEWEST`, or with
    all major errors or all other labels in the same fold, has no rows for the combination. The signature gives the
    number of major errors.

    Notes
    -----
    Recall refers to the major errors that people labelled, in strata with labels; each label stands for its share of
    the stratum. Recall 1 means that all labelled major errors are found, not that no other exists.
    """
    outputs = triage.select(CORPUS, "model", "passage", "band", "drift").join(
        scores.drop("drift", strict=False), on=["model", "passage"], how="left"
    )  # fmt: skip
    settled = rows.filter((pl.col("raters") == PEOPLE) & pl.col("label").is_in(SUBSTANTIVE))
    labels = settled.select("model", "passage", major=pl.col("label") == MAJOR)
    result: list[tuple[object, ...]] = []
    for (corpus,), rows_of_corpus in outputs.sort("corpus", "passage", "model").group_by(
        ["corpus"], maintain_order=True
    ):
        every = rows_of_corpus.join(labels, on=["model", "passage"], how="left", maintain_order="left")
        stratum = ["model", "band"]
        every = every.with_columns(weight=pl.len().over(stratum) / pl.col("major").count().over(stratum))
        labelled = every.with_row_index("row").drop_nulls("major")
        errors = labelled["major"].sum()
        if not errors:
            continue
        passage = labelled["passage"].rank("dense").to_numpy().astype(np.int64) - 1
        parts = labelled["major"].to_numpy(), labelled["weight"].to_numpy(), passage
        counts = f"{errors} major errors in {len(labelled)} labels, each weighted by its stratum"
        features = _features(every)
        combined = combination(every, features)
        drift = every["drift"].to_numpy()
        if combined is None:
            rankings = {"drift": (drift, f"{counts}; no combination, for they are too few")}
        else:
            text = f"{counts}; combined: logistic regression, {FOLDS} folds of passages, of {', '.join(features)}"
            rankings = {"drift": (drift, counts), "combined": (combined, text)}
        for ranking, (score, text) in rankings.items():
            items = LabelledOutputs(score[labelled["row"].to_numpy()], *parts)
            result += [(corpus, ranking, *row, f"{text}; {SIGNATURE}") for row in costs(items, score)]
    return pl.DataFrame(result, schema=COST, orient="row")


def combination(outputs: pl.DataFrame, features: list[str]) -> Floats | None:
    """Probability of a major error from several scores, by models fitted without labels of the output's passage.

    Parameters
    ----------
    outputs
        Outputs of one corpus: columns `passage`, `major` (null without a label), `weight`, and the features' inputs.
    features
        Names in `FEATURES`.

    Returns
    -------
    Shape (outputs,), in [0, 1]; None if the labels are too few or too unevenly spread, see `recall_costs`.
    """
    labelled = outputs["major"].is_not_null().to_numpy()
    major = outputs["major"].fill_null(False).to_numpy()
    if major.sum() < FEWEST:
        return None
    fold = _folds(outputs)
    training = [labelled & (fold != number) for number in range(FOLDS)]
    if any(len(np.unique(major[rows])) < 2 for rows in training):
        return None
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # takes a second to import

    table = outputs.select(FEATURES[name].alias(name) for name in features).to_numpy()
    spread = table.std(axis=0)
    table = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1)
    weight = np.where(labelled, outputs["weight"].to_numpy(), 0)
    probabilities = np.zeros(len(outputs))
    for number, rows in enumerate(training):
        left_out = fold == number
        if left_out.any():
            fitted = LogisticRegression().fit(table[rows], major[rows], weight[rows] / weight[rows].mean())
            probabilities[left_out] = fitted.predict_proba(table[left_out])[:, 1]
    return probabilities


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
    The threshold is the largest with the wanted share of the major errors strictly above it. It is found again in each
    resample; the combination is fitted once.
    """
    counts = sample_and_resamples(int(labelled.passage.max()) + 1)[:, labelled.passage] * labelled.weight
    order = np.flatnonzero(labelled.major)
    order = order[np.argsort(-labelled.score[order], kind="stable")]
    reached = np.cumsum(counts[:, order], axis=1)
    ascending = np.sort(every)
    for recall in RECALLS:
        enough = reached >= recall * reached[:, -1:] * (1 - 1e-9)
        limits = np.nextafter(labelled.score[order], -np.inf)[enough.argmax(axis=1)]
        limits[reached[:, -1] == 0] = np.nan  # no threshold in a resample without a major error
        above = np.where(np.isnan(limits), np.nan, len(every) - np.searchsorted(ascending, limits, side="right"))
        flagged = counts * (labelled.score > limits[:, None])
        precision = ratio(flagged @ labelled.major.astype(np.float64), flagged.sum(axis=1))
        yield recall, float(limits[0]), *bounded(above / len(every)), int(above[0]), *bounded(precision)


def _features(outputs: pl.DataFrame) -> list[str]:
    """Names of features that all outputs have."""
    present = [name for name in FEATURES if name in outputs.columns]
    return [name for name in present if outputs.select(FEATURES[name].is_finite().fill_null(False).all()).item()]


def _folds(outputs: pl.DataFrame) -> NDArray[np.int64]:
    """The fold of each output, equal for all outputs of a passage. Passages with major errors, then other passages with
    labels, are distributed evenly.
    """
    passages = outputs.group_by("passage").agg(
        kind=pl.when(pl.col("major").any()).then(0).when(pl.col("major").count() > 0).then(1).otherwise(2)
    ).sort("passage")  # fmt: skip
    shuffled = passages[np.random.default_rng(SEED).permutation(len(passages))].sort("kind", maintain_order=True)
    dealt = shuffled.select("passage", fold=pl.int_range(pl.len()) % FOLDS)
    return outputs.select("passage").join(dealt, on="passage", maintain_order="left")["fold"].to_numpy()
