"""Rows of the table `validation`: all figures of a gold set, with intervals, and the ceiling set by the raters.

Here: which figures are computed from which outputs. Not here: the figures (figures), scores (scoring), what the rows
certify (certificates).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.corpus.units import divided
from benchmark_assets.metrics.intervals import BOOTSTRAP, Floats, Units, bounded, effective_units, sample_and_resamples
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.validation import figures
from benchmark_assets.validation.figures import Figure, Flags, OutputPairs
from benchmark_assets.validation.gold import ESA, GoldSet, has_major, labels
from benchmark_assets.validation.raters import ceiling
from benchmark_assets.validation.scoring import ON, Scored
from resources.catalogue import schema

VALIDATION = schema("validation")

DOCUMENTS = 10
"""Documents from which intervals are by document; with fewer, they are by blocks of passages, and too narrow."""

THRESHOLD = 1.5
"""Drift above which the audit queues an output unless a description says otherwise (corpus.description.Audit)."""

LEAST_OF_SYSTEM = 5
"""Rated passages that a system needs to be compared with others."""

LEAST_OF_KIND = 20
"""Outputs with an error of a kind that its figures need."""

SHARES = {"recall_10": 0.10, "recall_25": 0.25}

_BLOCKS = "intervals by blocks of passages, because the set has fewer than ten documents: they are too narrow"


class Frame(NamedTuple):
    """The labeled outputs of a gold set as arrays.

    `rows` is sorted as `gold.labels` sorts them, people's translations included. `models` is false for those.
    `effective` is the effective number of units. `ratings` has a row for each rating of a system's output by a known
    rater: `output` (row), `rater` (number) and `worse` (whether the rater marked a major error); `same_rater` are pairs
    of these ratings, by one rater and of one passage.
    """

    rows: pl.DataFrame
    models: Flags
    major: Flags
    scores: Floats
    units: Units
    weights: Floats
    effective: float
    unit_kind: str
    pairs: OutputPairs
    ratings: pl.DataFrame
    same_rater: OutputPairs


def frame(gold: GoldSet) -> Frame:
    """Arrange a gold set's labels, and divide its passages into units."""
    rows = labels(gold)
    passages = rows.select("passage", "position", document=pl.col("document").fill_null("")).unique("passage")
    passages = passages.sort("position").with_columns(
        passage_id="passage", position=pl.int_range(pl.len()).over("document")
    )
    cluster = "document" if passages["document"].n_unique() >= DOCUMENTS else "blocks"
    division = divided(passages, cluster)
    unit = rows.select("passage").join(division, on="passage", maintain_order="left")["unit"]
    units, models = numbered_units(unit), ~rows["human"].to_numpy()
    sizes = np.bincount(units[models], minlength=int(units.max()) + 1).astype(np.float64)
    major, scores = rows["major"].to_numpy(), rows["score"].to_numpy()
    numbers = rows["passage"].rank("dense").to_numpy().astype(np.int64)
    places = np.where(models, numbers, -np.arange(1, len(rows) + 1))  # people are in no pair
    ratings = rows.select(*ON, output=pl.int_range(pl.len())).filter(models).join(
        gold.ratings.filter(pl.col("rater") != "").with_columns(worse=has_major(gold.scale)), on=ON
    )  # fmt: skip
    group, rater = (
        ratings.select(pl.struct(by).rank("dense").cast(pl.Int64)).to_series()
        for by in (["passage", "rater"], ["rater"])
    )
    ratings = ratings.select("output", "worse", "score", rater=rater)
    of, worse = units[ratings["output"].to_numpy()], ratings["worse"].to_numpy()
    return Frame(
        rows, models, major, scores, units, sample_and_resamples(len(sizes)), effective_units(sizes),
        division["unit_kind"][0], figures.pairs(places, units, scores, major), ratings,
        figures.pairs(group.to_numpy(), of, ratings["score"].to_numpy(), worse),
    )  # fmt: skip


