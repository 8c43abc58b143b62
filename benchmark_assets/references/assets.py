"""Assets of the references. Thin: what to read, which function, what to write."""

import dagster as dg
import polars as pl

from benchmark_assets.corpus.model import joined
from benchmark_assets.lineage.refresh import Computed, refresh
from benchmark_assets.partitions import PASSAGE, SINGLE_RUN
from benchmark_assets.references.rows import envelope_rows
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.warehouse import Warehouse


@dg.asset(
    partitions_def=PASSAGE, backfill_policy=SINGLE_RUN, group_name="references", code_version="1", kinds={"duckdb"},
    deps=["segmented_reference"],
)  # fmt: skip
def reference(context: dg.AssetExecutionContext, warehouse: Warehouse) -> dg.Output[None]:
    """Text of each translator's rendering of a passage, and whether it is complete.

    Only complete references, those in which every segment of the source is translated, are scored against.
    """

    def assemble(due: pl.DataFrame) -> Computed:
        rows = warehouse.read("segmented_reference", due)
        texts = [joined(segments) for segments in rows["segments"].to_list()]
        complete = rows["segments"].list.eval(pl.element().is_not_null()).list.all()
        columns = [pl.Series("text", texts, dtype=pl.String), complete.alias("complete")]
        return Computed({"reference": rows.select("passage", "translator", "flag").with_columns(columns)})

    return refresh(context, warehouse, assemble)


@dg.asset(
    partitions_def=PASSAGE, backfill_policy=SINGLE_RUN, group_name="references", code_version="1",
    kinds={"duckdb", "numpy"}, deps=[reference],
)  # fmt: skip
def reference_envelope(context: dg.AssetExecutionContext, warehouse: Warehouse, embedder: Embedder) -> dg.Output[None]:
    """Centroid, human spread and pairwise similarities of each passage's complete references.

    With fewer than two there is no envelope: its columns are null.
    """

    def compute(due: pl.DataFrame) -> Computed:
        references = warehouse.read("reference", due).filter("complete")
        names = references.select(pl.format("{} {}", "passage", "translator")).to_series()
        vectors = embed_unique(references["text"], embedder, warehouse, context.run.run_id, names)
        tables = envelope_rows(due, references.join(vectors, on="text", maintain_order="left"))
        named = tables["reference_envelope"].with_columns(embedder=pl.lit(embedder.signature))
        return Computed(tables | {"reference_envelope": named})

    return refresh(context, warehouse, compute, embedder.signature, also=["reference_similarity"])
