"""The warehouse of several machines: tables in a PostgreSQL database, their transactions and their locks.

Rows go in and out as Arrow, by PostgreSQL's COPY. Here: all SQL, connections and locks of PostgreSQL. Not here: what
every warehouse promises (warehouse), versions of the tables (migration), files of vectors (vector_files). Why which
lock or isolation is sufficient: docs/decisions/warehouse.md.
"""

import os
import random
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import adbc_driver_postgresql.dbapi as adbc
import polars as pl

from resources import catalogue, changes, migration
from resources.duckdb_files import DuckDBSchema, engine
from resources.errors import BadInput, UnreachableError
from resources.identity import StoreMark
from resources.postgres.connections import LINK
from resources.postgres.vector_files import VectorFiles
from resources.warehouse import STATES, UNWRITTEN, Replacement, Result, Warehouse, check, equal, noted
from resources.whole_files import move, sync

SCHEMA = "warehouse"
"""PostgreSQL schema with the tables of the catalogue."""

OUTSIDE = {"embedding": "vector"}
"""Column whose values are in files instead of the table, by table. PostgreSQL keeps large values apart from their rows,
so reading vectors from a table takes 2.6 times as long, and its backups would contain them."""

PLACE = ("vector_file", "vector_position")
"""Columns with the place of a vector, in tables in OUTSIDE."""

HASH = "vector_hash"
"""Column with the hash of a vector, in tables in OUTSIDE."""

UNCOMPARED = {"fingerprint", *PLACE}
"""Columns that do not matter for whether a stored row equals a new one: equal vectors may be in several files."""

Part = tuple[str, ...]
"""A part of a table that is locked: the table, and values of the first columns in GRANULES."""

GRANULES = {STATES: ("asset", "model"), "study_call": ("study", "model")}
"""Columns by which parts of a table are locked. Other tables with a model are locked by model."""

MOST_LOCKS = 64
"""Maximum number of parts of a table that a transaction locks one by one, because PostgreSQL's memory for locks is
limited. A transaction locks the whole table for more."""

PART_ROWS = 20_000
"""Number of rows that are copied to a DuckDB file at once: 30 MB of vectors with 384 dimensions."""

NUL_STAND_IN = "\ufdd0"
"""Stored instead of the character NUL, which PostgreSQL cannot store in texts: a code point that Unicode reserves for
use within programs, so that no text has it."""

MOST_UNSORTED = 1000
"""Maximum number of keys of a read that are not searched for repeated ones: this takes longer than the query."""

FILE_ROWS = 256
"""Number of vectors in a file, for vectors that another warehouse had."""

PAUSE = 0.05
"""Mean seconds between two attempts of a transaction."""

SETTINGS = (
    f"SET search_path TO {SCHEMA}", "SET jit = off", "SET client_min_messages = error",
    # A connection whose client is cut off gives its locks back within half a minute.
    "SET tcp_keepalives_idle = 10", "SET tcp_keepalives_interval = 5", "SET tcp_keepalives_count = 4",
)  # fmt: skip

_CONFLICT = ("40001", "40P01")
_LOST = ("08", "57P")
_TIMEOUT, _FULL = "55P03", "53100"
_MIGRATION, _COMMAND, _IDENTITY = (("migration",), ("command",), ("identity",))


class _Session:
    """A connection that the present thread uses."""

    def __init__(self, connection: adbc.Connection) -> None:
        self.connection, self.in_transaction, self.usable = connection, False, True


Key = tuple[int, "PostgresWarehouse"]
"""Process and warehouse: a forked process must not use the connections of its parent."""


class _Held(threading.local):
    """The session of each warehouse that a block of the present thread uses."""

    def __init__(self) -> None:
        self.sessions: dict[Key, _Session] = {}


_HELD = _Held()
_IDLE: dict[Key, list[adbc.Connection]] = {}
_KNOWN: set["PostgresWarehouse"] = set()
"""Warehouses that could be reached: if one cannot be reached later, its server is being started again."""


