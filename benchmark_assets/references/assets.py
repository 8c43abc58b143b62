"""Assets of the references and their envelopes. Not here: computing them (rows, envelope)."""

import dagster as dg
import polars as pl

from benchmark_assets.corpus.renderings import renderings, with_doubts
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Cards, refresh
from benchmark_assets.partitions import PASSAGE, partitioned
from benchmark_assets.references.rows import envelope_rows
from benchmark_assets.selection.assets import selection
from benchmark_assets.selection.candidates import selected
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.warehouse import Warehouse


@dg.asset(
    **partitioned(PASSAGE), group_name="references", code_version="2", kinds={"duckdb"},
    deps=["segmented_reference", "alignment", "verification", selection],
)  # fmt: skip
def reference(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], cards: Cards
) -> dg.Output[None]:
    """Each translator's text for a selected passage, and whether this reference is complete.

    A reference is complete if every segment of the source is translated, the text of each segment was found in the
    translation, and no pair is doubted. Outputs are scored against complete references only.
    """

    def assemble(stale: pl.DataFrame) -> Computed:
        rows = renderings(warehouse, stale)
        complete = rows["segments"].list.eval(pl.element().is_not_null()).list.all() & (rows["suspicious"] == 0)
        texts = rows.filter(pl.col("text") != "").select("passage", "translator", "text", "flag")
        return Computed({"reference": texts.with_columns(complete.filter(rows["text"] != "").alias("complete"))})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        return with_doubts(warehouse, selected(warehouse, partitions))

    return refresh(context, warehouse, assemble, settings, show=cards)


@dg.asset(
    **partitioned(PASSAGE), group_name="references", code_version="1", metadata={"tables": ["reference_similarity"]},
    kinds={"duckdb", "numpy"}, deps=[reference],
)  # fmt: skip
def reference_envelope(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], embedder: dg.ResourceParam[Embedder]
) -> dg.Output[None]:
    """Centroid, human spread and pairwise similarities of each passage's complete references.

    A passage with fewer than two complete references has no envelope: the columns of the envelope are null.
    """

    def compute(stale: pl.DataFrame) -> Computed:
        references = warehouse.read("reference", stale).filter("complete")
        names = references.select(pl.format("{} {}", "passage", "translator")).to_series()
        vectors = embed_unique(references["text"], embedder, warehouse, context.run.run_id, names)
        tables = envelope_rows(stale, references.join(vectors, on="text", maintain_order="left"))
        envelopes = tables["reference_envelope"].with_columns(embedder=pl.lit(embedder.signature))
        return Computed(tables | {"reference_envelope": envelopes})

    return refresh(context, warehouse, compute, embedder.signature)
