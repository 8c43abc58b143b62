"""The order of the translations in a reply: detection of translations that a reply gives under each other's keys.

Here: evidence that needs neither references nor a model. Not here: asking again (translation.passage_questions),
comparing outputs with references to detect outputs that translate another passage (metrics.fidelity).
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"[^\W\d_]{5,}|\d+")
"""Numbers, and words that may be names."""

STEM = 5
"""Number of letters of a word, from its beginning, that are compared. Endings are not compared, because they differ
between languages."""

SPREAD, FREEDOM = 0.15, 4
"""Minimum scale and degrees of freedom of Student's t, which models the log length ratios within a batch."""

MARGIN, FURTHER = 6.0, 1.0
"""Minimum gain in log likelihood if two translations exchange keys, and the additional gain required for each further
translation that moves. More gain is required because more texts have more possible orders. No batch of real outputs
reaches these gains (docs/measurements.md)."""

Floats = NDArray[np.float64]


def exchanged(sources: Mapping[str, str], texts: Mapping[str, str]) -> set[str]:
    """Keys of the translations that fit their sources clearly better in another order.

    The fit of a source and a translation is measured by the names and numbers that both contain, weighted by rarity in
    the batch, and by the ratio of their lengths. Names are found only if source and translation have the same script.
    If the scripts differ, as from Chinese into English, the exchanges found are mostly between translations of very
    different lengths.

    Parameters
    ----------
    sources
        Source texts by key.
    texts
        Non-empty translations by key. Every key is also a key of `sources`.
    """
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]  # takes 0.2 s to import

    keys = list(texts)
    if len(keys) < 2:
        return set()
    before, after = [sources[key] for key in keys], [texts[key] for key in keys]
    fit = _shared(before, after) + _lengths(before, after)
    suspects: set[int] = set()
    for cycle in _cycles(linear_sum_assignment(fit, maximize=True)[1].tolist()):
        ordered = list(cycle)
        gain = fit[ordered, [cycle[place] for place in ordered]].sum() - fit[ordered, ordered].sum()
        if gain >= MARGIN + FURTHER * (len(ordered) - 2):
            suspects |= cycle.keys()
    return {keys[place] for place in suspects}


def _shared(sources: Sequence[str], texts: Sequence[str]) -> Floats:
    """Sum of the log rarities of the words that each source shares with each translation; shape (sources, texts)."""
    left, right = _places(sources), _places(texts)
    fit = np.zeros((len(sources), len(texts)))
    for stem in left.keys() & right.keys():
        rarity = len(sources) / max(len(left[stem]), len(right[stem]))
        fit[np.ix_(left[stem], right[stem])] += np.log(rarity)
    return fit


def _places(texts: Sequence[str]) -> dict[str, list[int]]:
    """For each stem, the positions of the texts that contain it."""
    places: dict[str, list[int]] = {}
    for position, text in enumerate(texts):
        for stem in _stems(text):
            places.setdefault(stem, []).append(position)
    return places


def _stems(text: str) -> Set[str]:
    """Numbers in decimal digits, and the beginnings of words of at least `STEM` letters, without accents and case."""
    letters = (each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    words = WORD.findall("".join(letters).casefold())
    return {str(int(word)) if word.isdecimal() else word[:STEM] for word in words}


def _lengths(sources: Sequence[str], texts: Sequence[str]) -> Floats:
    """Log density of each ratio of lengths under the distribution of the batch; shape (sources, texts)."""
    ratios = _logs(texts)[None, :] - _logs(sources)[:, None]
    ratios -= np.median(ratios.diagonal())
    spread = max(SPREAD, 1.4826 * float(np.median(np.abs(ratios.diagonal()))))
    return -(FREEDOM + 1) / 2 * np.log1p((ratios / spread) ** 2 / FREEDOM)


def _logs(texts: Sequence[str]) -> Floats:
    return np.log([max(len(text), 1) for text in texts])


def _cycles(order: Sequence[int]) -> Iterator[dict[int, int]]:
    """Those cycles of a permutation that have two or more elements. Each cycle maps places to places."""
    seen: set[int] = set()
    for start in range(len(order)):
        cycle: dict[int, int] = {}
        place = start
        while place not in seen:
            seen.add(place)
            place = cycle.setdefault(place, order[place])
        if len(cycle) > 1:
            yield cycle
