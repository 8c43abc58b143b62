"""Running text in Chinese, Japanese or Korean, cut into chunks of whole sentences.

A `.txt` file is a document and has its name; the files lie side by side. Its chunks are the passages `<document>:<n>`,
their sentences the segments `<document>:<n>.<m>`. Sizes are those of `chunks` in the description. Human translations
are continuous references with a layout of their own, whose files lie in another folder.

A line is a paragraph. In a file whose lines were broken at a width, a line that is not indented continues the paragraph
of a full line before it: in Korean with a blank, as Korean lines break between words, else without. Empty lines, and
lines of dashes or stars only, separate paragraphs.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median_low

from benchmark_assets.corpus.chunks import chunks, closed, count, hangul, last_letter
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, Passage, Segment
from benchmark_assets.corpus.readers.characters import check_letters, decode
from benchmark_assets.corpus.readers.files import listed
from resources.errors import BadInput
from resources.keys import check_key

NARROWEST = 40
"""Narrowest width, in columns (a wide character has two), at which lines count as broken: verse has shorter lines."""

SLACK = 8
"""Columns by which a full line may miss the width: a mark does not begin a line, and a character may be lost."""

_RULE = re.compile(r"[-=_*~＊＝＿─━◇◆○●☆★\s]+")


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .txt file, or of all in a folder, by name.

    Raises
    ------
    BadInput
        If the folder holds no .txt file, or a reference has no layout of its own.
    """
    for translator in description.segmented:
        raise BadInput(
            description.name, f"references.{translator}.layout", "is missing, and the layout `chunks` has sources only",
            "give the layout of the translation's own files, for instance `text`, and their `root`",
        )  # fmt: skip
    for path in listed(description, ".txt"):
        try:
            yield _document(path, description)
        except BadInput as fault:
            yield fault


def paragraphs(content: str) -> list[str]:
    """Paragraphs of a text, without white space around them; the lines of a hard-wrapped text are joined.

    Only lines followed by an unindented line are measured. The text counts as hard-wrapped if the median width of these
    lines is `NARROWEST` or more, and more than half of the lines are within `SLACK` of the median and do not end with a
    sentence. In a hard-wrapped text, a line is joined with the next line if it is at most `SLACK` narrower than the
    median; in Korean, also if it has no room for the first word of the next line.
    """
    lines = ["" if _RULE.fullmatch(line) else line.rstrip() for line in content.split("\n")]
    followed = [line for line, following in pairwise(lines) if line and following and not following[0].isspace()]
    width = median_low(map(_width, followed)) if followed else 0
    broken = [line for line in followed if abs(_width(line) - width) <= SLACK and not closed(line)]
    joins = width >= NARROWEST and 2 * len(broken) > len(followed)
    texts: list[str] = []
    previous = ""
    for line in lines:
        blank = " " if hangul(line[:1]) or hangul(last_letter(previous)) else ""
        lacking = max(SLACK, _width(line.split()[0])) if line and blank else SLACK
        if joins and line and not line[0].isspace() and previous and _width(previous) >= width - lacking:
            texts[-1] += f"{blank}{line}"
        elif line:
            texts.append(line.strip())
        previous = line
    return texts


def _document(path: Path, description: Description) -> Document:
    name = check_key(path.stem, "document", path)
    text = "\n".join(paragraphs(check_letters(decode(path), path)))
    if not count(text):
        raise BadInput(
            path, "", "holds no Chinese, Japanese or Korean text",
            "move it out of the folder; a translation belongs in a folder of its own",
        )  # fmt: skip
    passages = []
    for number, chunk in enumerate(chunks(text, description.chunks), start=1):
        identity = f"{name}:{number}"
        segments = tuple(Segment(f"{identity}.{at}", sentence) for at, sentence in enumerate(chunk.sentences, start=1))
        passages.append(
            Passage(identity, description.source.language, segments, (), chunk.text, chunk.previous, chunk.following)
        )
    return Document(name, path, tuple(passages))


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WFA" else 1 for sign in line)
