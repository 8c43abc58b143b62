"""The leaderboard of a corpus: its models, and apart from them its human translators.

Here: the rows, their order, and the tables. Not here: aggregates (metrics.summary), by what models may be ordered
(headline).
"""

from collections.abc import Mapping, Sequence

import polars as pl

from benchmark_assets.contamination.judging import COPIES, IS_RELATED
from benchmark_assets.metrics import coverage
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import on
from benchmark_assets.metrics.further import named_in
from benchmark_assets.metrics.scores import signed
from benchmark_assets.metrics.summary import SUMMARY, summarize
from benchmark_assets.reporting.comparability import apart
from benchmark_assets.reporting.headline import RATE, ordered, told_apart, words
from resources import catalogue
from resources.keys import CORPUS
from resources.tables import ENDS, cells, plain, with_signatures
from resources.warehouse import Warehouse

COVERAGE = ("passages", "units", "coverage", "failures", "mean_references")
"""What the aggregates on the leaderboard cover."""

FURTHER = ("with_envelope", "with_comet", *(each.name for each in on("further")), *DIAGNOSES)
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
    models: pl.DataFrame, humans: pl.DataFrame, made: pl.DataFrame, errors: pl.DataFrame,
    certified: Mapping[str, str], removed: Sequence[str] = (),
) -> pl.DataFrame:  # fmt: skip
    """Models and human translators in one table, in the order of `in_order`.

    Models whose `ranked` is true have a rank, if something orders them (see `headline.ordered`); ranks start at 1 in
    each group of comparable rows of a corpus. Human translators have no rank and do not affect the ranks of the models.

    Parameters
    ----------
    models, humans
        Rows of `summaries` with the column `model` or `translator`.
    made
        How outputs were made, as `comparability.made` returns it.
    errors
        Error rates of models from people's labels, as `headline.errors` returns them.
    certified
        For each corpus with a measure that may order systems, the name of the measure.
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
    of_people = errors.with_columns(kind=pl.lit("model"))
    systems = apart(systems).drop("benchmark").join(of_people, on=["corpus", "kind", "system"], how="left")
    place = pl.when("ranked").then("good").rank("min", descending=True).over("corpus", "apart")
    return in_order(ordered(systems, certified).with_columns(
        rank=place.cast(pl.Int32), removed=pl.col("kind").eq("model") & pl.col("system").is_in(removed)
    ).drop("good"))  # fmt: skip


def readable(board: pl.DataFrame) -> pl.DataFrame:
    """The leaderboard formatted for display, in order; `board` may lack the columns `rank`, `kind` and `removed`. The
    rank is shown only if a system has one."""
    if "removed" in board.columns:
        board = board.with_columns(system=marked())
    names = [name for name in ("corpus", "rank", "kind", "system") if name in board.columns]
    rows = in_order(board) if "rank" in names else board.sort("corpus", "system")
    shown = [name for name in names if name != "rank" or rows["rank"].count()]
    copies = ["copies"] if "copies" in rows.columns and rows["copies"].count() else []
    return rows.select(*cells("leaderboard", *shown, *COVERAGE, *headline(board)), *copies)


def read(warehouse: Warehouse, table: str = "leaderboard", keys: pl.DataFrame | None = None) -> pl.DataFrame:
    """Rows of the leaderboard or of `slice_summary`, with the columns of the metrics that the registry names: each
    metric's name, and the bounds of its interval. Rows of the leaderboard have the column `copies` (see `known`)."""
    rows, summary = warehouse.read(table, keys), warehouse.read("metric_summary", keys)
    on = [name for name in ("corpus", "dimension", "slice", "kind", "system") if name in rows.columns]
    if "dimension" not in on:
        summary = summary.filter(dimension="")
    for metric in named_in(warehouse):
        values = {f"{metric.name}{end}": f"value{end}" for end in ENDS}
        part = summary.filter(metric=metric.name).select(*on, **values)
        rows = rows.join(part, on=on, how="left", maintain_order="left")
    return rows if "dimension" in on else rows.join(known(warehouse, keys), on=on, how="left", maintain_order="left")


