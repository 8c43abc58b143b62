"""Estimated means of people's values over all outputs, from a stratified sample of labels, with or without judges.

Here: post-stratification, and prediction-powered estimates, which have valid intervals however the judges behave. Not
here: tables of estimates (audit.estimates, audit.anchored), intervals of means and rates without strata (intervals).
"""

import math
from typing import NamedTuple

import numpy as np
import scipy  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import LEVEL, SEED, Floats, Units, Z, by_unit, wilson

FOLDS = 5
"""Number of folds of units. The predictions for a fold are learned on the other folds."""

WIDEST = 1.05
"""Maximum ratio of an interval's width to the width of the interval from people alone. If the ratio is larger, the
judge's values are not used."""

FEWEST_LABELS, FEWEST_IN_STRATA = 75, 150
"""Minimum numbers of labels for using the judge's values, in one stratum and in several. With a judge that is right in
95 %, intervals from 20 labels covered a rate of 5 % in 88 % of runs; from 100 labels in five strata, a rate of 30 % in
92.6 %. From these numbers of labels on, they cover rates in at least 93 %."""

Rows = NDArray[np.bool_]


class Rated(NamedTuple):
    """Outputs with a value from people, from the judge, or from both. Values are in [0, 1], such as 1 for an error.

    Attributes
    ----------
    people, judge
        People's and the judge's values, shape (rows,); NaN for a row without a value. Within a stratum, the rows with a
        value from people are a random sample of the outputs. The same holds for the rows with a value
        from the judge.
    stratum, unit
        Index of each row's stratum and of its unit, shape (rows,).
    pool
        Index of each stratum's pool, shape (strata,). A pool is a group of strata that are expected to have similar
        means.
    outputs
        How many outputs of each stratum the mean covers, shape (strata,). A stratum with 0 outputs is used only to
        estimate the rate of its pool and the errors of the judge.
    shift, noise
        What is added to people's values after a second pass, which checked a part of them, and the variance of this
        addition by the draw of the part; shape (rows,), or one number for all.
    """

    people: Floats
    judge: Floats
    stratum: Units
    unit: Units
    pool: Units
    outputs: Floats
    shift: Floats | float = 0.0
    noise: Floats | float = 0.0


class Anchored(NamedTuple):
    """An estimated mean with its 95 % interval, and the estimate from people alone: each as (mean, low, high).

    `tuning` is the slope of people's values on the predictions from the judge's values. It is about 1 if the
    predictions are right, and 0 if the judge is not used; `mean` then equals `people`.
    """

    mean: tuple[float, float, float]
    people: tuple[float, float, float]
    tuning: float


class _Weighted(NamedTuple):
    """Masks and weights of the rows, all of shape (rows,).

    `labels` masks the labeled rows, `others` the rows that are judged but not labeled. `weight` is the weight of a
    labeled row in the mean over `labels`; it is 0 for all other rows. `other` is the weight of a row in the mean over
    `others`; it is 0 for all other rows. `pull` is N / (n + N) for a stratum with n rows in `labels` and N rows in
    `others`.
    """

    labels: Rows
    others: Rows
    weight: Floats
    other: Floats
    pull: Floats


