"""Running text in Chinese, Japanese or Korean, cut into chunks of whole sentences.

Each `.txt` file is a document, named after the file. All files are in one folder. The chunks of a document are the
passages `<document>:<n>`, and their sentences are the segments `<document>:<n>.<m>`. The section `chunks` of the corpus
description sets the sizes. Human translations must be continuous references, in a folder of their own and with their
own layout.

Each line is a paragraph, except in hard-wrapped files, where an unindented line after a line of full width continues
the paragraph. Joined lines are separated by a space in Korean, which breaks lines between words, and by nothing in
Chinese and Japanese. Empty lines, and lines that consist of dashes or stars, separate paragraphs.

A Japanese file may be in Shift_JIS. What Aozora Bunko adds to a text becomes asides (aozora).
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import median_low

from benchmark_assets.corpus.chunks import chunks, closed, count, hangul, last_letter
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, Passage, Segment, SegmentAside
from benchmark_assets.corpus.readers.aozora import Removed, is_aozora, without_marks
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.files import check_sources_only, listed
from resources.errors import BadInput
from resources.keys import check_key

NARROWEST = 40
"""Narrowest width of hard-wrapped lines, in columns (a wide character has two columns). Lines of verse are shorter."""

SLACK = 8
"""Maximum difference between the width of a full line and the median width, in columns. Full lines are not equally
wide, because a line cannot begin with punctuation, and because letters get lost."""

_RULE = re.compile(r"[-=_*~＊＝＿─━◇◆○●☆★\s]+")


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .txt file, or of all .txt files in a folder in order of their names.

    Raises
    ------
    BadInput
        If the folder contains no .txt file, or a reference has no layout of its own.
    """
    check_sources_only(description)
    for path in listed(description, ".txt"):
        try:
            yield _document(path, description)
        except BadInput as fault:
            yield fault


def paragraphs(content: str) -> list[str]:
    """Paragraphs of a text, without surrounding white space; the lines of a hard-wrapped text are joined.

    Only lines followed by an unindented line are measured. The text counts as hard-wrapped if the median width of these
    lines is `NARROWEST` or more, and more than half of them are within `SLACK` of the median and end in mid-sentence.
    In a hard-wrapped text, an unindented line is joined to the previous line if the previous line is at most `SLACK`
    columns narrower than the median or, in Korean, too full for the first word of the unindented line.
    """
    lines = ["" if _RULE.fullmatch(line) else line.rstrip() for line in content.split("\n")]
    followed = [line for line, following in pairwise(lines) if line and following and not following[0].isspace()]
    width = median_low(map(_width, followed)) if followed else 0
    broken = [line for line in followed if abs(_width(line) - width) <= SLACK and not closed(line)]
    joins = width >= NARROWEST and 2 * len(broken) > len(followed)
    texts: list[str] = []
    previous = ""
    for line in lines:
        space = " " if hangul(line[:1]) or hangul(last_letter(previous)) else ""
        slack = max(SLACK, _width(line.split()[0])) if line and space else SLACK
        if joins and line and not line[0].isspace() and previous and _width(previous) >= width - slack:
            texts[-1] += f"{space}{line}"
        elif line:
            texts.append(line.strip())
        previous = line
    return texts


def _document(path: Path, description: Description) -> Document:
    name = check_key(path.stem, "document", path)
    content = clean(_decoded(path, description.source.language), path)
    content, removed = without_marks(content) if is_aozora(content) else (content, [])
    text = "\n".join(paragraphs(content))
    if not count(text):
        problem = "contains no Chinese, Japanese or Korean text"
        raise BadInput(path, "", problem, "move the file out of the folder; translations belong in another folder")
    passages = []
    for number, chunk in enumerate(chunks(text, description.chunks), start=1):
        identity = f"{name}:{number}"
        segments = tuple(Segment(f"{identity}.{at}", sentence) for at, sentence in enumerate(chunk.sentences, start=1))
        passages.append(
            Passage(identity, description.source.language, segments, (), chunk.text, chunk.previous, chunk.following)
        )
    return Document(name, path, tuple(passages), asides=tuple(_placed(removed, passages)))


def _decoded(path: Path, language: str) -> str:
    """Text of a file in UTF-8 or, if it is Japanese, in Shift_JIS as Windows writes it."""
    try:
        return decode(path)
    except BadInput:
        if language.startswith("ja"):
            with suppress(BadInput):
                return decode(path, "cp932")
        raise


def _placed(removed: Sequence[Removed], passages: Sequence[Passage]) -> Iterator[SegmentAside]:
    """Asides by segment: each goes to the segment in which, or before which, it stood. Those of one kind are joined."""
    segments = [segment for passage in passages for segment in passage.segments]
    ends = list(accumulate(sum(map(str.isalnum, segment.text)) for segment in segments))
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for aside in sorted(removed, key=lambda aside: aside.letters):
        bisect = bisect_left if aside.kind == "note" else bisect_right  # a note follows what it describes
        place = min(bisect(ends, aside.letters), len(segments) - 1)
        texts[segments[place].id, aside.kind].append(aside.text)
    for (segment, kind), parts in texts.items():
        yield SegmentAside(segment, "", kind, "\n".join(parts))


def _width(line: str) -> int:
    """Width of a line in columns; a wide or ambiguous East Asian character counts as two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WFA" else 1 for sign in line)
