"""Faults for unknown keys of records and unknown columns of tables, so that no misspelled name is silently skipped.

Here: the faults. Not here: the keys that a layout knows (its reader).
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from resources.errors import BadInput, closest, one_of

DESCRIBED = "list it under `ignore` in the corpus description"
"""Remedy for files of a corpus, which may have additional keys."""

IMPORTED = "name it with `--ignore`"
"""Remedy for files of the commands `variorum import`."""

FIXED = "remove it"
"""Remedy for files that may not have additional keys."""


def unknown_keys(
    path: Path,
    places: Mapping[str, str],
    known: Collection[str],
    remedy: str,
    ignore: Collection[str] = (),
    kind: str = "key",
) -> list[BadInput]:
    """A fault for each unknown name, in alphabetical order. It proposes the most similar known name.

    Parameters
    ----------
    places
        Names in the file, each with its first place (`line 3`), or '' for the whole file.
    known
        Names that the file may have.
    remedy
        A second remedy for an unknown name, such as 'remove it'. The message adds it with 'or'.
    ignore
        Further names that are not read.
    kind
        'key' or 'column'.
    """
    faults = []
    for name in sorted(places.keys() - {*known, *ignore}):
        near = closest(name, known)
        proposal = f"write `{near}`" if near else f"use {one_of(sorted(known))}"
        faults.append(BadInput(path, f"{places[name]} {name}".strip(), f"unknown {kind}", f"{proposal}, or {remedy}"))
    return faults
