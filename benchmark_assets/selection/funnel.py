"""The selection of passages for the benchmark, and counts of the passages that each filter drops.

Not here: the measures of the filters (corpus.filters, corpus.duplicates).
"""

from collections.abc import Iterable, Mapping

import polars as pl

from benchmark_assets.corpus.duplicates import near_duplicates
from benchmark_assets.corpus.filters import REASONS, Filters
from benchmark_assets.selection.candidates import filters
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.tables import cells
from resources.warehouse import Warehouse

DUPLICATE = "duplicate"
UNLISTED = "unlisted"
"""Reason of passages that the list of their corpus lacks."""

LISTED = pl.col("listed").fill_null(value=True)
"""Whether a passage is on the list of its corpus, or its corpus has no list: an expression over `source_text`."""

NEAR_DUPLICATE = schema("near_duplicate")
FUNNEL = schema("funnel")


def duplicates(measured: pl.DataFrame, sources: pl.DataFrame, filters: Mapping[str, Filters]) -> pl.DataFrame:
    """Passages that pass the filters but repeat an earlier passage of their corpus: rows of `near_duplicate`.

    Parameters
    ----------
    measured
        Columns `passage` and `reasons`: the filters that drop the passage.
    sources
        Columns `passage` and `text`. Passages are compared in alphabetical order of their ids.
    """
    passing = sources.join(measured.filter(pl.col("reasons").list.len() == 0), on="passage", how="semi")
    parts = [pl.DataFrame(schema=NEAR_DUPLICATE)]
    for (corpus,), texts in passing.group_by(CORPUS, maintain_order=True):
        threshold = filters[str(corpus)].max_duplicate if str(corpus) in filters else None
        if threshold is not None:
            pairs = near_duplicates(texts.select("passage", "text"), threshold)
            parts.append(pairs.select("passage", pl.lit(corpus).alias("corpus"), "kept", "similarity"))
    return pl.concat(parts).sort("passage")


def selection(
    passages: pl.DataFrame, measured: pl.DataFrame, repeated: pl.DataFrame, sources: pl.DataFrame
) -> pl.DataFrame:
    """Whether each passage is in the benchmark: rows of `selection`.

    Parameters
    ----------
    passages
        Column `passage`.
    measured
        Columns `passage` and `reasons`; passages of corpora without filters have no row.
    repeated
        Near-duplicates: columns `passage` and `kept`, the earlier passage.
    sources
        Columns `passage` and `listed` of `source_text`.
    """
    rows = passages.join(measured.select("passage", "reasons"), on="passage", how="left", maintain_order="left")
    rows = rows.join(repeated.select("passage", "kept"), on="passage", how="left", maintain_order="left")
    unlisted = rows.join(sources.filter(~LISTED), on="passage", how="semi")["passage"].to_list()
    reasons = pl.concat_list(
        _named(UNLISTED, pl.col("passage").is_in(unlisted)),
        pl.col("reasons").fill_null([]),
        _named(DUPLICATE, pl.col("kept").is_not_null()),
    )
    return rows.select("passage", selected=reasons.list.len() == 0, reasons=reasons, kept="kept")


def _named(reason: str, condition: pl.Expr) -> pl.Expr:
    """A list with the reason where the condition holds, else an empty list."""
    return pl.when(condition).then(pl.lit([reason])).otherwise(pl.lit([], pl.List(pl.String)))


def funnel(selected: pl.DataFrame, corpora: Iterable[str]) -> pl.DataFrame:
    """For each corpus, count the passages that each filter drops, and the passages that remain: rows of `funnel`.

    `affected` counts a passage for every filter that drops the passage. `alone` counts the passages that only this
    filter drops; if the filter is loosened, at most these passages are regained. Duplicates are searched for only among
    passages that pass all filters. Passages that are not on the list of their corpus are not counted.

    Parameters
    ----------
    selected
        Rows of `selection`, all corpora.
    corpora
        Corpora that have filters.
    """
    rows: list[tuple[object, ...]] = []
    for corpus in sorted(corpora):
        listed = ~pl.col("reasons").list.contains(UNLISTED)
        reasons = selected.filter(corpus == CORPUS, listed)["reasons"].to_list()
        passing = sum(not set(names) - {DUPLICATE} for names in reasons)
        remaining = sum(not names for names in reasons)
        steps: list[tuple[str, int, int, int | None]] = [("all passages", 0, 0, len(reasons))]
        steps += [
            (reason, sum(reason in names for names in reasons), reasons.count([reason]), None) for reason in REASONS
        ]
        steps += [("any filter", len(reasons) - passing, 0, passing)]
        steps += [(DUPLICATE, passing - remaining, passing - remaining, remaining)]
        rows += [(corpus, number, *step) for number, step in enumerate(steps)]
    return pl.DataFrame(rows, schema=FUNNEL, orient="row")


def funnels(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `funnel` from the stored selection."""
    return funnel(warehouse.read("selection", columns=["passage", "reasons"]), filters(warehouse))


def steps(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `funnel` as text for display."""
    return rows.select(cells("funnel", "corpus", "reason", "affected", "alone", "remaining"))


def reasons(selected: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Selection and filter measures in long form: columns `passage`, `measure` and `value` (text), without nulls.

    Parameters
    ----------
    selected, measured
        Rows of `selection` and of `passage_filter`.
    """
    provenance = ["fingerprint", "run_id", "updated_at"]
    measures = measured.drop("reasons", *provenance)
    rows = selected.drop(provenance).join(measures, on="passage", how="left")
    words = rows.with_columns(pl.col("reasons").list.join(", ")).with_columns(pl.exclude("passage").cast(pl.String))
    return words.unpivot(index="passage", variable_name="measure", value_name="value").drop_nulls()
