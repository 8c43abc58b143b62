"""Exhibits of the report: a table, often with a chart of it, and the assets from which both are computed.

Here: the types, and the conversion of a frame's columns to columns of a table that people read, sort and copy. Not
here: which exhibits there are (content), HTML (page).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from benchmark_assets.reporting.report.charts import Spec
from resources import catalogue
from resources.catalogue import Column
from resources.digest import digest
from resources.keys import KEYS
from resources.tables import ENDS, text
from resources.warehouse import Warehouse

NONE = "–"


class Cell(NamedTuple):
    """A cell of a table.

    `value` is the number to sort by. It is None for words, which are sorted by `text`, and for empty cells, which are
    sorted last. `behind` is the filter with which the reader shows the passages that the number counts.
    """

    text: str
    value: float | None
    behind: Mapping[str, str] | None = None
    interval: str = ""


class ExhibitColumn(NamedTuple):
    """A heading and its cells. `of_names` is true if the cells contain words (in any script), not numbers."""

    heading: str
    cells: Sequence[Cell]
    of_names: bool = False


class ExhibitSource(NamedTuple):
    """An asset from which an exhibit is computed.

    `version` is the beginning of the asset's content hash, `covers` describes its extent in words, and `changed` is the
    time of its last change.
    """

    asset: str
    version: str
    covers: str
    changed: datetime


class Exhibit(NamedTuple):
    """A table, an optional chart of it, and an explanation of both (`words`)."""

    title: str
    words: str
    columns: Sequence[ExhibitColumn]
    chart: Spec | None
    signatures: Sequence[str]
    sources: Sequence[ExhibitSource]


class Part(NamedTuple):
    """Exhibits under one heading, such as the name of a corpus, after sentences on what was found.

    `systems` has the reader's filter for each system that tables name, as in `Cell.behind`.
    """

    title: str
    exhibits: Sequence[Exhibit]
    findings: Sequence[str] = ()
    systems: Mapping[str, Mapping[str, str]] = MappingProxyType({})


class Home(NamedTuple):
    """The source of exhibits: the warehouse. `states` are the rows of its table `materialization`."""

    warehouse: Warehouse
    states: pl.DataFrame

    def read(self, table: str, corpus: str) -> pl.DataFrame:
        """Rows of a table that belong to a corpus."""
        return self.warehouse.read(table, pl.DataFrame({"corpus": [corpus]}))

    def exhibit(
        self, corpus: str, title: str, words: str, columns: Sequence[ExhibitColumn],
        signatures: pl.DataFrame | Sequence[str], chart: Spec | None, *assets: str,
    ) -> Exhibit:  # fmt: skip
        """An exhibit computed from `assets`; empty columns are dropped.

        `corpus` is '' for an exhibit that belongs to no corpus. Instead of a list, `signatures` may be a frame with the
        column `signature`.
        """
        if isinstance(signatures, pl.DataFrame):
            signatures = signatures["signature"].unique(maintain_order=True).to_list()
        kept = [column for column in columns if any(cell.text not in ("", NONE) for cell in column.cells)]
        return Exhibit(title, words.strip(), kept, chart, signatures, sources(self.states, assets, corpus))


def named(system: str, kind: str) -> pl.Expr:
    """The name of a system. A translator's name is followed by "(human)", since a model may have the same name."""
    return pl.col(system) + pl.when(pl.col(kind) == "human").then(pl.lit(" (human)")).otherwise(pl.lit(""))


def columns(
    rows: pl.DataFrame, table: str, *names: str, **behind: Sequence[Mapping[str, str]]
) -> list[ExhibitColumn]:  # fmt: skip
    """The columns `names` of a warehouse table (see `column`); by default, its displayed columns except `corpus`.

    `behind` maps a column's name to the reader's filters for its cells, one per row.
    """
    columns_shown = names or [name for name in catalogue.declared()[table].displayed if name != "corpus"]
    return [column(rows, table, name, behind.get(name)) for name in columns_shown]


def of_frame(frame: pl.DataFrame) -> list[ExhibitColumn]:
    """The columns of a frame of words and counts that is not a warehouse table; its names are the headings."""
    return [
        ExhibitColumn(name, [_plain(value) for value in values], of_names=values.dtype == pl.String)
        for name, values in frame.to_dict().items()
    ]


