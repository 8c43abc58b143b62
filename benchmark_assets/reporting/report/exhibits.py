"""What the report is made of: exhibits, that is a table, perhaps a chart of it, and what both rest on.

Here: the parts, and how columns of a frame become columns that people read, sort and copy. Not here: which exhibits
there are (content), HTML (page).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import polars as pl

from benchmark_assets.reporting.report.charts import Spec
from resources.digest import digest
from resources.keys import KEYS
from resources.warehouse import Warehouse

NONE = "–"


class Cell(NamedTuple):
    """What stands in a cell, by what it is sorted (None: last; words by themselves), the filter of the passages behind
    it."""

    text: str
    value: float | None
    behind: Mapping[str, str] | None = None
    interval: str = ""


class ExhibitColumn(NamedTuple):
    """A heading and its cells; `of_names` where they are words, which tell the row or may have any script."""

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
    """A table with its chart, if there is one, in a few `words` that say what is to be seen."""

    title: str
    words: str
    columns: Sequence[ExhibitColumn]
    chart: Spec | None
    signatures: Sequence[str]
    sources: Sequence[ExhibitSource]


class Part(NamedTuple):
    """Exhibits under one heading: those of a corpus, or those that are of none."""

    title: str
    exhibits: Sequence[Exhibit]


class Home(NamedTuple):
    """Where exhibits are read from; `states` are all rows of `materialization`."""

    warehouse: Warehouse
    states: pl.DataFrame

    def read(self, table: str, corpus: str) -> pl.DataFrame:
        """Rows of a table of one corpus."""
        return self.warehouse.read(table, pl.DataFrame({"corpus": [corpus]}))

    def rests(self, corpus: str, *assets: str) -> list[ExhibitSource]:
        """What an exhibit of these assets rests on."""
        return sources(self.states, assets, corpus)


def exhibit(
    title: str, words: str, columns: Sequence[ExhibitColumn], chart: Spec | None, signed: Sequence[str],
    rests: Sequence[ExhibitSource],
) -> Exhibit:  # fmt: skip
    """An exhibit without the columns in which nothing stands."""
    kept = [each for each in columns if any(cell.text not in ("", NONE) for cell in each.cells)]
    return Exhibit(title, words.strip(), kept, chart, signed, rests)


def named(system: str, kind: str) -> pl.Expr:
    """The name of a system; that of a human translator says so, for a model may have the same."""
    return pl.col(system) + pl.when(pl.col(kind) == "human").then(pl.lit(" (human)")).otherwise(pl.lit(""))


def names(rows: pl.DataFrame, column: str, heading: str, empty: str = NONE) -> ExhibitColumn:
    """Words as they are; `empty` in place of ''."""
    cells = [Cell(NONE if each is None else each or empty, None) for each in rows[column]]
    return ExhibitColumn(heading, cells, of_names=True)


def counts(
    rows: pl.DataFrame, column: str, heading: str, behind: Sequence[Mapping[str, str]] | None = None
) -> ExhibitColumn:
    """Whole numbers, each with the filter of the passages behind it."""
    filters: Sequence[Mapping[str, str] | None] = behind or [None] * len(rows)
    cells = [
        Cell(NONE, None) if each is None else Cell(f"{each:,}", each, where if each else None)
        for each, where in zip(rows[column], filters, strict=True)
    ]
    return ExhibitColumn(heading, cells)


def numbers(
    rows: pl.DataFrame, column: str, heading: str, digits: int, scale: float = 1,
    behind: Sequence[Mapping[str, str]] | None = None,
) -> ExhibitColumn:  # fmt: skip
    """Numbers with a fixed count of digits, with their interval where the frame has the column's `_low` and `_high`,
    each with the filter of the passages behind it."""
    bounds = [f"{column}_low", f"{column}_high"]
    wanted = [column, *bounds] if set(bounds) <= set(rows.columns) else [column]
    filters: Sequence[Mapping[str, str] | None] = behind or [None] * len(rows)
    cells = []
    for (value, *ends), where in zip(rows.select(wanted).iter_rows(), filters, strict=True):
        known = len(ends) == 2 and None not in ends
        interval = f"[{', '.join(f'{end * scale:.{digits}f}' for end in ends)}]" if known else ""
        text = NONE if value is None else f"{value * scale:.{digits}f}"
        cells.append(Cell(text, value, where if value else None, interval if value is not None else ""))
    return ExhibitColumn(heading, cells)


def signatures(*frames: pl.DataFrame) -> list[str]:
    """What the numbers of these rows were made by, each said once."""
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
    """'240 outputs of 5 models on 48 passages'; '' of an asset that has no partitions."""
    models, passages, tasks = (rows[key].filter(rows[key] != "").n_unique() for key in ("model", "passage", "task"))
    known = [(models, "model"), (passages, "passage"), (tasks, "task")]
    words = [f"{count:,} {name}{'' if count == 1 else 's'}" for count, name in known if count]
    if len(words) < 2:
        return "".join(words)
    return f"{len(rows):,} {'outputs' if passages else 'partitions'} of {' on '.join(words)}"
