"""Locks of files between processes, and the flush of a file to disk: the only module that uses `fcntl`.

A lock belongs to an open file, and ends when the file is closed or its process ends, even by a kill. Linux and macOS
have such locks; Windows does not, so importing this module on Windows raises BadInput. Not here: what a lock protects.
"""

import os
import sys
from typing import IO

from resources.errors import BadInput

if sys.platform == "win32":
    raise BadInput(
        "Windows", "", "lacks the file locks with which Variorum's processes share a warehouse",
        "install Linux in it with `wsl --install`, and install and run Variorum there",
    )  # fmt: skip

import fcntl


def exclusive(file: int | IO[str]) -> None:
    """Lock a file against all other locks, after waiting for them to end."""
    fcntl.flock(file, fcntl.LOCK_EX)


def shared(file: int | IO[str]) -> None:
    """Lock a file against exclusive locks, after waiting for them to end."""
    fcntl.flock(file, fcntl.LOCK_SH)


def tried(file: int | IO[str]) -> bool:
    """Lock a file against all other locks, unless it is locked; return whether this call locked it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def flush(file: int) -> None:
    """Wait until a file or folder is on disk."""
    if sys.platform == "darwin":  # there, fsync leaves the content in the cache of the drive
        try:
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
            return
        except OSError:  # a file system without it, such as a network drive
            pass
    os.fsync(file)
