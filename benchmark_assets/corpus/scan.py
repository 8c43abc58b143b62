"""Scan of the files of the corpora: their current contents, and versions of their passages.

Here: documents as frames, and hashes of their contents. Not here: the layouts (corpus.readers), storing and reporting
to Dagster (corpus.assets).
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.corrections import Corrections, check, load
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, joined
from benchmark_assets.corpus.readers import read
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput

VERSIONED = ["source_text", "segmented_reference", "continuous_reference"]
SOURCE = schema("source_text")
REFERENCE = schema("segmented_reference")
CONTINUOUS = schema("continuous_reference")
PROSE, ASIDE = (pl.Schema({**schema(name), "fingerprint": pl.String()}) for name in ("prose", "prose_aside"))


class Scan(NamedTuple):
    """Contents of the files.

    `source`, `reference` and `continuous` have the columns of source_text, segmented_reference and
    continuous_reference, except the fingerprint; `prose` and `aside` have those of prose and prose_aside. `versions`
    has `passage`; the hash of the content of each of the three assets, under its name; and `place`, the hash of the
    passage's document and position. A passage that only moves keeps its versions, so nothing downstream becomes stale.
    `sound` names the corpora that were read without a fault.
    """

    source: pl.DataFrame
    reference: pl.DataFrame
    continuous: pl.DataFrame
    prose: pl.DataFrame
    aside: pl.DataFrame
    versions: pl.DataFrame
    faults: list[BadInput]
    sound: list[str]


def scan(descriptions: Iterable[Description | BadInput]) -> Scan:
    """Read the corpora. A fault of one document or corpus is returned, and all others are still read."""
    rows = Rows()
    faults: list[BadInput] = []
    sound: list[str] = []
    for description in descriptions:
        if isinstance(description, BadInput):
            faults.append(description)
            continue
        before = len(faults)
        try:
            corrections = load(description)
            documents = []
            for document in read(description):
                if isinstance(document, BadInput):
                    faults.append(document)
                else:
                    rows.add(document, description.name, corrections)
                    documents.append(document)
            if len(faults) == before:
                check(description, corrections, documents)
        except BadInput as fault:
            faults.append(fault)
        if len(faults) == before:
            sound.append(description.name)
    columns = ["passage", *VERSIONED, "place"]
    return Scan(
        pl.DataFrame(rows.sources, schema=SOURCE, orient="row"),
        pl.DataFrame(rows.references, schema=REFERENCE, orient="row"),
        pl.DataFrame(rows.continuous, schema=CONTINUOUS, orient="row"),
        pl.DataFrame(rows.prose, schema=PROSE, orient="row"),
        pl.DataFrame(rows.asides, schema=ASIDE, orient="row"),
        pl.DataFrame(rows.versions, schema=columns, orient="row", schema_overrides=dict.fromkeys(columns, pl.String)),
        faults,
        sound,
    )


class Rows:
    """Rows of the frames of a Scan, document by document."""

    def __init__(self) -> None:
        self.sources: list[tuple[object, ...]] = []
        self.references: list[tuple[object, ...]] = []
        self.continuous: list[tuple[object, ...]] = []
        self.prose: list[tuple[object, ...]] = []
        self.asides: list[tuple[object, ...]] = []
        self.versions: list[tuple[str, ...]] = []

    def add(self, document: Document, corpus: str, corrections: Corrections) -> None:
        """Add the content of a document, and the corrections of its alignments."""
        digests: list[str] = []
        for position, passage in enumerate(document.passages):
            key = f"{corpus}/{passage.id}"
            ids = [segment.id for segment in passage.segments]
            texts = [segment.text for segment in passage.segments]
            rendered = [
                (reference.translator, list(reference.segments), reference.flag) for reference in passage.references
            ]
            text = joined(texts) if passage.text is None else passage.text
            around = (passage.previous, passage.following)
            place = (key, corpus, passage.id, document.id, position)
            self.sources.append((*place, passage.language, ids, texts, text, *around))
            self.references += [(key, *rendering) for rendering in rendered]
            # Passages without a context leave it out of their hash, so that earlier hashes stay valid.
            source = digest(passage.language, ids, texts, text, *(around if around != (None, None) else ()))
            segmented = digest(ids, sorted(rendered, key=lambda rendering: rendering[0]))
            digests += [source, segmented]
            self.versions.append((key, source, segmented, "", digest(document.id, position)))
        self._add_prose(document, corpus, corrections, digest(digests))

    def _add_prose(self, document: Document, corpus: str, corrections: Corrections, segments: str) -> None:
        """Add the continuous translations; `segments` is the hash of everything else in the document."""
        wholes = {prose.translator: digest(segments, prose.text) for prose in document.prose}
        for prose in document.prose:
            place = (corpus, document.id, prose.translator)
            version = digest(prose.text, prose.asides)
            self.prose.append((*place, prose.text, version))
            self.asides += [
                (*place, position, aside.kind, aside.at, aside.text, version)
                for position, aside in enumerate(prose.asides)
            ]
        count = len(document.passages)
        for index, passage in enumerate(document.passages, start=len(self.versions) - count):
            rows = []
            for translator, whole in wholes.items():
                corrected = {
                    s.id: corrections[s.id, translator] for s in passage.segments if (s.id, translator) in corrections
                }
                rows.append((translator, corpus, document.id, whole, json.dumps(corrected, ensure_ascii=False)))
            key, source, reference, _, place_hash = self.versions[index]
            self.continuous += [(key, *row) for row in rows]
            self.versions[index] = (key, source, reference, digest(rows), place_hash)
