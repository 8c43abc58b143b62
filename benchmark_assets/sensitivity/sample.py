"""The sample of a corpus, and the damaged variants of its translations.

Here: the choice of passages, reading the sample from the warehouse, and the variants. Not here: the rules of damage
(damage), scores (scoring).
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Sensitivity
from benchmark_assets.corpus.registry import sections
from benchmark_assets.sensitivity.damage import (
    KINDS,
    SEVERITIES,
    Material,
    damage,
    foreign_terms,
    hashed,
    names,
    terms,
)
from benchmark_assets.sensitivity.languages import rules
from resources.catalogue import schema
from resources.digest import digest
from resources.keys import CORPUS
from resources.warehouse import Warehouse

VARIANT = schema("damaged_text")


class Sample(NamedTuple):
    """A corpus's sample: the complete `references` of its passages (columns `passage`, `translator` and `text`), their
    `language`, and the `seed` of all choices."""

    language: str
    seed: int
    references: pl.DataFrame


def chosen(passages: Sequence[str], count: int | None, seed: int) -> list[str]:
    """The first `count` passages in the order of a hash; all passages if `count` is None.

    If a passage is added to `passages` or removed, at most one other passage enters or leaves the result.
    """
    return sorted(passages, key=lambda passage: hashed(f"{seed}\n{passage}"))[:count]


def samples(warehouse: Warehouse, corpora: Iterable[str]) -> list[Sample]:
    """The samples of corpora. Passages with fewer than two complete references are left out: they cannot be scored."""
    language_of, settings = languages(warehouse), sections(warehouse, "sensitivity", Sensitivity)
    complete = warehouse.read("reference", columns=["passage", "complete"]).filter("complete")
    counts = complete.group_by("passage").len().filter(pl.col("len") > 1).with_columns(CORPUS)
    corpus_samples = []
    for corpus in sorted(set(corpora) & set(language_of)):
        count, seed = settings[corpus].passages, settings[corpus].seed
        passages = chosen(counts.filter(corpus=corpus)["passage"].to_list(), count, seed)
        key = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        references = warehouse.read("reference", key, ["passage", "translator", "text", "complete"])
        corpus_samples.append(Sample(language_of[corpus], seed, references.filter("complete").drop("complete")))
    return corpus_samples


def settings(warehouse: Warehouse, partitions: pl.DataFrame) -> pl.DataFrame:
    """The passages of `partitions` that are in a sample, with `settings`.

    `settings` is a digest of everything that determines the damage to a passage. The digest covers the whole sample,
    because additions and wrong terms come from other passages of the sample.
    """
    rows = [
        (passage, digest(sample.language, sample.seed, sample.references.rows()))
        for sample in samples(warehouse, partitions.select(CORPUS).to_series())
        for passage in sample.references["passage"].unique()
    ]
    sampled_passages = pl.DataFrame(rows, schema=["passage", "settings"], orient="row")
    return sampled_passages.cast(pl.String).join(partitions, on="passage", how="semi")


def damaged(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Rows of `damaged_text` for passages (column `passage`); passages outside the samples have no rows."""
    parts = [warehouse.empty("damaged_text").drop("fingerprint")]
    for sample in samples(warehouse, passages.select(CORPUS).to_series()):
        sampled_passages = passages.join(sample.references, on="passage", how="semi")
        sources = warehouse.read("source_text", sampled_passages, ["passage", "text"])
        parts.append(variants(sources, sample.references, sample.language, sample.seed))
    return pl.concat(parts)


def languages(warehouse: Warehouse) -> dict[str, str]:
    """Language code of each corpus's references. Corpora without a language code are left out."""
    return dict(warehouse.read("corpus", columns=["corpus", "target_language"]).drop_nulls().iter_rows())


def variants(sources: pl.DataFrame, references: pl.DataFrame, language: str, seed: int) -> pl.DataFrame:
    """All damaged variants of the passages' translations, one for each kind and severity that applies.

    Parameters
    ----------
    sources
        Columns `passage` and `text`, of the passages to be damaged.
    references
        Columns `passage`, `translator`, `text`: the complete references of the whole sample, which includes `sources`.
        Replacement terms and names come from the sample. An addition comes from the same translator's text of the
        next passage in the order of `chosen`.
    language
        Code of the references' language. Without rules for the language (see languages), only the kinds in `UNIVERSAL`
        and the kind `number` apply, and `number` changes digits only.
    seed
        Part of every hash that determines a choice.

    Returns
    -------
    Rows of `damaged_text`, columns `VARIANT`.
    """
    language_rules = rules(language)
    pool = terms(references["text"].to_list(), language_rules) if language_rules else {}
    called = {name[0] for text in references["text"] if language_rules for name in names(text, language_rules)}
    place = {passage: i for i, passage in enumerate(chosen(references["passage"].unique().to_list(), None, seed))}
    foreign: dict[tuple[str, str], str] = {}
    for _, texts in references.group_by("translator"):
        ring = sorted(texts.select("passage", "translator", "text").iter_rows(), key=lambda row: place[row[0]])
        others = [text for *_, text in ring[1:] + ring[:1]] if len(ring) > 1 else [""]
        foreign |= {(passage, name): other for (passage, name, _), other in zip(ring, others, strict=True)}
    rows: list[tuple[object, ...]] = []
    sound = sources.select("passage", source="text").join(references, on="passage", maintain_order="left")
    for (passage, source), renderings in sound.group_by("passage", "source", maintain_order=True):
        own = renderings["text"].to_list()
        wrong_terms = foreign_terms(pool, own)
        wrong_names = sorted(name for name in called if not any(name in text for text in own))
        for translator, text in renderings.select("translator", "text").iter_rows():
            material = Material(
                language_rules, str(source), foreign[str(passage), translator], wrong_terms, wrong_names
            )
            for kind, severity in product(KINDS, SEVERITIES):
                if variant := damage(text, kind, severity, f"{seed}\n{passage}\n{translator}", material):
                    rows.append((passage, translator, kind, severity, *variant))
    return pl.DataFrame(rows, schema=VARIANT, orient="row")
