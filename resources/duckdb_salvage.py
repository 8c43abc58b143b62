"""Reading around damage in the file of a warehouse, and adding rows of one file to another.

DuckDB compares a checksum with each block that it reads, and refuses the block if they differ. A block has values of
one column, or several short columns. So the rest of a damaged table can be read by ranges of rows and by columns.

Here: files and rows. Not here: which file is repaired with which (automation.repairing), damage of a ledger
(provider.salvage).
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import duckdb

from resources import catalogue
from resources.duckdb_files import engine, quoted, remove
from resources.errors import BadInput
from resources.identity import StoreMark
from resources.keys import KEYS
from resources.removals import Removal, apply
from resources.warehouse import STATES
from resources.whole_files import sync

VECTOR = 2048
"""Number of rows that DuckDB reads at once. Fewer rows of a damaged table cannot be read one by one."""

PATIENCE = 10
"""Seconds to wait for a process that has the file open."""

_IN_USE = ("Could not set lock", "Unique file handle conflict")
"""Words of DuckDB's errors about a file that another process, or this one, has open. The file is not damaged."""

_PROVENANCE = {"fingerprint": "''", "run_id": "''", "updated_at": "now()::TIMESTAMP"}
"""Values for provenance that cannot be read: the row was in the home, so no earlier removal concerns it."""


class Loss(NamedTuple):
    """Number of rows of a table that could not be read, and number of rows that a backup brought back since."""

    rows: int
    restored: int = 0


def damage(path: Path) -> str:
    """The first error when all tables of a file are read; '' if there is none. Damaged indexes are not noticed."""
    try:
        with opened(path) as connection:
            for table in _tables(connection, "old"):
                connection.execute(f'SELECT max(hash(t)) FROM old."{table}" t').fetchall()
    except duckdb.Error as error:
        return str(error).splitlines()[0]
    return ""


def mark(path: Path) -> StoreMark | None:
    """The mark of a file; None if it has none, or none that can be read."""
    with suppress(duckdb.Error), opened(path) as connection:
        row = connection.execute("SELECT home, epoch, ledger FROM old.identity").fetchone()
        return StoreMark(*row) if row else None
    return None


def salvage(damaged: Path, new: Path) -> dict[str, Loss] | None:
    """Copy every readable row of a file to a new file.

    If the write-ahead log of the damaged file cannot be read, the rows of the file itself are copied.

    Returns
    -------
    The losses by table, only for tables with losses. None if the file cannot be opened at all; there is no new file
    then.
    """
    losses = {}
    try:
        with opened(damaged) as connection:
            connection.execute(f"ATTACH {quoted(new)} AS new")
            connection.execute("COPY FROM DATABASE old TO new (SCHEMA)")
            tables = _tables(connection, "old")
    except duckdb.Error:
        remove(new)
        return None
    remaining = list(tables)
    while remaining:
        with opened(damaged) as connection:  # DuckDB may refuse to continue after an error
            connection.execute(f"ATTACH {quoted(new)} AS new")
            while remaining:
                table = remaining.pop()
                try:
                    connection.execute(f'INSERT INTO new."{table}" SELECT * FROM old."{table}"')
                except duckdb.Error:
                    losses[table] = Loss(0)
                    break
    for table in losses:
        losses[table] = _copy_parts(damaged, new, table)
    sync(new)
    return {table: losses[table] for table in tables if table in losses}


def _copy_parts(damaged: Path, new: Path, table: str) -> Loss:
    """Copy the readable rows of a table, vector by vector; of a vector with damaged columns, the others are copied."""
    ranges, copied = [(0, -1)], 0
    with opened(damaged) as connection:
        try:
            total, last = connection.execute(f'SELECT count(*), max(rowid) FROM old."{table}"').fetchall()[0]
        except duckdb.Error:
            return Loss(-1)
        ranges = [(0, last)] if total else []
    while ranges:
        start, end = ranges.pop()
        with opened(damaged) as connection:
            connection.execute(f"ATTACH {quoted(new)} AS new")
            where = f"WHERE rowid BETWEEN {start} AND {end}"
            try:
                copied += _inserted(connection, f'INSERT INTO new."{table}" SELECT * FROM old."{table}" {where}')
            except duckdb.Error:
                if end - start >= VECTOR:
                    middle = start + (end - start + 1) // 2 // VECTOR * VECTOR
                    middle = middle if middle > start else start + VECTOR
                    ranges += [(middle, end), (start, middle - 1)]
                else:
                    copied += _copy_columns(connection, table, where)
    return Loss(total - copied)


def _copy_columns(connection: duckdb.DuckDBPyConnection, table: str, where: str) -> int:
    """Copy rows with unreadable columns, if these columns are nullable or provenance; return the number of
    rows."""
    columns = connection.execute(
        'SELECT name, "notnull" FROM pragma_table_info(?)', [f'old."{table}"']
    ).fetchall()  # fmt: skip
    values = []
    for name, required in columns:
        try:
            connection.execute(f'SELECT "{name}" FROM old."{table}" {where}').fetchall()
            values.append(f'"{name}"')
        except duckdb.Error:
            if required and name not in _PROVENANCE:
                return 0
            values.append(_PROVENANCE.get(name, "NULL"))
    with suppress(duckdb.Error):
        return _inserted(connection, f'INSERT INTO new."{table}" SELECT {", ".join(values)} FROM old."{table}" {where}')
    return 0


