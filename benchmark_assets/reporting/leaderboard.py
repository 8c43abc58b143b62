"""The leaderboard: models and human translators of a corpus side by side. Not here: aggregates (metrics.summary)."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics import coverage
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.scores import signed
from benchmark_assets.metrics.summary import SUMMARY, summarize
from resources.keys import CORPUS
from resources.tables import cells

HEADLINE = (
    "passages", "units", "coverage", "mean_references", "sim_best", "drift", "drift_adjusted", "outlier_rate", "chrf",
    "bleu", "comet_avg", "length_ratio",
)  # fmt: skip
"""Aggregates on the leaderboard, by column name."""

FURTHER = (
    "failures", "with_envelope", "with_comet", "sim_centroid", "drift_euclidean", "chrf_mean", "bleu_mean",
    "comet_best", "length_offset", "length_error",
    *DIAGNOSES,
)  # fmt: skip
"""Aggregates in the second table below the leaderboard."""


def summaries(scores: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Aggregates of scores: one row for each corpus and each combination of values in the columns `by`.

    The columns are `by`, `corpus`, the columns of `SUMMARY`, `ranked` and `signature`.

    Parameters
    ----------
    scores
        Columns `by`, `passage` (`corpus/passage_id`), `ranked`, and the columns that `summarize` and `signed` take.
    by
        Columns that identify a system, or a system and a slice.

    Raises
    ------
    BadInput
        If the scores to average come from two embedders.
    """
    keys = [*by, "corpus"]
    groups = scores.with_columns(CORPUS).group_by(keys, maintain_order=True)
    rows = [
        {
            **dict(zip(keys, values, strict=True)),
            **summarize(group),
            "ranked": group["ranked"][0],
            "signature": f"{signed(group, ' '.join(map(str, values)))}; {coverage.SIGNATURE}",
        }
        for values, group in groups
    ]
    names = dict.fromkeys(keys, pl.String())
    return pl.DataFrame(rows, schema={**names, **SUMMARY, "ranked": pl.Boolean(), "signature": pl.String()})


def rank(models: pl.DataFrame, humans: pl.DataFrame, removed: Sequence[str] = ()) -> pl.DataFrame:
    """Models and human translators in one table, in the order of `best_first`.

    Models whose `ranked` is true have a rank; ranks start at 1 in each corpus. Human translators are listed among the
    models, but have no rank and do not affect the ranks of the models.

    Parameters
    ----------
    models, humans
        Rows of `summaries` with the column `model` or `translator`.
    removed
        Models that are no longer registered; `removed` is true in their rows.
    """
    systems = pl.concat(
        [
            models.rename({"model": "system"}).with_columns(kind=pl.lit("model")),
            humans.rename({"translator": "system"}).with_columns(kind=pl.lit("human")),
        ],
        how="diagonal",
    )
    systems = best_first(systems)
    place = pl.col("ranked").cast(pl.Int32).cum_sum().over("corpus")
    return systems.with_columns(
        rank=pl.when("ranked").then(place),
        removed=pl.col("kind").eq("model") & pl.col("system").is_in(removed),
    )


def readable(board: pl.DataFrame) -> pl.DataFrame:
    """The leaderboard formatted for display, best first; `board` may lack the columns `rank`, `kind` and `removed`."""
    if "removed" in board.columns:
        board = board.with_columns(
            pl.col("system") + pl.when("removed").then(pl.lit(" (removed)")).otherwise(pl.lit(""))
        )
    names = [name for name in ("corpus", "rank", "kind", "system") if name in board.columns]
    ordered = best_first(board) if "rank" in names else board.sort("corpus", "system")
    return ordered.select(cells("leaderboard", *names, *HEADLINE))


def further(board: pl.DataFrame) -> pl.DataFrame:
    """The second table of the leaderboard, formatted for display: the aggregates in `FURTHER`."""
    return best_first(board).select(cells("leaderboard", "corpus", "kind", "system", *FURTHER))


def best_first(board: pl.DataFrame) -> pl.DataFrame:
    """Rows of the leaderboard in its order: by corpus, then by `sim_best`, highest first and nulls last."""
    descending = [False, True, False, False]
    return board.sort("corpus", "sim_best", "kind", "system", descending=descending, nulls_last=True)
