"""Scores of models against the human translators of a corpus: points, intervals, position bias.

Here: from verdicts to scores of 0 to 100 (LiTERatE, Scoring Methodology), and the works of chunks. Not here: the
verdicts themselves (ensemble), their accuracy (calibration).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import polars as pl
from scipy.special import stdtrit  # type: ignore[import-untyped]  # scipy.stats takes a second to import

from benchmark_assets.corpus.description import ASPECTS, Literary
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE, VERDICT, verdicts
from benchmark_assets.metrics.intervals import LEVEL, RESAMPLES, SEED, percentile_interval, wilson
from benchmark_assets.metrics.measures import Floats
from resources.catalogue import schema
from resources.keys import CORPUS

PARITY = 50.0
"""Score of a model whose translations are as good as the human translations."""

ENOUGH_WORKS = 5
"""Least number of works for an interval over works: fewer say almost nothing about the variance between works."""

WORKS, CHUNKS = "works", "chunks"
"""The population of an interval: works like these, or chunks of these works."""

SIGNATURE = (
    f"100 × mean points; {LEVEL:.0%} intervals: of {ENOUGH_WORKS} works or more, Student's t of what works deviate; of "
    f"fewer, {RESAMPLES} bootstrap resamples of chunks within works, percentiles, seed {SEED}"
)

_NAME = pl.col("document").str.extract(r"^(.*?)[-_.]?[0-9]*$")
WORK = pl.when(_NAME == "").then("document").otherwise(_NAME).alias("work")
"""The work of a chunk: its document's id without the number at its end, such as `lu-xun` for `lu-xun-01`; the whole id
if it has no such number. So ids of documents of one work must differ in this number only."""

SCORE = schema("literary_score")

PLACE = pl.Schema({
    "model": pl.String(), "corpus": pl.String(), "votes": pl.Int64(),
    **dict.fromkeys(["first_rate", "first_rate_low", "first_rate_high"], pl.Float64()),
})  # fmt: skip


def scores(
    said: pl.DataFrame, votes: pl.DataFrame, works: pl.DataFrame, literary: Literary, signature: str
) -> pl.DataFrame:
    """Scores of the models of one corpus: columns of `SCORE`, by model and aspect.

    Parameters
    ----------
    said
        Rows of `head_to_head`.
    votes
        Rows of `aspect_vote`.
    works
        Columns `passage` and `work`.
    signature
        First part of the signature, before that of the interval.

    Returns
    -------
    For each model, one row from the ensemble's verdicts (`aspect` ''), and one row for each aspect, from the verdicts
    of the seats with this aspect alone. Scores lie in [0, 100].
    """
    asked = {seat.aspect for seat in literary.ensemble}
    rows = []
    for aspect in ("", *(each for each in ASPECTS if each in asked)):
        given = verdicts(votes, literary, aspect) if aspect else said.select(VERDICT.names())
        found = given.join(works, on="passage").with_columns(CORPUS)
        for (model, corpus), own in found.group_by("model", "corpus", maintain_order=True):
            own = own.sort("work", "passage")
            points, numbers = own["points"].to_numpy(), own["work"].rle().struct.field("len").to_list()
            low, high = interval(points, numbers)
            counts = {name: int((own["verdict"] == name).sum()) for name in (MACHINE, UNSURE, HUMAN)}
            rows.append({
                "model": model, "corpus": corpus, "aspect": aspect, "chunks": len(own), "works": len(numbers), **counts,
                "score": 100 * float(points.mean()), "score_low": 100 * low, "score_high": 100 * high,
                "interval_of": WORKS if len(numbers) >= ENOUGH_WORKS else CHUNKS,
                "signature": f"{signature}; {SIGNATURE}",
            })  # fmt: skip
    return pl.DataFrame(rows, schema=SCORE).sort("model", "corpus", "aspect")


def interval(points: Floats, numbers: Sequence[int]) -> tuple[float, float]:
    """The 95 % interval of the mean of points.

    Parameters
    ----------
    points
        Shape (chunks,), in [0, 1]; chunks of the same work are adjacent.
    numbers
        Number of chunks of each work, in order.

    Notes
    -----
    With `ENOUGH_WORKS` works or more, the interval is for a population of similar works. The variance is the sum over
    works of d²/(1 - f), where d is the sum of a work's deviations from the mean, divided by the number of all chunks,
    and f is the work's share of the chunks. Student's t has 1/Σf² - 1 degrees of freedom, which is the number of works
    minus one if all works have the same size. With fewer works, the interval is for the population of chunks of these
    works, and its bounds are percentiles of resamples. If all points are equal, the interval has no width.
    """
    if len(numbers) < ENOUGH_WORKS:
        return percentile_interval(resampled(tuple(numbers)) @ points / len(points))
    mean, shares = float(points.mean()), np.array(numbers) / len(points)
    deviations = np.add.reduceat(points - mean, np.cumsum([0, *numbers[:-1]])) / len(points)
    error = float(np.sqrt((deviations**2 / (1 - shares)).sum()))
    if error == 0:
        return mean, mean
    half = error * float(stdtrit(1 / (shares**2).sum() - 1, (1 + LEVEL) / 2))
    return max(0.0, mean - half), min(1.0, mean + half)


@lru_cache(maxsize=4)
def resampled(numbers: tuple[int, ...]) -> Floats:
    """How often each chunk occurs in each resample, shape (RESAMPLES, chunks). Chunks are drawn with replacement within
    each work, as many as it has. Equal for equal arguments; cached, so do not modify it."""
    chance = np.random.default_rng(SEED)
    draws = [chance.multinomial(number, np.full(number, 1 / number), size=RESAMPLES) for number in numbers]
    weights = np.hstack(draws).astype(np.float64)
    weights.flags.writeable = False
    return weights


def places(votes: pl.DataFrame) -> pl.DataFrame:
    """Position bias: how often judges prefer the text shown first, by model and corpus; columns of `PLACE`.

    Parameters
    ----------
    votes
        Rows of `aspect_vote`.

    Returns
    -------
    `votes` is the number of votes that name a winner; `first_rate` is the share of these for A, in [0, 1]. If both
    orders are asked, or one at random, a judge without bias gives one half, whichever text is better. The interval
    (Wilson) assumes independent votes, though two votes on the same output are not.
    """
    named = votes.filter(pl.col("better").is_in([MACHINE, HUMAN])).with_columns(CORPUS)
    first = (pl.col("better") == MACHINE) == (pl.col("shown") == "A")
    counts = named.group_by("model", "corpus").agg(votes=pl.len().cast(pl.Int64), won=first.sum())
    rows = [
        (model, corpus, number, won / number, *wilson(won, number)) for model, corpus, number, won in counts.iter_rows()
    ]
    return pl.DataFrame(rows, schema=PLACE, orient="row").sort("model", "corpus")
