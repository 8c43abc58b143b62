"""The parts of a corpus, as plain values. Readers make them; nothing here reads or stores."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Licence:
    """Terms of a text; a restricted one enters no default export."""

    terms: str
    restricted: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """The smallest unit with an id. `text` is '' if an edition numbers a segment and leaves it empty."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """One translator's rendering of a passage.

    `segments` is parallel to the passage's segments: None where one is untranslated, '' where there is nothing to
    translate. `flag` is the corpus's note on this text ('partial', …).
    """

    translator: str
    segments: tuple[str | None, ...]
    flag: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of translation and scoring. `language` is the source's, as a BCP 47 or ISO 639 tag.

    `text` is the source as in its document, if that differs from the segments joined by a space. `previous` and
    `following` are the text before and after a chunk of running text; None for passages that are no chunks.
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
    """An addition to a continuous text that is no part of it.

    `kind` is 'heading', 'footnote', 'note' (of an editor) or 'number' (of a paragraph or verse). `at` is its offset in
    the text, in characters; for a footnote the offset of its mark. `text` is the mark of a footnote if the file has
    no more of it.
    """

    kind: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A translation of a document that is not cut into the segments of the source.

    `text` is in NFC; its paragraphs are separated by an empty line. Line breaks within a paragraph are kept in verse,
    and always in plain text. Asides are kept apart from it, in order of `at`.
    """

    translator: str
    file: Path
    text: str
    asides: tuple[Aside, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A text as it is published: the unit in which passages are read and translations are aligned.

    `file` holds its source; `prose` has its continuous translations, which are yet to be aligned.
    """

    id: str
    file: Path
    passages: tuple[Passage, ...]
    prose: tuple[Prose, ...] = ()


def passage_of(segment_id: str) -> str | None:
    """Id of the passage of a segment: the segment's id up to its last dot.

    Without a dot after the colon (`dhp1:3`, a line of a verse), it is the part before the colon. None for an id with
    neither dot nor colon.
    """
    head, colon, tail = segment_id.rpartition(":")
    if "." in tail:
        return f"{head}{colon}{tail.rpartition('.')[0]}" or None
    return head or None


def joined(segments: tuple[str | None, ...] | list[str | None] | list[str]) -> str:
    """Text of a passage: its segments, stripped, joined by a space; empty and missing segments are left out."""
    return " ".join(stripped for segment in segments if segment and (stripped := segment.strip()))
