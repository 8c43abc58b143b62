"""Baselines that train in seconds: which apply to a task, their signatures, their answers to its test split.

Here: the choice, signatures, and rows of `baseline_answer` and `baseline_span`. Not here: how each works (linear,
overlap, tagger, scansion), encoders (encoder_fits), scores, chance baselines (chance).
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.understanding import linear, overlap, scansion, tagger
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.scansion import RULES
from benchmark_assets.understanding.tasks import readable
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Warehouse

LINEAR, OVERLAP, SCANSION = "linear", "overlap", "scansion"

UNTRAINED = (SCANSION,)
"""Baselines that are rules, and see no train split."""

SEED = 1
"""Seed of baselines that are deterministic or have a fixed seed."""

_OF_SAMPLE = {"task": pl.String(), "baseline": pl.String(), "seed": pl.Int32(), "sample": pl.String()}
BASELINE_ANSWER = schema("baseline_answer")
BASELINE_SPAN = schema("baseline_span")


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
    """The texts of a sample, joined."""
    return "\n".join(texts.values())


def settings(warehouse: Warehouse, asked: pl.DataFrame) -> pl.DataFrame:
    """Columns `task` and `settings`: what determines the answers to each task to which a baseline applies.

    A task whose description has become unusable keeps its answers; `task_sample` names the fault.
    """
    known = readable(warehouse, asked["task"].to_list())
    words = {code: determinants(task) if task else None for code, task in known.items()}
    rows = [row for row in words.items() if row[1] != ""]
    return pl.DataFrame(rows, schema={"task": pl.String, "settings": pl.String}, orient="row")


def determinants(task: TaskDescription) -> str:
    """Hash of what determines a task's answers besides its samples; '' if no baseline applies."""
    made = signatures(task)
    return digest(made, list(task.texts), task.pair, sorted(task.classes), task.types, task.marked) if made else ""


def signatures(task: TaskDescription) -> dict[str, str]:
    """The baselines that apply to a task, in order, and the signature of each."""
    trained, found = "train" in task.files, {}
    if task.kind == "classes" and task.scansion:
        found[SCANSION] = f"rule {task.scansion}: {scansion.SIGNATURE}"
    if trained:
        found[LINEAR] = linear.SIGNATURE if task.kind == "classes" else tagger.SIGNATURE
    if trained and task.pair and (task.kind == "classes" or task.marked in task.pair):
        found[OVERLAP] = overlap.SIGNATURE if task.kind == "classes" else tagger.SIGNATURE_PAIR
    return found


def answers(descriptions: Sequence[TaskDescription], samples: pl.DataFrame, spans: pl.DataFrame) -> Computed:
    """Answers of all baselines that apply to the tasks.

    Parameters
    ----------
    samples
        Rows of `task_sample`.
    spans
        Rows of `task_span`.

    Returns
    -------
    Rows of `baseline_answer` and `baseline_span`. A task fails if one of its baselines cannot be trained, or its rule
    is unknown or names other classes.
    """
    labelled, marked, failures = [pl.DataFrame(schema=BASELINE_ANSWER)], [pl.DataFrame(schema=BASELINE_SPAN)], []
    for task in descriptions:
        own = samples.filter(task=task.task)
        try:
            if task.kind == "classes":
                labelled += list(_labelled(task, split(own, "train"), split(own, "test")))
            else:
                gold = spans.filter(pl.col("type").is_in([*task.types]), task=task.task, split="train")
                found = list(_marked(task, split(own, "train"), gold, split(own, "test")))
                labelled += [answer for answer, _ in found]
                marked += [span for _, span in found]
        except BadInput as fault:
            failures.append((task.task, str(fault)))
    failed = pl.DataFrame(failures, schema={"task": pl.String, "error": pl.String}, orient="row")
    return Computed({"baseline_answer": pl.concat(labelled), "baseline_span": pl.concat(marked)}, failed)


def answer_rows(
    task: str, baseline: str, seed: int, test: Split, labels: Sequence[str | None], signature: str
) -> pl.DataFrame:
    """Rows of a baseline's answers to the test split, one for each sample."""
    columns = {
        "task": task, "baseline": baseline, "seed": seed, "sample": test.samples, "label": labels,
        "signature": signature,
    }  # fmt: skip
    return pl.DataFrame(columns, schema=BASELINE_ANSWER)


def untrainable(task: TaskDescription, baseline: str, error: Exception) -> BadInput:
    """The fault of a baseline that could not be trained."""
    remedy = "mend the train split, or the checkpoint under `encoders` in the registry"
    return BadInput(f"baseline {baseline} of task {task.task}", "", f"could not be trained: {error}", remedy)


def _labelled(task: TaskDescription, train: Split, test: Split) -> Iterator[pl.DataFrame]:
    for baseline, signature in signatures(task).items():
        try:
            if baseline == SCANSION:
                labels = scanned(task, test)
            elif baseline == LINEAR:
                of_train, of_test = ([whole(texts) for texts in each.texts] for each in (train, test))
                labels = linear.Linear(of_train, train.labels).label(of_test)
            else:
                one, other = cast(tuple[str, str], task.pair)
                ours, theirs = (
                    [overlap.Pair(texts[one], texts[other]) for texts in each.texts] for each in (train, test)
                )
                labels = overlap.Overlap(ours, train.labels).label(theirs)
        except ValueError as error:  # what scikit-learn raises, too
            raise untrainable(task, baseline, error) from error
        yield answer_rows(task.task, baseline, SEED, test, labels, signature)


def _marked(
    task: TaskDescription, train: Split, gold: pl.DataFrame, test: Split
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Answers and spans of each baseline."""
    rows = gold.sort("sample", "number").select("sample", "type", "text", "first", "last").rows()
    right = [[tagger.TaggedSpan(*row[1:]) for row in rows if row[0] == sample] for sample in train.samples]
    of_train, of_test = ([texts[task.marked] for texts in each.texts] for each in (train, test))
    for baseline, signature in signatures(task).items():
        try:
            if baseline == LINEAR:
                found = tagger.Tagger(of_train, right, [*task.types]).mark(of_test)
            else:
                (other,) = set(task.pair) - {task.marked}
                ours, theirs = ([texts[other] for texts in each.texts] for each in (train, test))
                found = tagger.PairTagger(of_train, ours, right, [*task.types]).mark(of_test, theirs)
        except ValueError as error:
            raise untrainable(task, baseline, error) from error
        spans = [
            (task.task, baseline, SEED, sample, number, *span)
            for sample, own in zip(test.samples, found, strict=True)
            for number, span in enumerate(own)
        ]
        yield (
            answer_rows(task.task, baseline, SEED, test, [None] * len(found), signature),
            pl.DataFrame(spans, schema=BASELINE_SPAN, orient="row"),
        )


def scanned(task: TaskDescription, test: Split) -> list[str]:
    """The class that the task's rule gives to the first text of each sample.

    The rule's names of classes are matched with the task's, regardless of case, diacritics and separators.

    Raises
    ------
    BadInput
        If there is no such rule, or it names a class that the task does not have.
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
