"""Removing partitions from every table, and reporting it.

Here: the tables with rows of a partition. Not here: the reason for a removal (a document that left the files, a model
that is no longer wanted).
"""

from collections.abc import Sequence

import dagster as dg
import polars as pl

from benchmark_assets.lineage.events import RETRACTED, report
from resources import catalogue
from resources.keys import KEYS
from resources.warehouse import Replacement, Warehouse

KEPT = {"model_call", "base_set_item", "anchor_output", "anchor_judgment", "pair_label"}
"""Tables that keep their rows: the accounts keep all costs, base sets are frozen, and labels by people apply again if
their texts return."""

ROWS = pl.Schema({"table": pl.String(), "rows": pl.Int64()})


def remove(
    context: dg.OpExecutionContext, warehouse: Warehouse, gone: pl.DataFrame, also: Sequence[Replacement] = ()
) -> pl.DataFrame:
    """Remove models, passages or tasks from all tables, in one transaction, and from Dagster's list of partitions.

    Each partition with rows is reported to Dagster as retracted, so that downstream partitions are stale. The report
    comes before the write: if the process ends in between, the partitions count as stored but not reported, and so as
    stale.

    Parameters
    ----------
    gone
        One column, `model`, `passage` or `task`.
    also
        Further replacements for the same transaction.

    Returns
    -------
    Columns `table` and `rows`: number of rows removed, for tables that lost any. Vectors of texts (`embedding`) have no
    partition and stay.
    """
    if gone.is_empty() and not also:
        return pl.DataFrame(schema=ROWS)
    (dim,) = gone.columns
    states = warehouse.read("materialization", gone)
    tables = [name for name, table in catalogue.tables().items() if dim in table.columns and name not in KEPT]
    counts = [(table, len(warehouse.read(table, gone, [dim]))) for table in tables]
    for (asset,), partitions in states.group_by(["asset"], maintain_order=True):
        dims = [name for name in KEYS if partitions[name].ne("").any()]
        rows = partitions.select(*KEYS, version=pl.lit(RETRACTED), row_count=0)
        report(context, dg.AssetKey.from_user_string(str(asset)), rows, [], "", dims)
    going = [Replacement(table, warehouse.empty(table), gone) for table in tables]
    warehouse.write([*going, *also], context.run.run_id)
    for key in gone[dim]:
        context.instance.delete_dynamic_partition(dim, key)
    removed = pl.DataFrame(counts, schema=ROWS, orient="row")
    return removed.filter(pl.col("rows") > 0, pl.col("table") != "materialization")


def words(rows: pl.DataFrame) -> str:
    """The rows removed by `remove`, as a clause; '' if there were none."""
    return ", ".join(f"{count} rows of {table}" for table, count in rows.iter_rows())
