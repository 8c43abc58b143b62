"""The warehouse: one DuckDB file, its schema, its transactions and its locks.

Here: everything that knows SQL, files or locks. Not here: what the rows mean. Nothing above this module may assume one
machine, one process or one writer: callers name tables, keys and frames.
"""

import atexit
import fcntl
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Event, RLock, Thread
from typing import IO, NamedTuple

import duckdb
import polars as pl
from pydantic import BaseModel, ConfigDict

from resources import catalogue
from resources.errors import BadInput
from resources.migration import migrate

UNWRITTEN = "nothing was written"

# Threads of a process would share DuckDB's open file, and its transactions conflict instead of waiting. Whoever has the
# turn may have a file open already.
TURN = RLock()
_OPEN: set[str] = set()

# The file that a process has attached, and when files that are kept open were last used, both by process: a process
# that was forked has neither.
_ATTACHED: dict[int, str] = {}
_KEPT: dict[tuple[int, str], float] = {}

IDLE = 0.5
"""Seconds without use after which a file that is kept open is closed, for programs that cannot ask for it."""

PATIENCE = 0.02
"""Seconds between two attempts at a file that another process has open."""

# Whoever writes holds this; the warehouses to which its thread may write already.
WRITER = RLock()
_WRITING: set[str] = set()


class Replacement(NamedTuple):
    """Rows that take the place of everything a table holds for some partitions.

    `partitions` has the columns that identify a partition (`model`, `passage`, …), one row a partition; None means the
    whole table. `rows` has the table's columns in any order, without `run_id` and `updated_at`.
    """

    table: str
    rows: pl.DataFrame
    partitions: pl.DataFrame | None