def known(warehouse: Warehouse, keys: pl.DataFrame | None = None) -> pl.DataFrame:
    """References that models copy, or are close to throughout: `corpus`, `kind`, `system` and `copies`, such as
    "sujato (14 %)" or "ann (close throughout)", the closest first.

    Other models have no row. The percentage is the share of passages that repeat the reference.
    """
    corpora = None if keys is None else keys.select("corpus").unique()
    rows = warehouse.read("contamination", corpora, ["corpus", "model", "translator", "verdict", "share"])
    share = (
        pl.when(verdict=IS_RELATED)
        .then(pl.lit("close throughout"))
        .when(pl.col("share") < 0.01)
        .then(pl.lit("below 1 %"))
        .otherwise(pl.format("{} %", (100 * pl.col("share")).round().cast(pl.Int32)))
    )
    order = [pl.col("verdict") == IS_RELATED, "share", "translator"]
    rows = rows.filter(pl.col("verdict").is_in([COPIES, IS_RELATED])).sort(order, descending=[True, True, False])
    named = rows.with_columns(copies=pl.format("{} ({})", "translator", share))
    lists = named.group_by("corpus", "model", maintain_order=True).agg(pl.col("copies").str.join(", "))
    return lists.select("corpus", kind=pl.lit("model"), system="model", copies="copies")


def headline(rows: pl.DataFrame, board: str = "headline") -> list[str]:
    """Names of the measures on a board: people's error rate if `rows` have it, the metrics of every corpus, and those
    of the registry that `rows` have."""
    declared = catalogue.table("leaderboard").columns
    named = [name for name in rows.columns if f"{name}_low" in rows.columns and name not in declared]
    rate = [RATE] if RATE in rows.columns and rows[RATE].count() else []
    return [*rate, *(metric.name for metric in on(board)), *named]


def marked() -> pl.Expr:
    """Names of systems, followed by "(removed)" or "(published)" where it applies."""
    mark = pl.when("removed").then(pl.lit(" (removed)")).when(origin="published").then(pl.lit(" (published)"))
    return pl.col("system") + mark.otherwise(pl.lit(""))


def listed(board: pl.DataFrame) -> str:
    """The leaderboards as text: a table for each corpus and group of rows, under what orders it."""
    of_corpora = by_corpus(board).values()
    tables = [f"{heading}\n{plain(readable(rows))}" for own in of_corpora for heading, rows in groups(own).items()]
    return "\n\n".join(tables)


def titled(board: pl.DataFrame) -> dict[str, str]:
    """The leaderboards as Markdown with signatures, by title: a group of rows of one corpus each."""
    tables = {}
    for corpus, own in by_corpus(board).items():
        for heading, rows in groups(own).items():
            kind = "translators" if rows["kind"][0] == "human" else "leaderboard"
            why = f" (apart: {rows['apart'][0]})" if rows["apart"][0] else ""
            shown = with_signatures(readable(rows).drop("corpus"), rows)
            tables[f"{kind} of {corpus}{why}"] = f"{heading}\n\n{shown}"
    return tables


def by_corpus(board: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of the leaderboard by corpus."""
    parts = in_order(board).group_by("corpus", maintain_order=True)
    return {str(corpus): rows for (corpus,), rows in parts}


TRANSLATORS = "Translators: distances from each other, against one reference fewer than models have."


def groups(board: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of a corpus's leaderboard by heading: what orders the models, other models with the reason why they are not
    comparable, and the translators, because no distance compares people with models."""
    parts = in_order(board).group_by("kind", "apart", "ordered_by", maintain_order=True)
    found = {}
    for (kind, why, by), rows in parts:
        reason = f"Not comparable with the other rows: {why}." if why else ""
        heading = TRANSLATORS if kind == "human" else words(str(by))
        told = told_apart(rows) if by == RATE else ""
        found[" ".join(filter(None, [reason, heading, told]))] = rows
    return found


def origins(board: pl.DataFrame) -> pl.DataFrame:
    """How the outputs of the models were made and scored, formatted for display."""
    rows = in_order(board).filter(kind="model")
    return rows.select(cells("leaderboard", "corpus", "system", "origin", "prompt", "settings", "embedder"))


def further(board: pl.DataFrame) -> pl.DataFrame:
    """The second table of the leaderboard, formatted for display: the aggregates in `FURTHER`."""
    return in_order(board).select(cells("leaderboard", "corpus", "kind", "system", *FURTHER))


def in_order(board: pl.DataFrame) -> pl.DataFrame:
    """Rows of the leaderboard in its order: by corpus, models first, what is apart last, by rank, by name."""
    descending = [False, True, False, False, False]
    return board.sort("corpus", "kind", "apart", "rank", "system", descending=descending, nulls_last=True)
