"""Texts of references by translator, for prompts and pages. Not here: scoring against them (metrics)."""

import polars as pl

from resources.warehouse import Warehouse


def complete_texts(warehouse: Warehouse, passages: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Texts of the complete references of passages (column `passage`), by passage and translator.

    Passages without a complete reference are left out.
    """
    texts: dict[str, dict[str, str]] = {}
    rows = warehouse.read("reference", passages.select("passage"), ["passage", "translator", "text", "complete"])
    for passage, translator, text in rows.filter("complete").drop("complete").iter_rows():
        texts.setdefault(passage, {})[translator] = text
    return texts
