"""Entry point of `variorum`: it imports the command line, and ends in words if that is interrupted."""

from resources.interruptions import ending_at_once


def console() -> None:
    """Import the command line, then run it."""
    with ending_at_once():
        from benchmark_assets import cli
    cli.console()
