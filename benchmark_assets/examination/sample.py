"""Sound texts for sentinels, from the corpora whose descriptions request an examination.

Here: the choice of passages and translations, and the references that a judge may see beside them. Not here:
sentinels made from these texts (sentinels).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Examining
from benchmark_assets.corpus.registry import corpus_languages, sections
from benchmark_assets.examination.sentinels import Sound
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.sensitivity.damage import Material, foreign_terms, hashed, terms
from benchmark_assets.sensitivity.languages import rules
from benchmark_assets.sensitivity.sample import chosen
from benchmark_assets.translation.systems import language_names
from resources.keys import CORPUS
from resources.warehouse import Warehouse


class Direction(NamedTuple):
    """A pair of languages, and the `corpora` in these languages that request an examination.

    `settings` has the settings of these corpora, in the same order.
    """

    source: str
    target: str
    corpora: tuple[str, ...]
    settings: tuple[Examining, ...]

    @property
    def name(self) -> str:
        """The language tags, such as `ja-en`."""
        return f"{self.source}-{self.target}"

    @property
    def languages(self) -> Mapping[str, str]:
        """Names of the languages, by variable of a prompt."""
        return language_names(self.source, self.target)


def directions(warehouse: Warehouse) -> dict[str, Direction]:
    """The direction of each corpus that requests an examination, by corpus."""
    settings = {
        corpus: section for corpus, section in sections(warehouse, "examination", Examining).items() if section.passages
    }
    by_languages: dict[tuple[str, str], list[str]] = {}
    for corpus, languages in sorted(corpus_languages(warehouse).items()):
        if corpus in settings:
            by_languages.setdefault(languages, []).append(corpus)
    return {
        corpus: Direction(*languages, tuple(corpora), tuple(settings[name] for name in corpora))
        for languages, corpora in by_languages.items()
        for corpus in corpora
    }


def sounds(warehouse: Warehouse, direction: Direction) -> list[Sound]:
    """A translation of each chosen passage of the direction's corpora, in a reproducible random order.

    It is a complete human translation or, where a passage has none, the text of an anchor of a base set: whatever its
    quality, damage makes it worse. Passages without a source text or without either are left out.
    """
    complete = warehouse.read("reference", columns=["passage", "translator", "text", "complete"]).filter("complete")
    complete = complete.filter(pl.col("text").str.strip_chars() != "").drop("complete")
    anchors = warehouse.read("anchor_output", columns=["passage", "anchor", "text"]).rename({"anchor": "translator"})
    anchors = anchors.filter(pl.col("text").str.strip_chars() != "").join(complete, on="passage", how="anti")
    complete = pl.concat([complete, anchors]).with_columns(CORPUS)
    sources = dict(warehouse.read("source_text", columns=["passage", "text"]).iter_rows())
    drawn: list[tuple[int, str, str]] = []
    references: dict[str, list[str]] = {}
    for corpus, settings in zip(direction.corpora, direction.settings, strict=True):
        by_passage = {
            str(passage): rows.sort("translator")["text"].to_list()
            for (passage,), rows in complete.filter(corpus=corpus).group_by("passage")
            if passage in sources
        }
        for passage in chosen(sorted(by_passage), settings.passages, settings.seed):
            references[passage] = by_passage[passage]
            key = f"{settings.seed}\n{passage}"
            texts = by_passage[passage]
            drawn.append((hashed(key), passage, texts[hashed(f"{key}\ntranslator") % len(texts)]))
    drawn.sort()
    language_rules = rules(direction.target)
    pool = terms([text for texts in references.values() for text in texts], language_rules) if language_rules else {}
    others = [text for *_, text in drawn[1:] + drawn[:1]] if len(drawn) > 1 else [""]
    return [
        Sound(
            passage, text, other,
            Material(language_rules, sources[passage], other, foreign_terms(pool, references[passage])),
        )
        for (_, passage, text), other in zip(drawn, others, strict=False)
    ]  # fmt: skip


def other_references(warehouse: Warehouse, texts: Sequence[Sound]) -> dict[str, dict[str, str]]:
    """The references to show with each sound text: the other complete references of its passage, by translator.

    The result maps each passage to its references. A judge must not find the sound text among the references.
    """
    passages = pl.DataFrame({"passage": [text.passage for text in texts]}, schema={"passage": pl.String})
    references = complete_texts(warehouse, passages)
    return {
        text.passage: {
            translator: other for translator, other in references.get(text.passage, {}).items() if other != text.text
        }
        for text in texts
    }
