"""Identity marks of a home's stores: checking them before anything runs, and renewing them; migration of Dagster's
tables.

Not here: the meaning of marks (resources.identity), repair of a home whose stores do not belong together (repairing).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from resources.errors import BadInput, raise_all
from resources.identity import Marks, StoreMark, faults
from resources.provider.ledger import Ledger
from resources.sqlite_files import reading
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    import dagster as dg

_HOME, _EPOCH, _LEDGER = "variorum/home", "variorum/epoch", "variorum/ledger"
DAGSTER = "variorum/dagster"
"""Key of the version of Dagster that wrote its tables."""

REMEDY = "repair it with `variorum restore FOLDER`, which keeps what is sound, or without a backup: `variorum rebuild`"


def marks(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger) -> Marks:
    """Read the marks of Dagster's state, the warehouse and the ledger."""
    values = instance.daemon_cursor_storage.get_cursor_values({_HOME, _EPOCH, _LEDGER})
    return Marks(mark(values), warehouse.mark(), ledger.mark())


def mark(values: Mapping[str, str]) -> StoreMark | None:
    """The mark in values that Dagster's state stores by key; None if they have none."""
    return StoreMark(values[_HOME], int(values[_EPOCH]), values[_LEDGER] == "yes") if _HOME in values else None


def in_files(dagster: Path) -> Mapping[str, str]:
    """The values that Dagster's state in a folder stores by key, read without Dagster.

    Raises
    ------
    sqlite3.Error
        If the folder has no such file yet, or if the file cannot be read.
    """
    with closing(reading(dagster / "history" / "runs.db")) as connection:
        return dict(connection.execute("SELECT key, value FROM kvs WHERE key LIKE 'variorum/%'").fetchall())


def confirm(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger) -> Marks:
    """Return the marks; raise BadInput for each store that is lost, older than the others, or from another home."""
    known = marks(instance, warehouse, ledger)
    check(known, instance.root_directory, warehouse, ledger)
    return known


def check(known: Marks, dagster: str, warehouse: Warehouse, ledger: Ledger) -> None:
    """Raise BadInput for each store whose mark does not belong to the others; `dagster` is the folder of its state."""
    places = {"dagster": dagster, "warehouse": warehouse.name, "ledger": ledger.place}
    raise_all([BadInput(places[store], "", problem, REMEDY) for store, problem in faults(known).items()])


def migrate_dagster(instance: dg.DagsterInstance) -> None:
    """Migrate Dagster's own tables, as `dagster instance migrate` does, if a former version of Dagster wrote them.

    Raises
    ------
    BadInput
        If a later version wrote them.
    """
    import dagster as dg
    from packaging.version import Version

    storage = instance.daemon_cursor_storage
    written_by = storage.get_cursor_values({DAGSTER}).get(DAGSTER)
    if written_by == dg.__version__:
        return
    if written_by and Version(written_by) > Version(dg.__version__):
        problem = f"was written by Dagster {written_by}, but this program runs Dagster {dg.__version__}"
        raise BadInput(
            instance.root_directory, "", problem, "use the version of Variorum that wrote it, or a later one"
        )
    if written_by or instance.get_runs_count():
        with redirect_stdout(sys.stderr):  # Dagster prints what it updates
            instance.upgrade()
    storage.set_cursor_values({DAGSTER: dg.__version__})


def join(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger) -> None:
    """Write the same mark, with the next epoch, to all three stores. A home without a mark gets an id."""
    with warehouse.exclusively():
        _advance(instance, warehouse, ledger, marks(instance, warehouse, ledger))


@contextmanager
def advanced(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger) -> Iterator[int]:
    """Advance the home's epoch before and after a block, and yield the epoch of the block.

    Raises
    ------
    BadInput
        If the stores do not belong together. In this case, the block is not run.
    """
    with warehouse.exclusively():
        epoch = _advance(instance, warehouse, ledger, confirm(instance, warehouse, ledger))
    yield epoch
    join(instance, warehouse, ledger)


def _advance(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger, marks: Marks) -> int:
    known = [mark for mark in marks if mark]
    home = known[0].home if known else str(uuid4())
    mark = StoreMark(home, max((mark.epoch for mark in known), default=0) + 1, ledger.exists())
    values = {_HOME: home, _EPOCH: str(mark.epoch), _LEDGER: "yes" if mark.ledger else "no"}
    instance.daemon_cursor_storage.set_cursor_values(values)
    warehouse.set_mark(mark)
    if mark.ledger:
        ledger.set_mark(mark)
    return mark.epoch
