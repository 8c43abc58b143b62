"""Backups of a home: copying it while runs continue, and exchanging its files for restored ones.

Here: which files belong to a home, the order in which they are copied, manifests, incremental copies, the exchange of
repaired files. Not here: how files are repaired (automation.repairing), what the rows mean (automation.safekeeping),
commands (cli), schedules (automation).

No transaction spans the warehouse, the ledger and Dagster's state, so the order of copying keeps a backup consistent.
Dagster's state is copied first: after a restoration, the next update reports again what the warehouse stored after
Dagster's state was copied. The ledger is copied last: it then contains the reply behind every row of the warehouse, so
no question is asked twice.
"""

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import duckdb

from resources import locks, removals
from resources.errors import BadInput, raise_all
from resources.home import RESTORING
from resources.provider import archive, salvage
from resources.provider.sqlite_ledger import SqliteLedger
from resources.sqlite_files import integrity
from resources.warehouse import Warehouse
from resources.whole_files import move, sha256, sync, write

MANIFEST = "manifest.json"

LEDGER, WAREHOUSE = "ledger.sqlite", "variorum.duckdb"
"""Names of the ledger and of the warehouse in a home and in a backup."""

READY = "ready"
"""File in RESTORING once all files of a repair are there."""

MOST_NAMED = 3
"""Maximum number of files that a line names."""

README = """Backups of a Variorum home. Each folder is a backup, named after the time (UTC) at which it was complete and
after a number that grows with each backup.

Private: backups contain restricted texts, people's labels and models' replies. `variorum restore` repairs a home with
the last one: the one with the highest number, since clocks can be wrong.
"""

STAMP = "%Y-%m-%dT%H-%M-%S.%fZ"
"""Format of a time (UTC) in names. A backup is named after the time at which it was complete, then `-` and its number.
Backups of former versions have no number, and come first."""

DAYS, WEEKS, MONTHS = 7, 5, 12
"""Retention: for each of this many days, weeks and months, the last backup is kept."""

_SQLITE = b"SQLite format 3\x00"


class BackedUpFile(NamedTuple):
    """A file of a backup.

    `state` contains the size and modification time of the original and, for a database with a write-ahead log, the size
    and modification time of the log. If `state` is unchanged, the original is unchanged, too. `linked` is true if the
    file is a hard link to the copy in the previous backup.
    """

    sha256: str
    size: int
    state: list[int]
    linked: bool


class BackupManifest(NamedTuple):
    """Content of a backup: files by path, number of rows by table, and original paths of files outside the home."""

    home: str
    files: dict[str, BackedUpFile]
    rows: dict[str, int]
    outside: dict[str, str]


