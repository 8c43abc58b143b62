"""Scores of models against the human translators of a corpus: points, intervals, bias towards a place.

Here: from verdicts to scores of 0 to 100 (LiTERatE, Scoring Methodology), and how verdicts are resampled. Not here: the
verdicts themselves (ensemble), how often they are right (calibration).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import polars as pl

from benchmark_assets.corpus.description import ASPECTS, Literary
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE, verdicts
from benchmark_assets.metrics.intervals import LEVEL, RESAMPLES, SEED, percentile_interval, wilson
from benchmark_assets.metrics.measures import Floats
from benchmark_assets.partitions import COLLECTION, CORPUS

PARITY = 50.0
"""The score of a model whose translations are as good as the human ones."""

ENOUGH_WORKS = 5
"""From how many works on these are resampled, too: fewer say next to nothing of how works differ."""

WORKS, CHUNKS = "works and chunks", "chunks"

SIGNATURE = f"100 × mean points; {LEVEL:.0%} intervals: {RESAMPLES} bootstrap resamples, percentiles, seed {SEED}"

WORK = COLLECTION.fill_null(pl.col("document")).alias("work")
"""The work of a chunk, from its document: the collection, else the document."""

SCORE = pl.Schema({
    **dict.fromkeys(["model", "corpus", "aspect"], pl.String()),
    **dict.fromkeys(["chunks", "works", MACHINE, UNSURE, HUMAN], pl.Int32()),
    **dict.fromkeys(["score", "score_low", "score_high"], pl.Float64()), "resampled": pl.String(),
    "signature": pl.String(),
})  # fmt: skip

PLACE = pl.Schema({
    "model": pl.String(), "corpus": pl.String(), "votes": pl.Int64(),
    **dict.fromkeys(["first", "first_low", "first_high"], pl.Float64()),
})  # fmt: skip


def scores(votes: pl.DataFrame, works: pl.DataFrame, literary: Literary, signature: str) -> pl.DataFrame:
    """Scores of the models of one corpus: columns of `SCORE`, by model and aspect.

    Parameters
    ----------
    votes
        Rows of `aspect_vote`.
    works
        Columns `passage` and `work`.
    signature
        What goes in front of the signature of the interval.

    Returns
    -------
    For each model a row of the ensemble's verdicts (`aspect` ''), and one of each aspect that a seat has, by the
    verdicts that its seats come to alone. Scores lie in [0, 100].
    """
    asked = {seat.aspect for seat in literary.ensemble}
    rows = []
    for aspect in ("", *(each for each in ASPECTS if each in asked)):
        found = verdicts(votes, literary, aspect).join(works, on="passage").with_columns(CORPUS)
        for (model, corpus), own in found.group_by("model", "corpus", maintain_order=True):
            own = own.sort("work", "passage")  # the same order for all models, so that they are resampled alike
            points, numbers = own["points"].to_numpy(), own["work"].rle().struct.field("len").to_list()
            low, high = interval(points, numbers)
            counts = {name: int((own["verdict"] == name).sum()) for name in (MACHINE, UNSURE, HUMAN)}
            rows.append({
                "model": model, "corpus": corpus, "aspect": aspect, "chunks": len(own), "works": len(numbers), **counts,
                "score": 100 * float(points.mean()), "score_low": 100 * low, "score_high": 100 * high,
                "resampled": WORKS if len(numbers) >= ENOUGH_WORKS else CHUNKS,
                "signature": f"{signature}; {SIGNATURE}",
            })  # fmt: skip
    return pl.DataFrame(rows, schema=SCORE).sort("model", "corpus", "aspect")


def interval(points: Floats, numbers: Sequence[int]) -> tuple[float, float]:
    """The 95 % interval of the mean of points, shape (chunks,), the chunks of each work side by side.

    Parameters
    ----------
    numbers
        How many chunks each work has, in order.
    """
    weights = resampled(tuple(numbers))
    return percentile_interval(weights @ points / weights.sum(axis=1))


@lru_cache(maxsize=4)
def resampled(numbers: tuple[int, ...]) -> Floats:
    """How often each chunk occurs in each resample, shape (RESAMPLES, chunks).

    With `ENOUGH_WORKS`, as many works as there are are drawn with replacement, and from each work drawn as many of its
    chunks as it has, with replacement; with fewer works, chunks within each of these. Equal for equal arguments, so
    that models which cover the same chunks are resampled alike; not to be written to.
    """
    chance, works = np.random.default_rng(SEED), len(numbers)
    drawn = np.ones((RESAMPLES, works), dtype=np.int64)
    if works >= ENOUGH_WORKS:
        drawn = chance.multinomial(works, np.full(works, 1 / works), size=RESAMPLES)
    own = [
        chance.multinomial(drawn[:, work] * number, np.full(number, 1 / number)) for work, number in enumerate(numbers)
    ]
    weights = np.hstack(own).astype(np.float64)
    weights.flags.writeable = False
    return weights


def places(votes: pl.DataFrame) -> pl.DataFrame:
    """How often judges prefer the text that stands first, by model and corpus: columns of `PLACE`.

    Parameters
    ----------
    votes
        Rows of `aspect_vote`.

    Returns
    -------
    `votes` counts those that name a winner; `first` is the share of these for A, in [0, 1]. Where both orders were
    asked, or one by chance, a judge without a bias gives one half, whoever is better. The interval (Wilson) takes votes
    for independent, which two on the same output are not.
    """
    named = votes.filter(pl.col("better").is_in([MACHINE, HUMAN])).with_columns(CORPUS)
    first = (pl.col("better") == MACHINE) == (pl.col("shown") == "A")
    counts = named.group_by("model", "corpus").agg(votes=pl.len().cast(pl.Int64), won=first.sum())
    rows = [
        (model, corpus, number, won / number, *wilson(won, number)) for model, corpus, number, won in counts.iter_rows()
    ]
    return pl.DataFrame(rows, schema=PLACE, orient="row").sort("model", "corpus")
