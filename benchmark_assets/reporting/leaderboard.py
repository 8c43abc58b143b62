"""The leaderboard: models and human translators of a corpus side by side. Not here: aggregates (metrics.summary)."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.scores import signed
from benchmark_assets.metrics.summary import SUMMARY, summarize
from resources.keys import CORPUS
from resources.tables import cells

HEADLINE = (
    "passages", "mean_references", "sim_best", "drift", "outlier_rate", "chrf", "bleu", "comet_avg", "length_ratio",
)  # fmt: skip
"""Columns that the leaderboard shows of its aggregates."""

FURTHER = (
    "sim_centroid", "drift_euclidean", "chrf_mean", "bleu_mean", "comet_best", "length_offset", "length_error",
    *DIAGNOSES,
)  # fmt: skip
"""Columns that stand in a table of their own."""


def summaries(scores: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Summary rows, one for each combination of `by` in each corpus; none where nothing was scored yet.

    Parameters
    ----------
    scores
        Columns `by`, `passage` (`corpus/passage_id`), and what `summarize` and `signed` want.
    by
        Names of the columns that tell a system, or a system and a slice.

    Raises
    ------
    BadInput
        Where scores of two embedders would be averaged.
    """
    keys = [*by, "corpus"]
    groups = scores.with_columns(CORPUS).group_by(keys, maintain_order=True)
    rows = [
        {**dict(zip(keys, values, strict=True)), **summarize(own), "signature": signed(own, " ".join(map(str, values)))}
        for values, own in groups
    ]
    return pl.DataFrame(rows, schema={**dict.fromkeys(keys, pl.String()), **SUMMARY, "signature": pl.String()})


def rank(models: pl.DataFrame, humans: pl.DataFrame, removed: Sequence[str] = ()) -> pl.DataFrame:
    """Models and humans in one table, ranked within each corpus by `sim_best`; rows without `sim_best` last.

    Parameters
    ----------
    models, humans
        Summary rows with the columns `model` or `translator`, `corpus` and the aggregates.
    removed
        Models that can no longer be asked; `removed` is true in their rows.
    """
    both = pl.concat(
        [
            models.rename({"model": "system"}).with_columns(kind=pl.lit("model")),
            humans.rename({"translator": "system"}).with_columns(kind=pl.lit("human")),
        ],
        how="diagonal",
    ).sort("corpus", "sim_best", "kind", "system", descending=[False, True, False, False], nulls_last=True)
    return both.with_columns(
        rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("corpus"),
        removed=pl.col("kind").eq("model") & pl.col("system").is_in(removed),
    )


def readable(board: pl.DataFrame) -> pl.DataFrame:
    """The leaderboard formatted for readers. `board` may lack the columns `rank` and `kind`."""
    if "removed" in board.columns:
        board = board.with_columns(
            pl.col("system") + pl.when("removed").then(pl.lit(" (removed)")).otherwise(pl.lit(""))
        )
    names = [name for name in ("corpus", "rank", "kind", "system") if name in board.columns]
    ordered = board.sort("corpus", "rank" if "rank" in names else "system")
    return ordered.select(cells("leaderboard", *names, *HEADLINE))


def further(board: pl.DataFrame) -> pl.DataFrame:
    """Further columns of the leaderboard: means over passages, errors of length, counts of faulty outputs."""
    return board.sort("corpus", "rank").select(cells("leaderboard", "corpus", "kind", "system", *FURTHER))
