"""Repair of a home with a store that is lost, damaged, older than the others, or from another home.

A repair replaces only what has a fault. What it replaces, it merges: every row of the former file that can be read,
then what a backup has in addition. All new files are complete before the first one is exchanged.

Here: which stores have a fault, which files replace them, the lines that report it. Not here: marks
(resources.identity), reading around damage (resources.duckdb_salvage, provider.salvage), copies (resources.backups).
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.automation import identity
from benchmark_assets.corpus.description import examine
from benchmark_assets.lineage import shards
from benchmark_assets.lineage.refresh import further_tables
from resources import backups, catalogue, duckdb_salvage, removals
from resources.duckdb_salvage import Loss
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.home import home, prepare
from resources.identity import Marks, StoreMark, faults
from resources.keys import KEYS
from resources.provider import archive, salvage
from resources.provider.provider import Provider
from resources.provider.registry import load
from resources.removals import Removal
from resources.sqlite_files import integrity, reading
from resources.warehouse import STATES, Replacement, Warehouse

RESTORED, REBUILT = "before-restore", "before-rebuild"
"""Subfolders of a home for the files that `restore` and `rebuild` replaced, with one folder per repair."""

OLDER = "is older than the backup"

STORES = {backups.WAREHOUSE: "warehouse", backups.LEDGER: "ledger", "dagster": "dagster"}
"""Names of the stores' marks, by file or folder."""


LABELS = "labels, pairs, glossary entries and imported outputs; import them again from their files"


def restore(
    definitions: Callable[[], dg.Definitions],
    folder: Path,
    name: str | None = None,
    as_of_backup: bool = False,
    agreed: Callable[[Sequence[str]], object] = lambda _: None,
) -> Iterator[str]:
    """Repair those stores of a home that have a fault with a backup; yield what is kept, merged and lost.

    Parameters
    ----------
    definitions
        Makes the code location, once the registry is usable.
    folder, name
        Folder of backups, and the name of the backup; by default the last one.
    as_of_backup
        Whether to replace a sound warehouse and Dagster's sound state, too. Replies stay.
    agreed
        Called with lines about what will be lost as of the backup, before anything is replaced; it may raise.

    Raises
    ------
    BadInput
        If the backup is damaged. The home is then unchanged.
    """
    place, backup = home(), backups.chosen(folder, name)
    warehouse = DuckDBWarehouse(path=str(place / backups.WAREHOUSE), wait_seconds=5)
    place.mkdir(parents=True, exist_ok=True)
    with warehouse.exclusively():
        if (lines := backups.exchange(place)) is None:
            expected, aside = backups.check(backup), _aside(RESTORED)
            yield from backups.put_back(backup, expected, place, place / aside, _is_usable)
            known = removals.united(*(removals.read(each) for each in (place, *backups.every(folder))))
            lines = _Repair(definitions(), place, known, aside, backup).carry_out(as_of_backup, agreed)
        yield from lines
    yield from _joined(definitions())


def rebuild(definitions: Callable[[], dg.Definitions]) -> Iterator[str]:
    """Repair the home without a backup; yield each step and each loss.

    Every row of a damaged warehouse or ledger that can be read is kept. If the warehouse is lost, its corpora have to
    be imported again; models' replies are still in the ledger. If Dagster's state is lost, partitions are reported
    again from the warehouse's records, but the history of runs is lost. If the ledger is lost, costs are restored from
    the warehouse, and tables keep their rows; a question is paid for again only if its row becomes stale.
    """
    location = definitions()
    warehouse: Warehouse = (location.resources or {})["warehouse"]
    if isinstance(warehouse, DuckDBWarehouse):  # a server mends its own files
        with warehouse.exclusively():
            if (lines := backups.exchange(warehouse.folder)) is None:
                known = removals.read(warehouse.folder)
                lines = _Repair(location, warehouse.folder, known, _aside(REBUILT)).carry_out()
            yield from lines
    yield from _joined(location)


class _Store(NamedTuple):
    """The fault of a store, '' if it has none; whether it is older than the backup; whether nothing of it is merged."""

    problem: str
    older: bool = False
    replaced: bool = False


