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
from resources.warehouse import Replacement, Warehouse

KEPT = {
    "model_call", "base_set_item", "anchor_output", "anchor_judgment", "match_label", "pair_label", "imported_label",
    "control_item", "imported_annotation", "imported_span", "pair_control",
}  # fmt: skip
"""Tables from which no rows are removed. The accounts keep all costs, and base sets are frozen. Labels by people are
kept because they apply again if their texts return. Control items are kept because they show which of the kept labels
can never apply."""

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

    Each partition with rows is reported to Dagster as retracted, so that downstream partitions become stale. A shard is
    reported with the version of its remaining passages. The report precedes the write: if the process ends in between,
    the partitions count as stored but not reported, and are therefore stale.

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
    removed = states.with_columns(version=pl.lit(RETRACTED), row_count=pl.lit(0, pl.Int32))
    of = shards.around(warehouse, states.select("passage").unique())
    if dim == "passage":  # the other passages of a shard remain
        others = of.join(partitions, on="passage", how="anti")
        remaining = warehouse.read("materialization", others.select("passage"), removed.columns)
        removed = pl.concat([removed, remaining])
    tables = [name for name, table in catalogue.tables().items() if dim in table.columns and name not in keep]
    counts = [(table, len(warehouse.read(table, partitions, [dim]))) for table in tables]
    for (asset,), asset_states in removed.group_by(["asset"], maintain_order=True):
        dims = [name for name in KEYS if asset_states[name].ne("").any()]
        rows = shards.collapsed(asset_states.drop("asset"), of)
        report(context, dg.AssetKey.from_user_string(str(asset)), rows, [], "", dims)
    removals = [Replacement(table, warehouse.empty(table), partitions) for table in tables]
    warehouse.write([*removals, *also], context.run.run_id)
    for key in _emptied(partitions[dim], of):
        context.instance.delete_dynamic_partition(dim, key)
    rows = pl.DataFrame(counts, schema=ROWS, orient="row")
    return rows.filter(pl.col("rows") > 0, ~pl.col("table").is_in(["materialization", "passage_shard"]))


def _emptied(keys: pl.Series, of: pl.DataFrame) -> list[str]:
    """Dagster's keys among `keys` and among the shards of which all passages are removed. `of` has all passages of the
    shards (`passage`, `shard`)."""
    is_gone = pl.col("passage").is_in(keys.implode())
    emptied = of.group_by("shard", maintain_order=True).agg(is_gone.all()).filter("passage")
    return [*keys.filter(~keys.is_in(of["passage"].implode())), *emptied["shard"]]


def words(rows: pl.DataFrame) -> str:
    """Counts of removed rows as text, such as `3 rows of reference, …`; '' if no rows were removed.

    The argument has the columns `table` and `rows`.
    """
    return ", ".join(f"{count} rows of {table}" for table, count in rows.iter_rows())
