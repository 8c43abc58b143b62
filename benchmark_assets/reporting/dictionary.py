"""The data dictionary of a package: type, unit and meaning of each column, as the catalogue declares them.

Not here: which columns a package has (contents).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from resources import catalogue
from resources.tables import markdown


class Entry(NamedTuple):
    """A column of a package. `table` is the name of its file without the extension; `type` is its DuckDB type."""

    table: str
    column: str
    type: str
    unit: str
    meaning: str


def entries(tables: Mapping[str, pl.DataFrame]) -> list[Entry]:
    """An entry for each column of a package. Tables are in alphabetical order, columns in the order of their table.

    Parameters
    ----------
    tables
        Tables of a package by CSV file name.

    Raises
    ------
    KeyError
        For a column that the catalogue does not declare.
    """
    return [
        _entry(name, column)
        for name, rows in sorted((file.removesuffix(".csv"), rows) for file, rows in tables.items())
        for column in rows.columns
    ]


def title(file: str) -> str:
    """The catalogue's description of a package file. `file` is its name without the extension."""
    return catalogue.packaged(file)[0].meaning


def frame(entries: Sequence[Entry]) -> pl.DataFrame:
    """Entries as a frame with the columns of `Entry`."""
    return pl.DataFrame(entries, schema=dict.fromkeys(Entry._fields, pl.String), orient="row")


def page(entries: Sequence[Entry]) -> str:
    """Entries as Markdown with a section for each table."""
    parts = ["# Data dictionary\n\nTypes are DuckDB's. In CSV, lists are JSON and NULL is an empty field.\n"]
    for (file,), rows in frame(entries).group_by(["table"], maintain_order=True):
        columns = rows.select(pl.format("`{}`", "column").alias("column"), "type", "unit", "meaning")
        parts.append(f"## {file}\n\n{title(str(file))}\n\n{markdown(columns, most=len(rows))}\n")
    return "\n".join(parts)


def files_of(tables: Sequence[str]) -> str:
    """Rows of a Markdown table with the name and description of each CSV file."""
    return "\n".join(f"| `{file}` | {title(file.removesuffix('.csv'))} |" for file in sorted(tables))


def _entry(file: str, name: str) -> Entry:
    column = next(
        table.columns[each]
        for table in catalogue.packaged(file)
        for each in (name, "passage" if name == "passage_id" else name)
        if each in table.columns
    )
    meaning = catalogue.shared()["passage_id"].meaning if name == "passage_id" else column.meaning
    return Entry(file, name, column.type, column.unit, meaning)
