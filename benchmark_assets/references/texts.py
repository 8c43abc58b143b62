"""References as texts by translator, for those who are shown them. Not here: scoring against them (metrics)."""

import polars as pl

from resources.warehouse import Warehouse


def complete_texts(warehouse: Warehouse, passages: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Complete references of passages (column `passage`), by passage and translator; one without any is left out."""
    found: dict[str, dict[str, str]] = {}
    rows = warehouse.read("reference", passages.select("passage"), ["passage", "translator", "text", "complete"])
    for passage, translator, text in rows.filter("complete").drop("complete").iter_rows():
        found.setdefault(passage, {})[translator] = text
    return found
