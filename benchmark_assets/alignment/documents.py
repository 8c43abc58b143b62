"""Documents with their continuous translations, read from the warehouse: the input of alignment and verification.

Not here: rows of the results (rows).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.alignment.aligner_questions import AlignmentWork, SourceSegment
from benchmark_assets.alignment.cross_references import names, plain
from benchmark_assets.alignment.rows import SegmentPlace, corrected, places
from benchmark_assets.corpus.anchors import anchors
from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.studies.protocols import PublishedProtocol, protocols
from resources.digest import digest
from resources.warehouse import Warehouse

BY_DOCUMENT = ["corpus", "document"]


class ProseDocument(NamedTuple):
    """One continuous translation of one document.

    `prose` is the translation, `language` the tag of the source language. `sources` has the document's rows of
    `source_text`, `segments` its segments in order, `corrections` the manually corrected texts by segment id, `anchors`
    the offsets in the prose at which segments begin, by the segment's index, and `numbers` the offset and text of each
    number in the prose.
    """

    corpus: str
    id: str
    translator: str
    prose: str
    language: str
    target_language: str
    sources: pl.DataFrame
    segments: list[SegmentPlace]
    corrections: dict[str, str | None]
    anchors: Mapping[int, int]
    numbers: Sequence[tuple[int, str]]

    @property
    def name(self) -> tuple[str, str]:
        """Unique name of the translation: `corpus/document`, and the translator."""
        return f"{self.corpus}/{self.id}", self.translator

    def work(self, requested: list[str]) -> AlignmentWork:
        """The input of `ModelAligner.align` that requests the segments with these ids."""
        segments = {
            place.id: SourceSegment(place.source, next((text for text in place.guides if text), None))
            for place in self.segments
        }
        return AlignmentWork(*self.name, self.language, self.target_language, self.prose, segments, requested)


def documents(warehouse: Warehouse, passages: pl.DataFrame) -> Iterator[ProseDocument]:
    """The documents that contain any of `passages` (column `passage`): one result for each continuous translation."""
    keys = warehouse.read("continuous_reference", passages.select("passage"), [*BY_DOCUMENT, "translator"])
    keys = keys.unique(maintain_order=True)
    sources = warehouse.read("source_text", keys.select(BY_DOCUMENT).unique())
    keys_of_passages = sources.select("passage")
    references = warehouse.read("segmented_reference", keys_of_passages)
    continuous = warehouse.read("continuous_reference", keys_of_passages)
    languages = corpus_languages(warehouse)
    texts = warehouse.read("prose", keys, [*BY_DOCUMENT, "translator", "text"])
    asides = warehouse.read("aside", keys, [*BY_DOCUMENT, "translator", "position", "kind", "place", "text"])
    numbers = asides.filter(kind="number").sort("position")
    for corpus, document, translator, prose in texts.sort(*BY_DOCUMENT, "translator").iter_rows():
        passages_of_document = sources.filter(corpus=corpus, document=document)
        segments = places(passages_of_document, references.join(passages_of_document, on="passage", how="semi"))
        corrections = corrected(continuous.filter(corpus=corpus, document=document, translator=translator))
        own = numbers.filter(corpus=corpus, document=document, translator=translator).select("place", "text").rows()
        yield ProseDocument(
            corpus, document, translator, prose, *languages[corpus], passages_of_document, segments, corrections,
            anchors([segment.id for segment in segments], own), own,
        )  # fmt: skip


def unguided(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """The rows of `passages` (column `passage`) whose document has a continuous, but no segmented translation."""
    documents = warehouse.read("continuous_reference", passages.select("passage"), BY_DOCUMENT).unique()
    places = warehouse.read("source_text", documents, ["passage", *BY_DOCUMENT])
    references = warehouse.read("segmented_reference", places.select("passage"), ["passage", "segments"])
    has_guide = pl.col("segments").list.eval(pl.element().str.contains(r"\w")).list.any()
    guided = places.join(references.filter(has_guide), on="passage", how="semi")
    return places.join(guided, on=BY_DOCUMENT, how="anti").join(passages, on="passage", how="semi").select("passage")


def surroundings(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Columns `passage` and `settings`: a hash of the verification's inputs from outside the passage.

    The inputs are the alignment of the whole document, and the texts to which the document's continuous translations
    refer. `settings` is '' for a passage without a continuous translation.
    """
    rows = warehouse.read("continuous_reference", passages.select("passage"), ["passage", *BY_DOCUMENT]).unique()
    documents = rows.select(BY_DOCUMENT).unique()
    places = warehouse.read("source_text", documents, ["passage", *BY_DOCUMENT])
    keys = places.select("passage", asset=pl.lit("alignment"))
    aligned = warehouse.read("materialization", keys, ["passage", "version"])
    versions: dict[tuple[str, str], list[object]] = {}
    for passage, version, corpus, id in aligned.join(places, on="passage").sort("passage").iter_rows():
        versions.setdefault((corpus, id), []).append((passage, version))
    for document, referred in _referred(warehouse, documents):
        versions.setdefault(document, []).append(referred)
    hashes = [(*document, digest(parts)) for document, parts in versions.items()]
    schema = dict.fromkeys([*BY_DOCUMENT, "settings"], pl.String)
    settings = rows.join(pl.DataFrame(hashes, schema, orient="row"), on=BY_DOCUMENT).select("passage", "settings")
    passages = passages.select("passage").join(settings, on="passage", how="left")
    return passages.with_columns(pl.col("settings").fill_null(""))


