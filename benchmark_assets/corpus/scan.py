"""Scanning the files of the corpora: their current contents, and the versions of their passages.

Here: documents as frames, and hashes of their contents. Not here: the layouts (corpus.readers), storing and reporting
to Dagster (corpus.assets).
"""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.corpus.anchors import anchors
from benchmark_assets.corpus.corrections import RIGHT, WRONG, Corrections, check, load, marked
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, Lengths, joined
from benchmark_assets.corpus.pairs import CALLED_WRONG, WHOLE, Doubt, doubts, in_its_language, other_language
from benchmark_assets.corpus.readers import read
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput, collecting

logger = logging.getLogger("variorum.corpus")

VERSIONED = ["source_text", "segmented_reference", "continuous_reference"]
SCHEMAS = {
    "source": schema("source_text"),
    "reference": schema("segmented_reference"),
    "continuous": schema("continuous_reference"),
    "prose": pl.Schema({**schema("prose"), "fingerprint": pl.String()}),
    "aside": pl.Schema({**schema("aside"), "fingerprint": pl.String()}),
    "coverage": pl.Schema(
        {
            **dict.fromkeys(["corpus", "document", "translator"], pl.String()),
            **dict.fromkeys(Lengths._fields, pl.Int64()),
        }
    ),
    "pair_doubt": pl.Schema({**schema("pair_doubt"), "fingerprint": pl.String()}),
    "versions": pl.Schema(dict.fromkeys(["passage", *VERSIONED, "place"], pl.String())),
}
"""Schemas of the frames of a Scan."""


class Scan(NamedTuple):
    """Contents of the files of corpora.

    - `source`, `reference`, `continuous`: rows of the tables `source_text`, `segmented_reference` and
      `continuous_reference`, without the fingerprint; `prose`, `aside`, `pair_doubt`: rows of the tables with these
      names.
    - `coverage`: what became of the characters of each source (`translator` is '') and segmented reference.
    - `versions`: for each passage, a hash of its content in each asset of VERSIONED, and `place`, a hash of its
      document and position. A passage that only moves keeps its versions, and nothing downstream becomes stale.
    - `faults`: faults of descriptions, files and documents.
    - `sound`: names of the corpora that were read without a fault.
    """

    source: pl.DataFrame
    reference: pl.DataFrame
    continuous: pl.DataFrame
    prose: pl.DataFrame
    aside: pl.DataFrame
    coverage: pl.DataFrame
    pair_doubt: pl.DataFrame
    versions: pl.DataFrame
    faults: list[BadInput]
    sound: list[str]


def scan(descriptions: Iterable[Description | BadInput]) -> Scan:
    """Read the corpora. A fault in a document or corpus is returned, and all other documents are still read."""
    rows = _Rows()
    faults: list[BadInput] = []
    sound: list[str] = []
    for description in descriptions:
        if isinstance(description, BadInput):
            faults += description.faults
            continue
        before = len(faults)
        corrections: Corrections | None = None
        documents = []
        with collecting(faults):
            corrections = load(description)
            right, wrong = marked(description, RIGHT), marked(description, WRONG)
        with collecting(faults):
            for document in _readable(description):
                if isinstance(document, BadInput):
                    faults += document.faults
                elif corrections is not None:  # without its corrections, a document would be aligned again
                    document, foreign = in_its_language(document, description, right)
                    faults += foreign
                    rows.add(document, description.name, corrections)
                    rows.add_doubts(document, description, right, wrong)
                    documents.append(document)
        _report_languages(documents)
        if len(faults) == before and corrections is not None:
            with collecting(faults):
                check(description, documents)
        if len(faults) == before:
            sound.append(description.name)
    frames = {name: pl.DataFrame(rows.by_frame[name], SCHEMAS[name], orient="row") for name in SCHEMAS}
    return Scan(**frames, faults=faults, sound=sound)


