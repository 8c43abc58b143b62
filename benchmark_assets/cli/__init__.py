"""The command line. Each command calls functions of the project or Dagster's API, and prints the result."""

import logging
import os
import sys
from typing import Any

import click
from sqlalchemy.exc import DatabaseError, OperationalError

from benchmark_assets.automation.identity import REMEDY
from benchmark_assets.automation.runs import RunFailedError
from benchmark_assets.cli import (
    base_sets,
    benchmarks,
    checking,
    imports,
    keeping,
    money,
    people,
    reproducing,
    showing,
    taking_away,
    working,
)
from resources.errors import BadInput
from resources.home import home

MODULES = (
    working, benchmarks, imports, checking, showing, reproducing, money, people, base_sets, taking_away, keeping,
)  # fmt: skip


class Commands(click.Group):
    """A group of commands. A known error is printed without a traceback, one line per fault; the exit code is 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; raise `ClickException` for a known error."""
        try:
            return super().invoke(ctx)
        except (BadInput, RunFailedError) as error:
            raise click.ClickException(str(error)) from error
        except DatabaseError as error:
            if isinstance(error, OperationalError):  # such as a full disk
                raise
            raise click.ClickException(f"{home() / 'dagster'}: is damaged ({error.orig}); {REMEDY}") from error


@click.group(cls=Commands)
@click.option("--quiet", is_flag=True, help="Print no progress to standard error.")
def main(quiet: bool) -> None:
    """Evaluate translations of classical texts against several human translations."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING if quiet else logging.INFO)  # Dagster sets the logger's own level
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    logging.getLogger("variorum").addHandler(handler)
    logging.getLogger("variorum").setLevel(logging.INFO)


for module in MODULES:
    for command in module.COMMANDS:
        main.add_command(command)


def console() -> None:
    """Entry point of `variorum`.

    Skips the interpreter's shutdown: if torch is loaded, DuckDB 2.0's bindings would print a page of leak warnings.
    Nothing is open at this point, because the warehouse and the event log are closed after each use.
    """
    code: int | str | None = 0
    try:
        main()
    except SystemExit as leave:
        code = leave.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)
