"""Kanripo's texts (mandoku): Chinese in lines that end in `¶`, with pages, headings and comments.

`#` begins a comment or property, `*` a heading, `<pb:…>` a page. Lines are joined without a space; an empty line ends a
paragraph. A paragraph that begins with a number (`1.16`) has it as its citation, and paragraphs without one continue
it. In a text without such numbers, paragraphs are numbered below their headings. Notes in small characters, in
parentheses, become footnotes.

Here: the text of a file. Not here: which files a corpus has, and how they are divided (cited).
"""

import re
from pathlib import Path

from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.citing import CitedText, Citing
from benchmark_assets.corpus.readers.running_text import PARAGRAPH
from resources.errors import BadInput
from resources.keys import slug

_NUMBER = re.compile(r"(\d+(?:\.\d+)+)\s*")
_NOTE = re.compile(r"\(([^()]*)\)")
_PAGE = re.compile(r"<(?:pb|md):[^>]*>")


def read(path: Path) -> dict[str, CitedText]:
    """The text of a file, by the file's name.

    Raises
    ------
    BadInput
        If the file cannot be read as UTF-8, contains no text, or lost letters in conversion.
    """
    content = decode(path)
    clean(content, path)
    lines = content.split("\n")
    numbers = [match[1].count(".") + 1 for line in lines if (match := _NUMBER.match(_PAGE.sub("", line)))]
    depth = max(numbers, default=2)
    found = Citing(*(f"level {level}" for level in range(1, depth)), "section" if numbers else "paragraph")
    heading, paragraph, between = 0, 0, True
    for place, line in enumerate(lines, start=1):
        words = _PAGE.sub("", line).replace("¶", "").strip()
        if line.startswith("*"):
            heading, paragraph = heading + 1, 0
            found.text.separate(PARAGRAPH)
            found.text.before("heading", words.lstrip("* "))
        elif line.startswith("#"):
            continue
        elif words:
            number = _NUMBER.match(words)
            if number:
                words = words[number.end() :]
                found.text.cite(found.cite(tuple(number[1].split(".")), place))
            elif between and not numbers:
                paragraph += 1
                found.text.cite(found.cite((str(max(heading, 1)), str(paragraph)), place))
            found.text.separate(PARAGRAPH if number or between else "")
            for at, piece in enumerate(_NOTE.split(words)):
                if at % 2:
                    found.text.after("footnote", piece.replace("/", ""))
                else:
                    found.text.add(piece)
        between = not words or line.startswith(("*", "#"))
    text = found.finish()
    if not text.content:
        raise BadInput(path, "", "contains no text", "fetch the file again, or remove it")
    return {slug(path.stem): text}
