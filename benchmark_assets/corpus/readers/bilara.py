"""SuttaCentral's bilara layout: one JSON file per document and edition or translator, mapping segment ids to texts.

The paths are `root/<language>/<edition>/**/<document>_root-<language>-<edition>.json` for sources and
`translation/<language>/<translator>/**/<document>_translation-<language>-<translator>.json` for translations. A segment
is untranslated if a translation's file lacks it, or has an empty or blank text for it. A translator who has no file for
a document has no reference for this document. A source segment may be empty if another segment of its passage has text.

Four more trees are read if they exist. They contain asides of the segments:

- `comment/<language>/<translator>/**/<document>_comment-<language>-<translator>.json`: notes of a translator;
- `variant/<language>/<edition>/**/<document>_variant-<language>-<edition>.json`: variant readings of the source;
- `reference/<language>/<edition>/**/<document>_reference.json`: places of the segments in other editions;
- `html/<language>/<edition>/**/<document>_html.json`: the markup of each segment, with `{}` in place of its text (or
  nothing, if pages hide the text). A segment within `<header>` or `<h1>` to `<h6>` is a heading. If a document has no
  such file, or it cannot be read, a segment is a heading if one of the numbers after the colon is 0, as in `mn1:0.2`
  and `mn2:5.0`.

No other file is read. In these four trees, files of documents without a source file are ignored, and faults are logged:
they never leave a text out.

A translation may have segments that the source lacks. Headings that the translator added are asides of the source's
next segment. Other text is joined to the segment before, with a doubt. A translation that shares no segment with the
source is a fault.
"""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from lxml import etree

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, SegmentAside
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.segments import passages, source_faults
from benchmark_assets.corpus.readers.strict_json import parse
from resources.errors import BadInput, beginning, collecting, raise_all

logger = logging.getLogger("variorum.corpus")

Faults = dict[str, list[BadInput]]
"""Faults by document."""

