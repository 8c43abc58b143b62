"""Segments with their translations as a table: .tsv or .csv, in UTF-8.

The first line names the columns: `segment_id`, `source`, and one column per translator whose translation has no layout
of its own; further columns are ignored. Each row is a segment, in the order of the text; an empty cell is an
untranslated segment. A quoted cell may contain line breaks, delimiters and doubled quotation marks. The document
is the part of the segment's id before the last colon or, without a colon, the name of the file. An unreadable row
excludes the whole file, because the row could belong to any document in it.
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
    """Documents of one table, or of all tables in a folder, in order of occurrence.

    Raises
    ------
    BadInput
        If the folder contains no table, or the file has another extension.
    """
    for path in listed(description, *DELIMITERS):
        if path.suffix not in DELIMITERS:
            raise BadInput(path, "", "has an unknown file name extension", f"use one of {sorted(DELIMITERS)}")
        rows = list(_rows(path, ["segment_id", "source", *description.segmented]))
        if faults := [fault for fault in rows if isinstance(fault, BadInput)]:
            yield from faults
            continue
        if not rows:
            yield BadInput(path, "", "contains no segments", "write its segments, or remove the file")
        by_document: dict[str, list[_Row]] = defaultdict(list)
        for row in rows:
            if isinstance(row, _Row):
                by_document[row.segment.rpartition(":")[0] or path.stem].append(row)
        for name, segments in by_document.items():
            yield from _document(name, path, segments, description)


class _Row(NamedTuple):
    """A segment: its id, the line at which its row begins, and its cells by column."""

    segment: str
    line: int
    cells: dict[str, str]


def _rows(path: Path, columns: list[str]) -> Iterator[_Row | BadInput]:
    """Rows of a table, and its faults. A missing or duplicate column among `columns` is a fault."""
    line = 1
    try:
        reader = csv.reader(StringIO(decode(path)), delimiter=DELIMITERS[path.suffix], strict=True)
        header = [name.strip() for name in next(reader, [])]
        if faulty := [column for column in columns if header.count(column) != 1]:
            for column in faulty:
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
        remedy = "double quotation marks within a quoted cell, and quote cells that begin with a quotation mark"
        yield BadInput(path, f"line {line}", f"is not a valid row ({error})", remedy)


def _row(path: Path, line: int, header: list[str], cells: list[str]) -> _Row | BadInput:
    if len(cells) != len(header):
        problem = f"has {len(cells)} cells, but the table has {len(header)} columns"
        return BadInput(path, f"line {line}", problem, "quote cells that contain a delimiter or a line break")
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
            problem = f"the segment is also in line {lines[row.segment]}"
            faults.append(BadInput(path, where, problem, "keep one of the rows"))
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
