"""Tables as text: Markdown for Dagster's metadata, aligned columns for a terminal, formatted numbers.

Not here: the content of tables; labels, digits and units, which the catalogue declares.
"""

import re
from collections.abc import Iterable

import polars as pl

from resources import catalogue
from resources.catalogue import Column
from resources.harmless import in_markdown, shortened

ENDS = ("", "_low", "_high")
"""Suffixes of the names of three columns: a number, and the lower and the upper bound of its interval."""

_NULL = re.compile(r"(?:(?<=\.) |^)Null\b[^.]*\.")

NONE = "-"
"""Text for null."""

MOST = 300
"""Maximum number of rows of a table shown in Dagster's UI."""


def markdown(frame: pl.DataFrame, most: int = 100) -> str:
    """Render a frame as a Markdown table of at most `most` rows, followed by the number of further rows."""
    rows = [frame.columns, ["---"] * frame.width, *frame.head(most).iter_rows()]
    lines = ["| " + " | ".join(NONE if value is None else in_markdown(value) for value in row) + " |" for row in rows]
    if len(frame) > most:
        lines.append(f"\nand {len(frame) - most} more rows")
    return "\n".join(lines)


def with_signatures(table: pl.DataFrame, rows: pl.DataFrame) -> str:
    """Render a table in Markdown, followed by the distinct signatures of its source `rows`, if they have any."""
    signatures: list[str] = rows["signature"].unique().sort().to_list() if "signature" in rows.columns else []
    return "\n\n".join([markdown(table, MOST), *map(in_markdown, signatures)])


def shown(rows: pl.DataFrame, table: str, *names: str) -> str:
    """Render rows of a declared table in Markdown: the named columns (see `cells`), then the distinct signatures."""
    return with_signatures(rows.select(cells(table, *names)), rows)


def cells(table: str, *names: str) -> list[pl.Expr]:
    """Expressions that format columns of a declared table and rename them to their headings.

    `names` are the columns; the default is `Table.displayed`. Floats become text with the declared digits, and
    fractions become percentages. A float with an interval becomes `value [low, high]` if the row has both bounds.
    Integers stay integers, so that they can be aligned. Null stays null and is rendered as '-'.
    """
    chosen = names or catalogue.declared()[table].displayed
    return [cell(column).alias(column.heading) for column in (catalogue.column(table, name) for name in chosen)]


def computed(number: pl.Expr, unit: str, label: str) -> pl.Expr:
    """Expression that formats a number that is not in a table. `unit` determines the number's format, and
    `label` determines its heading."""
    column = catalogue.computed(unit, label)
    return number.map_elements(lambda value: text(value, column), return_dtype=pl.String).alias(column.heading)


def cell(column: Column) -> pl.Expr:
    """Expression for a column, formatted as in `cells`, under its own name."""
    if not column.polars.is_float():
        words = column.empty or column.unit == catalogue.QUANTITY
        values = pl.col(column.name)
        return values.map_elements(lambda value: text(value, column), return_dtype=pl.String) if words else values
    names = [f"{column.name}{end}" for end in (ENDS if column.interval else ENDS[:1])]

    def with_interval(row: dict[str, float | None]) -> str | None:
        value, *ends = (None if each is None else text(each, column) for each in row.values())
        return f"{value} [{', '.join(map(str, ends))}]" if value and ends and None not in ends else value

    return pl.struct(names).map_elements(with_interval, return_dtype=pl.String).alias(column.name)


def text(value: str | float, column: Column) -> str:
    """Format a value: a number with the declared digits, the name of a measure as its label, '' as
    `column.empty`."""
    if isinstance(value, float):
        return f"{value * (100 if column.percent else 1):.{column.digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    if column.unit == catalogue.QUANTITY:
        return ", ".join(map(catalogue.label, value.split()))
    return value or column.empty


def plain(frame: pl.DataFrame) -> str:
    """Render a frame as aligned text columns, with numbers right-aligned."""
    cells = [frame.columns, *([_line(value) for value in row] for row in frame.iter_rows())]
    widths = [max(len(row[i]) for row in cells) for i in range(frame.width)]
    right = [kind.is_numeric() for kind in frame.dtypes]
    lines = []
    for row in cells:
        aligned = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def legend(headings: Iterable[str], table: str) -> dict[str, str]:
    """What columns of a declared table mean, by heading, as the catalogue says. Headings that it lacks are left out, as
    are sentences about null."""
    columns = [*catalogue.shared().values(), *catalogue.declared()[table].columns.values()]
    known = {name: column for column in columns if not column.between for name in (column.name, column.heading)}
    meanings = {heading: known[heading].meaning for heading in headings if heading in known}
    return {heading: " ".join(_NULL.split(meaning)).strip() for heading, meaning in meanings.items()}


def _line(value: object) -> str:
    return NONE if value is None else " ".join(shortened(str(value)).splitlines())
