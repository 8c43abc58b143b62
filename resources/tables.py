"""Tables as text: Markdown for Dagster's metadata, aligned columns for a terminal. Not here: contents."""

import polars as pl

MOST = 300
"""Most rows of a table shown in Dagster's UI."""


def markdown(frame: pl.DataFrame, most: int = 100) -> str:
    """A frame as a Markdown table of at most `most` rows, followed by the number of further rows."""
    rows = [frame.columns, ["---"] * frame.width, *frame.head(most).iter_rows()]
    lines = ["| " + " | ".join(_line(value).replace("|", "\\|") for value in row) + " |" for row in rows]
    if len(frame) > most:
        lines.append(f"\nand {len(frame) - most} more rows")
    return "\n".join(lines)


def shown(table: pl.DataFrame, rows: pl.DataFrame) -> str:
    """A table in Markdown, followed by the signatures of the rows behind it."""
    signatures = rows["signature"].unique().sort().to_list()
    return "\n\n".join([markdown(table, MOST), *signatures])


def number(name: str, digits: int, scale: float = 1) -> pl.Expr:
    """A column with its interval (`name`, `name_low`, `name_high`) as text; '-' if any of the three is null."""

    def text(row: dict[str, float | None]) -> str:
        value, low, high = row.values()
        if value is None or low is None or high is None:
            return "-"
        return f"{value * scale:.{digits}f} [{low * scale:.{digits}f}, {high * scale:.{digits}f}]"

    return pl.struct(name, f"{name}_low", f"{name}_high").map_elements(text, return_dtype=pl.String).alias(name)


def plain(frame: pl.DataFrame) -> str:
    """A frame as aligned columns, with numbers right-aligned."""
    cells = [frame.columns, *([_line(value) for value in row] for row in frame.iter_rows())]
    widths = [max(len(row[i]) for row in cells) for i in range(frame.width)]
    right = [kind.is_numeric() for kind in frame.dtypes]
    lines = []
    for row in cells:
        aligned = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def _line(value: object) -> str:
    return " ".join(str(value).splitlines())
