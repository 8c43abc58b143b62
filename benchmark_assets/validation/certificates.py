"""What a metric is worth, in words that boards and readers print beside it: measured where, and what follows.

`measured.csv` has the figures of the gold sets that the project was developed on, as `variorum validate --to` wrote
them (docs/validation.md). Here: the rules of certificates. Not here: measuring (rows).
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.validation.scoring import short
from resources.catalogue import schema
from resources.tables import ENDS
from resources.warehouse import Warehouse

MEASURED = Path(__file__).with_name("measured.csv")

LEAST_ACCURACY = 0.6
"""Lower bound of the share of pairs of systems in people's order that ranks need."""

LEAST_AUC = 0.55
"""Lower bound of the share of pairs of outputs of one passage in people's order that marks need."""

LEAST_SETS = 2
"""Gold sets on which a bound must hold."""

LEAST_SYSTEMS, LEAST_PAIRS = 5, 100
"""Systems, and pairs of outputs of one passage that people put in an order, without which a set certifies nothing."""

DISTANCE = "distance, not quality"
ELSEWHERE = "measured elsewhere"

WRITTEN = schema("validation", "origin", "note", "signature").names()
"""Columns of `measured.csv`."""

_RANKS, _MARKS = "system_accuracy", "auc_within"


class Certificate(NamedTuple):
    """What a metric may be used for.

    `ranks`: systems may be ordered by it. `marks`: outputs of a passage may be marked by it. `worth`: a sentence for
    boards, with the sets on which the metric was measured and the range of the figures over them.
    """

    ranks: bool
    marks: bool
    worth: str


@cache
def measured() -> pl.DataFrame:
    """The figures of `measured.csv`, as rows of `validation` without note and signature."""
    types = {name: kind for name, kind in schema("validation").items() if name in WRITTEN}
    rows = pl.read_csv(MEASURED, schema_overrides=types)
    return rows.with_columns(pl.col(pl.String).fill_null(""), origin=pl.lit("gold"))


def rows_for(warehouse: Warehouse, corpus: str) -> pl.DataFrame:
    """The rows of `validation` that concern a corpus: gold sets, the corpus's own labels, its planted errors."""
    rows = warehouse.read("validation")
    return rows.filter((pl.col("origin") == "gold") | (pl.col("gold_set") == corpus))


def certificate(metric: str, embedder: str = "", rows: pl.DataFrame | None = None) -> Certificate:
    """Certify a metric.

    Parameters
    ----------
    metric
        Name of the metric.
    embedder
        Signature or name of the embedder that computed its vectors; it is ignored for metrics without one.
    rows
        Rows of `validation` that concern a corpus (`rows_for`), which count beside `measured`, and in its place for a
        gold set of the same name. Without them, only `measured` counts.

    Notes
    -----
    `ranks` needs a pairwise accuracy of systems with a lower bound of at least `LEAST_ACCURACY` on `LEAST_SETS` gold
    sets. `marks` needs an AUC within passages with a lower bound of at least `LEAST_AUC` on as many, or on labels by
    the corpus's own people. A set counts with at least `LEAST_SYSTEMS` or `LEAST_PAIRS`, and once, whatever its names;
    a set whose upper bound is below the limit forbids the use. Planted errors are described, and certify nothing: no
    model wrote them.
    """
    known = measured() if rows is None else pl.concat(
        [rows.select(measured().columns), measured().join(rows.filter(origin="gold"), on="gold_set", how="anti")]
    )  # fmt: skip
    found = known.filter(pl.col("metric") == metric, pl.col("embedder").is_in(["", short(embedder)]))
    gold, own, planted = (found.filter(origin=origin) for origin in ("gold", "people", "planted"))
    ranks = _holds(gold, _RANKS, LEAST_ACCURACY, LEAST_SYSTEMS) >= LEAST_SETS
    marks = _holds(gold, _MARKS, LEAST_AUC, LEAST_PAIRS) >= LEAST_SETS
    marks = marks or _holds(own, _MARKS, LEAST_AUC, LEAST_PAIRS) > 0
    uses = ["orders systems"] * ranks + ["marks passages"] * marks
    parts = [
        " and ".join(uses) or DISTANCE,
        *_words(own.filter(kind=""), _MARKS, "labels by people of this corpus"),
        *([] if len(own) else [ELSEWHERE] if len(gold) else ["never measured beside people's ratings"]),
        *_words(gold.filter(kind=""), _MARKS, ""),
        *_words(gold.filter(kind=""), _RANKS, ""),
        *_words(planted, _MARKS, "errors planted in this corpus"),
    ]
    return Certificate(ranks, marks, "; ".join(parts))


def _holds(rows: pl.DataFrame, figure: str, least: float, enough: int) -> int:
    """On how many sets of at least `enough` pairs or systems a figure's lower bound is at least `least`; 0 if its upper
    bound is lower on a set. The same ratings under two names are one set, which has the same figures."""
    found = rows.filter(pl.col("figure") == figure, pl.col("kind") == "", pl.col("n") >= enough)
    if (found["value_high"] < least).any():
        return 0
    return found.filter(pl.col("value_low") >= least).select("n", "value", "value_low", "value_high").n_unique()


def _words(rows: pl.DataFrame, figure: str, where: str) -> list[str]:
    """The range of a figure over sets or kinds, with the lowest and highest bound; nothing without a row."""
    found = rows.filter(figure=figure)
    if found.is_empty():
        return []
    what = {_MARKS: "finds the output with a major error in", _RANKS: "orders pairs of systems as people do in"}
    if where.startswith("errors"):
        what[_MARKS] = "finds the damaged text in"
    low, high = (100 * float(edge) for edge in (found["value"].min(), found["value"].max()))  # type: ignore[arg-type]
    span = f"{low:.0f} to {high:.0f} %" if round(low) != round(high) else f"{low:.0f} %"
    bounds = found.select(*(f"value{end}" for end in ENDS[1:])).drop_nulls()
    inside = ""
    if len(bounds):
        inside = " [{:.0f}, {:.0f}]".format(
            *(100 * bounds.to_numpy().min(axis=0)[:1]), *(100 * bounds.to_numpy().max(axis=0)[1:])
        )
    sets = where or ", ".join(sorted(found["gold_set"].unique()))
    count = "" if figure == _RANKS else f"{found.filter(kind='')['n'].sum():,} "
    return [f"{what[figure]} {span} of {count}pairs{inside} ({sets})"]
