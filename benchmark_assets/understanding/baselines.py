"""The linear baseline, which trains in seconds: a support vector machine over character n-grams with TF-IDF weights.

Here: training, rows of `baseline_answer`, and what it shares with encoders. Not here: encoders (encoder), scores and
chance baselines (task_scores).
"""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.tasks import FAILURES
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput

LINEAR = "linear"

SHORTEST, LONGEST = 1, 5
"""Lengths of the n-grams in code points."""

LEAST_TEXTS = 2
"""Minimum number of train texts in which an n-gram of the vocabulary occurs. Most n-grams occur in a single text, and
cannot help to classify another text."""

PENALTY = 10.0
"""C of the support vector machine. `PENALTY`, `LONGEST` and `LEAST_TEXTS` are the same for all tasks. They had the best
mean score in five-fold cross-validation on the train splits of VPCT, AACT, SCCT and THCT
(docs/decisions/understanding.md)."""

TOLERANCE = 1e-2
"""Tolerance at which training stops. In cross-validation on the train splits, the default of 1e-4 took three times as
long and gave the same labels."""

SEED = 1
"""Seed of the order in which the classifier visits the texts."""

SIGNATURE = (
    f"TF-IDF with logarithmic counts of character {SHORTEST}- to {LONGEST}-grams in {LEAST_TEXTS} train texts or more, "
    f"linear support vector machine, C {PENALTY:g}, tolerance {TOLERANCE:g}, seed {SEED}, scikit-learn "
    f"{version('scikit-learn')}"
)

BASELINE_ANSWER = schema("baseline_answer")


class Split(NamedTuple):
    """The samples of a split in the order of its file: names, texts, and classes."""

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


def is_trainable(task: TaskDescription) -> bool:
    """Whether baselines can be trained on a task: a classification task with a train split."""
    return task.kind == "classes" and "train" in task.files


def determinants(task: TaskDescription) -> str:
    """Hash of everything that determines the baseline's answers except the samples; '' if it does not apply."""
    return digest(SIGNATURE, list(task.texts)) if is_trainable(task) else ""


def answers(descriptions: Sequence[TaskDescription], samples: pl.DataFrame) -> Computed:
    """Answers of the linear baseline to the test splits of tasks: rows of `baseline_answer`.

    `samples` are rows of `task_sample`. A task fails if the baseline cannot be trained on it.
    """
    frames, failures = [pl.DataFrame(schema=BASELINE_ANSWER)], []
    for task in filter(is_trainable, descriptions):
        train, test = (split(samples.filter(task=task.task), name) for name in ("train", "test"))
        train_texts, test_texts = ([whole(texts) for texts in part.texts] for part in (train, test))
        try:
            found = labels(train_texts, train.labels, test_texts)
        except ValueError as error:
            failures.append((task.task, str(untrainable(task, LINEAR, error))))
        else:
            frames.append(answer_rows(task.task, LINEAR, SEED, test, found, SIGNATURE))
    return Computed({"baseline_answer": pl.concat(frames)}, pl.DataFrame(failures, schema=FAILURES, orient="row"))


def labels(train: Sequence[str], classes: Sequence[str], test: Sequence[str]) -> list[str]:
    """The class of each test text, from train texts and their classes.

    Raises
    ------
    ValueError
        If there are fewer than two classes, or if no two train texts share a character.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # takes a second
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
    from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

    # Scikit-learn's own n-grams of characters would take several blanks for one.
    weights = TfidfVectorizer(analyzer=ngrams, min_df=LEAST_TEXTS, sublinear_tf=True)
    model = make_pipeline(weights, LinearSVC(C=PENALTY, tol=TOLERANCE, random_state=SEED))
    return [str(label) for label in model.fit(train, classes).predict(test)]


def ngrams(text: str) -> list[str]:
    """The n-grams of a text with repetitions. White space and punctuation count as characters."""
    lengths = range(SHORTEST, LONGEST + 1)
    return [text[first : first + length] for length in lengths for first in range(len(text) - length + 1)]


def answer_rows(
    task: str, baseline: str, seed: int, test: Split, labels: Sequence[str], signature: str
) -> pl.DataFrame:  # fmt: skip
    """Rows of `baseline_answer` for a test split, one for each sample."""
    columns = {
        "task": task, "baseline": baseline, "seed": seed, "sample": test.samples, "label": labels,
        "signature": signature,
    }  # fmt: skip
    return pl.DataFrame(columns, schema=BASELINE_ANSWER)


def untrainable(task: TaskDescription, baseline: str, error: Exception) -> BadInput:
    """The error of a task if a baseline could not be trained on it."""
    remedy = "correct the train split, or the checkpoint under `encoders` in the registry"
    return BadInput(f"baseline {baseline} of task {task.task}", "", f"could not be trained: {error}", remedy)
