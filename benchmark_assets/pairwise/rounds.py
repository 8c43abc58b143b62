"""Adaptive mode: compare a model with a base set in rounds, the most informative pairs first.

Here: the inputs of adaptive mode from the warehouse, and the pairs of the next round. Not here: information of pairs
and the criterion to stop (adaptive), asking (matches).
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
"""Pairs of a round: the default number of parallel calls to an endpoint. So few calls wait for the end of a round, and
few are made that an earlier result would have made needless."""

_PAIR = ["passage", "anchor"]
_MATCHED = pl.Schema({"passage": pl.String(), "anchor": pl.String(), "won": pl.Float64()})


class Ladder(NamedTuple):
    """Inputs of adaptive mode for a model and a base set before the first round.

    Attributes
    ----------
    mode
        Precision required to stop: see `adaptive.enough`.
    strengths
        Log-strengths of the anchors, fitted without the model.
    slices
        Direction and difficulty of each item.
    before
        Stored matches of outputs that are not stale: columns `passage`, `anchor` and `won`.
    """

    mode: Within | Ranks
    strengths: Mapping[str, float]
    slices: Mapping[str, str]
    before: pl.DataFrame


def ladder(
    warehouse: Warehouse, model: str, base_set: str, mode: Within | Ranks, stale: Sequence[str]
) -> Ladder | None:
    """Read a model's ladder; None if the anchors have no finite strengths, so that all pairs have to be asked.

    Parameters
    ----------
    stale
        Passages whose stored comparisons no longer count.
    """
    key = pl.DataFrame({"base_set": [base_set]})
    strengths = _strengths(warehouse, key)
    if strengths is None:
        return None
    items = warehouse.read("base_set_item", key, ["passage", "direction", "difficulty"])
    columns = ["model", *_PAIR, "winner"]
    stored = warehouse.read("comparison", key.with_columns(model=pl.lit(model)), columns)
    kept = stored.filter(~pl.col("passage").is_in(stale))
    before = candidate_matches(kept).select(_MATCHED.names()).cast(_MATCHED)
    slices = {passage: f"{direction} {difficulty}" for passage, direction, difficulty in items.iter_rows()}
    return Ladder(mode, strengths, slices, before)


def following(known: Ladder, judged: pl.DataFrame, open_pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs of the next round, by passage and anchor; none if the judged pairs are enough.

    Parameters
    ----------
    judged
        Pairs judged in this run: columns `passage`, `anchor`, and `winner` as in the table `comparison`, a row for each
        order.
    open_pairs
        Pairs that were not asked about.
    """
    won = candidate_matches(judged.with_columns(model=pl.lit("")))
    asked = pl.concat([known.before, won.select(_MATCHED.names()).cast(_MATCHED)])
    rows = [(passage, anchor, known.slices[passage]) for passage, anchor in dict.fromkeys(open_pairs)]
    left = pl.DataFrame(rows, schema=dict.fromkeys([*_PAIR, "slice"], pl.String), orient="row")
    if enough(asked, left, known.strengths, known.mode):
        return set()
    return set(next_pairs(asked, left, known.strengths, BATCH).select(_PAIR).rows())


def _strengths(warehouse: Warehouse, own: pl.DataFrame) -> dict[str, float] | None:
    """Strengths of all anchors of a base set from the frozen judgments; None if any is not finite."""
    anchors = warehouse.read("anchor_output", own, ["anchor"])["anchor"].unique().sort().to_list()
    judgments = warehouse.read("anchor_judgment", own, ["passage", "first", "second", "winner"])
    strengths = fit(anchor_wins(judgments, anchors))
    return None if np.isnan(strengths).any() else dict(zip(anchors, strengths.tolist(), strict=True))
