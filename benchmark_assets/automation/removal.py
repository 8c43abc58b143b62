"""What goes when a model, a corpus, a task or a base set goes.

Not here: how partitions go (lineage.removal), documents (corpus.assets).
"""

import dagster as dg
import polars as pl

from benchmark_assets.lineage.removal import ROWS, remove
from benchmark_assets.pairwise.base_sets import TABLES
from benchmark_assets.translation.systems import Systems
from resources import catalogue
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse


def model(context: dg.OpExecutionContext, warehouse: Warehouse, systems: Systems, name: str) -> pl.DataFrame:
    """Remove a model from every table; return how many rows went from which.

    Raises
    ------
    BadInput
        For a model that is in the registry still, from where it would come back, or that is not here.
    """
    if name in systems.provider.registry().models:
        raise BadInput(systems.provider.registry_path, f"models.{name}", "is in the registry", "remove it there first")
    if name not in context.instance.get_dynamic_partitions("model") and not systems.known([name]):
        raise BadInput(name, "", "is no model of this warehouse", "`variorum models` lists those that are")
    return remove(context, warehouse, pl.DataFrame({"model": [name]}))


def corpus(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a corpus with all its passages from every table; its files stay. Return how many rows went from which.

    Raises
    ------
    BadInput
        For a corpus that is not here.
    """
    own = pl.DataFrame({"corpus": [name]})
    if warehouse.read("corpus", own).is_empty():
        raise BadInput(name, "", "is no corpus of this warehouse", "`variorum status` lists those that are")
    passages = [key for key in context.instance.get_dynamic_partitions("passage") if key.startswith(f"{name}/")]
    tables = [
        name
        for name, table in catalogue.tables().items()
        if "corpus" in table.columns and "passage" not in table.columns
    ]
    counts = [(table, len(warehouse.read(table, own, ["corpus"]))) for table in tables]
    also = [Replacement(table, warehouse.empty(table), own) for table in tables]
    gone = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
    rows = remove(context, warehouse, gone, also)
    return pl.concat([rows, pl.DataFrame(counts, schema=rows.schema, orient="row").filter(pl.col("rows") > 0)])


def task(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a task with all its samples and answers from every table; its files stay. Return how many rows went.

    Raises
    ------
    BadInput
        For a task that is not here.
    """
    own = pl.DataFrame({"task": [name]})
    if warehouse.read("task", own).is_empty():
        raise BadInput(name, "", "is no task of this warehouse", "`variorum status` lists those that are")
    return remove(context, warehouse, own)


def base_set(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a base set, `name@version`; its folder stays. Return how many rows went from which table.

    What models were compared with it, and their scores against it, are not known to be anybody's any more: the next
    updates remove them.

    Raises
    ------
    BadInput
        For a base set that is not here.
    """
    own = pl.DataFrame({"base_set": [name]})
    if warehouse.read("base_set", own).is_empty():
        known = ", ".join(warehouse.read("base_set", columns=["base_set"])["base_set"]) or "none"
        raise BadInput(name, "", "is no base set of this warehouse", f"there is {known}")
    counts = [(table, len(warehouse.read(table, own, ["base_set"]))) for table in TABLES]
    warehouse.write([Replacement(table, warehouse.empty(table), own) for table in TABLES], context.run.run_id)
    return pl.DataFrame(counts, schema=ROWS, orient="row")
