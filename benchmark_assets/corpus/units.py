"""Resampling units: groups of passages whose scores are not independent of each other.

Here: which unit each passage belongs to. Not here: resampling (metrics.intervals).
"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Scoring
from benchmark_assets.corpus.registry import sections
from resources.keys import CORPUS
from resources.warehouse import Warehouse

FEWEST = 5
"""Minimum number of units that an interval needs. By default, the units of a corpus are its documents if it has at
least this many documents."""


UNITS = {"passage": pl.String(), "unit": pl.String(), "unit_kind": pl.String()}


def scoring(warehouse: Warehouse) -> dict[str, Scoring]:
    """Settings of the statistics, by corpus."""
    return sections(warehouse, "scoring", Scoring)


def units(warehouse: Warehouse) -> pl.DataFrame:
    """The unit of each passage: columns `passage`, `unit`, and `unit_kind` (what the units are, for signatures)."""
    columns = ["corpus", "passage", "passage_id", "document", "position"]
    passages, settings = warehouse.read("source_text", columns=columns), scoring(warehouse)
    parts = [
        divided(rows, settings.get(corpus, Scoring()).cluster)
        for (corpus,), rows in passages.group_by(["corpus"], maintain_order=True)
    ]
    return pl.concat([pl.DataFrame(schema=UNITS), *parts])


class Division(NamedTuple):
    """How a corpus is divided: a rule as in `Scoring.cluster`, the length of blocks, and what the units are, for
    signatures."""

    rule: str
    length: int
    kind: str


def division(cluster: str, passages: int, documents: int) -> Division:
    """How a corpus with these numbers of passages and documents is divided.

    Notes
    -----
    In a corpus of n passages, a block has ⌈n^(1/3)⌉ consecutive passages of a document. Block lengths of this order are
    optimal for estimating the variance of a mean of dependent observations (Hall, Horowitz and Jing 1995).
    """
    length = math.ceil(round(passages ** (1 / 3), 9))
    rule = cluster or ("document" if documents >= FEWEST else "blocks")
    kinds = {"document": "documents", "blocks": f"blocks of {length} passages", "passage": "passages"}
    return Division(rule, length, kinds.get(rule, f"passages by {rule}"))


def divisions(warehouse: Warehouse, documents: pl.DataFrame) -> dict[str, Division]:
    """How each corpus is divided; `documents` is as `Warehouse.documents` returns it."""
    settings = scoring(warehouse)
    sizes = documents.group_by("corpus").agg(pl.sum("passages").cast(pl.Int64), documents=pl.len())
    return {
        corpus: division(settings.get(corpus, Scoring()).cluster, passages, documents)
        for corpus, passages, documents in sizes.iter_rows()
    }


def units_of(warehouse: Warehouse, documents: pl.DataFrame, divided_by: Mapping[str, Division]) -> pl.DataFrame:
    """The passages of some documents (columns `corpus` and `document`) and their units: `corpus`, `document`, and
    `UNITS`."""
    columns = ["corpus", "passage", "passage_id", "document", "position"]
    rows = warehouse.read("source_text", documents.select("corpus", "document"), columns)
    parts = [
        own.select("corpus", "document", "passage").join(divided(own, by=divided_by[str(corpus)]), on="passage")
        for (corpus,), own in rows.group_by(["corpus"], maintain_order=True)
    ]
    return pl.concat([pl.DataFrame(schema={"corpus": pl.String(), "document": pl.String(), **UNITS}), *parts])


def with_units(rows: pl.DataFrame, warehouse: Warehouse) -> pl.DataFrame:
    """Add the columns `unit` and `unit_kind` to rows with a `passage`; the names of units include the corpus.

    A passage that is no longer in the warehouse is a unit of its own.
    """
    named = units(warehouse).with_columns(unit=pl.format("{}/{}", CORPUS, "unit"))
    return rows.join(named, on="passage", how="left", maintain_order="left").with_columns(
        pl.col("unit").fill_null(pl.col("passage")), pl.col("unit_kind").fill_null("passages")
    )


def kinds(warehouse: Warehouse) -> dict[str, str]:
    """The kind of units (such as documents) in each corpus, for signatures and settings."""
    return dict(units(warehouse).select(CORPUS, "unit_kind").unique().sort("corpus").iter_rows())


def kinds_by_model(warehouse: Warehouse, outputs: pl.DataFrame) -> pl.DataFrame:
    """For each model, the kinds of units in the corpora that have outputs of the model: columns `model` and `units`.

    `outputs` has the columns `model` and `passage`.
    """
    unit_kinds = kinds(warehouse)
    corpora = outputs.select("model", CORPUS).unique().sort("model", "corpus")
    kind = pl.col("corpus").replace_strict(unit_kinds, default="passages", return_dtype=pl.String)
    return corpora.group_by("model").agg(units=pl.format("{} {}", "corpus", kind).str.join("; "))


def unit_settings(warehouse: Warehouse, table: str, partitions: pl.DataFrame, signature: str) -> pl.DataFrame:
    """Settings by model of scores that are computed from the rows of a table about passages, and from their units."""
    rows = warehouse.read(table, partitions.select("model"), ["model", "passage"])
    return kinds_by_model(warehouse, rows).select("model", settings=pl.format("{}; {}", pl.lit(signature), "units"))


def divided(passages: pl.DataFrame, cluster: str = "", by: Division | None = None) -> pl.DataFrame:
    """The unit of each passage of one corpus: columns of `UNITS`.

    Parameters
    ----------
    passages
        Columns `passage`, `passage_id`, `document` and `position` (in the document, from 0).
    cluster
        As in `Scoring`. If `cluster` is a regular expression, a passage that it does not match is a unit of its own.
    by
        How the corpus is divided, if `passages` are a part of it.
    """
    by = by or division(cluster, len(passages), passages["document"].n_unique())
    match by.rule:
        case "document":
            unit = passages["document"]
        case "blocks":
            block = pl.format("{}#{}", "document", pl.col("position") // by.length)
            unit = passages.select(block).to_series()
        case "passage":
            unit = passages["passage_id"]
        case pattern:
            names = [match[0] if (match := re.search(pattern, name)) else name for name in passages["passage_id"]]
            unit = pl.Series(names, dtype=pl.String)
    return passages.select("passage", unit=unit, unit_kind=pl.lit(by.kind))
