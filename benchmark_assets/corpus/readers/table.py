"""Segments with their translations as a table: delimited text, a workbook, a Word document, or JSON records (grid).

A row of heads names the columns: `segment_id`, `source`, and one column per translator whose translation has no layout
of its own, or the names that the corpus description gives them under `columns`. The heads are in the first row that has
the most of these names, unless the description says where they are (`heads`); rows above are titles. Other columns are
faults, unless the description lists them under `asides` or `ignore`. Each row is a segment, in the order of the text;
an empty cell is an untranslated segment. `segments.located` explains the ids. An unreadable row excludes the whole
file, because the row could belong to any document in it.

Rows without text, and rows below the text that have neither an id nor a translation, are no segments; `accounts` counts
them. A text with `files` has tables of its own, whose rows belong to the source's rows with the same ids.
"""

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.description import ROW, Description
from benchmark_assets.corpus.model import Document, passage_of
from benchmark_assets.corpus.readers import grid
from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.files import fitting, listed
from benchmark_assets.corpus.readers.grid import DELIMITERS, RECORDS, WORD, WORKBOOKS, Line
from benchmark_assets.corpus.readers.segments import Unit, documents_of, located
from benchmark_assets.corpus.readers.unknown_keys import DESCRIBED, unknown_keys
from resources.errors import BadInput, collecting, one_of, raise_all

logger = logging.getLogger("variorum.corpus")

ENDINGS = (".tsv", ".csv", *WORKBOOKS, WORD)
"""File name extensions of tables."""

SINGLE = (*ENDINGS, *DELIMITERS, *RECORDS)
"""File name extensions of a file that may be a table if the description names it."""

ID, SOURCE, DOCUMENT = "segment_id", "source", "document"
"""Our names of the columns with the ids of the segments, with the source, and with the names of documents. If a
description calls the first one '', rows are numbered from 1."""

HIGHEST = 30
"""Number of rows among which the heads are looked for."""


LONGEST_FOOTER = 60
"""Most characters of a row with one cell below a table that is no part of a text."""


class Heads(NamedTuple):
    """The heads of a table: the name of each column, '' if it has none, their place in the file for messages, and the
    rows below."""

    names: list[str]
    place: str
    rows: list[Line]


