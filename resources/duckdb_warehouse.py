"""The warehouse of one machine: a DuckDB file, its transactions and its locks.

Here: all SQL, files and locks of DuckDB. Not here: what every warehouse promises (warehouse), versions of the tables
(migration).
"""

import atexit
import os
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from threading import Event, RLock, Thread
from typing import IO

import duckdb
import polars as pl

from resources import catalogue, changes, disk, locks, migration
from resources.duckdb_files import BLOCK, DuckDBSchema, engine, quoted, remove
from resources.errors import BadInput, DamagedError
from resources.identity import StoreMark
from resources.read_cache import ReadCache, query
from resources.warehouse import UNWRITTEN, Replacement, Result, Warehouse, check, equal, noted
from resources.whole_files import sync

LOST = "merge it with a backup by `variorum restore FOLDER`, or copy what can be read with `variorum rebuild`"

FEW = 50
"""Maximum number of keys that a query lists. A query joins larger sets of keys."""

SLACK = 16 << 20
"""Minimum number of free bytes for which `compact` rewrites a file."""

# A lock held while a file is open, because the threads of a process would share DuckDB's open file, and conflicting
# transactions fail instead of waiting. It is reentrant, so a thread may open the file within an outer block.
TURN = RLock()
_OPEN: set[str] = set()

# By process id: the attached file, and the time of last use of each file that is kept open. Keyed by process, because a
# forked process has no file open.
_ATTACHED: dict[int, str] = {}
_KEPT: dict[tuple[int, str], float] = {}

# What this process has read from the file that it attached last.
_READS = ReadCache()

IDLE = 0.5
"""A file that is kept open is closed after this many seconds without use, so that programs that do not use this class
can open it."""

PATIENCE = 0.02
"""Seconds between two attempts to open or lock a file that another process has open."""

_DAMAGE = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)

_INTERRUPTED = "Query interrupted"
"""Message of the RuntimeError by which DuckDB answers Ctrl-C during a query, in place of KeyboardInterrupt."""

_INTERRUPTIONS = ("KeyboardInterrupt", "DagsterExecutionInterruptedError")
"""Names of exceptions that DuckDB puts into the message of its own error, if a signal came while it read a frame."""

_UNWRITABLE = {
    "Could not write": disk.SPACE, "No space left": disk.SPACE,
    "Read-only file system": disk.RIGHTS, "Permission denied": disk.RIGHTS,
}  # fmt: skip
"""Words of DuckDB about a disk that cannot be written, and the remedies."""

BEFORE_MIGRATION = "before-migration"
"""Subfolder of the home with a copy of the warehouse from before the last migration."""

# A lock held while writing, and the paths of the warehouses that the holding thread may write to.
WRITER = RLock()
_WRITING: set[str] = set()


