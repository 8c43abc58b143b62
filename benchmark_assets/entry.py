"""Entry point of `variorum`: it imports the commands, which takes seconds, and ends in words if that is interrupted."""

import os
import signal
import sys
from types import FrameType


def console() -> None:
    """Import the command line, then run it."""
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in former.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _leave)
    from benchmark_assets import cli

    for number, handler in former.items():
        signal.signal(number, handler)
    cli.console()


def _leave(_: int, __: FrameType | None) -> None:
    """End at once: an exception could be caught by a module that tries what it can import."""
    sys.stderr.write("Error: interrupted; nothing had begun. Run the same command again\n")
    sys.stderr.flush()
    os._exit(128 + signal.SIGINT)
