"""Assets of the selection: the passages in the benchmark, and the reasons why other passages are left out."""

from collections.abc import Mapping

import dagster as dg
import polars as pl

from benchmark_assets.corpus.renderings import with_doubts
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Description, Plots, refresh
from benchmark_assets.partitions import PASSAGE, partitioned
from benchmark_assets.selection import funnel
from benchmark_assets.selection.candidates import filters, measured, settings
from resources.keys import CORPUS
from resources.tables import markdown
from resources.warehouse import Warehouse


@dg.asset(
    **partitioned(PASSAGE), group_name="selection", code_version="1", kinds={"duckdb"},
    deps=["source_text", "segmented_reference", "alignment", "verification"],
)  # fmt: skip
def passage_filter(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Measures of each passage for the filters, and the filters that drop it. Corpora without filters have no rows."""

    def corpus_settings(passages: pl.DataFrame) -> pl.DataFrame:
        by_corpus = CORPUS.replace_strict(settings(warehouse), default="", return_dtype=pl.String)
        return with_doubts(warehouse, passages.select("passage", settings=by_corpus))

    def compute(stale: pl.DataFrame) -> Computed:
        return Computed({"passage_filter": measured(warehouse, stale)})

    return refresh(context, warehouse, compute, corpus_settings)


@dg.asset(group_name="selection", code_version="1", kinds={"duckdb", "numpy"}, deps=["source_text", passage_filter])
def near_duplicate(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Passages that pass the filters but whose source nearly repeats the source of an earlier passage."""

    def compute(_: pl.DataFrame) -> Computed:
        sources = warehouse.read("source_text", columns=["passage", "text", "listed"]).filter(funnel.LISTED)
        duplicates = funnel.duplicates(warehouse.read("passage_filter"), sources, filters(warehouse))
        return Computed({"near_duplicate": duplicates})

    def describe() -> Description:
        rows = warehouse.read("near_duplicate", columns=["passage", "kept", "similarity"])
        return {"duplicates": markdown(rows, most=200)}

    return refresh(context, warehouse, compute, repr(filters(warehouse)), describe)


@dg.asset(
    **partitioned(PASSAGE), group_name="selection", code_version="1", kinds={"duckdb"},
    deps=["source_text", passage_filter, near_duplicate],
)  # fmt: skip
def selection(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Whether a passage is in the benchmark, and the reasons if it is not.

    Only selected passages are translated and scored.
    """

    def compute(stale: pl.DataFrame) -> Computed:
        measures, repeats = warehouse.read("passage_filter", stale), warehouse.read("near_duplicate", stale)
        sources = warehouse.read("source_text", stale, ["passage", "listed"])
        return Computed({"selection": funnel.selection(stale, measures, repeats, sources)})

    def show(_: Warehouse, name: str) -> Mapping[str, str]:
        dropped = warehouse.read("selection").filter(~pl.col("selected")).select("passage", "reasons", "kept")
        words = dropped.with_columns(pl.col("reasons").list.join(", "), pl.col("kept").fill_null(""))
        counts = {"funnel": markdown(funnel.funnels(warehouse), most=200), "dropped": markdown(words, most=200)}
        return {**plots(warehouse, name), **counts}

    return refresh(context, warehouse, compute, draw=show)