def back_up(
    warehouse: Warehouse, ledger: Path, outside: Mapping[str, Path], folder: Path, lost: Sequence[str] = ()
) -> tuple[Path, BackupManifest]:
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
    lost
        Beginnings of paths in the backup. Such files are taken from the last backup, since the originals cannot be
        found.

    Returns
    -------
    The new subfolder and its manifest.

    Raises
    ------
    BadInput
        If the folder cannot be written, or contains anything but backups; or if a store is damaged.
    """
    home = warehouse.folder
    with _alone(folder):
        for leftover in folder.glob(".new-*"):
            shutil.rmtree(leftover)
        earlier = names(folder)
        last = folder / earlier[-1] if earlier else None
        known: dict[str, BackedUpFile] = {}
        known_places: dict[str, str] = {}
        with suppress(BadInput):  # if the last manifest is damaged, nothing is linked
            if last:
                _, known, _, known_places = manifest(last)
        new = folder / f".new-{uuid4()}"
        files: dict[str, BackedUpFile] = {}
        try:
            new.mkdir(parents=True)
            for original in _dagster(home / "dagster"):
                path = str(original.relative_to(home))
                with suppress(FileNotFoundError):  # deleted since it was listed
                    files[path] = _keep(original, path, new, last, known)
            warehouse.copy_to(new / WAREHOUSE)
            files[WAREHOUSE] = _content(new / WAREHOUSE, [])
            removals.write(new, removals.united(removals.read(home), removals.recorded(warehouse)))
            if (new / removals.FILE).exists():
                files[removals.FILE] = _content(new / removals.FILE, [])
            if ledger.exists():
                files[LEDGER] = _keep(ledger, LEDGER, new, last, known)
            filed = {
                f"{LEDGER}.archive/{file.name}": file for file in SqliteLedger(ledger).archived()
            }  # with every file that the copy names
            for path, original in {**filed, **outside}.items():
                files[path] = _keep(original, path, new, last, known)
            _check_databases(home, new, files)
            places = {path: str(original) for path, original in outside.items()}
            for path in known_places:
                if last and path.startswith(tuple(lost)) and path not in files and _is_sound(last / path, known[path]):
                    files[path], places[path] = _link(path, new, last, known), known_places[path]
            made = BackupManifest(str(home), files, rows(new / WAREHOUSE), places)
            write(new / MANIFEST, json.dumps(made._asdict(), indent=1))
            place = folder / f"{datetime.now(UTC).strftime(STAMP)}-{_number(earlier[-1]) + 1 if earlier else 1}"
            new.rename(place)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        spare(folder)
    return place, made


def _keep(original: Path, path: str, new: Path, last: Path | None, known: Mapping[str, BackedUpFile]) -> BackedUpFile:
    """Add a file to the backup `new`. An unchanged file is linked to its copy in the backup `last`, if that is sound;
    any other file is copied.

    `known` has the files of `last`.
    """
    state = _state(original)
    if last and path in known and known[path].state == state and _is_sound(last / path, known[path]):
        return _link(path, new, last, known)
    _copy(original, new / path)
    return _content(new / path, state)


def _link(path: str, new: Path, last: Path, known: Mapping[str, BackedUpFile]) -> BackedUpFile:
    (new / path).parent.mkdir(parents=True, exist_ok=True)
    os.link(last / path, new / path)
    return known[path]._replace(linked=True)


def _check_databases(home: Path, new: Path, files: Mapping[str, BackedUpFile]) -> None:
    """Raise BadInput if a database is damaged that was copied as it is: a backup of it could replace a sound one."""
    for path, content in files.items():
        if content.linked or not _is_database(new / path):
            continue
        problem = salvage.damage(new / path) if path == LEDGER else integrity(new / path)
        if problem:
            raise BadInput(
                home / path, "", f"is damaged ({problem}), and nothing was backed up",
                "repair it with `variorum restore FOLDER`, or without a backup: `variorum rebuild`",
            )  # fmt: skip


def names(folder: Path) -> list[str]:
    """Names of the backups in a folder in the order in which they were made, whatever the clock said."""
    return sorted(
        (path.parent.name for path in folder.glob(f"[!.]*/{MANIFEST}")), key=lambda name: (_number(name), name)
    )


def _number(name: str) -> int:
    found = re.fullmatch(r".*Z-(\d+)", name, re.ASCII)
    return int(found[1]) if found else 0


def moment(name: str) -> datetime | None:
    """The time (UTC) in the name of a backup; None if a person has renamed it."""
    with suppress(ValueError):
        return datetime.strptime(re.sub(r"-\d+$", "", name), STAMP)
    return None


def every(folder: Path) -> list[Path]:
    """The backups in a folder, the oldest first."""
    return [folder / name for name in names(folder)]


def manifest(backup: Path) -> BackupManifest:
    """Read the manifest of a backup; raises BadInput if it is damaged."""
    try:
        read = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
        files = {path: BackedUpFile(*content) for path, content in read["files"].items()}
        return BackupManifest(read["home"], files, read["rows"], read["outside"])
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


def check(backup: Path) -> BackupManifest:
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
        elif not _is_sound(file, content):
            faults.append(BadInput(file, "", "was altered since the backup", "use another backup"))
    raise_all(faults)
    return expected


def spare(folder: Path) -> None:
    """Remove old backups. The last backup of each of the latest DAYS days, WEEKS weeks and MONTHS months is kept, and
    each that a person has renamed."""
    known = {name: made for name in names(folder) if (made := moment(name))}
    kept: set[str] = set()
    for form, count in (("%Y-%m-%d", DAYS), ("%G-%V", WEEKS), ("%Y-%m", MONTHS)):
        last: dict[str, str] = {}
        for name, made in reversed(known.items()):
            last.setdefault(made.strftime(form), name)
        kept |= set([*last.values()][:count])
    for name in known:
        if name not in kept:
            removed = folder / f".new-{uuid4()}"  # atomic, so that a kill leaves no partial backup
            (folder / name).rename(removed)
            shutil.rmtree(removed)


def unpack(backup: Path, expected: BackupManifest, folder: Path) -> None:
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


def begin(home: Path) -> Path:
    """Return an empty folder in a home for the files of a repair. They replace the home's files once it is `ready`."""
    shutil.rmtree(home / RESTORING, ignore_errors=True)
    (home / RESTORING).mkdir(parents=True)
    return home / RESTORING


