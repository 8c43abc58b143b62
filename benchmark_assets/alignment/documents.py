"""The documents of some passages, out of the warehouse: what an alignment and its verification look at. Not here: what
is made of them (rows)."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.alignment.asking import AlignmentWork, Asked
from benchmark_assets.alignment.rows import SegmentPlace, corrected, places
from resources.warehouse import Warehouse


class ProseDocument(NamedTuple):
    """One continuous translation of one document. `corrections` are texts by segment; `language` is the source's."""

    corpus: str
    id: str
    translator: str
    prose: str
    language: str
    target_language: str
    sources: pl.DataFrame
    segments: list[SegmentPlace]
    corrections: dict[str, str | None]

    @property
    def name(self) -> tuple[str, str]:
        """What tells it from others: corpus and document with a slash, and the translator."""
        return f"{self.corpus}/{self.id}", self.translator

    def work(self, asked: list[str]) -> AlignmentWork:
        """What a model is asked, for the segments named."""
        segments = {
            each.id: Asked(each.source, next((text for text in each.guides if text), None)) for each in self.segments
        }
        return AlignmentWork(*self.name, self.language, self.target_language, self.prose, segments, asked)


def documents(warehouse: Warehouse, passages: pl.DataFrame) -> Iterator[ProseDocument]:
    """The documents that hold some of the passages, once for each translator who has to be aligned.

    Parameters
    ----------
    passages
        Column `passage`.
    """
    by_document = ["corpus", "document"]
    keys = warehouse.read("continuous_reference", passages.select("passage"), [*by_document, "translator"]).unique(
        maintain_order=True
    )
    sources = warehouse.read("source_text", keys.select(by_document).unique())
    own = sources.select("passage")
    references = warehouse.read("segmented_reference", own)
    continuous = warehouse.read("continuous_reference", own)
    languages = corpus_languages(warehouse)
    texts = warehouse.read("prose", keys, [*by_document, "translator", "text"])
    for corpus, document, translator, prose in texts.sort(*by_document, "translator").iter_rows():
        these = sources.filter(corpus=corpus, document=document)
        segments = places(these, references.join(these, on="passage", how="semi"))
        hand = corrected(continuous.filter(corpus=corpus, document=document, translator=translator))
        yield ProseDocument(corpus, document, translator, prose, *languages[corpus], these, segments, hand)


class Aligner(NamedTuple):
    """What a corpus says of how a translator is aligned.

    `model` is that of the registry which is asked, '' for none; it is asked for 'all' segments, or those that are
    'unsure'.
    """

    model: str
    ask: str


def all_prose(warehouse: Warehouse, documents: Sequence[ProseDocument]) -> dict[tuple[str, str], dict[str, str]]:
    """All that the translators of some documents wrote of the corpus: by corpus and translator, then by document."""
    translators = sorted({(document.corpus, document.translator) for document in documents})
    keys = pl.DataFrame(translators, schema={"corpus": pl.String, "translator": pl.String}, orient="row")
    prose: dict[tuple[str, str], dict[str, str]] = {name: {} for name in translators}
    for corpus, translator, document, text in warehouse.read(
        "prose", keys, ["corpus", "translator", "document", "text"]
    ).iter_rows():
        prose[corpus, translator][document] = text
    return prose


def corpus_languages(warehouse: Warehouse) -> dict[str, tuple[str, str]]:
    """Of each corpus, the language of its source and that of its references."""
    rows = warehouse.read("corpus", columns=["corpus", "source_language", "target_language"])
    return {corpus: (source, target) for corpus, source, target in rows.iter_rows()}


def aligners(warehouse: Warehouse) -> dict[tuple[str, str], Aligner]:
    """The aligners of all continuous translations, by corpus and translator."""
    rows = warehouse.read("corpus", columns=["corpus", "aligners"]).drop_nulls()
    return {
        (corpus, translator): Aligner(each["model"], each["ask"])
        for corpus, text in rows.iter_rows()
        for translator, each in json.loads(text).items()
    }
