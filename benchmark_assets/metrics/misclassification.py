"""Rates that raters without errors would find, from observed rates and from how often the raters err.

Here: the corrections and their intervals. Not here: how often judges err (examination.errors, the rooms of studies).
"""

from typing import NamedTuple

import numpy as np

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.measures import NONE, Estimate

LEAST = 0.2
"""Least difference between the shares of faulty and of sound texts in which raters find an error, at the ends of their
intervals. With a smaller one, nothing is corrected."""

SIGNATURE = "Rogan and Gladen's estimator, errors about sentinels, MOVER"


class ErrorShares(NamedTuple):
    """Shares of texts in which raters find an error: of faulty texts, and of sound ones."""

    found: Estimate
    false: Estimate

    def of_sound(self) -> "ErrorShares":
        """The same with sound texts as what is to be found: the shares of sound and of faulty texts without an error
        in the raters' eyes."""
        return ErrorShares(_rest(self.false), _rest(self.found))


def _rest(share: Estimate) -> Estimate:
    value, low, high = (None if each is None else 1 - each for each in share)
    return Estimate(value, high, low)


def without_errors(rate: Estimate, errors: ErrorShares) -> Estimate:
    """The share of texts with an error, from the share in which raters found one; both in [0, 1].

    `NONE` if the raters hardly distinguish faulty texts from sound ones.

    Notes
    -----
    (rate - false) / (found - false), Rogan and Gladen (1978). The interval combines those of the three shares. It takes
    the faulty texts, about which the raters' errors are known, for as easy as the others.
    """
    values = rate, errors.found, errors.false
    if any(each.low is None for each in values) or float(errors.found.low or 0) - float(errors.false.high or 0) < LEAST:
        return NONE
    seen, found, false = (np.array(each, dtype=np.float64) for each in values)
    value, *ends = _rogan_gladen(seen, found[0], false[0]).tolist()
    causes = _rogan_gladen(seen[0], found[1:], false[0]), _rogan_gladen(seen[0], found[0], false[1:])
    return within(widened(Estimate(value, *ends), *_changes(np.array(causes) - value)), rate)


def _rogan_gladen(rate: Floats, found: Floats, false: Floats) -> Floats:
    share: Floats = (rate - false) / (found - false)
    return share


def spread(rate: Estimate, kept: Estimate, middle: float = 0.5) -> Estimate:
    """The share of wins, in [0, 1], that raters without errors would find, if errors leave the share `kept` of its
    distance from `middle`, the share that coins would give."""
    if rate.value is None or rate.low is None or rate.high is None:
        return NONE
    value, *ends = (middle + (float(each or 0) - middle) / float(kept.value or 1) for each in rate)
    moved = [middle + (rate.value - middle) / float(end or 1) - value for end in kept[1:]]
    return within(widened(Estimate(value, *ends), *_changes(np.array([moved]))), rate)


def _changes(ends: Floats) -> tuple[Floats, Floats]:
    """Changes downward and upward, shape (causes,), from changes at both ends of each cause, shape (causes, 2)."""
    return ends.min(axis=1, initial=0), ends.max(axis=1, initial=0)


def within(estimate: Estimate, rate: Estimate) -> Estimate:
    """An estimate within [0, 1]. If a rate is beyond what the raters' errors allow, it becomes 0 or 1, and the interval
    reaches to the end of the given one."""
    value, low, high = (min(max(float(each or 0), 0.0), 1.0) for each in estimate)
    ends = (low, high) if low < high else (min(low, float(rate.low or 0)), max(high, float(rate.high or 0)))
    return Estimate(value, *ends)


def widened(estimate: Estimate, below: Floats, above: Floats) -> Estimate:
    """Widen the interval of an estimate with MOVER (Zou and Donner 2008).

    `below` and `above` are changes of the estimate from independent causes, downward and upward, shape (causes,).
    """
    value, low, high = estimate
    if value is None or low is None or high is None:
        return estimate
    return Estimate(
        value, value - float(np.hypot(value - low, np.linalg.norm(below))),
        value + float(np.hypot(high - value, np.linalg.norm(above))),
    )  # fmt: skip
