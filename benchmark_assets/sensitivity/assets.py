"""Assets of the sensitivity suite: damaged human translations, and the detection of the damage by metrics."""

from collections.abc import Callable
from functools import partial

import dagster as dg
import polars as pl

from benchmark_assets.corpus.units import kinds
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Description, Plots, refresh
from benchmark_assets.metrics.assets import human_metric
from benchmark_assets.metrics.further import SOUND, metrics_of
from benchmark_assets.metrics.lexical import lexical_settings
from benchmark_assets.metrics.summary import signature
from benchmark_assets.metrics.tokenizers import DEFAULT, available, tokenized
from benchmark_assets.partitions import PASSAGE, partitioned
from benchmark_assets.references.assets import reference
from benchmark_assets.sensitivity.detection import detection, thresholds
from benchmark_assets.sensitivity.exhibits import readable_detection, readable_thresholds
from benchmark_assets.sensitivity.sample import damaged, languages, settings
from benchmark_assets.sensitivity.scoring import KEY, stored, variant_scores
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.keys import CORPUS
from resources.tables import markdown
from resources.warehouse import Warehouse


@dg.asset(
    **partitioned(PASSAGE), group_name="sensitivity", code_version="2", kinds={"duckdb"},
    deps=["source_text", reference],
)  # fmt: skip
def damaged_text(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Damaged variants of the human translations in a sample of each corpus, by kind and severity of the damage."""

    def compute(stale: pl.DataFrame) -> Computed:
        return Computed({"damaged_text": damaged(warehouse, stale)})

    return refresh(context, warehouse, compute, partial(settings, warehouse), sparse=True)


@dg.asset(
    **partitioned(PASSAGE), group_name="sensitivity", code_version="2", kinds={"duckdb", "numpy", "sacrebleu"},
    deps=[reference, damaged_text],
)  # fmt: skip
def damaged_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], embedder: dg.ResourceParam[Embedder]
) -> dg.Output[None]:
    """Scores of the sample's sound and damaged translations against the other human translations of their passage."""

    def compute(stale: pl.DataFrame) -> Computed:
        references = tokenized(warehouse, warehouse.read("reference", stale).filter("complete"))
        references, failures = available(references, ["passage"])
        sound = references.select(
            "passage", "translator", "text", kind=pl.lit(SOUND), severity=pl.lit(0, pl.Int32), extent=pl.lit(0.0)
        )
        texts = pl.concat([sound, warehouse.read("damaged_text", stale, sound.columns)])
        texts = tokenized(warehouse, texts).join(references, on="passage", how="semi")
        names = texts.select(pl.concat_str(KEY, separator=" ")).to_series()
        vectors = embed_unique(texts["text"], embedder, warehouse, context.run.run_id, names)
        scores = variant_scores(
            texts.join(vectors, on="text", maintain_order="left"),
            references.join(vectors, on="text", maintain_order="left"),
        )
        rows = scores.drop("bleu_statistics", "chrf_statistics").join(
            texts.drop("text", "tokenizer"), on=KEY, maintain_order="left"
        )
        return Computed({"damaged_score": rows.with_columns(embedder=pl.lit(embedder.signature))}, failures)

    settings = partial(lexical_settings, warehouse, further=f"{embedder.signature} ")
    return refresh(context, warehouse, compute, settings, sparse=True)


@dg.asset(
    group_name="sensitivity", code_version="3", metadata={"tables": ["sensitivity_threshold"]},
    kinds={"duckdb", "numpy"}, deps=[damaged_score, human_metric],
)  # fmt: skip
def sensitivity(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """ROC AUC of each metric in distinguishing damaged from sound translations, by kind and severity of the damage.

    A second table has the drift thresholds that detect given shares of the damaged translations, and their false alarm
    rates.
    """
    language_of = languages(warehouse)

    def compute(_: pl.DataFrame) -> Computed:
        metrics = metrics_of(warehouse)
        made = {metric.name: f"; {metric.name}: {metric.made}" for metric in metrics if metric.made}
        rows = _by_corpus(
            warehouse, "sensitivity", lambda corpus, scores: detection(scores, language_of[corpus], metrics)
        )
        rows = rows.with_columns(signature=pl.col("signature") + pl.col("metric").replace_strict(made, default=""))
        limits = _by_corpus(warehouse, "sensitivity_threshold", lambda _, scores: thresholds(scores))
        return Computed({"sensitivity": rows, "sensitivity_threshold": limits})

    def describe() -> Description:
        metrics_of(warehouse)  # declares the labels of metrics that the registry names
        return {
            "AUC": markdown(readable_detection(warehouse.read("sensitivity")), most=400),
            "thresholds": markdown(readable_thresholds(warehouse.read("sensitivity_threshold")), most=1000),
        }

    determinants = f"{signature('of the scores')} {sorted(language_of.items())} {sorted(kinds(warehouse).items())}"
    return refresh(context, warehouse, compute, determinants, describe, draw=plots)


def _by_corpus(
    warehouse: Warehouse, table: str, of_corpus: Callable[[str, pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame:
    """Rows of a table, computed corpus by corpus: `of_corpus` takes the corpus and the scores of its damaged texts."""
    empty = warehouse.empty(table).drop("fingerprint")
    parts = []
    for (corpus,), scores in stored(warehouse).group_by(CORPUS, maintain_order=True):
        columns = {"corpus": pl.lit(corpus), "signature": pl.lit(_signature(scores))}
        parts.append(of_corpus(str(corpus), scores).with_columns(**columns))
    return pl.concat([empty, *(part.select(empty.columns) for part in parts)])


def _signature(scores: pl.DataFrame) -> str:
    """Signature of statistics that are computed from rows of `damaged_score`."""
    embedder, tokenizer = (", ".join(scores[name].drop_nulls().unique().sort()) for name in ("embedder", "tokenizer"))
    return signature(embedder, tokenizer=tokenizer or DEFAULT, units=scores["unit_kind"][0])
