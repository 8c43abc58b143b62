"""Repair of a home with a store that is lost, damaged, older than the others, or from another home.

Here: which files are moved aside, what is restored from the other stores, and what is lost. Not here: which stores do
not belong together (identity), restoring a backup, which loses nothing (resources.backups), salvage of a ledger
(provider.salvage).
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import polars as pl

from benchmark_assets.automation import identity, runs
from benchmark_assets.automation.due import Scope
from benchmark_assets.lineage import shards
from resources import backups, catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import DamagedError
from resources.home import prepare
from resources.identity import faults
from resources.keys import KEYS
from resources.provider import salvage
from resources.provider.ledger import Ledger
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from resources.sqlite_files import integrity
from resources.warehouse import Warehouse

ASIDE = "before-rebuild"
"""Subfolder of a home for files that a repair moved aside: one folder per repair, named by its time."""

LABELS = "labels, pairs, glossary entries and imported outputs; import them again from their files"


def rebuild(definitions: dg.Definitions) -> Iterator[str]:
    """Repair the home, then materialize all assets that need no model; yield a line about each step and each loss.

    Unusable files are moved to ASIDE. A damaged ledger is salvaged. If the warehouse is lost, its corpora have to be
    imported again; models' replies are still in the ledger. If Dagster's state is lost, partitions are reported again
    from the warehouse's records, but the history of runs is lost. If the ledger is lost, costs are restored from the
    warehouse, and tables keep their rows; a question is paid for again only if its row becomes stale.
    """
    resources = definitions.resources or {}
    warehouse: Warehouse = resources["warehouse"]
    provider: Provider = resources["provider"]
    aside = warehouse.folder / ASIDE / datetime.now(UTC).strftime(backups.STAMP)
    yield from _mend_files(warehouse, provider.ledger, aside)
    prepare()
    with dg.DagsterInstance.get() as instance:
        wrong = faults(identity.marks(instance, warehouse, provider.ledger))
        known = {kind: instance.get_dynamic_partitions(kind) for kind in KEYS}
    emptied = warehouse.read("materialization", most=1).is_empty() and any(known.values())
    if emptied:
        yield from _names(known)
    is_new = (aside / "dagster").exists()  # Dagster's damaged folder was moved there
    if (emptied or wrong.keys() & {"dagster", "warehouse"}) and not is_new:
        yield _set_aside(warehouse.folder / "dagster", aside)
        prepare()
    with dg.DagsterInstance.get() as instance, warehouse.kept_open():
        yield _report_partitions(instance, warehouse)
        if "ledger" in wrong:
            added = salvage.put_back(provider.ledger, warehouse.read("model_call"))
            yield f"ledger: the costs of {added} calls were restored from the warehouse; the calls' replies are lost"
        identity.join(instance, warehouse, provider.ledger)
        runs.look(definitions, instance)
        runs.update(definitions, instance, Scope(models=[]))


def _mend_files(warehouse: Warehouse, ledger: Ledger, aside: Path) -> Iterator[str]:
    """Move damaged files aside, and salvage a ledger in a file."""
    if isinstance(warehouse, DuckDBWarehouse):  # a server mends its own files
        file = Path(warehouse.path)
        if file.exists() and (problem := _damage(warehouse)):
            yield f"{file.name}: {problem}"
            yield _set_aside(file, aside)
        if not file.exists():
            file.with_name(f"{file.name}.lock").unlink(missing_ok=True)  # it would make `prepare` expect a warehouse
    damaged = [database for database in backups.databases(warehouse.folder) if integrity(database)]
    if any(database.is_relative_to(warehouse.folder / "dagster") for database in damaged):
        yield _set_aside(warehouse.folder / "dagster", aside)
    if isinstance(ledger, SqliteLedger) and ledger.exists() and salvage.is_damaged(ledger.path):
        new = ledger.path.with_name(f"{ledger.path.name}.salvaged")
        new.unlink(missing_ok=True)
        saved = salvage.salvage(ledger.path, new)
        yield _set_aside(ledger.path, aside)
        new.rename(ledger.path)
        yield f"ledger: salvaged {saved.attempts} calls with {saved.replies} replies; {saved.lost} replies are lost"


def _damage(warehouse: Warehouse) -> str:
    """The error if a table of the warehouse cannot be read; '' if all tables can be read."""
    try:
        with warehouse.kept_open():
            for table in catalogue.tables():
                warehouse.read(table)
    except DamagedError as fault:
        return fault.problem
    return ""


def _set_aside(path: Path, aside: Path) -> str:
    """Move a file or folder, and return a line about it."""
    backups.set_aside(path, aside)
    return f"{path.name}: moved to {aside}"


def _names(known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield messages about lost corpora and tasks, whose names come from Dagster's partitions."""
    corpora = pl.Series("key", known["passage"], dtype=pl.String).str.split("/").list.first().unique().sort()
    for kind, names in (("corpora", corpora), ("tasks", known["task"])):
        if len(names):
            yield f"these {kind} were lost with the warehouse; import them again: {', '.join(names)}"
    yield f"lost with the warehouse: {LABELS}"


def _report_partitions(instance: dg.DagsterInstance, warehouse: Warehouse) -> str:
    """Add to Dagster all partitions that have records in the warehouse. The next update reports their rows."""
    records = warehouse.read("materialization", columns=KEYS)
    records = shards.keyed(records, shards.around(warehouse, records.select("passage").unique()))
    counts = []
    for kind in KEYS:
        keys = records[kind].unique().sort()
        new = sorted({*keys} - {"", *instance.get_dynamic_partitions(kind)})
        instance.add_dynamic_partitions(kind, new)
        counts.append(f"{len(new)} {kind} partitions")
    return f"Dagster: added {', '.join(counts)} from the warehouse's records"
