"""Output folders: where they may be written, and how they are written atomically.

Not here: single files (whole_files), contents.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from resources.errors import BadInput

README = "README.md"

PRIVATE = "PRIVATE-do-not-pass-on"
"""Subfolder for everything that quotes restricted texts."""


class Kind(NamedTuple):
    """A kind of folder that a new version may replace. The first line of its README begins with `public`, or with
    `private` if the folder holds restricted texts."""

    name: str
    public: str
    private: str


def check_vacant(folder: Path, work: str = "") -> None:
    """Raise BadInput if a folder exists and is not empty.

    Parameters
    ----------
    work
        What people may have put there, for the message.
    """
    if _vacant(folder):
        return
    if work:
        raise BadInput(folder, "", f"exists already, perhaps with {work} in it", "give another folder")
    raise BadInput(folder, "", "exists already", "give another folder, or remove this one")


def check_replaceable(folder: Path, kind: Kind, private: bool) -> bool:
    """Whether the folder exists and is of this kind, so that it may be replaced. The caller checks its files.

    Raises
    ------
    BadInput
        If the folder holds anything else, or is public and would become private.
    """
    if _vacant(folder):
        return False
    readme = folder / README
    title = readme.read_text(encoding="utf-8", errors="replace").partition("\n")[0] if readme.is_file() else ""
    if not title.startswith((kind.public, kind.private)):
        raise BadInput(
            folder, "", f"exists already and holds no {kind.name}", "give another folder, or remove this one"
        )
    if private and title.startswith(kind.public):
        problem = f"holds a public {kind.name} that may be shared"
        raise BadInput(folder, "", problem, "give another folder for the private one")
    return True


def _vacant(folder: Path) -> bool:
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def put(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files to a temporary sibling folder, then move it into place."""
    new, old = (folder.with_name(f".{folder.name}.{uuid4()}.{state}") for state in ("new", "old"))
    try:
        for path, whole in files.items():
            place = new / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(whole)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        raise BadInput(folder, "", f"cannot be written ({error.strerror})", "give another folder") from error
    finally:
        if old.exists() and not folder.exists():  # also after an interrupt
            old.rename(folder)
        for each in (new, old):
            shutil.rmtree(each, ignore_errors=True)
