"""Displays of exhibits in the report: a table, often with a chart of it, and the assets from which both are computed.

Here: the types, and the conversion of an exhibit's rows to a table that people read, sort and copy, and to a chart. Not
here: which exhibits there are (the rooms' modules `exhibits`, content), HTML (page), how a chart looks (charts).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from benchmark_assets.reporting.report import charts
from resources import catalogue
from resources.catalogue import Column
from resources.digest import digest
from resources.exhibits import Exhibit
from resources.keys import KEYS
from resources.tables import ENDS, cell, text
from resources.warehouse import Warehouse

NONE = "–"
NOTHING = ("", NONE, "none")
"""Cells that say nothing: a column of these alone is left out."""

Behind = Mapping[str, Sequence[Mapping[str, str]]]
"""For each column that has any: the reader's filters for its cells, one per row."""


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


class Display(NamedTuple):
    """A table, an optional chart of it under the `question` that it answers, and an explanation of both (`words`)."""

    title: str
    words: str
    columns: Sequence[ExhibitColumn]
    chart: charts.Spec | None
    signatures: Sequence[str]
    sources: Sequence[ExhibitSource]
    question: str = ""


class Part(NamedTuple):
    """Exhibits under one heading, such as the name of a corpus, after sentences on what was found and what cannot be
    said.

    `kind` is 'corpus', 'model' or '' for the rest. `systems` has the reader's filter for each system that tables name,
    as in `Cell.behind`.
    """

    title: str
    exhibits: Sequence[Display]
    findings: Sequence[str] = ()
    unsaid: Sequence[str] = ()
    kind: str = ""
    systems: Mapping[str, Mapping[str, str]] = MappingProxyType({})


class Home(NamedTuple):
    """The source of displays: the warehouse. `states` are the rows of its table `materialization`.

    If `every_chart` is true, displays have also the charts that the report omits.
    """

    warehouse: Warehouse
    states: pl.DataFrame
    every_chart: bool = False

    def read(self, table: str, corpus: str) -> pl.DataFrame:
        """Rows of a table that belong to a corpus."""
        return self.warehouse.read(table, pl.DataFrame({"corpus": [corpus]}))

    def rows(self, exhibit: Exhibit, corpus: str = "") -> pl.DataFrame:
        """The rows of an exhibit that the report shows, of one corpus or of all."""
        return exhibit.brief(exhibit.frame(self.warehouse, corpus))

    def show(
        self, exhibit: Exhibit, corpus: str = "", rows: pl.DataFrame | None = None, *, title: str = "", words: str = "",
        table: Sequence[ExhibitColumn] | None = None, chart: charts.Spec | None = None,
        signatures: pl.DataFrame | Sequence[str] | None = None, behind: Behind = MappingProxyType({}),
    ) -> list[Display]:  # fmt: skip
        """A list with the display of an exhibit; an empty list if it has no rows.

        By default, rows, title, words and chart are those that the exhibit declares, and the table has its columns and
        the filters in `behind` (see `columns`). The default signatures are those of the rows.
        """
        rows = self.rows(exhibit, corpus) if rows is None else rows
        if rows.is_empty():
            return []
        if table is None:
            table = columns(rows, exhibit.table, *exhibit.columns.split(), behind=behind)
        if chart is None and exhibit.chart and (exhibit.chart.in_report or self.every_chart):
            chart = drawn(exhibit, rows)
        if signatures is None:
            signatures = rows if "signature" in rows.columns else []
        title, words = title or exhibit.title, words or exhibit.words
        shown = self.display(corpus, title, words, table, signatures, chart, *exhibit.assets)
        return [shown._replace(question=exhibit.question)]

    def display(
        self, corpus: str, title: str, words: str, columns: Sequence[ExhibitColumn],
        signatures: pl.DataFrame | Sequence[str], chart: charts.Spec | None, *assets: str,
    ) -> Display:  # fmt: skip
        """A display computed from `assets`; empty columns are dropped.

        `corpus` is '' for a display that belongs to no corpus. Instead of a list, `signatures` may be a frame with the
        column `signature`.
        """
        if isinstance(signatures, pl.DataFrame):
            signatures = signatures["signature"].unique(maintain_order=True).to_list()
        kept = [column for column in columns if any(cell.text not in NOTHING for cell in column.cells)]
        return Display(title, words.strip(), kept, chart, signatures, sources(self.states, assets, corpus))


