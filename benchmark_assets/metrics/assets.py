"""Assets of the metrics: outputs scored against the references of their passage, and references against each other."""

import dagster as dg
import polars as pl

from benchmark_assets.lineage.refresh import Computed, refresh
from benchmark_assets.metrics.baseline import leave_one_out
from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.metrics.lexical import lexical_scores, signatures
from benchmark_assets.partitions import BY_PASSAGE, GRID, PASSAGE, SINGLE_RUN
from benchmark_assets.references.assets import reference, reference_envelope
from benchmark_assets.translation.assets import model_output
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.warehouse import Warehouse

REFERENCE = dg.AssetDep(reference, partition_mapping=BY_PASSAGE)
ENVELOPE = dg.AssetDep(reference_envelope, partition_mapping=BY_PASSAGE)


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="metrics", code_version="1", kinds={"duckdb", "numpy"},
    deps=[model_output, REFERENCE, ENVELOPE],
)  # fmt: skip
def drift_score(context: dg.AssetExecutionContext, warehouse: Warehouse, embedder: Embedder) -> dg.Output[None]:
    """Similarity of an output to each reference and to the envelope's centroid, and its drift in both forms.

    Null where a passage has no envelope.
    """

    def compute(due: pl.DataFrame) -> Computed:
        outputs = warehouse.read("model_output", due, ["model", "passage", "text"])
        references = warehouse.read("reference", due.select("passage"), ["passage", "translator", "text", "complete"])
        references = references.filter("complete")
        envelopes = warehouse.read("reference_envelope", due.select("passage"))
        foreign = due.join(envelopes.filter(pl.col("embedder") != embedder.signature), on="passage", how="semi")
        named = pl.concat([
            references.select("text", name=pl.format("{} {}", "passage", "translator")),
            outputs.select("text", name=pl.format("{}|{}", "model", "passage")),
        ])  # fmt: skip
        vectors = embed_unique(named["text"], embedder, warehouse, context.run.run_id, named["name"])
        scores, similarities = semantic_scores(
            outputs.join(vectors, on="text", maintain_order="left"),
            references.join(vectors, on="text", maintain_order="left"),
            envelopes,
            on=["model", "passage"],
            within=["passage"],
        )
        scores = scores.with_columns(embedder=pl.lit(embedder.signature))
        error = pl.lit("its envelope was made by another embedder: materialize reference_envelope")
        tables = {"drift_score": scores, "output_similarity": similarities}
        return Computed(tables, foreign.with_columns(error=error) if len(foreign) else None)

    return refresh(context, warehouse, compute, embedder.signature, also=["output_similarity"])


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="metrics", code_version="1",
    kinds={"duckdb", "sacrebleu"}, deps=[model_output, REFERENCE],
)  # fmt: skip
def lexical_score(context: dg.AssetExecutionContext, warehouse: Warehouse) -> dg.Output[None]:
    """BLEU, chrF++ and length ratio of an output against all complete references of its passage."""

    def compute(due: pl.DataFrame) -> Computed:
        outputs = warehouse.read("model_output", due)
        references = warehouse.read("reference", due.select("passage")).filter("complete")
        return Computed(
            {"lexical_score": lexical_scores(outputs, references, on=["model", "passage"], within=["passage"])}
        )

    return refresh(context, warehouse, compute, settings=str(signatures()))


@dg.asset(
    partitions_def=PASSAGE, backfill_policy=SINGLE_RUN, group_name="metrics", code_version="1",
    kinds={"duckdb", "numpy", "sacrebleu"}, deps=[reference],
)  # fmt: skip
def human_baseline(context: dg.AssetExecutionContext, warehouse: Warehouse, embedder: Embedder) -> dg.Output[None]:
    """Each translator of a passage scored as a system against the other translators: how far apart people are."""

    def compute(due: pl.DataFrame) -> Computed:
        references = warehouse.read("reference", due).filter("complete")
        names = references.select(pl.format("{} {}", "passage", "translator")).to_series()
        vectors = embed_unique(references["text"], embedder, warehouse, context.run.run_id, names)
        rows = leave_one_out(references.join(vectors, on="text", maintain_order="left"))
        return Computed({"human_baseline": rows.with_columns(embedder=pl.lit(embedder.signature))})

    return refresh(context, warehouse, compute, settings=f"{embedder.signature} {signatures()}")
