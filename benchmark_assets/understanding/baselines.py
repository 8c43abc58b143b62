"""Baselines that train in seconds: the choice of baselines for a task, their signatures, and their answers.

Here: choice and signatures of baselines, rows of `baseline_answer` and `baseline_span`. Not here: the methods (linear,
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
from benchmark_assets.understanding.tasks import FAILURES
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput, one_of

LINEAR, OVERLAP, SCANSION = "linear", "overlap", "scansion"

UNTRAINED = (SCANSION,)
"""Baselines that are rules and do not use the train split."""

SEED = 1
"""Seed stored with all baselines of this module, which are deterministic or have a fixed seed."""

BASELINE_ANSWER = schema("baseline_answer")
BASELINE_SPAN = schema("baseline_span")


class Split(NamedTuple):
    """The samples of a split in the order of its file: names, texts, and classes (None in a span task)."""

    samples: list[str]
    texts: list[dict[str, str]]
    labels: list[str]


def split(samples: pl.DataFrame, name: str) -> Split:
    """One split of a task, from rows of `task_sample` of that task."""
    rows = samples.filter(split=name).sort("position")
    return Split(rows["sample"].to_list(), [json.loads(texts) for texts in rows["texts"]], rows["label"].to_list())


def whole(texts: Mapping[str, str]) -> str:
    """The texts of a sample, joined into one text."""
    return "\n".join(texts.values())


def determinants(task: TaskDescription) -> str:
    """Hash of everything that determines the baselines' answers except the samples; '' if no baseline applies."""
    baselines = signatures(task)
    if not baselines:
        return ""
    return digest(baselines, list(task.texts), task.pair, sorted(task.classes), task.types, task.marked)


def signatures(task: TaskDescription) -> dict[str, str]:
    """Signatures of the baselines that apply to a task, by baseline, in the order in which they are computed."""
    trained, baselines = "train" in task.files, {}
    if task.kind == "classes" and task.scansion:
        baselines[SCANSION] = f"rule {task.scansion}: {scansion.SIGNATURE}"
    if trained:
        baselines[LINEAR] = linear.SIGNATURE if task.kind == "classes" else tagger.SIGNATURE
    if trained and task.pair and (task.kind == "classes" or task.marked in task.pair):
        baselines[OVERLAP] = overlap.SIGNATURE if task.kind == "classes" else tagger.SIGNATURE_PAIR
    return baselines


def answers(descriptions: Sequence[TaskDescription], samples: pl.DataFrame, spans: pl.DataFrame) -> Computed:
    """Answers of the baselines to the test splits of tasks: rows of `baseline_answer` and `baseline_span`.

    `samples` and `spans` are rows of `task_sample` and `task_span`. A task fails if one of its baselines cannot be
    trained, if its `scansion` is not the name of a rule, or if the rule has a class that the task lacks.
    """
    labeled, marked, failures = [pl.DataFrame(schema=BASELINE_ANSWER)], [pl.DataFrame(schema=BASELINE_SPAN)], []
    for task in descriptions:
        train, test = (split(samples.filter(task=task.task), name) for name in ("train", "test"))
        try:
            if task.kind == "classes":
                labeled += list(_labeled(task, train, test))
            else:
                gold = spans.filter(pl.col("type").is_in([*task.types]), task=task.task, split="train")
                pairs = list(_marked(task, train, gold, test))
                labeled += [answer for answer, _ in pairs]
                marked += [span for _, span in pairs]
        except BadInput as fault:
            failures.append((task.task, str(fault)))
    failed = pl.DataFrame(failures, schema=FAILURES, orient="row")
    return Computed({"baseline_answer": pl.concat(labeled), "baseline_span": pl.concat(marked)}, failed)


def answer_rows(
    task: str, baseline: str, seed: int, test: Split, labels: Sequence[str | None], signature: str
) -> pl.DataFrame:
    """Rows of `baseline_answer` for a test split, one for each sample. `labels` are None in a span task."""
    columns = {
        "task": task, "baseline": baseline, "seed": seed, "sample": test.samples, "label": labels,
        "signature": signature,
    }  # fmt: skip
    return pl.DataFrame(columns, schema=BASELINE_ANSWER)


