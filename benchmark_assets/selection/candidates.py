"""Passages from the warehouse in the form that the filters take. Not here: the filters themselves
(corpus.filters, corpus.duplicates), their consequences (funnel)."""

import polars as pl

from benchmark_assets.corpus.filters import Filters, filtered
from benchmark_assets.corpus.renderings import renderings
from resources.keys import CORPUS
from resources.warehouse import Warehouse


def filters(warehouse: Warehouse) -> dict[str, Filters]:
    """Thresholds of the corpora that have filters."""
    rows = warehouse.read("corpus", columns=["corpus", "filters"]).drop_nulls()
    return {corpus: Filters.model_validate_json(text) for corpus, text in rows.iter_rows()}


def settings(warehouse: Warehouse) -> dict[str, str]:
    """Everything besides the texts that determines the measures, for each corpus with filters."""
    rows = warehouse.read("corpus", columns=["corpus", "filters", "texts"]).drop_nulls("filters")
    return {corpus: f"{Filters.model_validate_json(text)!r} of {count}" for corpus, text, count in rows.iter_rows()}


def measured(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Measures of each passage by the filters of its corpus: rows of `passage_filter`, none in a corpus without
    filters; see corpus.filters."""
    thresholds = filters(warehouse)
    within = passages.filter(CORPUS.is_in(list(thresholds)))
    sources = warehouse.read("source_text", within, ["passage", "text", "segments"])
    rendered = renderings(warehouse, within)
    counts = dict(warehouse.read("corpus", columns=["corpus", "texts"]).iter_rows())
    measures = [
        filtered(texts, rendered.join(texts, on="passage", how="semi"), counts[corpus], thresholds[corpus])
        for (corpus,), texts in sources.group_by(CORPUS, maintain_order=True)
    ]
    return pl.concat([warehouse.empty("passage_filter").drop("fingerprint"), *measures])


def selected(warehouse: Warehouse, asked: pl.DataFrame) -> pl.DataFrame:
    """Passages of `asked` that are in the benchmark, each once: columns `passage` and `settings`, which is ''."""
    chosen = warehouse.read("selection", asked.select("passage").unique(), ["passage", "selected"]).filter("selected")
    return chosen.select("passage", settings=pl.lit(""))
