"""Rows of tables as a spreadsheet shows them, from a text file with delimiters, a workbook, or JSON records.

Here: encodings, delimiters, sheets, formatted numbers, comments in cells, keys of records. Not here: which row has the
heads, and what the columns mean (table, corpus.roles).
"""

import csv
import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterator
from io import StringIO
from pathlib import Path
from statistics import median
from typing import Any
from unicodedata import category

import openpyxl
from charset_normalizer import CharsetMatch, from_bytes
from lxml import etree
from openpyxl.cell.cell import Cell
from openpyxl.worksheet.worksheet import Worksheet

from benchmark_assets.corpus.languages import identified, plain
from benchmark_assets.corpus.readers.archives import unpacked
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.pages import rows as word_rows
from benchmark_assets.corpus.readers.strict_json import loaded
from resources.errors import BadInput, one_of

DELIMITERS = {".tsv": "\t;,|", ".csv": ",;\t|", ".txt": "\t|", ".tab": "\t|;,", ".md": "|"}
"""Delimiters to try, by file name extension. The first one wins if several fit."""

WORKBOOK = ".xlsx"
OPEN = ".ods"
"""A workbook of LibreOffice."""

WORKBOOKS = (WORKBOOK, OPEN)
WORD = ".docx"
RECORDS = (".json", ".jsonl")

MOST_COLUMNS, MOST_CELLS = 1 << 10, 20_000_000
"""Numbers of columns and of cells of a sheet that are read at most."""

ENCODINGS = (
    "cp1252", "cp932", "gb18030", "big5", "euc_kr", "euc_jp", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255",
    "cp1256", "cp1257", "koi8_r", "mac_roman",
)  # fmt: skip
"""Encodings that a table may have besides Unicode. The first one wins if several fit equally well."""

LATIN = ("cp1252", "cp1250", "cp1254", "cp1257", "mac_roman")
"""Those of Latin script, in which words have bytes above ASCII alone or in pairs. In 9 tables of other scripts at most
.14, in 61 of Latin script .96 or more of such bytes stand so."""

FEW = 4
"""With fewer bytes above ASCII, a text in Latin script is in the first or the last of these encodings."""

KEY = "key"
"""Head of the first column of JSON records."""

LABELS = ("translator", "author", "by", "name", "system", "model", "version", "edition", "language", "lang")
"""Keys, in an object of a list, of the name that tells its text from the others."""

NO_DELIMITER = "\x1f"
"""Delimiter with which each line is a cell: a control character that no text has."""

Line = tuple[int, list[str]]
"""A row: its number in the file, and its cells."""

_RULE = re.compile(r"\s*:?-+:?\s*")


def lines(path: Path, columns: Collection[str] = (), encoding: str = "", sheet: str = "") -> list[Line]:
    """Rows with their numbers in the file, without empty rows, except the first.

    Parameters
    ----------
    columns
        Expected names of columns, by which the delimiter is found. Without them, the delimiter is the one that divides
        most lines into the same number of cells.
    encoding
        Encoding of a text file, by default UTF-8, or UTF-16 with a byte order mark.
    sheet
        The sheet of a workbook, by default the first.

    Raises
    ------
    BadInput
        If the file cannot be read as a table.
    """
    if path.suffix == WORD:
        return word_rows(path)
    if path.suffix in WORKBOOKS:
        rows: Iterator[Line] = _sheet(path, sheet)
    elif path.suffix in RECORDS:
        rows = _records(path)
    else:
        rows = _separated(path, decode(path, encoding), columns)
    return [(number, cells) for number, cells in rows if number == 1 or any(cell.strip() for cell in cells)]


def encoding_of(path: Path) -> str:
    """The encoding of a text file that is not UTF-8 or UTF-16, '' of another file; a guess by its bytes."""
    if path.suffix in (*WORKBOOKS, WORD):
        return ""
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    try:
        content.decode()
    except UnicodeDecodeError:
        high = [len(signs) for signs in re.findall(rb"[\x80-\xff]+", content)]
        is_latin = 2 * sum(length for length in high if length < 3) > sum(high)
        likely = [LATIN[0], LATIN[-1]] if is_latin and sum(high) < FEW else [*(LATIN if is_latin else ENCODINGS)]
        guesses = from_bytes(content, cp_isolation=likely)
        fits = [
            (_oddities(str(each)) * is_latin, *((each.chaos, -each.coherence) if len(likely) > 2 else ()), _rank(each))
            for each in guesses
        ]
        return ENCODINGS[min(fits)[-1]] if fits else LATIN[0] * is_latin
    return ""


