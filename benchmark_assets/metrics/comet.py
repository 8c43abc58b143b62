"""COMET scores of candidates from scores of triples: a candidate's triples, their mean and best over the references.

Not here: scoring a triple (resources.comet).
"""

import polars as pl

from resources.comet.comet import TRIPLE

SCORE = ["comet_avg", "comet_best", "cut"]

# COMET scores any string, even an empty one: require a character other than spaces, control and format characters.
LEGIBLE = r"[^\s\p{C}]"


def triples(candidates: pl.DataFrame, references: pl.DataFrame, sources: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Triples of each candidate with its source and each reference of its passage.

    Parameters
    ----------
    candidates
        Columns `on` and `text`.
    references
        Columns `passage`, `translator`, `text`: complete references.
    sources
        Columns `passage` and `text`.
    on
        Columns that name a candidate, `passage` among them.

    Returns
    -------
    Columns `on`, `translator`, `source`, `candidate`, `reference`. Triples with a null text, or a text without a
    readable character, are left out.
    """
    texts = (
        candidates.select(*on, candidate="text")
        .join(references.select("passage", "translator", reference="text"), on="passage", maintain_order="left_right")
        .join(sources.select("passage", source="text"), on="passage", maintain_order="left")
    )
    return texts.filter(pl.all_horizontal(pl.col(TRIPLE).str.contains(LEGIBLE))).select(*on, "translator", *TRIPLE)


def summed(candidates: pl.DataFrame, scored: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Mean and best over the references of each candidate.

    Parameters
    ----------
    candidates
        Columns `on`.
    scored
        Columns `on`, `score` and `cut`, a row for each reference.

    Returns
    -------
    Columns `on` and `SCORE`, one row a candidate, null where nothing was scored. `cut`: a text was longer than the
    checkpoint reads.
    """
    totals = scored.group_by(on).agg(
        comet_avg=pl.col("score").mean(), comet_best=pl.col("score").max(), cut=pl.col("cut").any()
    )
    return candidates.select(on).join(totals, on=on, how="left", maintain_order="left").select(*on, *SCORE)
