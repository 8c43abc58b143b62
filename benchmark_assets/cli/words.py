"""Common to all commands: the type of path arguments, the option `--ignore`, and printed phrases."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

PATH = click.Path(path_type=Path)

IGNORE = click.option("--ignore", multiple=True, help="Key or column to ignore in the file; may be repeated.")


def holding(restricted: Sequence[str]) -> str:
    """A note on written files that may contain restricted texts. It lists the restricted texts in the files."""
    return (
        f"PRIVATE, DO NOT PASS ON; contains restricted texts: {', '.join(restricted)}"
        if restricted
        else "no restricted texts"
    )


def without(restricted: Sequence[str]) -> str:
    """A note on written files that are public. It lists the restricted texts that were left out."""
    return f"public; restricted texts left out: {', '.join(restricted) or 'none'}"


def numbers(counts: Mapping[str, int]) -> str:
    """Return the counts as a phrase, such as "3 taken, 1 replaced"."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())
