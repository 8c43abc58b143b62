"""Rows put into a warehouse as they are."""

from collections.abc import Mapping

import polars as pl

from resources.warehouse import Replacement, Warehouse


def put(warehouse: Warehouse, table: str, *rows: Mapping[str, object]) -> None:
    schema = warehouse.empty(table).schema
    stamped = [{**dict.fromkeys(schema), "fingerprint": "f", **row} for row in rows]
    warehouse.write([Replacement(table, pl.DataFrame(stamped, schema=schema), None)], run_id="test")


def add(warehouse: Warehouse, table: str, *rows: Mapping[str, object]) -> None:
    """Put rows beside those that a table has."""
    old = warehouse.read(table).drop("run_id", "updated_at")
    put(warehouse, table, *old.iter_rows(named=True), *rows)
