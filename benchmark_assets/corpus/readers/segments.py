"""Documents from segments, for all layouts that divide texts into segments.

Here: rules for the segments of a document in any layout, and the documents of a file of aligned segments. Not here:
reading the segments from files.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, Passage, Reference, Segment, SegmentAside, passage_of
from resources.errors import BadInput
from resources.keys import escaped, slug

Grouping = Callable[[str], str | None]
"""Function from the id of a segment to the id of its passage; None if the id does not name a passage."""


class Unit(NamedTuple):
    """A segment in a file: its document, its id, the line at which it begins, and its texts: of the source, by the key
    `source`, and of translators. A missing text is '', or has no key. `asides` are its kinds and texts of asides."""

    document: str
    segment: str
    line: int
    texts: dict[str, str]
    asides: tuple[tuple[str, str], ...] = ()


def documents_of(path: Path, units: Iterable[Unit], description: Description) -> Iterator[Document | BadInput]:
    """The documents of a file with these units, in order of occurrence. A faulty document is replaced by its faults."""
    by_document: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_document[unit.document].append(unit)
    for name, own in by_document.items():
        faults: list[BadInput] = []
        lines: dict[str, int] = {}
        for unit in own:
            if unit.segment in lines:
                problem = f"the segment is also in line {lines[unit.segment]}"
                faults.append(BadInput(path, f"line {unit.line} {unit.segment}", problem, "keep one of them"))
            lines.setdefault(unit.segment, unit.line)
        segments = {unit.segment: unit.texts["source"] for unit in own}
        faults += source_faults(path, segments, lines)
        references = {
            translator: {unit.segment: text for unit in own if (text := unit.texts.get(translator))}
            for translator in description.segmented
        }
        if faults:
            yield from faults
        else:
            asides = [
                SegmentAside(unit.segment, "", kind, "\n".join(text for other, text in unit.asides if other == kind))
                for unit in own for kind in dict(unit.asides)
            ]  # fmt: skip
            found = passages(description.source.language, segments, references)
            yield Document(name, path, found, asides=tuple(asides))


def passages(
    language: str,
    segments: Mapping[str, str],
    references: Mapping[str, Mapping[str, str]],
    grouping: Grouping = passage_of,
) -> tuple[Passage, ...]:
    """The passages of a document. The signs of an id that a partition key cannot have are escaped.

    Parameters
    ----------
    language
        Language of the source.
    segments
        Source text by segment id, in the document's order; '' for segments that the edition leaves empty.
    references
        Texts of the translated segments, by translator and segment id.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for key in segments:
        groups[grouping(key) or ""].append(key)
    grouped = []
    for passage, keys in groups.items():
        rendered = (
            Reference(translator, tuple(_rendering(texts.get(key), segments[key]) for key in keys))
            for translator, texts in references.items()
            if any(key in texts for key in keys)
        )
        parts = tuple(Segment(key, segments[key].strip()) for key in keys)
        grouped.append(Passage(escaped(passage), language, parts, tuple(rendered)))
    return tuple(grouped)


def located(identity: str, path: Path, is_passage: bool = False) -> tuple[str, str]:
    """Document and id of a segment, from the id `identity` of its row or unit in a file.

    The document is the part of the id before its last colon or, without a colon, the name of the file. A plain id,
    which has neither colon nor dot, numbers a passage of one segment: `7` in `book.csv` is the segment `book:7.1` of
    the passage `book:7`. Letters of the file's name that a key cannot have are replaced (`keys.slug`). If `is_passage`
    is true, each id names a passage of one segment: `1.7` is `book:1.7.1`.
    """
    name = slug(path.stem)
    document = identity.rpartition(":")[0] or name
    if is_passage:
        return document, f"{identity if ':' in identity else f'{name}:{identity}'}.1"
    return document, identity if ":" in identity or "." in identity else f"{name}:{identity}.1"


def source_faults(
    path: Path,
    segments: Mapping[str, str],
    lines: Mapping[str, int] | None = None,
    grouping: Grouping = passage_of,
) -> Iterator[BadInput]:
    """Faults in the source of a document.

    Faults are segments whose id does not name a passage, passages without text and, if `lines` is given, passages
    whose segments are not adjacent.

    Parameters
    ----------
    segments
        Source text by segment id, in the document's order.
    lines
        Line in the file by segment id; None for layouts without lines.
    """
    filled: dict[str, bool] = {}
    first_segments: dict[str, str] = {}
    previous = None
    for key, text in segments.items():
        passage = grouping(key)
        if passage is None:
            remedy = "write the id as document:passage.segment"
            yield BadInput(path, _where(key, key, lines), "the id does not name a passage", remedy)
            continue
        if lines and passage in filled and passage != previous:
            problem = f"is separated from the other segments of {passage}"
            yield BadInput(path, _where(key, key, lines), problem, "put the segments of a passage next to one another")
        filled[passage] = filled.get(passage, False) or bool(text.strip())
        first_segments.setdefault(passage, key)
        previous = passage
    for passage, has_text in filled.items():
        if not has_text:
            where = _where(passage, first_segments[passage], lines)
            yield BadInput(path, where, "the source of the passage is empty", "write its text, or drop its segments")


def _where(name: str, segment: str, lines: Mapping[str, int] | None) -> str:
    """The key of a fault: the name of a segment or passage, preceded by the line of `segment` if lines are known."""
    return f"line {lines[segment]} {name}" if lines else name


def _rendering(text: str | None, source: str) -> str | None:
    """The translation of a segment, stripped. A missing translation is '' if the source segment is empty, else None."""
    if text is None:
        return None if source.strip() else ""
    return text.strip()
