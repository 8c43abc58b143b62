"""The warehouse: one DuckDB file, its schema, its transactions and its locks.

Here: everything that knows SQL, files or locks. Not here: what the rows mean. Nothing above this module may assume one
machine, one process or one writer: callers name tables, keys and frames.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import dagster as dg
import duckdb
import polars as pl

from resources.errors import BadInput
from resources.home import PROJECT

SCHEMA = PROJECT / "warehouse" / "schema"

# Threads of a process would share DuckDB's open file, and its transactions conflict instead of waiting.
TURN = Lock()


class Replacement(NamedTuple):
    """Rows that take the place of everything a table holds for some partitions.

    `partitions` has the columns that identify a partition (`model`, `passage`, …), one row a partition; None means the
    whole table. `rows` has the table's columns in any order, without `run_id` and `updated_at`.
    """

    table: str
    rows: pl.DataFrame
    partitions: pl.DataFrame | None


class Warehouse(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Tables declared in `warehouse/schema`, in one DuckDB file.

    DuckDB lets one process at a time open a file that is being written, so a connection is held for one transaction
    and a process that finds the file taken waits.
    """

    path: str
    wait_seconds: float = 60.0

    def empty(self, table: str) -> pl.DataFrame:
        """No rows of a table, with the columns that `write` wants."""
        return _types(table).to_frame().drop("run_id", "updated_at")

    def read(
        self,
        table: str,
        keys: pl.DataFrame | None = None,
        columns: Sequence[str] | None = None,
        most: int | None = None,
    ) -> pl.DataFrame:
        """Rows of a table in the order of its primary key.

        Parameters
        ----------
        table
            Name of a table of the schema.
        keys
            Only rows that agree with some row of this frame in all of its columns.
        columns
            Only these columns, in this order; by default all.
        most
            Only so many rows, the first ones.
        """
        chosen = ", ".join(f't."{name}"' for name in columns or _columns(table))
        condition = ""
        if keys is not None:
            condition = f"SEMI JOIN keys ON {_equal(keys.columns)}"
        order = ", ".join(f't."{name}"' for name in _primary_key(table))
        limit = "" if most is None else f"LIMIT {most:d}"
        with self._connect() as connection:
            if keys is not None:
                connection.register("keys", keys.unique().to_arrow())
            query = f'SELECT {chosen} FROM "{table}" t {condition} ORDER BY {order} {limit}'
            rows: pl.DataFrame = connection.sql(query).pl()
            return rows

    def write(self, replacements: Sequence[Replacement], run_id: str) -> None:
        """Carry out all replacements in one transaction, or none.

        Rows are inserted by column name and stamped with `run_id` and the time.

        Raises
        ------
        BadInput
            Where columns are missing, unknown, null or of another kind than the schema says, a row lies outside its
            partitions, or a primary key occurs twice.
        """
        for replacement in replacements:
            _check(replacement)
        with self._connect() as connection:
            connection.begin()
            for replacement in replacements:
                _replace(connection, replacement, run_id)
            connection.commit()

    @contextmanager
    def _connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Connection to a file of the declared schema; what is not committed when it closes is rolled back."""
        with TURN, self._open() as connection:
            _prepare(connection, self.path)
            yield connection

    def _open(self) -> duckdb.DuckDBPyConnection:
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + self.wait_seconds
        while True:
            try:
                return duckdb.connect(self.path)
            except duckdb.Error as error:
                if "Could not set lock" not in str(error):
                    raise BadInput(
                        self.path, "", f"not a warehouse that can be opened ({_first_line(error)})",
                        "move the file away or set VARIORUM_HOME to another folder",
                    ) from error  # fmt: skip
                if time.monotonic() > deadline:
                    raise BadInput(
                        self.path, "", f"another process holds it since {self.wait_seconds:g} s ({_first_line(error)})",
                        "wait for that process or end it",
                    ) from error  # fmt: skip
                time.sleep(0.02)


def _replace(connection: duckdb.DuckDBPyConnection, replacement: Replacement, run_id: str) -> None:
    table, rows, partitions = replacement
    if partitions is None:
        connection.execute(f'DELETE FROM "{table}"')
    else:
        connection.register("partitions", partitions.to_arrow())
        connection.execute(f'DELETE FROM "{table}" t USING partitions keys WHERE {_equal(partitions.columns)}')
    if rows.is_empty():
        return
    names = ", ".join(f'"{name}"' for name in rows.columns)
    connection.register("incoming", rows.to_arrow())
    try:
        connection.execute(
            f'INSERT INTO "{table}" ({names}, run_id, updated_at) SELECT {names}, ?, ? FROM incoming',
            [run_id, datetime.now(UTC).replace(tzinfo=None)],
        )
    except (duckdb.ConstraintException, duckdb.ConversionException) as error:
        raise BadInput(table, "", _first_line(error), "nothing was written") from error


def _check(replacement: Replacement) -> None:
    table, rows, partitions = replacement
    wanted = set(_columns(table)) - {"run_id", "updated_at"}
    if unknown := sorted(set(rows.columns) - wanted):
        raise BadInput(table, ", ".join(unknown), "no such columns", f"declare them in {SCHEMA.name}/*.sql")
    if missing := sorted(wanted - set(rows.columns)):
        raise BadInput(table, ", ".join(missing), "columns are missing from the rows", "nothing was written")
    for name, declared in _types(table).items():
        if name in wanted and not _fits(rows.schema[name], declared):
            raise BadInput(table, name, f"is {rows.schema[name]}, the schema says {declared}", "nothing was written")
    repeated = rows.filter(pl.struct(_primary_key(table)).is_duplicated()).select(_primary_key(table))
    if not repeated.is_empty():
        raise BadInput(table, str(repeated.row(0)), "the primary key occurs twice", "nothing was written")
    if partitions is not None:
        keys = rows.select(partitions.columns).cast(partitions.schema)  # no rows may well be without types
        outside = keys.join(partitions, on=partitions.columns, how="anti")
        if not outside.is_empty():
            raise BadInput(
                table, str(outside.row(0)), f"{len(outside)} rows lie outside the partitions asked for",
                "nothing was written",
            )  # fmt: skip


def _fits(given: pl.DataType, declared: pl.DataType) -> bool:
    """Whether DuckDB, which casts whatever it can, would keep the values as they are or say that it cannot."""
    if isinstance(given, pl.List | pl.Array) and isinstance(declared, pl.List):
        return _fits(given.inner, declared.inner)  # type: ignore[arg-type]
    numbers = declared.is_float() if given.is_float() else given.is_integer() and declared.is_numeric()
    return numbers or given in (declared, pl.Null)


def _equal(columns: Sequence[str]) -> str:
    return " AND ".join(f't."{name}" = keys."{name}"' for name in columns)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


@cache
def _ddl() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(SCHEMA.glob("*.sql")))


@cache
def _types(table: str) -> pl.Schema:
    """Type of each column of a table as polars reads it."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(_ddl())
        types: pl.Schema = connection.sql(f'SELECT * FROM "{table}"').pl().schema
        return types


