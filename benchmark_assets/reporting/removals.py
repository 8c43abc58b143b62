"""What one package or home has and another lacks, apart from a list of removals: the check of an upgrade.

Here: the list, and the comparison of all values of all tables, by DuckDB. Not here: whether differences of scores
exceed noise (differences), former layouts of a home (migration).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import polars as pl

from resources import catalogue
from resources.backups import WAREHOUSE
from resources.duckdb_files import quoted
from resources.errors import BadInput, beginning, one_of

KINDS = ("table", "file", "column", "number", "rows", "asset", "option", "command")
"""How a line of the list begins, before a name. `table` is a home's, `file` a package's. A `column` may be absent,
the values of a `number` may differ: both are followed by TABLE.COLUMN. `rows` is followed by TABLE.COLUMN=VALUE, or by
TABLE if any row may be absent. Assets, options and commands have no values, and are listed for people."""

RECORDS = {"materialization", "state_sum", "change", "embedding", "unit_sum", "report", "schema_version", "identity"}
"""Tables of a home that say how other rows and files were made."""

MISSING = pl.Schema({"table": pl.String(), "missing": pl.String(), "rows": pl.Int64()})


def read(path: Path) -> dict[str, set[str]]:
    """The names in a list of removals, by kind: one removal a line; `#` begins a reason.

    Raises
    ------
    BadInput
        If the file cannot be read, or a line has another form.
    """
    listed: dict[str, set[str]] = {kind: set() for kind in KINDS}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(path, "", f"cannot be read: {error}", "give a list of removals") from error
    for place, line in enumerate(lines, start=1):
        kind, _, name = line.partition("#")[0].strip().partition(" ")
        if kind and (kind not in KINDS or not name.strip()):
            remedy = f"begin with {one_of(KINDS)} and a name; write reasons after #"
            raise BadInput(path, f"line {place}", f"{line.strip()!r} is not a removal", remedy)
        if kind:
            listed[kind].add(name.strip())
    return listed


def missing(old: Path, new: Path, listed: Mapping[str, set[str]]) -> pl.DataFrame:
    """What the old package or home has and the new one lacks, apart from removals: columns of `MISSING`.

    A table or column that is missing has one row. A row of a table is missing if the new table has no row, or fewer
    rows, with its values in the columns that both have, without provenance. What only the new one has is no difference.

    Raises
    ------
    BadInput
        If a folder is neither a package nor a home with a warehouse in a file, or only one is a home.
    """
    with duckdb.connect() as engine:
        before, after = (_tables(engine, folder, name) for folder, name in ((old, "old"), (new, "new")))
        if (of_homes := (old / WAREHOUSE).is_file()) != (new / WAREHOUSE).is_file():
            raise BadInput(new, "", f"is of another kind than {old}", "compare two packages or two homes")
        found = list(_missing(engine, before, after, listed, "table" if of_homes else "file"))
    return pl.DataFrame(found, schema=MISSING, orient="row")


def _tables(engine: duckdb.DuckDBPyConnection, folder: Path, name: str) -> dict[str, str]:
    """The tables of a package or home, and what SQL calls them."""
    try:
        if (folder / WAREHOUSE).is_file():
            engine.execute(f"ATTACH {quoted(folder / WAREHOUSE)} AS {name} (READ_ONLY)")
            query = "SELECT table_name FROM duckdb_tables() WHERE database_name = $1 ORDER BY 1"
            names = [table for (table,) in engine.execute(query, [name]).fetchall()]
            return {table: f'{name}."{table}"' for table in names if table not in RECORDS}
    except duckdb.Error as error:
        raise BadInput(folder, WAREHOUSE, f"cannot be opened: {error}", "end programs that use the home") from error
    files = sorted([*(folder / "parquet").glob("*.parquet"), *folder.glob("*.jsonl")])
    if not files:
        raise BadInput(folder, "", "is neither a package nor a home", "give two of one kind")
    return {
        path.stem: f"{'read_parquet' if path.suffix == '.parquet' else 'read_json_auto'}({quoted(path)})"
        for path in files
    }


def _missing(
    engine: duckdb.DuckDBPyConnection, before: Mapping[str, str], after: Mapping[str, str],
    listed: Mapping[str, set[str]], kind: str,
) -> Iterator[tuple[str, str, int]]:  # fmt: skip
    tables = {table.file or name: name for name, table in catalogue.declared().items()} if kind == "file" else {}
    for name, table in before.items():
        if name in listed[kind]:
            continue
        if name not in after:
            yield name, f"the {kind}", _count(engine, f"FROM {table}")
            continue
        of_table = {name, tables.get(name, name)}
        columns, kept = _columns(engine, table), _columns(engine, after[name])
        for column in columns:
            if column not in kept and not _named(listed["column"], of_table, column):
                yield name, f"the column {column}", _count(engine, f"FROM {table}")
        skipped = [*catalogue.PROVENANCE, *(each for each in columns if _named(listed["number"], of_table, each))]
        common = [f'"{column}"' for column in columns if column in kept and column not in skipped]
        rows = _remaining(listed["rows"], of_table)
        if not common or rows is None:
            continue
        gone = [
            f"FROM (SELECT {names} FROM {table} {rows} EXCEPT ALL SELECT {names} FROM {after[name]})"
            for names in (", ".join(common), *common)
        ]
        if count := _count(engine, gone[0]):
            differing = [column.strip('"') for column, of in zip(common, gone[1:], strict=True) if _count(engine, of)]
            values = engine.execute(f"SELECT * {gone[0]} LIMIT 1").fetchone() or ()
            which = f"rows, by {beginning(', '.join(differing))}" if differing else "rows"
            yield name, f"{which}, such as {beginning(', '.join(map(str, values)))}", count


def _remaining(listed: set[str], of_table: set[str]) -> str | None:
    """A condition for the rows of a table that may not be absent; None if any may."""
    if listed & of_table:
        return None
    conditions = []
    for removal in sorted(listed):
        place, _, value = removal.partition("=")
        table, _, column = place.partition(".")
        if table in of_table and column:
            conditions.append(f'"{column}" IS DISTINCT FROM {quoted(value)}')
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


def _named(listed: set[str], of_table: set[str], column: str) -> bool:
    return any(f"{table}.{column}" in listed for table in of_table)


def _columns(engine: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    return [column for column, *_ in engine.execute(f"SELECT * FROM {table} LIMIT 0").description or ()]


def _count(engine: duckdb.DuckDBPyConnection, rows: str) -> int:
    (count,) = engine.execute(f"SELECT count(*) {rows}").fetchone() or (0,)
    return int(count)