class PostgresSchema(migration.Schema):
    """Tables of the catalogue in PostgreSQL."""

    misfits = (adbc.DataError, adbc.IntegrityError)

    def __init__(self, connection: adbc.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Execute a statement, and return its rows."""
        return _execute(self._connection, statement, values).rows()

    def version(self) -> tuple[int, str]:
        """Number and digest of the version of the tables; 0 and '' for an empty database."""
        if not self.execute("SELECT 1 WHERE to_regclass('schema_version') IS NOT NULL"):
            return 0, ""
        rows = self.execute(migration.LAST)
        return (rows[0][0], rows[0][1]) if rows else (0, "")

    def create(self, table: str) -> None:
        """Create a table of the catalogue unless it exists."""
        self.execute(catalogue.postgres_ddl(self.table(table)))

    def tables(self) -> list[str]:
        """Names of the tables in the schema."""
        query = "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY 1"
        return [name for (name,) in self.execute(query, [SCHEMA])]

    def found(self, table: str) -> dict[str, str]:
        """DuckDB's type of each column of a table; empty if there is no such table."""
        rows = self.execute(
            "SELECT attname::text, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute "
            "WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            [table],
        )
        return {
            name: f"{_duckdb_type(kind)} NOT NULL" if required else _duckdb_type(kind) for name, kind, required in rows
        }

    def keys(self) -> Mapping[str, list[str]]:
        """Columns of each table's primary key."""
        rows = self.execute(
            "SELECT conrelid::regclass::text, array_agg(attname::text ORDER BY place) FROM pg_constraint "
            "CROSS JOIN unnest(conkey) WITH ORDINALITY AS part(number, place) "
            "JOIN pg_attribute ON attrelid = conrelid AND attnum = number "
            "WHERE contype = 'p' AND connamespace = $1::regnamespace GROUP BY conrelid",
            [SCHEMA],
        )
        return {table.strip('"'): list(key) for table, key in rows}

    def table(self, name: str) -> catalogue.Table:
        """A table of the catalogue; vectors in files are represented by file, position and hash of the content."""
        return stored(catalogue.table(name))

    def type_name(self, duckdb_type: str) -> str:
        """PostgreSQL's name of a type."""
        return catalogue.postgres_type(duckdb_type)


class PostgresWarehouse(Warehouse):
    """Tables of the catalogue, in a schema of a PostgreSQL database.

    Every thread has a connection of its own while it reads or writes. Connections are kept, because opening one takes
    50 ms.

    Parameters
    ----------
    url
        `postgresql://user:password@host/database`.
    home
        Path of the home on this machine.
    vectors
        Path of a folder or URL of an object store for vectors; every machine must reach it.
    """

    url: str
    home: str
    vectors: str

    @property
    def folder(self) -> Path:
        """Absolute path of the home."""
        return Path(self.home).resolve()

    @property
    def name(self) -> str:
        """The URL without user and password."""
        parts = urlsplit(self.url)
        return f"postgresql://{parts.hostname or 'localhost'}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def read(
        self,
        table: str,
        keys: pl.DataFrame | None = None,
        columns: Sequence[str] | None = None,
        most: int | None = None,
    ) -> pl.DataFrame:
        """Read rows of a table by one query."""
        noted(table, keys)
        declared = catalogue.table(table)
        names = list(columns or declared.columns)
        rows = self._completed(table, self._rows(table, keys, names, most))
        return rows if rows.columns == names else rows.select(names)

    def _rows(self, table: str, keys: pl.DataFrame | None, names: Sequence[str], most: int | None) -> pl.DataFrame:
        """Read rows with the places of vectors instead of vectors."""
        declared, outside = catalogue.table(table), OUTSIDE.get(table)
        chosen = [*(name for name in names if name != outside), *(PLACE if outside in names else ())]
        selected, order = (", ".join(f't."{name}"' for name in columns) for columns in (chosen, declared.key))
        statement = f'SELECT {selected} FROM "{table}" t'
        values: list[object] = []
        if keys is not None:
            listed, columns = _listed(declared, keys.unique() if len(keys) > MOST_UNSORTED else keys)
            values += [[_without_nul(value) for value in column] for column in columns]
            statement += f" WHERE EXISTS (SELECT FROM {listed} WHERE {equal(keys.columns)})"
        statement += f" ORDER BY {order}" + ("" if most is None else f" LIMIT {most:d}")
        return self._repeated(lambda session: _execute(session.connection, statement, values))

    def _completed(self, table: str, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with vectors instead of their places, in the types that the catalogue declares."""
        if PLACE[0] in rows.columns:
            places = rows.select(pl.col(PLACE[0]).alias("file"), pl.col(PLACE[1]).alias("position"))
            rows = rows.drop(PLACE).with_columns(VectorFiles(place=self.vectors).get(places).alias(OUTSIDE[table]))
        declared = catalogue.table(table).columns
        types = pl.Schema({name: declared[name].polars for name in rows.columns})
        return _replaced(rows if rows.schema == types else rows.cast(types), NUL_STAND_IN, "\0")

    def _parts(self, table: str) -> Iterator[pl.DataFrame]:
        """All rows of a table in parts that fit into memory with their vectors; vectors of a file are together."""
        rows = self._rows(table, None, list(catalogue.table(table).columns), None)
        if table in OUTSIDE:
            rows = rows.sort(PLACE[0])
        for part in rows.iter_slices(PART_ROWS):
            yield self._completed(table, part)

    def write(self, replacements: Sequence[Replacement], run_id: str) -> None:
        """Carry out all replacements in one transaction.

        If the connection is lost during the commit, it is unknown whether the rows were written. They are then written
        again, which changes nothing if they were.
        """
        for replacement in replacements:
            check(replacement)
        prepared = [self._prepared(replacement) for replacement in replacements]
        entries = _encoded(changes.entries((table, keys) for table, _, keys in replacements), changes.LOG)
        # A removal may take the last entry from the log, from which the number follows. Others log late: no process
        # reads the last number while a transaction has logged and not ended.
        removal = any(table == changes.LOG for table, *_ in replacements)

        def act(connection: adbc.Connection) -> None:
            _lock(connection, {path for replacement in prepared for path in _paths(replacement)})
            if removal:
                _log(connection, entries, run_id)
            for given, replacement in zip(replacements, prepared, strict=True):
                for each in (replacement, *map(self._prepared, self._sums(given, self.read))):
                    _replace(connection, each, run_id)
            if not removal:
                _log(connection, entries, run_id)

        self._transacted(act)

    def last_change(self) -> int | None:
        """Number of the last write that is logged; None while others write."""

        def act(connection: adbc.Connection) -> int | None:
            alone = _execute(connection, "SELECT pg_try_advisory_xact_lock($1)", [_number((changes.LOG,))]).item()
            return int(_execute(connection, changes.LAST).item()) if alone else None

        return self._transacted(act)

    def is_last(self, number: int) -> bool:
        """Whether no later write than the one with a number is visible."""
        return self._repeated(lambda session: int(_execute(session.connection, changes.LAST).item()) == number)

    def changed(self, since: int) -> pl.DataFrame:
        """Entries of the log since a number."""
        return self._repeated(lambda session: _execute(session.connection, changes.SINCE, [since]))

    def forget_changes(self, number: int) -> None:
        """Remove entries from the log of changes."""
        self._transacted(lambda connection: _execute(connection, changes.FORGET, [number]))

    @contextmanager
    def consistently(self) -> Iterator[None]:
        """Read from one snapshot of the database until the block ends. No other process waits for it."""
        outer = _HELD.sessions.get((os.getpid(), self))
        if outer and outer.in_transaction:  # whose errors `_repeated` handles
            yield
            return
        isolation = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._explaining(), self._session() as session, _transaction(session, isolation):
            yield

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the lock of commands until the block ends. A lost connection loses the lock, and so ends the block with
        an error."""
        with self._explaining(), self._session() as session:
            _execute(session.connection, "SELECT pg_advisory_lock($1)::text", [_number(_COMMAND)])
            try:
                yield
            finally:
                try:
                    _execute(session.connection, "SELECT pg_advisory_unlock($1)", [_number(_COMMAND)])
                except adbc.Error:
                    session.usable = False

    def at_once(self, asset: str, models: Collection[str] | None, act: Callable[[], Result]) -> Result:
        """Call `act` in one transaction that holds the locks of the asset's states with these models."""
        whole = models is None or len(models) > MOST_LOCKS
        paths: set[Part] = {(STATES, asset)} if whole else {(STATES, asset, model) for model in models or ()}

        def locked(connection: adbc.Connection) -> Result:
            _lock(connection, paths)
            return act()

        return self._transacted(locked)

    def differences(self, table: str) -> pl.DataFrame:
        """Compare a table with its declaration."""
        return self._repeated(lambda session: migration.differences(PostgresSchema(session.connection), table))

    def state(self, corpus: str) -> pl.DataFrame:
        """The numbers of a corpus's rows and the times of their last changes, by table."""
        return self._repeated(lambda session: _execute(session.connection, catalogue.state_query(), [corpus]))

    def documents(self, tables: Sequence[str]) -> pl.DataFrame:
        """The documents of all corpora, each with a stamp that changes whenever rows about its passages change."""
        for table in ["source_text", *tables]:
            noted(table, None)
        query = catalogue.documents_query(tables, "hashtextextended(concat_ws(' ', {}), 0)")
        return self._repeated(lambda session: _execute(session.connection, query))

    def mark(self) -> StoreMark | None:
        """The mark that identifies the home; None if the warehouse has none yet."""
        query = "SELECT home, epoch, ledger FROM identity"
        rows = self._repeated(lambda session: _execute(session.connection, query))
        return StoreMark(*rows.row(0)) if len(rows) else None

    def set_mark(self, mark: StoreMark) -> None:
        """Replace the mark that identifies the home."""

        def act(connection: adbc.Connection) -> None:
            _lock(connection, {_IDENTITY})
            _execute(connection, "DELETE FROM identity")
            _execute(connection, "INSERT INTO identity VALUES ($1, $2, $3)", mark)

        self._transacted(act)

    def snapshot(self) -> Path:
        """Copy the warehouse to a DuckDB file in the home, and return the copy's path."""
        database = re.sub(r"[^\w.-]", "-", urlsplit(self.url).path.strip("/")) or SCHEMA
        copy = self.folder / f"{database}-snapshot.duckdb"
        self.folder.mkdir(parents=True, exist_ok=True)
        new = copy.with_name(f"{copy.stem}.{os.getpid()}.new")
        self.copy_to(new)
        move(new, copy)
        return copy

    def copy_to(self, place: Path) -> None:
        """Copy one state of all tables, with the vectors, to a DuckDB file. An error leaves no part of it behind."""
        place.unlink(missing_ok=True)
        try:
            with engine(place) as copy, self.consistently():
                copy.begin()
                migration.migrate(DuckDBSchema(copy), 0, str(place))
                for table in catalogue.tables():
                    for part in self._parts(table):
                        copy.register("rows", part.to_arrow())
                        copy.execute(f'INSERT INTO "{table}" BY NAME FROM rows')
                if mark := self.mark():
                    copy.execute("INSERT INTO identity VALUES ($1, $2, $3)", list(mark))
                copy.commit()
            sync(place)
        except BaseException:
            place.unlink(missing_ok=True)
            raise

    @contextmanager
    def founded(self) -> Iterator[None]:
        """A block in whose transaction the tables are created, in a database that lacks them. All reads and writes of
        this thread in the block belong to the transaction."""
        key = os.getpid(), self
        session = _HELD.sessions[key] = _Session(self._unprepared())
        try:
            with self._explaining(), _migrating(session.connection), _transaction(session):
                schema = PostgresSchema(session.connection)
                schema.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                migration.migrate(schema, 0, self.name)
                yield
        finally:
            del _HELD.sessions[key]
            _close(session.connection)

    def take_over(self, table: str, rows: pl.DataFrame) -> None:
        """Add rows of another warehouse to a table, with their stamps; called within `founded`."""
        if table in OUTSIDE:
            rows = rows.sort("updated_at")  # vectors that were stored together stay together
        for part in rows.iter_slices(FILE_ROWS if table in OUTSIDE else PART_ROWS):
            self._transacted(partial(_append, replacement=self._prepared(Replacement(table, part, None))))

    def _prepared(self, replacement: Replacement) -> Replacement:
        """The replacement as PostgreSQL can store it."""
        table, rows, partitions = self._with_files(replacement)
        return Replacement(table, _encoded(rows, table), None if partitions is None else _encoded(partitions, table))

    def _with_files(self, replacement: Replacement) -> Replacement:
        """The replacement with vectors replaced by their places in files, which are written first."""
        table, rows, partitions = replacement
        if (column := OUTSIDE.get(table)) is None:
            return replacement
        vectors = rows[column].cast(catalogue.table(table).columns[column].polars)
        if vectors.null_count():
            raise BadInput(table, column, f'null value in column "{column}"', UNWRITTEN)
        hashes = [blake2b(vector.to_numpy().tobytes(), digest_size=16).hexdigest() for vector in vectors]
        file = VectorFiles(place=self.vectors).put(vectors) if len(vectors) else ""
        places = {PLACE[0]: pl.lit(file), PLACE[1]: pl.int_range(pl.len(), dtype=pl.Int32)}
        placed = rows.drop(column).with_columns(pl.Series(HASH, hashes, dtype=pl.String), **places)
        return Replacement(table, placed, partitions)

    def _transacted(self, act: Callable[[adbc.Connection], Result]) -> Result:
        """Return what `act` returns, in the transaction of this thread's block or in one of its own."""

        def begun(session: _Session) -> Result:
            if session.in_transaction:
                return act(session.connection)
            with _transaction(session):
                return act(session.connection)

        return self._repeated(begun)

    def _repeated(self, act: Callable[[_Session], Result]) -> Result:
        """Return what `act` returns. Repeat it after a conflict of transactions, and, outside of blocks, after the
        connection was lost: a block depends on its connection."""
        outer = _HELD.sessions.get((os.getpid(), self))
        if outer and outer.in_transaction:
            return act(outer)
        deadline = time.monotonic() + self.wait_seconds
        while True:
            try:
                with self._session() as session:
                    return act(session)
            except adbc.Error as error:
                passing = _has_conflict(error) or (_is_lost(error) and outer is None)
                if not passing or time.monotonic() > deadline:
                    raise self._explained(error) from error
            if outer is None:
                _forget_idle((os.getpid(), self))
            time.sleep(random.uniform(0, 2 * PAUSE))

    @contextmanager
    def _session(self) -> Iterator[_Session]:
        """The session of this thread's block, or another one for the time of this block."""
        key = os.getpid(), self
        if key in _HELD.sessions:
            yield _HELD.sessions[key]
            return
        session = _HELD.sessions[key] = _Session(self._connected())
        try:
            yield session
        except BaseException as error:
            session.usable &= isinstance(error, Exception) and not _is_lost(error)
            raise
        finally:
            del _HELD.sessions[key]
            if session.usable:
                _IDLE.setdefault(key, []).append(session.connection)
            else:
                _close(session.connection)

    def _connected(self) -> adbc.Connection:
        """A connection that is not in use, or a new one, to a database that is migrated to the declared schema."""
        with suppress(KeyError, IndexError):
            return _IDLE[os.getpid(), self].pop()
        connection = self._unprepared()
        try:
            _prepare(connection, self.name)
        except BaseException:
            _close(connection)
            raise
        _KNOWN.add(self)
        return connection

    def _unprepared(self) -> adbc.Connection:
        """A new connection, to a database that may lack the tables."""
        try:
            connection = adbc.connect(_with_defaults(self.url), autocommit=True)
        except adbc.Error as error:
            if self in _KNOWN:
                raise
            raise BadInput(
                self.name, "", f"cannot be reached ({_reason(error)})", "start the server, or correct the URL"
            ) from error
        try:
            for setting in (*SETTINGS, f"SET lock_timeout = {int(1000 * self.wait_seconds)}"):
                _execute(connection, setting)
        except BaseException:
            _close(connection)
            raise
        return connection

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Raise the errors of a block of this thread with an explanation."""
        try:
            yield
        except adbc.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: adbc.Error) -> Exception:
        """The error to raise: BadInput for what a user can mend, otherwise the given error."""
        if error.sqlstate == _TIMEOUT:
            problem = f"another process has been writing to it for {self.wait_seconds:g} s"
            return BadInput(self.name, "", problem, "wait for that process or end it")
        if error.sqlstate == _FULL:
            problem = f"cannot be written ({_reason(error)})"
            return BadInput(self.name, "", problem, "free space on the server's disk, then run again")
        if _has_conflict(error):
            problem = f"other processes have been in the way of a write for {self.wait_seconds:g} s"
            return BadInput(self.name, "", problem, "run again")
        if _is_lost(error):
            problem = f"the connection was lost ({_reason(error)})"
            return UnreachableError(self.name, "", problem, "run again when the server can be reached")
        unexpected: Exception = error
        return unexpected


def stored(table: catalogue.Table) -> catalogue.Table:
    """A table as PostgreSQL has it: a vector is represented by the hash of its content, a file and a position in it."""
    if (outside := OUTSIDE.get(table.name)) is None:
        return table
    text = table.columns[outside].but(type="VARCHAR")
    places = [text.but(name=HASH), text.but(name=PLACE[0]), text.but(name=PLACE[1], type="INTEGER")]
    columns = {name: column for name, column in table.columns.items() if name not in (outside, *catalogue.PROVENANCE)}
    columns |= {column.name: column for column in places}
    columns |= {name: table.columns[name] for name in catalogue.PROVENANCE}
    return table.model_copy(update={"columns": columns})


def _with_defaults(url: str) -> str:
    """The URL with the parameters of LINK that it does not give."""
    parts = urlsplit(url)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    return urlunsplit(parts._replace(query=urlencode({**LINK, **given}, safe="/")))


def _execute(connection: adbc.Connection, statement: str, values: Sequence[object] = ()) -> pl.DataFrame:
    """Execute a statement, and return its rows; no columns for a statement that returns none."""
    with connection.cursor() as cursor:
        cursor.execute(statement, list(values) or None)
        # A statement with values is executed when its rows are fetched, even if it returns none.
        return pl.DataFrame(pl.from_arrow(cursor.fetch_arrow_table()))


@contextmanager
def _transaction(session: _Session, isolation: str = "") -> Iterator[None]:
    """A transaction of a session, committed at the end of the block and rolled back if the block fails.

    By default, each statement sees what was committed before it.
    """
    _execute(session.connection, f"BEGIN {isolation}")
    session.in_transaction = True
    try:
        yield
        _execute(session.connection, "COMMIT")
    except BaseException:
        try:
            _execute(session.connection, "ROLLBACK")
        except adbc.Error:
            session.usable = False
        raise
    finally:
        session.in_transaction = False


def _prepare(connection: adbc.Connection, where: str) -> None:
    """Migrate a database to the declared schema, while no other process does."""
    schema = PostgresSchema(connection)
    if migration.is_current(schema, where):
        return
    with _migrating(connection), _transaction(_Session(connection)):
        schema.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        if not migration.is_current(schema, where):
            number, _ = schema.version()
            migration.migrate(schema, number, where)


@contextmanager
def _migrating(connection: adbc.Connection) -> Iterator[None]:
    """Keep others from migrating the database until the block ends. A connection whose block fails has to be closed.

    The lock is taken before a transaction begins. Within one, PostgreSQL could answer from its cache that a table is
    still missing after it has waited for the process that created it.
    """
    _execute(connection, "SELECT pg_advisory_lock($1)::text", [_number(_MIGRATION)])
    yield
    _execute(connection, "SELECT pg_advisory_unlock($1)", [_number(_MIGRATION)])


def _paths(replacement: Replacement) -> set[Part]:
    """The parts of tables that a replacement locks: the table, or its parts with certain values of the first columns in
    GRANULES."""
    table, _, partitions = replacement
    if partitions is None:
        return {(table,)}
    columns = list(takewhile(partitions.columns.__contains__, GRANULES.get(table, ("model",))))
    while columns and partitions.n_unique(columns) > MOST_LOCKS:
        columns.pop()
    return (
        {(table, *map(str, row)) for row in partitions.select(columns).unique().iter_rows()} if columns else {(table,)}
    )


def _log(connection: adbc.Connection, entries: pl.DataFrame, run_id: str) -> None:
    """Log a write, with the next number.

    Writers at the same time may take the same number. They share a lock, and the last number is only read while nobody
    holds it: a process that has read the number sees all entries up to it.
    """
    if entries.is_empty():
        return
    _execute(connection, "SELECT pg_advisory_xact_lock_shared($1)::text", [_number((changes.LOG,))])
    columns = [entries[name].to_list() for name in entries.columns]
    _execute(
        connection,
        f"INSERT INTO {changes.LOG} (source, model, passage, task, number, fingerprint, run_id, updated_at) "
        "SELECT source, model, passage, task, last.number, '', $5, $6 "
        "FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS entry(source, model, passage, task), "
        f"(SELECT coalesce(max(number), 0) + 1 AS number FROM {changes.LOG}) AS last "
        "ON CONFLICT (source, model, passage, task) "
        "DO UPDATE SET number = excluded.number, run_id = excluded.run_id, updated_at = excluded.updated_at",
        [*columns, run_id, datetime.now(UTC).replace(tzinfo=None)],
    )


def _lock(connection: adbc.Connection, paths: Set[Part]) -> None:
    """Lock parts of tables until the transaction ends.

    A transaction that locks a part shares the whole with transactions that lock other parts. All transactions take
    their locks in the same order, states first.
    """
    wholes = {path[:end] for path in paths for end in range(1, len(path))}
    ordered = sorted(paths | wholes, key=lambda path: (path[0] != STATES, path))
    _execute(
        connection,
        "SELECT CASE WHEN alone THEN pg_advisory_xact_lock(number)::text "
        "ELSE pg_advisory_xact_lock_shared(number)::text END "
        "FROM unnest($1::bigint[], $2::boolean[]) AS part(number, alone)",
        [[_number(path) for path in ordered], [path in paths for path in ordered]],
    )


def _number(path: Part) -> int:
    """The number of an advisory lock."""
    return int.from_bytes(blake2b(repr((SCHEMA, *path)).encode(), digest_size=8).digest(), signed=True)


def _replace(connection: adbc.Connection, replacement: Replacement, run_id: str) -> None:
    """Replace the rows of partitions. A stored row that equals the new row stays with its stamps; only its fingerprint
    is updated."""
    table, rows, partitions = replacement
    declared = stored(catalogue.table(table))
    listed, values = ("", []) if partitions is None else _listed(declared, partitions.unique().drop_nulls())
    replaced = f"EXISTS (SELECT FROM {listed} WHERE {equal(partitions.columns)})" if partitions is not None else "TRUE"
    if rows.is_empty():
        _execute(connection, f'DELETE FROM "{table}" t WHERE {replaced}', values)
        return
    # After the deletion, a row with a new row's key equals the new row, or belongs to another partition.
    same_key = equal([*declared.key, *([] if partitions is None else partitions.columns)])
    content = [column for name, column in declared.content.items() if name not in UNCOMPARED]
    same = " AND ".join(f't."{each.name}" IS NOT DISTINCT FROM {_value(each)}' for each in content)
    names = ", ".join(f'"{name}"' for name in declared.content)
    new_values = ", ".join(map(_value, declared.content.values()))
    stamps = [run_id, datetime.now(UTC).replace(tzinfo=None)]
    try:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("incoming", _ingestible(rows, declared).to_arrow(), mode="create", temporary=True)
        _execute(
            connection,
            f'DELETE FROM "{table}" t WHERE {replaced} AND NOT EXISTS '
            f"(SELECT FROM incoming keys WHERE {equal(declared.key)} AND {same})",
            values,
        )
        _execute(
            connection,
            f'UPDATE "{table}" t SET fingerprint = keys.fingerprint FROM incoming keys '
            f"WHERE {same_key} AND t.fingerprint <> keys.fingerprint",
        )
        _execute(
            connection,
            f'INSERT INTO "{table}" ({names}, run_id, updated_at) SELECT {new_values}, $1, $2 FROM incoming keys '
            f'WHERE NOT EXISTS (SELECT FROM "{table}" t WHERE {same_key})',
            stamps,
        )
        _execute(connection, "DROP TABLE incoming")
    except (adbc.DataError, adbc.IntegrityError) as error:
        raise BadInput(table, "", _reason(error), UNWRITTEN) from error


def _append(connection: adbc.Connection, replacement: Replacement) -> None:
    """Insert rows with their stamps."""
    table, rows, _ = replacement
    columns = stored(catalogue.table(table)).columns
    names, values = ", ".join(f'"{name}"' for name in columns), ", ".join(map(_value, columns.values()))
    with connection.cursor() as cursor:
        cursor.adbc_ingest("incoming", rows.select(*columns).to_arrow(), mode="create", temporary=True)
    _execute(connection, f'INSERT INTO "{table}" ({names}) SELECT {values} FROM incoming keys')
    _execute(connection, "DROP TABLE incoming")


def _listed(table: catalogue.Table, keys: pl.DataFrame) -> tuple[str, list[list[object]]]:
    """SQL for a list of keys, named `keys`, and the values of its parameters: a list for each column."""
    arrays = ", ".join(
        f"${place}::{catalogue.postgres_type(table.columns[name].type)}[]" for place, name in enumerate(keys.columns, 1)
    )
    names = ", ".join(f'"{name}"' for name in keys.columns)
    return f"unnest({arrays}) AS keys({names})", [column.to_list() for column in keys]


def _ingestible(rows: pl.DataFrame, table: catalogue.Table) -> pl.DataFrame:
    """Rows with types that PostgreSQL has. The numbers in a column may have more digits than its declared type."""
    schema = {name: pl.Int64() if rows.schema[name].is_integer() else column.polars
              for name, column in table.content.items()}  # fmt: skip
    return rows.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def _value(column: catalogue.Column) -> str:
    """SQL for the value of a column in a new row."""
    return f'keys."{column.name}"::{catalogue.postgres_type(column.type)}'


def _encoded(rows: pl.DataFrame, table: str) -> pl.DataFrame:
    """Rows with NUL_STAND_IN instead of the character NUL. Raise BadInput for a text that contains NUL_STAND_IN."""
    for name in _with_character(rows, NUL_STAND_IN):
        problem = "contains the character U+FDD0, which stands for NUL in PostgreSQL"
        raise BadInput(table, name, problem, f"remove the character from the text; {UNWRITTEN}")
    return _replaced(rows, "\0", NUL_STAND_IN)


def _replaced(rows: pl.DataFrame, character: str, other: str) -> pl.DataFrame:
    """Rows with one character replaced in all texts."""
    text, names = pl.element(), _with_character(rows, character)
    if not names:
        return rows
    return rows.with_columns(
        pl.col(name).str.replace_all(character, other, literal=True)
        if rows.schema[name] == pl.String
        else pl.col(name).list.eval(text.str.replace_all(character, other, literal=True))
        for name in names
    )


def _without_nul(value: object) -> object:
    return value.replace("\0", NUL_STAND_IN) if isinstance(value, str) else value


def _with_character(rows: pl.DataFrame, character: str) -> list[str]:
    """Names of the columns with a text that contains a character."""
    if rows.is_empty():
        return []
    texts = pl.col(pl.String), pl.col(pl.List(pl.String)).explode(empty_as_null=False, keep_nulls=False)
    found = rows.select(text.str.contains(character, literal=True).any() for text in texts)
    return [column.name for column in found if column.any()]


def _duckdb_type(postgres_type: str) -> str:
    """DuckDB's name of one of PostgreSQL's types."""
    inner = postgres_type.removesuffix("[]")
    names = {name: duckdb_name for duckdb_name, name in catalogue.POSTGRES.items()}
    plain = inner.removesuffix(" without time zone")
    return names.get(plain, plain.upper()) + postgres_type[len(inner) :]


def _has_conflict(error: adbc.Error) -> bool:
    return error.sqlstate in _CONFLICT


def _is_lost(error: BaseException) -> bool:
    """Whether an error says that the connection was lost, or could not be made."""
    if not isinstance(error, adbc.Error):
        return False
    return str(error.sqlstate).startswith(_LOST) if error.sqlstate else isinstance(error, adbc.OperationalError)


def _reason(error: adbc.Error) -> str:
    """The server's sentence in an error, without the statement."""
    found = re.search(r"(?:ERROR|FATAL|connect):\s+(.*)", str(error))
    return found[1] if found else str(error).splitlines()[0]


def _forget_idle(key: Key) -> None:
    """Close the connections that are not in use: they may be lost, too."""
    for connection in _IDLE.pop(key, []):
        _close(connection)


def _close(connection: adbc.Connection) -> None:
    with suppress(adbc.Error):
        connection.close()