def rows_of(gold: GoldSet, scored: Iterable[Scored], origin: str = "gold", note: str = "") -> pl.DataFrame:
    """Rows of `validation`: every figure of every metric, and of the raters (metric '').

    `scored` are the scores of the set's outputs, as `scoring.scored` yields them; `origin` and `note` are columns.
    """
    labeled = frame(gold)
    warning = _BLOCKS if labeled.unit_kind != "documents" else ""
    budget: float | None = None
    result = []
    for part in scored:
        aligned = labeled.rows.select(ON).join(part.rows, on=ON, how="left", maintain_order="left")
        if budget is None and "drift" in aligned.columns:
            drift = aligned["drift"].to_numpy()[labeled.models]
            budget = float(np.nanmean(drift > THRESHOLD)) if np.isfinite(drift).any() else None
        for metric in part.metrics:
            found = list(_figures(metric, aligned, labeled, gold, budget))
            if part.spans is not None and len(gold.spans):
                found.append((_spans(part.spans, labeled, gold), ""))
            result += [(metric.name, part.embedder, part.signature, kind, figure) for figure, kind in found]
    result += [
        ("", "", "", kind, figure) for figure, kind in ceiling(gold, labeled.rows, labeled.units, labeled.weights)
    ]
    rows = []
    for metric_name, embedder, signature, kind, figure in result:
        if figure.n and not np.isnan(figure.values[0]):
            value, low, high = bounded(figure.values, labeled.effective)
            rows.append((
                gold.name, origin, metric_name, embedder, figure.name, kind, value, low, high, figure.n,
                labeled.weights.shape[1], labeled.unit_kind, "; ".join(filter(None, (note, warning))) or None,
                f"{signature}; {_scale(gold)}; {BOOTSTRAP}".removeprefix("; "),
            ))  # fmt: skip
    return pl.DataFrame(rows, VALIDATION, orient="row")


def lacks(gold: GoldSet) -> Iterator[str]:
    """What a gold set lacks, with the figures that it cannot have."""
    if gold.references.is_empty():
        yield (
            "no references, so only source_length and metrics without references are measured: give references, or name"
            " outputs of translators ref, refB or reference NAME"
        )
    if not labels(gold).filter(~pl.col("human"))["major"].any():
        yield "no output has a major error, so AUC, recall and precision are not measured"


def overview(rows: pl.DataFrame) -> pl.DataFrame:
    """The main figures as a table: a row for each metric and embedder, the raters last; bounds for the AUC within
    passages and the accuracy of systems."""
    shown = ["auc_pooled", "auc_within", "auc_same_rater", "recall_10", "precision_budget", "system_accuracy"]
    main = rows.filter(pl.col("kind") == "", pl.col("figure").is_in([*shown, "ceiling_pooled", "ceiling_within"]))
    bounded_figures = pl.col("figure").is_in(["auc_within", "system_accuracy"]) & pl.col("value_low").is_not_null()
    value, low, high = (pl.col(name).round(3).cast(pl.String) for name in ("value", "value_low", "value_high"))
    words = pl.when(bounded_figures).then(pl.format("{} [{}, {}]", value, low, high)).otherwise(value)
    named = main.with_columns(
        words=words, figure=pl.col("figure").str.replace("ceiling", "auc"),
        metric=pl.when(pl.col("metric") == "").then(pl.lit("another rater")).otherwise("metric"),
    )  # fmt: skip
    table = named.pivot("figure", index=["metric", "embedder"], values="words", maintain_order=True)
    return table.select("metric", "embedder", *(name for name in shown if name in table.columns))


def _scale(gold: GoldSet) -> str:
    known = gold.ratings["major"].null_count() < len(gold.ratings)
    limit = "score below 66 of 100" if gold.scale == ESA else "MQM 5 or more"
    return f"major error: {'marked by at least half of the raters' if known else limit}"


def _figures(
    metric: Metric, aligned: pl.DataFrame, labeled: Frame, gold: GoldSet, budget: float | None
) -> Iterator[tuple[Figure, str]]:
    """All figures of a metric, with the kind of error or of outputs that they are about."""
    models, weights = labeled.models, labeled.weights
    if metric.grain != "corpus":
        suspicion = aligned.select(metric.damage.cast(pl.Float64)).to_series().to_numpy().astype(np.float64)
        suspicion = np.where(models, suspicion, np.nan)
        yield from ((figure, "") for figure in _of_outputs(suspicion, labeled, budget))
        for kind, hit in _kinds(labeled, gold):
            chosen = np.where(hit | ~labeled.major, suspicion, np.nan)
            yield _pooled(chosen, labeled, "auc_pooled"), kind
            by_kind = labeled.pairs._replace(differ=hit[labeled.pairs.first] != hit[labeled.pairs.second])
            yield figures.of_labels("auc_within", chosen, hit, by_kind, weights), kind
    if metric.better:
        yield from _of_systems(metric, aligned, labeled)


