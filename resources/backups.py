"""Backups of a home: copying it while runs continue, and restoring it.

Here: which files belong to a home, the order in which they are copied, manifests, incremental copies, restoration. Not
here: what the rows mean (automation.safekeeping), commands (cli), schedules (automation).

No transaction spans the warehouse, the ledger and Dagster's state, so the order of copying keeps a backup consistent.
Dagster's state is copied first: after a restoration, the next update reports again what the warehouse stored after
Dagster's state was copied. The ledger is copied last: it then contains the reply behind every row of the warehouse, so
no question is asked twice.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import duckdb

from resources import locks
from resources.errors import BadInput, raise_all
from resources.home import RESTORING
from resources.provider.sqlite_ledger import SqliteLedger
from resources.sqlite_files import integrity
from resources.warehouse import Warehouse
from resources.whole_files import move, sha256, sync, write

MANIFEST = "manifest.json"

LEDGER = "ledger.sqlite"
"""Name of the ledger in a home and in a backup."""

README = """Backups of a Variorum home. Each folder is a backup, named after the time (UTC) at which it was complete.

Private: backups contain restricted texts, people's labels and models' replies. Restore one with `variorum restore`.
"""

ASIDE = "before-restore"
"""Subfolder of a home for the files that restorations replaced, with one folder per restoration."""

STAMP = "%Y-%m-%dT%H-%M-%S.%fZ"
"""Format of a backup's name: the time (UTC) at which the backup was complete."""

DAYS, WEEKS, MONTHS = 7, 5, 12
"""Retention: for each of this many days, weeks and months, the last backup is kept."""

_SQLITE = b"SQLite format 3\x00"


class Content(NamedTuple):
    """A file of a backup.

    `state` contains the size and modification time of the original and, for a database with a write-ahead log, the size
    and modification time of the log. If `state` is unchanged, the original is unchanged, too. `linked` is true if the
    file is a hard link to the copy in the previous backup.
    """

    sha256: str
    size: int
    state: list[int]
    linked: bool


class Manifest(NamedTuple):
    """Content of a backup: files by path, number of rows by table, and original paths of files outside the home."""

    home: str
    files: dict[str, Content]
    rows: dict[str, int]
    outside: dict[str, str]


def back_up(warehouse: Warehouse, ledger: Path, outside: Mapping[str, Path], folder: Path) -> tuple[Path, Manifest]:
    """Copy a home into a new subfolder of `folder`, then remove the backups that `spare` does not keep.

    An interrupted backup leaves only a hidden folder, which the next backup removes.

    Parameters
    ----------
    warehouse, ledger
        The home's warehouse, and the path of its ledger. The ledger need not exist.
    outside
        Further files that the home depends on, by their path in the backup.
    folder
        Folder of all backups of this home; created if it does not exist.

    Returns
    -------
    The new subfolder and its manifest.

    Raises
    ------
    BadInput
        If the folder cannot be written, or contains anything but backups.
    """
    home = warehouse.folder
    with _alone(folder):
        for leftover in folder.glob(".new-*"):
            shutil.rmtree(leftover)
        earlier = names(folder)
        last = folder / earlier[-1] if earlier else None
        known = manifest(last).files if last else {}
        new = folder / f".new-{uuid4()}"
        files: dict[str, Content] = {}
        try:
            new.mkdir(parents=True)
            for original in _dagster(home / "dagster"):
                path = str(original.relative_to(home))
                with suppress(FileNotFoundError):  # deleted since it was listed
                    files[path] = _keep(original, path, new, last, known)
            warehouse.copy_to(new / "variorum.duckdb")
            files["variorum.duckdb"] = _content(new / "variorum.duckdb", [])
            if ledger.exists():
                files[LEDGER] = _keep(ledger, LEDGER, new, last, known)
            filed = {
                f"{LEDGER}.archive/{file.name}": file for file in SqliteLedger(ledger).archived()
            }  # with every file that the copy names
            for path, original in {**filed, **outside}.items():
                files[path] = _keep(original, path, new, last, known)
            places = {path: str(original) for path, original in outside.items()}
            made = Manifest(str(home), files, rows(new / "variorum.duckdb"), places)
            write(new / MANIFEST, json.dumps(made._asdict(), indent=1))
            place = folder / datetime.now(UTC).strftime(STAMP)
            new.rename(place)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        spare(folder)
    return place, made


