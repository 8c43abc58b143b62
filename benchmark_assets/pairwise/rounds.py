"""Adaptive mode: a model meets a base set in rounds, the most telling pairs first, until it is known well enough.

Here: what adaptive mode needs of the warehouse, and the pairs of the next round. Not here: which pairs tell most and
when that is enough (adaptive), asking (matches).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.pairwise.adaptive import enough, next_pairs
from benchmark_assets.pairwise.base_sets import Ranks, Within
from benchmark_assets.pairwise.bradley_terry import fit
from benchmark_assets.pairwise.scores import anchor_wins, candidate_matches
from resources.warehouse import Warehouse

BATCH = 64
"""Pairs of a round: as many calls as an endpoint takes at a time by default, so that few wait for the last of a round,
and little is asked that the round before had made needless."""

_PAIR = ["passage", "anchor"]
_MATCHED = pl.Schema({"passage": pl.String(), "anchor": pl.String(), "won": pl.Float64()})


class Ladder(NamedTuple):
    """What adaptive mode knows of a model and a base set before the first round.

    Attributes
    ----------
    mode
        How well the model has to be known: see `adaptive.enough`.
    strengths
        Of the anchors, as they are without the model.
    slices
        Direction and difficulty of each item.
    before
        Matches that are stored, of outputs that are not due: columns `passage`, `anchor` and `won`.
    """

    mode: Within | Ranks
    strengths: Mapping[str, float]
    slices: Mapping[str, str]
    before: pl.DataFrame


def ladder(warehouse: Warehouse, model: str, base_set: str, mode: Within | Ranks, due: Sequence[str]) -> Ladder | None:
    """Look up a model's ladder; None where the anchors have no finite strengths, so that all pairs have to be asked.

    Parameters
    ----------
    due
        Passages of which nothing that is stored counts any more.
    """
    own = pl.DataFrame({"base_set": [base_set]})
    strengths = _strengths(warehouse, own)
    if strengths is None:
        return None
    items = warehouse.read("base_set_item", own, ["passage", "direction", "difficulty"])
    columns = ["model", *_PAIR, "winner"]
    stored = warehouse.read("comparison", own.with_columns(model=pl.lit(model)), columns)
    kept = stored.filter(~pl.col("passage").is_in(due))
    before = candidate_matches(kept).select(_MATCHED.names()).cast(_MATCHED)
    slices = {passage: f"{direction} {difficulty}" for passage, direction, difficulty in items.iter_rows()}
    return Ladder(mode, strengths, slices, before)


def following(known: Ladder, had: pl.DataFrame, open_pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs of the next round, by passage and anchor; none where what is done is enough.

    Parameters
    ----------
    had
        What came of those that were asked in this run: columns `passage`, `anchor`, and `winner` as the table
        `comparison` has it, a row for each order.
    open_pairs
        Those that were not asked.
    """
    won = candidate_matches(had.with_columns(model=pl.lit("")))
    asked = pl.concat([known.before, won.select(_MATCHED.names()).cast(_MATCHED)])
    rows = [(passage, anchor, known.slices[passage]) for passage, anchor in dict.fromkeys(open_pairs)]
    left = pl.DataFrame(rows, schema=dict.fromkeys([*_PAIR, "slice"], pl.String), orient="row")
    if enough(asked, left, known.strengths, known.mode):
        return set()
    return set(next_pairs(asked, left, known.strengths, BATCH).select(_PAIR).rows())


def _strengths(warehouse: Warehouse, own: pl.DataFrame) -> dict[str, float] | None:
    """Strengths of all anchors of a base set by the frozen judgments; None where some are not finite."""
    anchors = warehouse.read("anchor_output", own, ["anchor"])["anchor"].unique().sort().to_list()
    judgments = warehouse.read("anchor_judgment", own, ["passage", "first", "second", "winner"])
    strengths = fit(anchor_wins(judgments, anchors))
    return None if np.isnan(strengths).any() else dict(zip(anchors, strengths.tolist(), strict=True))
