"""Passages from segments, for all layouts that are cut into segments.

Here: rules for the segments of a document in any layout. Not here: reading the segments of a layout.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmark_assets.corpus.model import Passage, Reference, Segment, passage_of
from resources.errors import BadInput
from resources.keys import check_key


def passages(
    language: str, segments: Mapping[str, str], references: Mapping[str, Mapping[str, str]]
) -> tuple[Passage, ...]:
    """The passages of a document.

    Parameters
    ----------
    language
        Language of the source.
    segments
        Text of the source by id of the segment, in the document's order; '' where an edition leaves one empty.
    references
        By translator, the texts of the segments that are translated, by id.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for key in segments:
        groups[passage_of(key) or ""].append(key)
    grouped = []
    for passage, keys in groups.items():
        rendered = (
            Reference(translator, tuple(_rendering(texts.get(key), segments[key]) for key in keys))
            for translator, texts in references.items()
            if any(key in texts for key in keys)
        )
        parts = tuple(Segment(key, segments[key].strip()) for key in keys)
        grouped.append(Passage(passage, language, parts, tuple(rendered)))
    return tuple(grouped)


def source_faults(
    path: Path, segments: Mapping[str, str], lines: Mapping[str, int] | None = None
) -> Iterator[BadInput]:
    """Faults in the source of a document, by id of the segment.

    Faults are a segment that names no passage, a passage without any text or with a name that can be no key; and, if
    `lines` are given, a passage whose segments are not adjacent.

    Parameters
    ----------
    lines
        Line of each segment in the file; None where the layout has no lines.
    """
    filled: dict[str, bool] = {}
    first: dict[str, str] = {}
    previous = None
    for key, text in segments.items():
        passage = passage_of(key)
        if passage is None:
            yield BadInput(
                path, _where(key, key, lines), "does not name its passage", "write the id as document:passage.segment"
            )
            continue
        if lines and passage in filled and passage != previous:
            problem = f"stands apart from the other segments of {passage}"
            yield BadInput(path, _where(key, key, lines), problem, "put them next to one another")
        filled[passage] = filled.get(passage, False) or bool(text.strip())
        first.setdefault(passage, key)
        previous = passage
    for passage, has_text in filled.items():
        if not has_text:
            where = _where(passage, first[passage], lines)
            yield BadInput(path, where, "the source of the passage is empty", "write its text, or drop its segments")
        try:
            check_key(passage, "passage", path)
        except BadInput as fault:
            yield fault


def _where(name: str, segment: str, lines: Mapping[str, int] | None) -> str:
    return f"line {lines[segment]} {name}" if lines else name


def _rendering(text: str | None, source: str) -> str | None:
    if text is None:
        return None if source.strip() else ""
    return text.strip()
