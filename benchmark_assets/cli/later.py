"""Commands whose modules are imported when they are called: a list of commands needs only names and summaries."""

import re
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from resources.interruptions import ending_at_once


class Later(click.Command):
    """A command in a module of this room.

    Parameters
    ----------
    name
        Name of the command.
    place
        Module and function, such as `showing.status`.
    """

    def __init__(self, name: str, place: str) -> None:
        super().__init__(name)
        self._module, _, self._function = place.partition(".")

    @cached_property
    def loaded(self) -> click.Command:
        """The command itself."""
        with ending_at_once():
            command: click.Command = getattr(import_module(f"{__package__}.{self._module}"), self._function)
        return command

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """The context of a call or a completion is that of the command itself."""
        return self.loaded.make_context(*args, **settings)

    def get_short_help_str(self, limit: int = 45) -> str:
        """The summary, from the text of the module."""
        text = Path(__file__).with_name(f"{self._module}.py").read_text(encoding="utf-8")
        (summary,) = re.findall(rf'^def {self._function}\(.*?"""(.*?)"""', text, re.DOTALL | re.MULTILINE)
        return click.Command(self.name, help=summary).get_short_help_str(limit)


def loaded(command: click.Command) -> click.Command:
    """The command itself, for what reads parameters and subcommands."""
    return command.loaded if isinstance(command, Later) else command
