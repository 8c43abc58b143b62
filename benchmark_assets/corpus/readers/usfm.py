"""USFM, the form of Paratext, unfoldingWord and eBible: one book of the Bible in a file.

`\\id` gives the document's id, `\\c` and `\\v` number chapters and verses. A verse of several numbers (`\\v 2-3`) or a
part of a verse (`\\v 4a`) has them as its number. Titles and section headings become headings, introductions and
sidebars become notes, `\\f … \\f*` and `\\x … \\x*` become footnotes. Words keep their text
(`\\w word|lemma="…"\\w*`); attributes, figures, alternative numbers and alignment milestones (`\\zaln-s … \\*`) are
left out. A chapter number that is missing before the first verse is 1.

Here: the text of a file. Not here: which books a corpus has, and how they are divided (cited).
"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.citations import Citation
from benchmark_assets.corpus.readers.citing import CitedText, Citing
from benchmark_assets.corpus.readers.running_text import LINE, PARAGRAPH, SPACE, RunningText
from resources.errors import BadInput

logger = logging.getLogger("variorum.corpus")

_MARKER = re.compile(r"\\(\+?[A-Za-z]+\d*(?:-[A-Za-z]+)?)(\*|[ \t]?)")
_MILESTONE = re.compile(r"\\[A-Za-z]+\d*(?:-[se])?(?:\s*\|[^\\]*|\s*)\\\*")
_SIDEBAR = re.compile(r"\\esb\s(.*?)\\esbe\b", re.DOTALL)
_SPAN = re.compile(r"\\(f|fe|ef|efe|x|ex|rq|fig|va|vp|ca)\s(.*?)\\\1\*", re.DOTALL)
_FOOTNOTES = ("f", "fe", "ef", "efe", "x", "ex", "rq")
_PLACE = re.compile(r"\\\+?(?:fr|xo|fv|xop)\s[^\\]*(?:\\\+?(?:fr|xo|fv|xop)\*)?")
_NUMBER = re.compile(r"\s*(\d+\w?(?:\s*[-–—,]\s*\d+\w?)*)[ \t]?", re.ASCII)

_LEFT_OUT = r"id|ide|h\d*|toca?\d|rem|sts|usfm|cp|restore|lit|cat"
_HEADING = r"i?mte?\d*|ms\d*|mr|s\d*|sr|r|d|sp|sd\d*|cl|qa|is\d*|iot|periph"
_NOTE = r"i(?!d|mt|s\d*$|ot|t$)[a-z]+\d*|cd"
_LINES = r"q[rcm]?\d*|qd|li(?:m|\d)*"
_TEXT = rf"p|m|po|cls|p[rmic]\d*|pm[ocr]|mi|nb|ph\d*|b|tr|l[hf]|c|v|t[hc][rc]?\d*(?:-\d+)?|{_LINES}"
_ROLES = {
    re.compile(markers): role
    for role, markers in {"left out": _LEFT_OUT, "heading": _HEADING, "note": _NOTE, "text": _TEXT}.items()
}


class _Paragraph(NamedTuple):
    """A stretch that begins with a marker of paragraphs, chapters, verses or cells: its role, its line in the file, and
    its pieces, each with its marker: '' for plain text."""

    marker: str
    role: str
    line: int
    pieces: list[tuple[str, str]]


def read(path: Path) -> dict[str, CitedText]:
    """The book in a file, by its code; nothing for a file without verses, such as front matter.

    Raises
    ------
    BadInput
        If the file cannot be read as UTF-8, has verses but no `\\id`, or lost letters in conversion.
    """
    content = decode(path)
    if not re.search(r"\\v\s", content):
        logger.warning("%s: is left out, because it has no verses", path)
        return {}
    identity = re.search(r"\\id\s+([A-Za-z0-9]{3})\b", content)
    if identity is None:
        problem = "has no line `\\id` with the code of a book"
        raise BadInput(path, "", problem, "write it, such as `\\id JAS`")
    clean(content, path)
    return {identity[1].upper(): _book(content)}


def _book(content: str) -> CitedText:
    found, chapter = Citing("chapter", "verse"), "1"
    for marker, role, line, pieces in _paragraphs(content):
        if role in ("heading", "note"):
            found.text.separate(PARAGRAPH)
            found.text.before(role, " ".join("".join(text for name, text in pieces if name != "footnote").split()))
        elif role == "text":
            number = _NUMBER.match(pieces[0][1]) if marker in ("c", "v") and pieces else None
            if number is not None:
                pieces[0] = ("", pieces[0][1][number.end() :])
                own = re.sub(r"[–—]", "-", re.sub(r"\s", "", number[1]))
                chapter = own if marker == "c" else chapter
                citation: Citation = (chapter,) if marker == "c" else (chapter, own)
                found.text.cite(found.cite(citation, line))
            _write(marker, pieces, found.text)
    return found.finish()


def _write(marker: str, pieces: list[tuple[str, str]], text: RunningText) -> None:
    """Add a paragraph of text, with its footnotes as asides."""
    of_space = marker == "v" or marker.startswith("t")
    text.separate(SPACE if of_space else LINE if re.fullmatch(_LINES, marker) else PARAGRAPH)
    for name, piece in pieces:
        if name == "footnote":
            text.after("footnote", piece)
        else:
            text.add(piece)


def _paragraphs(content: str) -> Iterator[_Paragraph]:
    """The paragraphs of a book. Attributes of words are left out."""
    content = _SIDEBAR.sub(_as_note, _MILESTONE.sub(_blank, content))
    paragraph, at, line = _Paragraph("", "left out", 1, []), 0, 1
    closed = True
    while True:
        marker = _MARKER.search(content, at)
        end = marker.start() if marker else len(content)
        piece = content[at:end] if closed else content[at:end].partition("|")[0]
        paragraph.pieces.append(("", piece.replace("~", " ").replace("//", " ")))
        line += content.count("\n", at, end)
        if marker is None:
            break
        at = marker.end()
        if span := _SPAN.match(content, marker.start()):
            if span[1] in _FOOTNOTES:
                paragraph.pieces.append(("footnote", _plain(span[2])))
            at, closed = span.end(), True
            line += span[0].count("\n")
            continue
        name, closed = marker[1].removeprefix("+"), marker[2] == "*"
        role = next((role for markers, role in _ROLES.items() if markers.fullmatch(name)), "")
        if role and not closed:
            yield paragraph
            paragraph, closed = _Paragraph(name, role, line, []), True
    yield paragraph


def _blank(match: re.Match[str]) -> str:
    """The line breaks of a match, so that the lines after it keep their numbers."""
    return "\n" * match[0].count("\n")


def _as_note(match: re.Match[str]) -> str:
    return f"\\cd {' '.join(_MARKER.sub('', match[1]).split())}{_blank(match)}"


def _plain(note: str) -> str:
    """The text of a footnote, without its caller, its place, its markers and attributes."""
    note = re.sub(r"^\s*\S{1,2}\s", "", note)
    return " ".join(_MARKER.sub("", re.sub(r"\|[^|\\]*(?=\\)", "", _PLACE.sub("", note))).split())
