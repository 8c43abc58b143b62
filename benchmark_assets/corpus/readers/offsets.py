"""Running texts that a table of offsets divides into segments, for texts that may not be passed on themselves.

`offsets` in the corpus description names the table, in the form of the layout `table`: a row for each segment, with the
columns `segment_id`, `source`, and one column per translator. A cell is the place of the segment in the text, as
`START-END`: offsets in characters (Unicode code points) of the file in UTF-8, END exclusive, where a line break is one
character and a byte order mark none. An empty cell is an untranslated segment. Text between segments is left out.

Each text is one file below the corpus's root, `files` of the source or reference. Its `sha256` must be that of the file
for which the offsets hold.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from benchmark_assets.corpus.description import Description, Text
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.table import Row, grouped, read_rows
from resources import whole_files
from resources.errors import BadInput, collecting, raise_all

_SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


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
    rows, faults = read_rows(path, description)
    cut: list[Row] = []
    if not faults:
        places = {row.line: _places(path, row, texts, faults) for row in rows}
        for column in texts:
            spans = [(*place, row) for row in rows if (place := places[row.line].get(column))]
            faults += _overlaps(path, column, spans)
        for row in rows:
            with collecting(faults):
                cut.append(row._replace(texts=_cut(path, row, places[row.line], texts)))
    yield from faults or grouped(path, cut, description)


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


def _places(path: Path, row: Row, texts: Mapping[str, str], faults: list[BadInput]) -> dict[str, tuple[int, int]]:
    """Start and end of a segment by column, without empty cells. Faults are added to `faults`."""
    places = {}
    for column, cell in row.texts.items():
        match = _SPAN.fullmatch(cell)
        start, end = (int(match[1]), int(match[2])) if match else (0, 0)
        if start < end <= len(texts[column]):
            places[column] = (start, end)
        elif cell:
            problem = f"{cell!r} is no place in a text of {len(texts[column])} characters"
            faults.append(BadInput(path, _where(row, column), problem, "write START-END, such as 120-340"))
    return places


def _overlaps(path: Path, column: str, spans: list[tuple[int, int, Row]]) -> Iterator[BadInput]:
    """A fault for each segment whose text overlaps that of another segment in the same file."""
    for (_, end, first), (start, _, second) in pairwise(sorted(spans, key=lambda span: span[:2])):
        if start < end:
            problem = f"overlaps the place in line {first.line}"
            yield BadInput(path, _where(second, column), problem, "correct one of them")


def _cut(path: Path, row: Row, places: Mapping[str, tuple[int, int]], texts: Mapping[str, str]) -> dict[str, str]:
    """The text of a segment by column; '' where it has none."""
    cut = dict.fromkeys(row.texts, "")
    for column, (start, end) in places.items():
        cut[column] = clean(texts[column][start:end], path, _where(row, column)).strip()
    return cut


def _where(row: Row, column: str) -> str:
    return f"line {row.line} {column}"
