"""Removing partitions from the warehouse, and reporting the removals to Dagster.

Here: finding and removing the rows of a partition in all tables. Not here: deciding what to remove (a document that
is no longer in the files, a model that is no longer wanted).
"""

from collections.abc import Collection, Sequence

import dagster as dg
import polars as pl

from benchmark_assets.lineage import shards
from benchmark_assets.lineage.events import RETRACTED, report
from resources import catalogue
from resources.keys import KEYS
from resources.state_sums import SUMS
from resources.warehouse import Replacement, Warehouse

KEPT = {
    "model_call", "base_set_item", "anchor_output", "anchor_judgment", "match_label", "pair_label", "imported_label",
    "control_item", "second_pass", "imported_annotation", "imported_span", "pair_control", SUMS,
}  # fmt: skip
"""Tables from which no rows are removed. The accounts keep all costs, and base sets are frozen. Labels by people,
and the draws of their second passes, are kept because they apply again if their texts return. Control items are kept
because they show which of the kept labels can never apply. Sums follow from the removed states."""

ROWS = pl.Schema({"table": pl.String(), "rows": pl.Int64()})
"""Number of removed rows by table."""


def remove(
    context: dg.OpExecutionContext,
    warehouse: Warehouse,
    partitions: pl.DataFrame,
    also: Sequence[Replacement] = (),
    keep: Collection[str] = KEPT,
) -> pl.DataFrame:
    """Remove models, passages or tasks from all tables except `keep`, in one transaction, and from Dagster's
    partitions.

    Each partition with rows is reported to Dagster as retracted, so that downstream partitions become stale. The report
    precedes the write: if the process ends in between, the partitions count as stored but not reported, and are
    therefore stale. A shard with remaining passages is not reported here: its version differs, so that it counts as
    not reported, and the next update reports it.

    Parameters
    ----------
    partitions
        One column, `model`, `passage` or `task`.
    also
        Further replacements for the same transaction.
    keep
        Tables that keep their rows.

    Returns
    -------
    Columns `table` and `rows`: the number of rows removed from each table, for tables that lost rows. Embeddings of
    texts belong to no partition and are kept.
    """
    if partitions.is_empty() and not also:
        return pl.DataFrame(schema=ROWS)
    (dim,) = partitions.columns
    states = warehouse.read("materialization", partitions, ["asset", *KEYS])
    of = shards.around(warehouse, states.select("passage").unique())
    kept = _remaining(of, partitions) if dim == "passage" else of.clear()
    tables = [name for name, table in catalogue.tables().items() if dim in table.columns and name not in keep]
    counts = [(table, len(warehouse.read(table, partitions, [dim]))) for table in tables]
    for (asset,), asset_states in states.join(kept, on="passage", how="anti").group_by(["asset"], maintain_order=True):
        dims = [name for name in KEYS if asset_states[name].ne("").any()]
        rows = shards.collapsed(asset_states.select(*KEYS, version=pl.lit(RETRACTED), row_count=0), of)
        report(context, dg.AssetKey.from_user_string(str(asset)), rows, [], "", dims)
    removals = [Replacement(table, warehouse.empty(table), partitions) for table in tables]
    warehouse.write([*removals, *also], context.run.run_id)
    keys = shards.keyed(partitions.join(kept, on=dim, how="anti"), of) if dim == "passage" else partitions
    for key in keys[dim].unique(maintain_order=True):
        context.instance.delete_dynamic_partition(dim, key)
    rows = pl.DataFrame(counts, schema=ROWS, orient="row")
    return rows.filter(pl.col("rows") > 0, ~pl.col("table").is_in(["materialization", "passage_shard", "change"]))


def _remaining(of: pl.DataFrame, removed: pl.DataFrame) -> pl.DataFrame:
    """Rows of `of` (`passage`, `shard`) that belong to shards with passages that are not in `removed`."""
    return of.join(of.join(removed, on="passage", how="anti"), on="shard", how="semi")


def words(rows: pl.DataFrame) -> str:
    """Counts of removed rows as text, such as `3 rows of reference, …`; '' if no rows were removed.

    The argument has the columns `table` and `rows`.
    """
    return ", ".join(f"{count} rows of {table}" for table, count in rows.iter_rows())
