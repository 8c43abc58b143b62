"""The labels of a corpus's own people as a gold set, with the stored scores of the labeled outputs.

Not here: figures (rows), labels from files (people.answers).
"""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS, MAJOR, MINOR, SUBSTANTIVE
from benchmark_assets.metrics.entries import DRIFT, MEASURES
from benchmark_assets.metrics.further import named_in
from benchmark_assets.metrics.scores import model_scores
from benchmark_assets.people.mqm import LABEL_POINTS
from benchmark_assets.validation.gold import MQM, SPANS, GoldSet
from benchmark_assets.validation.rows import VALIDATION, rows_of
from benchmark_assets.validation.scoring import SOURCE_LENGTH, Scored, short
from resources.keys import CORPUS
from resources.warehouse import Warehouse

LEAST = 100
"""Labeled outputs from which a corpus measures metrics by its own labels."""

NOTE = "labels of a sample stratified by drift, unweighted"


def rows_of_people(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `validation` with origin 'people', for each corpus with `LEAST` labeled outputs of the sample."""
    drawn = warehouse.read("triage", columns=["model", "passage", "sampled", "drift"]).filter("sampled")
    drawn = drawn.drop_nulls("drift")
    given = warehouse.read("human_label").filter(pl.col("label").is_in(SUBSTANTIVE))
    given = given.join(drawn, on=["model", "passage"], how="semi").with_columns(CORPUS)
    counts = given.group_by("corpus").agg(outputs=pl.struct("model", "passage").n_unique())
    corpora = sorted(counts.filter(pl.col("outputs") >= LEAST)["corpus"])
    scores = model_scores(warehouse) if corpora else pl.DataFrame()
    parts = [
        rows_of(gold, _stored(warehouse, gold, scores), "people", NOTE)
        for gold in (_gold(warehouse, corpus, given.filter(corpus=corpus)) for corpus in corpora)
    ]
    return pl.concat([pl.DataFrame(schema=VALIDATION), *parts])


def _gold(warehouse: Warehouse, corpus: str, given: pl.DataFrame) -> GoldSet:
    keys = given.select("passage").unique()
    texts = warehouse.read("source_text", keys, ["passage", "document", "position", "text"]).sort(
        "document", "position"
    )
    passages = texts.select("passage", "document", position=pl.int_range(pl.len()), source="text")
    references = warehouse.read("reference", keys, ["passage", "translator", "text", "complete"]).filter("complete")
    outputs = warehouse.read("model_output", given.select("model", "passage").unique(), ["model", "passage", "text"])
    ratings = given.select(
        "passage", system="model", rater="annotator", score=pl.col("label").replace_strict(LABEL_POINTS) * 1.0,
        major=(pl.col("label") == MAJOR).cast(pl.Int32), minor=(pl.col("label") == MINOR).cast(pl.Int32),
    )  # fmt: skip
    kinds = given.filter(pl.col("label").is_in(ERRORS)).select(
        "passage", system="model", rater="annotator", start=pl.lit(None, pl.Int64), end=pl.lit(None, pl.Int64),
        severity=pl.when(pl.col("label") == MAJOR).then(pl.lit("major")).otherwise(pl.lit("minor")),
        category=pl.col("error_category").str.to_lowercase(),
    )  # fmt: skip
    made = outputs.rename({"model": "system"}).with_columns(human=pl.lit(False))
    return GoldSet(corpus, "", MQM, passages, references.drop("complete"), made, ratings, kinds.select(SPANS.names()))


def _stored(warehouse: Warehouse, gold: GoldSet, scores: pl.DataFrame) -> Iterator[Scored]:
    """The stored scores of the labeled outputs, by embedder."""
    rows = gold.outputs.select("system", "passage").join(scores, on=["system", "passage"])
    for (embedder,), part in rows.group_by(["embedder"], maintain_order=True):
        metrics = [metric for metric in MEASURES if metric.family == DRIFT]
        yield Scored(metrics, short(str(embedder)), str(embedder), part)
    length = gold.outputs.join(gold.passages, on="passage").with_columns(source_length=pl.col("source").str.len_chars())
    others = [metric for metric in MEASURES if metric.family != DRIFT]
    yield Scored([SOURCE_LENGTH], "", "", length)
    yield Scored(others, "", ", ".join(rows["comet"].drop_nulls().unique()), rows)
    for metric in named_in(warehouse):
        yield Scored([metric], "", metric.made, rows)
