"""Assets of the metrics: scores of outputs against references, scores of translators, diagnoses of outputs."""

from collections.abc import Mapping
from functools import partial

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Cards, refresh
from benchmark_assets.metrics.baseline import against_the_others
from benchmark_assets.metrics.comet import summed, triples
from benchmark_assets.metrics.diagnostics import diagnose, repeated, twins
from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.metrics.further import SOUND, NamedMetrics, score_settings, scores
from benchmark_assets.metrics.lexical import lexical_scores, lexical_settings
from benchmark_assets.metrics.meaning import signature
from benchmark_assets.metrics.tokenizers import available, tokenized
from benchmark_assets.metrics.unmeasured import Background, backgrounds
from benchmark_assets.partitions import BY_PASSAGE, GRID, PASSAGE, partitioned
from benchmark_assets.references.assets import reference, reference_envelope
from benchmark_assets.translation.assets import model_output
from resources.comet.comet import ADVICE, Comet
from resources.digest import digest
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.keys import CORPUS
from resources.warehouse import Warehouse

REFERENCE = dg.AssetDep(reference, partition_mapping=BY_PASSAGE)
SOURCE = dg.AssetDep("source_text", partition_mapping=BY_PASSAGE)
ENVELOPE = dg.AssetDep(reference_envelope, partition_mapping=BY_PASSAGE)


@dg.asset(
    **partitioned(GRID), group_name="metrics", code_version="2", metadata={"tables": ["output_similarity"]},
    kinds={"duckdb", "numpy"}, deps=[model_output, REFERENCE, ENVELOPE],
)  # fmt: skip
def drift_score(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
    cards: Cards,
) -> dg.Output[None]:
    """Similarity of an output to each reference and to the envelope's centroid; drift in three forms.

    Drift and the similarity to the centroid are null if the passage has no envelope.
    """

    def compute(stale: pl.DataFrame) -> Computed:
        outputs = warehouse.read("model_output", stale, ["model", "passage", "text"])
        references = _references(warehouse, stale)
        envelopes = warehouse.read("reference_envelope", stale.select("passage"))
        foreign = stale.join(envelopes.filter(pl.col("embedder") != embedder.signature), on="passage", how="semi")
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
        error = pl.lit("its envelope comes from another embedder: materialize reference_envelope first")
        tables = {"drift_score": scores, "output_similarity": similarities}
        return Computed(tables, foreign.with_columns(error=error) if len(foreign) else None)

    return refresh(context, warehouse, compute, embedder.signature, show=cards)


@dg.asset(
    **partitioned(GRID), group_name="metrics", code_version="1", kinds={"duckdb", "sacrebleu"},
    deps=[model_output, REFERENCE],
)  # fmt: skip
def lexical_score(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """BLEU, chrF++ and length ratio of an output against all complete references of its passage."""

    def compute(stale: pl.DataFrame) -> Computed:
        on = ["model", "passage"]
        outputs = tokenized(warehouse, warehouse.read("model_output", stale, [*on, "text"]))
        outputs, failures = available(outputs, on)
        scores = lexical_scores(outputs, _references(warehouse, stale), on=on, within=["passage"])
        return Computed({"lexical_score": scores}, failures)

    return refresh(context, warehouse, compute, partial(lexical_settings, warehouse))


@dg.asset(
    **partitioned(PASSAGE), group_name="metrics", code_version="2", kinds={"duckdb", "numpy", "sacrebleu"},
    deps=[reference],
)  # fmt: skip
def human_baseline(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], embedder: dg.ResourceParam[Embedder]
) -> dg.Output[None]:
    """Scores of each translator of a passage against the other translators, computed like the scores of a system.
    These scores show the human level."""

    def compute(stale: pl.DataFrame) -> Computed:
        references, failures = available(tokenized(warehouse, _references(warehouse, stale)), ["passage"])
        names = references.select(pl.format("{} {}", "passage", "translator")).to_series()
        vectors = embed_unique(references["text"], embedder, warehouse, context.run.run_id, names)
        references = references.join(vectors, on="text", maintain_order="left")
        rows = against_the_others(references, references)
        return Computed({"human_baseline": rows.with_columns(embedder=pl.lit(embedder.signature))}, failures)

    further = f"{embedder.signature} "
    return refresh(context, warehouse, compute, partial(lexical_settings, warehouse, further=further))


