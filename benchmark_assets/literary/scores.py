"""Scores of models against the human translators of a corpus: points, intervals, position bias.

Here: scores of 0 to 100 from verdicts (LiTERatE, Scoring Methodology), and the works of chunks. Not here: the verdicts
themselves (ensemble), their accuracy (calibration).
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
"""Minimum number of works for an interval over works: fewer say almost nothing about the variance between works."""

WORKS, CHUNKS = "works", "chunks"
"""The population that an interval is for: similar works, or the chunks of these works."""

SIGNATURE = (
    f"100 × mean points; {LEVEL:.0%} intervals: of {ENOUGH_WORKS} works or more, Student's t of what works deviate; of "
    f"fewer, {RESAMPLES} bootstrap resamples of chunks within works, percentiles, seed {SEED}"
)

_NAME = pl.col("document").str.extract(r"^(.*?)[-_.]?[0-9]*$")
WORK = pl.when(_NAME == "").then("document").otherwise(_NAME).alias("work")
"""The work of a chunk: the id of its document without the number at the end, such as `lu-xun` for `lu-xun-01`; the
whole id if it does not end in a number. So the ids of a work's documents must differ only in this number."""

SCORE = schema("literary_score")

PLACE = pl.Schema({
    "model": pl.String(), "corpus": pl.String(), "votes": pl.Int64(),
    **dict.fromkeys(["first_rate", "first_rate_low", "first_rate_high"], pl.Float64()),
})  # fmt: skip


def scores(
    ensemble_verdicts: pl.DataFrame, votes: pl.DataFrame, works: pl.DataFrame, literary: Literary, contract: str
) -> pl.DataFrame:
    """Scores of the models on one corpus: columns of `SCORE`, by model and aspect.

    Parameters
    ----------
    ensemble_verdicts
        Rows of `head_to_head` of the corpus.
    votes
        Rows of `aspect_vote` of the corpus.
    works
        Columns `passage` and `work`.
    contract
        The contract of the ensemble, the first part of the signature.

    Returns
    -------
    For each model, one row from the verdicts of the whole ensemble (`aspect` ''), and one row for each aspect, from the
    verdicts of the seats with this aspect. Scores are in [0, 100].
    """
    aspects = {seat.aspect for seat in literary.ensemble}
    rows = []
    for aspect in ("", *(name for name in ASPECTS if name in aspects)):
        verdict_rows = verdicts(votes, literary, aspect) if aspect else ensemble_verdicts.select(VERDICT.names())
        verdict_rows = verdict_rows.join(works, on="passage").with_columns(CORPUS)
        for (model, corpus), group in verdict_rows.group_by("model", "corpus", maintain_order=True):
            chunks = group.sort("work", "passage")
            points, sizes = chunks["points"].to_numpy(), chunks["work"].rle().struct.field("len").to_list()
            low, high = interval(points, sizes)
            counts = {name: int((chunks["verdict"] == name).sum()) for name in (MACHINE, UNSURE, HUMAN)}
            rows.append({
                "model": model, "corpus": corpus, "aspect": aspect, "chunks": len(chunks), "works": len(sizes),
                **counts, "score": 100 * float(points.mean()), "score_low": 100 * low, "score_high": 100 * high,
                "interval_of": WORKS if len(sizes) >= ENOUGH_WORKS else CHUNKS,
                "signature": f"{contract}; {SIGNATURE}",
            })  # fmt: skip
    return pl.DataFrame(rows, schema=SCORE).sort("model", "corpus", "aspect")


def interval(points: Floats, sizes: Sequence[int]) -> tuple[float, float]:
    """The 95 % interval of the mean of points, in [0, 1].

    Parameters
    ----------
    points
        Points of the chunks, shape (chunks,), in [0, 1]; chunks of the same work are adjacent.
    sizes
        Number of chunks of each work, in the order of the works in `points`.

    Notes
    -----
    With `ENOUGH_WORKS` works or more, the interval is for a population of similar works. The variance is the sum over
    works of d²/(1 - f), where d is the sum of a work's deviations from the mean, divided by the number of all chunks,
    and f is the work's share of the chunks. Student's t has 1/Σf² - 1 degrees of freedom, which is the number of works
    minus one if all works have the same size. With fewer works, the interval is for the population of chunks of these
    works, and its bounds are percentiles of resamples. If all points are equal, the interval has width 0.
    """
    if len(sizes) < ENOUGH_WORKS:
        return percentile_interval(resampled(tuple(sizes)) @ points / len(points))
    mean, shares = float(points.mean()), np.array(sizes) / len(points)
    deviations = np.add.reduceat(points - mean, np.cumsum([0, *sizes[:-1]])) / len(points)
    error = float(np.sqrt((deviations**2 / (1 - shares)).sum()))
    if error == 0:
        return mean, mean
    half = error * float(stdtrit(1 / (shares**2).sum() - 1, (1 + LEVEL) / 2))
    return max(0.0, mean - half), min(1.0, mean + half)


@lru_cache(maxsize=4)
def resampled(sizes: tuple[int, ...]) -> Floats:
    """Count of each chunk in each resample, shape (RESAMPLES, chunks), given the number of chunks of each work.

    Each resample draws, with replacement, as many chunks from each work as the work has. The result is equal for equal
    arguments; it is cached and read-only.
    """
    generator = np.random.default_rng(SEED)
    draws = [generator.multinomial(size, np.full(size, 1 / size), size=RESAMPLES) for size in sizes]
    weights = np.hstack(draws).astype(np.float64)
    weights.flags.writeable = False
    return weights


def places(votes: pl.DataFrame) -> pl.DataFrame:
    """Position bias of the judges: the share of votes for the text shown as A, by model and corpus, from rows of
    `aspect_vote`.

    Returns
    -------
    Columns of `PLACE`. `votes` is the number of votes that name a winner; `first_rate` is the share of these votes for
    A, in [0, 1]. With both orders, or an order drawn by a hash, a judge without bias gives about one
    half, whichever text is better. Wilson's interval assumes independent votes, but votes on the same output are not
    independent.
    """
    decisive = votes.filter(pl.col("better").is_in([MACHINE, HUMAN])).with_columns(CORPUS)
    prefers_first = (pl.col("better") == MACHINE) == (pl.col("shown") == "A")
    counts = decisive.group_by("model", "corpus").agg(votes=pl.len().cast(pl.Int64), won=prefers_first.sum())
    rows = [
        (model, corpus, count, won / count, *wilson(won, count)) for model, corpus, count, won in counts.iter_rows()
    ]
    return pl.DataFrame(rows, schema=PLACE, orient="row").sort("model", "corpus")
