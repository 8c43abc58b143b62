"""Tables of a package: the tables and columns it holds, and the formats they are written in.

Here: public columns of the catalogue by file; a table as CSV and as Parquet. Not here: texts and rights (export), what
columns mean (dictionary). A package holds the columns that the catalogue declares public, and nothing else.
"""

import io
import json
from functools import cache
from typing import NamedTuple

import polars as pl

from resources import catalogue

CHECKSUMS = "checksums.sha256"

ASSEMBLED = ("scores", "passages", "verification", "outputs", "costs")
"""Files that are assembled from several tables, or from parts of one (export, task_export)."""


class PackageSource(NamedTuple):
    """Source of a package file: a table and its public columns."""

    table: str
    columns: list[str]


@cache
def files(key: str, without: str = "") -> dict[str, PackageSource]:
    """Sources by CSV file name, of the tables that have the column `key` and lack the column `without`."""
    return {
        f"{table.file}.csv": PackageSource(table.name, public(table.name))
        for table in catalogue.tables().values()
        if table.file and table.file not in ASSEMBLED and key in table.columns and without not in table.columns
    }


def public(table: str) -> list[str]:
    """Public columns of a table except the corpus: a package has one corpus, or none."""
    return [name for name in catalogue.table(table).public if name != "corpus"]


def as_csv(rows: pl.DataFrame) -> bytes:
    """A table as CSV, its lists as JSON."""
    lists = [
        pl.Series(name, [None if each is None else json.dumps(each, ensure_ascii=False) for each in column.to_list()],
                  dtype=pl.String)
        for name, column in rows.to_dict().items()
        if isinstance(column.dtype, pl.List)
    ]  # fmt: skip
    return rows.with_columns(lists).write_csv().encode()


def as_parquet(rows: pl.DataFrame) -> bytes:
    """A table as Parquet: with the same version of polars, the same rows give the same bytes.

    The chunks of the frame make no difference: it is written as one chunk, in row groups of one size.
    """
    file = io.BytesIO()
    rows.rechunk().write_parquet(file, compression="zstd", compression_level=9, row_group_size=100_000)
    return file.getvalue()