class _Repair:
    """A repair of the home in the folder `place`, with or without a backup.

    `known` has the removals of the home and of all backups; `aside` is the name of the folder for replaced files.
    """

    def __init__(
        self, location: dg.Definitions, place: Path, known: Sequence[Removal], aside: str, backup: Path | None = None
    ) -> None:
        self._location, self._place, self._known, self._aside, self._backup = location, place, known, aside, backup
        self._kept: list[str] = []
        self._emptied = False

    def carry_out(
        self, as_of_backup: bool = False, agreed: Callable[[Sequence[str]], object] = lambda _: None
    ) -> list[str]:
        """Make the files that replace those with a fault, exchange them, and return lines about them."""
        self._new = backups.begin(self._place)
        self._saved = self._new / "backup"
        if self._backup:
            backups.unpack(self._backup, backups.manifest(self._backup), self._saved)
        self._marks, self._former = _marks(self._place), _marks(self._saved)
        stores = {
            "warehouse": self._store(backups.WAREHOUSE, duckdb_salvage.damage),
            "ledger": self._store(backups.LEDGER, self._damage_of_ledger),
            "dagster": self._store("dagster", _damage_of_dagster),
        }
        if not stores["warehouse"].problem and self._was_copied_before_a_removal():
            stores["warehouse"] = _Store("is older than a removal")
        if not (self._backup or faults(self._marks) or any(store.problem for store in stores.values())):
            stores["warehouse"] = _Store("is rewritten with new indexes, since no other fault was found")
        if as_of_backup:
            try:
                agreed(self._lost(stores["warehouse"]))
            except BaseException:
                shutil.rmtree(self._new)
                raise
            for name in ("warehouse", "dagster"):
                stores[name] = _Store("is replaced on purpose", replaced=True)
        lines = [
            *self._warehouse(stores["warehouse"]), *self._ledger(stores["ledger"]), *self._dagster(stores["dagster"]),
        ]  # fmt: skip
        if self._kept:
            lines.append(f"kept, since no fault was found: {', '.join(self._kept)}")
        backups.ready(self._place, self._aside, lines)
        return backups.exchange(self._place) or []

    def _was_copied_before_a_removal(self) -> bool:
        """Whether the sound warehouse of the home lacks a removal that is known."""
        recorded = removals.recorded(_migrated(self._place / backups.WAREHOUSE)) if self._known else []
        return removals.united(self._known, recorded) != recorded

    def _store(self, part: str, damage: Callable[[Path], str]) -> "_Store":
        """Inspect a store: a file or folder of the home."""
        path, name = self._place / part, STORES[part]
        mark, former, wrong = getattr(self._marks, name), getattr(self._former, name), faults(self._marks)
        if not path.exists():
            return _Store("is missing")
        if mark and former and mark.home != former.home:
            return _Store("belongs to another home", replaced=True)
        older = bool(mark and former and mark.epoch < former.epoch)
        if problem := damage(path):
            return _Store(f"is damaged ({problem})", older=older)
        if older or (former and name in wrong and not mark):
            return _Store(OLDER, older=True)
        return _Store("" if self._backup or name != "dagster" else wrong.get(name, ""))

    def _lost(self, store: "_Store") -> list[str]:
        """The facts of the home that the backup lacks."""
        file, saved = (folder / backups.WAREHOUSE for folder in (self._place, self._saved))
        if store.problem not in ("", OLDER):
            return [f"whatever was imported since, since the warehouse {store.problem}"]
        _migrated(file)
        _migrated(saved)
        return [f"{count} rows of {table}" for table, count in duckdb_salvage.lacking(saved, file).items()]

    def _warehouse(self, store: "_Store") -> Iterator[str]:
        file, saved, made = (folder / backups.WAREHOUSE for folder in (self._place, self._saved, self._new))
        if not store.problem:
            self._kept.append(backups.WAREHOUSE)
            return
        yield f"{backups.WAREHOUSE}: {store.problem}"
        losses = duckdb_salvage.salvage(file, made) if file.exists() and not store.replaced else None
        if saved.exists():
            _migrated(saved)
        if losses is None:
            self._emptied = not saved.exists()
            if saved.exists():
                saved.rename(made)
                yield f"{backups.WAREHOUSE}: is as of the backup now; what was imported since is not in it"
            else:
                yield from _names(self._place / "dagster")
        else:
            _migrated(made)
            if store.older and saved.exists():
                former = made.rename(made.with_name("former.duckdb"))
                saved.rename(made)
                for table, count in duckdb_salvage.add_facts(made, former).items():
                    yield f"merged: {count} rows of {table}, which the backup lacks"
            elif saved.exists():
                losses = duckdb_salvage.fill(made, saved, losses)
            yield from _words(losses)
        warehouse = _migrated(made)
        known = removals.united(self._known, removals.recorded(warehouse))
        if count := duckdb_salvage.purge(made, known):
            yield f"{count} rows are left out, because they were removed since the backup"
        records = [each.row for each in known]
        warehouse.write(
            [Replacement("removal", row, row.select("removed_at", "kind", "name")) for row in records], "repair"
        )
        removals.write(self._new, known)
        warehouse.mend_sums()
        _forget(self._location, warehouse, losses or {})

    def _damage_of_ledger(self, ledger: Path) -> str:
        return salvage.damage(ledger, [archive.folder(ledger), archive.folder(self._saved / backups.LEDGER)])

    def _ledger(self, store: "_Store") -> Iterator[str]:
        file, saved, made = (folder / backups.LEDGER for folder in (self._place, self._saved, self._new))
        if saved.exists() and (damage := self._damage_of_ledger(saved)):  # copied so by a former version
            yield f"the backup's {backups.LEDGER}: is damaged, too ({damage}); what can be read of it is used"
            readable = saved.with_name("readable.sqlite")
            salvage.salvage(saved, readable)
            backups.set_aside(saved, saved.parent / "damaged")
            readable.rename(saved)
        files = [archive.folder(saved) / each.name for each in archive.folder(saved).glob("*")]
        missing = [each for each in files if not archive.is_sound(archive.folder(file) / each.name)]
        for each in missing:
            archive.folder(made).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(each, archive.folder(made) / each.name)
        if missing:
            yield f"{archive.folder(file).name}: {len(missing)} files came from the backup"
        if not file.exists() and not saved.exists():
            return
        problem = store.problem
        if problem in ("", OLDER):
            lacking = salvage.lacking(file, saved) if saved.exists() else 0
            problem = f"lacks {lacking} replies or corrections that the backup has" if lacking else ""
        if not problem:
            self._kept.append(backups.LEDGER)
            return
        yield f"{backups.LEDGER}: {problem}"
        usable = file if file.exists() and not store.replaced else None
        done = salvage.salvage(usable, made, saved if saved.exists() else None)
        yield (
            f"{backups.LEDGER}: has {done.attempts} calls with {done.replies} replies now, {done.added} of them from "
            f"the backup; {done.lost} replies are lost"
        )

    def _dagster(self, store: "_Store") -> Iterator[str]:
        folder, saved, made = (each / "dagster" for each in (self._place, self._saved, self._new))
        newer = self._emptied or (not self._backup and "warehouse" in faults(self._marks))
        problem = store.problem or ("is newer than the warehouse" if newer and folder.exists() else "")
        if not problem:
            self._kept.append("dagster")
        elif saved.exists():
            saved.rename(made)
            yield f"dagster: {problem}; it is as of the backup now, without the history of later runs"
        elif folder.exists():
            made.mkdir()
            yield f"dagster: {problem}; it begins anew, without the history of runs"


