"""Assets of the alignment: continuous translations in the segments of the source, and whether they stand there."""

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
    """Text of each segment in the continuous translations of a passage: what stands there, or null.

    A document is aligned as a whole; the passages asked for are stored. Where nothing has to be aligned, nothing is.
    """

    def embed(texts: Sequence[str]) -> NDArray[np.floating]:
        vectors = embed_unique(texts, embedder, warehouse, context.run.run_id)
        return pl.DataFrame({"text": texts}).join(vectors, on="text", maintain_order="left")["vector"].to_numpy()

    def compute(due: pl.DataFrame) -> Computed:
        found = list(documents(warehouse, due))
        both = align_documents(found, aligners(warehouse), embed, provider, payer(context))
        rows, failures = (each.join(due, on="passage", how="semi") for each in both)
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
    """Where the text of each aligned segment stands in its translation: one of four stages, or suspicious."""

    def compute(due: pl.DataFrame) -> Computed:
        found = list(documents(warehouse, due))
        prose = all_prose(warehouse, found)
        rows = [pl.DataFrame(schema=VERIFICATION)]
        for document in found:
            own = document.sources.sort("position").select("passage", "segment_ids")
            given = warehouse.read("alignment", own.select("passage", translator=pl.lit(document.translator)))
            given = own.join(given, on="passage", maintain_order="left")
            others = {id: text for id, text in prose[document.corpus, document.translator].items() if id != document.id}
            rows.append(verified_rows(document.translator, document.prose, given, others))
        return Computed({"verification": pl.concat(rows).join(due, on="passage", how="semi")})

    return refresh(context, warehouse, compute)