class Warehouse(BaseModel):
    """Tables of the catalogue, in one DuckDB file.

    DuckDB lets one process at a time open a file that is being written, so a connection is held for one transaction
    and a process that finds the file taken waits.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    wait_seconds: float = 60.0

    def empty(self, table: str) -> pl.DataFrame:
        """No rows of a table, with the columns that `write` wants."""
        return pl.DataFrame(schema={name: column.polars for name, column in catalogue.table(table).content.items()})

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
        declared = catalogue.table(table)
        chosen = ", ".join(f't."{name}"' for name in columns or declared.columns)
        condition = ""
        if keys is not None:
            condition = f"SEMI JOIN keys ON {_equal(keys.columns)}"
        order = ", ".join(f't."{name}"' for name in declared.key)
        limit = "" if most is None else f"LIMIT {most:d}"
        with self._connect() as connection:
            if keys is not None:
                connection.register("keys", keys.unique().to_arrow())
            query = f'SELECT {chosen} FROM "{table}" t {condition} ORDER BY {order} {limit}'
            rows: pl.DataFrame = connection.sql(query).pl()
            return rows

    def differences(self, table: str) -> pl.DataFrame:
        """Where a table is not as declared: columns `column`, `declared` and `found`."""
        with self._connect() as connection:
            found = _existing(connection).get(table, {})
        declared = _declared(table)
        rows = [
            (name, declared.get(name, "no such column"), found.get(name, "missing"))
            for name in {**declared, **found}
            if declared.get(name) != found.get(name)
        ]
        return pl.DataFrame(rows, schema=dict.fromkeys(["column", "declared", "found"], pl.String), orient="row")

    def snapshot(self) -> Path:
        """A copy to read from while runs write: `<name>-snapshot.duckdb`, renewed if the warehouse is newer.

        A notebook or any other program may keep it open as long as it likes, read-only; its content then stays that of
        the moment of the copy. After the next call, close it and open it again to see the newer one.
        """
        place = Path(self.path)
        copy, new = (place.with_name(f"{place.stem}-snapshot{end}") for end in (".duckdb", ".new"))
        with self._connect() as connection:
            connection.execute("CHECKPOINT")  # what a killed process left in the log is part of the file now
            written = place.stat().st_mtime_ns
            if copy.exists() and copy.stat().st_mtime_ns == written:
                return copy
            try:
                _copy(connection, new)
                os.utime(new, ns=(written, written))
                new.replace(copy)
            finally:
                for leftover in (new, new.with_name(f"{new.name}.wal")):
                    leftover.unlink(missing_ok=True)
        return copy

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Nobody else writes until the block ends: what was read in it holds when it writes. Readers are not kept out.

        Raises
        ------
        BadInput
            Where others have written for `wait_seconds`.
        """
        with WRITER:
            if self.path in _WRITING:
                yield
                return
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            with Path(f"{self.path}.lock").open("w") as lock:  # given up with the process, however it ends
                deadline = time.monotonic() + self.wait_seconds
                while not _locked(lock):
                    if time.monotonic() > deadline:
                        raise BadInput(
                            self.path, "", f"another process writes to it since {self.wait_seconds:g} s",
                            "wait for that process or end it",
                        )  # fmt: skip
                    time.sleep(PATIENCE)
                _WRITING.add(self.path)
                try:
                    yield
                finally:
                    _WRITING.remove(self.path)

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep the file open between the reads and writes of the block: to open it takes 10 ms, more than most reads.

        It is closed as soon as another process waits for it, and after `IDLE` seconds without use; the next read or
        write opens it again.
        """
        kept = os.getpid(), self.path
        if kept in _KEPT:
            yield
            return
        _KEPT[kept] = time.monotonic()
        ended = Event()
        closer = Thread(target=self._close_for_others, args=(ended,), daemon=True)
        closer.start()
        try:
            yield
        finally:
            ended.set()
            closer.join()
            with TURN:
                del _KEPT[kept]
                if self.path not in _OPEN:
                    _detach()

    def _close_for_others(self, ended: Event) -> None:
        while not ended.wait(PATIENCE):
            if TURN.acquire(blocking=False):  # else a read or write is under way
                try:
                    idle = time.monotonic() - _KEPT[os.getpid(), self.path]
                    if _ATTACHED.get(os.getpid()) == self.path and (idle > IDLE or self._wanted()):
                        _detach()
                finally:
                    TURN.release()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """As `exclusively`, and the file stays open: to open it takes 10 ms, more than most reads. Nobody else can read
        it meanwhile, so no work belongs into the block but a look at a few tables and a write."""
        with self.exclusively(), self._opened():
            yield

    def write(self, replacements: Sequence[Replacement], run_id: str) -> None:
        """Carry out all replacements in one transaction, or none.

        Rows are inserted by column name and stamped with `run_id` and the time.

        Raises
        ------
        BadInput
            Where columns are missing, unknown, null or of another type than the catalogue declares, a number is NaN or
            infinite, a row lies outside its partitions, or a primary key occurs twice.
        """
        for replacement in replacements:
            _check(replacement)
        with self.exclusively(), self._connect() as connection:
            connection.begin()
            for replacement in replacements:
                _replace(connection, replacement, run_id)
            connection.commit()

    @contextmanager
    def _connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Connection to a file of the declared schema; what is not committed when it closes is rolled back."""
        with self._opened(), _engine(os.getpid()).cursor() as connection:
            connection.execute("USE warehouse")
            yield connection

    @contextmanager
    def _opened(self) -> Iterator[None]:
        """The file is open until the outermost of these blocks ends, or longer where it is kept open."""
        with TURN:
            if self.path in _OPEN:
                yield
                return
            kept = os.getpid(), self.path
            if _ATTACHED.get(os.getpid()) != self.path:
                self._attach()
            _OPEN.add(self.path)
            try:
                yield
            finally:
                _OPEN.remove(self.path)
                if kept in _KEPT and not self._wanted():
                    _KEPT[kept] = time.monotonic()
                else:
                    _detach()

    def _attach(self) -> None:
        """Open the file, and bring it to the declared schema."""
        if not _OPEN:
            _detach()  # another file that is kept open
        if self._wanted():
            time.sleep(2 * PATIENCE)  # whoever waits comes first
        with _engine(os.getpid()).cursor() as connection:
            self._open(connection)
            _ATTACHED[os.getpid()] = self.path
            connection.execute("USE warehouse")
            try:
                _prepare(connection, self.path)
            except BaseException:
                connection.close()
                _detach()
                raise

    def _wanted(self) -> bool:
        """Whether another process waits for the file."""
        with suppress(FileNotFoundError), self._sign("r") as sign:
            return not _locked(sign)
        return False

    def _sign(self, mode: str) -> IO[str]:
        """A file that processes have locked, several at once, while they wait for the warehouse."""
        return Path(f"{self.path}.wanted").open(mode)

    def _create(self) -> None:
        """Make the file; it appears whole, for another process must not open one that is half made."""
        place = Path(self.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_name(f"{place.name}.{uuid.uuid4()}")
        duckdb.connect(str(new)).close()
        with suppress(FileExistsError):
            os.link(new, place)
        new.unlink()

    def _open(self, connection: duckdb.DuckDBPyConnection) -> None:
        if not Path(self.path).exists():
            self._create()
        if not self._tried(connection):
            return
        deadline = time.monotonic() + self.wait_seconds
        with self._sign("w") as sign:
            fcntl.flock(sign, fcntl.LOCK_SH)
            while refusal := self._tried(connection):
                if time.monotonic() > deadline:
                    raise BadInput(
                        self.path, "", f"another process holds it since {self.wait_seconds:g} s ({refusal})",
                        "wait for that process or end it",
                    )  # fmt: skip
                time.sleep(PATIENCE)

    def _tried(self, connection: duckdb.DuckDBPyConnection) -> str:
        """Open the file; where another process has it, return DuckDB's words, else ''."""
        try:
            connection.execute(f"ATTACH {_quoted(self.path)} AS warehouse")
        except duckdb.Error as error:
            if "Could not set lock" in str(error):
                return _first_line(error)
            raise BadInput(
                self.path, "", f"not a warehouse that can be opened ({_first_line(error)})",
                "move the file away or set VARIORUM_HOME to another folder",
            ) from error  # fmt: skip
        return ""


def _detach() -> None:
    """Close the file that this process has open, if any."""
    if _ATTACHED.pop(os.getpid(), None):
        with suppress(duckdb.IOException):  # the disk is full: what was committed stays in the log
            _engine(os.getpid()).execute("DETACH warehouse")


@cache
def _engine(process: int) -> duckdb.DuckDBPyConnection:
    """DuckDB in this process, to which a file is attached for as long as it is used: to start one takes 20 ms, to
    attach 3. A process that was forked has no threads of its parent's, and starts its own."""
    engine = duckdb.connect(":memory:")
    atexit.register(engine.close)
    return engine


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
        raise BadInput(table, "", _first_line(error), UNWRITTEN) from error


def _check(replacement: Replacement) -> None:
    table, rows, partitions = replacement
    declared = catalogue.table(table).content
    if unknown := sorted(set(rows.columns) - set(declared)):
        raise BadInput(table, ", ".join(unknown), "no such columns", f"declare them in {catalogue.FOLDER.name}/*.yaml")
    if missing := sorted(set(declared) - set(rows.columns)):
        raise BadInput(table, ", ".join(missing), "columns are missing from the rows", UNWRITTEN)
    for name, column in declared.items():
        if not _fits(rows.schema[name], column.polars):
            problem = f"is {rows.schema[name]}, the catalogue declares {column.polars}"
            raise BadInput(table, name, problem, UNWRITTEN)
        if _infinite(rows[name]):
            raise BadInput(table, name, "has a number that is NaN or infinite", UNWRITTEN)
    key = list(catalogue.table(table).key)
    repeated = rows.filter(pl.struct(key).is_duplicated()).select(key)
    if not repeated.is_empty():
        raise BadInput(table, str(repeated.row(0)), "the primary key occurs twice", UNWRITTEN)
    if partitions is not None:
        keys = rows.select(partitions.columns).cast(partitions.schema)  # no rows may well be without types
        outside = keys.join(partitions, on=partitions.columns, how="anti")
        if not outside.is_empty():
            problem = f"{len(outside)} rows lie outside the partitions asked for"
            raise BadInput(table, str(outside.row(0)), problem, UNWRITTEN)


def _infinite(values: pl.Series) -> bool:
    """Whether a number, also one in a list, is NaN or infinite."""
    while isinstance(values.dtype, pl.List | pl.Array):
        values = values.explode(empty_as_null=False, keep_nulls=False)
    return values.dtype.is_float() and not values.is_finite().all()


def _fits(given: pl.DataType, declared: pl.DataType) -> bool:
    """Whether DuckDB, which casts whatever it can, would keep the values as they are or say that it cannot."""
    if isinstance(given, pl.List | pl.Array) and isinstance(declared, pl.List):
        return _fits(given.inner, declared.inner)  # type: ignore[arg-type]
    numbers = declared.is_float() if given.is_float() else given.is_integer() and declared.is_numeric()
    return numbers or given in (declared, pl.Null)


def _copy(connection: duckdb.DuckDBPyConnection, place: Path) -> None:
    """Write the whole database to a file that does not exist, or is a leftover."""
    # Not by copying bytes: closing a second handle on the file would give up this process's lock.
    place.unlink(missing_ok=True)
    connection.execute(f"ATTACH {_quoted(str(place))} AS copy")
    connection.execute("COPY FROM DATABASE warehouse TO copy")
    connection.execute("DETACH copy")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _equal(columns: Sequence[str]) -> str:
    return " AND ".join(f't."{name}" = keys."{name}"' for name in columns)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _declared(table: str) -> dict[str, str]:
    """Type of each column of a table, with `NOT NULL` where it may not be null."""
    columns = catalogue.table(table).columns.values()
    return {each.name: each.type if each.nullable else f"{each.type} NOT NULL" for each in columns}


def _existing(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type || CASE WHEN is_nullable THEN '' ELSE ' NOT NULL' END "
        "FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() ORDER BY column_index"
    ).fetchall():
        tables.setdefault(table, {})[column] = kind
    return tables


def _keys(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Names of the primary key of each table."""
    rows = connection.execute(
        "SELECT table_name, constraint_column_names FROM duckdb_constraints() "
        "WHERE constraint_type = 'PRIMARY KEY' AND database_name = current_database()"
    ).fetchall()
    return {table: list(columns) for table, columns in rows}


@cache
def _digest() -> str:
    return blake2b(catalogue.duckdb_ddl().encode(), digest_size=16).hexdigest()


def _prepare(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Bring a file to the declared schema: add new tables and new nullable columns, and move rows of former tables.

    A table whose primary key has grown is written again, where its new columns have a default.
    """
    digest = _digest()
    connection.execute("CREATE TABLE IF NOT EXISTS schema_digest (digest VARCHAR NOT NULL)")
    if connection.execute("SELECT digest FROM schema_digest").fetchall() == [(digest,)]:
        return
    connection.begin()
    grown = [
        table for table, key in _keys(connection).items()
        if table in catalogue.tables() and set(key) < set(catalogue.table(table).key)
    ]  # fmt: skip
    for table in grown:
        connection.execute(f'CREATE TEMP TABLE "{table}_before" AS FROM "{table}"')
        connection.execute(f'DROP TABLE "{table}"')
    connection.execute(catalogue.duckdb_ddl())
    for table in grown:
        connection.execute(f'INSERT INTO "{table}" BY NAME FROM "{table}_before"')
        connection.execute(f'DROP TABLE "{table}_before"')
    migrate(connection)
    existing = _existing(connection)
    for table in catalogue.tables():
        for column, kind in _declared(table).items():
            found = existing[table].get(column, "missing")
            if found == "missing" and not kind.endswith("NOT NULL"):
                connection.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" {kind}')
            elif found != kind:
                raise BadInput(
                    path, f"{table}.{column}", f"is {found}, the catalogue declares {kind}",
                    "move the file away and import again",
                )  # fmt: skip
    connection.execute("DELETE FROM schema_digest")
    connection.execute("INSERT INTO schema_digest VALUES (?)", [digest])
    connection.commit()
