"""The command line. Each command calls functions of the project or Dagster's API, and prints the result.

A module of commands is imported when one of its commands is called.
"""

import logging
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

import click

from benchmark_assets.cli.later import Later
from benchmark_assets.cli.progress import HomeLog, Terminal, shown
from benchmark_assets.cli.words import CommandGroup
from resources import disk
from resources.errors import BadInput, RunFailedError
from resources.home import home
from resources.modes import keep_private

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Begin": {
        "demo": "working.demo", "open": "opening.open_place", "benchmarks": "benchmarks.list_benchmarks",
        "add": "benchmarks.add", "new": "beginning.new", "check": "checking.check", "import": "imports.import_",
    },
    "Evaluate": {
        "evaluate": "working.evaluate", "update": "working.update", "scan": "working.scan", "stale": "showing.stale",
        "status": "showing.status",
    },
    "Read and share": {
        "reader": "taking_away.write_pages", "report": "taking_away.write_report",
        "site": "taking_away.write_pages_of_all", "trace": "showing.show_trace",
        "contrast": "showing.show_contrast",
        "export": "taking_away.export_corpus", "compare": "taking_away.compare_packages",
        "reproduce": "benchmarks.show_reproduction", "snapshot": "showing.snapshot",
    },
    "Ask people": {
        "annotate": "people.annotate", "spans": "people.write_spans", "glossary": "people.write_glossary",
        "design": "people.design", "validate": "validating.validate",
    },
    "Pay": {"costs": "money.show_costs", "confirm": "money.confirm", "record": "taking_away.record"},
    "Keep a home": {
        "ui": "serving.ui", "worker": "serving.worker", "backup": "keeping.backup", "restore": "keeping.restore",
        "verify": "keeping.verify", "rebuild": "keeping.rebuild", "migrate-to": "keeping.migrate_to",
        "remove": "working.remove",
    },
}  # fmt: skip
"""All commands, as the help lists them, with their modules in this room and their functions."""

SUMMARY = 200
"""Width of a command's summary in the help, so that none is cut."""


class Interruption(click.ClickException):
    """Ctrl-C or SIGTERM while a command worked."""

    exit_code = 128 + signal.SIGINT

    def __init__(
        self,
        message: str = "interrupted; everything stored until now is kept. Run the same command again: it continues, "
        "and pays for no stored reply again. `variorum costs --uncertain` lists calls that were under way",
    ) -> None:
        super().__init__(message)


class Commands(CommandGroup):
    """A group of commands. A known error is printed without a traceback, one line per fault; the exit code is 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; raise `ClickException` for a known error and for Ctrl-C or SIGTERM."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise Interruption from interrupt
        except (BadInput, RunFailedError) as error:
            raise click.ClickException(str(error)) from error
        except click.ClickException:
            raise
        except Exception as error:
            from sqlalchemy.exc import DatabaseError, OperationalError

            from benchmark_assets.automation.identity import REMEDY

            if fault := disk.fault(error, home()):
                raise click.ClickException(str(fault)) from error
            if isinstance(error, DatabaseError) and not isinstance(error, OperationalError):
                raise click.ClickException(f"{home() / 'dagster'}: is damaged ({error.orig}); {REMEDY}") from error
            raise

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run the program, and exit; what it prints is `Shown`. Ctrl-C before and after a command, or where it asks,
        ends like one while it works."""
        exits = settings.pop("standalone_mode", True)
        with shown():
            try:
                code = super().main(*args, **{**settings, "standalone_mode": False})
            except (click.Abort, click.ClickException) as error:
                if not exits:
                    raise
                fault = Interruption() if isinstance(error, click.Abort) else error
                fault.show()
                sys.exit(fault.exit_code)
            if exits:
                sys.exit(code if isinstance(code, int) else 0)
            return code

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, with whole summaries."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(SUMMARY)) for name in commands])


@click.group(cls=Commands)
@click.option("--quiet", is_flag=True, help="Show no progress; it is still written to logs/variorum.log in the home.")
@click.version_option(package_name="variorum", message="%(prog)s %(version)s")
def main(quiet: bool) -> None:
    """Evaluate translations of classical texts against several human translations.

    The home is the folder that VARIORUM_HOME names; by default, the folder warehouse of a checkout, or
    ~/.local/share/variorum.
    """
    terminal = Terminal(only_errors=click.get_current_context().invoked_subcommand == "demo")
    terminal.setLevel(logging.WARNING if quiet else logging.INFO)  # Dagster sets the logger's own level
    click.get_current_context().call_on_close(terminal.clear)
    logging.getLogger("variorum").handlers = [terminal, HomeLog()]
    logging.getLogger("variorum").setLevel(logging.INFO)


for commands in SECTIONS.values():
    for name, place in commands.items():
        main.add_command(Later(name, place))


def console() -> None:
    """Entry point of `variorum`.

    Skips the interpreter's shutdown: if torch is loaded, DuckDB 2.0's bindings would print a page of leak warnings.
    Nothing is open at this point, because the warehouse and the event log are closed after each use.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C does
    code: int | str | None = 0
    keep_private()
    try:
        main()
    except SystemExit as leave:
        code = leave.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)
