"""Tables of a package: which tables and columns it contains, and in which formats they are written.

A package contains only columns that the catalogue declares public. Here: public columns by file; a table as CSV and
as Parquet. Not here: texts and rights (export), meanings of columns (dictionary).
"""

import io
import json
from functools import cache
from typing import NamedTuple

import polars as pl

from resources import catalogue
from resources.harmless import FORMULA

CHECKSUMS = "checksums.sha256"

ASSEMBLED = ("scores", "passages", "references", "verification", "outputs", "costs", "withheld")
"""Files that are not written from a single table; export and task_export assemble their rows."""


class PackageSource(NamedTuple):
    """The table, and its public columns, from which a package file is written."""

    table: str
    columns: list[str]


@cache
def files(key: str, without: str = "") -> dict[str, PackageSource]:
    """The source of each package file, by CSV file name, for tables with the column `key` and without the column
    `without`."""
    return {
        f"{table.file}.csv": PackageSource(table.name, public(table.name))
        for table in catalogue.declared().values()
        if table.file and table.file not in ASSEMBLED and key in table.columns and without not in table.columns
    }


def public(table: str) -> list[str]:
    """Public columns of a table, without `corpus`, which would be the same in all rows of a package."""
    return [name for name in catalogue.declared()[table].public if name != "corpus"]


def as_csv(rows: pl.DataFrame) -> bytes:
    """A table as CSV in UTF-8; lists are written as JSON, and an apostrophe precedes a text that a spreadsheet would
    evaluate."""
    lists = [
        pl.Series(name, [None if each is None else json.dumps(each, ensure_ascii=False) for each in column.to_list()],
                  dtype=pl.String)
        for name, column in rows.to_dict().items()
        if isinstance(column.dtype, pl.List)
    ]  # fmt: skip
    texts = pl.col(pl.String).str.replace(FORMULA, "'$1")
    return rows.with_columns(lists).with_columns(texts).write_csv().encode()


def as_parquet(rows: pl.DataFrame) -> bytes:
    """A table as Parquet.

    With the same version of polars, tables with equal rows give equal bytes, even if their chunks differ.
    """
    file = io.BytesIO()
    rows.rechunk().write_parquet(file, compression="zstd", compression_level=9, row_group_size=100_000)
    return file.getvalue()
