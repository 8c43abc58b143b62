"""DuckDB files: their tables as migrations see them, paths in statements, removal.

Here: what every warehouse needs, because each one can be copied to such a file. Not here: the warehouse in a DuckDB
file (duckdb_warehouse), reading around damage (duckdb_salvage).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from resources import catalogue, migration

BLOCK = 32768
"""Size in bytes of the blocks of new files. DuckDB's default is 262,144, but most columns of a corpus take less than a
block, in which other columns leave gaps: the file of a corpus of 1.4 MB was 2.5 times as large. Smaller blocks slow
down large writes."""


class DuckDBSchema(migration.Schema):
    """Tables of the database that a connection uses."""

    misfits = (duckdb.ConstraintException, duckdb.ConversionException)

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Execute a statement, and return its rows."""
        return self._connection.execute(statement, values).fetchall()

    def version(self) -> tuple[int, str]:
        """Number and digest of the version of the file; 0 and '' for a new file and for a file without a number."""
        try:
            return self._connection.execute(migration.LAST).fetchone() or (0, "")
        except duckdb.CatalogException:
            return 0, ""

    def create(self, table: str) -> None:
        """Create a table of the catalogue unless it exists."""
        self.execute(catalogue.ddl(catalogue.table(table)))

    def tables(self) -> list[str]:
        """Names of the tables, without temporary tables."""
        query = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND database_name = current_database()"
        return [name for (name,) in self.execute(query)]

    def found(self, table: str) -> dict[str, str]:
        """Type of each column of a table in the file; empty if there is no such table."""
        try:
            rows = self.execute('SELECT name, type, "notnull" FROM pragma_table_info($1)', [table])
        except duckdb.CatalogException:
            return {}
        return {name: f"{kind} NOT NULL" if required else kind for name, kind, required in rows}

    def keys(self) -> Mapping[str, list[str]]:
        """Columns of each table's primary key."""
        rows = self.execute(
            "SELECT table_name, constraint_column_names FROM duckdb_constraints() "
            "WHERE constraint_type = 'PRIMARY KEY' AND database_name = current_database()"
        )
        return {table: list(key) for table, key in rows}


def engine(path: str | Path = ":memory:") -> duckdb.DuckDBPyConnection:
    """A DuckDB instance on a file. Files that it creates have blocks of size `BLOCK`; other files keep theirs."""
    return duckdb.connect(str(path), config={"default_block_size": BLOCK})


def quoted(path: str | Path) -> str:
    """A path or another text in a statement."""
    return "'" + str(path).replace("'", "''") + "'"


def remove(file: Path) -> None:
    """Remove a DuckDB file and its write-ahead log, if they exist."""
    for part in (file, file.with_name(f"{file.name}.wal")):
        part.unlink(missing_ok=True)
