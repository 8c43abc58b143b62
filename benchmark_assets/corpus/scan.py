"""A look at the files of the corpora: what they say now, and which passages that changes.

Here: documents as frames, and hashes of what they say. Not here: the layouts (corpus.readers), what is stored and what
Dagster is told (corpus.assets).
"""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, joined
from benchmark_assets.corpus.readers import read
from benchmark_assets.lineage.standing import digest
from resources.errors import BadInput

SOURCE = pl.Schema({
    "passage": pl.String(), "corpus": pl.String(), "passage_id": pl.String(), "document": pl.String(),
    "position": pl.Int32(), "language": pl.String(), "segment_ids": pl.List(pl.String), "segments": pl.List(pl.String),
    "text": pl.String(),
})  # fmt: skip
REFERENCE = pl.Schema({
    "passage": pl.String(), "translator": pl.String(), "segments": pl.List(pl.String), "flag": pl.String(),
})  # fmt: skip


class Scan(NamedTuple):
    """What the files say.

    `source` and `reference` have the columns of source_text and segmented_reference but the fingerprint; `versions` has
    `passage`; `source_text` and `segmented_reference`, the hash of the content of each; and `place`, the hash of the
    passage's document and position. A passage that only moves keeps its versions, and with them what was made of it.
    `sound` names the corpora that were read without a fault.
    """

    source: pl.DataFrame
    reference: pl.DataFrame
    versions: pl.DataFrame
    faults: list[BadInput]
    sound: list[str]


def scan(descriptions: Iterable[Description | BadInput]) -> Scan:
    """Read the corpora; a fault of one document or corpus is returned and keeps nothing else from being read."""
    sources: list[tuple[object, ...]] = []
    references: list[tuple[object, ...]] = []
    versions: list[tuple[str, str, str, str]] = []
    faults: list[BadInput] = []
    sound: list[str] = []
    for description in descriptions:
        if isinstance(description, BadInput):
            faults.append(description)
            continue
        before = len(faults)
        try:
            for document in read(description):
                if isinstance(document, BadInput):
                    faults.append(document)
                else:
                    _add(document, description.name, sources, references, versions)
        except BadInput as fault:
            faults.append(fault)
        if len(faults) == before:
            sound.append(description.name)
    columns = ["passage", "source_text", "segmented_reference", "place"]
    return Scan(
        pl.DataFrame(sources, schema=SOURCE, orient="row"),
        pl.DataFrame(references, schema=REFERENCE, orient="row"),
        pl.DataFrame(versions, schema=columns, orient="row", schema_overrides=dict.fromkeys(columns, pl.String)),
        faults,
        sound,
    )


def _add(
    document: Document,
    corpus: str,
    sources: list[tuple[object, ...]],
    references: list[tuple[object, ...]],
    versions: list[tuple[str, str, str, str]],
) -> None:
    for position, passage in enumerate(document.passages):
        key = f"{corpus}/{passage.id}"
        ids = [segment.id for segment in passage.segments]
        texts = [segment.text for segment in passage.segments]
        rendered = [(each.translator, list(each.segments), each.flag) for each in passage.references]
        reference = digest(ids, sorted(rendered, key=lambda each: each[0]))
        sources.append((key, corpus, passage.id, document.id, position, passage.language, ids, texts, joined(texts)))
        references += [(key, *each) for each in rendered]
        source = digest(passage.language, ids, texts, joined(texts))
        versions.append((key, source, reference, digest(document.id, position)))
