"""Sheets that people fill in: CSV that no spreadsheet program alters, and sheets that come back as CSV or XLSX.

Here: cells. Not here: the meaning of columns (form), other tables (corpus.readers.table).
"""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.readers import table
from benchmark_assets.corpus.readers.characters import decode
from resources.errors import BadInput
from resources.harmless import guarded, unguarded

ENDINGS = (".csv", table.WORKBOOK)


class Sheet(NamedTuple):
    """A sheet that came back: its columns in lower case, and its rows without the header."""

    columns: list[str]
    lines: list[tuple[int, list[str]]]

    def rows(self) -> Iterator[tuple[int, dict[str, str], str]]:
        """The number of each row that is not empty (the header is row 1), its cells by column, and its fault, or ''."""
        for place, cells in self.lines:
            if any(cell.strip() for cell in cells):
                fault = "the row has more cells than the header" if any(cells[len(self.columns) :]) else ""
                yield place, dict(zip(self.columns, cells, strict=False)), fault


def sheet(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Write a table as CSV that no spreadsheet program alters: UTF-8 with a byte order mark, each cell `guarded`. NUL,
    which no text file may have, becomes U+FFFD."""
    file = io.StringIO()
    csv.writer(file).writerows([guarded(cell.replace("\0", "\ufffd")) for cell in row] for row in (columns, *rows))
    return file.getvalue().encode("utf-8-sig")


def read(path: Path, asked: Collection[str], once: Collection[str], command: str) -> Sheet:
    """Read a sheet: the first sheet of an .xlsx workbook, or CSV in UTF-8, separated by commas, semicolons or tabs.

    Parameters
    ----------
    asked
        Columns that the sheet must have.
    once
        Columns that it may not have twice.
    command
        The command that writes such sheets.

    Raises
    ------
    BadInput
        If the file is not a sheet, lacks a column that it must have, or has a column twice.
    """
    if path.suffix.lower() == table.WORKBOOK:
        found = _with_header(table.lines(path, asked), asked)
    else:
        text = decode(path)
        try:
            sheets = (_with_header(_cells(text, separator), asked) for separator in ",;\t")
            found = next((each for each in sheets if each), None)
        except csv.Error as error:
            raise BadInput(path, "", f"is not valid CSV ({error})", "save the spreadsheet as CSV") from error
    if found is None:
        raise BadInput(
            path, "row 1", f"lacks the columns {', '.join(asked)}", f"give a sheet from `variorum {command}`"
        )
    for name in once:
        if found.columns.count(name) > 1:
            raise BadInput(path, "row 1", f"has the column {name} twice", "delete one of them")
    return found


def _cells(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    header = next(csv.reader(io.StringIO(text), delimiter=separator), [])
    yield 1, header
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    next(rows, None)
    yield from enumerate(rows, start=2)


def _with_header(lines: Iterable[tuple[int, list[str]]], asked: Collection[str]) -> Sheet | None:
    """The sheet; None if its header lacks a column that it must have. Further rows are not read then."""
    rows = iter(lines)
    _, header = next(rows, (1, list[str]()))
    columns = [unguarded(cell).strip().casefold() for cell in header]
    return Sheet(columns, list(rows)) if set(asked) <= set(columns) else None
