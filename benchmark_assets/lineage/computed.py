"""The result that an asset's function returns to `refresh`. Not here: storing and reporting it (refresh)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl


class Computed(NamedTuple):
    """The result of an asset for its stale partitions.

    `tables` holds rows by table name, for every table of the asset even if empty, with the asset's partition columns
    and without provenance. `failures` has the partition columns and `error`, one row per failed partition; None if none
    failed. `notes` holds rows about how the partitions were computed: stored like `tables`, but not part of the
    content's version.
    """

    tables: Mapping[str, pl.DataFrame]
    failures: pl.DataFrame | None = None
    notes: Mapping[str, pl.DataFrame] = MappingProxyType({})
