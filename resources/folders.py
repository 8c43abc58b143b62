"""Folders that are written for people: where they may be put, and how they appear whole or not at all.

Not here: single files (whole_files), what is in them.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from resources.errors import BadInput

README = "README.md"

PRIVATE = "PRIVATE-do-not-pass-on"
"""Folder within a folder, for everything that quotes restricted texts."""


def check_vacant(folder: Path) -> None:
    """Raise BadInput where a folder that is to be written is there already, and not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(folder, "", "is there already", "give another folder, or remove it")


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
