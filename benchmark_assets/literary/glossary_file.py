"""Read and write the file in which a person writes or checks the terms of chunks: CSV in UTF-8.

Its columns are `passage`, `term`, `translation` and `gender` (one of glossary.GENDERS, or empty), in any order; other
columns are ignored. A row with a passage and nothing else means that the passage has no terms. A passage that is not in
the file gets its terms from the extractor.

Not here: asking a model for terms (extraction).
"""

import csv
from io import StringIO
from pathlib import Path

import polars as pl

from benchmark_assets.adjudication.annotation import sheet, unguarded
from benchmark_assets.corpus.readers.characters import check_letters, decode
from benchmark_assets.references.glossary import GENDERS, Term, literary
from benchmark_assets.studies.study import CALLS
from resources import whole_files
from resources.errors import BadInput
from resources.warehouse import Warehouse

COLUMNS = ("passage", *Term._fields)
CHECKS = ("in_source", "in_human", "origin")
"""Further columns, written for the person who checks the terms."""


def read(path: Path, corpus: str) -> dict[str, list[Term]]:
    """The terms of a file by passage (`corpus/passage_id`), in their order; an empty list for a passage without terms.

    Raises
    ------
    BadInput
        With the line, if the file is not such a table, a passage is not in the corpus, a term or translation is
        missing, a gender is unknown, or a passage has a term twice, or both terms and a row without any.
    """
    found: dict[str, list[Term]] = {}
    lines: dict[tuple[str, str], int] = {}
    for line, cells in _table(path):
        passage, term, translation, gender = cells
        where = f"line {line}"
        if not passage.startswith(f"{corpus}/"):
            problem = f"{passage!r} is no passage of the corpus" if passage else "is empty"
            raise BadInput(path, f"{where} passage", problem, f"write it as {corpus}/ and the passage's id")
        for name, value in (("term", term), ("translation", translation)):
            if not value and any(cells[1:]):
                raise BadInput(
                    path, f"{where} {passage} {name}", "is empty", "write it, or nothing but the passage if it has none"
                )
        if gender and gender not in GENDERS:
            problem, remedy = f"{gender!r} is no gender", f"write one of {', '.join(GENDERS)}, or leave it empty"
            raise BadInput(path, f"{where} {passage} gender", problem, remedy)
        if (passage, term) in lines:
            what = f"{term!r} stands" if term else "that it has no terms, stands"
            remedy = "keep one of them"
            raise BadInput(path, f"{where} {passage}", f"{what} in line {lines[passage, term]}, too", remedy)
        lines[passage, term] = line
        own = found.setdefault(passage, [])
        if term:
            own.append(Term(term, translation, gender or None))
        if own and (passage, "") in lines:
            problem = f"has terms, and line {lines[passage, '']} says that it has none"
            raise BadInput(path, f"{where} {passage}", problem, "remove that line, or the terms")
    return found


def _table(path: Path) -> list[tuple[int, tuple[str, ...]]]:
    """The rows that are not empty: the line on which each begins, and its cells in the order of COLUMNS."""
    reader = csv.reader(StringIO(check_letters(decode(path), path)), strict=True)
    rows: list[tuple[int, tuple[str, ...]]] = []
    line = 1
    try:
        header = [name.strip() for name in next(reader, [])]
        for column in COLUMNS:
            if header.count(column) != 1:
                problem = "the column occurs twice" if column in header else "the column is missing"
                raise BadInput(path, f"line 1 {column}", problem, f"name the columns {','.join(COLUMNS)}")
        places = [header.index(column) for column in COLUMNS]
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != len(header):
                    problem = f"has {len(cells)} cells, but the table {len(header)} columns"
                    remedy = "quote a cell that holds a comma; a row has as many commas as the first line"
                    raise BadInput(path, f"line {line}", problem, remedy)
                rows.append((line, tuple(unguarded(cells[place].strip()).strip() for place in places)))
            line = reader.line_num + 1
    except csv.Error as error:
        remedy = "double the quotation marks within a quoted cell"
        raise BadInput(path, f"line {line}", f"is no row of a table ({error})", remedy) from error
    return rows


def write(warehouse: Warehouse, path: Path, corpus: str) -> tuple[int, int]:
    """Write the current glossary of a corpus to a file for `read`; return the numbers of terms and passages.

    Includes passages without terms according to a model or the corpus's file. Leaves out passages without terms because
    no model was asked, so that they can still get terms.

    Raises
    ------
    BadInput
        If the file exists, since it may have changes in it; if the corpus is not literary; if there is no glossary yet.
    """
    if path.exists():
        raise BadInput(path, "", "exists already, perhaps with changes in it", "give another file")
    described = literary(warehouse).get(corpus)
    if described is None:
        raise BadInput(
            corpus, "", "is no literary corpus of this warehouse", "name `human` under `literary` in its description"
        )
    passages = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage"])
    terms = warehouse.read("glossary", passages).select(*COLUMNS, *CHECKS)
    asked = warehouse.read(CALLS, passages.with_columns(study=pl.lit("glossary")), ["passage"])["passage"]
    said = read(described.glossary, corpus) if described.glossary else {}
    looked = warehouse.read("materialization", passages.select(pl.lit("glossary").alias("asset"), "passage"))
    without = looked.filter((pl.col("row_count") == 0) & pl.col("passage").is_in([*asked, *said]))["passage"]
    if terms.is_empty() and without.is_empty():
        raise BadInput(corpus, "", "has no glossary yet", "name a glossary or an extractor, then run `variorum update`")
    rows = [*terms.iter_rows(), *((passage, *[None] * (len(terms.columns) - 1)) for passage in without)]
    cells = ([_cell(value) for value in row] for row in sorted(rows, key=lambda row: (row[0], row[1] or "")))
    whole_files.hand_over(path, sheet([*COLUMNS, *CHECKS], cells).decode())
    return len(terms), len({row[0] for row in rows})


def _cell(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