def _aside(kind: str) -> str:
    return f"{kind}/{datetime.now(UTC).strftime(backups.STAMP)}"


def _migrated(file: Path) -> DuckDBWarehouse:
    """The warehouse in a file, which has the declared schema then."""
    warehouse = DuckDBWarehouse(path=str(file))
    warehouse.read("removal", most=1)
    return warehouse


def _marks(place: Path) -> Marks:
    """The marks of the three stores in a folder, as far as they can be read."""
    dagster, ledger = None, None
    with suppress(sqlite3.Error, KeyError):
        dagster = identity.mark(identity.in_files(place / "dagster"))
    with suppress(sqlite3.Error), closing(reading(place / backups.LEDGER)) as connection:
        row = connection.execute("SELECT home, epoch FROM identity").fetchone()
        ledger = StoreMark(row[0], row[1], ledger=True) if row else None
    return Marks(dagster, duckdb_salvage.mark(place / backups.WAREHOUSE), ledger)


def _damage_of_dagster(folder: Path) -> str:
    for file in sorted(folder.rglob("*.db")):
        if problem := integrity(file):
            return f"{file.name}: {problem}"
    present = {file.name for file in folder.rglob("*.db")}
    return ", ".join(f"{name} is missing" for name in ("index.db", "runs.db") if name not in present)


def _words(losses: Mapping[str, Loss]) -> Iterator[str]:
    """Lines about rows that could not be read."""
    for table in sorted(losses.keys() & catalogue.tables().keys()):
        loss = losses[table]
        rows = "its rows" if loss.rows < 0 else f"{loss.rows} rows"
        kind = "" if catalogue.tables()[table].fact else "; what is missing is computed again"
        came = f", {loss.restored} rows came from the backup" if loss.restored else ""
        yield f"{table}: {rows} could not be read{came}{kind}"


