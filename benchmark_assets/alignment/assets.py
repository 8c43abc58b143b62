"""Assets of alignment: continuous translations divided into the segments of the source, and their verification."""

from collections.abc import Sequence
from functools import partial

import dagster as dg
import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.alignment.aligning import align_documents, cost, fingerprints
from benchmark_assets.alignment.documents import (
    aligners,
    all_prose,
    documents,
    surroundings,
    unguided,
)
from benchmark_assets.alignment.rows import (
    UNASSIGNED,
    VERIFICATION,
    unassigned_rows,
    unassigned_totals,
    verified_rows,
)
from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Cards, refresh
from benchmark_assets.partitions import PASSAGE, partitioned
from benchmark_assets.studies.assets import payer
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.provider.estimate import CostEstimate
from resources.provider.provider import Provider
from resources.tables import markdown
from resources.warehouse import Warehouse


@dg.asset(
    **partitioned(PASSAGE), group_name="alignment", code_version="6", kinds={"duckdb", "numpy"},
    deps=["source_text", "segmented_reference", "continuous_reference"],
)  # fmt: skip
def alignment(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], embedder: dg.ResourceParam[Embedder],
    provider: dg.ResourceParam[Provider], cards: Cards,
) -> dg.Output[None]:  # fmt: skip
    """Text of each segment of a passage in each continuous translation; null where no text was found.

    Whole documents are aligned, and the rows of the requested passages are stored. A passage without a continuous
    translation has no row. The rows of a passage depend on its own corrections, and on none of other passages.
    """

    def embed_with(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.floating]:
        vectors = embed_unique(texts, embedder, warehouse, context.run.run_id)
        return pl.DataFrame({"text": texts}).join(vectors, on="text", maintain_order="left")["vector"].to_numpy()

    def compute(stale: pl.DataFrame) -> Computed:
        stale_documents, multilingual = list(documents(warehouse, stale)), provider.registry().multilingual_embedder()
        embed = partial(embed_with, embedder)
        embed_multilingual = partial(embed_with, multilingual) if multilingual else None
        frames = align_documents(
            stale_documents, aligners(warehouse), embed, embed_multilingual, provider, payer(context)
        )
        rows, failures = (frame.join(stale, on="passage", how="semi") for frame in frames)
        return Computed({"alignment": rows}, failures)

    def settings(passages: pl.DataFrame) -> pl.DataFrame:
        parts, multilingual = [(passages, embedder)], provider.registry().multilingual_embedder()
        if multilingual:
            across = unguided(warehouse, passages)
            parts = [(passages.join(across, on="passage", how="anti"), embedder), (across, multilingual)]
        of_corpora = corpus_languages(warehouse), aligners(warehouse)
        beside = multilingual.signature if multilingual else ""
        return pl.concat(fingerprints(part, *of_corpora, chosen.signature, beside, provider) for part, chosen in parts)

    def price(stale: pl.DataFrame) -> CostEstimate | None:
        return cost(documents(warehouse, stale), aligners(warehouse), provider)

    return refresh(context, warehouse, compute, settings, cost=price, show=cards)


@dg.asset(
    **partitioned(PASSAGE), group_name="alignment", code_version="5", metadata={"tables": ["unassigned"]},
    kinds={"duckdb"}, deps=["source_text", "segmented_reference", "continuous_reference", alignment],
)  # fmt: skip
def verification(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Check of each aligned segment against the continuous translation: stage and place of the match, or 'suspicious'.

    A segment is also suspicious if it lacks text, has text of its neighbors, or is out of order. Other translations of
    the document show how long a segment should be, and which words it should have. A passage becomes stale when the
    alignment of another passage of its document changes, or when a text to which the translation refers changes. Text
    that belongs to no segment is stored, too: which text that is behind a passage depends on the passages around it.
    """

    def compute(stale: pl.DataFrame) -> Computed:
        stale_documents = list(documents(warehouse, stale))
        prose = all_prose(warehouse, stale_documents)
        rows, unassigned = [pl.DataFrame(schema=VERIFICATION)], [pl.DataFrame(schema=UNASSIGNED)]
        for document in stale_documents:
            keys = document.sources.sort("position").select("passage", translator=pl.lit(document.translator))
            aligned = keys.join(warehouse.read("alignment", keys), on=keys.columns, maintain_order="left")
            others = {id: text for id, text in prose[document.corpus, document.translator].items() if id != document.id}
            rows.append(verified_rows(document.translator, document.prose, document.segments, aligned, others))
            unassigned.append(unassigned_rows(document.translator, document.prose, document.segments, aligned))
        found, left = (pl.concat(frames).join(stale, on="passage", how="semi") for frames in (rows, unassigned))
        return Computed({"verification": found}, notes={"unassigned": left})

    def describe() -> dict[str, str]:
        stretches = warehouse.read("unassigned", columns=["passage", "translator", "start_at", "end_at"])
        return {"unassigned": markdown(unassigned_totals(stretches))}

    return refresh(context, warehouse, compute, partial(surroundings, warehouse), describe)