def _report_languages(documents: Iterable[Document]) -> None:
    """Log which sources are plainly in another language than the declared one."""
    files = defaultdict[tuple[str, str], list[str]](list)
    for document in documents:
        by_language = defaultdict[str, list[str]](list)
        for passage in document.passages:
            by_language[passage.language] += [segment.text for segment in passage.segments]
        for declared, texts in by_language.items():
            text = " ".join(texts)
            if len(text) >= WHOLE and (found := other_language(text, declared)):
                files[declared, found].append(str(document.file))
    for (declared, found), own in files.items():
        further = f" (and in {len(own) - 1} further documents)" if len(own) > 1 else ""
        remedy = "correct `language` of the source, or its `files`"
        logger.warning("%s: source.language: the source is in %s, not in %s%s; %s", own[0], found, declared, further,
                       remedy)  # fmt: skip


def _readable(description: Description) -> Iterator[Document | BadInput]:
    """The documents of a corpus and their faults. A folder that cannot be read raises BadInput."""
    try:
        yield from read(description)
    except OSError as error:
        where = error.filename or description.root
        problem = f"cannot be read ({error.strerror})"
        raise BadInput(where, "", problem, "correct the path or its permissions") from error


def covered(coverage: pl.DataFrame) -> pl.DataFrame:
    """The rows of `Scan.coverage` with the column `share`, the share of the text in segments; smallest share first."""
    share = pl.col("segments") / (pl.col("segments") + pl.col("nothing"))
    return coverage.with_columns(share=share.fill_nan(1)).sort("share", maintain_order=True)


def _lengths(document: Document) -> dict[str, Lengths]:
    """What became of the characters of a document's texts: segments as they are stored, and beside them what the reader
    says, or else what the asides have."""
    segments: Counter[str] = Counter()
    beside: dict[str, Counter[str]] = defaultdict(Counter)
    for passage in document.passages:
        segments[""] += sum(len(segment.text) for segment in passage.segments)
        for reference in passage.references:
            segments[reference.translator] += sum(len(text or "") for text in reference.segments)
    for aside in document.asides:
        beside[aside.translator][aside.kind] += len(aside.text)
    found = {
        translator: Lengths(number, of["note"] + of["footnote"], of["heading"] * bool(translator))
        for translator, number in segments.items() for of in [beside[translator]]
    }  # fmt: skip
    return found | {
        translator: known._replace(segments=segments[translator]) for translator, known in document.lengths.items()
    }


