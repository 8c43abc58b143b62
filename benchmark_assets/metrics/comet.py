"""COMET scores from those of triples: which triples a candidate needs, and their mean and best over the references.

Not here: scoring a triple (resources.comet).
"""

import polars as pl

from resources.comet.comet import TRIPLE

SCORE = ["comet_avg", "comet_best", "cut"]

# COMET scores any string, the empty one too: something must be there besides spaces, control and format characters.
LEGIBLE = r"[^\s\p{C}]"


def triples(candidates: pl.DataFrame, references: pl.DataFrame, sources: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Each candidate with the source and with each reference of its passage.

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
    Columns `on`, `translator`, `source`, `candidate`, `reference`. Triples with a text that is null or in which nothing
    can be read are left out.
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
    Columns `on` and `SCORE`, one row a candidate, null where nothing was scored. `cut`: some text was longer than the
    checkpoint reads.
    """
    found = scored.group_by(on).agg(
        comet_avg=pl.col("score").mean(), comet_best=pl.col("score").max(), cut=pl.col("cut").any()
    )
    return candidates.select(on).join(found, on=on, how="left", maintain_order="left").select(*on, *SCORE)
