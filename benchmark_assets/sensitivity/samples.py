"""Samples of corpora from the warehouse. Not here: drawing passages, damaging them (sample)."""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Sensitivity
from benchmark_assets.sensitivity.sample import chosen, variants
from resources.digest import digest
from resources.keys import CORPUS
from resources.warehouse import Warehouse


class Sample(NamedTuple):
    """The damaged passages of a corpus: `language` and complete `references` (`passage`, `translator`, `text`)."""

    language: str
    seed: int
    references: pl.DataFrame


def samples(warehouse: Warehouse, corpora: Iterable[str]) -> list[Sample]:
    """Samples of corpora. Passages with fewer than two complete references cannot be scored and are in no sample."""
    spoken, wanted = languages(warehouse), _wanted(warehouse)
    complete = warehouse.read("reference", columns=["passage", "complete"]).filter("complete")
    counts = complete.group_by("passage").len().filter(pl.col("len") > 1).with_columns(CORPUS)
    drawn = []
    for corpus in sorted(set(corpora) & set(spoken)):
        count, seed = wanted[corpus].passages, wanted[corpus].seed
        passages = chosen(counts.filter(corpus=corpus)["passage"].to_list(), count, seed)
        key = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        references = warehouse.read("reference", key, ["passage", "translator", "text", "complete"])
        drawn.append(Sample(spoken[corpus], seed, references.filter("complete").drop("complete")))
    return drawn


def settings(warehouse: Warehouse, asked: pl.DataFrame) -> pl.DataFrame:
    """Passages of `asked` that are in a sample, with `settings`, a digest of everything that decides their damage. It
    covers the whole sample, because additions and wrong terms come from its other passages."""
    rows = [
        (passage, digest(sample.language, sample.seed, sample.references.rows()))
        for sample in samples(warehouse, asked.select(CORPUS).to_series())
        for passage in sample.references["passage"].unique()
    ]
    drawn = pl.DataFrame(rows, schema=["passage", "settings"], orient="row")
    return drawn.cast(pl.String).join(asked, on="passage", how="semi")


def damaged(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Rows of `damaged_text` for passages; none for a passage outside the sample."""
    parts = [warehouse.empty("damaged_text").drop("fingerprint")]
    for sample in samples(warehouse, passages.select(CORPUS).to_series()):
        sampled = passages.join(sample.references, on="passage", how="semi")
        sources = warehouse.read("source_text", sampled, ["passage", "text"])
        parts.append(variants(sources, sample.references, sample.language, sample.seed))
    return pl.concat(parts)


def languages(warehouse: Warehouse) -> dict[str, str]:
    """Language of each corpus's references."""
    return dict(warehouse.read("corpus", columns=["corpus", "target_language"]).drop_nulls().iter_rows())


def _wanted(warehouse: Warehouse) -> dict[str, Sensitivity]:
    """The section `sensitivity` of each corpus's description."""
    rows = warehouse.read("corpus", columns=["corpus", "sensitivity"]).iter_rows()
    return {corpus: Sensitivity.model_validate_json(text or "{}") for corpus, text in rows}