_NUMBERED_AS_HEADING = re.compile(r":(?:.*\.)?0(?:\.|$)")
_HEADINGS = (
    "//data[ancestor::header or ancestor::*[starts-with(name(), 'h') and number(substring(name(), 2)) <= 6]]/@value"
)
_PLACE = "{}"


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of a bilara tree in natural order of their ids (sn1.2 before sn1.10).

    Raises
    ------
    BadInput
        If the folder of the source's edition contains no document, or if a translator has no folder. If a translator
        has no folder, the faults of all documents are raised together with this fault.
    """
    source, root = description.source, description.root
    faults: Faults = defaultdict(list)
    edition = Path(source.language, source.edition)
    sources = _files(root / "root" / edition, f"_root-{source.language}-{source.edition}", faults)
    if not sources:
        remedy = "correct `root`, or `language` and `edition` of the source"
        raise BadInput(root, f"root/{source.language}/{source.edition}", "contains no source document", remedy)
    html = _files(root / "html" / edition, "_html", faults)
    beside = {
        ("", "variant"): _files(root / "variant" / edition, f"_variant-{source.language}-{source.edition}", faults),
        ("", "reference"): _files(root / "reference" / edition, "_reference", faults),
    }
    translations: dict[str, dict[str, Path]] = {}
    for translator, text in description.segmented.items():
        own, ending = Path(text.language, translator), f"{text.language}-{translator}"
        translations[translator] = _files(root / "translation" / own, f"_translation-{ending}", faults)
        beside[translator, "note"] = _files(root / "comment" / own, f"_comment-{ending}", faults)
        for document in set(translations[translator]) - set(sources):
            problem, path = (
                f"has no source file, but a translation by {translator}",
                translations[translator][document],
            )
            faults[document].append(BadInput(path, document, problem, "add the source file, or remove this one"))
    remedy = "correct the translator's name or language, or drop the entry"
    missing = [
        BadInput(folder, translator, "is not a folder", remedy)
        for translator, text in description.segmented.items()
        if not (folder := root / "translation" / text.language / translator).is_dir()
    ]
    results: list[Document | BadInput] = []
    for document in sorted({document for files in translations.values() for document in files} - set(sources)):
        results += faults[document]
    for document, path in sources.items():
        files = {key: of[document] for key, of in beside.items() if document in of}
        texts = {translator: of[document] for translator, of in translations.items() if document in of}
        results += _document(document, path, source.language, texts, files, html.get(document), faults[document])
    if missing:  # without a translator's folder, every passage would lose a reference
        raise_all([*missing, *(result for result in results if isinstance(result, BadInput))])
    yield from results


def _files(folder: Path, suffix: str, faults: Faults) -> dict[str, Path]:
    """The file of each document in a folder and its subfolders, in natural order.

    A second file for the same document is a fault.
    """
    files: dict[str, Path] = {}
    for path in sorted(folder.rglob(f"[!.]*{suffix}.json")):
        document = path.name.removesuffix(f"{suffix}.json")
        if document in files:
            problem = f"the document is also in {files[document]}"
            faults[document].append(BadInput(path, document, problem, "remove one of the files"))
        files[document] = path
    return dict(
        sorted(files.items(), key=lambda item: [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", item[0])])
    )


def _document(
    name: str,
    path: Path,
    language: str,
    translations: Mapping[str, Path],
    beside: Mapping[tuple[str, str], Path],
    html: Path | None,
    faults: list[BadInput],
) -> list[Document | BadInput]:
    """Return the document whose source is in `path`, or all its faults, including the given ones in `faults`.

    `translations` maps each translator to a file. The keys of `beside` are pairs of a translator ('' for the source)
    and a kind of aside; its values are the files with these asides.
    """
    source = _texts(path, faults)
    if not faults and not source:
        faults.append(BadInput(path, "", "contains no segments", "write its segments, or remove the file"))
    segments = {key: text for key, text in source.items() if text is not None}
    faults += source_faults(path, segments)
    headings = {key for key in segments if _NUMBERED_AS_HEADING.search(key)}
    if html and (templates := _beside(html)):
        headings = _headings(templates)
    references, asides = {}, []
    for translator, file in translations.items():
        texts = {key: text for key, text in _texts(file, faults).items() if text}
        if texts and source and source.keys().isdisjoint(texts):
            problem, remedy = f"has no source in {path.name}", "add the source segment, or drop this one"
            faults += [BadInput(file, key, problem, remedy) for key in texts]
        references[translator], own = _joined(texts, source, headings, translator)
        asides += own
    for (translator, kind), file in beside.items():
        texts = _beside(file)
        asides += [SegmentAside(key, translator, kind, text) for key, text in texts.items() if key in source]
        if unknown := [key for key in texts if key not in source]:
            logger.warning("%s: left out, because the source lacks their segments: %s", file, ", ".join(unknown))
    asides += [SegmentAside(key, "", "heading", segments[key]) for key in segments if key in headings and segments[key]]
    if faults:
        return [*faults]
    order = {key: position for position, key in enumerate(segments)}
    asides.sort(key=lambda aside: order[aside.segment])
    return [Document(name, path, passages(language, segments, references), asides=tuple(asides))]


def _texts(path: Path, faults: list[BadInput]) -> dict[str, str | None]:
    """Texts of a file by segment id, None for a faulty text. The faults are added to `faults`."""
    texts: dict[str, str | None] = {}
    with collecting(faults):
        for key, text in parse(decode(path), path).items():
            texts[key] = None
            with collecting(faults):
                if not isinstance(text, str):
                    raise BadInput(path, key, "is not a string", "write a text in quotation marks; it may be empty")
                texts[key] = clean(text, path, key).strip()
    return texts


def _beside(file: Path) -> dict[str, str]:
    """The nonempty values of a file beside the texts. Its faults are logged."""
    faults: list[BadInput] = []
    values = {key: value for key, value in _texts(file, faults).items() if value}
    for fault in faults:
        logger.warning("%s", fault)
    return values


def _joined(
    texts: Mapping[str, str], source: Collection[str], headings: Collection[str], translator: str
) -> tuple[dict[str, str], list[SegmentAside]]:
    """Texts of a translation by segment of the source, and asides for the segments that the source lacks."""
    joined: dict[str, str] = {}
    added: dict[tuple[str, str], list[str]] = defaultdict(list)
    waiting: list[str] = []
    for key, text in texts.items():
        if key in source:
            joined[key] = text
            if waiting:
                added[key, "heading"] = waiting
                waiting = []
        elif key in headings or not joined:
            waiting.append(text)
        else:
            before = next(reversed(joined))
            joined[before] += f" {text}"
            added[before, "doubt"].append(f"the source lacks {key}, whose text is joined to {before}")
    if waiting and joined:
        added[next(reversed(joined)), "heading"] += waiting
    if added:
        count: Counter[str] = Counter()
        for (_, kind), parts in added.items():
            count[kind] += len(parts)
        logger.warning(
            "%s: the source lacks %d headings and %d other segments of %s, which are kept as asides or joined to the "
            "segment before", beginning(min(texts)), count["heading"], count["doubt"], translator,
        )  # fmt: skip
    return joined, [SegmentAside(key, translator, kind, "\n".join(parts)) for (key, kind), parts in added.items()]


def _headings(templates: Mapping[str, str]) -> set[str]:
    """Segments that are headings according to their markup."""
    keys = list(templates)
    marked = []
    for at, template in enumerate(templates.values()):
        place = f"<data value='{at}'></data>"
        marked.append(template.replace(_PLACE, place) if _PLACE in template else template.replace(">", f">{place}", 1))
    root = etree.fromstring(f"<html>{''.join(marked)}</html>".encode(), etree.HTMLParser(encoding="utf-8"))
    return {keys[int(at)] for at in root.xpath(_HEADINGS)}
