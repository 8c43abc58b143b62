"""Scores by the metrics that the registry names: rows of `segment_metric`, `human_metric` and `metric_span`.

Here: computing and reading them. Not here: the metrics (entries), checkpoints (resources.comet), aggregates.
"""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from benchmark_assets.metrics.entries import KINDS, MEASURES
from benchmark_assets.metrics.metric import FURTHER, Metric, Texts
from benchmark_assets.metrics.tokenizers import tokenized
from resources import catalogue
from resources.catalogue import schema
from resources.comet.comet import Comet
from resources.comet.worker import EXAMPLES
from resources.digest import digest
from resources.errors import BadInput
from resources.provider.registry import MetricEntry, default_path
from resources.warehouse import Warehouse

SOUND = "none"
"""Kind of damage of an undamaged translation; its severity is 0."""

SCORE = schema("segment_metric", "model", "passage")
SPAN = schema("metric_span", "model", "passage")
TAKEN = (catalogue.shared().keys() | catalogue.table("leaderboard").columns.keys()) - KINDS.keys()


class Named(NamedTuple):
    """A metric that the registry names, and its checkpoint, which is empty if the metric has none."""

    metric: Metric
    checkpoint: Comet = Comet()

    @property
    def signature(self) -> pl.Expr:
        """What determines a score besides the texts; it may depend on the column `tokenizer`."""
        return self.metric.signature(self.checkpoint)


NamedMetrics = Mapping[str, Named]
"""Metrics by their names in the registry."""


def named(entries: Mapping[str, MetricEntry]) -> dict[str, Named]:
    """The metrics under `metrics` in the registry, by name.

    Raises
    ------
    BadInput
        For an unknown kind, or a name that another column of the boards has.
    """
    for name, entry in entries.items():
        if entry.kind not in KINDS:
            problem = f"{entry.kind!r} is not a kind of metric"
            raise BadInput(default_path(), f"metrics.{name}.kind", problem, f"give one of {', '.join(KINDS)}")
        if entry.checkpoint and entry.kind not in EXAMPLES:
            problem = f"{entry.kind} uses no checkpoint"
            raise BadInput(default_path(), f"metrics.{name}.checkpoint", problem, "remove the key")
        if name in TAKEN:
            raise BadInput(default_path(), f"metrics.{name}", "is the name of another column", "rename it, with a kind")
    return {
        name: Named(KINDS[entry.kind], Comet(**entry.model_dump()) if entry.checkpoint else Comet())
        for name, entry in entries.items()
    }


def score_settings(warehouse: Warehouse, metrics: NamedMetrics, partitions: pl.DataFrame) -> pl.DataFrame:
    """Add the column `settings` to `partitions`, which has the column `passage`. If `metrics` is empty, the result
    has no rows."""
    if not metrics:
        return partitions.clear().with_columns(settings=pl.lit(""))
    signatures = [pl.format("{}: {}", pl.lit(name), metrics[name].signature) for name in sorted(metrics)]
    rows = tokenized(warehouse, partitions)
    return rows.select(pl.exclude("tokenizer"), settings=pl.concat_str(signatures, separator="; "))


