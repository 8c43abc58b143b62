"""The leaderboard: models and human translators of a corpus side by side. Not here: aggregates (metrics.summary)."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics import coverage
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import on
from benchmark_assets.metrics.further import named_in
from benchmark_assets.metrics.scores import signed
from benchmark_assets.metrics.summary import SUMMARY, summarize
from benchmark_assets.reporting.comparability import apart
from resources import catalogue
from resources.keys import CORPUS
from resources.tables import ENDS, cells, plain
from resources.warehouse import Warehouse

COVERAGE = ("passages", "units", "coverage", "mean_references")
"""What the aggregates on the leaderboard cover."""

FURTHER = ("failures", "with_envelope", "with_comet", *(each.name for each in on("further")), *DIAGNOSES)
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
            "embedder": group["embedder"].drop_nulls().first(),
            "signature": f"{signed(group, ' '.join(map(str, values)))}; {coverage.SIGNATURE}",
        }
        for values, group in groups
    ]
    names = dict.fromkeys(keys, pl.String())
    ends = {"ranked": pl.Boolean(), "embedder": pl.String(), "signature": pl.String()}
    return pl.DataFrame(rows, schema={**names, **SUMMARY, **ends})


def rank(
    models: pl.DataFrame, humans: pl.DataFrame, made: pl.DataFrame, removed: Sequence[str] = ()
) -> pl.DataFrame:  # fmt: skip
    """Models and human translators in one table, in the order of `best_first`.

    Models whose `ranked` is true have a rank; ranks start at 1 in each group of comparable rows of a corpus. Human
    translators are listed among the models, but have no rank and do not affect the ranks of the models.

    Parameters
    ----------
    models, humans
        Rows of `summaries` with the column `model` or `translator`.
    made
        How outputs were made, as `comparability.made` returns it.
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
    of_models = made.with_columns(kind=pl.lit("model"))
    systems = systems.join(of_models, on=["corpus", "kind", "system"], how="left", maintain_order="left")
    systems = best_first(apart(systems).drop("benchmark"))
    place = pl.col("ranked").cast(pl.Int32).cum_sum().over("corpus", "apart")
    return systems.with_columns(
        rank=pl.when("ranked").then(place),
        removed=pl.col("kind").eq("model") & pl.col("system").is_in(removed),
    )


def readable(board: pl.DataFrame) -> pl.DataFrame:
    """The leaderboard formatted for display, best first; `board` may lack the columns `rank`, `kind` and `removed`."""
    if "removed" in board.columns:
        board = board.with_columns(system=marked())
    names = [name for name in ("corpus", "rank", "kind", "system") if name in board.columns]
    ordered = best_first(board) if "rank" in names else board.sort("corpus", "system")
    return ordered.select(cells("leaderboard", *names, *COVERAGE, *headline(board)))


def read(warehouse: Warehouse, table: str = "leaderboard", keys: pl.DataFrame | None = None) -> pl.DataFrame:
    """Rows of the leaderboard or of `slice_summary`, with the columns of the metrics that the registry names: each
    metric's name, and the bounds of its interval."""
    rows, summary = warehouse.read(table, keys), warehouse.read("metric_summary", keys)
    on = [name for name in ("corpus", "dimension", "slice", "kind", "system") if name in rows.columns]
    if "dimension" not in on:
        summary = summary.filter(dimension="")
    for metric in named_in(warehouse):
        values = {f"{metric.name}{end}": f"value{end}" for end in ENDS}
        part = summary.filter(metric=metric.name).select(*on, **values)
        rows = rows.join(part, on=on, how="left", maintain_order="left")
    return rows


def headline(rows: pl.DataFrame, board: str = "headline") -> list[str]:
    """Names of the metrics on a board: those of every corpus, and those of the registry that `rows` have."""
    declared = catalogue.table("leaderboard").columns
    named = [name for name in rows.columns if f"{name}_low" in rows.columns and name not in declared]
    return [*(metric.name for metric in on(board)), *named]


def marked() -> pl.Expr:
    """Names of systems, followed by "(removed)" or "(published)" where it applies."""
    mark = pl.when("removed").then(pl.lit(" (removed)")).when(origin="published").then(pl.lit(" (published)"))
    return pl.col("system") + mark.otherwise(pl.lit(""))


def listed(board: pl.DataFrame) -> str:
    """The leaderboards as text: a table for each corpus and group of comparable rows."""
    of_corpora = by_corpus(board).values()
    tables = [f"{heading}\n{plain(readable(rows))}" for own in of_corpora for heading, rows in groups(own).items()]
    return "\n\n".join(table.lstrip() for table in tables)


def titled(board: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of the leaderboard by title, a group of comparable rows of one corpus each."""
    return {
        f"{corpus}: {heading[0].lower()}{heading[1:]}" if heading else f"leaderboard of {corpus}": rows
        for corpus, own in by_corpus(board).items()
        for heading, rows in groups(own).items()
    }


def by_corpus(board: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of the leaderboard by corpus."""
    parts = best_first(board).group_by("corpus", maintain_order=True)
    return {str(corpus): rows for (corpus,), rows in parts}


def groups(board: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of a corpus's leaderboard by heading, a group of comparable rows each; the first heading is ''."""
    parts = best_first(board).group_by("apart", maintain_order=True)
    by_reason = {str(reason): rows for (reason,), rows in parts}
    headings = {reason: f"Not comparable with the rows above: {reason}" if reason else "" for reason in by_reason}
    return {headings[reason]: by_reason[reason] for reason in sorted(by_reason)}


def origins(board: pl.DataFrame) -> pl.DataFrame:
    """How the outputs of the models were made and scored, formatted for display."""
    rows = best_first(board).filter(kind="model")
    return rows.select(cells("leaderboard", "corpus", "system", "origin", "prompt", "settings", "embedder"))


def further(board: pl.DataFrame) -> pl.DataFrame:
    """The second table of the leaderboard, formatted for display: the aggregates in `FURTHER`."""
    return best_first(board).select(cells("leaderboard", "corpus", "kind", "system", *FURTHER))


def best_first(board: pl.DataFrame) -> pl.DataFrame:
    """Rows of the leaderboard in its order: by corpus, rows that are apart last, then by `sim_best`, highest first and
    nulls last."""
    descending = [False, False, True, False, False]
    return board.sort("corpus", "apart", "sim_best", "kind", "system", descending=descending, nulls_last=True)
