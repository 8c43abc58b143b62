"""The leaderboard: models and human translators of a corpus side by side. Not here: aggregates (metrics.summary)."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics.summary import SUMMARY, signature, summarize
from benchmark_assets.partitions import CORPUS
from resources.errors import BadInput


def summaries(scores: pl.DataFrame, system: str) -> pl.DataFrame:
    """Summary rows, one for each system and corpus; none where nothing was scored yet.

    Parameters
    ----------
    scores
        Columns `system`'s, `passage` (`corpus/passage_id`) and those of `drift_score` and `lexical_score`.
    system
        Name of the column that names the system.

    Raises
    ------
    BadInput
        Where scores of two embedders would be averaged.
    """
    groups = scores.with_columns(CORPUS)
    rows = [
        {system: name, "corpus": corpus, **summarize(own), "signature": _signature(own, f"{name} on {corpus}")}
        for (name, corpus), own in groups.group_by([system, "corpus"], maintain_order=True)
    ]
    return pl.DataFrame(rows, schema={system: pl.String(), "corpus": pl.String(), **SUMMARY, "signature": pl.String()})


def _signature(scores: pl.DataFrame, row: str) -> str:
    embedders = scores["embedder"].unique().sort().to_list()
    if len(embedders) > 1:
        remedy = "bring the references and all passages of the model up to date with one embedder"
        raise BadInput("scores", row, f"were made by several embedders ({', '.join(embedders)})", remedy)
    return signature(embedders[0])


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

    def number(name: str, digits: int, scale: float = 1) -> pl.Expr:
        def text(row: dict[str, float | None]) -> str:
            value, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
            if value is None or low is None or high is None:
                return "-"
            return f"{value * scale:.{digits}f} [{low * scale:.{digits}f}, {high * scale:.{digits}f}]"

        return pl.struct(name, f"{name}_low", f"{name}_high").map_elements(text, return_dtype=pl.String)

    if "removed" in board.columns:
        board = board.with_columns(
            pl.col("system") + pl.when("removed").then(pl.lit(" (removed)")).otherwise(pl.lit(""))
        )
    names = [name for name in ("corpus", "rank", "kind", "system", "passages") if name in board.columns]
    return board.sort("corpus", "rank" if "rank" in names else "system").select(
        *names,
        number("sim_best", 3).alias("sim_best"),
        number("drift", 2).alias("drift"),
        number("outlier_rate", 1, 100).alias("outliers %"),
        number("chrf", 1).alias("chrF++"),
        number("bleu", 1).alias("BLEU"),
        number("length_ratio", 2).alias("length ratio"),
    )  # fmt: skip
