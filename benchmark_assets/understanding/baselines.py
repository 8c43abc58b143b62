"""Baselines of tasks of classes: which apply to a task, and what they answer to its test split.

Here: the choice, and rows of `baseline_answer`. Not here: how each works (linear, overlap, scansion, encoder), what its
answers are worth (scores), what scores who knows nothing (chance).
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

import polars as pl

from benchmark_assets.lineage.refresh import Computed
from benchmark_assets.lineage.standing import digest
from benchmark_assets.understanding import linear, overlap
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.encoder import Encoder, fine_tune
from benchmark_assets.understanding.scansion import RULES
from benchmark_assets.understanding.tasks import tasks
from resources.errors import BadInput
from resources.warehouse import Warehouse

LINEAR, OVERLAP, SCANSION = "linear", "overlap", "scansion"

UNTRAINED = (SCANSION,)
"""Baselines that are rules: they never see a train split."""

SEED = 1
"""Of baselines in which there is no chance, or one seed is fixed."""

ANSWER = pl.Schema({
    "task": pl.String(), "baseline": pl.String(), "seed": pl.Int32(), "sample": pl.String(), "label": pl.String(),
})  # fmt: skip


class Split(NamedTuple):
    """The samples of a split: names, the texts of each in the order of the description, classes."""

    samples: list[str]
    texts: list[dict[str, str]]
    labels: list[str]


def split(samples: pl.DataFrame, name: str) -> Split:
    """One split from rows of `task_sample` of one task, in the order of its file."""
    own = samples.filter(split=name).sort("position")
    return Split(own["sample"].to_list(), [json.loads(text) for text in own["texts"]], own["label"].to_list())


def whole(texts: Mapping[str, str]) -> str:
    """The texts of a sample as one."""
    return "\n".join(texts.values())


def settings(warehouse: Warehouse, asked: pl.DataFrame, encoders: Mapping[str, Encoder]) -> pl.DataFrame:
    """Columns `task` and `settings`: what determines the answers to each task to which a baseline applies.

    A task whose description has become unusable keeps what it has: its samples say what is wrong.
    """
    imported = warehouse.read("task", asked.select("task"), ["task"])["task"]
    rows: list[tuple[str, str | None]] = []
    for code in imported:
        try:
            rows.append((code, determinants(tasks(warehouse, [code])[code], encoders)))
        except BadInput:
            rows.append((code, None))
    schema = {"task": pl.String, "settings": pl.String}
    return pl.DataFrame([row for row in rows if row[1] != ""], schema=schema, orient="row")


def determinants(task: TaskDescription, encoders: Mapping[str, Encoder]) -> str:
    """Hash of what determines a task's answers besides its samples; '' where no baseline applies."""
    parts: list[object] = []
    if task.kind == "classes" and task.scansion:
        parts.append((SCANSION, task.scansion, sorted(task.classes)))
    if task.kind == "classes" and "train" in task.files:
        trained = {name: encoder.determinants for name, encoder in encoders.items()}
        parts += [version("scikit-learn"), task.pair, sorted(trained.items())]
    return digest(*parts) if parts else ""


def answers(
    descriptions: Sequence[TaskDescription], samples: pl.DataFrame, encoders: Mapping[str, Encoder]
) -> Computed:
    """What all baselines that apply to tasks answer.

    Parameters
    ----------
    samples
        Rows of `task_sample`.
    encoders
        By the names that their answers go under.

    Returns
    -------
    Rows of `baseline_answer`. A task of which one baseline cannot be trained, or has a rule that is unknown or does
    not know its classes, has failed.
    """
    frames, failures = [pl.DataFrame(schema=ANSWER)], []
    for task in descriptions:
        own = samples.filter(task=task.task)
        try:
            frames += list(_of_task(task, split(own, "train"), split(own, "test"), encoders))
        except BadInput as fault:
            failures.append((task.task, str(fault)))
    failed = pl.DataFrame(failures, schema={"task": pl.String, "error": pl.String}, orient="row")
    return Computed({"baseline_answer": pl.concat(frames)}, failed)


def _of_task(
    task: TaskDescription, train: Split, test: Split, encoders: Mapping[str, Encoder]
) -> Iterator[pl.DataFrame]:
    def rows(baseline: str, labels: Sequence[str], seed: int = SEED) -> pl.DataFrame:
        columns = {"task": task.task, "baseline": baseline, "seed": seed, "sample": test.samples, "label": labels}
        return pl.DataFrame(columns, schema=ANSWER)

    if task.scansion:
        yield rows(SCANSION, scanned(task, test))
    if not train.samples:
        return
    baseline = LINEAR
    try:
        of_train, of_test = ([whole(texts) for texts in each.texts] for each in (train, test))
        yield rows(baseline, linear.Linear(of_train, train.labels).label(of_test))
        if task.pair:
            baseline, (one, other) = OVERLAP, task.pair
            ours, theirs = ([overlap.Pair(texts[one], texts[other]) for texts in each.texts] for each in (train, test))
            yield rows(baseline, overlap.Overlap(ours, train.labels).label(theirs))
        for baseline, encoder in encoders.items():
            shown, asked = ([list(texts.values()) for texts in each.texts] for each in (train, test))
            for seed in encoder.seeds:
                yield rows(baseline, fine_tune(encoder.checkpoint, shown, train.labels, asked, seed).labels, seed)
    except (ValueError, OSError, RuntimeError, ImportError) as error:  # what scikit-learn, torch and transformers raise
        problem = f"could not be trained: {error}"
        raise BadInput(f"baseline {baseline} of task {task.task}", "", problem, _REMEDY) from error


_REMEDY = "mend the train split, or the checkpoint under `encoders` in the registry"


def scanned(task: TaskDescription, test: Split) -> list[str]:
    """What the task's rule says of the first text of each sample, as the task's classes.

    Names of classes are those of the rule, whatever their case, diacritics and signs between words.

    Raises
    ------
    BadInput
        Where there is no such rule, or it names a class that the task does not have.
    """
    place = f"task {task.task}"
    if task.scansion not in RULES:
        raise BadInput(place, "scansion", f"no rule {task.scansion!r}", f"use one of {sorted(RULES)}")
    rule, classes = RULES[task.scansion], {_plain(name): name for name in task.classes}
    if missing := [name for name in rule.classes if _plain(name) not in classes]:
        remedy = f"name the classes {', '.join(rule.classes)}, or leave `scansion` out"
        raise BadInput(place, "classes", f"the rule {task.scansion!r} has others: {', '.join(missing)}", remedy)
    return [classes[_plain(rule.scan(next(iter(texts.values()))))] for texts in test.texts]


def _plain(name: str) -> str:
    """Letters and digits of a name, without diacritics, in lower case."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", name).casefold() if sign.isalnum())
