"""The data dictionary: what each column of a package is, in the words of the schema's comments.

Here: reading `warehouse/schema/*.sql`, and what packages make themselves. Not here: which columns a package has
(contents). A comment behind a column is its meaning; `columns.sql` says what names mean that many tables share; the
bounds of an interval (`*_low`, `*_high`) are explained by the number between them.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import polars as pl

from benchmark_assets.reporting.contents import BY_BASE_SET, BY_CORPUS, BY_PASSAGE, OF_NONE
from resources.tables import markdown
from resources.warehouse import SCHEMA

COLUMN = re.compile(r"(\w+) ([A-Z]+(?:\[\])?)(?: NOT NULL)?(?: DEFAULT '[^']*')?,")
SHARED = re.compile(r"^-- `(\w+)`: (.+)$", re.MULTILINE)
BOUNDS = {"_low": "lower", "_high": "upper"}

JOINED = {
    "scores": ("drift_score", "lexical_score"),
    "passages": ("source_text", "selection", "passage_filter"),
    "verification": ("verification",),
    "outputs": ("model_output",),
    "costs": ("model_call",),
}
"""Tables of a package that are put together from others; where several of these have a name, the first counts."""

OWN = {
    ("passages", "source_characters"): ("BIGINT", "characters of the source"),
    ("outputs", "status"): (
        "VARCHAR",
        "'translated', 'refused', or 'withheld', for a whole restricted text stands in it",
    ),
    ("outputs", "characters"): ("BIGINT", "characters of the output; NULL where the model refused"),
    ("outputs", "sha256"): ("VARCHAR", "SHA-256 of its UTF-8"),
    ("costs", "day"): ("DATE", "on which the calls were begun (UTC)"),
    ("costs", "calls"): ("BIGINT", "attempts to have a reply"),
    ("costs", "replies"): ("BIGINT", "those that brought one"),
    ("costs", "uncertain"): ("BIGINT", "those that ended and whose cost nobody knows"),
    ("costs", "prompt_tokens"): ("BIGINT", "tokens asked"),
    ("costs", "completion_tokens"): ("BIGINT", "tokens answered"),
    ("costs", "reasoning_tokens"): ("BIGINT", "of these, tokens of reasoning"),
    ("costs", "paid"): ("DOUBLE", "US dollars known to be paid; NULL where none is known"),
    ("costs", "at_most"): ("DOUBLE", "what the uncertain ones cost at most besides; NULL where there is no price"),
}
OF_TRANSLATOR = "characters "
"""What the columns of `passages` begin with that a translator's name ends."""

TITLES = {
    "scores": "Each output by the measures that compare it with the references.",
    "passages": "Each passage: its size, what the filters measured, whether it is in the benchmark.",
    "outputs": "What became of each passage with each model.",
    "costs": "What was paid, by day, model and purpose.",
}


class Declared(NamedTuple):
    """A table of the schema: what it holds, and type and meaning ('' without a comment) of each column."""

    meaning: str
    columns: dict[str, tuple[str, str]]


class Entry(NamedTuple):
    """A column of a package. `table` is the file's name without ending; `type` is DuckDB's, of the Parquet file."""

    table: str
    column: str
    type: str
    meaning: str


@cache
def declared() -> dict[str, Declared]:
    """Every table of the schema."""
    tables: dict[str, Declared] = {}
    for path in sorted(SCHEMA.glob("*.sql")):
        tables |= parsed(path.read_text(encoding="utf-8"))
    return tables


def parsed(ddl: str) -> dict[str, Declared]:
    """Tables of a file of the schema.

    The comment right above a table is of the table. One behind a column is of all columns of its line, and goes on in
    lines of nothing but comment.
    """
    tables: dict[str, Declared] = {}
    above: list[str] = []
    names: list[str] = []
    own: dict[str, tuple[str, str]] | None = None
    for line in ddl.splitlines():
        code, _, comment = (part.strip() for part in line.partition("--"))
        if found := re.match(r"CREATE TABLE IF NOT EXISTS (\w+) \(", code):
            own = {}
            tables[found[1]] = Declared(" ".join(above), own)
        elif own is None:
            above = [*above, comment] if comment else []
        elif code.startswith(");"):
            own, above = None, []
        elif columns := COLUMN.findall(code):
            names = [name for name, _ in columns]
            own |= {name: (kind, comment) for name, kind in columns}
        elif comment and not code:
            own |= {name: (own[name][0], f"{own[name][1]} {comment}".strip()) for name in names}
    return tables


@cache
def shared() -> dict[str, str]:
    """Meanings of the names that several tables share."""
    return dict(SHARED.findall((SCHEMA / "columns.sql").read_text(encoding="utf-8")))


def entries(tables: Mapping[str, pl.DataFrame]) -> list[Entry]:
    """An entry for each column of each table.

    Parameters
    ----------
    tables
        Those of a package, by the names of their files in CSV.

    Returns
    -------
    In the order of names and columns; `meaning` is '' where nobody has said one.
    """
    return [
        Entry(name, column, *_looked_up(name, column))
        for name, rows in sorted((file.removesuffix(".csv"), rows) for file, rows in tables.items())
        for column in rows.columns
    ]


def title(table: str) -> str:
    """What a table of a package holds, in a sentence or two; '' where nobody has said it."""
    return TITLES.get(table) or declared()[_sources(table)[0]].meaning


def frame(found: Sequence[Entry]) -> pl.DataFrame:
    """Entries as a table."""
    return pl.DataFrame(found, schema=dict.fromkeys(Entry._fields, pl.String), orient="row")


def page(found: Sequence[Entry]) -> str:
    """Entries as Markdown, a section a table."""
    parts = ["# Data dictionary\n\nTypes are DuckDB's. In CSV, lists are JSON and NULL is nothing.\n"]
    for (table,), rows in frame(found).group_by(["table"], maintain_order=True):
        own = rows.select(pl.format("`{}`", "column").alias("column"), "type", "meaning")
        parts.append(f"## {table}\n\n{title(str(table))}\n\n{markdown(own, most=len(own))}\n")
    return "\n".join(parts)


def _looked_up(table: str, column: str) -> tuple[str, str]:
    """Type and meaning of a column."""
    if own := OWN.get((table, column)):
        return own
    if table == "passages" and column.startswith(OF_TRANSLATOR):
        return "BIGINT", f"characters of the translation by {column.removeprefix(OF_TRANSLATOR)}; NULL without one"
    for source in _sources(table):
        columns = declared()[source].columns
        name = "passage" if column == "passage_id" and column not in columns else column
        if name in columns:
            return columns[name][0], _meaning(columns, name, column)
    return "", ""


def _meaning(columns: Mapping[str, tuple[str, str]], name: str, column: str) -> str:
    for bound, word in BOUNDS.items():
        between = name.removesuffix(bound)
        if between != name and between in columns:
            return f"{word} bound of the 95 % interval of `{between}`"
    return columns[name][1] if columns[name][1] and column != "passage_id" else shared().get(column, "")


def _sources(table: str) -> Sequence[str]:
    files = BY_PASSAGE | BY_CORPUS | BY_BASE_SET | OF_NONE
    return JOINED.get(table) or [files[f"{table}.csv"][0]]
