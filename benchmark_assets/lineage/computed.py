"""What an asset's function hands to `refresh`. Not here: storing and reporting it (refresh)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl


class Computed(NamedTuple):
    """What an asset computed for the partitions that were due.

    `tables` holds rows by table name, of every table even where it has none, with the asset's partition columns and
    without provenance. `failures` has the partition columns and `error`, a row a partition that could not be computed;
    None where none failed. `notes` holds rows that say how the partitions came about: stored like `tables`, without a
    part in the version of the content.
    """

    tables: Mapping[str, pl.DataFrame]
    failures: pl.DataFrame | None = None
    notes: Mapping[str, pl.DataFrame] = MappingProxyType({})
