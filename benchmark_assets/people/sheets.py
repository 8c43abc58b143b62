"""Sheets that people fill in: CSV that no spreadsheet program alters, and sheets that come back as CSV or XLSX.

Here: cells. Not here: the meaning of columns (form), other tables (corpus.readers.table).
"""

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from benchmark_assets.corpus.readers import table
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.grid import WORKBOOK, Line
from benchmark_assets.corpus.readers.unknown_keys import IMPORTED, unknown_keys
from benchmark_assets.people.form import Form, storable
from benchmark_assets.people.items import is_reference
from resources.errors import BadInput, raise_all
from resources.harmless import guarded, unguarded

ENDINGS = (".csv", WORKBOOK)


def sheet(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Write a table as CSV that no spreadsheet program alters: UTF-8 with a byte order mark, each cell `guarded`. NUL,
    which no text file may have, becomes U+FFFD."""
    file = io.StringIO()
    csv.writer(file).writerows([guarded(cell.replace("\0", "\ufffd")) for cell in row] for row in (columns, *rows))
    return file.getvalue().encode("utf-8-sig")


def read(
    path: Path, forms: Sequence[Form], names: Collection[str], ignore: Collection[str], command: str
) -> tuple[Form, list[tuple[int, dict[str, str], str]]]:
    """Read a sheet: the first sheet of an .xlsx workbook, or CSV in UTF-8, separated by commas, semicolons or tabs.

    Parameters
    ----------
    forms
        Forms that the sheet may be of.
    names
        Columns that it may have beside those of its form and beside references.
    ignore
        Columns that are not read.
    command
        The command that writes such sheets.

    Returns
    -------
    The form that asks for the most columns of the sheet. For each row that is not empty, its number (the header is row
    1), its cells by column in lower case, and its fault, or ''.

    Raises
    ------
    BadInput
        If the file is not a sheet of one of these forms, or has an unknown column, or one twice that people fill in.
    """
    if path.suffix.lower() == WORKBOOK:
        header, rows = _split(table.lines(path, forms[0].asked))
    else:
        header, rows = _of_text(path, forms)
    if not (found := _asked_in(header, forms)):
        nearest = max(forms, key=lambda form: len({*form.asked} & {*header}))
        problem = f"lacks the columns {', '.join(name for name in nearest.asked if name not in header)}"
        raise BadInput(path, "row 1", problem, f"give a sheet from `variorum {command}`")
    form = max(found, key=lambda form: len(form.asked))
    for name in ("item", "annotator", *form.columns):
        if header.count(name) > 1:
            raise BadInput(path, "row 1", f"has the column {name} twice", "delete one of them")
    unknown = {storable(name): "row 1" for name in header if name and not is_reference(name)}
    known = [name.casefold() for name in (*names, *form.columns)]
    raise_all(unknown_keys(path, unknown, known, IMPORTED, [name.casefold() for name in ignore], "column"))
    fault = "the row has more cells than the header"
    return form, [
        (place, dict(zip(header, cells, strict=False)), fault if any(cells[len(header) :]) else "")
        for place, cells in rows if any(cell.strip() for cell in cells)
    ]  # fmt: skip


def _asked_in(header: Collection[str], forms: Iterable[Form]) -> list[Form]:
    """The forms that ask for no other columns than those of a header."""
    return [form for form in forms if set(form.asked) <= set(header)]


def _of_text(path: Path, forms: Sequence[Form]) -> tuple[list[str], list[Line]]:
    """Header and rows of a text, split at the first separator with which the header is that of a form."""
    text, headers = decode(path), list[list[str]]()
    try:
        for separator in ",;\t":
            header, _ = _split([(1, next(csv.reader(io.StringIO(text), delimiter=separator), []))])
            headers.append(header)
            if _asked_in(header, forms):
                return _split(enumerate(csv.reader(io.StringIO(text), delimiter=separator, strict=True), start=1))
    except csv.Error as error:
        raise BadInput(path, "", f"is not valid CSV ({error})", "save the spreadsheet as CSV") from error
    return max(headers, key=len), []


def _split(lines: Iterable[Line]) -> tuple[list[str], list[Line]]:
    (_, header), *rows = [*lines] or [(1, list[str]())]
    return [unguarded(cell).strip().casefold() for cell in header], rows
