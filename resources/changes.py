"""The log of changes: the partitions of each table that were written, in the order of the transactions that wrote them.

Every write to a warehouse logs itself in its own transaction, so that a reader who knows the number of the last change
that it has seen finds later ones without comparing states. Here: what is logged. Not here: the SQL that numbers the
entries (the warehouses), what follows from changes (benchmark_assets.lineage.looks).
"""

from collections.abc import Iterable

import polars as pl

from resources import catalogue
from resources.keys import KEYS
from resources.state_sums import SUMS

LOG = "change"
"""The table with the log: one entry for each table and partition, with the number of its last change."""

EVERY = "*"
"""Value of a column of an entry that concerns every partition, or partitions that the writer did not name."""

MOST = 500
"""Maximum number of partitions of one write that are logged one by one."""

FORGET = f"DELETE FROM {LOG} WHERE number < (SELECT max(number) FROM {LOG}) AND number <= $1"
"""Statement that removes entries up to a number, but not the last one, from which the next number follows."""

LAST = f"SELECT coalesce(max(number), 0) FROM {LOG}"
"""Query for the number of the last entry."""

SINCE = f"SELECT source, {', '.join(KEYS)}, run_id, number FROM {LOG} WHERE number > $1"
"""Query for entries since a number."""

UNLOGGED = {LOG, SUMS, "embedding", "unit_sum"}
"""Tables whose writes change no setting of any partition."""


def entries(parts: Iterable[tuple[str, pl.DataFrame | None]]) -> pl.DataFrame:
    """Entries about a write: `source` and the columns of `KEYS`.

    Parameters
    ----------
    parts
        Tables, and the written partitions of each; None for a whole table. A state is logged under the name of its
        asset, which is the name of the asset's own table. A write that removes entries from the log, since it removes
        names from all tables, is logged without names.
    """
    parts = list(parts)
    most = 0 if any(table == LOG for table, _ in parts) else MOST
    rows = [pl.DataFrame(schema=dict.fromkeys(["source", *KEYS], pl.String))]
    for table, partitions in parts:
        if table in UNLOGGED:
            continue
        declared = catalogue.table(table).columns
        keys = partitions if partitions is not None else pl.DataFrame([{}])
        source = pl.col("asset") if "asset" in keys.columns else pl.lit(table)
        named = [pl.col(key) if key in keys.columns else pl.lit(EVERY if key in declared else "") for key in KEYS]
        entry = keys.select(source.alias("source"), *(value.alias(key) for value, key in zip(named, KEYS, strict=True)))
        entry = entry.unique(maintain_order=True)
        if len(entry) > most:
            every = [pl.when(pl.col(key) == "").then(pl.lit("")).otherwise(pl.lit(EVERY)).alias(key) for key in KEYS]
            entry = entry.select("source", *every).unique(maintain_order=True)
        rows.append(entry)
    return pl.concat(rows).unique(maintain_order=True)
