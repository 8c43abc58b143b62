"""Adaptive mode: a model is compared with a base set in rounds, and the most informative pairs are judged first.

Here: reading the inputs of adaptive mode from the warehouse, and choosing the pairs of the next round. Not here: the
information of a pair and the stopping criterion (adaptive), asking the judge (matches).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.pairwise.adaptive import enough, next_pairs
from benchmark_assets.pairwise.base_sets import JUDGMENT, Ranks, Within
from benchmark_assets.pairwise.bradley_terry import fit
from benchmark_assets.pairwise.scores import anchor_wins, candidate_matches
from resources.warehouse import Warehouse

BATCH = 64
"""Number of pairs in a round: the default number of parallel calls to an endpoint. With smaller rounds, more time would
be spent waiting for the last call of each round. With larger rounds, more calls would turn out to be unnecessary."""

_PAIR = ["passage", "anchor"]
_MATCH = pl.Schema({"passage": pl.String(), "anchor": pl.String(), "won": pl.Float64()})


class AdaptiveInputs(NamedTuple):
    """Inputs of adaptive mode for a model and a base set before the first round.

    `mode` is the precision at which the rounds stop (see `adaptive.enough`); `strengths` are the log-strengths of
    the anchors, fitted without the model; `slices` maps each passage to its direction and difficulty; `stored` has the
    stored matches of outputs that are not stale (columns `passage`, `anchor` and `won`).
    """

    mode: Within | Ranks
    strengths: Mapping[str, float]
    slices: Mapping[str, str]
    stored: pl.DataFrame


def adaptive_inputs(
    warehouse: Warehouse, model: str, base_set: str, mode: Within | Ranks, stale: Sequence[str]
) -> AdaptiveInputs | None:
    """Read the inputs of adaptive mode. None if the anchors have no finite strengths: all pairs must then be judged.
    `stale` are the passages whose stored comparisons are out of date."""
    key = pl.DataFrame({"base_set": [base_set]})
    strengths = _strengths(warehouse, key)
    if strengths is None:
        return None
    items = warehouse.read("base_set_item", key, ["passage", "direction", "difficulty"])
    comparisons = warehouse.read(
        "comparison", key.with_columns(model=pl.lit(model)), ["model", *_PAIR, "winner"]
    ).filter(~pl.col("passage").is_in(stale))
    slices = {passage: f"{direction} {difficulty}" for passage, direction, difficulty in items.iter_rows()}
    return AdaptiveInputs(mode, strengths, slices, _matches(comparisons))


def round_pairs(
    inputs: AdaptiveInputs, judged: pl.DataFrame, open_pairs: Iterable[tuple[str, str]]
) -> set[tuple[str, str]]:
    """The pairs (passage and anchor) of the next round; empty if the judged pairs suffice.

    Parameters
    ----------
    judged
        Pairs judged in this run: columns `passage`, `anchor` and `winner` as in the table `comparison`, one row for
        each order.
    open_pairs
        Pairs (passage and anchor) not yet judged; duplicates are ignored.
    """
    matches = pl.concat([inputs.stored, _matches(judged.with_columns(model=pl.lit("")))])
    rows = [(passage, anchor, inputs.slices[passage]) for passage, anchor in dict.fromkeys(open_pairs)]
    pairs = pl.DataFrame(rows, schema=dict.fromkeys([*_PAIR, "slice"], pl.String), orient="row")
    if enough(matches, pairs, inputs.strengths, inputs.mode):
        return set()
    return set(next_pairs(matches, pairs, inputs.strengths, BATCH).select(_PAIR).rows())


def _matches(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Matches of one model with the columns `passage`, `anchor` and `won`."""
    return candidate_matches(comparisons).select(_MATCH.names()).cast(_MATCH)


def _strengths(warehouse: Warehouse, key: pl.DataFrame) -> dict[str, float] | None:
    """Log-strengths of all anchors of a base set from its frozen judgments; None if a strength is not finite."""
    anchors = warehouse.read("anchor_output", key, ["anchor"])["anchor"].unique().sort().to_list()
    judgments = warehouse.read("anchor_judgment", key, JUDGMENT)
    strengths = fit(anchor_wins(judgments, anchors))
    return None if np.isnan(strengths).any() else dict(zip(anchors, strengths.tolist(), strict=True))
