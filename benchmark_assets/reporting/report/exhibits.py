"""What the report is made of: exhibits, that is a table, perhaps a chart of it, and what both rest on.

Here: the parts, and how columns of a frame become columns that people read, sort and copy. Not here: which exhibits
there are (content), HTML (page).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
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
    """A cell: its text, the value to sort by, and the filter of the passages behind it.

    `value` is None in a cell with words, which is sorted by the words, and in an empty cell, which is sorted last.
    """

    text: str
    value: float | None
    behind: Mapping[str, str] | None = None
    interval: str = ""


class ExhibitColumn(NamedTuple):
    """A heading and its cells. `of_names`: whether the cells are words, such as names, which may have any script."""

    heading: str
    cells: Sequence[Cell]
    of_names: bool = False


class ExhibitSource(NamedTuple):
    """An asset that an exhibit rests on: head of the hash of its content, what it covers, when it last changed."""

    asset: str
    version: str
    covers: str
    changed: datetime


class Exhibit(NamedTuple):
    """A table with its chart, if there is one, and a few `words` on the content."""

    title: str
    words: str
    columns: Sequence[ExhibitColumn]
    chart: Spec | None
    signatures: Sequence[str]
    sources: Sequence[ExhibitSource]


class Part(NamedTuple):
    """Exhibits under one heading: exhibits of one corpus, or exhibits that belong to no corpus."""

    title: str
    exhibits: Sequence[Exhibit]


class Home(NamedTuple):
    """The warehouse from which exhibits are read; `states` are all rows of `materialization`."""

    warehouse: Warehouse
    states: pl.DataFrame

    def read(self, table: str, corpus: str) -> pl.DataFrame:
        """Rows of a table of one corpus."""
        return self.warehouse.read(table, pl.DataFrame({"corpus": [corpus]}))

    def rests(self, corpus: str, *assets: str) -> list[ExhibitSource]:
        """Sources of an exhibit that rests on these assets."""
        return sources(self.states, assets, corpus)


def exhibit(
    title: str, words: str, columns: Sequence[ExhibitColumn], chart: Spec | None, signed: Sequence[str],
    rests: Sequence[ExhibitSource],
) -> Exhibit:  # fmt: skip
    """An exhibit without the columns in which nothing stands."""
    kept = [each for each in columns if any(cell.text not in ("", NONE) for cell in each.cells)]
    return Exhibit(title, words.strip(), kept, chart, signed, rests)


def named(system: str, kind: str) -> pl.Expr:
    """The name of a system, with "(human)" after a translator's name, since a model may have the same name."""
    return pl.col(system) + pl.when(pl.col(kind) == "human").then(pl.lit(" (human)")).otherwise(pl.lit(""))


def columns(
    rows: pl.DataFrame, table: str, *names: str, **behind: Sequence[Mapping[str, str]]
) -> list[ExhibitColumn]:  # fmt: skip
    """Columns of rows, formatted as the catalogue declares; by default all `displayed` columns except the corpus.

    `behind` has the filters of a column by the column's name.
    """
    chosen = names or [name for name in catalogue.declared()[table].displayed if name != "corpus"]
    return [column(rows, table, name, behind.get(name)) for name in chosen]


def column(
    rows: pl.DataFrame, table: str, name: str, behind: Sequence[Mapping[str, str]] | None = None, heading: str = ""
) -> ExhibitColumn:  # fmt: skip
    """A column of rows with the digits and the interval that the catalogue declares; `heading` replaces its heading.

    `behind` is the filter of the passages behind each cell.
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
    shown = f"[{', '.join(interval)}]" if len(interval) == 2 else ""
    return Cell(text(value, declared), value, where if value else None, shown)


def points(table: str, name: str) -> dict[str, pl.Expr]:
    """Expressions for a number and its bounds in a chart, in percent if tables show the number in percent."""
    scale = 100 if catalogue.column(table, name).percent else 1
    return {key: scale * pl.col(f"{name}{end}") for key, end in zip(("value", "low", "high"), ENDS, strict=True)}


def signatures(*frames: pl.DataFrame) -> list[str]:
    """Distinct signatures of the numbers in these rows."""
    found = pl.concat([rows.select("signature") for rows in frames])["signature"]
    return found.unique(maintain_order=True).to_list()


def sources(states: pl.DataFrame, assets: Sequence[str], corpus: str = "") -> list[ExhibitSource]:
    """Versions of the assets that an exhibit rests on; of one by passage, those of the corpus.

    Parameters
    ----------
    states
        Rows of `materialization`.
    """
    found = []
    mine = (pl.col("passage") == "") | pl.col("passage").str.starts_with(f"{corpus}/") if corpus else pl.lit(True)
    for asset in assets:
        rows = states.filter(pl.col("asset") == asset, mine).sort(KEYS)
        if len(rows):
            version = rows["version"][0] if len(rows) == 1 else digest(*rows["version"])
            changed = rows["updated_at"].max()
            assert isinstance(changed, datetime)
            found.append(ExhibitSource(asset, version[:8], _covers(rows), changed))
    return found


def _covers(rows: pl.DataFrame) -> str:
    """Extent of an asset in words: '240 outputs of 5 models on 48 passages'; '' for an asset without partitions."""
    models, passages, tasks = (rows[key].filter(rows[key] != "").n_unique() for key in ("model", "passage", "task"))
    known = [(models, "model"), (passages, "passage"), (tasks, "task")]
    words = [f"{count:,} {name}{'' if count == 1 else 's'}" for count, name in known if count]
    if len(words) < 2:
        return "".join(words)
    return f"{len(rows):,} {'outputs' if passages else 'partitions'} of {' on '.join(words)}"
