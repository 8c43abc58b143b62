"""Segments with their translations as a table: .tsv or .csv in UTF-8, the first sheet of an .xlsx workbook, or the
largest table of a .docx document.

The first line names the columns: `segment_id`, `source`, and one column per translator whose translation has no layout
of its own, or the names that the corpus description gives them under `columns`. Other columns are faults, unless the
description lists them under `ignore`. The cells of a text file are separated by tabs, semicolons or commas; the reader
uses the delimiter with which it finds the largest number of these columns, or else of any columns. A quoted cell may
contain line breaks, delimiters and doubled quotation marks. Each row is a segment, in the order of the text; an empty
cell is an untranslated segment. `segments.located` explains the ids. An unreadable row excludes the whole file, because
the row could belong to any document in it.
"""

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

import fastexcel

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.pages import rows
from benchmark_assets.corpus.readers.segments import Unit, documents_of, located
from benchmark_assets.corpus.readers.unknown_keys import DESCRIBED, unknown_keys
from resources.errors import BadInput, collecting, one_of, raise_all

DELIMITERS = {".tsv": "\t;,", ".csv": ",;\t"}
"""Delimiters to try, by file name extension."""

WORKBOOK = ".xlsx"

WORD = ".docx"

ENDINGS = (*DELIMITERS, WORKBOOK, WORD)
"""File name extensions of tables."""

ID = "segment_id"
"""The column with the ids of the segments. If a description calls it '', rows are numbered from 1."""

Line = tuple[int, list[str]]
"""A row of a file: its line number, and its cells."""


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one table, or of all tables in a folder, in order of occurrence.

    Raises
    ------
    BadInput
        If the folder contains no table, or the file has another extension.
    """
    for path in listed(description, *ENDINGS):
        if path.suffix not in ENDINGS:
            raise BadInput(path, "", "has an unknown file name extension", f"use {one_of(sorted(ENDINGS))}")
        units, faults = read_units(path, description)
        yield from faults or documents_of(path, units, description)


def read_units(path: Path, description: Description) -> tuple[list[Unit], list[BadInput]]:
    """The segments of a table and the faults in it."""
    columns = {name: description.columns.get(name, name) for name in (ID, "source", *description.segmented)}
    faults: list[BadInput] = []
    units: list[Unit] = []
    with collecting(faults):
        units = list(_units(path, lines(path, columns.values()), columns, description.ignore, faults))
    if not units and not faults:
        faults.append(BadInput(path, "", "contains no segments", "write its segments, or remove the file"))
    return units, faults


def lines(path: Path, columns: Collection[str]) -> list[Line]:
    """Rows of a table with their line numbers, the header first, without empty rows.

    `columns` are expected names of columns, by which the delimiter of a text file is found.

    Raises
    ------
    BadInput
        If the file cannot be read as a table.
    """
    if path.suffix == WORD:
        return rows(path)
    return list(_sheet(path) if path.suffix == WORKBOOK else _lines(path, columns))


def records(
    path: Path, columns: Sequence[str], remedy: str, ignore: Collection[str] = (), unread: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and cells by column of each row of a table that is not blank.

    Parameters
    ----------
    columns
        Columns that the table must have.
    remedy
        Second remedy for an unknown column (see `unknown_keys`).
    ignore, unread
        Columns that it may have beside them; messages propose only `unread` ones.

    Raises
    ------
    BadInput
        If the file is not a table, a column is missing, repeated or unknown, or a row has more or fewer cells than the
        header.
    """
    (_, first), *rows = lines(path, columns) or [(1, list[str]())]
    header = [name.strip() for name in first]
    unknown = unknown_keys(
        path, {name: "line 1" for name in header if name}, (*columns, *unread), remedy, ignore, "column"
    )
    raise_all([*unknown, *_header_faults(path, header, columns, f"name the columns {', '.join(columns)}")])
    for line, cells in rows:
        if any(cell.strip() for cell in cells):
            yield line, dict(zip(header, _whole(path, line, cells, header), strict=True))


def _lines(path: Path, columns: Collection[str]) -> Iterator[Line]:
    """Rows of a text file, except empty lines."""
    text = decode(path)
    headers = {sign: _header(text, sign) for sign in DELIMITERS.get(path.suffix, ",;\t")}
    delimiter = max(headers, key=lambda sign: (len(set(columns) & set(headers[sign])), len(headers[sign])))
    reader = csv.reader(StringIO(text), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if cells or line == 1:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        remedy = "double quotation marks within a quoted cell, and quote cells that begin with a quotation mark"
        raise BadInput(path, f"line {line}", f"is not a valid row ({error})", remedy) from error


def _header(text: str, delimiter: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader(StringIO(text), delimiter=delimiter, strict=True), [])]
    except csv.Error:
        return []


def _sheet(path: Path) -> Iterator[Line]:
    """Rows of the first sheet of a workbook, except empty rows."""
    try:
        sheet = fastexcel.read_excel(path).load_sheet(0, header_row=None, dtypes="string").to_polars()
    except fastexcel.FastExcelError as error:
        reason = str(error).splitlines()[0].removeprefix("calamine error: ")
        raise BadInput(path, "", f"cannot be read as a workbook ({reason})", "save it again as .xlsx") from error
    for number, cells in enumerate(sheet.rows(), start=1):
        if any(cells) or number == 1:
            yield number, [cell or "" for cell in cells]


def _units(
    path: Path, table: list[Line], columns: Mapping[str, str], ignored: tuple[str, ...], faults: list[BadInput]
) -> Iterator[Unit]:
    """The segments of a table. Its faults are added to `faults`.

    `columns` has the names of the columns in the file by our names.
    """
    header = [name.strip() for name in table[0][1]] if table else []
    expected = [name for name in columns.values() if name]
    remedy = f"name the columns {', '.join(expected)}, or give their names under `columns` in the description"
    faults += _header_faults(path, header, expected, remedy)
    places = {
        name or f"column {at}": "line 1"
        for at, name in enumerate(header, start=1)
        if name or any(cells[at - 1 : at] for _, cells in table[1:])
    }
    faults += unknown_keys(path, places, expected, DESCRIBED, ignored, "column")
    if faults:
        return
    for number, (line, cells) in enumerate(table[1:], start=1):
        with collecting(faults):
            yield _unit(path, line, number, dict(zip(header, _whole(path, line, cells, header), strict=True)), columns)


def _header_faults(path: Path, header: Sequence[str], columns: Iterable[str], remedy: str) -> list[BadInput]:
    """A fault for each column that does not occur exactly once."""
    return [
        BadInput(path, f"line 1 {name}", f"the column {'occurs twice' if name in header else 'is missing'}", remedy)
        for name in columns if header.count(name) != 1
    ]  # fmt: skip


def _whole(path: Path, line: int, cells: list[str], header: list[str]) -> list[str]:
    """The cells of a row; raise BadInput if it has more or fewer than the header."""
    if len(cells) != len(header):
        problem = f"has {len(cells)} cells, but the table has {len(header)} columns"
        raise BadInput(path, f"line {line}", problem, "quote cells that contain a delimiter or a line break")
    return cells


def _unit(path: Path, line: int, number: int, cells: Mapping[str, str], columns: Mapping[str, str]) -> Unit:
    identity = cells[columns[ID]].strip() if columns[ID] else str(number)
    if not identity:
        raise BadInput(path, f"line {line} {columns[ID]}", "is empty", "write the segment's id")
    document, segment = located(identity, path)
    texts = {
        name: clean(cells[column], path, f"line {line} {column}").strip()
        for name, column in columns.items() if name != ID
    }  # fmt: skip
    return Unit(document, segment, line, texts)
