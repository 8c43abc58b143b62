"""Filters applied to passages in the warehouse, and the passages that are selected.

Not here: the filters themselves (corpus.filters, corpus.duplicates), the decision to select a passage (funnel).
"""

import polars as pl

from benchmark_assets.corpus.filters import Filters, filtered
from benchmark_assets.corpus.renderings import renderings
from resources.keys import CORPUS
from resources.warehouse import Warehouse


def filters(warehouse: Warehouse) -> dict[str, Filters]:
    """Thresholds of the filters by corpus, for corpora that have filters."""
    rows = warehouse.read("corpus", columns=["corpus", "filters"]).drop_nulls()
    return {corpus: Filters.model_validate_json(text) for corpus, text in rows.iter_rows()}


def settings(warehouse: Warehouse) -> dict[str, str]:
    """For each corpus with filters, all inputs of its filter measures except the texts, as a string."""
    rows = warehouse.read("corpus", columns=["corpus", "filters", "texts"]).drop_nulls("filters")
    return {corpus: f"{Filters.model_validate_json(text)!r} of {count}" for corpus, text, count in rows.iter_rows()}


def measured(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Rows of `passage_filter` for the passages (column `passage`) of corpora with filters; see corpus.filters."""
    thresholds = filters(warehouse)
    filtered_passages = passages.filter(CORPUS.is_in(list(thresholds)))
    sources = warehouse.read("source_text", filtered_passages, ["passage", "text", "segments"])
    rendered = renderings(warehouse, filtered_passages)
    counts = dict(warehouse.read("corpus", columns=["corpus", "texts"]).iter_rows())
    measures = [
        filtered(texts, rendered.join(texts, on="passage", how="semi"), counts[corpus], thresholds[corpus])
        for (corpus,), texts in sources.group_by(CORPUS, maintain_order=True)
    ]
    return pl.concat([warehouse.empty("passage_filter").drop("fingerprint"), *measures])


def selected(warehouse: Warehouse, partitions: pl.DataFrame) -> pl.DataFrame:
    """Settings for `refresh`: one row for each selected passage of `partitions`.

    The columns are `passage` and `settings`, which is always ''.
    """
    rows = warehouse.read("selection", partitions.select("passage").unique(), ["passage", "selected"])
    return rows.filter("selected").select("passage", settings=pl.lit(""))
