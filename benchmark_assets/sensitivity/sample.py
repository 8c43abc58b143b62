"""The sample of a corpus, and the damaged variants of its texts.

Here: the choice of passages, and variants of their translations. Not here: the rules (damage), scores (scoring).
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import product

import polars as pl

from benchmark_assets.sensitivity.damage import KINDS, SEVERITIES, Material, damage, foreign_terms, terms
from benchmark_assets.sensitivity.languages import rules
from resources.catalogue import schema

SOUND = "none"
"""The kind of an unchanged translation; its severity is 0."""

VARIANT = schema("damaged_text")


def chosen(passages: Sequence[str], count: int | None, seed: int) -> list[str]:
    """The first `count` passages (None: all) in the order of a hash: adding or removing a passage replaces at most one
    other."""
    return sorted(passages, key=lambda passage: _hash(f"{seed}\n{passage}"))[:count]


def variants(sources: pl.DataFrame, references: pl.DataFrame, language: str, seed: int) -> pl.DataFrame:
    """All applicable damage to the translations of passages.

    Parameters
    ----------
    sources
        Columns `passage` and `text`, of the passages to be damaged.
    references
        Columns `passage`, `translator`, `text`: the complete references of the whole sample, which includes `sources`.
        Replacement terms come from the sample. An addition comes from the same translator's text of the next passage
        in the order of `chosen`.
    language
        Code of the references' language. Without rules for it (languages), only stretches are damaged.
    seed
        Part of every hash that makes a choice.

    Returns
    -------
    Rows of `damaged_text`, columns `VARIANT`.
    """
    language_rules = rules(language)
    pool = terms(references["text"].to_list(), language_rules) if language_rules else {}
    place = {passage: i for i, passage in enumerate(chosen(references["passage"].unique().to_list(), None, seed))}
    foreign: dict[tuple[str, str], str] = {}
    for _, texts in references.group_by("translator"):
        ring = sorted(texts.select("passage", "translator", "text").iter_rows(), key=lambda row: place[row[0]])
        others = [text for *_, text in ring[1:] + ring[:1]] if len(ring) > 1 else [""]
        foreign |= {(passage, name): other for (passage, name, _), other in zip(ring, others, strict=True)}
    rows: list[tuple[object, ...]] = []
    damaged = sources.select("passage", source="text").join(references, on="passage", maintain_order="left")
    for (passage, source), renderings in damaged.group_by("passage", "source", maintain_order=True):
        wrong = foreign_terms(pool, renderings["text"].to_list())
        for translator, text in renderings.select("translator", "text").iter_rows():
            material = Material(language_rules, str(source), foreign[str(passage), translator], wrong)
            for kind, severity in product(KINDS, SEVERITIES):
                if variant := damage(text, kind, severity, f"{seed}\n{passage}\n{translator}", material):
                    rows.append((passage, translator, kind, severity, *variant))
    return pl.DataFrame(rows, schema=VARIANT, orient="row")


def _hash(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()
