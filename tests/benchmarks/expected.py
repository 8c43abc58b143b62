"""What every shipped recipe gives: the table `expected.tsv`, and the same row of a home to which a recipe was added.

Columns: recipe; corpus (`-` if the recipe has none); `files`, where tests find the recipe's files: `data` (the real
data), `mirror` (only the folder of public repositories that mirror.MIRROR names) or `-` (nowhere all, so that nothing
is compared); number of passages; `coverage`, passages with a complete text by translator, without those that an update
has yet to align; `doubts`, doubted pairs by translator; `distance`, the median over passages of the mean cosine
distance among translators with the packaged embedder (`-` if not compared).

Here: the table and its columns. Not here: the comparison (test_expected).
"""

import csv
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.renderings import renderings
from benchmark_assets.references.rows import envelope_rows
from resources.embedders import PackagedEmbedder
from resources.embedding_cache import embed_unique
from resources.keys import CORPUS
from resources.warehouse import Warehouse

TABLE = Path(__file__).with_name("expected.tsv")
NONE = "-"


class Expected(NamedTuple):
    """A row of the table."""

    recipe: str
    corpus: str
    files: str
    passages: str
    coverage: str
    doubts: str
    distance: str


def rows() -> list[Expected]:
    """The rows of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file, delimiter="\t")
    assert tuple(head) == Expected._fields
    return [Expected(*line) for line in lines]


def recipes(*files: str) -> list[str]:
    """Names of the recipes whose files tests find at these places."""
    return list(dict.fromkeys(row.recipe for row in rows() if row.files in files))


def found(warehouse: Warehouse, row: Expected) -> Expected:
    """The row of a corpus in a warehouse. The distance is computed only if the expected row has one."""
    passages = warehouse.read("source_text", columns=["passage"]).filter(row.corpus == CORPUS)
    texts = renderings(warehouse, passages).filter(pl.col("text") != "")
    whole = texts["segments"].list.eval(pl.element().is_not_null()).list.all() & (texts["suspicious"] == 0)
    doubts = warehouse.read("pair_doubt", columns=["corpus", "translator"]).filter(corpus=row.corpus)
    distance = _distance(warehouse, passages, texts.filter(whole)) if row.distance != NONE else NONE
    numbers = str(len(passages)), _counts(texts.filter(whole)), _counts(doubts), distance
    return Expected(row.recipe, row.corpus, row.files, *numbers)


def _counts(of: pl.DataFrame) -> str:
    """Numbers of rows by translator: `hobbes 917, jowett 917`."""
    counts = of.group_by("translator").len().sort("translator").iter_rows()
    return ", ".join(f"{translator} {count}" for translator, count in counts) or NONE


def _distance(warehouse: Warehouse, passages: pl.DataFrame, texts: pl.DataFrame) -> str:
    vectors = embed_unique(texts["text"], PackagedEmbedder(), warehouse, "expected")
    envelopes = envelope_rows(passages, texts.join(vectors, on="text", maintain_order="left"))["reference_envelope"]
    return f"{envelopes.select(1 - pl.col('mean_similarity').median()).item():.3f}"
