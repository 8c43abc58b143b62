"""The data dictionary of a package: type and meaning of each column, as the catalogue declares them.

Not here: which columns a package has (contents).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from resources import catalogue
from resources.tables import markdown

OF_TRANSLATOR = "characters "
"""What the columns of `passages` begin with that a translator's name ends."""


class Entry(NamedTuple):
    """A column of a package. `table` is the file's name without ending; `type` is DuckDB's, of the Parquet file."""

    table: str
    column: str
    type: str
    unit: str
    meaning: str


def entries(tables: Mapping[str, pl.DataFrame]) -> list[Entry]:
    """An entry for each column of each table, in the order of names and columns.

    Parameters
    ----------
    tables
        Tables of a package, by the names of their files in CSV.

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
    """Meaning of a package table, as the catalogue declares it."""
    return catalogue.packaged(file)[0].meaning


def frame(found: Sequence[Entry]) -> pl.DataFrame:
    """Entries as a table."""
    return pl.DataFrame(found, schema=dict.fromkeys(Entry._fields, pl.String), orient="row")


def page(found: Sequence[Entry]) -> str:
    """Entries as Markdown, a section a table."""
    parts = ["# Data dictionary\n\nTypes are DuckDB's. In CSV, lists are JSON and NULL is nothing.\n"]
    for (file,), rows in frame(found).group_by(["table"], maintain_order=True):
        own = rows.select(pl.format("`{}`", "column").alias("column"), "type", "unit", "meaning")
        parts.append(f"## {file}\n\n{title(str(file))}\n\n{markdown(own, most=len(own))}\n")
    return "\n".join(parts)


def files_of(tables: Sequence[str]) -> str:
    """Files of a package as rows of a Markdown table: name, and what the file holds."""
    return "\n".join(f"| `{file}` | {title(file.removesuffix('.csv'))} |" for file in sorted(tables))


def _entry(file: str, name: str) -> Entry:
    declared = "translation_characters" if file == "passages" and name.startswith(OF_TRANSLATOR) else name
    column = next(
        table.columns[each]
        for table in catalogue.packaged(file)
        for each in (declared, "passage" if declared == "passage_id" else declared)
        if each in table.columns
    )
    meaning = catalogue.shared()["passage_id"].meaning if name == "passage_id" else column.meaning
    return Entry(file, name, column.type, column.unit, meaning)
