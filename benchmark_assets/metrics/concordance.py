"""Agreement of metrics on the order of systems: ranks, Kendall's tau-b of two metrics, Kendall's W of all metrics.

Every function accepts any leading axes, so that one call handles all resamples. Not here: scores, tables.
"""

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.measures import ratio

SIGNATURE = (
    "ranks: among models, ties share the mean; bounds of ranks: 1 + models that are significantly better, to all "
    "models minus those that are significantly worse (p_family at most 0.05); mean rank: over the measures that a "
    "model has; tau-b and W (corrected for ties): over models; intervals of mean ranks, tau-b and W: resampled units"
)


def ranks(goodness: Floats, models: NDArray[np.bool_]) -> Floats:
    """Rank of each system among the models, from 1; systems with equal scores share their mean rank.

    Parameters
    ----------
    goodness
        Scores where more is better, shape (..., systems). A system with the score NaN has the rank NaN.
    models
        True for models, shape (systems,). Any other system is ranked as if it alone were added to the models.

    Returns
    -------
    Shape (..., systems).
    """
    compared = models & ~np.eye(len(models), dtype=bool)  # shape (systems, models)
    system, rival = goodness[..., :, None], goodness[..., None, :]
    above = ((rival > system) & compared).sum(axis=-1) + ((rival == system) & compared).sum(axis=-1) / 2
    return np.where(np.isnan(goodness), np.nan, 1.0 + above)


def kendall_tau(first: Floats, second: Floats) -> Floats:
    """Kendall's tau-b of two metrics over systems: from shape (..., systems) to (...), in [-1, 1].

    Systems that lack a score in one of the metrics are left out. NaN if fewer than two systems remain, or if a metric
    ties all of them.

    Notes
    -----
    Kendall 1945: (concordant - discordant) / √(pairs untied in the first × pairs untied in the second).
    """
    one, other = np.triu_indices(first.shape[-1], k=1)
    signs = [np.sign(goodness[..., one] - goodness[..., other]) for goodness in (first, second)]
    scored = ~np.isnan(signs[0]) & ~np.isnan(signs[1])
    a, b = (np.where(scored, sign, 0.0) for sign in signs)
    return ratio((a * b).sum(axis=-1), np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1)))


def kendall_w(ranked: Floats) -> Floats:
    """Kendall's coefficient of concordance, corrected for ties, in [0, 1].

    Parameters
    ----------
    ranked
        Ranks, shape (..., metrics, systems); ties share their mean rank.

    Returns
    -------
    Shape (...); NaN if all metrics tie all systems.

    Notes
    -----
    W is the sum of the squared deviations of the systems' rank sums, divided by the value of this sum if all metrics
    agreed. Kendall and Babington Smith 1939.
    """
    sums, metrics = ranked.sum(axis=-2), ranked.shape[-2]
    deviations = ((sums - sums.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    most = metrics * ((ranked - ranked.mean(axis=-1, keepdims=True)) ** 2).sum(axis=(-2, -1))
    return ratio(deviations, most)