def anchored(rated: Rated) -> Anchored:
    """Estimate the mean of people's values over all outputs, from labels and from a judge's values on further outputs.

    At least one stratum with outputs must have a label. Strata without labels are left out.

    Notes
    -----
    The method is PPI++ (Angelopoulos, Duchi and Zrnic 2023), stratified (Fisch et al. 2024). The estimate of a stratum
    is the mean of y - λf over its n labels, plus λ times the mean of f over its N other judged outputs. Here y is
    people's value, λ is the slope times N / (n + N), and f is the probability of an error given the judge's value, by
    Bayes's rule from the rate of the pool and from the judge's hits and false alarms over all labels. The slope
    minimizes the variance. For each fold of units, f and the slope are learned on the other folds, so that the estimate
    is unbiased whatever the judge's values mean.

    The interval is a score interval like Wilson's. Its variance has three parts: one for the labels whose judge's value
    is low, one for the labels whose judge's value is high, and one that the judge's values do not correct. The parts
    come from smoothed rates, because a few labels without a missed error do not show that the judge misses none. If the
    out-of-fold residuals have a larger variance, their variance is used. As in Wilson's interval, the variance depends
    on the mean: if the mean grows by x, each of the two groups of labels gets a part of x, in proportion to the group's
    variance, and the variance of the group changes like the variance of a binomial proportion. Units and degrees of
    freedom are treated as in `post_stratified`. A second pass shifts the mean, and its noise inflates the variance. The
    estimate from people alone is returned if there are too few labels (`FEWEST_LABELS`, `FEWEST_IN_STRATA`), if the
    judge's values do not reduce the variance, or if they make the interval more than 5 % wider.
    """
    weighted, level = _weighted(rated), _levels(rated.judge)
    labels, others = weighted.labels & (weighted.weight > 0), weighted.others
    truth, shares, pull, shift, noise = (
        np.broadcast_to(values, labels.shape)[labels]
        for values in (rated.people, weighted.weight, weighted.pull, rated.shift, rated.noise)
    )
    unit = rated.unit[labels]
    fold = np.random.default_rng(SEED).permutation(int(rated.unit.max()) + 1)[rated.unit] % FOLDS
    corrections = np.zeros(len(rated.people))
    for number in range(FOLDS):
        out = fold == number
        _, _, deviations, slope = _tuned(rated, weighted, level, weighted.labels & ~out)
        corrections[out] = slope * deviations[out]
    expected, predicted, deviations, tuning = _tuned(rated, weighted, level, weighted.labels)
    remaining = tuning * (weighted.pull * deviations * weighted.other)[others]
    expected, predicted, deviations, corrections = (
        values[labels] for values in (expected, predicted, deviations, corrections)
    )
    alone = float(shares**2 @ (expected * (1 - expected)))
    effect = design_effect(shares * (truth - expected), unit) + second_phase(shares, expected, noise)
    people = post_stratified(shares, truth + shift, expected, effect)

    groups = [level[labels] == high for high in (False, True)]
    within = [float(shares[group] ** 2 @ (predicted * (1 - predicted))[group]) for group in groups]
    between = predicted - expected - tuning * pull * deviations
    variance = sum(within) + float(shares**2 @ between**2 + remaining @ remaining)
    residuals = truth - expected - pull * corrections
    observed = float(shares**2 @ residuals**2 + remaining @ remaining) / float(shares**2 @ (truth - expected) ** 2)
    inflation = max(1.0, observed * alone / variance) * few_units(unit)
    inflation *= clustering(np.append(shares * residuals, remaining), np.append(unit, rated.unit[others]))
    inflation += float(shares**2 @ noise) / variance
    if (
        len(truth) < fewest_labels(len(np.unique(rated.stratum[labels])))
        or not tuning
        or inflation * variance >= effect * alone
    ):
        return Anchored(people, people, 0.0)
    growth = curvature = 0.0
    for group, own in zip(groups, within, strict=True):
        if own > 0:
            part, share = float(shares[group].sum()), own / variance
            rate = float(shares[group] @ predicted[group]) / part
            size = rate * (1 - rate) * part**2 / own
            growth += share * part * (1 - 2 * rate) / size
            curvature += share**2 / size
    mean = min(max(float(shares @ (truth + shift - corrections)), 0.0), 1.0)
    factor = Z**2 * inflation
    scale, middle = 1 + factor * curvature, factor * growth / 2
    half = math.sqrt(middle**2 + scale * factor * variance)
    low, high = max(mean + (middle - half) / scale, 0.0), min(mean + (middle + half) / scale, 1.0)
    if high - low > WIDEST * (people[2] - people[1]):
        return Anchored(people, people, 0.0)
    return Anchored((mean, low, high), people, tuning)


def fewest_labels(strata: int) -> int:
    """Minimum number of labels, in this many strata, for using the judge's values."""
    return FEWEST_IN_STRATA if strata > 1 else FEWEST_LABELS


def gain(correlation: float, labels: float, others: float) -> float:
    """Maximum share by which a judge's values can narrow the interval: 1 - √(1 - ρ² N / (n + N)).

    `correlation` is ρ, the correlation of the judge's values with people's within strata; `labels` is n; `others` is N,
    the number of outputs that only the judge sees.
    """
    return 1 - math.sqrt(1 - correlation**2 * others / (labels + others))


def post_stratified(weights: Floats, errors: Floats, rates: Floats, effect: float) -> tuple[float, float, float]:
    """Post-stratified error rate and its 95 % interval: (rate, low, high), in [0, 1].

    Parameters
    ----------
    weights
        Weight of each labeled output, shape (labels,): the share of its stratum in all outputs, divided by the number
        of labeled outputs in the stratum. The weights sum to 1.
    errors
        1 for an error, else 0; shape (labels,).
    rates
        Expected error rate of each output's stratum, which determines the variance; strictly between 0 and 1, shape
        (labels,).
    effect
        Factor by which the variance exceeds that of independent labels; see `design_effect`.

    Notes
    -----
    The rate is the sum of weight * error. Its variance gives the effective sample size: the number of
    independent outputs that would carry as much information. The interval is Wilson's for this size (Korn and Graubard
    1998). A stratum's variance is not computed from its observed rate, because a few labels without an error would give
    a variance of 0, as if the rate were certain. There is no finite population correction.
    """
    rate, expected = float(weights @ errors), float(weights @ rates)
    variance = float(weights**2 @ (rates * (1 - rates))) * effect
    effective = expected * (1 - expected) / variance
    rate = min(max(rate, 0.0), 1.0)  # weights may sum to a little more than 1, and shifts lead out of the range
    return rate, *wilson(rate * effective, effective)


