"""Running texts that a table of offsets divides into segments, for texts that may not be passed on themselves.

`offsets` in the corpus description names the table, in the form of the layout `table`: a row for each segment, with the
columns `segment_id`, `source`, and one column per translator. A cell is the place of the segment in the text, as
`START-END`: offsets in characters (Unicode code points) of the file in UTF-8, END exclusive, where a line break is one
character and a byte order mark none. `START-END+START-END` leaves out a part, such as a footnote. An empty cell is an
untranslated segment. Text between segments is left out.

Each text is one file below the corpus's root, `files` of the source or reference. Its `sha256` must be that of the file
for which the offsets hold. With `wrapped` in the description, lines that were broken at a fixed width are joined. A
passage of a literary corpus has the text before and after it as context, within the passages of its document and of
the sizes in `chunks`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from benchmark_assets.corpus.chunks import after, before, count, sentence_ends
from benchmark_assets.corpus.description import Description, Text
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.segments import Unit, documents_of
from benchmark_assets.corpus.readers.table import read_units
from resources import whole_files
from resources.errors import BadInput, collecting, raise_all

_SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")

Places = tuple[tuple[int, int], ...]
"""Starts and ends of the parts of a segment."""


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of the table, in order of occurrence.

    Raises
    ------
    BadInput
        If a file is missing, or differs from the file for which the offsets hold. All such faults are raised together.
    """
    assert description.offsets is not None  # checked with the description
    texts: dict[str, str] = {}
    faults: list[BadInput] = []
    for column, text in {"source": description.source, **description.segmented}.items():
        with collecting(faults):
            texts[column] = _read(description.root / text.files, text)
    raise_all(faults)
    path = description.offsets
    rows, faults = read_units(path, description)
    cut: list[Unit] = []
    source: dict[str, Places] = {}
    if not faults:
        places = {row.line: _places(path, row, texts, faults) for row in rows}
        for column in texts:
            spans = [(*place, row) for row in rows for place in places[row.line].get(column, ())]
            faults += _overlaps(path, column, spans)
        for row in rows:
            with collecting(faults):
                cut.append(row._replace(texts=_cut(path, row, places[row.line], texts, description.wrapped)))
            source[row.segment] = places[row.line].get("source", ())
    for document in faults or documents_of(path, cut, description):
        if isinstance(document, Document) and description.literary.human:
            yield _in_context(document, source, texts["source"], description)
        else:
            yield document


def _read(path: Path, text: Text) -> str:
    """The content of a text's file.

    Raises
    ------
    BadInput
        If the file is missing, is not the one for which the offsets hold, or is not text.
    """
    if not path.is_file():
        raise BadInput(path, "", "there is no such file", "add it, or correct `files` in the description")
    found = whole_files.sha256(path)
    if found != text.sha256:
        problem = f"has the digest {found}, but the offsets hold for {text.sha256}"
        raise BadInput(path, "", problem, "restore the file, or make the table of offsets again")
    return decode(path)


def _places(path: Path, row: Unit, texts: Mapping[str, str], faults: list[BadInput]) -> dict[str, Places]:
    """Places of a segment by column, without empty cells. Faults are added to `faults`."""
    places = {}
    for column, cell in row.texts.items():
        matches = [_SPAN.fullmatch(part) for part in cell.split("+")]
        spans = tuple((int(match[1]), int(match[2])) for match in matches if match)
        if len(spans) == len(matches) and all(start < end <= len(texts[column]) for start, end in spans):
            places[column] = spans
        elif cell:
            problem = f"{cell!r} is no place in a text of {len(texts[column])} characters"
            faults.append(BadInput(path, _where(row, column), problem, "write START-END, such as 120-340"))
    return places


def _overlaps(path: Path, column: str, spans: list[tuple[int, int, Unit]]) -> Iterator[BadInput]:
    """A fault for each segment whose text overlaps that of another segment in the same file."""
    for (_, end, first), (start, _, second) in pairwise(sorted(spans, key=lambda span: span[:2])):
        if start < end:
            problem = f"overlaps the place in line {first.line}"
            yield BadInput(path, _where(second, column), problem, "correct one of them")


def _cut(
    path: Path, row: Unit, places: Mapping[str, Places], texts: Mapping[str, str], wrapped: bool
) -> dict[str, str]:
    """The text of a segment by column; '' where it has none."""
    cut = dict.fromkeys(row.texts, "")
    for column, spans in places.items():
        text = clean("".join(texts[column][start:end] for start, end in spans), path, _where(row, column)).strip()
        cut[column] = unwrapped(text) if wrapped else text
    return cut


def unwrapped(text: str) -> str:
    """A text with its broken lines joined: by nothing between Chinese or Japanese characters, else by a space.

    An empty line, or a line that is indented, begins a paragraph. Each paragraph becomes a line, without surrounding
    white space.
    """
    paragraphs = [""]
    for line in text.split("\n"):
        words = line.strip()
        if not words or line[0].isspace():
            paragraphs.append(words)
        else:
            last = paragraphs[-1]
            paragraphs[-1] = last + (" " if last and count(last[-1] + words[0]) < 2 else "") + words
    return "\n".join(filter(None, paragraphs))


def _in_context(document: Document, source: Mapping[str, Places], text: str, description: Description) -> Document:
    """A document whose passages have contexts. `source` has the places of each segment in the source text."""
    spans = [
        (min(start for start, _ in parts), max(end for _, end in parts))
        for passage in document.passages
        for parts in [[place for segment in passage.segments for place in source[segment.id]]]
    ]
    first, last, bounds = min(spans)[0], max(end for _, end in spans), description.chunks.context
    reach = 10 * bounds[1]
    passages = []
    for passage, (start, end) in zip(document.passages, spans, strict=True):
        earlier, later = text[max(first, start - reach) : start], text[end : min(last, end + reach)]
        if description.wrapped:
            earlier, later = unwrapped(earlier), unwrapped(later)
        starts = [0, *sentence_ends(earlier)]
        previous = before(earlier, len(earlier), starts, bounds)
        passages.append(replace(passage, previous=previous, following=after(later, 0, sentence_ends(later), bounds)))
    return replace(document, passages=tuple(passages))


def _where(row: Unit, column: str) -> str:
    return f"line {row.line} {column}"
