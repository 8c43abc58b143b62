"""Judgments of systems whose strengths are known."""

import numpy as np
import polars as pl
from numpy.polynomial.hermite_e import hermegauss

from benchmark_assets.metrics.intervals import Floats

ANCHORS = np.array([
    5.1634, 4.5190, 3.2654, 2.9192, 2.3353, 2.0164, 1.0575, 0.8731, 0.7173, 0.0472,
    -0.1320, -0.3651, -0.4439, -0.8759, -2.2247, -2.6335, -2.8706, -3.5001, -4.2891, -5.5787,
])  # fmt: skip
"""Log-strengths of JP-TL-Bench's 20 anchors, from its `scores_overall.json`."""

NAMES = [f"a{number:02}" for number in range(20)]

ITEMS = 70


def sigma(x: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-x))
    return found


def judged(
    strengths: Floats,
    effect: float,
    chance: np.random.Generator,
    items: int = ITEMS,
    bias: float = 0.0,
    orders: str = "both",
) -> Floats:
    """Share of a match that the system of the row won against that of the column, shape (items, n, n).

    Parameters
    ----------
    effect
        Standard deviation, in logits, of what an item adds to the strength of a system, in all of its matches there.
    bias
        Logits that the text shown as A has more: ln 1.5 gives it 60 % against its equal.
    orders
        'both', 'one' (sides by chance) or 'first' (the system of lower number is always A).
    """
    size = len(strengths)
    own = strengths + effect * chance.normal(size=(items, size))
    differences = own[:, :, None] - own[:, None, :]
    sides = np.full(differences.shape, bias)
    if orders == "one":
        sides *= chance.choice([-1.0, 1.0], size=sides.shape)
    won = (chance.random(differences.shape) < sigma(differences + sides)).astype(np.float64)
    if orders == "both":
        won = (won + (chance.random(differences.shape) < sigma(differences - sides))) / 2
    upper = np.triu(np.ones((size, size)), 1)
    found: Floats = won * upper + ((1 - won) * upper).swapaxes(1, 2)
    return found


def expected(strengths: Floats, effect: float = 0.0, bias: float = 0.0, orders: str = "both") -> Floats:
    """What `judged` gives on average over all items there could be, shape (n, n)."""
    places, weights = hermegauss(41)
    drawn = np.sqrt(2) * effect * places
    differences = (strengths[:, None] - strengths[None, :])[:, :, None] + drawn
    won = sigma(differences + bias)
    if orders != "first":
        won = (won + sigma(differences - bias)) / 2
    mean = won @ (weights / weights.sum())
    upper = np.triu(np.ones(mean.shape), 1)
    found: Floats = mean * upper + ((1 - mean) * upper).T
    return found


def items(count: int = ITEMS) -> pl.DataFrame:
    """Rows of `base_set_item` with their units: two directions of two difficulties."""
    return pl.DataFrame({
        "base_set": "set@1.0.0",
        "passage": [f"x/{number:03}" for number in range(count)],
        "direction": [("ja-en", "en-ja")[number % 2] for number in range(count)],
        "difficulty": [("easy", "hard")[number // 2 % 2] for number in range(count)],
    }).with_columns(unit="passage", unit_kind=pl.lit("passages"))  # fmt: skip


def matches(won: Floats) -> pl.DataFrame:
    """Matches of the last of the systems with each of the others: `passage`, `anchor`, `slice` and `won`."""
    rows = [
        (passage, NAMES[anchor], f"{direction} {difficulty}", won[number, -1, anchor])
        for number, (_, passage, direction, difficulty, *_) in enumerate(items(len(won)).iter_rows())
        for anchor in range(won.shape[1] - 1)
    ]
    return pl.DataFrame(rows, schema=["passage", "anchor", "slice", "won"], orient="row")