@dg.asset(
    **partitioned(GRID), group_name="metrics", code_version="1", kinds={"duckdb", "pytorch"},
    deps=[model_output, REFERENCE, SOURCE],
)  # fmt: skip
def comet_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], comet: dg.ResourceParam[Comet]
) -> dg.Output[None]:
    """Mean and best COMET score of an output over the complete references of its passage, given its source.

    The scores are null if the registry has no checkpoint (`comet: {checkpoint: …}`), or if the output, the source or
    every reference lacks readable characters.
    """

    def compute(stale: pl.DataFrame) -> Computed:
        on = ["model", "passage"]
        outputs = warehouse.read("model_output", stale, [*on, "text"])
        scored = comet.score(triples(outputs, _references(warehouse, stale), _sources(warehouse, stale), on))
        scores = summed(outputs, scored, on).with_columns(signature=pl.lit(comet.signature or None, pl.String))
        return Computed({"comet_score": scores})

    return refresh(context, warehouse, compute, comet.signature, lambda: _advice(comet))


@dg.asset(
    **partitioned(PASSAGE), group_name="metrics", code_version="1", kinds={"duckdb", "pytorch"},
    deps=[reference, "source_text"],
)  # fmt: skip
def comet_baseline(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], comet: dg.ResourceParam[Comet]
) -> dg.Output[None]:
    """COMET scores of each translator of a passage, given its source and the other translators. These scores show
    the human level."""

    def compute(stale: pl.DataFrame) -> Computed:
        references = _references(warehouse, stale)
        candidates, on = references.rename({"translator": "own"}), ["passage", "own"]
        pairs = triples(candidates, references, _sources(warehouse, stale), on)
        others = pairs.filter(pl.col("own") != pl.col("translator"))
        scores = summed(candidates, comet.score(others), on).rename({"own": "translator"})
        return Computed({"comet_baseline": scores.with_columns(signature=pl.lit(comet.signature or None, pl.String))})

    return refresh(context, warehouse, compute, comet.signature, lambda: _advice(comet))


