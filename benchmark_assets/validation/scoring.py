"""Scores of a gold set's outputs by all metrics, computed by the functions that score a corpus.

Outputs of systems are scored against all references; a person's translation against the others. Not here: what the
scores are worth (figures).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import polars as pl

from benchmark_assets.metrics.comet import summed, triples
from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.metrics.entries import COMET, DRIFT, KINDS, LEXICAL, MEASURES
from benchmark_assets.metrics.further import Named, NamedMetrics, scores
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.metrics.tokenizers import DEFAULT, load, tokenizer_of
from benchmark_assets.references.rows import envelope_rows
from benchmark_assets.validation.gold import GoldSet, labels
from resources.comet.comet import Comet
from resources.comet.worker import EXAMPLES
from resources.errors import BadInput

ON = ["system", "passage"]

SOURCE_LENGTH = Metric(
    "source_length", 0, ("source",), "counts", harm=pl.col("source_length"), label="source length", least=0
)
"""The baseline of detectors: a long passage has more room for errors. It tells no system from another."""

NO_COMET = Comet()

Embed = Callable[[pl.Series], pl.DataFrame]
"""Vectors of distinct texts: columns `text`, `vector` and `cut`."""


class Scored(NamedTuple):
    """Scores by some metrics with one embedder ('' if they use none).

    `rows` has the columns `ON`, a column for each metric, and their lists of statistics. `spans` has the columns `ON`,
    `start` and `end` (exclusive) of the words that the metrics mark.
    """

    metrics: list[Metric]
    embedder: str
    signature: str
    rows: pl.DataFrame
    spans: pl.DataFrame | None = None


def short(signature: str) -> str:
    """Name of an embedder, from its signature: without versions of packages, with which its vectors change little."""
    words = signature.partition("|")[0].split()
    return " ".join(word for word in words if not word[0].isdigit())


def competing(named: NamedMetrics) -> NamedMetrics:
    """The metrics that the registry names, and all kinds that need no checkpoint."""
    return {name: Named(kind) for name, kind in KINDS.items() if name not in EXAMPLES} | dict(named)


def without_tokenizer(gold: GoldSet) -> str:
    """Why BLEU and the metrics that divide texts as it does cannot score the set, and the remedy; '' if they can."""
    name = tokenizer_of(gold.language)
    try:
        load(name)
    except BadInput as fault:
        remedy = fault.remedy.partition(", or ")[0]  # a gold set has no description that names another one
        return f"without BLEU and what divides texts as it does, because of {name}: {fault.problem}; {remedy}"
    return ""


def scored(
    gold: GoldSet, embedders: Mapping[str, Embed], metrics: NamedMetrics, comet: Comet = NO_COMET
) -> Iterator[Scored]:
    """Scores of all rated outputs by every metric that can score them: see `without_tokenizer`.

    Parameters
    ----------
    embedders
        By signature.
    metrics
        Further metrics (`competing`).
    comet
        The checkpoint of COMET; empty for none.
    """
    rated = labels(gold)
    outputs = rated.select(*ON, "text", group=_group())
    groups = outputs.select("group", "passage").unique(maintain_order=True)
    references = groups.join(gold.references, on="passage", maintain_order="left_right")
    references = references.filter(pl.col("group") != _group("translator"))
    sources = groups.join(gold.passages, on="passage").select(passage="group", text="source").drop_nulls("text")
    lacking = without_tokenizer(gold)
    candidates = outputs.with_columns(tokenizer=pl.lit(tokenizer_of(gold.language)))

    for signature, embed in embedders.items():
        yield Scored(_of(DRIFT.table), short(signature), signature, _semantic(outputs, references, embed))
    length = rated.select(*ON, source_length=pl.col("source").str.len_chars())
    yield Scored([SOURCE_LENGTH], "", "", length)
    spaced = candidates.with_columns(tokenizer=pl.lit(DEFAULT)) if lacking else candidates
    lexical = lexical_scores(spaced, references, on=[*ON, "group"], within=["group"])
    measures = [metric for metric in _of(LEXICAL.table) if not lacking or not metric.name.startswith("bleu")]
    yield Scored(measures, "", "", lexical.drop("group"))
    items = candidates.with_columns(passage="group", translation_of="passage")
    within = references.select("translator", "text", passage="group")
    on = ["system", "passage", "translation_of"]
    if comet.checkpoint:
        found = summed(items, comet.score(triples(items, within, sources, on)), on)
        yield Scored(_of(COMET.table), "", comet.signature, _ungrouped(found))
    for name, metric in metrics.items():
        if lacking and metric.metric.divided:
            continue
        rows, spans = scores({name: metric}, items, within, sources, on)
        rows, spans = _ungrouped(rows), _ungrouped(spans)
        signature = str(rows["signature"][0]) if len(rows) else ""
        entry = metric.metric._replace(name=name)
        marks = spans.filter(pl.col("severity") != "missing").select(*ON, "start", "end")  # others: in references
        yield Scored(
            [entry], "", signature, rows.select(*ON, pl.col("score").alias(name)), marks if len(marks) else None
        )


def _of(table: str) -> list[Metric]:
    return [metric for metric in MEASURES if metric.family.table == table]


def _group(person: str = "system") -> pl.Expr:
    """The passage, with the person's name if the output is by a person: their translation has other references."""
    if person == "system":
        return pl.when(pl.col("human")).then(pl.format("{}\t{}", "passage", "system")).otherwise("passage")
    return pl.format("{}\t{}", "passage", person)


def _ungrouped(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.drop("passage").rename({"translation_of": "passage"})


def _semantic(outputs: pl.DataFrame, references: pl.DataFrame, embed: Embed) -> pl.DataFrame:
    vectors = embed(pl.concat([outputs["text"], references["text"]]).unique(maintain_order=True))
    candidates = outputs.join(vectors, on="text", maintain_order="left")
    within = references.drop("passage").rename({"group": "passage"}).join(vectors, on="text", maintain_order="left")
    envelopes = envelope_rows(within.select("passage").unique(maintain_order=True), within)["reference_envelope"]
    found, _ = semantic_scores(
        candidates.drop("passage").rename({"group": "passage"}), within, envelopes, ["system", "passage"], ["passage"]
    )
    return outputs.join(found, left_on=["system", "group"], right_on=["system", "passage"], maintain_order="left")