def fill(new: Path, other: Path, losses: dict[str, Loss]) -> dict[str, Loss]:
    """Add rows of another file to those tables of a new file that have losses; return the losses that remain.

    Both files have the declared schema. A row of an asset is added only if the new file has a record that the row
    belongs to: the records themselves are added first.
    """
    with _both(new, other) as connection:
        assets = {name for (name,) in connection.execute(f"SELECT DISTINCT asset FROM new.{STATES}").fetchall()}
        for table in sorted(losses, key=lambda table: (table != STATES, table)):
            if table not in catalogue.tables():
                continue
            condition = ""
            if table in assets:
                dims = [key for key in KEYS if key in catalogue.table(table).columns]
                same = " AND ".join(f'm."{name}" = o."{name}"' for name in (*dims, "fingerprint"))
                condition = f"AND EXISTS (FROM new.{STATES} m WHERE m.asset = '{table}' AND {same})"
            losses[table] = losses[table]._replace(restored=_add(connection, table, condition))
    return losses


def add_facts(new: Path, other: Path) -> dict[str, int]:
    """Add to a new file the facts of another file that it lacks, or has in an earlier version; return their numbers by
    table. Both files have the declared schema."""
    with _both(new, other) as connection:
        counts = {}
        for table in catalogue.facts():
            same = _same(table, "n", "o")
            connection.execute(
                f'DELETE FROM new."{table}" n USING other."{table}" o WHERE {same} AND o.updated_at > n.updated_at'
            )
            counts[table] = _add(connection, table)
        return {table: count for table, count in counts.items() if count}


def lacking(file: Path, other: Path) -> dict[str, int]:
    """Number of facts of `other` that a file lacks or has with other values, by table. Both have the declared
    schema."""
    with _both(file, other) as connection:
        counts = {}
        for table in catalogue.facts():
            names = ", ".join(f'"{name}"' for name in catalogue.table(table).content if name != "fingerprint")
            query = f'(SELECT {names} FROM other."{table}" EXCEPT SELECT {names} FROM new."{table}")'
            counts[table] = connection.execute(f"SELECT count(*) FROM {query}").fetchall()[0][0]
        return {table: count for table, count in counts.items() if count}


def purge(file: Path, removals: Sequence[Removal]) -> int:
    """Remove the rows that people removed before, and rewrite the file if it had any, so that none of their texts stay
    in its free blocks. Return the number of rows."""
    with closing(engine(file)) as connection:
        count = apply(connection, removals)
    if count:
        compacted = file.with_name(f"{file.name}.purged")
        with opened(file) as connection:
            connection.execute(f"ATTACH {quoted(compacted)} AS new")
            connection.execute("COPY FROM DATABASE old TO new")
        compacted.replace(file)
    sync(file)
    return count


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB instance of its own with a file as `old`, read only: without its write-ahead log if that is damaged."""
    with closing(engine()) as connection:
        try:
            _attach(connection, path)
        except duckdb.Error:
            if not path.with_name(f"{path.name}.wal").exists():
                raise
            bare = path.with_name(f"{path.name}.without-log")
            bare.unlink(missing_ok=True)
            bare.hardlink_to(path)
            try:
                _attach(connection, bare)
            finally:
                bare.unlink()
        yield connection


def _attach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute(f"ATTACH {quoted(path)} AS old (READ_ONLY)")
            return
        except duckdb.Error as error:
            if not any(words in str(error) for words in _IN_USE):
                raise
            if time.monotonic() > deadline:
                raise BadInput(
                    path, "", f"has been open elsewhere for {PATIENCE} s", "end Dagster's UI and all runs"
                ) from error
        time.sleep(0.1)


@contextmanager
def _both(new: Path, other: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(engine()) as connection:
        connection.execute(f"ATTACH {quoted(new)} AS new")
        connection.execute(f"ATTACH {quoted(other)} AS other (READ_ONLY)")
        yield connection
        connection.execute("DETACH new")


def _add(connection: duckdb.DuckDBPyConnection, table: str, condition: str = "") -> int:
    """Add the rows of `other` whose key is not in `new`."""
    names = ", ".join(f'"{name}"' for name in catalogue.table(table).columns)
    return _inserted(
        connection,
        f'INSERT INTO new."{table}" ({names}) SELECT {names} FROM other."{table}" o '
        f'WHERE NOT EXISTS (FROM new."{table}" n WHERE {_same(table, "n", "o")}) {condition}',
    )


def _same(table: str, left: str, right: str) -> str:
    return " AND ".join(f'{left}."{name}" = {right}."{name}"' for name in catalogue.table(table).key)


def _inserted(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0


def _tables(connection: duckdb.DuckDBPyConnection, database: str) -> list[str]:
    query = "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND NOT internal ORDER BY ALL"
    return [name for (name,) in connection.execute(query, [database]).fetchall()]
