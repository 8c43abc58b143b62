"""Segments with their translations as a table: .tsv or .csv, in UTF-8.

The first line names the columns: `segment_id`, `source`, and one for each translator who has no layout of their own;
further columns are ignored. A row is a segment, in the order of the text; an empty cell is an untranslated segment. In
quotation marks, a cell may hold line breaks, the delimiter and, doubled, quotation marks. The document is the part of
the segment's id before the colon or, without one, the name of the file. An unreadable row excludes the whole file,
because it could belong to any of its documents.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.segments import passages, source_faults
from resources.errors import BadInput

DELIMITERS = {".tsv": "\t", ".csv": ","}


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one table, or of all in a folder, in order of occurrence.

    Raises
    ------
    BadInput
        If the folder holds no table, or the file has another ending.
    """
    for path in listed(description, *DELIMITERS):
        if path.suffix not in DELIMITERS:
            raise BadInput(path, "", "has an unknown ending", f"give one of {sorted(DELIMITERS)}")
        rows = list(_rows(path, ["segment_id", "source", *description.segmented]))
        if faults := [fault for fault in rows if isinstance(fault, BadInput)]:
            yield from faults
            continue
        if not rows:
            yield BadInput(path, "", "holds no segment", "write its segments, or remove the file")
        by_document: dict[str, list[_Row]] = defaultdict(list)
        for row in rows:
            if isinstance(row, _Row):
                by_document[row.segment.rpartition(":")[0] or path.stem].append(row)
        for name, segments in by_document.items():
            yield from _document(name, path, segments, description)


class _Row(NamedTuple):
    """A segment, the line at which its row begins, and its cells by column."""

    segment: str
    line: int
    cells: dict[str, str]


def _rows(path: Path, columns: list[str]) -> Iterator[_Row | BadInput]:
    line = 1
    try:
        reader = csv.reader(StringIO(decode(path)), delimiter=DELIMITERS[path.suffix], strict=True)
        header = [name.strip() for name in next(reader, [])]
        if wrong := [column for column in columns if header.count(column) != 1]:
            for column in wrong:
                problem = "the column occurs twice" if column in header else "the column is missing"
                yield BadInput(path, f"line 1 {column}", problem, f"name the columns {', '.join(columns)}")
            return
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                yield _row(path, line, header, cells)
            line = reader.line_num + 1
    except BadInput as fault:
        yield fault
    except csv.Error as error:
        remedy = "double the quotation marks within a quoted cell, and quote a cell that begins with one"
        yield BadInput(path, f"line {line}", f"is no row of a table ({error})", remedy)


def _row(path: Path, line: int, header: list[str], cells: list[str]) -> _Row | BadInput:
    if len(cells) != len(header):
        problem = f"has {len(cells)} cells, but the table {len(header)} columns"
        return BadInput(path, f"line {line}", problem, "quote a cell that holds a delimiter or a line break")
    row = dict(zip(header, cells, strict=True))
    if segment := row["segment_id"].strip():
        return _Row(segment, line, row)
    return BadInput(path, f"line {line} segment_id", "is empty", "write the segment's id")


def _document(name: str, path: Path, rows: list[_Row], description: Description) -> Iterator[Document | BadInput]:
    lines: dict[str, int] = {}
    faults = []
    for row in rows:
        if row.segment in lines:
            where = f"line {row.line} {row.segment}"
            faults.append(
                BadInput(path, where, f"the segment is also in line {lines[row.segment]}", "keep one of them")
            )
        lines.setdefault(row.segment, row.line)
    segments = {row.segment: row.cells["source"] for row in rows}
    faults += source_faults(path, segments, lines)
    if faults:
        yield from faults
        return
    references = {
        translator: {row.segment: row.cells[translator] for row in rows if row.cells[translator].strip()}
        for translator in description.segmented
    }
    yield Document(name, path, passages(description.source.language, segments, references))