def _referred(warehouse: Warehouse, documents: pl.DataFrame) -> Iterator[tuple[tuple[str, str], list[object]]]:
    """For each translation that refers to other texts by its translator: yield its document, and what it refers to.

    The document is the pair (corpus, document). The second element lists the translator, and the ids and fingerprints
    of the other texts.
    """
    translations = ["corpus", "translator", "document"]
    texts = warehouse.read("prose", documents, [*translations, "text"])
    others = warehouse.read("prose", documents.select("corpus").unique(), [*translations, "fingerprint"])
    available: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for corpus, translator, document, fingerprint in others.sort(translations).iter_rows():
        available.setdefault((corpus, translator, plain(document)), []).append((document, fingerprint))
    for corpus, translator, document, text in texts.sort(translations).iter_rows():
        referred = [available[key] for name in sorted(names(text)) if (key := (corpus, translator, name)) in available]
        if referred:
            yield (corpus, document), [translator, referred]


class Aligner(NamedTuple):
    """The aligner of a translator's continuous translations, as the corpus description configures it.

    `model` is the name of an aligner in the registry, or '' for the offline aligner. `ask` is 'all' to ask the model
    about all segments, or 'unsure' to ask only about segments that the offline aligner is unsure of. `compare` is what
    the translation is compared with: 'guides', 'source' or 'both'. `protocol` names the corpus whose published protocol
    asks the model, '' for the project's own questions; `published` is None if that protocol is not in the warehouse.
    """

    model: str
    ask: str
    compare: str = "guides"
    protocol: str = ""
    published: PublishedProtocol | None = None


def all_prose(warehouse: Warehouse, documents: Sequence[ProseDocument]) -> dict[tuple[str, str], dict[str, str]]:
    """Texts of all continuous translations by the translators of `documents`, by (corpus, translator) and document."""
    translators = sorted({(document.corpus, document.translator) for document in documents})
    keys = pl.DataFrame(translators, schema={"corpus": pl.String, "translator": pl.String}, orient="row")
    prose: dict[tuple[str, str], dict[str, str]] = {name: {} for name in translators}
    rows = warehouse.read("prose", keys, ["corpus", "translator", "document", "text"])
    for corpus, translator, document, text in rows.iter_rows():
        prose[corpus, translator][document] = text
    return prose


def aligners(warehouse: Warehouse) -> dict[tuple[str, str], Aligner]:
    """The configured aligners of all continuous translations, by corpus and translator."""
    rows = warehouse.read("corpus", columns=["corpus", "aligners"]).drop_nulls()
    published = protocols(warehouse, "align")
    return {
        (corpus, translator): Aligner(**setting, published=published.get(setting.get("protocol", "")))
        for corpus, text in rows.iter_rows()
        for translator, setting in json.loads(text).items()
    }
