"""What people removed from a home, so that no repair brings it back.

A removal is recorded twice: as a row of the table `removal`, in the transaction that removes the rows, and in a file of
the home, which backups copy. Here: records, the file, and their effect on a warehouse that a repair makes. Not here:
the choice of what is removed (automation.removal).
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import polars as pl

from resources import catalogue, whole_files
from resources.warehouse import Warehouse

FILE = "removals.json"
"""Name of the file in a home and in a backup."""


class Selection(NamedTuple):
    """Rows of some tables: those whose `column` has one of the `values`, or a text that begins with `beginning`."""

    tables: list[str]
    column: str
    values: list[str]
    beginning: str = ""


class Removal(NamedTuple):
    """A removal at a time (UTC, ISO 8601). Rows that were written later belong to a later import, and are live."""

    removed_at: str
    kind: str
    name: str
    selections: list[Selection]

    @property
    def row(self) -> pl.DataFrame:
        """The removal as a row of the table `removal`."""
        moment, selections = datetime.fromisoformat(self.removed_at), json.dumps(self.selections, ensure_ascii=False)
        values = (moment, self.kind, self.name, selections, "")
        return pl.DataFrame([values], ["removed_at", "kind", "name", "selections", "fingerprint"], orient="row")


def recorded(warehouse: Warehouse) -> list[Removal]:
    """The removals that a warehouse records, oldest first."""
    rows = warehouse.read("removal", columns=["removed_at", "kind", "name", "selections"])
    return [
        _removal(removed_at.isoformat(), kind, name, json.loads(selections))
        for removed_at, kind, name, selections in rows.iter_rows()
    ]


def read(folder: Path) -> list[Removal]:
    """The removals in the file of a home or backup; empty if the file is missing or damaged, since the table has them,
    too."""
    try:
        return [_removal(*removal) for removal in json.loads((folder / FILE).read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def united(*sources: Iterable[Removal]) -> list[Removal]:
    """All removals of several sources, each once, oldest first."""
    by_key = {removal[:3]: removal for source in sources for removal in source}
    return [by_key[key] for key in sorted(by_key)]


def write(folder: Path, removals: Sequence[Removal]) -> None:
    """Write the file of a home. The file is on disk when this function returns."""
    if list(removals) != read(folder):
        whole_files.write(folder / FILE, json.dumps(removals, ensure_ascii=False))


def apply(connection: duckdb.DuckDBPyConnection, removals: Iterable[Removal]) -> int:
    """Remove from the database of a connection the rows that were removed before; return the number of rows."""
    count = 0
    for removal in removals:
        for selection in removal.selections:
            column = f'"{selection.column}"'
            matching = f"({column} IN (SELECT unnest($1)) OR ($2 <> '' AND starts_with({column}, $2)))"
            for table in selection.tables:
                declared = catalogue.tables().get(table)
                if declared and selection.column in declared.columns:
                    deleted = connection.execute(
                        f'DELETE FROM "{table}" WHERE {matching} AND updated_at <= $3::TIMESTAMP',
                        [selection.values, selection.beginning, removal.removed_at],
                    ).fetchone()
                    count += deleted[0] if deleted else 0
    return count


def _removal(removed_at: str, kind: str, name: str, selections: Iterable[Iterable[Any]]) -> Removal:
    return Removal(removed_at, kind, name, [Selection(*selection) for selection in selections])
