"""Removal of a model, corpus, task or base set, or of people's work that a scan kept, for the job `remove`.

Each removal is recorded, so that no repair of the home brings the removed rows back (resources.removals).
Not here: the removal of partitions (lineage.removal) and of documents that are no longer in the files (corpus.assets).
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import dagster as dg
import polars as pl

from benchmark_assets.corpus import human_work
from benchmark_assets.lineage import shards
from benchmark_assets.lineage.removal import KEPT, ROWS, remove
from benchmark_assets.pairwise.base_sets import TABLES
from benchmark_assets.translation.systems import Systems
from resources import catalogue
from resources.errors import BadInput, suggestion
from resources.removals import Removal, Selection
from resources.warehouse import Replacement, Warehouse


def model(context: dg.OpExecutionContext, warehouse: Warehouse, systems: Systems, name: str) -> pl.DataFrame:
    """Remove a model from every table; return the number of rows removed from each.

    Raises
    ------
    BadInput
        For an unknown model, or for a model that is still in the registry, from which it would be added again.
    """
    if name in systems.provider.registry().models:
        raise BadInput(systems.provider.registry_path, f"models.{name}", "is in the registry", "remove it there first")
    if name not in context.instance.get_dynamic_partitions("model") and not systems.known([name]):
        problem = f"no such model in this warehouse{suggestion(name, systems.models())}"
        raise BadInput(name, "", problem, "`variorum status --models` lists the models")
    key = pl.DataFrame({"model": [name]})
    record = _recorded(warehouse, "model", name, [Selection(_affected("model"), "model", [name])])
    return remove(context, warehouse, key, [record])


def corpus(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a corpus from every table; return the number of rows removed from each. Its files stay.

    Raises
    ------
    BadInput
        For an unknown corpus.
    """
    key = pl.DataFrame({"corpus": [name]})
    if name not in (corpora := warehouse.read("corpus", columns=["corpus"])["corpus"].to_list()):
        problem = f"no such corpus in this warehouse{suggestion(name, corpora)}"
        raise BadInput(name, "", problem, "`variorum status` lists the corpora")
    outputs = warehouse.read("imported_output", columns=["passage"])["passage"]  # also for passages that a scan removed
    known = shards.passages(warehouse, context.instance.get_dynamic_partitions("passage"))["passage"]
    partitions = sorted({*known, *outputs})
    passages = [passage for passage in partitions if passage.startswith(f"{name}/")]
    tables = [
        table.name for table in catalogue.tables().values()
        if "corpus" in table.columns and "passage" not in table.columns
    ]  # fmt: skip
    counts, emptied = _emptied(warehouse, tables, key)
    selections = [Selection(_affected("passage"), "passage", [], f"{name}/"), Selection(tables, "corpus", [name])]
    emptied.append(_recorded(warehouse, "corpus", name, selections))
    rows = remove(context, warehouse, pl.DataFrame({"passage": passages}, schema={"passage": pl.String}), emptied)
    return pl.concat([rows, counts.filter(pl.col("rows") > 0)])


def task(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a task from every table; return the number of rows removed from each. Its files stay.

    Raises
    ------
    BadInput
        For an unknown task.
    """
    key = pl.DataFrame({"task": [name]})
    if name not in (known := warehouse.read("task", columns=["task"])["task"].to_list()):
        problem = f"no such task in this warehouse{suggestion(name, known)}"
        raise BadInput(name, "", problem, "`variorum status` lists the tasks")
    record = _recorded(warehouse, "task", name, [Selection(_affected("task"), "task", [name])])
    return remove(context, warehouse, key, [record])


def base_set(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove a base set, `name@version`; return the number of rows removed from each table. Its folder stays.

    The next update removes the comparisons with the base set, and the scores computed from them.

    Raises
    ------
    BadInput
        For an unknown base set.
    """
    key = pl.DataFrame({"base_set": [name]})
    owners = ("base_set", "published_base_set")
    known = {each for table in owners for each in warehouse.read(table, columns=["base_set"])["base_set"]}
    if name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise BadInput(
            name, "", f"no such base set in this warehouse{suggestion(name, known)}", f"imported base sets: {names}"
        )
    tables = [*TABLES, "anchor_total", "published_base_set"]
    counts, emptied = _emptied(warehouse, tables, key)
    emptied.append(_recorded(warehouse, "baseset", name, [Selection(tables, "base_set", [name])]))
    warehouse.write(emptied, context.run.run_id)
    return counts.filter(pl.col("rows") > 0)


def kept(context: dg.OpExecutionContext, warehouse: Warehouse, _: Systems, name: str) -> pl.DataFrame:
    """Remove human work on passages that are no longer in the files of a corpus; return the number of rows removed from
    each table.

    Raises
    ------
    BadInput
        If no such work is kept for the corpus.
    """
    rows = human_work.kept(warehouse).filter(corpus=name)
    if rows.is_empty():
        raise BadInput(
            name, "", "has no kept work on passages that are no longer in its files", "see `variorum status`"
        )
    tables, passages = rows["table"].unique().sort().to_list(), rows["passage"].unique().sort().to_list()
    counts, emptied = _emptied(warehouse, tables, rows.select("passage"))
    emptied.append(_recorded(warehouse, "kept", name, [Selection(tables, "passage", passages)]))
    warehouse.write(emptied, context.run.run_id)
    return counts


def _affected(dim: str) -> list[str]:
    """Tables from which rows are removed by their `model`, `passage` or `task`."""
    return [name for name, table in catalogue.tables().items() if dim in table.columns and name not in KEPT]


def _recorded(warehouse: Warehouse, kind: str, name: str, selections: list[Selection]) -> Replacement:
    """A replacement that records a removal, at a time that no removed row is later than, even if the clock was set
    back since."""
    last = datetime.now(UTC).replace(tzinfo=None)
    for selection in selections:
        chosen = pl.col(selection.column).is_in(selection.values)
        if selection.beginning:
            chosen |= pl.col(selection.column).str.starts_with(selection.beginning)
        keys = None if selection.beginning else pl.DataFrame({selection.column: selection.values})
        for table in selection.tables:
            rows = warehouse.read(table, keys, [selection.column, "updated_at"]).filter(chosen)
            last = max([last, *rows["updated_at"].drop_nulls().sort(descending=True).head(1)])
    record = Removal(last.isoformat(), kind, name, selections).row
    return Replacement("removal", record, record.select("removed_at", "kind", "name"))


def _emptied(warehouse: Warehouse, tables: Sequence[str], key: pl.DataFrame) -> tuple[pl.DataFrame, list[Replacement]]:
    """The number of rows with these keys in each table (columns of ROWS), and replacements that remove the rows."""
    counts = [(table, len(warehouse.read(table, key, key.columns))) for table in tables]
    replacements = [Replacement(table, warehouse.empty(table), key) for table in tables]
    return pl.DataFrame(counts, schema=ROWS, orient="row"), replacements
