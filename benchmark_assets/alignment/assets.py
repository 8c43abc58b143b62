"""Assets of the alignment: continuous translations in the segments of the source, and their verification."""

from collections.abc import Sequence

import dagster as dg
import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.alignment.aligning import align_documents, cost, fingerprints
from benchmark_assets.alignment.documents import aligners, all_prose, corpus_languages, documents
from benchmark_assets.alignment.rows import VERIFICATION, verified_rows
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.partitions import PASSAGE, SINGLE_RUN
from benchmark_assets.studies.assets import payer
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.warehouse import Warehouse


@dg.asset(
    partitions_def=PASSAGE, backfill_policy=SINGLE_RUN, group_name="alignment", code_version="1",
    kinds={"duckdb", "numpy"}, deps=["source_text", "segmented_reference", "continuous_reference"],
)  # fmt: skip
def alignment(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], embedder: dg.ResourceParam[Embedder],
    provider: dg.ResourceParam[Provider],
) -> dg.Output[None]:  # fmt: skip
    """Text of each segment of a passage in its continuous translations; null if it was not found.

    A document is aligned as a whole; the requested passages are stored. Passages without a continuous translation have
    no row.
    """

    def embed(texts: Sequence[str]) -> NDArray[np.floating]:
        vectors = embed_unique(texts, embedder, warehouse, context.run.run_id)
        return pl.DataFrame({"text": texts}).join(vectors, on="text", maintain_order="left")["vector"].to_numpy()

    def compute(due: pl.DataFrame) -> Computed:
        stale = list(documents(warehouse, due))
        frames = align_documents(stale, aligners(warehouse), embed, provider, payer(context))
        rows, failures = (frame.join(due, on="passage", how="semi") for frame in frames)
        return Computed({"alignment": rows}, failures)

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        return fingerprints(asked, corpus_languages(warehouse), aligners(warehouse), embedder.signature, provider)

    def price(due: pl.DataFrame) -> Estimate | None:
        return cost(documents(warehouse, due), aligners(warehouse), provider)

    return refresh(context, warehouse, compute, settings, cost=price)


@dg.asset(
    partitions_def=PASSAGE, backfill_policy=SINGLE_RUN, group_name="alignment", code_version="1", kinds={"duckdb"},
    deps=["continuous_reference", alignment],
)  # fmt: skip
def verification(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Place of each aligned segment's text in its translation: one of four stages, or suspicious."""

    def compute(due: pl.DataFrame) -> Computed:
        stale = list(documents(warehouse, due))
        prose = all_prose(warehouse, stale)
        rows = [pl.DataFrame(schema=VERIFICATION)]
        for document in stale:
            passages = document.sources.sort("position").select("passage", "segment_ids")
            aligned = warehouse.read("alignment", passages.select("passage", translator=pl.lit(document.translator)))
            aligned = passages.join(aligned, on="passage", maintain_order="left")
            others = {id: text for id, text in prose[document.corpus, document.translator].items() if id != document.id}
            rows.append(verified_rows(document.translator, document.prose, aligned, others))
        return Computed({"verification": pl.concat(rows).join(due, on="passage", how="semi")})

    return refresh(context, warehouse, compute)