class TableReading(NamedTuple):
    """The segments of a table, its faults, and its account: the numbers of rows, segments and passages, and the rows
    that are no segment, with the reason."""

    units: list[Unit]
    faults: list[BadInput]
    account: list[str]


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one table, or of all tables in a folder, in order of occurrence.

    Raises
    ------
    BadInput
        If the folder contains no table, the file has another extension, or no file matches `files` of a text.
    """
    for path in _files(description):
        reading = _reading(path, description)
        for line in reading.account[1:]:
            logger.warning("%s: %s", path, line)
        yield from reading.faults or documents_of(path, reading.units, description)


def accounts(description: Description) -> Iterator[str]:
    """For each table, the number of rows and segments, and the rows that are no segment."""
    for path in _files(description):
        for line in _reading(path, description).account:
            yield f"{path.name}: {line}"


def read_units(path: Path, description: Description) -> tuple[list[Unit], list[BadInput]]:
    """The segments of a table and the faults in it."""
    reading = _reading(path, description)
    return reading.units, reading.faults


def _files(description: Description) -> list[Path]:
    """The tables with the sources."""
    if pattern := description.source.files:
        return _matching(description, pattern, "source")
    if description.root.is_dir():
        own = {file for name in description.references for file in _own(description, name)}
        return [path for path in listed(description, *ENDINGS) if path not in own]
    if description.root.suffix not in SINGLE:
        raise BadInput(description.root, "", "has an unknown file name extension", f"use {one_of(sorted(SINGLE))}")
    return [description.root]


def _own(description: Description, translator: str) -> list[Path]:
    """The tables of a translator's own; none if the translation is a column of the source's tables."""
    text = description.references[translator]
    is_own = text.files and not text.layout and description.layout == "table"
    return _matching(description, text.files, f"references.{translator}") if is_own else []


def _matching(description: Description, pattern: str, key: str) -> list[Path]:
    found = [path for paths in fitting(description.root, pattern).values() for path in paths]
    if not found:
        remedy = "correct `files`, or `root`"
        raise BadInput(description.root, f"{key}.files", f"no file matches {pattern!r}", remedy)
    return found


def _reading(path: Path, description: Description) -> TableReading:
    """The segments of the tables of a source, with the texts of the translators that have tables of their own."""
    own = {name: files for name in description.segmented if (files := _own(description, name))}
    reading = _table(path, description, [SOURCE, *(name for name in description.segmented if name not in own)], path)
    units = {(unit.document, unit.segment): unit for unit in reading.units}
    for translator, files in own.items():
        lacking: list[str] = []
        for file in files:
            other = _table(file, description, [translator], path)
            reading.faults.extend(other.faults)
            for unit in other.units:
                if of_source := units.get((unit.document, unit.segment)):
                    of_source.texts.update(unit.texts)
                else:
                    lacking.append(unit.segment)
        if lacking:
            reading.account.append(f"{translator}: {len(lacking)} rows have no source ({_some(lacking)})")
    if not reading.units and not reading.faults:
        reading.faults.append(BadInput(path, "", "contains no segments", "write its segments, or remove the file"))
    return reading


def _table(path: Path, description: Description, texts: Collection[str], source: Path) -> TableReading:
    """The segments of one table. `texts` are our names of its texts; documents are named after the file `source`."""
    named = [DOCUMENT] if DOCUMENT in description.columns else []
    columns = {name: description.columns.get(name, name) for name in (*named, ID, *texts)}
    ids = [name for ours in (*named, ID) for name in _parts(columns[ours])]
    expected = [*ids, *(description.pivot or (name for ours in texts for name in _parts(columns[ours])))]
    reading = TableReading([], [], [])
    for sheet in description.sheets or ("",):
        with collecting(reading.faults):
            rows = grid.lines(path, expected, description.encoding, sheet)
            heads = found_heads(rows, expected, description.heads)
            divided = _merged(path, sheet, heads, ids, [columns[name] for name in texts])
            above = len(rows) - len(heads.rows) - (1 if description.heads is None else len(description.heads))
            end = _footed(heads.rows, len(heads.names))
            below, heads = heads.rows[end:], heads._replace(rows=heads.rows[:end])
            if description.pivot:
                heads = wide(path, heads, ids, *description.pivot)
            named_after = source.with_name(f"{source.stem}-{sheet}.csv") if len(description.sheets) > 1 else source
            _SheetRows(path, description, columns, named_after, heads, reading).read(above, below)
            reading.account.extend(divided)
    return reading


def _footed(rows: Sequence[Line], width: int) -> int:
    """The number of rows before those at the end with one short cell, as `total: 12`, that has a number or stands
    below an empty row; other short rows are parts of texts."""
    end = len(rows)
    while end > 1 and len(rows[end - 1][1]) < width:
        filled = [cell.strip() for cell in rows[end - 1][1] if cell.strip()]
        gap = rows[end - 1][0] - rows[end - 2][0] > 1
        if len(filled) != 1 or len(filled[0]) > LONGEST_FOOTER or not (gap or re.search(r"\d", filled[0])):
            break
        end -= 1
    return end


def _merged(
    path: Path, sheet: str, heads: Heads, ids: Collection[str], texts: Collection[str | tuple[str, ...]]
) -> list[str]:  # fmt: skip
    """Clear texts merged over several rows that have texts beside them, because nothing says which part belongs to
    which row, and say so. Raises BadInput if a text of an id is a formula without a value."""
    last = [at for at, name in enumerate(labels(heads.names)) if name in ids][-1:]
    places = {at: name for at, name in enumerate(labels(heads.names)) if name in texts}
    rows, account = dict(heads.rows), list[str]()
    merged, valueless = grid.doubtful(path, sheet, heads.rows)
    remedy = "open the file in a spreadsheet program, and save it"
    raise_all([
        BadInput(path, f"line {line} {places[at]}", "has a formula without a value", remedy)
        for line, at in valueless if at in places and all(rows[line][own].strip() for own in last)
    ])  # fmt: skip
    for at, first, end in merged:
        beside = [rows[line][other] for line in range(first + 1, end + 1) if line in rows for other in places]
        if at in places and rows.get(first, [""] * (at + 1))[at].strip() and any(map(str.strip, beside)):
            rows[first][at] = ""
            account.append(f"{places[at]}: the cell merged over the rows {first} to {end} is not read; divide it")
    return account


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:10])}{', …' if len(names) > 10 else ''}"


def lines(path: Path, columns: Collection[str]) -> list[Line]:
    """Rows of a table with their line numbers, the header first, without empty rows.

    `columns` are expected names of columns, by which the delimiter of a text file is found.

    Raises
    ------
    BadInput
        If the file cannot be read as a table.
    """
    return grid.lines(path, columns)


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


def found_heads(rows: Sequence[Line], expected: Collection[str], stated: Collection[int] | None = None) -> Heads:
    """The heads of a table: in the rows with the numbers `stated`, or in the first row that has the most of the
    expected names. A head of several rows is their texts, joined by spaces."""
    if stated is None:
        counts = [len({cell.strip() for cell in cells} & {*expected}) for _, cells in rows[:HIGHEST]]
        stated = [rows[counts.index(max(counts))][0]] if rows else []
    last = max(stated, default=0)
    below = [row for row in rows if row[0] > last]
    heads = [cells for number, cells in rows if number in stated]
    width = max(map(len, heads or [cells for _, cells in below]), default=0)
    padded = [cells + [""] * (width - len(cells)) for cells in heads or [[""]]]
    return Heads([" ".join(" ".join(parts).split()) for parts in zip(*padded, strict=True)], f"line {last}", below)


def labels(names: Sequence[str]) -> list[str]:
    """What descriptions call the columns with these heads: `column 3` without a head, or with that of another."""
    return [
        name if name and names.count(name) == 1 else f"column {at}" for at, name in enumerate(names, start=1)
    ]  # fmt: skip


def wide(path: Path, heads: Heads, ids: Sequence[str], by: str, text: str) -> Heads:
    """A table with a row for each text as one with a row for each id.

    Parameters
    ----------
    ids
        Columns of the ids, from the highest level. An empty cell repeats the one above.
    by, text
        Column that says whose text a row has, and column of the texts. Each of the cells of `by` becomes a column; the
        texts beside an empty one stay in the column `text`. Other columns keep the first cell of an id.

    Raises
    ------
    BadInput
        If a column is missing, a row has more or fewer cells than the heads, or an id has two texts by one.
    """
    header = labels(heads.names)
    remedy = "name the column of the ids, and those of `pivot`, as the file does"
    raise_all(_header_faults(path, header, [*ids, by, text], remedy, heads.place))
    above = dict.fromkeys(ids, "")
    first: dict[tuple[str, ...], tuple[int, list[str]]] = {}
    texts: dict[tuple[str, ...], dict[str, str]] = {}
    for line, cells in heads.rows:
        row = dict(zip(header, _whole(path, line, cells, header), strict=True))
        above = {name: row[name].strip() or above[name] for name in ids}
        key = tuple(above.values())
        kept = {name: cell for name, cell in row.items() if name not in (by, text)} | above
        first.setdefault(key, (line, [*kept.values()]))
        if texts.setdefault(key, {}).setdefault(name := row[by].strip() or text, row[text]) != row[text]:
            raise BadInput(path, f"line {line} {name}", "has two texts with this id", "keep one, or correct the id")
    names = list(dict.fromkeys(name for own in texts.values() for name in own))
    rows = [
        (line, [*cells, *(texts[key].get(name, "") for name in names)]) for key, (line, cells) in first.items()
    ]  # fmt: skip
    return Heads([*(name for name in header if name not in (by, text)), *names], heads.place, rows)


def _parts(column: str | tuple[str, ...]) -> tuple[str, ...]:
    """The columns of an id, from the highest level."""
    return (column,) * bool(column) if isinstance(column, str) else column


class _SheetRows:
    """The rows of one sheet, read into a TableReading. Documents are named after the file `source`."""

    def __init__(
        self, path: Path, description: Description, columns: Mapping[str, str | tuple[str, ...]], source: Path,
        heads: Heads, reading: TableReading,
    ) -> None:  # fmt: skip
        self._path, self._description, self._columns, self._source = path, description, columns, source
        self._heads, self._reading = heads, reading
        self._texts = {our: str(column) for our, column in columns.items() if our not in (ID, DOCUMENT)}
        self._ids = _parts(columns[ID])
        self._above: dict[str, str] = {}

    def read(self, above: int, below: Sequence[Line]) -> None:
        """Add the segments. `above` is the number of rows above the heads that are not empty, `below` has rows that
        belong to no column."""
        reading, (names, place, rows) = self._reading, self._heads
        expected = [name for column in self._columns.values() for name in _parts(column)]
        kept = [*self._description.asides, *self._description.ignore, *[grid.KEY] * (self._path.suffix in RECORDS)]
        header = (
            names
            if self._description.pivot
            else [
                name if name and position not in (*expected, *kept) else position
                for name, position in zip(names, map("column {}".format, range(1, len(names) + 1)), strict=True)
            ]
        )
        remedy = f"name the columns {', '.join(expected)}, or give their names under `columns` in the description"
        faults = _header_faults(self._path, header, expected, remedy, place)
        places = {
            name: place for at, name in enumerate(header)
            if names[at] or any(cell.strip() for _, cells in rows for cell in cells[at : at + 1])
        }  # fmt: skip
        faults += unknown_keys(self._path, places, expected, DESCRIBED, kept, "column")
        reading.faults.extend(faults)
        if faults:
            return
        end, before = self._end(rows, header), len(reading.units)
        reasons: dict[str, list[str]] = {"below the segments": [str(line) for line, _ in [*rows[end:], *below]]}
        for number, (line, cells) in enumerate(rows[:end], start=1):
            with collecting(reading.faults):
                whole = dict(zip(header, _whole(self._path, line, cells, header), strict=True))
                found = self._unit(line, number, whole)
                if isinstance(found, Unit):
                    reading.units.append(found)
                else:
                    reasons.setdefault(found, []).append(str(line))
        units = reading.units[before:]
        passages = len({passage_of(unit.segment) for unit in units})
        grouped = "" if passages == len(units) else "; ids that agree up to their last dot name one passage"
        reading.account.append(f"{len(rows) + len(below)} rows, {len(units)} segments, {passages} passages{grouped}")
        reading.account.extend([f"rows above the heads, which are not read: {above}"] * bool(above))
        reading.account.extend(f"not read, {why}: line {_some(where)}" for why, where in reasons.items() if where)

    def _end(self, rows: Sequence[Line], header: Sequence[str]) -> int:
        """The number of rows before those below the text: rows at the end without an id and without a translation, if
        ids or an empty row tell them from segments."""
        ids = [header.index(name) for name in self._ids[-1:]]
        translations = [header.index(column) for name, column in self._texts.items() if name != SOURCE]
        end = len(rows)
        while end and not any(cell.strip() for at in ids + translations for cell in rows[end - 1][1][at : at + 1]):
            end -= 1
        gap = any(later[0] - row[0] > 1 for row, later in pairwise(rows[max(end - 1, 0) :]))
        return end if translations and end and (ids or gap) else len(rows)

    def _unit(self, line: int, number: int, cells: Mapping[str, str]) -> Unit | str:
        """The segment of a row, or why it is none: each row with an id is a segment, unless rows are passages."""
        described = self._description
        for name in (*self._ids[:-1], *_parts(described.columns.get(DOCUMENT, ""))):
            self._above[name] = cells[name].strip() or self._above.get(name, "")
        last = cells[self._ids[-1]].strip() if self._ids else str(number)
        texts = {
            name: clean(cells[column], self._path, f"line {line} {column}").strip()
            for name, column in self._texts.items()
        }
        if (not last or described.passage == ROW) and not any(texts.values()):
            return "without text"
        if described.passage == ROW and not texts.get(SOURCE, "-"):
            return "without a source"
        if not last:
            raise BadInput(self._path, f"line {line} {self._ids[-1]}", "is empty", "write the segment's id")
        identity = ".".join([*map(self._above.__getitem__, self._ids[:-1]), last])
        if of_document := [self._above[name] for name in _parts(described.columns.get(DOCUMENT, ""))]:
            identity = f"{'.'.join(of_document)}:{identity}"
        document, segment = located(identity, self._source, described.passage == ROW)
        asides = [(kind, cells[name].strip()) for name, kind in described.asides.items() if cells.get(name, "").strip()]
        return Unit(document, segment, line, texts, tuple(asides))


def _header_faults(
    path: Path, header: Sequence[str], columns: Iterable[str], remedy: str, place: str = "line 1"
) -> list[BadInput]:
    """A fault for each column that does not occur exactly once."""
    return [
        BadInput(path, f"{place} {name}", f"the column {'occurs twice' if name in header else 'is missing'}", remedy)
        for name in columns if header.count(name) != 1
    ]  # fmt: skip


def _whole(path: Path, line: int, cells: list[str], header: Sequence[str]) -> list[str]:
    """The cells of a row; raise BadInput if it has more or fewer than the header, empty cells at its end aside."""
    while len(cells) > len(header) and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) != len(header):
        problem = f"has {len(cells)} cells, but the table has {len(header)} columns"
        raise BadInput(path, f"line {line}", problem, "quote cells that contain a delimiter or a line break")
    return cells
