"""Continuous translations as plain text.

Paragraphs are separated by empty lines; in a file without an empty line, each line is a paragraph. A line break within
a paragraph is kept, because plain text does not show whether it belongs to verse.

A number, `*`, `†` or `‡` in square brackets is the mark of a footnote, or, before the first word of its paragraph, a
number. Other words in brackets are text.
"""

import re
from pathlib import Path

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.running_text import LINE, PARAGRAPH, RunningText
from resources.errors import BadInput

# With the blanks before it, unless a word follows directly.
_MARK = re.compile(r"(?:\s+(?=\[[^]]*\](?!\w)))?\[ ?(\d{1,3}|[*†‡]) ?\]")
_MARKUP = re.compile(r"\s*<(?:!doctype|html|\?xml|tei)\b", re.IGNORECASE)


def running_text(path: Path) -> tuple[str, tuple[Aside, ...]]:
    """Text and asides of a file.

    Raises
    ------
    BadInput
        If it cannot be read as UTF-8, or is markup.
    """
    content = decode(path)
    if _MARKUP.match(content):
        raise BadInput(path, "", "is markup, no plain text", "correct `layout` or `files`, or fetch the text itself")
    text = RunningText()
    paragraphs = re.split(r"\n\s*\n", content.strip())
    for paragraph in paragraphs if len(paragraphs) > 1 else content.split("\n"):
        text.separate(PARAGRAPH)
        _add(paragraph, text)
    return text.finish()


def _add(paragraph: str, text: RunningText) -> None:
    begun = False
    for line in paragraph.split("\n"):
        text.separate(LINE)
        for position, piece in enumerate(_MARK.split(line)):
            if position % 2 == 0:
                text.add(piece)
                begun = begun or re.search(r"\w", piece) is not None
            elif begun:
                text.after("footnote", piece)
            else:
                text.before("number", piece)
