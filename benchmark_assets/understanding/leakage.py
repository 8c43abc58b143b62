"""Similarity of the test split of a task to its train split: by character n-grams, and by common source works.

Here: the nearest train sample of each test sample, and the share of its n-grams in the train split. Not here: scores of
baselines with and without near neighbors (scores).
"""

import json

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # type: ignore[import-untyped]

from benchmark_assets.understanding.linear import Grams, ngrams
from resources.catalogue import schema

LENGTH = 8
"""Code points of an n-gram: about two syllables of Tibetan or three of Sanskrit, so that unrelated texts share few.
Samples of different works have a Jaccard similarity of 0.01; 99 pairs in 100 have less than 0.07."""

NEAR = 0.2
"""Least Jaccard similarity of a near neighbor: three times what unrelated samples reach. At this similarity, two
samples of equal length share a third of their text word for word (docs/decisions/leakage.md)."""

COPY = 0.99
"""Jaccard similarity above which a sample counts as a copy of a train sample."""

SIGNATURE = f"Jaccard similarity of the sets of character {LENGTH}-grams, blanks as one"

LEAKAGE = schema("task_leakage")


def leakage(samples: pl.DataFrame) -> pl.DataFrame:
    """Leakage from the train splits of tasks into their test splits.

    Parameters
    ----------
    samples
        Rows of `task_sample`.

    Returns
    -------
    Columns of `LEAKAGE`, one row for each test sample, by task and in the order of the file. The texts of a sample are
    joined and compared as one. `nearest` is the train sample of the highest similarity; of several, the first.
    `nearest` and the columns after it are null without a train split. `contained` is the share of the sample's n-grams
    that occur anywhere in the train split, 1 for a sample shorter than an n-gram. `same_source` is null if the source
    of the sample, or of all train samples, is unknown.
    """
    each = (own for _, own in samples.sort("task", "position").group_by("task", maintain_order=True))
    return pl.concat([pl.DataFrame(schema=LEAKAGE), *map(_of_task, each)])


def _of_task(samples: pl.DataFrame) -> pl.DataFrame:
    test, train = (samples.filter(split=split) for split in ("test", "train"))
    if train.is_empty():
        unknown = [pl.lit(None, dtype).alias(name) for name, dtype in LEAKAGE.items() if name not in test.columns]
        return test.with_columns(unknown).select(LEAKAGE.names())
    of_train, of_test = (ngrams([_compared(texts) for texts in own["texts"]], LENGTH, LENGTH) for own in (train, test))
    nearest, similarity, contained = _nearest(of_train, of_test)
    sources = train["source"].drop_nulls().unique().to_list()
    return test.select(
        "task", "sample",
        nearest=train["sample"].gather(nearest), similarity=pl.Series(similarity), contained=pl.Series(contained),
        same_source=pl.col("source").is_in(sources) if sources else pl.lit(None, pl.Boolean),
        nearest_label=pl.col("label") == train["label"].gather(nearest),
    )  # fmt: skip


def _compared(texts: str) -> str:
    """All texts of a sample, white space as one blank."""
    return " ".join(" ".join(json.loads(texts).values()).split())


def _nearest(train: Grams, test: Grams) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """For each test text: its nearest train text, their similarity, and the share of its n-grams in any train text."""
    vocabulary, ours = np.unique(train.keys, return_inverse=True)
    places = np.minimum(np.searchsorted(vocabulary, test.keys), len(vocabulary) - 1)
    known = vocabulary[places] == test.keys if len(vocabulary) else np.zeros(len(test.keys), dtype=bool)
    starts = np.concatenate([[0], np.cumsum(known)])[test.starts]
    width = max(1, len(vocabulary))
    of_train = csr_array((np.ones(len(ours)), ours, train.starts), shape=(len(train.starts) - 1, width))
    of_test = csr_array((np.ones(known.sum()), places[known], starts), shape=(len(test.starts) - 1, width))
    shared = (of_test @ of_train.T).toarray()
    sizes, own = np.diff(train.starts), np.diff(test.starts)
    union = np.maximum(1, own[:, None] + sizes[None, :] - shared)
    similarity = shared / union
    nearest = similarity.argmax(axis=1)
    contained = np.where(own == 0, 1.0, np.diff(starts) / np.maximum(1, own))
    return nearest, similarity[np.arange(len(own)), nearest], contained
