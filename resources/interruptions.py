"""Ctrl-C and SIGTERM while modules are imported, which takes seconds: the program ends at once, and in words."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ending_at_once() -> Iterator[None]:
    """A block that imports modules. An exception could be caught by a module that tries what it can import."""
    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    former = {number: signal.getsignal(number) for number in numbers}
    for number, handler in former.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _leave(_: int, __: FrameType | None) -> None:
    sys.stderr.write(
        "Error: interrupted while the program was loading; everything stored until now is kept. Run the same command "
        "again\n"
    )
    sys.stderr.flush()
    os._exit(128 + signal.SIGINT)
