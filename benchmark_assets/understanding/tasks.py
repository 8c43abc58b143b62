"""Tasks of understanding in this warehouse. Their imported descriptions are read again at each access.

Here: the table `task`. Not here: partitions (the command line adds them), what the files hold (samples).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.understanding import samples
from benchmark_assets.understanding.description import TaskDescription, load
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse


class ImportedTasks(NamedTuple):
    """Codes of the imported tasks, and the fault of each description that was refused."""

    tasks: list[str]
    faults: list[BadInput]


def import_tasks(warehouse: Warehouse, descriptions: Sequence[Path], root: Path) -> ImportedTasks:
    """Store the tasks whose descriptions and files are sound. The asset `task_sample` reads their samples.

    A task that was imported before is replaced, even from another path or root.

    Parameters
    ----------
    descriptions
        One file or more.
    root
        Folder that the `files` of the descriptions are relative to.

    Returns
    -------
    A description is faulty if it is unusable, if one of its files is missing or has a fault, or if its code is also the
    code of another description, or of a corpus of this warehouse (commands select both by code).
    """
    root, faults = root.resolve(), list[BadInput]()
    loaded: dict[Path, TaskDescription] = {}
    for path in dict.fromkeys(path.resolve() for path in descriptions):
        try:
            loaded[path] = load(path)
        except BadInput as fault:
            faults.append(fault)
    codes = Counter(description.task for description in loaded.values())
    corpora = set(warehouse.read("corpus")["corpus"])
    rows = []
    for path, description in loaded.items():
        try:
            if codes[description.task] > 1:
                raise BadInput(path, "task", f"{description.task!r} is given twice", "import one of them")
            if description.task in corpora:
                raise BadInput(path, "task", f"{description.task!r} is a corpus of this warehouse", "rename the task")
            samples.read(description, root)
            rows.append(_row(description, path, root))
        except BadInput as fault:
            faults.append(fault)
    if rows:
        tasks = pl.concat(rows)
        warehouse.write([Replacement("task", tasks, tasks.select("task"))], run_id="import")
    return ImportedTasks([row["task"].item() for row in rows], faults)


def tasks(warehouse: Warehouse, codes: Collection[str] | None = None) -> dict[str, TaskDescription]:
    """Descriptions of the named tasks by code; by default of all tasks.

    Raises
    ------
    BadInput
        For a task that was never imported, or whose description has become unusable.
    """
    rows = warehouse.read("task", columns=["task", "description"])
    paths = {code: Path(path) for code, path in rows.iter_rows()}
    if unknown := sorted(set(codes or ()) - set(paths)):
        remedy = f"run `variorum import tasks FILE`, or use one of {sorted(paths)}"
        raise BadInput(unknown[0], "", "is no task of this warehouse", remedy)
    return {code: _look(code, path) for code, path in paths.items() if codes is None or code in codes}


def readable(warehouse: Warehouse, codes: Collection[str] | None = None) -> dict[str, TaskDescription | None]:
    """Descriptions by code, like `tasks`, without tasks that were not imported. None for a description that has become
    unusable; `task_sample` names its fault."""
    descriptions: dict[str, TaskDescription | None] = {}
    for code, path in warehouse.read("task", columns=["task", "description"]).iter_rows():
        if codes is None or code in codes:
            try:
                descriptions[code] = _look(code, Path(path))
            except BadInput:
                descriptions[code] = None
    return descriptions


def versions(warehouse: Warehouse, asked: pl.DataFrame) -> pl.DataFrame:
    """Columns `task` and `settings`: versions of each task's description and files.

    A task that cannot be read has settings too, so that a run tries it and reports its fault.
    """
    roots = dict(_known(warehouse, asked["task"]).select("task", "root").iter_rows())
    rows = [
        (code, samples.version(description, Path(roots[code])) if description else "unreadable")
        for code, description in readable(warehouse, roots).items()
    ]
    schema = pl.Schema({"task": pl.String(), "settings": pl.String()})
    return pl.DataFrame(rows, schema=schema, orient="row")


def read_samples(warehouse: Warehouse, codes: Iterable[str]) -> tuple[samples.Samples, pl.DataFrame]:
    """Samples of tasks from their files; and columns `task` and `error`, one row for each task with a fault."""
    frames = [samples.Samples(pl.DataFrame(schema=samples.SAMPLE), pl.DataFrame(schema=samples.SPAN))]
    faults = []
    for code, path, root in _known(warehouse, codes).iter_rows():
        try:
            frames.append(samples.read(_look(code, Path(path)), Path(root)))
        except BadInput as fault:
            faults.append((code, str(fault)))
    content = samples.Samples(*(pl.concat(parts) for parts in zip(*frames, strict=True)))
    schema = pl.Schema({"task": pl.String(), "error": pl.String()})
    return content, pl.DataFrame(faults, schema=schema, orient="row")


def _known(warehouse: Warehouse, codes: Iterable[str]) -> pl.DataFrame:
    keys = pl.DataFrame({"task": list(codes)}, schema={"task": pl.String})
    return warehouse.read("task", keys, ["task", "description", "root"])


def _look(code: str, path: Path) -> TaskDescription:
    description = load(path)
    if description.task != code:
        raise BadInput(path, "task", f"is {description.task!r}, imported as {code!r}", f"change it back to {code!r}")
    return description


def _row(description: TaskDescription, path: Path, root: Path) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "task": description.task,
            "description": str(path),
            "root": str(root),
            "language": description.language,
            "kind": description.kind,
            "partner": description.partner or None,
            "licence": description.licence,
            "restricted": description.restricted,
            "fingerprint": digest(description, str(root)),
        },
        schema_overrides={"partner": pl.String},
    )
