"""Folders that are written for people: where they may be put, and how they appear whole or not at all.

Not here: single files (whole_files), what is in them.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from resources.errors import BadInput

README = "README.md"

PRIVATE = "PRIVATE-do-not-pass-on"
"""Folder within a folder, for everything that quotes restricted texts."""


class Kind(NamedTuple):
    """A kind of folder of which a new one replaces a former one. The first line of its README begins with `public`, or
    with `private` where restricted texts are in it."""

    name: str
    public: str
    private: str


def check_vacant(folder: Path, work: str = "") -> None:
    """Raise BadInput where a folder that is to be written is there already, and not empty.

    Parameters
    ----------
    work
        What people may have put there, for the message.
    """
    if _vacant(folder):
        return
    if work:
        raise BadInput(folder, "", f"is there already, perhaps with {work} in it", "give another folder")
    raise BadInput(folder, "", "is there already", "give another folder, or remove it")


def check_replaceable(folder: Path, kind: Kind, private: bool) -> bool:
    """Whether a former folder of the kind stands there; its files are the caller's to check.

    Raises
    ------
    BadInput
        Where anything else stands there, or a public folder that would become private.
    """
    if _vacant(folder):
        return False
    readme = folder / README
    title = readme.read_text(encoding="utf-8", errors="replace").partition("\n")[0] if readme.is_file() else ""
    if not title.startswith((kind.public, kind.private)):
        raise BadInput(
            folder, "", f"is there already and is no former {kind.name}", "give another folder, or remove it"
        )
    if private and title.startswith(kind.public):
        problem = f"holds a public {kind.name}, and may be shared"
        raise BadInput(folder, "", problem, "give a private one another folder")
    return True


def _vacant(folder: Path) -> bool:
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def put(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files beside the folder, then let them take its place."""
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
        if old.exists() and not folder.exists():  # also where somebody interrupts
            old.rename(folder)
        for each in (new, old):
            shutil.rmtree(each, ignore_errors=True)
