"""Scores of models against the human translators of a corpus: points and intervals.

Here: scores of 0 to 100 from verdicts (LiTERatE, Scoring Methodology). Not here: the works of chunks (works), the
verdicts themselves (ensemble), their accuracy (calibration), scores at equal length (controlled).
"""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.corpus.description import ASPECTS, Literary
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, SEAT, UNSURE, VERDICT, keys, verdicts
from benchmark_assets.literary.works import CHUNKS, WORKS, numbered
from benchmark_assets.metrics import intervals
from benchmark_assets.metrics.intervals import Bounds, Floats, Units, mean_interval
from benchmark_assets.metrics.missing import before
from resources.keys import CORPUS

PARITY = 50.0
"""Score of a model whose translations are as good as the human translations."""

SIGNATURE = f"100 × mean points; {intervals.SIGNATURE}"

SCORE = before("literary_score")


def scores(
    ensemble_verdicts: pl.DataFrame, votes: pl.DataFrame, works: pl.DataFrame, literary: Literary, contract: str
) -> pl.DataFrame:
    """Scores of the models on one corpus by aspect, with the columns of `SCORE`.

    Parameters
    ----------
    ensemble_verdicts
        Rows of `head_to_head` of the corpus.
    votes
        Rows of `aspect_vote` of the corpus.
    works
        Columns `passage`, `work`, `unit` and `unit_kind`, as `works.with_works` returns them.
    contract
        The contract of the ensemble. The signature of each score begins with it.

    Returns
    -------
    For each model, one row for the whole ensemble (`aspect` ''), and one row for each aspect. The row of an aspect is
    computed from the verdicts of the seats with this aspect. `missing_share` is the share of votes without a
    preference. Scores are in [0, 100].
    """
    votes = votes.join(keys(literary.ensemble), on=SEAT, how="semi")
    rows = []
    for model, corpus, aspect, group in groups(ensemble_verdicts, votes, works, literary):
        (low, high), kind = interval(group)
        counts = {name: int((group["verdict"] == name).sum()) for name in (MACHINE, UNSURE, HUMAN)}
        of_model = votes.filter(pl.col("aspect").is_in([aspect]) | (aspect == ""), model=model)
        asked = of_model["passage"].n_unique()
        rows.append({
            "model": model, "corpus": corpus, "aspect": aspect, "chunks": len(group), "abstained": asked - len(group),
            "missing_share": of_model["better"].null_count() / len(of_model),
            "works": group["work"].n_unique(), **counts, **_consistency(of_model),
            "score": 100 * float(group["points"].to_numpy().mean()), "score_low": low, "score_high": high,
            "interval_of": WORKS if kind == WORKS else CHUNKS,
            "signature": f"{contract}; {SIGNATURE}; units: {kind}",
        })  # fmt: skip
    return pl.DataFrame(rows, schema=SCORE).sort("model", "corpus", "aspect")


def groups(
    ensemble_verdicts: pl.DataFrame, votes: pl.DataFrame, works: pl.DataFrame, literary: Literary
) -> Iterator[tuple[str, str, str, pl.DataFrame]]:  # fmt: skip
    """Yield, for each score, its model, its corpus, its aspect and its chunks (columns of `VERDICT` and `works`).

    The arguments are as for `scores`.
    """
    aspects = {seat.aspect for seat in literary.ensemble}
    for aspect in ("", *(name for name in ASPECTS if name in aspects)):
        verdict_rows = verdicts(votes, literary, aspect) if aspect else ensemble_verdicts.select(VERDICT.names())
        verdict_rows = verdict_rows.join(works, on="passage").with_columns(CORPUS)
        for (model, corpus), group in verdict_rows.group_by("model", "corpus", maintain_order=True):
            yield str(model), str(corpus), aspect, group


def _consistency(votes: pl.DataFrame) -> dict[str, int]:
    """Two counts over seats and chunks: how often a seat's preference changes with the order of the two translations,
    and how often a seat has no preference in any order."""
    better = pl.col("better")
    contradictions, ties = (better == MACHINE).any() & (better == HUMAN).any(), (better == UNSURE).all()
    of_seats = votes.drop_nulls("better").group_by("passage", *SEAT).agg(contradictions=contradictions, ties=ties)
    return {"seat_contradictions": int(of_seats["contradictions"].sum()), "seat_ties": int(of_seats["ties"].sum())}


def interval(chunks: pl.DataFrame) -> tuple[Bounds, str]:
    """The 95 % interval of a score, in [0, 100], and the kind of its units; `chunks` is as for `centered`."""
    values, units, kind = centered(chunks)
    return mean_interval(100 * values, units, 0, 100), kind


def centered(chunks: pl.DataFrame) -> tuple[Floats, Units, str]:
    """Points and unit of each chunk, and the kind of units.

    `chunks` has the columns `points`, `work`, `unit` and `unit_kind`. With five works or more, the interval refers to a
    population of similar works. With fewer works, it refers to the population of chunks of these works: the differences
    between the means of works are removed from the points.
    """
    units, kind = numbered(chunks)
    points = pl.col("points")
    of_work = points.mean() if kind == WORKS else points.mean().over("work")
    return chunks.select(points - of_work + points.mean()).to_series().to_numpy(), units, kind
