"""Import answers of external models from a file of JSON lines.

Answers are stored verbatim, and parsed later like replies (parsing). A file with an error is refused as a whole. Not
here: samples without an answer in the file (answers).
"""

import json
from collections.abc import Collection
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.readers.strict_json import by_name
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import LABEL, PREDICTION
from benchmark_assets.understanding.tasks import tasks
from resources.errors import BadInput
from resources.keys import check_key
from resources.warehouse import Replacement, Warehouse


class ImportedAnswers(NamedTuple):
    """Number of imported answers, and number of samples in the test split."""

    answers: int
    samples: int


def import_answers(
    warehouse: Warehouse, path: Path, task: str, model: str, registered: Collection[str] = (),
    ignore: Collection[str] = (),
) -> ImportedAnswers:  # fmt: skip
    """Import a model's answers to a task. They replace its previously imported answers to the task.

    Parameters
    ----------
    path
        JSON lines with `sample`, the sample's name, and `label` or `prediction`, in the form that the prompts request.
    registered
        Names of the registered models, which imported answers must not use.
    ignore
        Keys that are not read. Other unknown keys are errors.

    Raises
    ------
    BadInput
        If the file is not valid, the task is not in the warehouse or has no samples yet, a sample is not in the test
        split, or the model's name is not a valid key or belongs to a registered model.
    """
    check_key(model, "model", path)
    if model in registered:
        raise BadInput(path, model, "is the name of a registered model", "import the answers under another name")
    description = tasks(warehouse, [task])[task]
    key = pl.DataFrame({"task": [task], "split": ["test"]})
    samples = set(warehouse.read("task_sample", key, ["sample"])["sample"])
    if not samples:
        remedy = "run `variorum update`, which reads them or reports an error"
        raise BadInput(task, "", "has no samples in this warehouse", remedy)
    answers = read_answers(path, description, ignore)
    for name in filter(lambda name: name not in samples, answers):
        remedy = "check the task, or delete the line"
        raise BadInput(path, name, f"is not a sample of the test split of {task}", remedy)
    rows = pl.DataFrame({
        "model": model, "task": task, "sample": list(answers), "answer": list(answers.values()),
        "file": str(path.resolve()),
        "fingerprint": [blake2b(answer.encode(), digest_size=16).hexdigest() for answer in answers.values()],
    })  # fmt: skip
    partition = pl.DataFrame({"model": [model], "task": [task]})
    warehouse.write([Replacement("imported_answer", rows, partition)], run_id="import")
    return ImportedAnswers(len(answers), len(samples))


def read_answers(path: Path, description: TaskDescription, ignore: Collection[str] = ()) -> dict[str, str]:
    """Read the answers in a file. The result maps sample names to JSON objects in the form of a model's reply.

    Raises BadInput if the file cannot be read, is empty or is not JSON lines; or if a line lacks a key, has an unknown
    key that is not in `ignore`, or repeats a sample.
    """
    if not path.is_file():
        raise BadInput(path, "", "is not a file", "check the path")
    key = LABEL if description.kind == "classes" else PREDICTION
    values = by_name(path, "sample", key, "sample", ignore, (str, int))
    if not values:
        raise BadInput(path, "", "contains no answers", "check the file")
    return {name: json.dumps({key: value}, ensure_ascii=False) for name, value in values.items()}
