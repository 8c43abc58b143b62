"""Choose few-shot examples from the train split.

Here: the samples that may be shown, and the choice of examples by seed. Not here: the format of examples in a prompt
(task_questions).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.leakage import NEAR, leakage
from resources.digest import digest
from resources.errors import BadInput

WITH, WITHOUT = "with", "without"


class Example(NamedTuple):
    """A sample with its gold answer. `texts` is JSON, `label` is the class, `spans` are pairs (type, text)."""

    texts: str
    label: str | None
    spans: tuple[tuple[str, str], ...]


def showable(samples: pl.DataFrame) -> pl.DataFrame:
    """Train samples that can be examples: all except copies and near neighbors (leakage.NEAR) of test samples.

    A near neighbor could reveal to the model the answer to a test sample. `samples` are the rows of `task_sample` of
    one task, from all its splits; the result is a subset of these rows, in the order of the file.
    """
    # `leakage` compares each test sample with the train split. With swapped splits, it compares each train sample with
    # the test split.
    mirrored = samples.with_columns(split=pl.col("split").replace({"train": "test", "test": "train"}))
    near = leakage(mirrored).filter(pl.col("similarity") >= NEAR)
    train, test = (samples.filter(split=split) for split in ("train", "test"))
    return train.join(test, on="texts", how="anti").join(near, on="sample", how="anti").sort("position")


def examples(
    description: TaskDescription, train: pl.DataFrame, spans: pl.DataFrame, number: int, seed: int
) -> list[Example]:
    """Choose examples of a task by seed.

    The choice depends on hashes of names, not on a stream of random numbers. If a sample is added, the choice changes
    only if the sample becomes an example. If a sample is removed, the choice changes only if the sample was an example.

    `train` has rows as `showable` returns them, and `spans` are the task's rows of `task_span`. The `number` examples
    alternate between the classes or, in a span task, between samples with and without spans. The order of these groups
    depends on the seed. If a group has too few samples, the other groups supply the rest. Raises BadInput if `train`
    has fewer than `number` samples.
    """
    if len(train) < number:
        problem = (
            f"has {len(train)} samples without a near neighbor in the test split, but {number} examples are needed"
        )
        remedy = "remove the task from the model's `corpora`, or lower `answering.shots`"
        raise BadInput(f"task {description.task}", "train", problem, remedy)
    evaluated = spans.filter(pl.col("type").is_in(list(description.types)), split="train").sort("sample", "number")
    gold = evaluated.select("sample", "type", "text").rows_by_key("sample")
    groups: dict[str, list[str]] = {}
    rows = train.select("sample", "texts", "label").rows_by_key("sample", unique=True)
    for name, (_, label) in rows.items():
        groups.setdefault(label or (WITH if name in gold else WITHOUT), []).append(name)
    names = _in_turn(groups, number, f"{description.task} {seed}")
    return [Example(texts, label, tuple(gold.get(name, ()))) for name in names for texts, label in [rows[name]]]


def _in_turn(groups: Mapping[str, Sequence[str]], number: int, seed: str) -> list[str]:
    """Take names from the groups in turn, until there are `number` names."""
    waiting = {group: sorted(groups[group], key=lambda name: digest(seed, name)) for group in groups}
    order = sorted(groups, key=lambda group: digest(seed, "group", group))
    names: list[str] = []
    while len(names) < number:
        names += [waiting[group].pop(0) for group in order if waiting[group]]
    return names[:number]
