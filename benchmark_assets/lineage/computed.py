"""What functions return to assets: results, and what the pages of partitions show.

Not here: storing and reporting them (refresh).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl


class Computed(NamedTuple):
    """The result of an asset for its stale partitions.

    `tables` maps each table of the asset, even an empty one, to its rows, which have the asset's partition columns and
    the table's own columns, but no provenance. `failures` has the partition columns and `error`, one row per failed
    partition; None if no partition failed. `notes` maps tables to rows about the computation itself; they are stored
    like `tables`, but do not affect the partition's version. `incomplete`, which only assets
    without partitions use, is the reason why rows are missing; '' if no rows are missing. If rows are missing, the
    other rows are stored, the asset stays stale, and its run fails.
    """

    tables: Mapping[str, pl.DataFrame]
    failures: pl.DataFrame | None = None
    notes: Mapping[str, pl.DataFrame] = MappingProxyType({})
    incomplete: str = ""


class Card(NamedTuple):
    """What the page of a partition in Dagster shows: a text in Markdown, and the address of the passage's reader."""

    text: str
    reader: str