class _Rows:
    """Rows of the frames of a Scan, collected document by document."""

    def __init__(self) -> None:
        self.by_frame: dict[str, list[tuple[Any, ...]]] = {name: [] for name in SCHEMAS}

    def add(self, document: Document, corpus: str, corrections: Corrections) -> None:
        """Add the content of a document and the manual alignments of its continuous translations."""
        digests: list[str] = []
        for position, passage in enumerate(document.passages):
            key = f"{corpus}/{passage.id}"
            ids, texts = [segment.id for segment in passage.segments], [segment.text for segment in passage.segments]
            rendered = [(each.translator, list(each.segments), each.flag) for each in passage.references]
            text = joined(texts) if passage.text is None else passage.text
            around = (passage.previous, passage.following)
            place = (key, corpus, passage.id, document.id, position)
            listed = None if passage.listed else False
            self.by_frame["source"].append((*place, passage.language, ids, texts, text, *around, listed))
            self.by_frame["reference"] += [(key, *rendering) for rendering in rendered]
            # The hash omits what most passages lack, so that hashes from before these columns were added stay valid.
            further = (*(around if around != (None, None) else ()), *(() if passage.listed else ("not listed",)))
            source = digest(passage.language, ids, texts, text, *further)
            segmented = digest(ids, sorted(rendered, key=lambda rendering: rendering[0]))
            digests += [source, segmented]
            self.by_frame["versions"].append((key, source, segmented, "", digest(document.id, position)))
        self._add_asides(document, corpus)
        self.by_frame["coverage"] += [
            (corpus, document.id, translator, *lengths) for translator, lengths in _lengths(document).items()
        ]
        self._add_prose(document, corpus, corrections, digest(digests))

    def add_doubts(
        self, document: Document, description: Description, right: frozenset[tuple[str, str]],
        wrong: frozenset[tuple[str, str]],
    ) -> None:  # fmt: skip
        """Add doubts about the pairs of a document. `right` and `wrong` have what a person calls so."""
        segments = [(segment, passage.id) for passage in document.passages for segment in passage.segments]
        texts: dict[str, dict[str, str | None]] = defaultdict(dict)
        for passage in document.passages:
            for reference in passage.references:
                own = (segment.id for segment in passage.segments)
                texts[reference.translator] |= zip(own, reference.segments, strict=True)
        ids = [segment.id for segment, _ in segments]
        translations = {name: [of.get(id) for id in ids] for name, of in texts.items()}
        passage_of = dict(zip(ids, (f"{description.name}/{passage}" for _, passage in segments), strict=True))
        found = defaultdict[str, list[tuple[str, str, str, str, bool]]](list)
        sources = [segment.text for segment, _ in segments]
        by_hand = [
            Doubt(name, segment, CALLED_WRONG, "was marked as wrong by an editor")
            for segment, name in sorted(wrong)
            if segment in passage_of
        ]
        computed = doubts(ids, sources, translations, description.target_language)
        for doubt in (*(each for each in computed if (each.segment, each.translator) not in wrong), *by_hand):
            name, segment = doubt.translator, doubt.segment
            accepted = doubt.kind != CALLED_WRONG and not right.isdisjoint([(segment, name), (document.id, name)])
            found[name].append((segment, passage_of[segment], doubt.kind, doubt.evidence, accepted))
        for name, of in found.items():
            version = digest(of)
            self.by_frame["pair_doubt"] += [(description.name, document.id, name, *row, version) for row in of]

    def _add_asides(self, document: Document, corpus: str) -> None:
        """Add the asides of a document's segments and translations, with a hash of all asides of their translator."""
        by_translator = defaultdict[str, list[tuple[Any, ...]]](list)
        for beside in document.asides:
            by_translator[beside.translator].append((beside.segment, 0, beside.kind, None, beside.text))
        for prose in document.prose:
            asides = enumerate(prose.asides)
            by_translator[prose.translator] += [("", at, aside.kind, aside.at, aside.text) for at, aside in asides]
        for translator, rows in by_translator.items():
            version = digest(rows)
            self.by_frame["aside"] += [(corpus, document.id, translator, *row, version) for row in rows]

    def _add_prose(self, document: Document, corpus: str, corrections: Corrections, segments: str) -> None:
        """Add a document's continuous translations. `segments` is a hash of the sources and segmented references of the
        document's passages."""
        ids = [segment.id for passage in document.passages for segment in passage.segments]
        hashes: dict[str, str] = {}
        for prose in document.prose:
            places = anchors(ids, [(aside.at, aside.text) for aside in prose.asides if aside.kind == "number"])
            # Hashes from before anchors were added stay valid.
            hashes[prose.translator] = digest(segments, prose.text, *([sorted(places.items())] if places else []))
            place, version = (corpus, document.id, prose.translator), digest(prose.text, prose.asides)
            self.by_frame["prose"].append((*place, prose.text, version))
        versions = self.by_frame["versions"]
        for index, passage in enumerate(document.passages, start=len(versions) - len(document.passages)):
            rows = []
            for translator, content_hash in hashes.items():
                corrected = {
                    s.id: corrections[s.id, translator] for s in passage.segments if (s.id, translator) in corrections
                }
                rows.append((translator, corpus, document.id, content_hash, json.dumps(corrected, ensure_ascii=False)))
            key, source, reference, _, place_hash = versions[index]
            self.by_frame["continuous"] += [(key, *row) for row in rows]
            versions[index] = (key, source, reference, digest(rows), place_hash)
