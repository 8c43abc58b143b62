"""Rows of any table that its declaration allows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from resources import catalogue
from resources.catalogue import Column

WORDS: Mapping[str, Any] = {"VARCHAR": "word", "BOOLEAN": False, "TIMESTAMP": datetime(2026, 1, 1)}


def value(column: Column) -> Any:
    """A value that a column may have."""
    kind = column.type.removesuffix("[]")
    if column.values:
        one: Any = column.values[0]
    elif column.numeric:
        least, most = column.least, column.most
        one = max(least or 0.0, 0.0) if most is None or most >= 0 else most
        one = one if catalogue.POLARS[kind].is_float() else int(one)
    else:
        one = WORDS[kind]
    return [one] if column.type.endswith("[]") else one


def outside(column: Column) -> Any:
    """A number that a column may not have: beyond a bound, or not finite where there is none."""
    if column.least is not None:
        one: Any = column.least - 1
    elif column.most is not None:
        one = column.most + 1
    else:
        one = float("nan")
    if not catalogue.POLARS[column.type.removesuffix("[]")].is_float():
        one = int(one)
    return [one] if column.type.endswith("[]") else one


def rows_of(table: str, count: int = 1, **values: Sequence[Any]) -> pl.DataFrame:
    """Rows of a table, the columns named as given; each row has a key of its own."""
    declared = catalogue.table(table)
    columns = {name: [value(column)] * count for name, column in declared.columns.items()}
    named = next((name for name in declared.key if not declared.columns[name].values), None)
    if named:
        text = declared.columns[named].polars == pl.String
        columns[named] = [f"word{number}" if text else number for number in range(count)]
    schema = {name: column.polars for name, column in declared.columns.items()}
    return pl.DataFrame({**columns, **values}, schema=schema, strict=False)
