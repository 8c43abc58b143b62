"""Removal of a model, a corpus, a task or a base set.

Not here: removal of partitions (lineage.removal), of documents (corpus.assets).
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
    """Remove a model from every table; return the number of rows removed from each.

    Raises
    ------
    BadInput
        For an unknown model, or one that is still in the registry, which would add it again.
    """
    if name in systems.provider.registry().models:
        raise BadInput(systems.provider.registry_path, f"models.{name}", "is in the registry", "remove it there first")
    if name not in context.instance.get_dynamic_partitions("model") and not systems.known([name]):
        raise BadInput(name, "", "no such model in this warehouse", "`variorum models` lists the models")
    return remove(context, warehouse, pl.DataFrame({"model": [name]}))


def corpus(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a corpus with all its passages from every table; return the number of rows removed. Its files stay.

    Raises
    ------
    BadInput
        For an unknown corpus.
    """
    key = pl.DataFrame({"corpus": [name]})
    if warehouse.read("corpus", key).is_empty():
        raise BadInput(name, "", "no such corpus in this warehouse", "`variorum status` lists the corpora")
    passages = [each for each in context.instance.get_dynamic_partitions("passage") if each.startswith(f"{name}/")]
    tables = [
        name
        for name, table in catalogue.tables().items()
        if "corpus" in table.columns and "passage" not in table.columns
    ]
    counts = [(table, len(warehouse.read(table, key, ["corpus"]))) for table in tables]
    also = [Replacement(table, warehouse.empty(table), key) for table in tables]
    gone = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
    rows = remove(context, warehouse, gone, also)
    return pl.concat([rows, pl.DataFrame(counts, schema=rows.schema, orient="row").filter(pl.col("rows") > 0)])


def task(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a task with its samples and answers from every table; return the number of rows removed. Its files stay.

    Raises
    ------
    BadInput
        For an unknown task.
    """
    key = pl.DataFrame({"task": [name]})
    if warehouse.read("task", key).is_empty():
        raise BadInput(name, "", "no such task in this warehouse", "`variorum status` lists the tasks")
    return remove(context, warehouse, key)


def base_set(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a base set, `name@version`; return the number of rows removed from each table. Its folder stays.

    The next update removes comparisons with the base set, and scores against it.

    Raises
    ------
    BadInput
        For an unknown base set.
    """
    key = pl.DataFrame({"base_set": [name]})
    if warehouse.read("base_set", key).is_empty():
        names = ", ".join(warehouse.read("base_set", columns=["base_set"])["base_set"]) or "none"
        raise BadInput(name, "", "no such base set in this warehouse", f"imported base sets: {names}")
    counts = [(table, len(warehouse.read(table, key, ["base_set"]))) for table in TABLES]
    warehouse.write([Replacement(table, warehouse.empty(table), key) for table in TABLES], context.run.run_id)
    return pl.DataFrame(counts, schema=ROWS, orient="row")
