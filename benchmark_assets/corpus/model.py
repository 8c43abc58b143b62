"""The parts of a corpus as plain values: documents, passages, segments, references. Not here: reading, storage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Segment:
    """The smallest unit of a source with an id. `text` is '' if the edition numbers the segment but leaves it empty."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """One translator's rendering of a passage.

    `segments` is parallel to the passage's segments: None for an untranslated segment, '' where the source segment is
    empty. `flag` is the corpus's own remark on this text, such as 'partial'.
    """

    translator: str
    segments: tuple[str | None, ...]
    flag: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of translation and scoring.

    `language` is the source's BCP 47 or ISO 639 tag. `text` is the source text if it differs from the segments joined
    by spaces, else None. `previous` and `following` are the context of a chunk of running text; None for other
    passages. `listed` is false if the corpus is limited to other passages (`only` in its description).
    """

    id: str
    language: str
    segments: tuple[Segment, ...]
    references: tuple[Reference, ...]
    text: str | None = None
    previous: str | None = None
    following: str | None = None
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Aside:
    """An addition to a continuous text that does not belong to the text itself.

    `kind` is 'heading', 'footnote', 'note' (of an editor), 'number' (of a paragraph or verse), 'page' (number or
    running head of a page), 'furniture' (title page, licence, colophon), 'ruby' (reading of characters) or 'character'
    (format characters, counted). `at` is the offset in the text, in characters; for a footnote, the offset of its mark.
    `text` is the content of the aside, or the mark of a footnote whose content is not in the file.
    """

    kind: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class SegmentAside:
    """An addition to a segment that does not belong to its text.

    `kind` is 'heading' (the segment is a heading; of a translation: one that the translator added before the segment),
    'note' (of a translator), 'variant' (readings of other editions), 'reference' (places in other editions), 'doubt'
    (why the place of a part of the text is not certain), or a kind of `Aside`. `translator` is '' for the source. The
    `text` is the content; for a heading of the source, the segment itself.
    """

    segment: str
    translator: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A continuous translation of a document, not divided into the segments of the source.

    `text` is in NFC; its paragraphs are separated by an empty line. Line breaks within a paragraph are kept in verse
    and in plain text files. `asides` are not part of `text`; they are in order of `at`.
    """

    translator: str
    file: Path
    text: str
    asides: tuple[Aside, ...] = ()


class Lengths(NamedTuple):
    """Number of characters of a text by what became of them. `gaps`: marks of gaps; `nothing`: text in no segment."""

    segments: int
    notes: int = 0
    headings: int = 0
    apparatus: int = 0
    gaps: int = 0
    nothing: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """A published text: the unit in which passages are read and translations are aligned.

    `file` is the file of its source; `prose` has its continuous translations, before alignment; `asides` has the
    additions to its segments, in the order of the segments. `lengths` says what became of the characters of the source
    (by the key '') and of translations, if the reader knows it.
    """

    id: str
    file: Path
    passages: tuple[Passage, ...]
    prose: tuple[Prose, ...] = ()
    asides: tuple[SegmentAside, ...] = ()
    lengths: Mapping[str, Lengths] = field(default_factory=dict)


def passage_of(segment_id: str) -> str | None:
    """Id of the passage that a segment belongs to: the segment's id up to its last dot.

    If no dot follows the last colon (`dhp1:3`, a line of a verse), the passage's id is the part before that colon. None
    if the segment's id has neither dot nor colon.
    """
    head, colon, tail = segment_id.rpartition(":")
    if "." in tail:
        return f"{head}{colon}{tail.rpartition('.')[0]}" or None
    return head or None


def joined(segments: tuple[str | None, ...] | list[str | None] | list[str]) -> str:
    """Text of a passage: its segments, stripped and joined by spaces, without empty and missing segments."""
    return " ".join(stripped for segment in segments if segment and (stripped := segment.strip()))
