"""File locks between processes, and flushing files to disk: the only module that uses `fcntl`.

A lock belongs to an open file, and ends when the file is closed or when its process ends, even if the process is
killed. Linux and macOS have such locks; Windows does not, so importing this module on Windows raises BadInput. Not
here: what a lock protects.
"""

import os
import sys
from typing import IO

from resources.errors import BadInput

if sys.platform == "win32":
    raise BadInput(
        "Windows", "", "lacks the file locks with which Variorum's processes share a warehouse",
        "install Linux with `wsl --install`, then install and run Variorum in it",
    )  # fmt: skip

import fcntl


def exclusive(file: int | IO[str]) -> None:
    """Take an exclusive lock on a file, after waiting for all other locks to end."""
    fcntl.flock(file, fcntl.LOCK_EX)


def shared(file: int | IO[str]) -> None:
    """Take a shared lock on a file, after waiting for an exclusive lock to end."""
    fcntl.flock(file, fcntl.LOCK_SH)


def tried(file: int | IO[str]) -> bool:
    """Try to take an exclusive lock on a file, without waiting; return whether this succeeded."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def flush(file: int) -> None:
    """Wait until the content of a file or folder is on disk."""
    if sys.platform == "darwin":  # where fsync leaves the content in the cache of the drive
        try:
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
            return
        except OSError:  # not supported, for instance on a network drive
            pass
    os.fsync(file)