def scores(
    metrics: NamedMetrics, candidates: pl.DataFrame, references: pl.DataFrame, sources: pl.DataFrame,
    on: list[str], stored: pl.DataFrame | None = None, stored_spans: pl.DataFrame | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:  # fmt: skip
    """Score candidates by all metrics of the registry.

    Stored scores with the same signature and the same texts are reused, so that only the scores of a new metric are
    computed.

    Parameters
    ----------
    metrics
        Metrics by their names in the registry.
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
    for name, named_metric in metrics.items():
        metric, checkpoint = named_metric
        assert metric.score is not None
        entry = pl.lit(metric.name).alias("entry")
        described = numbered.with_columns(entry, metric=pl.lit(name), signature=named_metric.signature)
        if stored is not None:
            kept = stored.join(described, on=[*on, "metric", "signature", "inputs"], how="semi")
            rows.append(kept.with_columns(entry).select(*on, *SCORE))
            if stored_spans is not None:
                spans.append(stored_spans.join(kept, on=[*on, "metric"], how="semi").select(*on, *SPAN))
            described = described.join(kept, on=on, how="anti", maintain_order="left")
        scored = metric.score(Texts(*(part.join(described, on="item", how="semi") for part in texts)), checkpoint)
        if "signature" not in scored.columns:
            scored = scored.with_columns(signature=pl.lit(None, pl.String))
        totals = scored.group_by("item").agg(
            pl.col("score").mean(), pl.col("cut").any(), other=pl.col("signature").first()
        )
        totals = described.join(totals, on="item", how="left", maintain_order="left")
        rows.append(totals.with_columns(signature=pl.coalesce("other", "signature")).select(*on, *SCORE))
        if "spans" in scored.columns:
            spans.append(keys.join(_errors(scored), on="item").with_columns(metric=pl.lit(name)).select(*on, *SPAN))
    return (
        pl.concat([pl.DataFrame(schema={**key_schema, **SCORE}), *rows]),
        pl.concat([pl.DataFrame(schema={**key_schema, **SPAN}), *spans]),
    )


def named_in(warehouse: Warehouse) -> list[Metric]:
    """The metrics with scores in a warehouse that the registry names or named."""
    columns = ["metric", "entry", "signature"]
    return named_among(pl.concat(warehouse.read(table, columns=columns) for table in FURTHER))


def named_among(rows: pl.DataFrame) -> list[Metric]:
    """The metrics of rows with the columns `metric`, `entry` and `signature`.

    A metric under a name of its own in the registry has this name as its label. `made` has the signatures of its
    scores.
    """
    kinds = rows.select("metric", pl.coalesce("entry", "metric"), "signature").unique()
    named = []
    for name, kind, signatures in (
        kinds.group_by("metric", "entry").agg("signature").sort("metric", "entry").iter_rows()
    ):
        if kind in KINDS:
            label = KINDS[kind].label if name == kind else name
            named.append(KINDS[kind]._replace(name=name, label=label, made=", ".join(sorted(signatures))))
            catalogue.declare(named[-1].shown)
    return named


def metrics_of(warehouse: Warehouse) -> list[Metric]:
    """All metrics with scores in a warehouse: those of every corpus, then those of `named_in`."""
    return [*MEASURES, *named_in(warehouse)]


def scores_of(warehouse: Warehouse, table: str, on: list[str], keys: pl.DataFrame | None = None) -> pl.DataFrame:
    """Scores in `segment_metric` or `human_metric`: columns `on`, and one for each metric."""
    return by_metric(warehouse.read(table, keys, [*on, "metric", "score"]), on)


def by_metric(rows: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Scores with a column for each metric, from rows with the columns `on`, `metric` and `score`."""
    return rows.sort("metric").pivot("metric", index=on, values="score", maintain_order=True)


def _inputs(texts: Texts) -> pl.DataFrame:
    """Digest of all texts that may determine a candidate's scores: columns `item` and `inputs`."""
    references = texts.references.sort("translator").group_by("item").agg(references=pl.struct("translator", "text"))
    rows = texts.candidates.join(texts.sources.select("item", source="text"), on="item", how="left")
    rows = rows.join(references, on="item", how="left").select("item", "text", "source", "references")
    digests = [digest(*row[1:]) for row in rows.iter_rows()]
    return rows.select("item", pl.Series("inputs", digests, dtype=pl.String))


def _errors(scored: pl.DataFrame) -> pl.DataFrame:
    """One row for each mark: `item`, `translator`, `place` (from 1) and the fields of the mark. A metric with one score
    for all references names the translator in each mark."""
    rows = scored.select(name for name in ("item", "translator", "spans") if name in scored.columns)
    errors = rows.with_columns(place=pl.int_ranges(1, pl.col("spans").list.len() + 1)).explode("spans", "place")
    errors = errors.drop_nulls("spans").unnest("spans").rename({"confidence": "probability"})
    return errors.cast({name: kind for name, kind in SPAN.items() if name in errors.columns})
