"""A stand-in for the warehouse in which some tables have other rows than are stored.

Here: reading. Not here: what is supposed (forecast, reproduction).
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import polars as pl

from resources import catalogue
from resources.warehouse import Warehouse


class _Supposed:
    """A warehouse in which some tables have other rows than are stored."""

    def __init__(self, warehouse: Warehouse, tables: Mapping[str, pl.DataFrame]) -> None:
        self._warehouse, self._tables = warehouse, tables

    def read(
        self,
        table: str,
        keys: pl.DataFrame | None = None,
        columns: Sequence[str] | None = None,
        most: int | None = None,
    ) -> pl.DataFrame:
        """Read rows, as `Warehouse.read` does."""
        if table not in self._tables:
            return self._warehouse.read(table, keys, columns, most)
        rows = self._tables[table].sort(catalogue.table(table).key)
        rows = rows if keys is None else rows.join(keys, on=keys.columns, how="semi", maintain_order="left")
        return rows.select(columns or rows.columns).head(len(rows) if most is None else most)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._warehouse, name)


def supposing(warehouse: Warehouse, tables: Mapping[str, pl.DataFrame]) -> Warehouse:
    """A warehouse that reads as if `tables` had these rows; nothing is written."""
    return cast(Warehouse, _Supposed(warehouse, tables))
