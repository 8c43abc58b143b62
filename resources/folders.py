"""Output folders: checks of the destination, and atomic writes. Not here: single files (whole_files), contents."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from resources import modes
from resources.errors import BadInput

README = "README.md"

PRIVATE = "PRIVATE-do-not-pass-on"
"""Subfolder for all files that quote restricted texts."""


def room(private: bool) -> str:
    """Where the files with texts are in an output folder: '' for the folder itself, or `PRIVATE` with a slash."""
    return f"{PRIVATE}/" if private else ""


class Kind(NamedTuple):
    """A kind of output folder, recognized by its README.

    The title of the README (`title`) begins with `private` if the folder has restricted texts, and with `public`
    otherwise.
    """

    name: str
    public: str
    private: str


def check_vacant(folder: Path, work: str = "") -> None:
    """Raise BadInput if a folder exists and is not empty.

    Parameters
    ----------
    work
        People's work that the folder may contain, such as 'labels', for the error message; '' if it can contain none.
    """
    if _vacant(folder):
        return
    if work:
        raise BadInput(folder, "", f"already exists and may contain {work}", "choose another folder")
    raise BadInput(folder, "", "already exists", "choose another folder, or remove this one")


def check_replaceable(folder: Path, kind: Kind, private: bool) -> bool:
    """Whether the folder exists and may be replaced by a new version, judging only by its README.

    Raises
    ------
    BadInput
        If the folder is of another kind, or is public and would become private.
    """
    if _vacant(folder):
        return False
    heading = title(folder)
    if not heading.startswith((kind.public, kind.private)):
        raise BadInput(
            folder, "", f"already exists and is not a Variorum {kind.name}", "choose another folder, or remove this one"
        )
    if private and heading.startswith(kind.public):
        problem = f"contains a public {kind.name}, and the new one would be private"
        raise BadInput(folder, "", problem, f"choose another folder for the private {kind.name}")
    return True


def title(folder: Path) -> str:
    """First line of a folder's README after the YAML front matter, if it has one; '' without a README."""
    readme = folder / README
    text = readme.read_text(encoding="utf-8", errors="replace") if readme.is_file() else ""
    if text.startswith("---\n"):
        text = text.partition("\n---\n")[2]
    return text.partition("\n")[0]


def _vacant(folder: Path) -> bool:
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def put(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files, given by their paths in the folder, to a temporary sibling folder, then move it into place. Their
    modes are those that the user's umask allows."""
    new, old = (folder.with_name(f".{folder.name}.{uuid4()}.{state}") for state in ("new", "old"))
    try:
        with modes.handed_over(folder):
            for path, content in files.items():
                place = new / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
    except OSError as error:
        raise BadInput(folder, "", f"cannot be written ({error.strerror})", "choose another folder") from error
    finally:
        if old.exists() and not folder.exists():  # also after an interrupt
            old.rename(folder)
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
