"""Shared by the commands: the type of path arguments, and phrases to print."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

PATH = click.Path(path_type=Path)

IGNORE = click.option("--ignore", multiple=True, help="Key or column that is not read; may be repeated.")


def holding(restricted: Sequence[str]) -> str:
    """Disclosure for files that may contain restricted texts: names the restricted texts that they do contain."""
    return (
        f"PRIVATE, DO NOT PASS ON; restricted texts in it: {', '.join(restricted)}"
        if restricted
        else "no restricted texts"
    )


def without(restricted: Sequence[str]) -> str:
    """Disclosure for public files: names the restricted texts that they leave out."""
    return f"public; restricted texts left out: {', '.join(restricted) or 'none'}"


def numbers(counts: Mapping[str, int]) -> str:
    """Counts as a list, such as "3 taken, 1 replaced"."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())
