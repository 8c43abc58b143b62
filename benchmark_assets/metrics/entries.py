"""Metrics of passages, with one entry per metric: its inputs, its direction, its cost, and the tables of its scores.

To add a metric, add an entry. An entry with a function `score` fills rows of the tables `segment_metric` and
`human_metric`, if the registry names it under `metrics`; the other entries have assets and tables of their own. Not
here: aggregates other than means over passages (measures), checkpoints (resources.comet).
"""

import math
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import polars as pl
from sacrebleu.metrics.ter import TER

from benchmark_assets.metrics.comet import LEGIBLE
from benchmark_assets.metrics.intervals import SIGNATURE as INTERVALS
from benchmark_assets.metrics.intervals import mean_interval
from benchmark_assets.metrics.measures import BY_NAME, numbered_units
from benchmark_assets.metrics.tokenizers import DEFAULT, load, tokenized
from resources.catalogue import schema
from resources.comet.comet import Comet
from resources.digest import digest
from resources.keys import CORPUS
from resources.warehouse import Warehouse

Need = Literal["source", "references"]
Cost = Literal["counts", "edits", "embedder", "encoder", "large model"]
"""The step of scoring that costs most. The values mean, in this order: counting n-grams, searching for edits (seconds
for a long text), computing embeddings, running a COMET checkpoint, running a checkpoint of billions of parameters."""

SUMMARY = schema("metric_summary")
SCORE = schema("segment_metric", "model", "passage")
SPAN = schema("metric_span", "model", "passage")


PASSAGE_SCORE = ["passage", "metric", "score", "signature"]

Checkpoints = Mapping[str, Comet | None]
"""Checkpoint of each further metric by its name in the registry; None for TER, which has none."""

MEANS = f"mean over passages; {INTERVALS}"


class Texts(NamedTuple):
    """Candidates and the texts against which they are scored.

    `candidates` has the columns `item`, `text` and `tokenizer` (the tokenizer of BLEU). `references` has the columns
    `item`, `translator` and `text`. `sources` has the columns `item` and `text`. Each candidate is an item of its own.
    """

    candidates: pl.DataFrame
    references: pl.DataFrame
    sources: pl.DataFrame


class Metric(NamedTuple):
    """A metric of passages.

    Attributes
    ----------
    name
        Column of the scores, or kind of the metric in the registry.
    table, human_table
        Tables with the scores of models and of translators.
    better
        1 if higher is better, -1 if lower is better, 0 if neither.
    least, most
        Range of the scores.
    needs
        The texts with which a candidate is compared.
    cost
        The main cost of scoring.
    score
        Function from texts and the checkpoint to rows, one for each candidate that has the texts in `needs`. The
        columns are `item`, `score` and `cut`, and also `spans` if the metric marks errors. The attribute is None if the
        metric has an asset of its own.
    """

    name: str
    table: str
    human_table: str
    better: int
    least: float
    most: float
    needs: tuple[Need, ...]
    cost: Cost
    score: Callable[[Texts, Comet | None], pl.DataFrame] | None = None


def kind(checkpoint: Comet | None) -> Metric:
    """The entry of a metric that the registry names; `checkpoint` is None for TER."""
    return BY_KIND[checkpoint.kind if checkpoint else "ter"]


def score_settings(warehouse: Warehouse, metrics: Checkpoints, partitions: pl.DataFrame) -> pl.DataFrame:
    """Add the column `settings` to `partitions`, which has the column `passage`. If `metrics` is empty, the result
    has no rows."""
    if not metrics:
        return partitions.clear().with_columns(settings=pl.lit(""))
    signatures = [pl.format("{}: {}", pl.lit(name), _signature(metrics[name])) for name in sorted(metrics)]
    rows = tokenized(warehouse, partitions)
    return rows.select(pl.exclude("tokenizer"), settings=pl.concat_str(signatures, separator="; "))


