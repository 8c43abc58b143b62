"""Answers that were made elsewhere: the file in which they come, and their way into the warehouse.

An answer is stored as the file has it; what it says is read like a reply (parsing). Nothing is imported from a file
with a fault. Not here: what becomes of samples without one (answers).
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
    """How many answers were taken in, for how many samples of the test split."""

    answers: int
    samples: int


def import_answers(
    warehouse: Warehouse, path: Path, task: str, model: str, registered: Collection[str] = ()
) -> ImportedAnswers:
    """Take in the answers of a model to a task, in place of those imported before.

    Parameters
    ----------
    path
        JSON lines of `sample`, its name, and `label` or `prediction`, as models are asked for them.
    registered
        Names of the models that are asked, under which nothing can be imported.

    Raises
    ------
    BadInput
        For a fault of the file, a task that is not in the warehouse or has no samples yet, a sample that is not of its
        test split, or a model's name that is no slug, or registered.
    """
    check_key(model, "model", path)
    if model in registered:
        raise BadInput(path, model, "is a model of the registry", "import the answers under another name")
    description = tasks(warehouse, [task])[task]
    key = pl.DataFrame({"task": [task], "split": ["test"]})
    samples = set(warehouse.read("task_sample", key, ["sample"])["sample"])
    if not samples:
        raise BadInput(task, "", "has no samples in this warehouse", "`variorum update` brings them, or says why not")
    answers = read_answers(path, description)
    for name in answers:
        if name not in samples:
            raise BadInput(path, name, f"is no sample of the test split of {task}", "check the task, or drop the line")
    rows = pl.DataFrame({
        "model": model, "task": task, "sample": list(answers), "answer": list(answers.values()),
        "file": str(path.resolve()),
        "fingerprint": [blake2b(answer.encode(), digest_size=16).hexdigest() for answer in answers.values()],
    })  # fmt: skip
    own = pl.DataFrame({"model": [model], "task": [task]})
    warehouse.write([Replacement("imported_answer", rows, own)], run_id="import")
    return ImportedAnswers(len(answers), len(samples))


def read_answers(path: Path, description: TaskDescription) -> dict[str, str]:
    """Answers by the sample's name, each as the JSON object that a model would give.

    Raises
    ------
    BadInput
        For a file that cannot be read, is empty or no JSON lines, or a line that lacks one of its keys or repeats a
        sample.
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
