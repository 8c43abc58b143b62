"""Whole files: hashes, states, and atomic writes that survive a power failure. Not here: contents."""

import os
import time
from hashlib import file_digest
from pathlib import Path

from resources import locks, modes
from resources.errors import BadInput


def sha256(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def state(path: Path) -> tuple[int, ...]:
    """A key that changes when the file does, for caches of contents: inode, size and times.

    The clock of files ticks every few milliseconds, so the key of a file that was changed within a second is used once.
    """
    found, now = path.stat(), time.time_ns()
    recent = now - found.st_mtime_ns < 1_000_000_000
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, now if recent else 0


def write(path: Path, content: str | bytes) -> None:
    """Write a file; a text is encoded as UTF-8. An existing file is replaced only once the new content is on disk."""
    new = path.with_name(f".{path.name}.new")
    path.parent.mkdir(parents=True, exist_ok=True)
    with new.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        locks.flush(file.fileno())
    move(new, path)


def hand_over(path: Path, text: str) -> None:
    """Write a file to a path that the user chose, with the mode that the user's umask allows.

    Raises
    ------
    BadInput
        If the file cannot be written.
    """
    try:
        with modes.handed_over(path):
            write(path, text)
    except OSError as error:
        raise BadInput(path, "", f"cannot be written ({error.strerror})", "give the path of a file") from error


def sync(path: Path) -> None:
    """Wait until the content of a file is on disk."""
    with path.open("rb+") as file:
        locks.flush(file.fileno())


def move(path: Path, place: Path) -> None:
    """Move a file, replacing any file at the destination, and sync the destination folder to disk."""
    place.parent.mkdir(parents=True, exist_ok=True)
    path.replace(place)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        locks.flush(folder)
    finally:
        os.close(folder)
