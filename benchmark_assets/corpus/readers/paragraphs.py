"""Prose whose paragraphs are the passages, as plain text, Word, EPUB or HTML: a file a document.

A document is named after its file, or what `{document}` in the source's `files` stands for. Its sentences are the
segments `<document>:<passage>.<sentence>`; a paragraph longer than `MOST` characters is several passages. Lines of a
hard-wrapped text are joined, other lines are segments of their own. Translations are continuous.

Here: the source. Not here: layouts of prose (prose), running text in chunks of equal size (chunks).
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median_low

from benchmark_assets.corpus.chunks import count
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, Passage, Segment, SegmentAside
from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.files import check_sources_only, fitting, listed
from benchmark_assets.corpus.readers.prose import PROSE_READERS
from benchmark_assets.corpus.sentences import LEAST_SENTENCE, SENTENCE, UNBROKEN, spans_of
from resources.errors import BadInput
from resources.keys import check_key, slug

LAYOUTS = {PROSE_READERS[layout].ending: layout for layout in ("text", "docx", "epub", "html")}
"""Layouts by the endings of their files."""

MOST = 1500
"""Maximum number of characters of a passage, unless a sentence is longer."""

LEAST_CJK = 6
"""Minimum number of characters in a sentence in Chinese, Japanese or Korean; elsewhere, LEAST_SENTENCE."""

NARROWEST, SLACK = 50, 15
"""Narrowest median width of hard-wrapped lines, and maximum difference of most lines from it, in characters."""


def documents(description: Description) -> Iterator[Document | BadInput]:
    """The documents of one file, or of the files in a folder that match the pattern of the source.

    Raises
    ------
    BadInput
        If there is no file, or a reference has no layout of its own.
    """
    check_sources_only(description)
    pattern = description.source.files
    files = fitting(description.root, pattern) if pattern else {"": listed(description, *LAYOUTS)}
    if not files:
        raise BadInput(description.root, "source", f"no file matches {pattern!r}", "correct `files` of the source")
    for name, paths in files.items():
        for path in paths:
            try:
                key = check_key(name, "document", path) if name else slug(path.stem)
                yield _document(key, path, description.source.language)
            except BadInput as fault:
                yield fault


def _document(name: str, path: Path, language: str) -> Document:
    if path.suffix not in LAYOUTS:
        raise BadInput(path, "", f"ends in {path.suffix!r}", f"give a file that ends in {', '.join(LAYOUTS)}")
    text, asides = PROSE_READERS[LAYOUTS[path.suffix]].read(path)
    text = clean(text, path)
    if not any(map(str.isalpha, text)):
        raise BadInput(path, "", "contains no text", "write the text, or remove the file")
    pattern = UNBROKEN if _is_wrapped(text) else SENTENCE
    least = LEAST_CJK if 2 * count(text) > len(text) else LEAST_SENTENCE
    passages: list[Passage] = []
    starts: list[int] = []
    ids: list[str] = []
    for paragraph in re.finditer(r"(?:(?!\n\n).)+", text, re.DOTALL):
        for group in _groups(spans_of(paragraph[0], pattern, least)):
            identity = f"{name}:{len(passages) + 1}"
            starts += [paragraph.start() + start for start, _ in group]
            pieces = [" ".join(paragraph[0][start:end].split()) for start, end in group]
            segments = tuple(Segment(f"{identity}.{at}", piece) for at, piece in enumerate(pieces, start=1))
            ids += [segment.id for segment in segments]
            passages.append(Passage(identity, language, segments, ()))
    beside: dict[tuple[str, str], list[str]] = defaultdict(list)
    for aside in asides:
        beside[ids[max(bisect_right(starts, aside.at) - 1, 0)], aside.kind].append(aside.text)
    found = tuple(SegmentAside(segment, "", kind, "\n".join(texts)) for (segment, kind), texts in beside.items())
    return Document(name, path, tuple(passages), asides=found)


def _groups(spans: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Consecutive sentences of a paragraph, as passages."""
    group: list[tuple[int, int]] = []
    for span in spans:
        if group and span[1] - group[0][0] > MOST:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _is_wrapped(text: str) -> bool:
    """Whether most lines that another one of their paragraph follows are about equally wide, and end within a
    sentence."""
    lines = [line for line, following in pairwise(text.split("\n")) if line and following]
    width = median_low(map(len, lines)) if lines else 0
    full = [line for line in lines if abs(len(line) - width) <= SLACK and line.rstrip()[-1:] not in ".!?;:"]
    return width >= NARROWEST and 2 * len(full) > len(lines)
