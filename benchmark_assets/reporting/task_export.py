"""The package of results that belong to no corpus: understanding scores and costs, as CSV and Parquet.

Here: rows and files. Not here: packages of corpora and writing to a folder (export), the choice of columns
(contents). The package contains no text of a task, whatever its licence: everyone with access to the task already has
its texts.
"""

from pathlib import Path

import polars as pl

from benchmark_assets.accounts.costs import summed
from benchmark_assets.reporting import dictionary
from benchmark_assets.reporting.contents import CHECKSUMS, files
from benchmark_assets.reporting.export import EXPORT, check_place, checksums, made_from, table_files
from resources.errors import BadInput
from resources.folders import README, put
from resources.warehouse import Warehouse

NOTES = f"""
`parquet/` has the same tables, with types. `dictionary.csv` and `dictionary.md` have the type, unit and meaning of each
column. `sha256sum -c {CHECKSUMS}` checks all other files. Spans are given by position: no text of a task is included.
"""


def export_tasks(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write the package of understanding scores and costs. The same warehouse gives the same bytes.

    Parameters
    ----------
    folder
        As for `export.export`.

    Returns
    -------
    Codes of the tasks in the package.

    Raises
    ------
    BadInput
        If the warehouse has neither tasks nor calls of models, or if the folder is one that `export.export` rejects.
    """
    folder = folder.resolve()
    check_place(folder, private=False)
    with warehouse.consistently():
        tables = {file: warehouse.read(source.table, columns=source.columns) for file, source in files("task").items()}
        calls = warehouse.read("model_call")
    by = ["day", "model", "purpose"]
    tables["costs.csv"] = summed(calls.with_columns(day=pl.col("asked").dt.date()), *by).sort(by)
    if tables["tasks.csv"].is_empty() and calls.is_empty():
        raise BadInput("export", "", "has neither tasks nor costs to write", "name a corpus, or import tasks first")
    written, _ = table_files(tables)
    signatures = tables["understanding_board.csv"]["signature"].unique().sort()
    method = made_from(f"signature of scores: {signature}" for signature in signatures)
    listed = f"| file | content |\n|---|---|\n{dictionary.files_of(list(tables))}"
    title = f"{EXPORT.public}understanding and costs"
    written[README] = f"{title}\n\n{listed}\n{NOTES}\n## Made from\n\n{method}".encode()
    put(written | {CHECKSUMS: checksums(written)}, folder)
    return tables["tasks.csv"]["task"].to_list()
