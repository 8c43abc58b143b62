"""Descriptor of a package's CSV files for frictionless and other tools for tables: Data Package 1, as JSON.

Here: the descriptor. Not here: the meanings of columns (dictionary), other records (croissant). Source: Tabular Data
Package specification (https://specs.frictionlessdata.io/tabular-data-package/).
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from benchmark_assets.reporting.croissant import IDENTIFIER, About, address, software
from benchmark_assets.reporting.dictionary import Entry, title

TYPES = {
    "VARCHAR": "string", "DOUBLE": "number", "FLOAT": "number", "BOOLEAN": "boolean", "INTEGER": "integer",
    "BIGINT": "integer", "TIMESTAMP": "datetime", "DATE": "date",
}  # fmt: skip


def datapackage(about: About, meanings: Sequence[Entry]) -> dict[str, Any]:
    """The descriptor of a package: each CSV file with the type and meaning of its columns; lists are JSON arrays."""
    licences = [{"name": each, "path": address(each)} for each in about.licences if IDENTIFIER.fullmatch(each)]
    return {
        "profile": "tabular-data-package",
        "name": about.name.lower(),
        "title": about.title,
        "description": about.abstract,
        "version": software()["version"],
        **({"licenses": licences} if licences else {}),
        "resources": [
            {
                "profile": "tabular-data-resource",
                "name": table,
                "path": f"{table}.csv",
                "description": title(table),
                "encoding": "utf-8",
                "schema": {"fields": [_field(each) for each in columns]},
            }
            for table, columns in groupby(meanings, lambda each: each.table)
        ],
    }


def _field(column: Entry) -> dict[str, str]:
    kind = "array" if column.type.endswith("[]") else TYPES[column.type]
    return {"name": column.column, "type": kind, "description": column.meaning}