@cache
def _declared() -> dict[str, dict[str, str]]:
    """Type of each column of each table of the schema, with `NOT NULL` where it says so."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(_ddl())
        return _existing(connection)


def _existing(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type || CASE WHEN is_nullable THEN '' ELSE ' NOT NULL' END "
        "FROM duckdb_columns() WHERE NOT internal ORDER BY column_index"
    ).fetchall():
        tables.setdefault(table, {})[column] = kind
    return tables


@cache
def _primary_key(table: str) -> list[str]:
    with duckdb.connect(":memory:") as connection:
        connection.execute(_ddl())
        keys = connection.execute(
            "SELECT constraint_column_names FROM duckdb_constraints() "
            "WHERE table_name = ? AND constraint_type = 'PRIMARY KEY'",
            [table],
        ).fetchall()
    return list(keys[0][0])


def _columns(table: str) -> list[str]:
    if table not in _declared():
        raise BadInput(SCHEMA.name, table, "no such table", "declare it in a .sql file there")
    return list(_declared()[table])


def _prepare(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Bring a file to the declared schema: new tables and new nullable columns are added, nothing is dropped."""
    digest = blake2b(_ddl().encode(), digest_size=16).hexdigest()
    connection.execute("CREATE TABLE IF NOT EXISTS schema_digest (digest VARCHAR NOT NULL)")
    if connection.execute("SELECT digest FROM schema_digest").fetchall() == [(digest,)]:
        return
    connection.begin()
    connection.execute(_ddl())
    existing = _existing(connection)
    for table, columns in _declared().items():
        for column, kind in columns.items():
            found = existing[table].get(column, "missing")
            if found == "missing" and not kind.endswith("NOT NULL"):
                connection.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" {kind}')
            elif found != kind:
                raise BadInput(
                    path, f"{table}.{column}", f"is {found}, the schema says {kind}",
                    "move the file away and import again",
                )  # fmt: skip
    connection.execute("DELETE FROM schema_digest")
    connection.execute("INSERT INTO schema_digest VALUES (?)", [digest])
    connection.commit()
