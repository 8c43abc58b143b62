"""Removing partitions from every table, and saying so.

Here: which tables a partition has rows in. Not here: why it goes (a document that left the files, a model that nobody
wants any more).
"""

from collections.abc import Sequence

import dagster as dg
import polars as pl

from benchmark_assets.lineage.events import RETRACTED, report
from resources import catalogue
from resources.keys import KEYS
from resources.warehouse import Replacement, Warehouse

KEPT = {"model_call", "base_set_item", "anchor_output", "anchor_judgment", "pair_label"}
"""Tables that lose nothing: what was paid stays in the accounts, base sets are frozen, and what people said of texts
that are gone applies again where these come back."""

ROWS = pl.Schema({"table": pl.String(), "rows": pl.Int64()})


def remove(
    context: dg.OpExecutionContext, warehouse: Warehouse, gone: pl.DataFrame, also: Sequence[Replacement] = ()
) -> pl.DataFrame:
    """Remove models, passages or tasks from all tables, in one transaction, and from Dagster's list of partitions.

    Dagster is told of each partition that had rows, so that what was computed from it is seen to be stale. It is told
    first: should the process end in between, what is stored but not reported is seen to be due.

    Parameters
    ----------
    gone
        One column, `model`, `passage` or `task`.
    also
        What goes in the same transaction.

    Returns
    -------
    Columns `table` and `rows`: how many rows went, of tables that lost any. Vectors of texts (`embedding`) have no
    partition and stay.
    """
    if gone.is_empty() and not also:
        return pl.DataFrame(schema=ROWS)
    (dim,) = gone.columns
    states = warehouse.read("materialization", gone)
    tables = [name for name, table in catalogue.tables().items() if dim in table.columns and name not in KEPT]
    counts = [(table, len(warehouse.read(table, gone, [dim]))) for table in tables]
    for (asset,), own in states.group_by(["asset"], maintain_order=True):
        dims = [name for name in KEYS if own[name].ne("").any()]
        rows = own.select(*KEYS, version=pl.lit(RETRACTED), row_count=0)
        report(context, dg.AssetKey.from_user_string(str(asset)), rows, [], "", dims)
    going = [Replacement(table, warehouse.empty(table), gone) for table in tables]
    warehouse.write([*going, *also], context.run.run_id)
    for key in gone[dim]:
        context.instance.delete_dynamic_partition(dim, key)
    found = pl.DataFrame(counts, schema=ROWS, orient="row")
    return found.filter(pl.col("rows") > 0, pl.col("table") != "materialization")


def words(rows: pl.DataFrame) -> str:
    """What `remove` took away, as a clause; '' where there were no rows."""
    return ", ".join(f"{count} rows of {table}" for table, count in rows.iter_rows())
