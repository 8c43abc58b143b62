"""Examples that a model is shown: which samples of the train split.

Here: which of them may be shown at all, and the choice, by a seed. Not here: how they are shown (asking).
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
    """A sample with its answer: texts as JSON, and the class or the spans (type, text) of types that are asked for."""

    texts: str
    label: str | None
    spans: tuple[tuple[str, str], ...]


def showable(samples: pl.DataFrame) -> pl.DataFrame:
    """Samples of the train split that give nothing away of the test split.

    Left out is what stands in the test split, too, and every near neighbour of a test sample (leakage.NEAR): a model
    that is shown one has the answer before it.

    Parameters
    ----------
    samples
        Rows of `task_sample` of one task.
    """
    # To the function that measures what train has of test, each split is shown as the other.
    mirrored = samples.with_columns(split=pl.col("split").replace({"train": "test", "test": "train"}))
    near = leakage(mirrored).filter(pl.col("similarity") >= NEAR)
    train, test = (samples.filter(split=split) for split in ("train", "test"))
    return train.join(test, on="texts", how="anti").join(near, on="sample", how="anti").sort("position")


def examples(
    description: TaskDescription, train: pl.DataFrame, spans: pl.DataFrame, number: int, seed: int
) -> list[Example]:
    """Choose examples of a task by a seed.

    By hashes, not by a stream of random numbers: a sample that comes or goes changes the choice only where it has a
    place in it.

    Parameters
    ----------
    train
        As `showable` returns them.
    spans
        Rows of `task_span` of the task, of whatever splits.

    Returns
    -------
    As many as asked for, of each class equally many, or of samples with and without a span, as far as there are such.
    In turn one of each, in an order that the seed decides.

    Raises
    ------
    BadInput
        Where there are fewer.
    """
    if len(train) < number:
        problem = f"has {len(train)} samples that no test sample is like, and {number} examples are asked for"
        remedy = "leave it out of the model's `corpora`, or ask with fewer `answering.shots`"
        raise BadInput(f"task {description.task}", "train", problem, remedy)
    marked: dict[str, list[tuple[str, str]]] = {}
    asked = spans.filter(pl.col("type").is_in(list(description.types)), split="train").sort("sample", "number")
    for sample, kind, text in asked.select("sample", "type", "text").iter_rows():
        marked.setdefault(sample, []).append((kind, text))
    groups: dict[str, list[str]] = {}
    rows = {name: (texts, label) for name, texts, label in train.select("sample", "texts", "label").iter_rows()}
    for name, (_, label) in rows.items():
        groups.setdefault(label or (WITH if name in marked else WITHOUT), []).append(name)
    chosen = _in_turn(groups, number, f"{description.task} {seed}")
    return [Example(*rows[name], tuple(marked.get(name, ()))) for name in chosen]


def _in_turn(groups: Mapping[str, Sequence[str]], number: int, seed: str) -> list[str]:
    """One name of each group after the other, until there are enough."""
    waiting = {group: sorted(groups[group], key=lambda name: digest(seed, name)) for group in groups}
    order = sorted(groups, key=lambda group: digest(seed, "group", group))
    chosen: list[str] = []
    while len(chosen) < number:
        chosen += [waiting[group].pop(0) for group in order if waiting[group]]
    return chosen[:number]
