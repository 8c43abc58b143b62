"""What a corpus is made of. Plain values: readers make them, nothing here reads or stores."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Licence:
    """Terms of a text; a restricted one enters no default export."""

    terms: str
    restricted: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """The smallest unit with an id. `text` is '' where an edition numbers a segment and leaves it empty."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """One translator's rendering of a passage.

    `segments` runs parallel to the passage's segments: None where one is untranslated, '' where there is nothing to
    translate. `flag` is what the corpus says of this text ('partial', …).
    """

    translator: str
    segments: tuple[str | None, ...]
    flag: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of translation and scoring. `language` is that of the source, as a BCP 47 or ISO 639 tag.

    `text` is the source as it stands in its document where that is not the segments joined by a space. `previous` and
    `following` are what stands before and after a chunk of running text; None of passages that are no chunks.
    """

    id: str
    language: str
    segments: tuple[Segment, ...]
    references: tuple[Reference, ...]
    text: str | None = None
    previous: str | None = None
    following: str | None = None


@dataclass(frozen=True, slots=True)
class Aside:
    """What stands beside a continuous text and is no part of it.

    `kind` is 'heading', 'footnote', 'note' (of an editor) or 'number' (of a paragraph or verse). `at` is the offset in
    the text, in characters, at which it stood; of a footnote, where its mark stood. `text` is the mark of a footnote
    where the file has no more of it.
    """

    kind: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A translation of a document that is not cut into the segments of the source.

    `text` is in NFC, its paragraphs are separated by an empty line, a line break within one is kept where it is a line
    of verse, and in plain text always. Asides are kept apart from it, in order of `at`.
    """

    translator: str
    file: Path
    text: str
    asides: tuple[Aside, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A text as it is published: the unit in which passages are read and translations are aligned.

    `file` is the one that holds its source; `prose` has the translations that have still to be aligned.
    """

    id: str
    file: Path
    passages: tuple[Passage, ...]
    prose: tuple[Prose, ...] = ()


def passage_of(segment_id: str) -> str | None:
    """Id of the passage of a segment: the segment's id up to its last dot.

    Where nothing after the colon has a dot (`dhp1:3`, a line of a verse), it is the part before the colon. None for an
    id with neither.
    """
    head, colon, tail = segment_id.rpartition(":")
    if "." in tail:
        return f"{head}{colon}{tail.rpartition('.')[0]}" or None
    return head or None


def joined(segments: tuple[str | None, ...] | list[str | None] | list[str]) -> str:
    """Text of a passage: its segments, stripped, joined by a space; empty and missing ones left out."""
    return " ".join(stripped for segment in segments if segment and (stripped := segment.strip()))
