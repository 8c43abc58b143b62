"""Modes of files: a home's files are private, and files that are handed over follow the user's umask.

In a home of one person, folders have mode 0700 and files 0600. A home that several machines share is on a volume whose
group may read and write it: 2770 and 0660. Here: the umask of processes, and modes of files that exist. Not here:
writing (whole_files, folders). Why: docs/decisions/homes.md.
"""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from resources.home import home

logger = logging.getLogger("variorum.home")

UMASK = "VARIORUM_UMASK"
"""Environment variable with the user's umask, in octal, for the processes that a process starts."""

GENERATED = (
    "variorum.duckdb*", "*-snapshot.duckdb", "ledger.sqlite*", "dagster", "logs", "reports", "readers", "vectors",
    "live", "added", "before-*", ".restoring",
)  # fmt: skip
"""Names in a home that was made before homes were private. Other files in its folder may be the user's own."""


class Modes(NamedTuple):
    """Modes of folders and of files in a home, and the bits that neither may have."""

    folder: int
    file: int
    denied: int


OWNER, GROUP = Modes(0o700, 0o600, 0o077), Modes(0o2770, 0o660, 0o007)


def of_home() -> Modes:
    """The modes in the present home."""
    return GROUP if os.environ.get("VARIORUM_DATABASE") else OWNER  # a URL with faults is refused later, in words


def keep_private() -> None:
    """Have this process, and those that it starts, create what only the home's owner, or its group, can read."""
    umask = os.umask(of_home().denied)
    os.environ.setdefault(UMASK, f"{umask:03o}")


@contextmanager
def handed_over(place: Path) -> Iterator[None]:
    """Give a file or folder that the block creates outside of the home the modes that the user's umask allows, and also
    the folders that the block creates above it."""
    missing = [folder for folder in place.absolute().parents if not folder.exists()]
    yield
    if UMASK in os.environ and not place.resolve().is_relative_to(home()):
        allowed = ~int(os.environ[UMASK], 8)
        for created in (*missing, place, *place.rglob("*")):
            created.chmod((0o777 if created.is_dir() else 0o666) & allowed)


def tighten() -> None:
    """Make a home private that was used before homes were private, and log what was changed.

    A folder is searched only if its own mode is wrong. Its mode is changed last: an interrupted pass is repeated.
    """
    folder, modes = home(), of_home()
    entries = [*folder.iterdir()]
    generated = [entry for entry in entries if is_generated(entry.name)]
    changed, foreign = 0, 0
    for entry in generated if len(generated) < len(entries) else (*generated, folder):
        if entry.is_symlink() or not _is_wrong(entry, modes):
            continue
        for place in (*entry.rglob("*"), entry):
            try:
                changed += _change(place, modes)
            except FileNotFoundError:  # a run has removed it
                continue
            except PermissionError:
                foreign += 1
    if changed:
        logger.warning(
            "%s: others could read %d files and folders; from now on, only %s can",
            folder, changed, "you" if modes is OWNER else "the group of the folder",
        )  # fmt: skip
    if foreign and modes is OWNER:
        logger.warning("%s: %d files belong to another user; make them yours with `chown -R`", folder, foreign)


def is_generated(name: str) -> bool:
    """Whether a home, and not its user, has created what has this name in the home's folder."""
    return any(fnmatch(name, pattern) for pattern in GENERATED)


def _is_wrong(place: Path, modes: Modes) -> bool:
    """Whether a mode has bits that it may not have, or a folder does not pass its group on."""
    mode = place.stat().st_mode
    return bool(mode & modes.denied or (stat.S_ISDIR(mode) and modes.folder & stat.S_ISGID & ~mode))


def _change(place: Path, modes: Modes) -> bool:
    """Correct the mode of a file or folder, and its group in a group's home; return whether others could read it."""
    info = place.lstat()
    if stat.S_ISLNK(info.st_mode):
        return False
    if modes is GROUP and info.st_gid != (group := home().stat().st_gid):
        os.chown(place, -1, group)
    place.chmod(modes.folder if stat.S_ISDIR(info.st_mode) else modes.file)
    return bool(info.st_mode & modes.denied)
