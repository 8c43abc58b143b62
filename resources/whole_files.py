"""Files that appear whole or not at all, also where the power fails. Not here: what is in them."""

import os
from hashlib import file_digest
from pathlib import Path

from resources.errors import BadInput


def sha256(path: Path) -> str:
    """Digest of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def write(path: Path, text: str) -> None:
    """Write a file, in UTF-8; one that is there stays as it is until the new one is on disk."""
    new = path.with_name(f".{path.name}.new")
    path.parent.mkdir(parents=True, exist_ok=True)
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    move(new, path)


def hand_over(path: Path, text: str) -> None:
    """Write a file that a person named.

    Raises
    ------
    BadInput
        Where it cannot be written.
    """
    try:
        write(path, text)
    except OSError as error:
        raise BadInput(path, "", f"cannot be written ({error.strerror})", "give the path of a file") from error


def move(path: Path, place: Path) -> None:
    """Put a file that is on disk in the place of another, or of none."""
    place.parent.mkdir(parents=True, exist_ok=True)
    path.replace(place)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
