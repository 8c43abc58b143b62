"""Similarity of a task's test split to its train split, by shared character n-grams and shared source works.

Here: the nearest train sample of each test sample, and the share of the test sample's n-grams that occur in the train
split. Not here: scores of baselines with and without near neighbors (scores).
"""

import json

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.understanding.linear import Grams, counted, ngrams
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
        nulls = [pl.lit(None, dtype).alias(name) for name, dtype in LEAKAGE.items() if name not in test.columns]
        return test.with_columns(nulls).select(LEAKAGE.names())
    train_grams, test_grams = (
        ngrams([_compared(texts) for texts in part["texts"]], LENGTH, LENGTH) for part in (train, test)
    )
    nearest, similarity, contained = _nearest(train_grams, test_grams)
    sources = train["source"].drop_nulls().unique().to_list()
    return test.select(
        "task", "sample",
        nearest=train["sample"].gather(nearest), similarity=pl.Series(similarity), contained=pl.Series(contained),
        same_source=pl.col("source").is_in(sources) if sources else pl.lit(None, pl.Boolean),
        nearest_label=pl.col("label") == train["label"].gather(nearest),
    )  # fmt: skip


def _compared(texts: str) -> str:
    """The texts of a sample (JSON) as one text, with runs of white space reduced to one space."""
    return " ".join(" ".join(json.loads(texts).values()).split())


def _nearest(train: Grams, test: Grams) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """For each test text: index of the nearest train text, its similarity, and the share of the test text's n-grams
    that occur in the train split; shapes (test texts,)."""
    vocabulary = np.unique(train.keys)
    train_sets, test_sets = (counted(grams, vocabulary).sign() for grams in (train, test))
    shared = (test_sets @ train_sets.T).toarray()
    train_sizes, test_sizes = np.diff(train.starts), np.diff(test.starts)
    similarity = shared / np.maximum(1, test_sizes[:, None] + train_sizes[None, :] - shared)
    nearest = similarity.argmax(axis=1)
    contained = np.where(test_sizes == 0, 1.0, np.diff(test_sets.indptr) / np.maximum(1, test_sizes))
    return nearest, similarity[np.arange(len(test_sizes)), nearest], contained
