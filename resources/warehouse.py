"""The warehouse: the interface of the database with all rows, and the checks of rows before they are written.

Here: what every caller may rely on, whichever database a home has. Not here: SQL, files, connections and locks
(duckdb_warehouse, postgres_warehouse), the meaning of rows. Callers pass tables, keys and frames, and must not assume
that there is only one machine, process or writer.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import polars as pl

from resources import catalogue
from resources.errors import BadInput
from resources.frozen import Frozen
from resources.identity import StoreMark
from resources.state_sums import SUMMED, SUMS, anew, changed

UNWRITTEN = "nothing was written"

STATES = "materialization"
"""The table with the state of every partition."""

Result = TypeVar("Result")

_NOTES: ContextVar[list[tuple[str, pl.DataFrame | None]] | None] = ContextVar("reads", default=None)


@contextmanager
def noting() -> Iterator[list[tuple[str, pl.DataFrame | None]]]:
    """Yield a list to which each read in the block adds its table and keys."""
    reads: list[tuple[str, pl.DataFrame | None]] = []
    token = _NOTES.set(reads)
    try:
        yield reads
    finally:
        _NOTES.reset(token)


def noted(table: str, keys: pl.DataFrame | None) -> None:
    """Note a read, if the caller's block notes reads (`noting`). Without keys to read, nothing in the table matters.

    Every implementation of `Warehouse.read` calls this function.
    """
    reads = _NOTES.get()
    if reads is not None and (keys is None or len(keys)):
        reads.append((table, keys))


class Replacement(NamedTuple):
    """New rows for a table, which replace all rows of the given partitions.

    `partitions` has the columns that identify a partition (`model`, `passage`, …), one row per partition; None replaces
    the whole table. `rows` has the table's columns in any order, without `run_id` and `updated_at`.
    """

    table: str
    rows: pl.DataFrame
    partitions: pl.DataFrame | None


class Warehouse(Frozen, ABC):
    """Tables of the catalogue, in one database.

    A read or write outside of the blocks below waits for nothing that it does not touch. What a block promises, and by
    which locks or isolation each database keeps the promise, is explained in docs/decisions/warehouse.md.

    Parameters
    ----------
    wait_seconds
        Seconds to wait for other processes before BadInput is raised.
    """

    wait_seconds: float = 60.0

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Absolute path of the home: the folder of the files that belong to the warehouse."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where the warehouse is, for messages."""

    def empty(self, table: str) -> pl.DataFrame:
        """Return a frame without rows, with the columns that `write` requires."""
        return pl.DataFrame(schema={name: column.polars for name, column in catalogue.table(table).content.items()})

    @abstractmethod
    def read(
        self,
        table: str,
        keys: pl.DataFrame | None = None,
        columns: Sequence[str] | None = None,
        most: int | None = None,
    ) -> pl.DataFrame:
        """Read rows of a table, in the order of its primary key.

        Parameters
        ----------
        table
            Name of a table in the catalogue.
        keys
            Read only rows that match a row of this frame in all of its columns.
        columns
            Read only these columns, in this order; all by default.
        most
            Read at most this many rows.
        """

    @abstractmethod
    def write(self, replacements: Sequence[Replacement], run_id: str) -> None:
        """Carry out all replacements in one transaction. New and changed rows are stamped with `run_id` and the time.

        A row keeps its stamps if its values, disregarding the fingerprint, equal the stored values. Of two processes
        that replace the same partitions, the later one leaves its rows, and none of the other's.

        Raises
        ------
        BadInput
            If a column is missing, unknown or of another type than the catalogue declares, a required value is null, a
            number is NaN or infinite, a row is outside the partitions, or a primary key occurs twice. Nothing is
            written then.
        """

    @abstractmethod
    def last_change(self) -> int | None:
        """Number of the last write that is logged (see `resources.changes`); 0 if there is none, None while others
        write: they may yet log numbers up to it."""

    @abstractmethod
    def is_last(self, number: int) -> bool:
        """Whether no write with a number above `number` is visible. If `number` comes from `last_change`, whatever was
        read since is current."""

    @abstractmethod
    def changed(self, since: int) -> pl.DataFrame:
        """Entries of the log with numbers above `since`: `source`, `KEYS`, `run_id` and `number`."""

    @abstractmethod
    def forget_changes(self, number: int) -> None:
        """Remove entries up to a number from the log of changes, but not the last entry, from which the next number
        follows."""

    @abstractmethod
    def consistently(self) -> AbstractContextManager[None]:
        """A block whose reads all see the same state of the warehouse. Nothing can be written in it."""

    @abstractmethod
    def exclusively(self) -> AbstractContextManager[None]:
        """A block for a command that reads rows and writes others on account of them: one such block at a time.

        Each write in the block is a transaction of its own.

        Raises
        ------
        BadInput
            If another process does not leave its block within `wait_seconds`.
        """

    @abstractmethod
    def at_once(self, asset: str, models: Collection[str] | None, act: Callable[[], Result]) -> Result:
        """Call `act`, whose reads and single write then take effect as one, and return its result.

        Meanwhile, no other process writes states of the asset's partitions with these models (None: of all its
        partitions). `act` may be called again if a connection is lost or transactions conflict, so it must be short,
        and have no effect besides its write.
        """

    @abstractmethod
    def differences(self, table: str) -> pl.DataFrame:
        """Compare a table with its declaration; one row per difference, with `column`, `declared` and `found`."""

    @abstractmethod
    def state(self, corpus: str) -> pl.DataFrame:
        """A frame that changes whenever rows of a corpus are written, changed or removed.

        It has one row per table with a column `corpus` or `passage`: the number of the corpus's rows (`row_count`) and
        the time of their last change (`updated_at`).
        """

    @abstractmethod
    def documents(self, tables: Sequence[str]) -> pl.DataFrame:
        """The documents of all corpora, each with a stamp that changes whenever rows about its passages change.

        Parameters
        ----------
        tables
            Tables with a column `passage`. The stamp concerns their rows and those of `source_text`.

        Returns
        -------
        Columns `corpus`, `document`, `passages` (number of passages) and `stamp`. Two databases with the same rows have
        different stamps.
        """

    @abstractmethod
    def mark(self) -> StoreMark | None:
        """The mark that identifies the home; None if the warehouse has none yet."""

    @abstractmethod
    def set_mark(self, mark: StoreMark) -> None:
        """Replace the mark that identifies the home."""

    @abstractmethod
    def snapshot(self) -> Path:
        """Copy the warehouse to `<name>-snapshot.duckdb` in the home, and return the copy's path.

        A notebook or another program may keep the copy open for reading while runs write. The program sees the content
        of a later snapshot only if it closes the file and opens it again.
        """

    @abstractmethod
    def copy_to(self, place: Path) -> None:
        """Copy one state of the warehouse to a DuckDB file, and sync the file to disk."""

    def mend_sums(self) -> list[str]:
        """Compare the sums of states with the states, and correct those that differ; return the names of their assets.

        None differ, unless another program changed states.
        """
        assets = {*self.read(STATES, columns=["asset"])["asset"], *self.read(SUMS, columns=["asset"])["asset"]}
        return [asset for asset in sorted(assets) if self.at_once(asset, None, partial(self._mended, asset))]

    def _mended(self, asset: str) -> bool:
        key = pl.DataFrame({"asset": [asset]})
        stored, states = self.read(SUMS, key), self.read(STATES, key, SUMMED)
        sums = anew(stored, states)
        if wrong := not sums.equals(stored.select(sums.columns)):
            self.write([Replacement(SUMS, sums.with_columns(fingerprint=pl.lit("")), key)], "sums")
        return wrong

    @staticmethod
    def _sums(replacement: Replacement, read: Callable[..., pl.DataFrame]) -> list[Replacement]:
        """What a replacement of states replaces in the sums of states. `read` reads like `Warehouse.read`, in the
        transaction of the replacement and before it."""
        if replacement.table != STATES:
            return []
        removed, added = read(STATES, replacement.partitions, SUMMED), replacement.rows.select(SUMMED)
        keys = pl.concat([removed, added.cast(removed.schema)]).select("asset", "model").unique()
        sums = read(SUMS, keys)
        rows = changed(sums, removed, added)
        if rows.equals(sums.select(rows.columns)):
            return []
        return [Replacement(SUMS, rows.with_columns(fingerprint=pl.lit("")), keys)]

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """A block with many reads and writes, between which a warehouse may keep open what takes long to open."""
        yield

    def compact(self) -> bool:
        """Give free space back to the disk if there is much of it; return whether this was done."""
        return False


