"""Scores of models against the human translators of a corpus: points, intervals, bias towards a place.

Here: from verdicts to scores of 0 to 100 (LiTERatE, Scoring Methodology), and which works there are. Not here: the
verdicts themselves (ensemble), how often they are right (calibration).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import polars as pl
from scipy.stats import t as student  # type: ignore[import-untyped]

from benchmark_assets.corpus.description import ASPECTS, Literary
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE, VERDICT, verdicts
from benchmark_assets.metrics.intervals import LEVEL, RESAMPLES, SEED, percentile_interval, wilson
from benchmark_assets.metrics.measures import Floats
from resources.catalogue import schema
from resources.keys import CORPUS

PARITY = 50.0
"""The score of a model whose translations are as good as the human ones."""

ENOUGH_WORKS = 5
"""From how many works on the interval is one over works: fewer say next to nothing of how works differ."""

WORKS, CHUNKS = "works", "chunks"
"""What an interval is over: works like these, or chunks of these works."""

SIGNATURE = (
    f"100 × mean points; {LEVEL:.0%} intervals: of {ENOUGH_WORKS} works or more, Student's t of what works deviate; of "
    f"fewer, {RESAMPLES} bootstrap resamples of chunks within works, percentiles, seed {SEED}"
)

_NAME = pl.col("document").str.extract(r"^(.*?)[-_.]?[0-9]*$")
WORK = pl.when(_NAME == "").then("document").otherwise(_NAME).alias("work")
"""The work of a chunk: its document's id up to the number at its end, as `lu-xun` of `lu-xun-01`, all of an id that is
nothing else. So documents of one work are named alike but for this number, and those of different works are not."""

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
        What goes in front of the signature of the interval.

    Returns
    -------
    For each model a row of the ensemble's verdicts (`aspect` ''), and one of each aspect that a seat has, by the
    verdicts that its seats come to alone. Scores lie in [0, 100].
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
    """The 95 % interval of the mean of points, shape (chunks,), the chunks of each work side by side.

    Parameters
    ----------
    points
        In [0, 1].
    numbers
        How many chunks each work has, in order.

    Notes
    -----
    With `ENOUGH_WORKS`, of works like these: the variance is the sum over works of d²/(1 - f), with d what a work's
    points deviate from the mean in sum, of all chunks, and f its share of the chunks. Student's t has the degrees of
    freedom 1/Σf² - 1, the works less one where they are of one size. With fewer works, of chunks of these works:
    percentiles of resamples. Where all points are equal, the interval has no width.
    """
    if len(numbers) < ENOUGH_WORKS:
        return percentile_interval(resampled(tuple(numbers)) @ points / len(points))
    mean, shares = float(points.mean()), np.array(numbers) / len(points)
    deviations = np.add.reduceat(points - mean, np.cumsum([0, *numbers[:-1]])) / len(points)
    error = float(np.sqrt((deviations**2 / (1 - shares)).sum()))
    if error == 0:
        return mean, mean
    half = error * float(student.ppf((1 + LEVEL) / 2, 1 / (shares**2).sum() - 1))
    return max(0.0, mean - half), min(1.0, mean + half)


@lru_cache(maxsize=4)
def resampled(numbers: tuple[int, ...]) -> Floats:
    """How often each chunk occurs in each resample, shape (RESAMPLES, chunks): of each work as many of its chunks are
    drawn as it has, with replacement. Equal for equal arguments, and not to be written to."""
    chance = np.random.default_rng(SEED)
    own = [chance.multinomial(number, np.full(number, 1 / number), size=RESAMPLES) for number in numbers]
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
    `votes` counts those that name a winner; `first_rate` is the share of these for A, in [0, 1]. Where both orders were
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
