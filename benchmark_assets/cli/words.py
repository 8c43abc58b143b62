"""Common to all commands: the type of path arguments, the option `--ignore`, former names, and printed phrases."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import click

PATH = click.Path(path_type=Path)

FORMER = {
    "anchors": ("trace NAME@VERSION",), "baseset": ("new baseset", "trace NAME@VERSION"),
    "campaign": ("annotate --as pearmut FILE CORPUS",), "download": ("scan --download",),
    "examples": ("report --examples FILE CORPUS",), "funnel": ("trace CORPUS", "trace CORPUS/PASSAGE"),
    "import annotations": ("import labels FILE",), "import pairs": ("import labels --pairs FILE",),
    "latex": ("export --as latex FOLDER CORPUS",), "marked-spans": ("spans --from FILE OUT TASK",),
    "models": ("status --models",), "pairs": ("annotate --as pairs FILE CORPUS",),
    "release": ("confirm ATTEMPT --cost 0 --note NOTE",),
    "shared-task": ("export --as shared-task FOLDER CORPUS",), "task": ("spans",), "uncertain": ("costs --uncertain",),
    "understanding": ("status --tasks",), "webserver": ("ui --no-daemon",),
}  # fmt: skip
"""What to type in place of a former command."""


class CommandGroup(click.Group):
    """A group of commands that says what to type in place of a former or unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; for a former or unknown name, say which one may be meant."""
        name = args[0] if ctx.parent is None else f"{ctx.info_name} {args[0]}"
        if name in FORMER:
            present = " and ".join(f"`variorum {each}`" for each in FORMER[name])
            ctx.fail(f"`variorum {name}` was renamed: use {present}.")
        if self.get_command(ctx, args[0]) is None and (close := get_close_matches(args[0], self.commands)):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {' or '.join(close)}?")
        return super().resolve_command(ctx, args)


IGNORE = click.option("--ignore", multiple=True, help="Key or column to ignore in the file; may be repeated.")


def holding(restricted: Sequence[str]) -> str:
    """A note on written files that may contain restricted texts. It lists the restricted texts in the files."""
    return (
        f"PRIVATE, DO NOT PASS ON; contains restricted texts: {', '.join(restricted)}"
        if restricted
        else "no restricted texts"
    )


def without(restricted: Sequence[str]) -> str:
    """A note on written files without restricted texts. It lists those that were left out."""
    return f"restricted texts left out: {', '.join(restricted) or 'none'}"


def numbers(counts: Mapping[str, int]) -> str:
    """Return the counts as a phrase, such as "3 taken, 1 replaced"."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())
