"""Import of answers that were made elsewhere, from a file of JSON lines.

An answer is stored as it stands in the file, and parsed like a reply (parsing). A file with a fault is refused as a
whole. Not here: how samples without an answer count (answers).
"""

import json
from collections.abc import Collection
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.strict_json import parse
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import LABEL, PREDICTION
from benchmark_assets.understanding.tasks import tasks
from resources.errors import BadInput
from resources.keys import check_key
from resources.warehouse import Replacement, Warehouse


class ImportedAnswers(NamedTuple):
    """Number of imported answers, and number of samples of the test split."""

    answers: int
    samples: int


def import_answers(
    warehouse: Warehouse, path: Path, task: str, model: str, registered: Collection[str] = ()
) -> ImportedAnswers:
    """Import the answers of a model to a task, replacing earlier imports.

    Parameters
    ----------
    path
        JSON lines with `sample`, the sample's name, and `label` or `prediction`, in the form that prompts ask for.
    registered
        Names of the models of the registry; nothing can be imported under them.

    Raises
    ------
    BadInput
        For a fault of the file, a task that is not in the warehouse or has no samples yet, a sample that is not in the
        test split, or a model's name that is not a slug, or is registered.
    """
    check_key(model, "model", path)
    if model in registered:
        raise BadInput(path, model, "is a model of the registry", "import the answers under another name")
    description = tasks(warehouse, [task])[task]
    key = pl.DataFrame({"task": [task], "split": ["test"]})
    samples = set(warehouse.read("task_sample", key, ["sample"])["sample"])
    if not samples:
        raise BadInput(
            task, "", "has no samples in this warehouse", "run `variorum update`, which reads them or names the fault"
        )
    answers = read_answers(path, description)
    for name in answers:
        if name not in samples:
            raise BadInput(
                path, name, f"is no sample of the test split of {task}", "check the task, or delete the line"
            )
    rows = pl.DataFrame({
        "model": model, "task": task, "sample": list(answers), "answer": list(answers.values()),
        "file": str(path.resolve()),
        "fingerprint": [blake2b(answer.encode(), digest_size=16).hexdigest() for answer in answers.values()],
    })  # fmt: skip
    own = pl.DataFrame({"model": [model], "task": [task]})
    warehouse.write([Replacement("imported_answer", rows, own)], run_id="import")
    return ImportedAnswers(len(answers), len(samples))


def read_answers(path: Path, description: TaskDescription) -> dict[str, str]:
    """Answers by name of the sample, each as the JSON object that a model would reply.

    Raises
    ------
    BadInput
        For a file that cannot be read, is empty or is not JSON lines, or a line that lacks a key or repeats a sample.
    """
    if not path.is_file():
        raise BadInput(path, "", "is no file", "check the path")
    key = LABEL if description.kind == "classes" else PREDICTION
    answers: dict[str, str] = {}
    for number, line in enumerate(decode(path).split("\n"), start=1):  # U+2028 may stand in a text
        if not line.strip():
            continue
        record = parse(line, path, number)
        name = record.get("sample")
        if isinstance(name, bool) or not isinstance(name, str | int) or key not in record:
            raise BadInput(path, f"line {number}", f"lacks `sample` or `{key}`", "give both on each line")
        if str(name) in answers:
            raise BadInput(path, f"line {number} {name}", "the sample occurs twice", "keep one of them")
        answers[str(name)] = json.dumps({key: record[key]}, ensure_ascii=False)
    if not answers:
        raise BadInput(path, "", "holds no answers", "check the file")
    return answers