def _of_outputs(suspicion: Floats, labeled: Frame, budget: float | None) -> Iterator[Figure]:
    yield _pooled(suspicion, labeled, "auc_pooled")
    yield from figures.of_pairs(suspicion, labeled.major, labeled.pairs, labeled.weights)
    yield from _by_rater(suspicion, labeled)
    n = int(np.isfinite(suspicion).sum())
    if not n:
        return
    shares = [*SHARES.values(), *([budget] if budget else [])]
    found = figures.captured(suspicion, labeled.major, labeled.units, labeled.weights, shares)
    yield from (Figure(name, recall, n) for name, (recall, _) in zip(SHARES, found, strict=False))
    if budget:
        yield Figure("precision_budget", found[-1][1], round(budget * n))


def _by_rater(suspicion: Floats, labeled: Frame) -> Iterator[Figure]:
    """AUC among ratings by one rater: of all passages, and of one passage."""
    output, worse, rater = (labeled.ratings[name].to_numpy() for name in ("output", "worse", "rater"))
    own = suspicion[output]
    counts = figures.concordance(own, worse, rater, labeled.units[output], labeled.weights.shape[1])
    yield figures.auc("auc_adjusted", counts, labeled.weights)._replace(n=int(np.isfinite(own).sum()))
    yield figures.of_labels("auc_same_rater", own, worse, labeled.same_rater, labeled.weights)


def _pooled(suspicion: Floats, labeled: Frame, name: str) -> Figure:
    """AUC over all outputs."""
    together = np.zeros(len(suspicion), np.int64)
    counts = figures.concordance(suspicion, labeled.major, together, labeled.units, labeled.weights.shape[1])
    return figures.auc(name, counts, labeled.weights)._replace(n=int(np.isfinite(suspicion).sum()))


def _kinds(labeled: Frame, gold: GoldSet) -> Iterator[tuple[str, Flags]]:
    """Kinds of major errors, with the outputs that have one: categories that enough outputs have."""
    severe = gold.spans.filter(pl.col("severity").is_in(["major", "critical"]), pl.col("category") != "")
    keyed = labeled.rows.select(*ON, "human")
    for (kind,), errors in severe.sort("category").group_by(["category"], maintain_order=True):
        hit = keyed.join(errors.select(ON).unique(), on=ON, how="left", maintain_order="left", coalesce=False)
        flags = hit[f"{ON[0]}_right"].is_not_null().to_numpy() & labeled.models & labeled.major
        if flags.sum() >= LEAST_OF_KIND:
            yield str(kind), flags


def _of_systems(metric: Metric, aligned: pl.DataFrame, labeled: Frame) -> Iterator[tuple[Figure, str]]:
    statistics = metric.statistics(aligned)
    present = statistics[:, 0] > 0
    names = labeled.rows["system"].rank("dense").to_numpy().astype(np.int64) - 1
    human = np.zeros(names.max() + 1, bool)
    human[names[~labeled.models]] = True
    table = np.zeros((labeled.weights.shape[1], len(human), statistics.shape[1]))
    people = np.zeros((*table.shape[:2], 2))
    np.add.at(table, (labeled.units, names), statistics)
    gold = np.stack([present * 1.0, np.where(present, labeled.scores, 0)], axis=1)
    np.add.at(people, (labeled.units, names), gold)
    scored = table[..., 0].sum(axis=0) >= LEAST_OF_SYSTEM
    if scored[~human].sum() > 1:
        goodness, by_people = figures.of_systems(metric, table[:, scored], people[:, scored], labeled.weights)
        yield from figures.order_of_systems(goodness, by_people, ~human[scored])


def _spans(predicted: pl.DataFrame, labeled: Frame, gold: GoldSet) -> Figure:
    """F1 of the words that a metric marks against the words that raters marked, over outputs of systems."""
    keys = labeled.rows.select(ON).rows()
    marks = [_by_output(rows) for rows in (predicted, gold.spans.drop_nulls("start"))]
    chosen = np.flatnonzero(labeled.models)
    matches = np.array([figures.matched_spans(*(mark.get(keys[row], []) for mark in marks)) for row in chosen])
    return figures.span_f1(matches, labeled.units[chosen], labeled.weights)


def _by_output(spans: pl.DataFrame) -> dict[tuple[str, str], list[tuple[int, int]]]:
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for system, passage, start, end in spans.select(*ON, "start", "end").unique(maintain_order=True).iter_rows():
        if end > start:
            found.setdefault((system, passage), []).append((start, end))
    return found
