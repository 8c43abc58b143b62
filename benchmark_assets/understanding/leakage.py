"""Similarity of a task's test split to its train split, by shared character n-grams and shared source works.

Here: the nearest train sample of each test sample, and the share of the test sample's n-grams that occur in the train
split. Not here: scores of baselines with and without near neighbors (task_scores).
"""

import json
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from resources.catalogue import schema

LENGTH = 8
"""Code points of an n-gram: about two syllables of Tibetan or three of Sanskrit, so that unrelated texts share few
n-grams. Samples from different works have a median Jaccard similarity of 0.01; 99 % of pairs have less than 0.07."""

NEAR = 0.2
"""Minimum Jaccard similarity of a near neighbor: about three times the similarity that unrelated samples reach. At this
similarity, two samples of equal length have a third of their text in common (docs/decisions/understanding.md)."""

COPY = 0.99
"""Jaccard similarity above which a sample counts as a copy of a train sample."""

SIGNATURE = f"Jaccard similarity of the sets of character {LENGTH}-grams, blanks as one"

LEAKAGE = schema("task_leakage")


def leakage(samples: pl.DataFrame) -> pl.DataFrame:
    """Similarity of each test sample to the train split of its task, from rows of `task_sample`.

    Returns
    -------
    Columns of `LEAKAGE`, one row for each test sample, sorted by task and position in the file. All texts of a sample
    are compared as one text. `nearest` is the train sample with the highest `similarity`; of several, the first.
    `contained` is the share of the sample's n-grams that occur anywhere in the train split; it is 1 if the sample is
    shorter than an n-gram. `same_source` is null if the source of the sample, or of every train sample, is unknown.
    Without a train split, `nearest` and the columns after it are null.
    """
    tasks = (of_task for _, of_task in samples.sort("task", "position").group_by("task", maintain_order=True))
    return pl.concat([pl.DataFrame(schema=LEAKAGE), *map(_of_task, tasks)])


def _of_task(samples: pl.DataFrame) -> pl.DataFrame:
    test, train = (samples.filter(split=split) for split in ("test", "train"))
    if train.is_empty():
        return pl.concat([pl.DataFrame(schema=LEAKAGE), test.select("task", "sample")], how="diagonal")
    nearest, similarity, contained = _nearest(*([_grams(texts) for texts in part["texts"]] for part in (train, test)))
    sources = train["source"].drop_nulls().unique().to_list()
    return test.select(
        "task", "sample",
        nearest=train["sample"].gather(nearest), similarity=pl.Series(similarity), contained=pl.Series(contained),
        same_source=pl.col("source").is_in(sources) if sources else pl.lit(None, pl.Boolean),
        nearest_label=pl.col("label") == train["label"].gather(nearest),
    )  # fmt: skip


def _grams(texts: str) -> set[str]:
    """N-grams of the texts of a sample (JSON) as one text, with runs of white space reduced to one space."""
    text = " ".join(" ".join(json.loads(texts).values()).split())
    return {text[first : first + LENGTH] for first in range(len(text) - LENGTH + 1)}


def _nearest(
    train: Sequence[set[str]], test: Sequence[set[str]]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """For each test text: index of the nearest train text, its similarity, and the share of the test text's n-grams
    that occur in the train split; shapes (test texts,)."""
    from sklearn.preprocessing import MultiLabelBinarizer  # type: ignore[import-untyped]  # takes a second

    occurs = MultiLabelBinarizer(sparse_output=True).fit_transform([*train, *test])
    shared = (occurs[len(train) :] @ occurs[: len(train)].T).toarray()
    train_sizes, test_sizes = (np.array([len(grams) for grams in part]) for part in (train, test))
    similarity = shared / np.maximum(1, test_sizes[:, None] + train_sizes[None, :] - shared)
    nearest = similarity.argmax(axis=1)
    everything = set[str]().union(*train)
    contained = np.array([len(grams & everything) / len(grams) if grams else 1.0 for grams in test])
    return nearest, similarity[np.arange(len(test)), nearest], contained