@dg.asset(
    **partitioned(GRID), group_name="metrics", code_version="6", kinds={"duckdb"},
    deps=[model_output, REFERENCE, SOURCE],
)  # fmt: skip
def output_diagnostic(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Faults of an output that are visible without judging its meaning.

    They are: no text, a refusal, chat around the translation, reasoning, markup, mojibake, the source left
    untranslated, another script or language, repetition, a missing part, and the translation of another passage. Texts
    that address their judge are flagged, too.

    The diagnosis of an output becomes stale when its model starts or stops giving the same text for another passage;
    without a complete reference, also when an output changes with which its likeness to the source is centered.
    """

    def with_twins(outputs: pl.DataFrame) -> pl.DataFrame:
        """Add the column `twins`: other passages for which the output's model gives the same text."""
        models = outputs.select("model").unique()
        rows = repeated(warehouse.read("model_output", models, ["model", "passage", "text"]))
        pairs = twins(rows, _sources(warehouse, rows))
        return outputs.join(pairs, on=["model", "passage"], how="left", maintain_order="left")

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        outputs = with_twins(partitions.select("model", "passage"))
        twin_list = pl.col("twins").list.join(" ").fill_null("")
        known = backgrounds(warehouse, partitions)
        centers = known.select("model", "corpus", center=pl.struct("sources", "texts").map_elements(
            lambda each: digest(each["sources"], each["texts"]), return_dtype=pl.String))  # fmt: skip
        alone = outputs.join(_references(warehouse, outputs), on="passage", how="anti").with_columns(CORPUS)
        alone = alone.join(centers, on=["model", "corpus"]).select("model", "passage", "center")
        outputs = outputs.join(alone, on=["model", "passage"], how="left", maintain_order="left")
        return outputs.select(
            "model", "passage", settings=twin_list + pl.lit(signature()) + pl.col("center").fill_null("")
        )

    def compute(stale: pl.DataFrame) -> Computed:
        outputs = with_twins(warehouse.read("model_output", stale, ["model", "passage", "text"]))
        known = {
            (model, corpus): Background(tuple(sources), tuple(texts))
            for model, corpus, sources, texts in backgrounds(warehouse, stale).iter_rows()
        }
        rows = diagnose(outputs, _references(warehouse, stale), _sources(warehouse, stale), known)
        return Computed({"output_diagnostic": rows})

    return refresh(context, warehouse, compute, settings)


@dg.asset(
    **partitioned(GRID), group_name="metrics", code_version="2", metadata={"tables": ["metric_span"]},
    kinds={"duckdb", "pytorch", "sacrebleu"}, deps=[model_output, REFERENCE, SOURCE],
)  # fmt: skip
def segment_metric(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], metrics: dg.ResourceParam[NamedMetrics]
) -> dg.Output[None]:
    """Scores of an output by the further metrics that the registry names, and the words that these metrics mark."""

    def compute(stale: pl.DataFrame) -> Computed:
        on = ["model", "passage"]
        outputs = tokenized(warehouse, warehouse.read("model_output", stale, [*on, "text"]))
        outputs, failures = available(outputs, on) if _divided(metrics) else (outputs, None)
        stored = warehouse.read("segment_metric", stale), warehouse.read("metric_span", stale)
        rows, spans = scores(metrics, outputs, _references(warehouse, stale), _sources(warehouse, stale), on, *stored)
        return Computed({"segment_metric": rows, "metric_span": spans}, failures)

    return refresh(context, warehouse, compute, partial(score_settings, warehouse, metrics), sparse=True)


@dg.asset(
    **partitioned(PASSAGE), group_name="metrics", code_version="2", kinds={"duckdb", "pytorch", "sacrebleu"},
    deps=[reference, "source_text", "damaged_text"],
)  # fmt: skip
def human_metric(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], metrics: dg.ResourceParam[NamedMetrics]
) -> dg.Output[None]:
    """Scores of each translator, and of damaged translations, by the further metrics, against the other translators.
    These scores show the human level, and which damage the metrics detect."""

    def compute(stale: pl.DataFrame) -> Computed:
        references, own = _references(warehouse, stale), {"translator": "own"}
        sound = references.with_columns(kind=pl.lit(SOUND), severity=pl.lit(0, pl.Int32))
        texts = pl.concat([sound, warehouse.read("damaged_text", stale, sound.columns)])
        candidates = tokenized(warehouse, texts).rename(own)
        candidates, failures = available(candidates, ["passage"]) if _divided(metrics) else (candidates, None)
        stored, on = warehouse.read("human_metric", stale).rename(own), ["passage", "own", "kind", "severity"]
        rows, _ = scores(metrics, candidates, references, _sources(warehouse, stale), on, stored)
        return Computed({"human_metric": rows.rename({"own": "translator"})}, failures)

    return refresh(context, warehouse, compute, partial(score_settings, warehouse, metrics), sparse=True)


def _divided(metrics: NamedMetrics) -> bool:
    """Whether a metric needs the tokenizer of BLEU."""
    return any(named.metric.divided for named in metrics.values())


def _references(warehouse: Warehouse, partitions: pl.DataFrame) -> pl.DataFrame:
    """Complete references of the passages: columns `passage`, `translator`, `text`."""
    columns = ["passage", "translator", "text", "complete"]
    return warehouse.read("reference", partitions.select("passage"), columns).filter("complete").drop("complete")


def _sources(warehouse: Warehouse, partitions: pl.DataFrame) -> pl.DataFrame:
    """Source texts of the passages: columns `passage`, `text`."""
    return warehouse.read("source_text", partitions.select("passage"), ["passage", "text"])


def _advice(comet: Comet) -> Mapping[str, dg.MetadataValue]:
    return {} if comet.checkpoint else {"COMET": dg.MetadataValue.text(ADVICE)}
