"""Assets of the metrics: outputs scored against the references of their passage, and references against each other."""

from collections.abc import Mapping

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.metrics.baseline import leave_one_out
from benchmark_assets.metrics.comet import summed, triples
from benchmark_assets.metrics.diagnostics import diagnose, twins
from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.metrics.lexical import lexical_scores, signatures
from benchmark_assets.partitions import BY_PASSAGE, GRID, PASSAGE, SINGLE_RUN
from benchmark_assets.references.assets import reference, reference_envelope
from benchmark_assets.translation.assets import model_output
from resources.comet.comet import ADVICE, Comet
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.warehouse import Warehouse

REFERENCE = dg.AssetDep(reference, partition_mapping=BY_PASSAGE)
SOURCE = dg.AssetDep("source_text", partition_mapping=BY_PASSAGE)
ENVELOPE = dg.AssetDep(reference_envelope, partition_mapping=BY_PASSAGE)


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="metrics", code_version="1",
    metadata={"tables": ["output_similarity"]}, kinds={"duckdb", "numpy"},
    deps=[model_output, REFERENCE, ENVELOPE],
)  # fmt: skip
def drift_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], embedder: dg.ResourceParam[Embedder]
) -> dg.Output[None]:
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

    return refresh(context, warehouse, compute, embedder.signature)


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="metrics", code_version="1",
    kinds={"duckdb", "sacrebleu"}, deps=[model_output, REFERENCE],
)  # fmt: skip
def lexical_score(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
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
def human_baseline(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], embedder: dg.ResourceParam[Embedder]
) -> dg.Output[None]:
    """Each translator of a passage scored as a system against the other translators: how far apart people are."""

    def compute(due: pl.DataFrame) -> Computed:
        references = warehouse.read("reference", due).filter("complete")
        names = references.select(pl.format("{} {}", "passage", "translator")).to_series()
        vectors = embed_unique(references["text"], embedder, warehouse, context.run.run_id, names)
        rows = leave_one_out(references.join(vectors, on="text", maintain_order="left"))
        return Computed({"human_baseline": rows.with_columns(embedder=pl.lit(embedder.signature))})

    return refresh(context, warehouse, compute, settings=f"{embedder.signature} {signatures()}")


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="metrics", code_version="1",
    metadata={"tables": ["output_comet"]}, kinds={"duckdb", "pytorch"}, deps=[model_output, REFERENCE, SOURCE],
)  # fmt: skip
def comet_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], comet: dg.ResourceParam[Comet]
) -> dg.Output[None]:
    """COMET of an output by its source and each complete reference: mean and best.

    Null if the registry names no checkpoint (`comet: {checkpoint: …}`), or if a text has no readable character.
    """

    def compute(due: pl.DataFrame) -> Computed:
        on = ["model", "passage"]
        outputs = warehouse.read("model_output", due, [*on, "text"])
        scored = comet.score(triples(outputs, *_compared(warehouse, due), on))
        scores = summed(outputs, scored, on).with_columns(signature=pl.lit(comet.signature or None, pl.String))
        return Computed({"comet_score": scores, "output_comet": scored.select(*on, "translator", "score")})

    return refresh(context, warehouse, compute, comet.signature, lambda: _advice(comet))


@dg.asset(
    partitions_def=PASSAGE, backfill_policy=SINGLE_RUN, group_name="metrics", code_version="1",
    kinds={"duckdb", "pytorch"}, deps=[reference, "source_text"],
)  # fmt: skip
def comet_baseline(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], comet: dg.ResourceParam[Comet]
) -> dg.Output[None]:
    """COMET of each translator of a passage by its source and the other translators: the level of people."""

    def compute(due: pl.DataFrame) -> Computed:
        references, sources = _compared(warehouse, due)
        candidates, on = references.rename({"translator": "own"}), ["passage", "own"]
        others = triples(candidates, references, sources, on).filter(pl.col("own") != pl.col("translator"))
        scores = summed(candidates, comet.score(others), on).rename({"own": "translator"})
        return Computed({"comet_baseline": scores.with_columns(signature=pl.lit(comet.signature or None, pl.String))})

    return refresh(context, warehouse, compute, comet.signature, lambda: _advice(comet))


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="metrics", code_version="1", kinds={"duckdb"},
    deps=[model_output, REFERENCE, SOURCE],
)  # fmt: skip
def output_diagnostic(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Whether an output is empty, copied from the source, in another script or language, repeated or cut off.

    An output is diagnosed again when its model starts or stops giving the same text for another passage.
    """

    def repeated(asked: pl.DataFrame) -> pl.DataFrame:
        """For each requested output, the other passages with the same text, among all outputs of its model."""
        rows = warehouse.read("model_output", asked.select("model"), ["model", "passage", "text"])
        return twins(rows, warehouse.read("source_text", rows.select("passage"), ["passage", "text"]))

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        outputs = asked.select("model", "passage").join(repeated(asked), on=["model", "passage"], how="left")
        return outputs.select("model", "passage", settings=pl.col("twins").list.join(" ").fill_null(""))

    def compute(due: pl.DataFrame) -> Computed:
        outputs = warehouse.read("model_output", due, ["model", "passage", "text"])
        outputs = outputs.join(repeated(due), on=["model", "passage"], how="left", maintain_order="left")
        references, sources = _compared(warehouse, due)
        return Computed({"output_diagnostic": diagnose(outputs, references, sources)})

    return refresh(context, warehouse, compute, settings)


def _compared(warehouse: Warehouse, due: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Complete references and sources of passages."""
    passages = due.select("passage")
    references = warehouse.read("reference", passages, ["passage", "translator", "text", "complete"])
    sources = warehouse.read("source_text", passages, ["passage", "text"])
    return references.filter("complete").drop("complete"), sources


def _advice(comet: Comet) -> Mapping[str, dg.MetadataValue]:
    return {} if comet.checkpoint else {"COMET": dg.MetadataValue.text(ADVICE)}