def equal(columns: Sequence[str]) -> str:
    """SQL for the equality of columns of a row `t` and a row `keys`."""
    return " AND ".join(f't."{name}" = keys."{name}"' for name in columns)


def check(replacement: Replacement) -> None:
    """Check rows before they are written.

    Raises
    ------
    BadInput
        For the faults that `Warehouse.write` lists, except those that the database finds: null in a required column,
        a number that is too large, a primary key that another partition has.
    """
    table, rows, partitions = replacement
    declared = catalogue.table(table).content
    if unknown := sorted(set(rows.columns) - set(declared)):
        raise BadInput(table, ", ".join(unknown), "no such columns", f"declare them in {catalogue.FOLDER.name}/*.yaml")
    if missing := sorted(set(declared) - set(rows.columns)):
        raise BadInput(table, ", ".join(missing), "columns are missing from the rows", UNWRITTEN)
    for name, column in declared.items():
        if not _fits(rows.schema[name], column.polars):
            problem = f"is {rows.schema[name]}, but the catalogue declares {column.polars}"
            raise BadInput(table, name, problem, UNWRITTEN)
        if _infinite(rows[name]):
            raise BadInput(table, name, "contains NaN or an infinite number", UNWRITTEN)
    key = list(catalogue.table(table).key)
    repeated = rows.filter(pl.struct(key).is_duplicated()).select(key)
    if not repeated.is_empty():
        raise BadInput(table, str(repeated.row(0)), "the primary key occurs twice", UNWRITTEN)
    if partitions is not None:
        keys = rows.select(partitions.columns).cast(partitions.schema)  # an empty frame may lack types
        outside = keys.join(partitions, on=partitions.columns, how="anti")
        if not outside.is_empty():
            problem = f"{len(outside)} rows are outside the partitions to be replaced"
            raise BadInput(table, str(outside.row(0)), problem, UNWRITTEN)


def _infinite(values: pl.Series) -> bool:
    """Whether any number, including elements of lists, is NaN or infinite."""
    while isinstance(values.dtype, pl.List | pl.Array):
        values = values.explode(empty_as_null=False, keep_nulls=False)
    return values.dtype.is_float() and not values.is_finite().all()


def _fits(actual: pl.DataType, declared: pl.DataType) -> bool:
    """Whether DuckDB would store or refuse values of the actual type, rather than cast them silently."""
    if isinstance(actual, pl.List | pl.Array) and isinstance(declared, pl.List):
        return _fits(actual.inner, declared.inner)  # type: ignore[arg-type]
    numbers = declared.is_float() if actual.is_float() else actual.is_integer() and declared.is_numeric()
    return numbers or actual in (declared, pl.Null)
