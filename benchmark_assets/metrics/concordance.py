"""Agreement of metrics on the order of systems: ranks, Kendall's tau-b of two metrics, Kendall's W of all.

Every function takes scores of any leading shape, so that a thousand resamples are one call. Not here: the scores
themselves, tables.
"""

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.metrics.measures import Floats, ratio

SIGNATURE = (
    "ranks: among models, a translator's as a model with that score would have it, ties share the mean; mean rank: "
    "over the measures that a system has; tau-b and W (corrected for ties): over models; intervals: resampled passages"
)


def ranks(goodness: Floats, models: NDArray[np.bool_]) -> Floats:
    """Rank of each system among the models, from 1; equal systems share the mean of their ranks.

    Parameters
    ----------
    goodness
        Shape (..., systems), more is better; NaN where a system has no score, whose rank is NaN.
    models
        Shape (systems,), true for models. Each other system is ranked as if it alone were added to the models.
    """
    others = models & ~np.eye(len(models), dtype=bool)  # (system, model) to be compared
    own, rival = goodness[..., :, None], goodness[..., None, :]
    above = ((rival > own) & others).sum(axis=-1) + ((rival == own) & others).sum(axis=-1) / 2
    return np.where(np.isnan(goodness), np.nan, 1.0 + above)


def kendall_tau(first: Floats, second: Floats) -> Floats:
    """Kendall's tau-b of two metrics over systems, shape (..., systems) to (...).

    Systems that lack either score are left out. NaN where a metric ties all others, or fewer than two are left.

    Notes
    -----
    Kendall 1945: (concordant - discordant) / √(pairs untied in the first × pairs untied in the second).
    """
    one, other = np.triu_indices(first.shape[-1], k=1)
    signs = [np.sign(goodness[..., one] - goodness[..., other]) for goodness in (first, second)]
    both = ~np.isnan(signs[0]) & ~np.isnan(signs[1])
    a, b = (np.where(both, sign, 0.0) for sign in signs)
    return ratio((a * b).sum(axis=-1), np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1)))


def kendall_w(ranked: Floats) -> Floats:
    """Kendall's coefficient of concordance, corrected for ties, in [0, 1].

    Parameters
    ----------
    ranked
        Ranks, shape (..., metrics, systems), ties with the mean of their ranks.

    Returns
    -------
    Shape (...); NaN where all metrics tie all systems.

    Notes
    -----
    Squared deviations of the systems' sums of ranks, over what they would be if all metrics agreed. Kendall and
    Babington Smith 1939.
    """
    sums, metrics = ranked.sum(axis=-2), ranked.shape[-2]
    deviations = ((sums - sums.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    most = metrics * ((ranked - ranked.mean(axis=-1, keepdims=True)) ** 2).sum(axis=(-2, -1))
    return ratio(deviations, most)
