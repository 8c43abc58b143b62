"""Entry point of `variorum`: it imports the command line, and ends in words if that is interrupted."""

import gc

from resources.interruptions import ending_at_once

OBJECTS = 100_000
"""Number of new objects after which Python searches for cycles. Imports make half a million objects that stay: with the
default of 700, the search would take a fifth of the time that a command needs to start."""


def console() -> None:
    """Import the command line, then run it."""
    gc.set_threshold(OBJECTS)
    with ending_at_once():
        from benchmark_assets import cli
    cli.console()