class DuckDBWarehouse(Warehouse):
    """Tables of the catalogue, in one DuckDB file.

    While one process has a DuckDB file open for writing, no other process can open it. So a connection lasts for one
    transaction only, and a process waits while another one has the file open.

    Parameters
    ----------
    path
        The DuckDB file; created on first use.
    """

    path: str

    @property
    def folder(self) -> Path:
        """Absolute path of the home: the folder that contains the file."""
        return Path(self.path).resolve().parent

    @property
    def name(self) -> str:
        """The path of the file."""
        return self.path

    def read(
        self,
        table: str,
        keys: pl.DataFrame | None = None,
        columns: Sequence[str] | None = None,
        most: int | None = None,
    ) -> pl.DataFrame:
        """Read rows from the file, or from the cache of what this process has read since it opened the file."""
        noted(table, keys)
        asked = query(table, keys, columns, most)
        with self._opened():
            kept = _READS.get(asked)
            if kept is None:
                kept = self._read(table, keys, columns, most)
                _READS.put(asked, kept)
            return kept

    def _read(
        self, table: str, keys: pl.DataFrame | None, columns: Sequence[str] | None, most: int | None
    ) -> pl.DataFrame:
        """Read like `read`, but from the file in every case, not from the cache."""
        with self._connect() as connection:
            return _rows(connection, table, keys, columns, most)

    def differences(self, table: str) -> pl.DataFrame:
        """Compare a table with its declaration."""
        with self._connect() as connection:
            return migration.differences(DuckDBSchema(connection), table)

    def state(self, corpus: str) -> pl.DataFrame:
        """The numbers of a corpus's rows and the times of their last changes, by table."""
        with self._connect() as connection:
            rows: pl.DataFrame = connection.sql(catalogue.state_query(), params=[corpus]).pl()
            return rows

    def documents(self, tables: Sequence[str]) -> pl.DataFrame:
        """The documents of all corpora, each with a stamp that changes whenever rows about its passages change."""
        for table in ["source_text", *tables]:
            noted(table, None)
        with self._connect() as connection:
            rows: pl.DataFrame = connection.sql(catalogue.documents_query(tables, "hash({})")).pl()
            return rows

    def mark(self) -> StoreMark | None:
        """The mark that identifies the home; None if the warehouse has none yet."""
        with self._connect() as connection:
            row = connection.execute("SELECT home, epoch, ledger FROM identity").fetchone()
            return StoreMark(*row) if row else None

    def set_mark(self, mark: StoreMark) -> None:
        """Replace the mark that identifies the home."""
        with self.exclusively(), self._connect() as connection:
            connection.begin()
            connection.execute("DELETE FROM identity")
            connection.execute("INSERT INTO identity VALUES (?, ?, ?)", mark)
            connection.commit()

    def snapshot(self) -> Path:
        """Copy the warehouse to `<name>-snapshot.duckdb`, unless the copy is up to date, and return the copy's path."""
        place = Path(self.path)
        copy, new = (place.with_name(f"{place.stem}-snapshot{end}") for end in (".duckdb", ".new"))
        with self._connect() as connection:
            connection.execute("CHECKPOINT")  # merges what a killed process left in the write-ahead log
            written = place.stat().st_mtime_ns
            if copy.exists() and copy.stat().st_mtime_ns == written:
                return copy
            _copy(connection, new)
            os.utime(new, ns=(written, written))
            new.replace(copy)
        return copy

    def compact(self, slack: int = SLACK) -> bool:
        """Rewrite the file if at least half of it and at least `slack` bytes are free, or if an earlier version of the
        project created it with larger blocks; return whether it was rewritten.

        DuckDB reuses free blocks, but gives space back to the disk only for blocks at the end of the file.
        """
        new = Path(f"{self.path}.compact")
        with self.exclusively(), TURN:
            if self.path in _OPEN:  # an outer block would go on writing to the former file
                return False
            with self._connect() as connection:
                connection.execute("CHECKPOINT")
                size, total, free = connection.execute(
                    "SELECT block_size, total_blocks, free_blocks FROM pragma_database_size() "
                    "WHERE database_name = 'warehouse'"
                ).fetchall()[0]
                if size == BLOCK and (size * free < slack or 2 * free < total):
                    return False
                _copy(connection, new)
                sync(new)
                new.replace(self.path)  # while the former file is open, and so locked, no other process writes to it
            _detach()
        return True

    def copy_to(self, place: Path) -> None:
        """Copy the warehouse to a file in one transaction, and sync the file to disk."""
        with self._connect() as connection:
            _copy(connection, place)
        sync(place)

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the write lock until the block ends, so that rows read in it stay current. Others can still read."""
        with WRITER:
            if self.path in _WRITING:
                yield
                return
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            with Path(f"{self.path}.lock").open("w") as lock:  # released when the process ends, however it ends
                deadline = time.monotonic() + self.wait_seconds
                while not locks.tried(lock):
                    if time.monotonic() > deadline:
                        raise BadInput(
                            self.path, "", f"another process has been writing to it for {self.wait_seconds:g} s",
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
        """Keep the file open between reads and writes in the block: opening it takes 10 ms, longer than most reads.

        The file is closed as soon as another process waits for it, and after `IDLE` seconds without use. The next read
        or write opens it again.
        """
        with self._kept_open(_close):
            yield

    @contextmanager
    def consistently(self) -> Iterator[None]:
        """Hold the write lock until the block ends, and keep the file open while no other process waits for it."""
        with self.exclusively(), self._kept_open(_detach):
            yield

    @contextmanager
    def _kept_open(self, close: Callable[[], None]) -> Iterator[None]:
        """Keep the file open like `kept_open`; call `close` at the end of an outermost block."""
        key = os.getpid(), self.path
        if key in _KEPT:
            yield
            return
        _KEPT[key] = time.monotonic()
        ended = Event()
        closer = Thread(target=self._close_for_others, args=(ended,), daemon=True)
        closer.start()
        try:
            yield
        finally:
            ended.set()
            closer.join()
            with TURN:
                del _KEPT[key]
                if not _OPEN:
                    close()

    def _close_for_others(self, ended: Event) -> None:
        while not ended.wait(5 * PATIENCE):  # each check takes the interpreter lock from the working thread
            if TURN.acquire(blocking=False):  # otherwise, a read or write is in progress
                try:
                    idle = time.monotonic() - _KEPT[os.getpid(), self.path]
                    if _ATTACHED.get(os.getpid()) == self.path and (idle > IDLE or self._wanted()):
                        _detach()
                finally:
                    TURN.release()

    def at_once(self, asset: str, models: Collection[str] | None, act: Callable[[], Result]) -> Result:
        """Call `act` while this process holds the write lock and has the file open: no other process reads or writes.

        Keeping the file open saves 10 ms per read or write.
        """
        with self.exclusively(), self._opened():
            return act()

    def write(self, replacements: Sequence[Replacement], run_id: str) -> None:
        """Carry out all replacements in one transaction."""
        for replacement in replacements:
            check(replacement)
        with self.exclusively(), self._connect() as connection:
            connection.begin()
            # Before the replacements: a removal may take the last entry from the log, from which the number follows.
            _log(connection, changes.entries((table, keys) for table, _, keys in replacements), run_id)
            _READS.forget(changes.LOG, None)
            for replacement in replacements:
                for each in (replacement, *self._sums(replacement, partial(_rows, connection))):
                    _replace(connection, each, run_id)
                    _READS.forget(each.table, each.partitions)
            connection.commit()

    def last_change(self) -> int:
        """Number of the last write that is logged."""
        with self._connect() as connection:
            ((number,),) = connection.execute(changes.LAST).fetchall()
            return int(number)

    def is_last(self, number: int) -> bool:
        """Whether nothing was written since the write with a number."""
        return self.last_change() == number

    def changed(self, since: int) -> pl.DataFrame:
        """Entries of the log since a number."""
        with self._connect() as connection:
            rows: pl.DataFrame = connection.sql(changes.SINCE, params=[since]).pl()
            return rows

    def forget_changes(self, number: int) -> None:
        """Remove entries from the log of changes."""
        with self.exclusively(), self._connect() as connection:
            connection.execute(changes.FORGET, [number])

    @contextmanager
    def _connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Connect to the file, and migrate it to the declared schema. Closing rolls back uncommitted changes."""
        with self._opened(), _engine(os.getpid()).cursor() as connection:
            connection.execute("USE warehouse")
            try:
                yield connection
            except duckdb.Error as error:
                if any(name in str(error) for name in _INTERRUPTIONS):
                    raise KeyboardInterrupt from error
                raise self._explained(error) from error
            except RuntimeError as error:
                if str(error) == _INTERRUPTED:
                    raise KeyboardInterrupt from error
                raise

    @contextmanager
    def _opened(self) -> Iterator[None]:
        """Keep the file open until the outermost `_opened` block ends. Within a `kept_open` block, it stays open
        longer."""
        with TURN:
            if self.path in _OPEN:
                yield
                return
            key = os.getpid(), self.path
            if _ATTACHED.get(os.getpid()) != self.path:
                self._attach()
            _OPEN.add(self.path)
            try:
                yield
            finally:
                _OPEN.remove(self.path)
                if key in _KEPT and not self._wanted():
                    _KEPT[key] = time.monotonic()
                else:
                    _detach()

    def _explained(self, error: duckdb.Error) -> Exception:
        """The error to raise: BadInput for a disk that cannot be written, DamagedError for a damaged file, otherwise
        the given error."""
        if fault := self._unwritable(error):
            return fault
        if not (isinstance(error, _DAMAGE) or "Corrupt" in str(error)):
            return error
        _ATTACHED.pop(os.getpid(), None)
        _close()  # DuckDB may refuse to continue with it
        return DamagedError(self.path, "", f"is damaged ({_first_line(error)})", LOST)

    def _unwritable(self, error: duckdb.Error) -> BadInput | None:
        for words, remedy in _UNWRITABLE.items():
            if words in str(error):
                return BadInput(self.path, "", f"cannot be written ({_first_line(error)})", remedy)
        return None

    def _attach(self) -> None:
        """Open the file, and migrate it to the declared schema."""
        if not _OPEN:
            _detach()  # closes another file that is kept open
        if self._wanted():
            time.sleep(2 * PATIENCE)  # lets the waiting process go first
        with _engine(os.getpid()).cursor() as connection:
            self._open(connection)
            _ATTACHED[os.getpid()] = self.path
            if _READS.state is None or _READS.state != _state(self.path):
                _READS.clear()
            _READS.state = None
            connection.execute("USE warehouse")
            try:
                _prepare(connection, self.path)
            except BaseException as error:
                connection.close()
                _detach()
                if isinstance(error, duckdb.Error):
                    raise self._explained(error) from error
                raise

    def _wanted(self) -> bool:
        """Whether another process waits for the file."""
        with suppress(FileNotFoundError), self._queue_file("r") as queue_file:
            return not locks.tried(queue_file)
        return False

    def _queue_file(self, mode: str) -> IO[str]:
        """Open the file on which processes hold a shared lock while they wait for the warehouse."""
        return Path(f"{self.path}.wanted").open(mode)

    def _create(self) -> None:
        """Create the file atomically, so that no other process opens an incomplete one."""
        place = Path(self.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_name(f"{place.name}.{uuid.uuid4()}")
        engine(new).close()
        with suppress(FileExistsError):
            os.link(new, place)
        new.unlink()

    def _open(self, connection: duckdb.DuckDBPyConnection) -> None:
        if not Path(self.path).exists():
            self._create()
        if not self._tried(connection):
            return
        deadline = time.monotonic() + self.wait_seconds
        with self._queue_file("w") as queue_file:
            locks.shared(queue_file)
            while refusal := self._tried(connection):
                if time.monotonic() > deadline:
                    raise BadInput(
                        self.path, "", f"another process has had it open for {self.wait_seconds:g} s ({refusal})",
                        "wait for that process or end it",
                    )  # fmt: skip
                time.sleep(PATIENCE)

    def _tried(self, connection: duckdb.DuckDBPyConnection) -> str:
        """Try to open the file; return '', or DuckDB's message if another process has it open."""
        try:
            connection.execute(f"ATTACH {quoted(self.path)} AS warehouse")
        except duckdb.Error as error:
            if "Could not set lock" in str(error):
                return _first_line(error)
            raise self._unwritable(error) or DamagedError(
                self.path, "", f"cannot be opened as a warehouse ({_first_line(error)})",
                LOST,
            ) from error  # fmt: skip
        return ""


def _detach() -> None:
    """Close the file that this process has open, if any."""
    if path := _ATTACHED.pop(os.getpid(), None):
        instance = _engine(os.getpid())
        with suppress(duckdb.Error, OSError):
            instance.execute("CHECKPOINT warehouse")  # what closing would do, but no other process can write yet
            _READS.state = _state(path)
        with suppress(duckdb.IOException):  # disk full: committed rows stay in the write-ahead log
            instance.execute("DETACH warehouse")


def _state(path: str) -> object:
    """What differs after every write to a file by any process; None while the file has a write-ahead log."""
    status = os.stat(path)
    return None if Path(f"{path}.wal").exists() else (path, status.st_ino, status.st_ctime_ns, status.st_size)


def _close() -> None:
    """Close the file that this process has open, if any, and its DuckDB instance, which grows with each write."""
    _detach()
    instance = _engine(os.getpid())
    instance.close()
    atexit.unregister(instance.close)
    _engine.cache_clear()


@cache
def _engine(process: int) -> duckdb.DuckDBPyConnection:
    """The DuckDB instance of a process. The instance is kept, because starting DuckDB takes 20 ms, but attaching a file
    only 3 ms.

    A forked process lacks its parent's threads, so it starts another instance.
    """
    instance = engine()
    atexit.register(instance.close)
    return instance


def _rows(
    connection: duckdb.DuckDBPyConnection, table: str, keys: pl.DataFrame | None = None,
    columns: Sequence[str] | None = None, most: int | None = None,
) -> pl.DataFrame:  # fmt: skip
    """Read rows like `Warehouse.read`, as a connection sees them."""
    declared = catalogue.table(table)
    chosen = ", ".join(f't."{name}"' for name in columns or declared.columns)
    order = ", ".join(f't."{name}"' for name in declared.key)
    limit = "" if most is None else f"LIMIT {most:d}"
    condition, values = "", []
    if keys is not None and keys.width == 1 and 0 < len(keys) <= FEW:  # three times as fast as a join
        values = keys.to_series().to_list()
        condition = f'WHERE t."{keys.columns[0]}" IN ({", ".join("?" for _ in values)})'
    elif keys is not None:
        connection.register("keys", keys.unique().to_arrow())
        condition = f"SEMI JOIN keys ON {equal(keys.columns)}"
    statement = f'SELECT {chosen} FROM "{table}" t {condition} ORDER BY {order} {limit}'
    rows: pl.DataFrame = connection.sql(statement, params=values).pl()
    return rows


_AFTER_REMOVALS = "(SELECT greatest(?::TIMESTAMP, max(removed_at) + INTERVAL 1 MICROSECOND) FROM removal)"
"""The present time, or the moment after the last removal if the clock has been set back since: a repair takes what is
stored up to a removal for removed."""


def _replace(connection: duckdb.DuckDBPyConnection, replacement: Replacement, run_id: str) -> None:
    """Replace the rows of partitions. A stored row that equals the new row stays with its stamps; only its fingerprint
    is updated."""
    table, rows, partitions = replacement
    replaced = "TRUE"
    if partitions is not None:
        connection.register("partitions", partitions.to_arrow())
        replaced = f"EXISTS (FROM partitions keys WHERE {equal(partitions.columns)})"
    if rows.is_empty():
        connection.execute(f'DELETE FROM "{table}" t WHERE {replaced}')
        return
    connection.register("incoming", rows.to_arrow())
    names, same_key = ", ".join(f'"{name}"' for name in rows.columns), equal(catalogue.table(table).key)
    added = "incoming t"
    try:
        if connection.execute(f'SELECT 1 FROM "{table}" t SEMI JOIN incoming keys ON {same_key} LIMIT 1').fetchall():
            _compare(connection, table)
            replaced += " AND rowid NOT IN (SELECT stored FROM equal)"
            added += f" ANTI JOIN equal keys ON {same_key}"
        connection.execute(f'DELETE FROM "{table}" t WHERE {replaced}')
        connection.execute(
            f'INSERT INTO "{table}" ({names}, run_id, updated_at) SELECT {names}, ?, {_AFTER_REMOVALS} FROM {added}',
            [run_id, datetime.now(UTC).replace(tzinfo=None)],
        )
    except (duckdb.ConstraintException, duckdb.ConversionException) as error:
        raise BadInput(table, "", _first_line(error), UNWRITTEN) from error


def _log(connection: duckdb.DuckDBPyConnection, entries: pl.DataFrame, run_id: str) -> None:
    """Log a write, with the next number."""
    if len(entries):
        connection.register("entries", entries.to_arrow())
        connection.execute(
            f"INSERT OR REPLACE INTO {changes.LOG} (source, model, passage, task, number, fingerprint, run_id, "
            f"updated_at) SELECT source, model, passage, task, (SELECT coalesce(max(number), 0) + 1 FROM "
            f"{changes.LOG}), '', ?, ? FROM entries",
            [run_id, datetime.now(UTC).replace(tzinfo=None)],
        )


def _compare(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """List the rows of a table that have an equal row in `incoming`, and update their fingerprints.

    The list is the temporary table `equal`: the row id in the table (`stored`), and the columns of the key.
    """
    declared = catalogue.table(table)
    key = ", ".join(f'keys."{name}"' for name in declared.key)
    same = " AND ".join(
        f't."{name}" IS NOT DISTINCT FROM keys."{name}"::{column.type}'
        for name, column in declared.content.items() if name != "fingerprint"
    )  # fmt: skip
    # CASE keeps the content out of the condition of the join: DuckDB would hash the content of all rows.
    connection.execute(
        f'CREATE OR REPLACE TEMP TABLE equal AS SELECT t.rowid AS stored, {key}, keys.fingerprint FROM "{table}" t '
        f"JOIN incoming keys ON {equal(declared.key)} WHERE CASE WHEN {same} THEN TRUE ELSE FALSE END"
    )
    connection.execute(
        f'UPDATE "{table}" t SET fingerprint = equal.fingerprint FROM equal '
        "WHERE t.rowid = equal.stored AND t.fingerprint <> equal.fingerprint"
    )


def _copy(connection: duckdb.DuckDBPyConnection, place: Path) -> None:
    """Copy the whole database to a file, replacing any existing file. An error leaves no part of the copy behind."""
    # Not by copying bytes: closing a second handle on the file would release this process's lock.
    remove(place)
    try:
        connection.execute(f"ATTACH {quoted(place)} AS copy")
        connection.execute("COPY FROM DATABASE warehouse TO copy")
        connection.execute("DETACH copy")
    except BaseException:
        with suppress(duckdb.Error):  # else the engine could make no other copy
            connection.execute("DETACH copy")
        remove(place)
        raise


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _prepare(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Migrate a file to the declared schema. Before its rows are touched, they are copied to BEFORE_MIGRATION.

    Raises
    ------
    BadInput
        If the file is newer than this program, or its rows do not fit.
    """
    schema = DuckDBSchema(connection)
    if migration.is_current(schema, path):
        return
    if migration.has_rows(schema):
        place = Path(path).parent / BEFORE_MIGRATION
        place.mkdir(exist_ok=True)
        _copy(connection, place / "incomplete.duckdb")
        (place / "incomplete.duckdb").replace(place / "variorum.duckdb")
    number, _ = schema.version()
    connection.begin()
    migration.migrate(schema, number, path)
    connection.commit()
