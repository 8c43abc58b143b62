"""Backups of a home, and a check that its tables agree with their records and with the versions reported to Dagster.

Here: which files of corpora and registry a backup includes, and the check of all assets, which changes nothing.
Not here: checks of values (findings), copies and their order (resources.backups).
"""

from pathlib import Path

import dagster as dg
import polars as pl

from benchmark_assets.automation import findings
from benchmark_assets.corpus.description import examine
from benchmark_assets.corpus.registry import paths, sources
from benchmark_assets.lineage.events import dagster_records
from benchmark_assets.partitions import dimensions
from resources import backups, catalogue
from resources.errors import BadInput
from resources.keys import KEYS
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Warehouse

AGREEMENT = pl.Schema({
    "asset": pl.String(), "partitions": pl.Int64(), "rows": pl.Int64(), "unreported": pl.Int64(),
    "problem": pl.String(),
})  # fmt: skip


def back_up(warehouse: Warehouse, provider: Provider, folder: Path) -> str:
    """Make a backup in a folder of backups; return one line about it.

    Raises
    ------
    BadInput
        If the folder cannot be written, or contains anything other than backups, or if the ledger is in PostgreSQL.
    """
    ledger = provider.ledger
    if not isinstance(ledger, SqliteLedger):
        raise BadInput(ledger.place, "", "is no file, which backups copy", "copy the database with `pg_dump`")
    outside = {"models.yaml": Path(provider.registry_path)}
    outside |= {f"sources/{path}": file for path, file in sources(warehouse).items()}
    lost = [name for name, file in paths(warehouse).items() if examine(file)[0] is None]
    place, made = backups.back_up(warehouse, ledger.path, outside, folder, [f"sources/{name}/" for name in lost])
    copied = sum(content.size for content in made.files.values() if not content.linked)
    linked = sum(content.linked for content in made.files.values())
    return (
        f"{place}: {len(made.files)} files, {copied / 1e6:.1f} MB copied, {linked} files as in the last backup, "
        f"{sum(made.rows.values())} rows of {len(made.rows)} tables. It contains restricted texts."
        + (f" As in the last backup, since the description cannot be read: {', '.join(lost)}." if lost else "")
    )


def agreement(definitions: dg.Definitions, instance: dg.DagsterInstance) -> pl.DataFrame:
    """Compare each asset's table with the records of its partitions, and these records with Dagster's.

    Returns
    -------
    One row of AGREEMENT per asset with a table:

    - `partitions`: number of partitions with a record.
    - `rows`: number of rows of the table.
    - `unreported`: number of partitions whose version the next update will report to Dagster.
    - `problem`: '' if all rows agree with their partition's record.
    """
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    graph = definitions.resolve_asset_graph()
    rows = []
    for key in graph.toposorted_asset_keys:
        name, partitions_def = key.to_user_string(), graph.get(key).partitions_def
        if name not in catalogue.tables():
            continue
        dims = dimensions(partitions_def)
        states = warehouse.read("materialization", pl.DataFrame({"asset": [name]}))
        stored = warehouse.read(name, columns=[*dims, "fingerprint"])
        faults = findings.unaccounted(stored, states, dims)
        reported = dagster_records(instance, key, partitions_def, states.select(KEYS))
        versions = states.join(reported, on=KEYS)
        unreported = versions.filter(pl.col("version").ne_missing(pl.col("reported_version")))
        problem = f"{faults['rows'][0]} partitions: rows differ from the partition's record" if len(faults) else ""
        rows.append((name, len(states), len(stored), len(unreported), problem))
    return pl.DataFrame(rows, schema=AGREEMENT, orient="row")