def columns(rows: pl.DataFrame, table: str, *names: str, behind: Behind = MappingProxyType({})) -> list[ExhibitColumn]:
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


def numbers(heading: str, values: pl.Series, digits: str, ends: pl.DataFrame | None = None) -> ExhibitColumn:
    """A column of numbers that are in no warehouse table, formatted by `digits`, such as `{:.1f}`.

    `ends` has the lower and the upper bound of each number.
    """
    bounds = [()] * len(values) if ends is None else ends.rows()
    cells = [
        Cell(NONE, None) if value is None else Cell(
            digits.format(value), value,
            interval="" if None in pair or not pair else f"[{', '.join(map(digits.format, pair))}]",
        )
        for value, pair in zip(values, bounds, strict=True)
    ]  # fmt: skip
    return ExhibitColumn(heading, cells)


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


def spread(
    first: pl.DataFrame, rows: pl.DataFrame, keys: Sequence[str], table: str, by: str, value: str,
    headings: Mapping[str, str],
) -> list[ExhibitColumn]:  # fmt: skip
    """A column for each value of the column `by` in `headings`: the column `value` of `rows`, joined to `first`."""
    of_value = {each: rows.filter(pl.col(by) == each) for each in headings}
    joined = {each: first.select(keys).join(part, on=keys, how="left", maintain_order="left")
              for each, part in of_value.items()}  # fmt: skip
    return [column(part, table, value, heading=headings[each]) for each, part in joined.items()]


def plotted(
    rows: pl.DataFrame, table: str, name: str, row: pl.Expr | str, kind: pl.Expr | str, panel: pl.Expr | None = None
) -> pl.DataFrame:  # fmt: skip
    """A column of a table with its interval, as rows for `charts.ranges`; in percent if the catalogue shows it so.

    By default, all rows are in one panel. Without an interval, `low` and `high` are the value itself.
    """
    scale = 100 if catalogue.column(table, name).percent else 1
    names = [f"{name}{end}" if catalogue.column(table, name).interval else name for end in ENDS]
    value, low, high = (scale * pl.col(each) for each in names)
    ends = {"value": value, "low": pl.coalesce(low, value), "high": pl.coalesce(high, value)}
    return rows.select(panel=pl.lit("") if panel is None else panel, row=row, kind=kind, **ends)


def drawn(exhibit: Exhibit, rows: pl.DataFrame) -> charts.Spec | None:
    """The chart that an exhibit declares; None if the rows have no values.

    If it shows several columns, their headings are the panels, or the kinds if there are other panels.
    """
    chart = exhibit.chart
    if chart is None:
        return None
    rows, names, parts = chart.rows(rows), chart.values.split(), []
    row, kind, panel = (_words_of(exhibit.table, each) for each in (chart.row, chart.kind, chart.panel))
    kinds = isinstance(chart.kind, str) and not chart.kind
    for name in names:
        heading = pl.lit(catalogue.column(exhibit.table, name).heading)
        of_kind, of_panel = (heading, panel) if kinds else (kind, panel if len(names) == 1 else heading)
        parts.append(plotted(rows, exhibit.table, name, row, of_kind, of_panel))
    plot_rows = pl.concat(parts)
    if not plot_rows["value"].count():
        return None
    return charts.ranges(plot_rows, chart)


def _words_of(table: str, name: str | pl.Expr) -> pl.Expr:
    """An expression, or a column formatted as the catalogue declares; '' stands for itself."""
    if isinstance(name, pl.Expr):
        return name
    return cell(catalogue.column(table, name)) if name else pl.lit("")


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