def ready(home: Path, aside: str, lines: Sequence[str]) -> None:
    """Declare the files of a repair complete: from now on, the home is only usable once they are exchanged.

    `aside` is the subfolder of the home for the replaced files; `lines` say what is kept, merged and lost.
    """
    write(home / RESTORING / READY, json.dumps([aside, *lines]))


def exchange(home: Path) -> list[str] | None:
    """Exchange the files of a repair that is ready, also if an earlier process was killed meanwhile.

    Returns
    -------
    The lines given to `ready`, and one about the replaced files. None if no repair is ready.
    """
    if not (home / RESTORING / READY).exists():
        return None
    name, *lines = json.loads((home / RESTORING / READY).read_text(encoding="utf-8"))
    for file in archive.folder(home / RESTORING / LEDGER).glob("*"):  # named by a hash of their content
        move(file, archive.folder(home / LEDGER) / file.name)
    for part in ("dagster", WAREHOUSE, LEDGER, removals.FILE):
        new = home / RESTORING / part
        if new.exists():
            set_aside(home / part, home / name)
            new.rename(home / part)
    shutil.rmtree(home / RESTORING)
    return [*lines, f"the replaced files are in {home / name}"] if (home / name).exists() else lines


def put_back(
    backup: Path, expected: BackupManifest, home: Path, aside: Path, usable: Callable[[str, Path], bool]
) -> list[str]:
    """Restore files outside the home that are missing, and settings (YAML) that are not `usable`; other files stay.

    Returns
    -------
    Lines about restored files, about files that could not be restored, and about those that differ from the backup.
    """
    lines, differing = [], []
    for path, content in expected.outside.items():
        place = Path(content)
        if place.is_relative_to(expected.home):
            place = home / place.relative_to(expected.home)
        try:
            if place.exists() and (usable(path, place) or not usable(path, backup / path)):
                differing += [str(place)] * (sha256(place) != expected.files[path].sha256)
                continue
            if place.exists():
                aside.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(place, aside / place.name)
            _copy_bytes(backup / path, place)
            lines.append(f"{place}: restored from the backup")
        except OSError:
            lines.append(f"not restored: {backup / path}, to be put at {content}")
    if differing:
        first = ", ".join(differing[:MOST_NAMED])
        lines.append(f"kept as they are, though they differ from the backup: {len(differing)} files, such as {first}")
    return lines


def _dagster(folder: Path) -> Iterator[Path]:
    """Dagster's files in the order of copying: index of events, events, runs. No file refers to a file that is copied
    later."""
    ranks = {"index.db": 0, "runs.db": 2, "schedules.db": 3}
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in sorted(files, key=lambda path: (ranks.get(path.name, 1), path)):
        if not path.name.endswith(("-wal", "-shm", "-journal")):
            yield path


def _is_sound(file: Path, content: BackedUpFile) -> bool:
    return file.is_file() and sha256(file) == content.sha256


def _state(path: Path) -> list[int]:
    states = [path.stat()]
    with suppress(FileNotFoundError):
        states.append(path.with_name(f"{path.name}-wal").stat())
    # An empty log is ignored, because opening the database rewrites it.
    return [number for state in states if state.st_size for number in (state.st_size, state.st_mtime_ns)]


def _content(path: Path, state: list[int]) -> BackedUpFile:
    return BackedUpFile(sha256(path), path.stat().st_size, state, linked=False)


def _is_database(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(_SQLITE)) == _SQLITE


def _copy(original: Path, place: Path) -> None:
    """Copy a file. An SQLite database is copied in one transaction, so other processes may write meanwhile."""
    if not _is_database(original):
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
