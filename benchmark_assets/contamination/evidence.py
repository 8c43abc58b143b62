"""Evidence that a system's texts copy a reference: shared wording beyond what independent translators share.

Here: what near-identity to expect of an independent translation of a passage, the evidence of a passage, and the share
of copied passages of a system. Not here: measuring shared wording (wording), other passages' references (elsewhere).
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST = 8
"""Fewest words of a passage's shorter text that say anything: shorter texts are often equal by chance."""

FEWEST = 5
"""Fewest passages of a system and a reference that are judged."""

INDEPENDENT = 0.5
"""Near-identity of independent translations where nothing else shows it. Independent translators have medians of 0.20
to 0.53 in prose, and up to 0.62 in verses of the Bible (docs/decisions/contamination.md)."""

RELATED = 0.65
"""From this mean near-identity on, two texts are related throughout, as revisions are: independent translators reach
0.64, revisers 0.67 to 0.78."""

REPEATED = 0.8
"""From this mean near-identity on, a system repeats a reference so often that no level of its own texts is left."""

EVIDENCE = 9.0
"""Log-likelihood ratio above which a system copies a reference. 56 pairs of independent translators have 5.1
at most."""

CERTAIN = 0.9
"""Posterior probability above which a passage counts as copied."""

SIGNATURE = (
    "near-identity: 2 LCS / (words of both); null: logistic around the level of the pair, shifted by what others share "
    f"in the passage; mixture with a copied share, log-likelihood ratio {EVIDENCE:g}; passages of {LEAST} words or more"
)

_KNOWN = 10  # passages after which a system's own level counts more than `INDEPENDENT`
_DEVIATION, _BY_WORD = 0.03, 0.38  # deviation of near-identity in passages of n words: √(0.03² + 0.38 / n)
_SHIFT = 0.7  # part of what others share more than usual in a passage that is expected of a further translator, too
_NARROWEST, _WIDEST = 0.8, 1.5  # bounds of a pair's own deviation, relative to the above
_COPY, _COPY_DEVIATION = 0.92, 0.07  # near-identity of copies with a few words exchanged; exact copies count as 0.92
_LARGEST = 0.97  # near-identity up to which independent translations become less likely
_PER_WORD, _CHANCE = 0.4, 1.2  # evidence of each word in a run beyond 3 ln n words, or beyond the runs of others
_SHARES = np.concatenate([[0.0], np.geomspace(1e-4, 0.999, 120)])


class Judgment(NamedTuple):
    """The evidence that a system copies a reference.

    - `evidence`: log-likelihood ratio of the best share of copied passages to none; 0 or more.
    - `level`: near-identity to expect of the system's independent texts.
    - `posterior`: probability that each passage is copied, shape (passages,).
    - `copied`: whether each passage counts as copied: `posterior` is at least `CERTAIN`, and the passage by itself is
      more likely a copy than not.
    """

    evidence: float
    level: float
    posterior: Floats
    copied: NDArray[np.bool_]


def deviation(words: Floats) -> Floats:
    """Standard deviation of the near-identity of independent translations, by the words of the shorter one.

    Fitted to pairs of translators of the Daodejing, the Dhammapada and James, whose 99th percentile lies 2.3 deviations
    above the mean with 20 words and with 100.
    """
    return np.sqrt(_DEVIATION**2 + _BY_WORD / np.maximum(words, 3))


def log_ratio(near: Floats, expected: Floats, scale: Floats, *, same: bool = True) -> Floats:
    """Log-likelihood ratio of a copy to an independent translation, from near-identity.

    The density of copies is normal. That of independent translations of the `same` passage is logistic around
    `expected` with the standard deviation `scale`, because translations of a plain sentence are sometimes almost equal;
    that of texts of different passages is normal. A text that is not nearer than expected is no evidence for a copy.
    """
    distance = np.minimum(near, _LARGEST) - expected
    z = distance / (scale * np.sqrt(3) / np.pi)
    logistic = -z - np.log(scale * np.sqrt(3) / np.pi) - 2 * np.log1p(np.exp(-z))
    ratio: Floats = _normal(np.minimum(near, _COPY) - _COPY, _COPY_DEVIATION)
    ratio = ratio - (logistic if same else _normal(distance, scale))
    return np.where(near <= expected, np.minimum(ratio, 0), ratio)


def _normal(distance: Floats, deviation: Floats | float) -> Floats:
    """Logarithm of the normal density."""
    density: Floats = -0.5 * (distance / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))
    return density


def judged(pairs: pl.DataFrame) -> Judgment:
    """Judge a system and a reference from the passages that both have.

    Parameters
    ----------
    pairs
        One row per passage: `words` (at least `LEAST`), `run`, `near`; `others` and `others_run`: mean near-identity
        and longest run among the passage's other translators and the system, each compared with another text than this
        pair (null without any); and `elsewhere`: log-likelihood ratio of a copy of another passage (null without one).

    Notes
    -----
    The level and deviation of the independent texts are estimated from the lower 40 % of the passages, so that up to
    60 % may be copied; `INDEPENDENT` counts as `_KNOWN` further passages. The share π of copied passages maximizes
    Σ ln(1 - π + π exp(ratio)), the likelihood of a mixture; the posterior follows (Efron's local false discovery rate).
    """
    near, words, run = (pairs[name].to_numpy().astype(np.float64) for name in ("near", "words", "run"))
    others = pairs["others"].cast(pl.Float64)
    shift = (_SHIFT * (others - others.median()).fill_null(0)).to_numpy() if others.count() else np.zeros(len(near))
    spread = deviation(words)
    tenth, two_fifths = np.quantile((near - shift - INDEPENDENT) / spread, [0.1, 0.4])
    scale = (two_fifths - tenth) / 1.028  # the distance of these quantiles of the normal distribution
    level = INDEPENDENT + (two_fifths + 0.253 * scale) * np.median(spread)
    known = len(near) / (len(near) + _KNOWN)
    level, scale = known * level + (1 - known) * max(INDEPENDENT, level), known * scale + 1 - known
    if level >= REPEATED:
        level, scale = INDEPENDENT, 1.0
    scale = np.clip(scale, _NARROWEST, _WIDEST)
    ratio = log_ratio(near, level + shift, spread * scale)
    chance = np.maximum(_CHANCE * np.log(words) / _PER_WORD, pairs["others_run"].fill_null(0).to_numpy())
    elsewhere = pairs["elsewhere"].cast(pl.Float64).fill_null(-np.inf).to_numpy()
    ratio = np.minimum(np.maximum.reduce([ratio, _PER_WORD * (run - chance), elsewhere]), 40)
    gain = np.exp(ratio) - 1
    likelihoods = np.log1p(_SHARES[:, None] * gain).sum(axis=1)
    share = _SHARES[likelihoods.argmax()]
    posterior = share * (gain + 1) / (1 + share * gain)
    return Judgment(float(likelihoods.max()), float(level), posterior, (posterior >= CERTAIN) & (ratio > 0))
