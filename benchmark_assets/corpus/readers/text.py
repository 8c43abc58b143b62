"""Continuous translations as plain text.

Paragraphs are separated by empty lines; in a file without empty lines, each line is a paragraph. Line breaks within a
paragraph are kept, because plain text does not show whether they belong to verse.

What a book prints around its text becomes asides: titles, headings, salutations, page numbers, running heads, footnotes
and licences (furniture). Words that are broken at the end of a line are joined. Tags and entities are read as HTML
(plain).

A number, `*`, `†` or `‡` in square brackets is the mark of a footnote or, before the first word of a paragraph, the
number of the paragraph. Other words in brackets are text.

In a text of Aozora Bunko, each line is a paragraph, and what was added to it becomes asides (aozora).
"""

import re
from contextlib import suppress
from pathlib import Path

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.aozora import is_aozora, without_marks
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.furniture import pieces
from benchmark_assets.corpus.readers.plain import text_of_html
from benchmark_assets.corpus.readers.running_text import PARAGRAPH, RunningText
from resources.errors import BadInput

# The match includes preceding white space, unless a word directly follows the mark.
_MARK = re.compile(r"(?:\s+(?=\[[^]]*\](?!\w)))?\[ ?(\d{1,3}|[*†‡]) ?\]")
_MARKUP = re.compile(r"\s*<(?:!doctype|html|\?xml|tei)\b", re.IGNORECASE)


def running_text(path: Path) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of a plain text file.

    Raises
    ------
    BadInput
        If the file cannot be read as UTF-8, or as Aozora Bunko's Shift_JIS, or is an HTML or XML file.
    """
    content = _decoded(path)
    if is_aozora(content):
        return _of_aozora(content)
    if _MARKUP.match(content):
        raise BadInput(path, "", "is markup, not plain text", "correct `layout` or `files`, or fetch the plain text")
    text = RunningText()
    has_words = False
    for piece in pieces(text_of_html(content)):
        if piece.kind:
            text.before(piece.kind, piece.text)
            continue
        text.separate(piece.separator)
        has_words = _add(piece.text, text, has_words and piece.separator != PARAGRAPH)
    return text.finish()


def _decoded(path: Path) -> str:
    """Text of a file in UTF-8 or, if it is of Aozora Bunko, in Shift_JIS as Windows writes it."""
    try:
        return decode(path)
    except BadInput:
        with suppress(BadInput):
            if is_aozora(content := decode(path, "cp932")):
                return content
        raise


def _of_aozora(content: str) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of Aozora Bunko."""
    lines, removed = without_marks(content)
    text = PARAGRAPH.join(line.strip() for line in lines.split("\n") if line.strip())
    places = [at for at, sign in enumerate(text) if sign.isalnum()]
    ends = [*places, len(text)]
    return text, tuple(Aside(each.kind, ends[min(each.letters, len(places))], each.text) for each in removed)


def _add(line: str, text: RunningText, has_words: bool) -> bool:
    """Add a line to a text, with its marks and number as asides. Tells whether its paragraph has words so far."""
    for position, part in enumerate(_MARK.split(line)):
        if position % 2 == 0:
            text.add(part)
            has_words = has_words or re.search(r"\w", part) is not None
        elif has_words:
            text.after("footnote", part)
        else:
            text.before("number", part)
    return has_words
