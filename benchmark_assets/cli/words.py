"""Shared by the commands: the type of path arguments, an option, and printed phrases."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

PATH = click.Path(path_type=Path)

IGNORE = click.option("--ignore", multiple=True, help="Key or column of the file to ignore; may be repeated.")


def holding(restricted: Sequence[str]) -> str:
    """Disclosure about written files that may contain restricted texts: lists those that they contain."""
    return (
        f"PRIVATE, DO NOT PASS ON; restricted texts in it: {', '.join(restricted)}"
        if restricted
        else "no restricted texts"
    )


def without(restricted: Sequence[str]) -> str:
    """Disclosure about public files: lists the restricted texts that were left out."""
    return f"public; restricted texts left out: {', '.join(restricted) or 'none'}"


def numbers(counts: Mapping[str, int]) -> str:
    """Counts as a list, such as "3 taken, 1 replaced"."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())
