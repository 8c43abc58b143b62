"""Scores and calibration of the literary corpora as people read them in Dagster's UI. Not here: the numbers."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE
from benchmark_assets.literary.scores import PARITY, WORK, places
from resources.tables import markdown, number, shown
from resources.warehouse import Warehouse


def of_scores(warehouse: Warehouse) -> Mapping[str, str]:
    """Models against the human translators, best first, the works of their chunks, and how often judges prefer what
    stands first."""
    rows = warehouse.read("literary_score").sort("corpus", "aspect", "score", descending=[False, False, True])
    aspect = pl.when(pl.col("aspect") == "").then(pl.lit("all")).otherwise("aspect").alias("aspect")
    table = rows.select(
        "corpus", aspect, "model", "chunks", "works", MACHINE, UNSURE, HUMAN, number("score", 1), parity(),
        "interval_of",
    )  # fmt: skip
    keys = rows.select("model").unique()
    sources = warehouse.read("source_text", rows.select("corpus").unique(), ["corpus", "document"])
    works = sources.group_by("corpus", WORK).agg(documents=pl.col("document").n_unique(), chunks=pl.len())
    first = places(warehouse.read("aspect_vote", keys))
    return {
        "scores": shown(table, rows),
        "works": markdown(works.sort("corpus", "work")),
        "preference for A, %": markdown(first.select("corpus", "model", "votes", number("first", 1, 100))),
    }


def of_calibration(warehouse: Warehouse) -> Mapping[str, str]:
    """Seats and ensembles against decisive verdicts of people."""
    rows = warehouse.read("ensemble_calibration").sort("corpus", "kind", "judge", "aspect")
    percent = [number(name, 1, 100) for name in ("coverage", "accuracy", "expected")]
    weight = pl.col("weight").cast(pl.String).fill_null("")
    names = ["corpus", "kind", "judge", "aspect"]
    table = rows.select(*names, weight, "pairs", "decided", "right_ones", *percent)
    return {"calibration": shown(table, rows)}


def of_adherence(warehouse: Warehouse) -> Mapping[str, str]:
    """Shares of terms that outputs have, beside the human translation's."""
    rows = warehouse.read("adherence_summary").sort("corpus", "adherence", descending=[False, True])
    share = pl.col("agreement").map_elements(lambda value: f"{100 * value:.1f}", return_dtype=pl.String)
    table = rows.select(
        "corpus", "model", "terms", "present", number("adherence", 1, 100),
        (100 * pl.col("human_adherence")).round(1).alias("human"), "agreeing", "conflicting",
        share.fill_null("-").alias("agreement"),
    )  # fmt: skip
    return {"adherence": shown(table, rows)}


def parity() -> pl.Expr:
    """Whether the interval of a score holds parity, or on which side of it lies."""
    above, below = pl.col("score_low") > PARITY, pl.col("score_high") < PARITY
    words = pl.when(above).then(pl.lit("above")).when(below).then(pl.lit("below")).otherwise(pl.lit("in the interval"))
    return words.alias("parity")