def untrainable(task: TaskDescription, baseline: str, error: Exception) -> BadInput:
    """The error of a task if a baseline could not be trained on it."""
    remedy = "correct the train split, or the checkpoint under `encoders` in the registry"
    return BadInput(f"baseline {baseline} of task {task.task}", "", f"could not be trained: {error}", remedy)


def _labeled(task: TaskDescription, train: Split, test: Split) -> Iterator[pl.DataFrame]:
    for baseline, signature in signatures(task).items():
        try:
            if baseline == SCANSION:
                labels = scanned(task, test)
            elif baseline == LINEAR:
                train_texts, test_texts = ([whole(texts) for texts in part.texts] for part in (train, test))
                labels = linear.Linear(train_texts, train.labels).label(test_texts)
            else:
                first, second = cast(tuple[str, str], task.pair)
                train_pairs, test_pairs = (
                    [overlap.Pair(texts[first], texts[second]) for texts in part.texts] for part in (train, test)
                )
                labels = overlap.Overlap(train_pairs, train.labels).label(test_pairs)
        except ValueError as error:  # raised by the baselines and by scikit-learn
            raise untrainable(task, baseline, error) from error
        yield answer_rows(task.task, baseline, SEED, test, labels, signature)


def _marked(
    task: TaskDescription, train: Split, gold: pl.DataFrame, test: Split
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Answers and spans of each baseline on a span task. `gold` are the rows of `task_span` of the train split."""
    gold_rows = gold.sort("sample", "number").select("sample", "type", "text", "first", "last").rows()
    gold_spans = [[tagger.TaggedSpan(*row[1:]) for row in gold_rows if row[0] == sample] for sample in train.samples]
    train_texts, test_texts = ([texts[task.marked] for texts in part.texts] for part in (train, test))
    for baseline, signature in signatures(task).items():
        try:
            if baseline == LINEAR:
                predicted = tagger.Tagger(train_texts, gold_spans, [*task.types]).mark(test_texts)
            else:
                (partner,) = set(task.pair) - {task.marked}
                train_partners, test_partners = ([texts[partner] for texts in part.texts] for part in (train, test))
                model = tagger.PairTagger(train_texts, train_partners, gold_spans, [*task.types])
                predicted = model.mark(test_texts, test_partners)
        except ValueError as error:
            raise untrainable(task, baseline, error) from error
        spans = [
            (task.task, baseline, SEED, sample, number, *span)
            for sample, of_sample in zip(test.samples, predicted, strict=True)
            for number, span in enumerate(of_sample)
        ]
        labels = [None] * len(predicted)
        rows = answer_rows(task.task, baseline, SEED, test, labels, signature)
        yield rows, pl.DataFrame(spans, schema=BASELINE_SPAN, orient="row")


def scanned(task: TaskDescription, test: Split) -> list[str]:
    """Classes of samples. The task's rule (`scansion` in the description) classifies a sample by its first text.

    Class names of the rule and of the task match regardless of case, diacritics and separators. Raises BadInput if
    there is no rule with this name, or the rule has a class that the task lacks.
    """
    place = f"task {task.task}"
    if task.scansion not in RULES:
        raise BadInput(place, "scansion", f"there is no rule {task.scansion!r}", f"use {one_of(sorted(RULES))}")
    rule, classes = RULES[task.scansion], {_plain(name): name for name in task.classes}
    if missing := [name for name in rule.classes if _plain(name) not in classes]:
        remedy = f"define the classes {', '.join(rule.classes)}, or remove `scansion`"
        problem = f"lacks classes of the rule {task.scansion!r}: {', '.join(missing)}"
        raise BadInput(place, "classes", problem, remedy)
    return [classes[_plain(rule.scan(next(iter(texts.values()))))] for texts in test.texts]


def _plain(name: str) -> str:
    """Letters and digits of a name, without diacritics, in lower case."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", name).casefold() if sign.isalnum())
