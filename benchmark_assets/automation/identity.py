"""Identity marks of a home's stores: checking them before anything runs, and renewing them; migration of Dagster's
tables.

Not here: the meaning of marks (resources.identity), repair of a home whose stores do not belong together (repairing).
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from uuid import uuid4

import dagster as dg
from packaging.version import Version

from resources.errors import BadInput, raise_all
from resources.identity import Marks, StoreMark, faults
from resources.provider.ledger import Ledger
from resources.warehouse import Warehouse

_HOME, _EPOCH, _LEDGER = "variorum/home", "variorum/epoch", "variorum/ledger"
_DAGSTER = "variorum/dagster"

REMEDY = "repair it with `variorum restore FOLDER`, which keeps what is sound, or without a backup: `variorum rebuild`"


def marks(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger) -> Marks:
    """Read the marks of Dagster's state, the warehouse and the ledger."""
    values = instance.daemon_cursor_storage.get_cursor_values({_HOME, _EPOCH, _LEDGER})
    return Marks(mark(values), warehouse.mark(), ledger.mark())


def mark(values: Mapping[str, str]) -> StoreMark | None:
    """The mark in values that Dagster's state stores by key; None if they have none."""
    return StoreMark(values[_HOME], int(values[_EPOCH]), values[_LEDGER] == "yes") if _HOME in values else None


def confirm(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger) -> Marks:
    """Return the marks; raise BadInput for each store that is lost, older than the others, or from another home."""
    places = {"dagster": instance.root_directory, "warehouse": warehouse.name, "ledger": ledger.place}
    known = marks(instance, warehouse, ledger)
    raise_all([BadInput(places[store], "", problem, REMEDY) for store, problem in faults(known).items()])
    return known


def migrate_dagster(instance: dg.DagsterInstance) -> None:
    """Migrate Dagster's own tables, as `dagster instance migrate` does, if a former version of Dagster wrote them.

    Raises
    ------
    BadInput
        If a later version wrote them.
    """
    storage = instance.daemon_cursor_storage
    written_by = storage.get_cursor_values({_DAGSTER}).get(_DAGSTER)
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
    storage.set_cursor_values({_DAGSTER: dg.__version__})


def join(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger) -> None:
    """Write the same mark, with the next epoch, to all three stores. A home without a mark gets an id."""
    with warehouse.exclusively():
        _advance(instance, warehouse, ledger, marks(instance, warehouse, ledger))


@contextmanager
def advanced(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger) -> Iterator[None]:
    """Advance the home's epoch before and after a block.

    Raises
    ------
    BadInput
        If the stores do not belong together. In this case, the block is not run.
    """
    with warehouse.exclusively():
        _advance(instance, warehouse, ledger, confirm(instance, warehouse, ledger))
    yield
    join(instance, warehouse, ledger)


def _advance(instance: dg.DagsterInstance, warehouse: Warehouse, ledger: Ledger, marks: Marks) -> None:
    known = [mark for mark in marks if mark]
    home = known[0].home if known else str(uuid4())
    mark = StoreMark(home, max((mark.epoch for mark in known), default=0) + 1, ledger.exists())
    values = {_HOME: home, _EPOCH: str(mark.epoch), _LEDGER: "yes" if mark.ledger else "no"}
    instance.daemon_cursor_storage.set_cursor_values(values)
    warehouse.set_mark(mark)
    if mark.ledger:
        ledger.set_mark(mark)
