"""A model of raters, as an alternative to majorities: how informative each rater's labels are, and Krippendorff's alpha
with and without each rater.

Not here: agreement of pairs of raters, and the panel without a judge (calibration).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.adjudication.verdicts import KEY
from benchmark_assets.metrics.intervals import (
    SIGNATURE,
    Floats,
    Units,
    bounded,
    by_unit,
    effective_units,
    sample_and_resamples,
    unit_sizes,
)
from benchmark_assets.metrics.measures import numbered_units, ratio
from resources.catalogue import schema
from resources.keys import CORPUS

STEPS, TOLERANCE, LEAST = 1000, 1e-9, 1e-10
"""Settings of the EM algorithm: maximum number of steps; increase of the log-likelihood per output below which the
algorithm stops; lower bound of all probabilities."""

RATERS = schema("rater_model")


class Fitted(NamedTuple):
    """A fitted model of raters.

    `prior` (classes,) is the share of each class. `errors` (raters, classes, labels) is the probability that a rater
    gives a label to an output of a class. `posterior` (outputs, classes) is the probability of each output's classes.
    """

    prior: Floats
    errors: Floats
    posterior: Floats


def dawid_skene(votes: Floats) -> Fitted:
    """The model of Dawid and Skene (1979): each output has a class, and each rater a confusion matrix.

    `votes`, shape (outputs, raters, labels), is 1 for the label that a rater gives, else 0; each output has at least
    one label. Classes are the labels. EM starts from each output's shares of votes, and therefore converges to the
    local maximum near the majority.
    """
    posterior = votes.sum(axis=1) / votes.sum(axis=(1, 2))[:, None]
    last = -np.inf
    for _ in range(STEPS):
        prior = np.maximum(posterior.mean(axis=0), LEAST)
        counts = np.einsum("ok,orl->rkl", posterior, votes)
        errors = np.maximum(ratio(counts, counts.sum(axis=2, keepdims=True)), LEAST)
        errors = np.where(np.isfinite(errors), errors, 1 / votes.shape[2])  # the rater labeled no output of this class
        joint = np.log(prior) + np.einsum("orl,rkl->ok", votes, np.log(errors))
        highest = joint.max(axis=1, keepdims=True)
        sums = np.exp(joint - highest).sum(axis=1, keepdims=True)
        posterior = np.exp(joint - highest) / sums
        likelihood = float((highest + np.log(sums)).mean())
        if likelihood - last < TOLERANCE:
            break
        last = likelihood
    return Fitted(prior, errors, posterior)


def information(prior: Floats, errors: Floats) -> Floats:
    """Mutual information of each rater's label and the class, in bits, shape (raters,); 0 for random labels.

    `prior` and `errors` are as in `Fitted`.
    """
    joint = prior[None, :, None] / prior.sum() * errors / errors.sum(axis=2, keepdims=True)
    chance = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    bits: Floats = (joint * np.log2(joint / chance)).sum(axis=(1, 2))
    return bits


def alpha_by_unit(votes: Floats, units: Units) -> Floats:
    """Terms of Krippendorff's alpha by unit, shape (units, 1 + labels): disagreements, then counts of pairable labels.

    `votes` is as in `dawid_skene`. The labels of an output are pairable if the output has at least two labels.
    """
    counts = votes.sum(axis=1)
    raters = counts.sum(axis=1, keepdims=True)
    pairable = raters[:, 0] > 1
    disagreements = ratio(raters**2 - (counts**2).sum(axis=1, keepdims=True), raters - 1)
    return by_unit(np.where(pairable[:, None], np.hstack([disagreements, counts]), 0), units)


def alpha(sums: Floats) -> Floats:
    """Krippendorff's alpha for nominal labels, at most 1; NaN if all labels are the same.

    `sums` has sums of `alpha_by_unit` over units, shape (rows, 1 + labels); the result has the shape (rows,).
    Krippendorff 2011: 1 - (n - 1) D / (n² - Σ n_c²), where n is the number of pairable labels, and n_c the number of
    pairable labels c. D is a sum over outputs: an output's disagreeing pairs, divided by its number of raters minus 1.
    """
    labels = sums[:, 1:]
    total = labels.sum(axis=1)
    return 1 - ratio((total - 1) * sums[:, 0], total**2 - (labels**2).sum(axis=1))


def rater_model(triage: pl.DataFrame, votes: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Rows of `rater_model`, from rows of `triage` (with a column `unit`), of `judge_vote` and of `human_label`.

    The result has the columns of `RATERS`: for judges (on triaged outputs) and for people (on sampled outputs), a
    corpus with two or more raters has one row for each rater and one row ('') for all raters. All five labels are
    distinguished.
    """
    result: list[tuple[object, ...]] = []
    for kind, name, ratings, outputs in (
        ("judges", "judge", votes, triage),
        ("people", "annotator", labels, triage.filter("sampled")),
    ):
        given = ratings.drop_nulls("label").select(CORPUS, *KEY, "label", rater=name)
        given = given.join(outputs.select(*KEY, "unit"), on=KEY).sort("corpus", *KEY, "rater")
        for (corpus,), part in given.group_by(["corpus"], maintain_order=True):
            if part["rater"].n_unique() > 1:
                result += [(corpus, kind, *row, SIGNATURE) for row in _rows(part)]
    return pl.DataFrame(result, schema=RATERS, orient="row").sort("corpus", "kind", "rater")


def _rows(given: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    """Rows of one corpus and kind of raters."""
    raters, labels = (given[name].unique().sort().to_list() for name in ("rater", "label"))
    number = given.select(pl.struct(KEY).rank("dense") - 1).to_series().to_numpy()
    votes = np.zeros((int(number.max()) + 1, len(raters), len(labels)))
    places = [
        given[name].replace_strict(values, list(range(len(values))), return_dtype=pl.Int64).to_numpy()
        for name, values in (("rater", raters), ("label", labels))
    ]
    votes[number, places[0], places[1]] = 1
    unit = numbered_units(given.unique(KEY, maintain_order=True)["unit"])
    fitted = dawid_skene(votes)
    bits = information(fitted.prior, fitted.errors)
    counts = votes.sum(axis=1)
    majority = 2 * counts.max(axis=1) > counts.sum(axis=1)
    overruled = int((majority & (counts.argmax(axis=1) != fitted.posterior.argmax(axis=1))).sum())
    yield "", len(votes), overruled, None, None, *_alpha(votes, unit)
    for at, rater in enumerate(raters):
        labeled = votes[:, at].any(axis=1)
        right = float((fitted.posterior * votes[:, at]).sum() / labeled.sum())
        yield rater, int(labeled.sum()), None, right, float(bits[at]), *_alpha(np.delete(votes, at, axis=1), unit)


def _alpha(votes: Floats, units: Units) -> tuple[float | None, float | None, float | None]:
    """Krippendorff's alpha with its interval."""
    sums = alpha_by_unit(votes, units)
    return bounded(alpha(sample_and_resamples(len(sums)) @ sums), effective_units(unit_sizes(units)))
