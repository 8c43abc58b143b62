"""Continuous translations as plain text.

Paragraphs are separated by empty lines; in a file without empty lines, each line is a paragraph. Line breaks within a
paragraph are kept, because plain text does not show whether they belong to verse.

A number, `*`, `†` or `‡` in square brackets is the mark of a footnote or, before the first word of a paragraph, the
number of the paragraph. Other words in brackets are text.
"""

import re
from pathlib import Path

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.running_text import LINE, PARAGRAPH, RunningText
from resources.errors import BadInput

# The match includes preceding white space, unless a word directly follows the mark.
_MARK = re.compile(r"(?:\s+(?=\[[^]]*\](?!\w)))?\[ ?(\d{1,3}|[*†‡]) ?\]")
_MARKUP = re.compile(r"\s*<(?:!doctype|html|\?xml|tei)\b", re.IGNORECASE)


def running_text(path: Path) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of a plain text file.

    Raises
    ------
    BadInput
        If the file cannot be read as UTF-8, or is an HTML or XML file.
    """
    content = decode(path)
    if _MARKUP.match(content):
        raise BadInput(path, "", "is markup, not plain text", "correct `layout` or `files`, or fetch the plain text")
    text = RunningText()
    paragraphs = re.split(r"\n\s*\n", content.strip())
    for paragraph in paragraphs if len(paragraphs) > 1 else content.split("\n"):
        text.separate(PARAGRAPH)
        _add(paragraph, text)
    return text.finish()


def _add(paragraph: str, text: RunningText) -> None:
    """Add a paragraph to a text, with its marks and number as asides."""
    has_words = False
    for line in paragraph.split("\n"):
        text.separate(LINE)
        for position, piece in enumerate(_MARK.split(line)):
            if position % 2 == 0:
                text.add(piece)
                has_words = has_words or re.search(r"\w", piece) is not None
            elif has_words:
                text.after("footnote", piece)
            else:
                text.before("number", piece)