def _oddities(text: str) -> int:
    """The number of signs inside words that no word of Latin script has there: `gr¸n` is `grün` in another encoding."""
    return sum(
        (not sign.isalpha() and after.isalpha() and sign not in "’‘·‐–—…")
        or category(sign) == "Lm"
        or (sign.isupper() and after.islower())
        for before, sign, after in zip(text, text[1:], text[2:], strict=False)
        if sign > "\x7f" and before.isalpha()
    )


def _rank(guess: CharsetMatch) -> int:
    """The rank of the first encoding with which a file has the same text."""
    return min(ENCODINGS.index(name) for name in guess.could_be_from_charset if name in ENCODINGS)


def is_table(path: Path) -> bool:
    """Whether most lines of a text file are divided into the same number of cells by tabs or bars."""
    text = decode(path, encoding_of(path))
    return any(_fit(text, sign, ())[1] for sign in "\t|")


def sheets(path: Path) -> list[str]:
    """Names of the sheets of a workbook that are not hidden and not empty; [''] for another file."""
    if path.suffix not in WORKBOOKS:
        return [""]
    if path.suffix == OPEN:
        return [name for name, rows in _open_sheets(path).items() if any(any(cells) for _, cells in rows)]
    return [
        sheet.title for sheet in _workbook(path).worksheets
        if sheet.sheet_state == "visible" and any(any(row) for row in sheet.iter_rows(values_only=True))
    ]  # fmt: skip


def hidden(path: Path, sheet: str) -> set[int]:
    """Places of the hidden columns of a sheet, from 0; none in another file."""
    if path.suffix not in WORKBOOKS or path.suffix == OPEN:
        return set()
    columns = _workbook(path)[sheet].column_dimensions.values()
    return {at for each in columns if each.hidden and each.min for at in range(each.min - 1, each.max)}


def _separated(path: Path, text: str, columns: Collection[str]) -> Iterator[Line]:
    """Rows of a text, without the rule below the heads of a Markdown table."""
    candidates = DELIMITERS.get(path.suffix, ",;\t|")
    fits = {sign: _fit(text, sign, columns) for sign in candidates}
    delimiter = max(candidates, key=fits.__getitem__)
    found, rows, _ = fits[delimiter]
    delimiter = delimiter if found > 1 or rows else NO_DELIMITER
    is_plain = path.suffix == ".txt" and delimiter == NO_DELIMITER
    reader = csv.reader(
        StringIO(text), delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE if is_plain else csv.QUOTE_MINIMAL
    )
    line = 1
    try:
        for cells in reader:
            if cells and not all(_RULE.fullmatch(cell) for cell in cells if cell):
                yield line, cells
            elif line == 1:
                yield line, []
            line = reader.line_num + 1
    except csv.Error as error:
        remedy = "double quotation marks within a quoted cell, and quote cells that begin with a quotation mark"
        raise BadInput(path, f"line {line}", f"is not a valid row ({error})", remedy) from error


def _fit(text: str, delimiter: str, columns: Collection[str]) -> tuple[int, int, int]:
    """How well a delimiter fits: expected columns in one row, rows with the most frequent number of cells (from two
    on; 0 if it has fewer than half of the rows), and this number."""
    found, widths = 0, Counter[int]()
    try:
        for cells in csv.reader(StringIO(text), delimiter=delimiter, strict=True):
            found = max(found, len({cell.strip() for cell in cells} & {*columns}))
            widths[len(cells)] += len(cells) > 0
    except csv.Error:
        pass
    width = max((each for each in widths if each > 1), key=lambda each: (widths[each], each), default=0)
    return found, widths[width] if 2 * widths[width] >= widths.total() else 0, width


