"""What is of no corpus as a package: scores of understanding and costs, as CSV and Parquet with a dictionary.

Here: which rows, and the files. Not here: packages of corpora and how files come to lie in a folder (export), which
columns there are (contents). No text of a task is in it, whatever its licence: who has the task has its texts.
"""

from pathlib import Path

import polars as pl

from benchmark_assets.accounts.costs import summed
from benchmark_assets.reporting import dictionary
from benchmark_assets.reporting.contents import CHECKSUMS, as_csv, as_parquet, files
from benchmark_assets.reporting.export import EXPORT, check_place, checksums, made_from, parquet
from resources.errors import BadInput
from resources.folders import README, put
from resources.warehouse import Warehouse

NOTES = f"""
`parquet/` has each table again, with types; `dictionary.csv` and `dictionary.md` type, unit and meaning of each column.
`sha256sum -c {CHECKSUMS}` checks all other files. Answers have the places of spans, not the words; no text of a task is
here.
"""


def export_tasks(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write the package; the same warehouse gives the same bytes.

    Parameters
    ----------
    folder
        As for `export.export`.

    Returns
    -------
    Codes of the tasks with content in the package.

    Raises
    ------
    BadInput
        If there is neither a task nor a call; for the folder as `export.export`.
    """
    folder = folder.resolve()
    check_place(folder, private=False)
    with warehouse.exclusively():  # consistent tables
        tables = {file: warehouse.read(each.table, columns=each.columns) for file, each in files("task").items()}
        calls = warehouse.read("model_call")
    by = ["day", "model", "purpose"]
    tables["costs.csv"] = summed(calls.with_columns(day=pl.col("asked").dt.date()), *by).sort(by)
    if tables["tasks.csv"].is_empty() and calls.is_empty():
        raise BadInput("export", "", "has neither tasks nor costs to write", "name a corpus, or import tasks first")
    written = {file: as_csv(rows) for file, rows in tables.items()}
    written |= {parquet(file): as_parquet(rows) for file, rows in tables.items()}
    meanings = dictionary.entries(tables)
    written["dictionary.csv"] = as_csv(dictionary.frame(meanings))
    written["dictionary.md"] = dictionary.page(meanings).encode()
    signatures = tables["understanding_board.csv"]["signature"].unique().sort()
    made = made_from(f"signature of scores: {each}" for each in signatures)
    listed = f"| file | content |\n|---|---|\n{dictionary.files_of(list(tables))}"
    title = f"{EXPORT.public}understanding and costs"
    written[README] = f"{title}\n\n{listed}\n{NOTES}\n## Made from\n\n{made}".encode()
    put(written | {CHECKSUMS: checksums(written)}, folder)
    return tables["tasks.csv"]["task"].to_list()