def _names(dagster: Path) -> Iterator[str]:
    """Lines about lost corpora and tasks, whose names come from Dagster's partitions, and about all else that is
    lost."""
    rows: list[tuple[str, str]] = []
    with suppress(sqlite3.Error), closing(reading(dagster / "history" / "runs" / "index.db")) as connection:
        rows = connection.execute("SELECT partitions_def_name, partition FROM dynamic_partitions").fetchall()
    corpora = sorted({key.partition("/")[0] for kind, key in rows if kind == "passage"})
    for kind, names in (("corpora", corpora), ("tasks", sorted({key for kind, key in rows if kind == "task"}))):
        if names:
            yield f"these {kind} were lost with the warehouse; import them again: {', '.join(names)}"
    yield f"lost with the warehouse: {LABELS}"


def _forget(location: dg.Definitions, warehouse: Warehouse, tables: Mapping[str, Loss]) -> None:
    """Forget the records of partitions whose rows are incomplete, so that they are computed again."""
    graph = location.resolve_asset_graph()
    forgotten = []
    for key in graph.materializable_asset_keys:
        name = key.to_user_string()
        states = warehouse.read(STATES, pl.DataFrame({"asset": [name]}), ["asset", *KEYS, "fingerprint", "row_count"])
        if name in tables:
            dims = [dim for dim in KEYS if states[dim].ne("").any()]
            stored = warehouse.read(name, columns=[*dims, "fingerprint"])
            counts = stored.group_by([*dims, "fingerprint"]).agg(stored=pl.len())
            found = states.filter(pl.col("row_count") > 0).join(counts, on=[*dims, "fingerprint"], how="left")
            forgotten.append(found.filter(pl.col("stored").ne_missing(pl.col("row_count"))).select("asset", *KEYS))
        elif tables.keys() & set(further_tables(location.get_assets_def(key), key)):
            forgotten.append(states.select("asset", *KEYS))
    if records := [each for each in forgotten if len(each)]:
        warehouse.write([Replacement(STATES, warehouse.empty(STATES), pl.concat(records))], "repair")


def _joined(location: dg.Definitions) -> Iterator[str]:
    """Make the stores of a repaired home agree: partitions, costs and marks. The next update reports the rows."""
    prepare()
    resources = location.resources or {}
    warehouse: Warehouse = resources["warehouse"]
    provider: Provider = resources["provider"]
    with dg.DagsterInstance.get() as instance, warehouse.kept_open():
        yield _report_partitions(instance, warehouse)
        lost = "ledger" in faults(identity.marks(instance, warehouse, provider.ledger))
        if lost and (added := salvage.put_back(provider.ledger, warehouse.read("model_call"))):
            yield f"ledger: the costs of {added} calls were restored from the warehouse; their replies are lost"
        identity.join(instance, warehouse, provider.ledger)


def _report_partitions(instance: dg.DagsterInstance, warehouse: Warehouse) -> str:
    """Add to Dagster all partitions that have records in the warehouse, and delete those of what people removed."""
    records = warehouse.read(STATES, columns=KEYS)
    records = shards.keyed(records, shards.around(warehouse, records.select("passage").unique()))
    counts = []
    for kind in KEYS:
        keys, present = records[kind].unique().sort(), instance.get_dynamic_partitions(kind)
        new = sorted({*keys} - {"", *present})
        instance.add_dynamic_partitions(kind, new)
        counts.append(f"{len(new)} {kind} partitions")
        for key in {*present} - {*keys}:
            if any(_concerns(removal, kind, key) for removal in removals.recorded(warehouse)):
                instance.delete_dynamic_partition(kind, key)
    return f"Dagster: added {', '.join(counts)} from the warehouse's records"


def _concerns(removal: Removal, kind: str, key: str) -> bool:
    """Whether a removal took a partition away; a later import that has no rows yet adds the partition again."""
    return (removal.kind == kind and removal.name == key) or (
        removal.kind == "corpus" and kind == "passage" and key.startswith(f"{removal.name}/")
    )


def _is_usable(path: str, file: Path) -> bool:
    """Whether the registry or the description of a corpus can be read; other files always can."""
    if path == "models.yaml":
        with suppress(BadInput):
            load(file)
            return True
        return False
    return file.suffix not in (".yaml", ".yml") or examine(file)[0] is not None