def doubtful(
    path: Path, sheet: str, rows: Collection[Line]
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]]]:
    """What a workbook shows in one row, and may mean otherwise; nothing in another file.

    Returns
    -------
    merged
        Cells that stand in several rows: the place of the column, from 0, the first row and the last.
    valueless
        Formulas without a stored value: the row, and the place of the column.
    """
    if path.suffix != WORKBOOK:
        return [], []
    book = _workbook(path, data_only=False)
    found = book[sheet] if sheet else book.worksheets[0]
    merged = [
        (each.min_col - 1, each.min_row, each.max_row) for each in found.merged_cells.ranges
        if each.min_row < each.max_row and each.min_col == each.max_col
    ]  # fmt: skip
    valueless = [
        (number, at) for number, cells in rows for at, cell in enumerate(cells)
        if not cell and found.cell(number, at + 1).data_type == "f"
    ]  # fmt: skip
    return merged, valueless


def _workbook(path: Path, data_only: bool = True) -> openpyxl.Workbook:
    unpacked(path, "(?!)")  # refuses what is no archive of a workbook's size
    try:
        workbook = openpyxl.load_workbook(path, data_only=data_only)
    except Exception as error:  # whatever the parsers of a damaged file raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(path, "", f"cannot be read as a workbook ({reason})", "save it again as .xlsx") from error
    if any((each.max_row or 0) * (each.max_column or 0) > MOST_CELLS for each in workbook.worksheets):
        problem = "has more than 20,000,000 cells"
        raise BadInput(path, "", problem, "delete empty rows and columns, or save it as .csv")
    return workbook


def _open_sheets(path: Path) -> dict[str, list[Line]]:
    """Rows of the sheets of a workbook of LibreOffice, which has the text of each cell as it is shown."""
    content = unpacked(path, r"^content\.xml$").get("content.xml", b"")
    try:
        root = etree.fromstring(content, etree.XMLParser(resolve_entities=False))
    except etree.XMLSyntaxError as error:
        raise BadInput(path, "", f"cannot be read as a workbook ({error})", "save it again as .xlsx") from error
    table, text = (f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in ("table", "text"))
    sheets: dict[str, list[Line]] = {}
    for sheet in root.iter(f"{table}table"):
        rows, number = list[Line](), 1
        for row in sheet.iter(f"{table}table-row"):
            cells: list[str] = []
            for cell in row.iterchildren(f"{table}table-cell", f"{table}covered-table-cell"):
                shown = "\n".join("".join(part.itertext()) for part in cell.iterchildren(f"{text}p"))
                cells += [shown] * min(int(cell.get(f"{table}number-columns-repeated", 1)), MOST_COLUMNS)
            rows.append((number, cells))
            number += int(row.get(f"{table}number-rows-repeated", 1))
        width = max((at for _, cells in rows for at, cell in enumerate(cells, start=1) if cell.strip()), default=0)
        sheets[sheet.get(f"{table}name")] = [(at, [*cells, *[""] * width][:width]) for at, cells in rows]
    return sheets


def _sheet(path: Path, name: str) -> Iterator[Line]:
    """Rows of a sheet, as they are shown. A last column has the comments in cells, if there are any."""
    if path.suffix == OPEN:
        found = _open_sheets(path)
        if name not in {"", *found}:
            raise BadInput(path, f"sheet {name}", "does not exist", f"use {one_of(found)}")
        yield from found[name or next(iter(found))]
        return
    workbook = _workbook(path)
    if name and name not in workbook.sheetnames:
        raise BadInput(path, f"sheet {name}", "does not exist", f"use {one_of(workbook.sheetnames)}")
    sheet: Worksheet = workbook[name] if name else workbook.worksheets[0]
    rows = list(sheet.iter_rows())
    comments = ["\n".join(cell.comment.text for cell in row if cell.comment) for row in rows]
    for number, row in enumerate(rows, start=1):
        further = [comments[number - 1]] if any(comments) else []
        yield number, [_shown(cell) for cell in row] + further


def _shown(cell: Cell) -> str:
    """The content of a cell as it is shown: 1.10 for the number 1.1 with two decimal places."""
    match cell.value:
        case None:
            return ""
        case float(number):
            places = re.fullmatch(r"[#,0]*0\.(0+)", cell.number_format)
            return f"{number:.{len(places[1])}f}" if places else format(number, ".15g")
        case datetime.datetime() | datetime.date() as date:
            return date.isoformat().removesuffix("T00:00:00")
        case value:
            return str(value)