def _plain(value: str | int | None) -> Cell:
    return Cell(f"{value:,}", value) if isinstance(value, int) else Cell(value or NONE, None)


def column(
    rows: pl.DataFrame, table: str, name: str, behind: Sequence[Mapping[str, str]] | None = None, heading: str = ""
) -> ExhibitColumn:  # fmt: skip
    """A column of a warehouse table, with the digits and the interval that the catalogue declares.

    `behind` has one filter for each row; with this filter, the reader shows the passages that the row's number counts.
    `heading` replaces the declared heading.
    """
    declared = catalogue.column(table, name)
    ends = ENDS if declared.interval else ENDS[:1]
    filters: Sequence[Mapping[str, str] | None] = behind or [None] * len(rows)
    values = rows.select(f"{name}{end}" for end in ends).iter_rows()
    cells = [_cell(declared, *value, where=where) for value, where in zip(values, filters, strict=True)]
    return ExhibitColumn(heading or declared.heading, cells, of_names=rows[name].dtype == pl.String)


def _cell(
    declared: Column, value: str | float | None, *ends: float | None, where: Mapping[str, str] | None
) -> Cell:  # fmt: skip
    if value is None:
        return Cell(NONE, None)
    if isinstance(value, str):
        return Cell(text(value, declared) or NONE, None)
    interval = [text(end, declared) for end in ends if end is not None]
    bounds = f"[{', '.join(interval)}]" if len(interval) == 2 else ""
    return Cell(text(value, declared), value, where if value else None, bounds)


def points(table: str, name: str) -> dict[str, pl.Expr]:
    """Expressions `value`, `low` and `high` for a column and its interval.

    They are in percent if the catalogue declares that tables show the column in percent.
    """
    scale = 100 if catalogue.column(table, name).percent else 1
    return {key: scale * pl.col(f"{name}{end}") for key, end in zip(("value", "low", "high"), ENDS, strict=True)}


def plotted(
    rows: pl.DataFrame, table: str, name: str, row: pl.Expr | str, kind: pl.Expr | str, panel: pl.Expr | None = None
) -> pl.DataFrame:  # fmt: skip
    """A column of a table with its interval, as rows for `charts.ranges`. By default, all rows are in one panel."""
    return rows.select(panel=pl.lit("") if panel is None else panel, row=row, kind=kind, **points(table, name))


def closed(plot_rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `plotted`. If a value has no interval, its `low` and `high` are replaced by the value itself."""
    return plot_rows.with_columns(pl.coalesce("low", "value"), pl.coalesce("high", "value"))


def sources(states: pl.DataFrame, assets: Sequence[str], corpus: str = "") -> list[ExhibitSource]:
    """Sources of an exhibit: one for each of its assets that was materialized.

    Parameters
    ----------
    states
        Rows of `materialization`.
    corpus
        Include only partitions of this corpus and partitions that belong to no corpus; '' includes all partitions.
    """
    materialized = []
    in_corpus = (pl.col("passage") == "") | pl.col("passage").str.starts_with(f"{corpus}/") if corpus else pl.lit(True)
    for asset in assets:
        rows = states.filter(pl.col("asset") == asset, in_corpus).sort(KEYS)
        if len(rows):
            version = rows["version"][0] if len(rows) == 1 else digest(*rows["version"])
            changed = rows["updated_at"].max()
            assert isinstance(changed, datetime)
            materialized.append(ExhibitSource(asset, version[:8], _covers(rows), changed))
    return materialized


def _covers(rows: pl.DataFrame) -> str:
    """Extent of an asset in words, such as '240 outputs of 5 models on 48 passages'; '' for an unpartitioned asset."""
    models, passages, tasks = (rows[key].filter(rows[key] != "").n_unique() for key in ("model", "passage", "task"))
    counts = [(models, "model"), (passages, "passage"), (tasks, "task")]
    words = [f"{count:,} {name}{'' if count == 1 else 's'}" for count, name in counts if count]
    if len(words) < 2:
        return "".join(words)
    return f"{len(rows):,} {'outputs' if passages else 'partitions'} of {' on '.join(words)}"
