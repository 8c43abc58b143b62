"""The leaderboard: models and human translators of a corpus side by side. Not here: aggregates (metrics.summary)."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.scores import signed
from benchmark_assets.metrics.summary import SUMMARY, summarize
from resources.keys import CORPUS
from resources.tables import number


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
    """Rows of both in one table, ranked within each corpus by `sim_best`, best first; those without it last.

    Parameters
    ----------
    models, humans
        Summary rows with the columns `model` or `translator`, `corpus` and the aggregates.
    removed
        Models that can be asked no more; their rows are marked.
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
    """The leaderboard as people read it: rounded, intervals beside their numbers, '-' for what does not exist."""
    if "removed" in board.columns:
        board = board.with_columns(
            pl.col("system") + pl.when("removed").then(pl.lit(" (removed)")).otherwise(pl.lit(""))
        )
    names = [name for name in ("corpus", "rank", "kind", "system", "passages") if name in board.columns]
    return board.sort("corpus", "rank" if "rank" in names else "system").select(
        *names,
        pl.col("mean_references").round(1).cast(pl.String).fill_null("-").alias("references"),
        number("sim_best", 3),
        number("drift", 2),
        number("outlier_rate", 1, 100).alias("outliers %"),
        number("chrf", 1).alias("chrF++"),
        number("bleu", 1).alias("BLEU"),
        number("comet_avg", 3).alias("COMET"),
        number("length_ratio", 2).alias("length ratio"),
    )  # fmt: skip


def further(board: pl.DataFrame) -> pl.DataFrame:
    """What the leaderboard has besides: means over passages, errors of length, counts of what is wrong with outputs."""
    return board.sort("corpus", "rank").select(
        "corpus", "kind", "system",
        number("sim_centroid", 3),
        number("drift_euclidean", 2).alias("Euclidean drift"),
        number("chrf_mean", 1).alias("mean chrF++"),
        number("bleu_mean", 1).alias("mean BLEU"),
        number("comet_best", 3).alias("best COMET"),
        number("length_offset", 3).alias("|mean length - 1|"),
        number("length_error", 3).alias("mean |length - 1|"),
        *(pl.col(name).cast(pl.String).fill_null("-").alias(name.replace("_", " ")) for name in DIAGNOSES),
    )  # fmt: skip