def _records(path: Path) -> Iterator[Line]:
    """Texts in JSON as rows. A table as lists is read as it is. Else the names of keys above a text are the head of its
    column, as in `translations.vale`; the numbers of keys and of places in lists are the id of its row, in the first
    column."""
    text = decode(path)
    if path.suffix == ".jsonl":
        content = [loaded(line, path, at) for at, line in enumerate(text.split("\n"), start=1) if line.strip()]
    else:
        content = loaded(text, path)
    if _is_table(content):
        yield from ((at, ["" if each is None else str(each) for each in row]) for at, row in enumerate(content, 1))
        return
    rows: dict[str, dict[str, str]] = {}
    for names, numbers, leaf in _leaves(content):
        rows.setdefault(".".join(numbers), {}).setdefault(".".join(names), leaf)
    sizes: Counter[int] = Counter()
    for key, row in rows.items():
        sizes[key.count(".")] += sum(map(len, row.values())) if key else 0
    depth = max(sizes, key=sizes.__getitem__, default=0)
    rows = {key: row for key, row in rows.items() if key and key.count(".") == depth} or rows
    heads = list(dict.fromkeys(head for row in rows.values() for head in row))
    while len({head.partition(".")[0] for head in heads}) == 1 and all("." in head for head in heads):
        rows = {key: {head.partition(".")[2]: leaf for head, leaf in row.items()} for key, row in rows.items()}
        heads = [head.partition(".")[2] for head in heads]
    yield 1, [KEY, *(head or "text" for head in heads)]
    for number, (key, row) in enumerate(rows.items(), start=2):
        yield number, [key, *(row.get(head, "") for head in heads)]


def _is_table(content: Any) -> bool:
    """Whether lists in a list are the rows of a table, rather than parts of a text: they are equally long, and have
    heads, or columns in several languages."""
    if not isinstance(content, list) or len(content) < 2 or not all(isinstance(row, list) for row in content):
        return False
    if len({len(row) for row in content}) > 1 or len(content[0]) < 2 or any(
        isinstance(each, dict | list) for row in content for each in row
    ):  # fmt: skip
        return False
    head, *rows = [[str(each or "") for each in row] for row in content]
    columns = list(zip(*rows, strict=True))
    lengths = [median(map(len, cells)) for cells in columns]
    is_head = all(
        0 < 2 * len(name) < length or (name and all(map(str.isdigit, cells)) and not name.isdigit())
        for name, length, cells in zip(head, lengths, columns, strict=True)
    )
    found = [identified(" ".join(cells)) for cells in columns]
    return is_head or len({plain(each.tag) for each in found if each and each.reliable}) > 1


def _leaves(
    value: Any, names: tuple[str, ...] = (), numbers: tuple[str, ...] = (), is_cell: bool = False
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str]]:
    """The texts in a JSON value, each with the names and numbers of the keys and places above. An object of a list that
    says whose text it has is named after that."""
    match value:
        case dict():
            numbered = all(re.fullmatch(r"\d+[a-z]?([.:_-]\d+[a-z]?)*", key) for key in value) or (
                len(value) > 3 and all(re.fullmatch(r"[^\W\d]{1,9}[\W_]?\d+([\W_]\d+)*", key) for key in value)
            )
            for key, inner in value.items():
                if numbered:
                    yield from _leaves(inner, names, (*numbers, key))
                else:
                    yield from _leaves(inner, (*names, key), numbers, bool(numbers))
        case list() if is_cell and value and all(_label(each) for each in value):
            for each in value:
                texts = [text for key, text in each.items() if key != _label(each) and isinstance(text, str)]
                yield (*names, each[_label(each)]), numbers, max(texts, key=len, default="")
        case list() if is_cell and all(isinstance(each, str) for each in value):
            yield names, numbers, "\n".join(value)
        case list():
            for at, inner in enumerate(value, start=1):
                yield from _leaves(inner, names, (*numbers, str(at)))
        case None:
            yield names, numbers, ""
        case _:
            yield names, numbers, str(value)


def _label(each: Any) -> str | None:
    """The key of the name in an object that tells its text from those beside it."""
    found = [key for key in each if key.casefold() in LABELS] if isinstance(each, dict) else []
    return next((key for key in found if isinstance(each[key], str) and len(each) > 1), None)