def scores(
    metrics: Checkpoints, candidates: pl.DataFrame, references: pl.DataFrame, sources: pl.DataFrame,
    on: list[str], stored: pl.DataFrame | None = None, stored_spans: pl.DataFrame | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:  # fmt: skip
    """Score candidates by all metrics of the registry.

    Stored scores with the same signature and the same texts are reused, so that only the scores of a new metric are
    computed.

    Parameters
    ----------
    metrics
        Checkpoint of each metric by its name in the registry; None for TER.
    candidates
        Columns `on`, `text` and `tokenizer`.
    references
        Columns `passage`, `translator`, `text`: complete references.
    sources
        Columns `passage` and `text`.
    on
        Columns that identify a candidate, among them `passage`. If `own` is one of them, the candidates are references,
        `own` is their translator, and they are not compared with references of the same translator.
    stored, stored_spans
        Rows of these candidates in `segment_metric` or `human_metric`, and in `metric_span`.

    Returns
    -------
    scores
        Columns `on` and the content of `segment_metric`, one row per candidate and metric. The score is null if the
        candidate lacks a text that the metric needs.
    spans
        Columns `on` and the content of `metric_span`.
    """
    numbered = candidates.with_row_index("item")
    keys = numbered.select("item", *on)
    against = keys.join(references, on="passage", maintain_order="left_right")
    if "own" in on:
        against = against.filter(pl.col("own") != pl.col("translator"))
    texts = Texts(
        numbered.select("item", "text", "tokenizer"),
        against.select("item", "translator", "text"),
        keys.join(sources, on="passage", maintain_order="left").select("item", "text"),
    )
    numbered = numbered.join(_inputs(texts), on="item", maintain_order="left")
    key_schema = keys.drop("item").schema
    rows, spans = [], []
    for name, checkpoint in metrics.items():
        score = kind(checkpoint).score
        assert score is not None  # kinds of the registry have no asset of their own
        described = numbered.with_columns(metric=pl.lit(name), signature=_signature(checkpoint))
        if stored is not None:
            kept = stored.join(described, on=[*on, "metric", "signature", "inputs"], how="semi")
            rows.append(kept.select(*on, *SCORE))
            if stored_spans is not None:
                spans.append(stored_spans.join(kept, on=[*on, "metric"], how="semi").select(*on, *SPAN))
            described = described.join(kept, on=on, how="anti", maintain_order="left")
        scored = score(Texts(*(part.join(described, on="item", how="semi") for part in texts)), checkpoint)
        rows.append(described.join(scored, on="item", how="left", maintain_order="left").select(*on, *SCORE))
        if "spans" in scored.columns:
            spans.append(keys.join(_errors(scored), on="item").with_columns(metric=pl.lit(name)).select(*on, *SPAN))
    return (
        pl.concat([pl.DataFrame(schema={**key_schema, **SCORE}), *rows]),
        pl.concat([pl.DataFrame(schema={**key_schema, **SPAN}), *spans]),
    )


def means(metrics: Checkpoints, rows: pl.DataFrame) -> pl.DataFrame:
    """Mean score of each system in each metric.

    Parameters
    ----------
    rows
        Columns `kind`, `system`, `passage`, `metric`, `score`, `signature`, `unit` and `unit_kind` (corpus.units).

    Returns
    -------
    The content of `metric_summary`. The interval uses the units of the corpus, and is clipped to the metric's range.
    Systems without a score have no row.
    """
    keys = ["corpus", "kind", "system", "metric"]
    summaries = []
    for key, part in rows.drop_nulls("score").with_columns(CORPUS).group_by(keys, maintain_order=True):
        entry = kind(metrics[str(key[-1])])
        bounds = mean_interval(part["score"].to_numpy(), numbered_units(part["unit"]), entry.least, entry.most)
        signatures = "; ".join([*part["signature"].unique().sort(), MEANS, f"units: {part['unit_kind'][0]}"])
        summaries.append((*key, len(part), part["score"].mean(), *bounds, signatures))
    return pl.DataFrame(summaries, schema=SUMMARY, orient="row").sort(keys)


def _inputs(texts: Texts) -> pl.DataFrame:
    """Digest of all texts that may determine a candidate's scores: columns `item` and `inputs`."""
    references = texts.references.sort("translator").group_by("item").agg(references=pl.struct("translator", "text"))
    rows = texts.candidates.join(texts.sources.select("item", source="text"), on="item", how="left")
    rows = rows.join(references, on="item", how="left").select("item", "text", "source", "references")
    digests = [digest(*row[1:]) for row in rows.iter_rows()]
    return rows.select("item", pl.Series("inputs", digests, dtype=pl.String))


def _signature(checkpoint: Comet | None) -> pl.Expr:
    """Describe everything that determines the scores of a metric; for TER, this depends on the column `tokenizer`."""
    if checkpoint is not None:
        return pl.lit(checkpoint.signature)
    metric = TER()
    metric.num_refs = -1  # sacrebleu's code for a varying number
    text = pl.lit(f"TER|{metric.get_signature()}")
    cut = pl.concat_str(text, pl.lit("|cut before by "), "tokenizer")
    return pl.when(pl.col("tokenizer") == DEFAULT).then(text).otherwise(cut)


def _ter(texts: Texts, _: Comet | None) -> pl.DataFrame:
    """sacrebleu's TER against all references: `item`, `score` and `cut`.

    Texts without spaces between words are first divided by the tokenizer of BLEU.
    """
    references = texts.references.group_by("item", maintain_order=True).agg(references="text")
    rows = texts.candidates.join(references, on="item", maintain_order="left")
    metric = TER()

    def score(text: str, tokenizer: str, others: list[str]) -> float:
        if tokenizer != DEFAULT:
            text, *others = (str(load(tokenizer)(each)) for each in (text, *others))
        return float(metric.sentence_score(text, others).score)

    values = [score(*row) for row in rows.select("text", "tokenizer", "references").iter_rows()]
    return rows.select("item", pl.Series("score", values, dtype=pl.Float64), cut=pl.lit(False))


def _by_checkpoint(texts: Texts, checkpoint: Comet | None) -> pl.DataFrame:
    """Scores by a checkpoint: the mean over the references, or one score if the checkpoint uses no reference.

    The columns are `item`, `score` and `cut`. xCOMET also yields `spans`, with a list of errors for each reference, and
    `translators`, with the translator of each reference. A candidate is left out
    if the candidate itself, its source or all of its references have no readable characters.
    """
    assert checkpoint is not None
    rows = texts.candidates.select("item", candidate="text")
    if "source" in checkpoint.inputs:
        rows = rows.join(texts.sources.rename({"text": "source"}), on="item", maintain_order="left")
    if "reference" in checkpoint.inputs:
        references = texts.references.rename({"text": "reference"})
        rows = rows.join(references, on="item", maintain_order="left_right")
    legible = pl.all_horizontal(pl.col(checkpoint.inputs).str.contains(LEGIBLE))
    scored = checkpoint.score(rows.filter(legible))
    found = [pl.col("score").mean(), pl.col("cut").any()]
    if "spans" in scored.columns:
        found += [pl.col("spans"), pl.col("translator").alias("translators")]
    return scored.group_by("item", maintain_order=True).agg(found)


def _errors(scored: pl.DataFrame) -> pl.DataFrame:
    """One row for each marked error: `item`, `translator`, `place` (from 1) and the fields of the error."""
    rows = scored.select("item", pl.col("translators").alias("translator"), "spans").explode("translator", "spans")
    errors = rows.with_columns(place=pl.int_ranges(1, pl.col("spans").list.len() + 1)).explode("spans", "place")
    errors = errors.drop_nulls("spans").unnest("spans").rename({"confidence": "probability"})
    return errors.cast({name: kind for name, kind in SPAN.items() if name in errors.columns})


def _measured(name: str, tables: tuple[str, str], needs: tuple[Need, ...], cost: Cost) -> Metric:
    """The entry of a metric with an asset of its own. The measure with the same name gives its direction and range."""
    measure = BY_NAME[name]
    return Metric(name, *tables, measure.better, measure.least, measure.most, needs, cost)


_DRIFT = ("drift_score", "human_baseline")
_LEXICAL = ("lexical_score", "human_baseline")
_COMET = ("comet_score", "comet_baseline")
_FURTHER = ("segment_metric", "human_metric")
_BOTH: tuple[Need, ...] = ("source", "references")

METRICS = [
    _measured("sim_best", _DRIFT, ("references",), "embedder"),
    _measured("sim_centroid", _DRIFT, ("references",), "embedder"),
    _measured("drift", _DRIFT, ("references",), "embedder"),
    _measured("drift_adjusted", _DRIFT, ("references",), "embedder"),
    _measured("drift_euclidean", _DRIFT, ("references",), "embedder"),
    _measured("bleu", _LEXICAL, ("references",), "counts"),
    _measured("chrf", _LEXICAL, ("references",), "counts"),
    _measured("length_ratio", _LEXICAL, ("references",), "counts"),
    _measured("comet_avg", _COMET, _BOTH, "encoder"),
    _measured("comet_best", _COMET, _BOTH, "encoder"),
    Metric("ter", *_FURTHER, -1, 0, math.inf, ("references",), "edits", _ter),
    Metric("kiwi", *_FURTHER, 1, -math.inf, math.inf, ("source",), "encoder", _by_checkpoint),
    Metric("xcomet", *_FURTHER, 1, -math.inf, math.inf, _BOTH, "large model", _by_checkpoint),
    Metric("metricx-23", *_FURTHER, -1, 0, 25, ("references",), "large model", _by_checkpoint),
    Metric("metricx-23-qe", *_FURTHER, -1, 0, 25, ("source",), "large model", _by_checkpoint),
    Metric("metricx-24", *_FURTHER, -1, 0, 25, _BOTH, "large model", _by_checkpoint),
    Metric("metricx-24-qe", *_FURTHER, -1, 0, 25, ("source",), "large model", _by_checkpoint),
]
"""All metrics of passages."""

BY_KIND = {metric.name: metric for metric in METRICS}
