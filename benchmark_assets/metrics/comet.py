"""COMET scores of candidates: triples of source, candidate and reference, and the mean and best score of a candidate.

Not here: scoring a triple (resources.comet).
"""

import polars as pl

from resources.comet.worker import TRIPLE

SCORE = ["comet_avg", "comet_best", "cut"]

# COMET scores any string, even an empty one. Require a character other than space, control and format characters.
LEGIBLE = r"[^\s\p{C}]"


def triples(candidates: pl.DataFrame, references: pl.DataFrame, sources: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Triples of source, candidate and reference. Each candidate is combined with each reference of its passage.

    Parameters
    ----------
    candidates
        Columns `on` and `text`.
    references
        Columns `passage`, `translator`, `text`: complete references.
    sources
        Columns `passage` and `text`.
    on
        Columns that identify a candidate; `passage` is one of them.

    Returns
    -------
    Columns `on`, `translator`, `source`, `candidate`, `reference`. Triples with a null text or a text without readable
    characters are left out.
    """
    texts = (
        candidates.select(*on, candidate="text")
        .join(references.select("passage", "translator", reference="text"), on="passage", maintain_order="left_right")
        .join(sources.select("passage", source="text"), on="passage", maintain_order="left")
    )
    return texts.filter(pl.all_horizontal(pl.col(TRIPLE).str.contains(LEGIBLE))).select(*on, "translator", *TRIPLE)


def summed(candidates: pl.DataFrame, scored: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Mean and best score of each candidate over the references.

    `candidates` has the columns `on`. `scored` has the columns `on`, `score` and `cut`, one row per triple. The result
    has the columns `on` and `SCORE`, one row per candidate; the columns of `SCORE` are null for a candidate without a
    scored triple. `cut` is true if a text exceeded the checkpoint's input length.
    """
    totals = scored.group_by(on).agg(
        comet_avg=pl.col("score").mean(), comet_best=pl.col("score").max(), cut=pl.col("cut").any()
    )
    return candidates.select(on).join(totals, on=on, how="left", maintain_order="left").select(*on, *SCORE)