def second_phase(weights: Floats, rates: Floats, noise: Floats) -> float:
    """What a second pass adds to the factor of `design_effect`: the variance of the weighted shifts (see `Rated`),
    relative to that of independent labels. All arguments as in `post_stratified`, shape (labels,)."""
    return float(weights**2 @ noise) / float(weights**2 @ (rates * (1 - rates)))


def design_effect(deviations: Floats, units: Units) -> float:
    """Factor by which the variance of a sum exceeds that of independent deviations, including Student's t; at least 1.

    Parameters
    ----------
    deviations
        Deviations of labeled outputs from their expected values, times their weights, shape (labels,).
    units
        Number of each output's unit, shape (labels,).

    Notes
    -----
    The factor is a ratio times (t/z)², where the degrees of freedom of t are the number of units minus 1 (Korn and
    Graubard 1998). To get the ratio, the deviations of each unit are summed; the sum of the squares of these sums is
    divided by the sum of the squared deviations. The ratio is 1 if all labels are in different units, and n if each
    unit has n equal deviations.
    """
    return clustering(deviations, units) * few_units(units)


def clustering(deviations: Floats, units: Units) -> float:
    """The ratio in `design_effect`, or 1 if the ratio is smaller."""
    squares = float((deviations**2).sum())
    return max(1.0, float((by_unit(deviations, units) ** 2).sum()) / squares) if squares else 1.0


def few_units(units: Units) -> float:
    """The factor (t/z)² in `design_effect`."""
    freedom = max(len(np.unique(units)) - 1, 1)
    return float(scipy.special.stdtrit(freedom, (1 + LEVEL) / 2) / Z) ** 2


def _weighted(rated: Rated) -> _Weighted:
    labels = np.isfinite(rated.people)
    others = np.isfinite(rated.judge) & ~labels
    drawn, judged = (np.bincount(rated.stratum[rows], minlength=len(rated.outputs)) for rows in (labels, others))
    covered = np.where(drawn > 0, rated.outputs, 0)
    parts = covered / covered.sum()
    weight, other = (
        np.where(rows, (parts / np.maximum(count, 1))[rated.stratum], 0)
        for rows, count in ((labels, drawn), (others, judged))
    )
    return _Weighted(labels, others, weight, other, (judged / np.maximum(drawn + judged, 1))[rated.stratum])


def _levels(judge: Floats) -> Rows:
    """Mask of the rows whose value from the judge is above the mean of the judge's values."""
    judged = np.isfinite(judge)
    high: Rows = judged & (judge > judge[judged].mean()) if judged.any() else judged
    return high


def _tuned(rated: Rated, weighted: _Weighted, level: Rows, fitted: Rows) -> tuple[Floats, Floats, Floats, float]:
    """Each row's expected value, its predicted value and its deviation; and the slope.

    A deviation is the predicted value minus the mean prediction of the stratum. It is 0 for a row without a value from
    the judge, and in strata where the judge saw only labeled outputs. Everything is learned from the labels in the mask
    `fitted`.
    """
    pools, truth = rated.pool[rated.stratum], np.where(fitted, rated.people + rated.shift, 0)
    drawn, sums = (np.bincount(pools, row, minlength=int(rated.pool.max()) + 1) for row in (fitted * 1.0, truth))
    least = 0.5 / (drawn + 1)  # shifts may lead out of the range
    expected = np.clip((sums + 0.5) / (drawn + 1), least, 1 - least)[pools]
    judged = np.isfinite(rated.judge)
    errors, sound = truth[fitted & judged], 1 - truth[fitted & judged]
    high = level[fitted & judged]
    low = 0.5 / (len(high) + 1)
    hits, alarms = (
        min(max((float(part[high].sum()) + 0.5) / (max(float(part.sum()), 0.0) + 1), low), 1 - low)
        for part in (errors, sound)
    )
    likely = expected * np.where(level, hits, 1 - hits)
    unlikely = (1 - expected) * np.where(level, alarms, 1 - alarms)
    predicted = np.where(judged, likely / (likely + unlikely), expected)
    present, sums = (np.bincount(rated.stratum, row * judged, minlength=len(rated.outputs)) for row in (1.0, predicted))
    deviations = np.where(judged & (weighted.pull > 0), predicted - (sums / np.maximum(present, 1))[rated.stratum], 0)
    leverage = (weighted.weight**2 * weighted.pull * deviations)[fitted]
    spread = float(leverage @ deviations[fitted])
    slope = float(leverage @ (truth - expected)[fitted]) / spread if spread > 1e-15 else 0.0
    return expected, predicted, deviations, slope
