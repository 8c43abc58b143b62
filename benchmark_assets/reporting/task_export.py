"""The package of results that belong to no corpus: understanding scores and costs, as CSV and Parquet.

Here: rows and files. Not here: packages of corpora and writing to a folder (export), the choice of columns
(contents). The package contains no text of a task, whatever its licence: everyone with access to the task already has
its texts.
"""

from datetime import date
from pathlib import Path

import polars as pl

from benchmark_assets import views
from benchmark_assets.accounts.costs import summed
from benchmark_assets.reporting import dictionary
from benchmark_assets.reporting.contents import CHECKSUMS, files
from benchmark_assets.reporting.export import EXPORT, check_place, made_from, package
from benchmark_assets.reporting.records import About
from resources.errors import BadInput
from resources.folders import put
from resources.warehouse import Warehouse

SUBJECT = "understanding and costs"
DESCRIPTION = (
    "Scores of models on tasks about the understanding of texts, with 95 % intervals and settings, and the costs of "
    "calls. The package has no text of a task."
)

NOTES = f"""
`parquet/` has the same tables, with types. `dictionary.csv` and `dictionary.md` have the type, unit and meaning of each
column. `croissant.json`, `datacite.json` and `datapackage.json` are metadata for data catalogs and programs. `sha256sum
-c {CHECKSUMS}` checks all other files. Spans are given by position: no text of a task is included.
"""


def export_tasks(warehouse: Warehouse, folder: Path, published: date | None = None) -> list[str]:
    """Write the package of understanding scores and costs. The same warehouse gives the same bytes.

    Parameters
    ----------
    folder
        As for `export.export`.
    published
        Date of publication in the metadata records; by default the day (UTC) of the newest score or call.

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
        tables = {
            file: views.read(warehouse, source.table, columns=source.columns) for file, source in files("task").items()
        }
        calls = warehouse.read("model_call")
    by = ["day", "model", "purpose"]
    tables["costs.csv"] = summed(calls.with_columns(day=pl.col("asked").dt.date()), *by).sort(by)
    if tables["tasks.csv"].is_empty() and calls.is_empty():
        raise BadInput("export", "", "has neither tasks nor costs to write", "name a corpus, or import tasks first")
    signatures = tables["understanding_board.csv"]["signature"].unique().sort()
    method = made_from(f"signature of scores: {signature}" for signature in signatures)
    listed = f"| file | content |\n|---|---|\n{dictionary.files_of(list(tables))}"
    languages = tables["tasks.csv"]["language"].unique().sort().to_list()
    about = About(SUBJECT, DESCRIPTION, published or _newest(warehouse, calls), [], languages)
    readme = f"{EXPORT.public}{SUBJECT}\n\n{listed}\n{NOTES}\n## Made from\n\n{method}"
    put(package(about, tables, {}, readme, "understanding_board"), folder)
    return tables["tasks.csv"]["task"].to_list()


def _newest(warehouse: Warehouse, calls: pl.DataFrame) -> date:
    """Day (UTC) of the newest score, task or call."""
    times = [warehouse.read(table, columns=["updated_at"])["updated_at"] for table in ("understanding_board", "task")]
    newest: date = pl.concat([*times, calls["asked"]]).dt.date().max()  # type: ignore[assignment]
    return newest
