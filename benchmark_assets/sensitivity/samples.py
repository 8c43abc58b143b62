"""Samples of corpora out of the warehouse. Not here: how passages are drawn, what is done to them (sample)."""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Sensitivity
from benchmark_assets.sensitivity.sample import chosen, variants
from resources.digest import digest
from resources.keys import CORPUS
from resources.warehouse import Warehouse


class Sample(NamedTuple):
    """Passages of a corpus that are damaged: `language` and complete `references` (`passage`, `translator`, `text`)."""

    language: str
    seed: int
    references: pl.DataFrame


def samples(warehouse: Warehouse, corpora: Iterable[str]) -> list[Sample]:
    """Samples of corpora; a passage with fewer than two complete references, which cannot be scored, is in none."""
    spoken, wanted = languages(warehouse), _wanted(warehouse)
    complete = warehouse.read("reference", columns=["passage", "complete"]).filter("complete")
    counts = complete.group_by("passage").len().filter(pl.col("len") > 1).with_columns(CORPUS)
    found = []
    for corpus in sorted(set(corpora) & set(spoken)):
        count, seed = wanted[corpus].passages, wanted[corpus].seed
        passages = chosen(counts.filter(corpus=corpus)["passage"].to_list(), count, seed)
        key = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        references = warehouse.read("reference", key, ["passage", "translator", "text", "complete"])
        found.append(Sample(spoken[corpus], seed, references.filter("complete").drop("complete")))
    return found


def settings(warehouse: Warehouse, asked: pl.DataFrame) -> pl.DataFrame:
    """Those of the passages that are in a sample, and in `settings` all that decides on their damage: an addition and a
    wrong term come from elsewhere in the sample."""
    rows = [
        (passage, digest(each.language, each.seed, each.references.rows()))
        for each in samples(warehouse, asked.select(CORPUS).to_series())
        for passage in each.references["passage"].unique()
    ]
    drawn = pl.DataFrame(rows, schema=["passage", "settings"], orient="row")
    return drawn.cast(pl.String).join(asked, on="passage", how="semi")


def damaged(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Rows of `damaged_text` for passages; none for one that is in no sample."""
    parts = [warehouse.empty("damaged_text").drop("fingerprint")]
    for each in samples(warehouse, passages.select(CORPUS).to_series()):
        own = passages.join(each.references, on="passage", how="semi")
        sources = warehouse.read("source_text", own, ["passage", "text"])
        parts.append(variants(sources, each.references, each.language, each.seed))
    return pl.concat(parts)


def languages(warehouse: Warehouse) -> dict[str, str]:
    """Language of each corpus's references."""
    return dict(warehouse.read("corpus", columns=["corpus", "target_language"]).drop_nulls().iter_rows())


def _wanted(warehouse: Warehouse) -> dict[str, Sensitivity]:
    """What the corpora's descriptions say of the suite."""
    rows = warehouse.read("corpus", columns=["corpus", "sensitivity"]).iter_rows()
    return {corpus: Sensitivity.model_validate_json(text or "{}") for corpus, text in rows}