def _keep(original: Path, path: str, new: Path, last: Path | None, known: Mapping[str, Content]) -> Content:
    """Add a file to the backup `new`. Link an unchanged file to its copy in the backup `last`; copy any other file.

    `known` has the files of `last`.
    """
    state = _state(original)
    if last and path in known and known[path].state == state:
        (new / path).parent.mkdir(parents=True, exist_ok=True)
        os.link(last / path, new / path)
        return known[path]._replace(linked=True)
    _copy(original, new / path)
    return _content(new / path, state)


def names(folder: Path) -> list[str]:
    """Names of the backups in a folder, the oldest first."""
    return sorted(path.parent.name for path in folder.glob(f"[!.]*/{MANIFEST}"))


def manifest(backup: Path) -> Manifest:
    """Read the manifest of a backup; raises BadInput if it is damaged."""
    try:
        read = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
        files = {path: Content(*content) for path, content in read["files"].items()}
        return Manifest(read["home"], files, read["rows"], read["outside"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise BadInput(backup / MANIFEST, "", f"cannot be read ({error})", "use another backup") from error


def chosen(folder: Path, name: str | None) -> Path:
    """The backup with this name, by default the last one; raises BadInput if there is none."""
    known = names(folder)
    if not known:
        raise BadInput(folder, "", "contains no backup", "make one with `variorum backup FOLDER`")
    if name is not None and name not in known:
        raise BadInput(folder, name, "no such backup", f"use one of {', '.join(known)}")
    return folder / (name or known[-1])


def check(backup: Path) -> Manifest:
    """Compare the files of a backup with its manifest, and return the manifest.

    Raises
    ------
    BadInput
        For every file that is missing or was altered.
    """
    expected = manifest(backup)
    faults = []
    for path, content in expected.files.items():
        file = backup / path
        if not file.is_file():
            faults.append(BadInput(file, "", "is missing", "use another backup"))
        elif sha256(file) != content.sha256:
            faults.append(BadInput(file, "", "was altered since the backup", "use another backup"))
    raise_all(faults)
    return expected


def spare(folder: Path) -> None:
    """Remove old backups. The last backup of each of the latest DAYS days, WEEKS weeks and MONTHS months is kept."""
    known = names(folder)
    kept: set[str] = set()
    for form, count in (("%Y-%m-%d", DAYS), ("%G-%V", WEEKS), ("%Y-%m", MONTHS)):
        last = {datetime.strptime(name, STAMP).strftime(form): name for name in known}
        kept |= set(list(last.values())[-count:])
    for name in known:
        if name not in kept:
            removed = folder / f".new-{uuid4()}"  # atomic, so that a kill leaves no partial backup
            (folder / name).rename(removed)
            shutil.rmtree(removed)


def restore(backup: Path, home: Path) -> tuple[Path | None, list[str]]:
    """Restore the warehouse, ledger and Dagster state of a home from a backup.

    The replaced files are moved aside. The home keeps its own ledger if that ledger has all replies of the backup:
    the home's ledger may also have later replies, which have been paid for. If the process is killed, `home.prepare`
    refuses the home until the next call completes the restoration.

    Returns
    -------
    A pair: the subfolder with the replaced files (None if no file was replaced), and a list of the files outside the
    home that are missing and could not be restored, each in the form 'COPY, to be put at PLACE'.

    Raises
    ------
    BadInput
        If the backup is damaged. The home is then unchanged.
    """
    expected = check(backup)
    ready = home / RESTORING / "ready"
    if not ready.exists():
        shutil.rmtree(home / RESTORING, ignore_errors=True)
        unpack(backup, expected, home / RESTORING)
        write(ready, datetime.now(UTC).strftime(STAMP))
    aside = home / ASIDE / ready.read_text(encoding="utf-8")
    for file in (home / RESTORING / f"{LEDGER}.archive").glob("*"):  # named by a hash of their content
        move(file, home / f"{LEDGER}.archive" / file.name)
    for name in ("dagster", "variorum.duckdb", LEDGER):
        new = home / RESTORING / name
        if not new.exists() or (name == LEDGER and _has_replies_of(home / name, new)):
            continue
        set_aside(home / name, aside)
        new.rename(home / name)
    shutil.rmtree(home / RESTORING)
    return aside if aside.exists() else None, list(_put_back(backup, expected, home))


def unpack(backup: Path, expected: Manifest, folder: Path) -> None:
    """Copy to a folder those files of a backup that belong inside the home."""
    for path in expected.files:
        if path not in expected.outside:
            _copy_bytes(backup / path, folder / path)


def set_aside(path: Path, aside: Path) -> None:
    """Move a database and its logs, or a folder, to `aside`, so that a new database does not find an old log."""
    for old in (f"{path.name}-shm", f"{path.name}-wal", f"{path.name}.wal", path.name):
        if path.with_name(old).exists():
            aside.mkdir(parents=True, exist_ok=True)
            path.with_name(old).rename(aside / old)


def databases(home: Path) -> list[Path]:
    """The SQLite databases in use in a home: its ledger, if it has one, and Dagster's."""
    return [*home.glob(LEDGER), *sorted((home / "dagster").rglob("*.db"))]


def _has_replies_of(ledger: Path, other: Path) -> bool:
    """Whether a ledger is sound, and has a reply to every question to which the ledger `other` has a reply."""
    if not ledger.exists() or integrity(ledger):
        return False
    answered = (
        "SELECT q.key FROM {0}.reply r JOIN {0}.attempt a ON a.id = r.attempt JOIN {0}.question q ON q.id = a.question"
    )
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("ATTACH ? AS other", (str(other),))
        lacking = f"{answered.format('other')} EXCEPT {answered.format('main')} LIMIT 1"
        return connection.execute(lacking).fetchone() is None


def _put_back(backup: Path, expected: Manifest, home: Path) -> Iterator[str]:
    for path, original in expected.outside.items():
        place = Path(original)
        if place.is_relative_to(expected.home):
            place = home / place.relative_to(expected.home)
        if place.exists():
            continue
        try:
            _copy_bytes(backup / path, place)
        except OSError:
            yield f"{backup / path}, to be put at {original}"


def _dagster(folder: Path) -> Iterator[Path]:
    """Dagster's files in the order of copying: index of events, events, runs. No file refers to a file that is copied
    later."""
    ranks = {"index.db": 0, "runs.db": 2, "schedules.db": 3}
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in sorted(files, key=lambda path: (ranks.get(path.name, 1), path)):
        if not path.name.endswith(("-wal", "-shm", "-journal")):
            yield path


def _state(path: Path) -> list[int]:
    states = [path.stat()]
    with suppress(FileNotFoundError):
        states.append(path.with_name(f"{path.name}-wal").stat())
    # An empty log is ignored, because opening the database rewrites it.
    return [number for state in states if state.st_size for number in (state.st_size, state.st_mtime_ns)]


def _content(path: Path, state: list[int]) -> Content:
    return Content(sha256(path), path.stat().st_size, state, linked=False)


def _copy(original: Path, place: Path) -> None:
    """Copy a file. An SQLite database is copied in one transaction, so other processes may write meanwhile."""
    with original.open("rb") as file:
        is_database = file.read(len(_SQLITE)) == _SQLITE
    if not is_database:
        _copy_bytes(original, place)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(original, timeout=60)) as source, closing(sqlite3.connect(place)) as target:
        source.backup(target)
    sync(place)


def _copy_bytes(original: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(original, place)
    sync(place)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time write to a folder of backups."""
    if folder.exists() and any(folder.iterdir()) and not (folder / "README.md").is_file():
        raise BadInput(folder, "", "is not a folder of backups", "choose an empty folder, or one with backups")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write(folder / "README.md", README)
        with (folder / ".lock").open("w") as lock:
            if not locks.tried(lock):
                raise BadInput(folder, "", "another backup into this folder is running", "wait until it ends")
            yield
    except OSError as error:
        raise BadInput(folder, "", f"cannot be written ({error.strerror})", "choose another folder") from error


def rows(path: Path) -> dict[str, int]:
    """Number of rows by table, in a copy of a warehouse.

    Raises
    ------
    BadInput
        If the file cannot be read.
    """
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            tables = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
            return {
                name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # type: ignore[index]
                for (name,) in tables
            }
    except duckdb.Error as error:
        raise BadInput(path, "", f"cannot be read ({error})", "use another backup") from error
