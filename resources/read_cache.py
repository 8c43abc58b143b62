"""Cache of results of reads from a warehouse file.

An update looks at the same few tables many times: a read from DuckDB takes 1 to 5 ms, and a kept result takes almost no
time. While this process has the file open, no other process can write to it. Here: which results are kept, and which of
them a write makes obsolete. Not here: reading, and noticing that another process has written (warehouse).
"""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

CAPACITY = 256 << 20
"""Maximum size of all kept results in bytes. The scores of 100,000 outputs take half of it; the aggregates of an update
read the same scores one after the other."""

MOST_KEYS = 5_000
"""Maximum number of keys of a read. The result of a read with more keys is not kept."""


class Query(NamedTuple):
    """A read. `keys` are the distinct rows of its key frame, and `on` are the columns of this frame; both are None if
    all rows are read."""

    table: str
    on: tuple[str, ...] | None
    keys: frozenset[tuple[object, ...]] | None
    columns: tuple[str, ...] | None
    most: int | None


def query(table: str, keys: pl.DataFrame | None, columns: Sequence[str] | None, most: int | None) -> Query | None:
    """The query of a read; None if the read has so many keys that its result is not kept."""
    chosen = None if columns is None else tuple(columns)
    if keys is None:
        return Query(table, None, None, chosen, most)
    if len(keys) > MOST_KEYS:
        return None
    return Query(table, tuple(keys.columns), frozenset(keys.iter_rows()), chosen, most)


class ReadCache:
    """Results by query, the least recently used first.

    Attributes
    ----------
    state
        The state of the file when this process closed it; None while the file is open.
    """

    def __init__(self) -> None:
        self.state: object = None
        self._results: dict[Query, pl.DataFrame] = {}
        self._size = 0

    def get(self, query: Query | None) -> pl.DataFrame | None:
        """The kept result of a query, or these columns of a kept result with all columns; None if there is none."""
        if query is None:
            return None
        for kept in (query, query._replace(columns=None)):
            if (rows := self._results.pop(kept, None)) is not None:
                self._results[kept] = rows
                return rows[list(query.columns or rows.columns)]  # a caller may add a column to this frame
        return None

    def put(self, query: Query | None, rows: pl.DataFrame) -> None:
        """Keep the result of a query. To free memory, drop the least recently used results."""
        if query is None:
            return
        self._results[query] = rows.clone()
        self._size += int(rows.estimated_size())
        while self._size > CAPACITY:
            self._drop(next(iter(self._results)))

    def forget(self, table: str, partitions: pl.DataFrame | None) -> None:
        """Drop the results that a write to a table may change.

        A result is kept if its keys and the written partitions have a column in common, but no value in this column in
        common.
        """
        written = {} if partitions is None else {name: frozenset(partitions[name]) for name in partitions.columns}
        for other in [kept for kept in self._results if kept.table == table]:
            if not any(_disjoint(other, name, values) for name, values in written.items()):
                self._drop(other)

    def clear(self) -> None:
        """Drop all results."""
        self._results.clear()
        self._size = 0

    def _drop(self, query: Query) -> None:
        self._size -= int(self._results.pop(query).estimated_size())


def _disjoint(query: Query, column: str, values: frozenset[object]) -> bool:
    """Whether the keys of a query have the column, and contain none of `values` in this column."""
    if query.on is None or query.keys is None or column not in query.on:
        return False
    place = query.on.index(column)
    return values.isdisjoint(key[place] for key in query.keys)
