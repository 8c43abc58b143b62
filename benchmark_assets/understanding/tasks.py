"""The understanding tasks of this warehouse. Their descriptions are read from the imported files at each access.

Here: the table `task`, settings by task. Not here: partitions, which the commands add; the content of the files
(samples).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.understanding import samples
from benchmark_assets.understanding.description import TaskDescription, load
from resources.digest import digest
from resources.errors import BadInput, one_of
from resources.home import restored, stored
from resources.warehouse import Replacement, Warehouse

SETTINGS = pl.Schema({"task": pl.String(), "settings": pl.String()})
FAILURES = pl.Schema({"task": pl.String(), "error": pl.String()})


class ImportedTasks(NamedTuple):
    """Codes of the imported tasks, and an error for each description that was refused."""

    tasks: list[str]
    faults: list[BadInput]


def import_tasks(warehouse: Warehouse, descriptions: Sequence[Path], root: Path) -> ImportedTasks:
    """Store the tasks whose descriptions and files are valid. The asset `task_sample` reads their samples.

    A task replaces an earlier task with the same code, even if the earlier task was imported from another path or root.

    `root` is the folder to which the `files` of the descriptions are relative. A description is refused if it cannot be
    used, if one of its files is missing or not valid, or if another description or a corpus has the same code. Codes
    must differ because commands select tasks and corpora by code.
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
                raise BadInput(path, "task", f"{description.task!r} is given twice", "import one of the descriptions")
            if description.task in corpora:
                raise BadInput(path, "task", f"{description.task!r} is a corpus of this warehouse", "rename the task")
            samples.read(description, root)
            rows.append(_row(description, path, root, warehouse.folder))
        except BadInput as fault:
            faults.append(fault)
    if rows:
        tasks = pl.concat(rows)
        warehouse.write([Replacement("task", tasks, tasks.select("task"))], run_id="import")
    return ImportedTasks([row["task"].item() for row in rows], faults)


def tasks(warehouse: Warehouse, codes: Collection[str] | None = None) -> dict[str, TaskDescription]:
    """Descriptions of tasks, by code; of all tasks if `codes` is None.

    Raises BadInput if a task was never imported, or its description can no longer be used.
    """
    paths = {code: path for code, (path, _) in places(warehouse).items()}
    if unknown := sorted(set(codes or ()) - set(paths)):
        remedy = f"run `variorum import tasks FILE`, or use {one_of(sorted(paths))}"
        raise BadInput(unknown[0], "", "is not a task of this warehouse", remedy)
    return {code: _look(code, path) for code, path in paths.items() if codes is None or code in codes}


def readable(warehouse: Warehouse, codes: Collection[str] | None = None) -> dict[str, TaskDescription | None]:
    """Descriptions of tasks, by code. Unlike `tasks`, this function never raises BadInput.

    Tasks that were never imported are left out. If a description can no longer be used, its value is None, and the
    asset `task_sample` reports the error.
    """
    descriptions: dict[str, TaskDescription | None] = {}
    for code, (path, _) in places(warehouse).items():
        if codes is None or code in codes:
            try:
                descriptions[code] = _look(code, path)
            except BadInput:
                descriptions[code] = None
    return descriptions


def settings(
    warehouse: Warehouse, codes: Iterable[str], determinants: Callable[[TaskDescription], str]
) -> pl.DataFrame:
    """Columns `task` and `settings`, one row for each imported task to which an asset applies.

    `determinants` returns a hash of everything that determines the task's rows except inputs and code, or '' if the
    asset does not apply to the task. If a task's description can no longer be used, its `settings` is null, its stored
    rows are kept, and the asset `task_sample` reports the error.
    """
    descriptions = readable(warehouse, set(codes))
    hashes = {code: determinants(task) if task else None for code, task in descriptions.items()}
    return pl.DataFrame([row for row in hashes.items() if row[1] != ""], schema=SETTINGS, orient="row")


def versions(warehouse: Warehouse, codes: Iterable[str]) -> pl.DataFrame:
    """Columns `task` and `settings`, one row for each imported task. `settings` is a hash of its description and files.

    If a description cannot be read, `settings` is not null but a fixed word, so that a run tries to read the
    description and reports the error.
    """
    stored_places = places(warehouse)
    rows = [
        (code, samples.version(description, stored_places[code][1]) if description else "unreadable")
        for code, description in readable(warehouse, set(codes)).items()
    ]
    return pl.DataFrame(rows, schema=SETTINGS, orient="row")


def read_samples(warehouse: Warehouse, codes: Iterable[str]) -> tuple[samples.Samples, pl.DataFrame]:
    """Read tasks from files. Return the samples of valid tasks, and errors with the columns `task` and `error`."""
    frames = [samples.Samples(pl.DataFrame(schema=samples.SAMPLE), pl.DataFrame(schema=samples.SPAN))]
    faults = []
    stored_places = places(warehouse)
    for code in sorted(set(codes) & set(stored_places)):
        try:
            path, root = stored_places[code]
            frames.append(samples.read(_look(code, path), root))
        except BadInput as fault:
            faults.append((code, str(fault)))
    content = samples.Samples(*(pl.concat(parts) for parts in zip(*frames, strict=True)))
    return content, pl.DataFrame(faults, schema=FAILURES, orient="row")


def places(warehouse: Warehouse) -> dict[str, tuple[Path, Path]]:
    """For each imported task, by code, the absolute paths of its description and of its root."""
    rows = warehouse.read("task", columns=["task", "description", "root", "home"])
    return {
        code: (restored(path, home, warehouse.folder), restored(root, home, warehouse.folder))
        for code, path, root, home in rows.iter_rows()
    }


def _look(code: str, path: Path) -> TaskDescription:
    description = load(path)
    if description.task != code:
        problem = f"is {description.task!r}, but was imported as {code!r}"
        raise BadInput(path, "task", problem, f"change it back to {code!r}")
    return description


def _row(description: TaskDescription, path: Path, root: Path, home: Path) -> pl.DataFrame:
    columns = description.model_dump(include={"task", "language", "kind", "licence", "restricted"})
    columns |= {"description": stored(path, home), "root": stored(root, home), "home": str(home)}
    columns |= {"partner": description.partner or None}
    return pl.DataFrame(
        columns | {"fingerprint": digest(description, str(root))}, schema_overrides={"partner": pl.String}
    )
