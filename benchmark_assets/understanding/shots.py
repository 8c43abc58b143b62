"""Choose few-shot examples from the train split.

Here: which samples may be shown, and the choice among them by a seed. Not here: their form in the prompt (asking).
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
    """A sample with its answer: texts as JSON, and the class or the spans (type, text) of the evaluated types."""

    texts: str
    label: str | None
    spans: tuple[tuple[str, str], ...]


def showable(samples: pl.DataFrame) -> pl.DataFrame:
    """Samples of the train split that leak nothing of the test split.

    Leaves out samples that are also in the test split, and near neighbors of test samples (leakage.NEAR): such an
    example would show the model the answer.

    Parameters
    ----------
    samples
        Rows of `task_sample` of one task.
    """
    # `leakage` measures test against train; swap the splits to measure train against test.
    mirrored = samples.with_columns(split=pl.col("split").replace({"train": "test", "test": "train"}))
    near = leakage(mirrored).filter(pl.col("similarity") >= NEAR)
    train, test = (samples.filter(split=split) for split in ("train", "test"))
    return train.join(test, on="texts", how="anti").join(near, on="sample", how="anti").sort("position")


def examples(
    description: TaskDescription, train: pl.DataFrame, spans: pl.DataFrame, number: int, seed: int
) -> list[Example]:
    """Choose examples of a task by a seed.

    The choice is by hashes, not by a stream of random numbers: adding or removing a sample changes the choice only if
    the sample itself is among the examples.

    Parameters
    ----------
    train
        Rows as `showable` returns them.
    spans
        Rows of `task_span` for the task; spans of other splits are ignored.

    Returns
    -------
    `number` examples, balanced as far as the samples allow: by class, or between samples with spans and samples without
    spans. These groups alternate, in an order that depends on the seed.

    Raises
    ------
    BadInput
        If `train` has fewer than `number` samples.
    """
    if len(train) < number:
        problem = (
            f"has {len(train)} samples without a near neighbor in the test split, but {number} examples are needed"
        )
        remedy = "remove the task from the model's `corpora`, or lower `answering.shots`"
        raise BadInput(f"task {description.task}", "train", problem, remedy)
    marked: dict[str, list[tuple[str, str]]] = {}
    evaluated = spans.filter(pl.col("type").is_in(list(description.types)), split="train").sort("sample", "number")
    for sample, kind, text in evaluated.select("sample", "type", "text").iter_rows():
        marked.setdefault(sample, []).append((kind, text))
    groups: dict[str, list[str]] = {}
    rows = {name: (texts, label) for name, texts, label in train.select("sample", "texts", "label").iter_rows()}
    for name, (_, label) in rows.items():
        groups.setdefault(label or (WITH if name in marked else WITHOUT), []).append(name)
    chosen = _in_turn(groups, number, f"{description.task} {seed}")
    return [Example(*rows[name], tuple(marked.get(name, ()))) for name in chosen]


def _in_turn(groups: Mapping[str, Sequence[str]], number: int, seed: str) -> list[str]:
    """Take names from the groups in turn, until there are enough."""
    waiting = {group: sorted(groups[group], key=lambda name: digest(seed, name)) for group in groups}
    order = sorted(groups, key=lambda group: digest(seed, "group", group))
    chosen: list[str] = []
    while len(chosen) < number:
        chosen += [waiting[group].pop(0) for group in order if waiting[group]]
    return chosen[:number]
