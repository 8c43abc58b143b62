"""Read and write the glossary file, in which a person writes or checks the terms of chunks: CSV in UTF-8.

Its columns are `passage`, `term`, `translation` and `gender` (one of references.glossary.GENDERS, or empty), in any
order. The columns in UNREAD are for people; any other column is an error. A row with only a passage means that the
passage has no terms. A passage that is not in the file gets its terms from the extractor.

Not here: asking a model for terms (extraction).
"""

from pathlib import Path

import polars as pl

from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.table import records
from benchmark_assets.corpus.readers.unknown_keys import FIXED
from benchmark_assets.people.sheets import sheet
from benchmark_assets.references.glossary import GENDERS, Term, literary
from benchmark_assets.studies.study import CALLS
from resources import whole_files
from resources.errors import BadInput, quoted
from resources.harmless import unguarded
from resources.warehouse import Warehouse

COLUMNS = ("passage", *Term._fields)
CHECKS = ("in_source", "in_human", "origin")
"""Additional columns that `write` adds for the person who checks the terms."""
UNREAD = (*CHECKS, "note")
"""Columns that are accepted but not read."""


def read(path: Path, corpus: str) -> dict[str, list[Term]]:
    """The terms in a glossary file by passage (`corpus/passage_id`), in the order of the file; an empty list for a
    passage without terms.

    Raises
    ------
    BadInput
        If the file is not a table with these columns, a column is unknown, a passage is not written as `corpus/…`, a
        term or translation is missing, a gender is unknown, a passage has the same term twice, or a passage has both
        terms and a row without a term. The error names the line.
    """
    terms: dict[str, list[Term]] = {}
    lines: dict[tuple[str, str], int] = {}
    for line, row in records(path, COLUMNS, FIXED, unread=UNREAD):
        where = f"line {line}"
        cells = [unguarded(clean(row[name], path, f"{where} {name}").strip()).strip() for name in COLUMNS]
        passage, term, translation, gender = cells
        if not passage.startswith(f"{corpus}/"):
            problem = f"{quoted(passage)} is not a passage of the corpus" if passage else "is empty"
            raise BadInput(path, f"{where} passage", problem, f"write it as {corpus}/PASSAGE_ID")
        for name, value in (("term", term), ("translation", translation)):
            if not value and any(cells[1:]):
                remedy = "fill it in, or leave all cells but the passage empty if the passage has no terms"
                raise BadInput(path, f"{where} {passage} {name}", "is empty", remedy)
        if gender and gender not in GENDERS:
            remedy = f"write one of {', '.join(GENDERS)}, or leave it empty"
            raise BadInput(path, f"{where} {passage} gender", f"{quoted(gender)} is not a gender", remedy)
        if (passage, term) in lines:
            which = f"the term {quoted(term)}" if term else "a row without a term"
            problem = f"{which} is already in line {lines[passage, term]}"
            raise BadInput(path, f"{where} {passage}", problem, "keep one of the lines")
        lines[passage, term] = line
        passage_terms = terms.setdefault(passage, [])
        if term:
            passage_terms.append(Term(term, translation, gender or None))
        if passage_terms and (passage, "") in lines:
            problem = f"has terms, but line {lines[passage, '']} says that it has none"
            raise BadInput(path, f"{where} {passage}", problem, "remove that line, or the terms")
    return terms


def write(warehouse: Warehouse, path: Path, corpus: str) -> tuple[int, int]:
    """Write the current glossary of a corpus to a file that `read` accepts; return the numbers of terms and passages.

    A passage is written without terms if a model found no terms in it, or if the corpus's file states that it has none.
    A passage about which no model was asked is left out, so that a model can still be asked about it.

    Raises
    ------
    BadInput
        If the file already exists, because it may contain a person's edits; if the corpus is not literary; or if there
        is no glossary yet.
    """
    if path.exists():
        raise BadInput(path, "", "already exists and may contain edits", "give another file")
    section = literary(warehouse).get(corpus)
    if section is None:
        remedy = "name `human` under `literary` in its description"
        raise BadInput(corpus, "", "is not a literary corpus in this warehouse", remedy)
    passages = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage"])
    terms = warehouse.read("glossary", passages).select(*COLUMNS, *CHECKS)
    by_model = warehouse.read(CALLS, passages.with_columns(study=pl.lit("glossary")), ["passage"])["passage"]
    by_file = read(section.glossary, corpus) if section.glossary else {}
    counts = warehouse.read("materialization", passages.select(pl.lit("glossary").alias("asset"), "passage"))
    empty = counts.filter((pl.col("row_count") == 0) & pl.col("passage").is_in([*by_model, *by_file]))["passage"]
    if terms.is_empty() and empty.is_empty():
        remedy = "name `glossary` or `extractor` in its description, then run `variorum update`"
        raise BadInput(corpus, "", "has no glossary yet", remedy)
    rows = [*terms.iter_rows(), *((passage, *[None] * (len(terms.columns) - 1)) for passage in empty)]
    cells = ([_cell(value) for value in row] for row in sorted(rows, key=lambda row: (row[0], row[1] or "")))
    whole_files.hand_over(path, sheet([*COLUMNS, *CHECKS], cells).decode())
    return len(terms), len({row[0] for row in rows})


def _cell(value: object) -> str:
    """A value as text: '' for null, `true` or `false` for a boolean."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
