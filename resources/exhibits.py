"""Exhibits: the tables and charts that people read. A room declares its exhibits in its module `exhibits`.

Here: what a declaration says, its rows, and its table in Dagster's metadata. The room `reporting` renders the same
declarations for the report and for papers. Not here: labels, digits and units, which the catalogue declares; numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from resources.tables import shown
from resources.warehouse import Warehouse

INTERVAL = "95 % interval"
"""What lines through points of a chart are. Only charts say it, where they draw one."""

WIDE = 560
"""Width in pixels of a chart with a single panel."""

Rows = Callable[[pl.DataFrame], pl.DataFrame]


def every_row(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as they are."""
    return rows


class Ranges(NamedTuple):
    """A chart of values with their intervals: rows one below the other, panels side by side.

    `values` names columns of the table; if it names several, each has a panel, or is a kind if `kind` is ''. `row`,
    `kind` (color and shape) and `panel` are a column or an expression; `panel` may be '': one panel. `unit` says what
    the values are, if the headings of columns do not; charts add whether intervals are drawn. `width` is that of a
    panel in pixels, `columns` the greatest number of panels side by side, `rule` the place of a line that shows
    parity or chance, and `domain` the lowest and the highest value of the axis. `rows` selects and sorts the rows to
    draw. If `in_report` is false, only Dagster's UI has the chart.
    """

    values: str
    row: str | pl.Expr = "model"
    kind: str | pl.Expr = pl.lit("model")
    panel: str | pl.Expr = ""
    unit: str = ""
    width: int = 340
    columns: int = 2
    rule: float | None = None
    domain: tuple[float, float] | None = None
    rows: Rows = every_row
    in_report: bool = True


class Exhibit(NamedTuple):
    """A table that people read: rows of a declared table, under a heading.

    Parameters
    ----------
    table
        Table of the catalogue, which declares headings, digits and units.
    name
        Heading in Dagster's metadata; '' if Dagster does not show the exhibit.
    title, words
        Heading and explanation in the report.
    order
        Columns to sort by, within each corpus; a minus before a name puts the highest values first. Null is last.
    columns
        Columns that the report shows; by default those that the catalogue displays, without the corpus.
    full
        Columns that Dagster shows; by default those that the catalogue displays.
    rows
        Selects rows, in all media.
    brief
        Selects and sorts the rows that the report shows, of `rows`.
    read
        Reads the rows; by default the stored table.
    chart
        Chart of the rows; None for none.
    sources
        Assets from which the exhibit is computed; Dagster shows it with the first one. By default the table's name.
    question
        The question that the chart answers: its title in the report.
    """

    table: str
    name: str = ""
    title: str = ""
    words: str = ""
    order: str = ""
    columns: str = ""
    full: str = ""
    rows: Rows = every_row
    brief: Rows = every_row
    read: Callable[[Warehouse], pl.DataFrame] | None = None
    chart: Ranges | None = None
    sources: str = ""
    question: str = ""

    @property
    def assets(self) -> list[str]:
        """Assets from which the exhibit is computed."""
        return (self.sources or self.table).split()

    def frame(self, warehouse: Warehouse, corpus: str = "") -> pl.DataFrame:
        """Rows of the exhibit in their order, of all corpora or of one."""
        key = pl.DataFrame({"corpus": [corpus]}) if corpus else None
        rows = warehouse.read(self.table, key) if self.read is None else self.read(warehouse)
        if corpus and self.read is not None:
            rows = rows.filter(corpus=corpus)
        return self.rows(ordered(rows, self.order) if self.order else rows)


def ordered(rows: pl.DataFrame, order: str) -> pl.DataFrame:
    """Rows sorted by corpus, if they have one, and by the columns in `order` (see `Exhibit`)."""
    names = [*(["corpus"] if "corpus" in rows.columns else []), *order.split()]
    by, descending = [name.lstrip("-") for name in names], [name.startswith("-") for name in names]
    return rows.sort(by, descending=descending, nulls_last=True, maintain_order=True)


def described(warehouse: Warehouse, exhibits: Sequence[Exhibit], asset: str) -> Mapping[str, str]:
    """Metadata of an asset for Dagster's UI: its exhibits as Markdown, by name."""
    return {
        exhibit.name: shown(exhibit.frame(warehouse), exhibit.table, *exhibit.full.split())
        for exhibit in exhibits if exhibit.name and exhibit.assets[0] == asset
    }  # fmt: skip
