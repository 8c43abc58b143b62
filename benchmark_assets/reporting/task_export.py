"""What is of no corpus as a package: scores of understanding and costs, as CSV and Parquet with a dictionary.

Here: which rows, and the files. Not here: packages of corpora and how files come to lie in a folder (export), which
columns there are (contents). No text of a task is in it, whatever its licence: who has the task has its texts.
"""

from pathlib import Path

import polars as pl

from benchmark_assets.accounts.costs import summed
from benchmark_assets.reporting import dictionary
from benchmark_assets.reporting.contents import CHECKSUMS, OF_NONE, as_csv, as_parquet
from benchmark_assets.reporting.export import EXPORT, check_place, checksums, made_from, parquet
from resources.errors import BadInput
from resources.folders import README, put
from resources.warehouse import Warehouse

FILES = f"""\
| file | what |
|---|---|
| `tasks.csv` | the tasks, with the terms of their texts, none of which is here |
| `understanding_board.csv`, `understanding_comparisons.csv` | everybody on every task and the means; each two models |
| `task_scores.csv`, `class_scores.csv`, `confusions.csv` | models on tasks, their classes, and what is taken for what |
| `baseline_scores.csv`, `encoder_scores.csv`, `task_chance.csv` | the same of baselines, and what guessing scores |
| `task_leakage.csv` | how near each sample of the test split is to the train split |
| `answers.csv`, `answer_spans.csv` | what models answered; of spans the places, not the words |
| `costs.csv` | calls, tokens and US dollars by day, model and purpose |
| `parquet/` | each of the tables again, with types |
| `dictionary.csv`, `dictionary.md` | each column of each table: type and meaning |
| `{CHECKSUMS}` | `sha256sum -c {CHECKSUMS}` checks all other files |
"""


def export_tasks(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write the package; the same warehouse gives the same bytes.

    Parameters
    ----------
    folder
        As that of `export.export`.

    Returns
    -------
    The tasks of which something is in it.

    Raises
    ------
    BadInput
        Where there is neither a task nor a call, and as `export.export` for the folder.
    """
    folder = folder.resolve()
    check_place(folder, private=False)
    with warehouse.exclusively():  # the tables of one moment
        tables = {file: warehouse.read(table, columns=columns) for file, (table, columns) in OF_NONE.items()}
        calls = warehouse.read("model_call")
    by = ["day", "model", "purpose"]
    tables["costs.csv"] = summed(calls.with_columns(day=pl.col("asked").dt.date()), *by).sort(by)
    if tables["tasks.csv"].is_empty() and calls.is_empty():
        raise BadInput("export", "", "has neither tasks nor costs to write", "name a corpus, or import tasks first")
    files = {file: as_csv(rows) for file, rows in tables.items()}
    files |= {parquet(file): as_parquet(rows) for file, rows in tables.items()}
    meanings = dictionary.entries(tables)
    files["dictionary.csv"] = as_csv(dictionary.frame(meanings))
    files["dictionary.md"] = dictionary.page(meanings).encode()
    signatures = tables["understanding_board.csv"]["signature"].unique().sort()
    made = made_from(f"signature of scores: {each}" for each in signatures)
    files[README] = f"{EXPORT.public}understanding and costs\n\n{FILES}\n## Made from\n\n{made}".encode()
    put(files | {CHECKSUMS: checksums(files)}, folder)
    return tables["tasks.csv"]["task"].to_list()
